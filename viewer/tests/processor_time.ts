/** What work costs the processor, which does not count what else the machine does. */

/** Milliseconds of processor time, the compiler's and the collector's with it. */
export function processorTime(work: () => unknown): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}
