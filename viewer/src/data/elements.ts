/** Places in arrays, the largest of many values, and results that are kept. */

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

export function pointOf(points: Float32Array, entry: number): [number, number] {
  return [points[2 * entry], points[2 * entry + 1]];
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

/** The value of a key, computed where it is not known yet. */
export function once<K, V>(known: Map<K, V>, key: K, compute: () => V): V {
  let value = known.get(key);
  if (value === undefined) {
    value = compute();
    known.set(key, value);
  }
  return value;
}

/** The function, which returns its latest result again for the same arguments. */
export function latest<A extends unknown[], T>(compute: (...from: A) => T) {
  let known: { from: A; value: T } | null = null;
  return (...from: A): T => {
    if (known === null || from.some((part, k) => !Object.is(part, known?.from[k]))) {
      known = { from, value: compute(...from) };
    }
    return known.value;
  };
}
