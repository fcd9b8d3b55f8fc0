/** Places in arrays, and the largest of many values. */

/** The first place of ascending numbers that holds one as large as this; their count where none does. */
export function firstAtLeast(sorted: ArrayLike<number>, value: number): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle] < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** A point of `points`, which holds x, y of each entry. */
export function pointOf(points: Float32Array, entry: number): [number, number] {
  return [points[2 * entry], points[2 * entry + 1]];
}

/** Where each of several groups starts when they stand end to end, and where the last one ends. */
export function startsOf(counts: Uint32Array): Uint32Array {
  const starts = new Uint32Array(counts.length + 1);
  let sum = 0;
  for (let group = 0; group < counts.length; group++) {
    sum += counts[group];
    starts[group + 1] = sum;
  }
  return starts;
}

/** The objects of the largest shares, the largest first; of equal ones the first that came. */
export class Strongest {
  readonly found: { object: number; share: number }[] = [];

  /** Shares up to `least` find no room. */
  constructor(
    private count: number,
    private least = 0,
  ) {}

  offer(object: number, share: number): void {
    const { found, count } = this;
    if (!(share > this.least) || count < 1) return;
    if (found.length === count) found.pop();
    const before = found.findLastIndex((other) => other.share >= share);
    found.splice(before + 1, 0, { object, share });
    if (found.length === count) this.least = found[count - 1].share;
  }
}
