/** Elements of arrays at places that are known to lie within them. */

/** The element at a place; a place beyond the array is a fault of the program, which ends here. */
export function elementAt<T>(array: ArrayLike<T>, place: number): T {
  const element = array[place];
  if (element === undefined) throw new RangeError(`no element ${place} of ${array.length}`);
  return element;
}

/**
 * A number read from a typed array in a loop whose bounds keep the place within the array.
 *
 * Unlike `elementAt` it looks at nothing: the bundler leaves only the reading, which such loops need.
 */
export function inBounds(element: number | undefined): number {
  return element as number;
}

/** The first place of ascending numbers that holds one as large as this; their count where none does. */
export function firstAtLeast(sorted: ArrayLike<number>, value: number): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (inBounds(sorted[middle]) < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** A point of `points`, which holds x, y of each entry. */
export function pointOf(points: Float32Array, entry: number): [number, number] {
  return [inBounds(points[2 * entry]), inBounds(points[2 * entry + 1])];
}

/** Where each of several groups starts when they stand end to end, and where the last one ends. */
export function startsOf(counts: Uint32Array): Uint32Array {
  const starts = new Uint32Array(counts.length + 1);
  let sum = 0;
  for (let group = 0; group < counts.length; group++) {
    sum += inBounds(counts[group]);
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
    if (found.length === count) this.least = elementAt(found, count - 1).share;
  }
}
