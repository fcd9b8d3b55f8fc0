/** The marks of a map, large ones first. A radius of 1 is that of a map weight of 1. */

export const CIRCLE = 0;
export const DIAMOND = 1;
export const SQUARE = 2;

/** A diamond or square of the same area as a circle has its corners so many radii from the middle. */
export const CORNER = Math.sqrt(Math.PI / 2);
/** Smaller dots are drawn with this radius in CSS pixels, or they would vanish. */
export const VISIBLE_RADIUS = 0.8;
/** The least radii of dots with labels, and of those that stand out: neighbours, and what is chosen. */
export const LEAST_LABELLED = 1.6;
export const LEAST_NEAR = 2;
export const LEAST_CHOSEN = 3.2;

/** The shape of a kind: diamonds for the last one, and circles and squares in turn for the others. */
export function shapeOf(kind: string, kinds: readonly string[]): number {
  if (kind === kinds.at(-1)) return DIAMOND;
  return kinds.indexOf(kind) % 2 > 0 ? SQUARE : CIRCLE;
}

/** The width of the rim of paper round a dot of this radius, both in CSS pixels. */
export function rim(radius: number): number {
  return Math.min(1.1, Math.max(0, 0.4 * (radius - 1)));
}

export interface MarkData {
  count: number;
  entries: Uint32Array;
  points: Float32Array;
  radii: Float32Array;
  /** RGBA as one little endian word. */
  colors: Uint32Array;
  shapes: Uint8Array;
}

/** Entries by falling radius, of equal ones the first first. */
export function largestFirst(radii: Float32Array): Uint32Array {
  return Uint32Array.from(radii.keys()).sort((a, b) => radii[b] - radii[a]);
}

/** Places, radii, colours and shapes of all marks of a map, entry by entry. */
export type Marking = Pick<MarkData, "points" | "radii" | "shapes"> & { colors: Uint8Array };

export function markData(all: Marking, order: Uint32Array, visible: Uint8Array): MarkData {
  let count = 0;
  for (const is of visible) count += is;
  const data: MarkData = {
    count,
    entries: new Uint32Array(count),
    points: new Float32Array(2 * count),
    radii: new Float32Array(count),
    colors: new Uint32Array(count),
    shapes: new Uint8Array(count),
  };
  const words = new Uint32Array(all.colors.buffer, all.colors.byteOffset, all.colors.length / 4);
  let at = 0;
  for (const entry of order) {
    if (!visible[entry]) continue;
    data.entries[at] = entry;
    data.points[2 * at] = all.points[2 * entry];
    data.points[2 * at + 1] = all.points[2 * entry + 1];
    data.radii[at] = all.radii[entry];
    data.colors[at] = words[entry];
    data.shapes[at] = all.shapes[entry];
    at++;
  }
  return data;
}
