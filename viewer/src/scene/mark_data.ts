/**
 * The marks of one map as the painters want them: flat arrays in the order of drawing.
 *
 * Large marks come first, so that small ones stay in sight. Radii are relative: the square root of
 * map weight x size factor, 1 for an object with a map weight of 1.
 */

import { startsOf } from "../data/elements.ts";

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
  /** x, y in map units. */
  points: Float32Array;
  radii: Float32Array;
  /** RGBA as one little endian word. */
  colors: Uint32Array;
  /** CIRCLE, DIAMOND or SQUARE. */
  shapes: Uint8Array;
}

const LEVELS = 4096;

/** Entries by falling radius, of equal ones (to one level in 4096) the first first. */
export function largestFirst(radii: Float32Array): Uint32Array {
  let largest = 0;
  for (const radius of radii) largest = Math.max(largest, radius);
  const scale = largest > 0 ? (LEVELS - 1) / largest : 0;
  const counts = new Uint32Array(LEVELS);
  const levelOf = (radius: number) => LEVELS - 1 - Math.floor(radius * scale);
  for (const radius of radii) {
    const level = levelOf(radius);
    counts[level] = counts[level] + 1;
  }
  const next = startsOf(counts);
  const order = new Uint32Array(radii.length);
  for (let entry = 0; entry < radii.length; entry++) {
    const level = levelOf(radii[entry]);
    const place = next[level];
    next[level] = place + 1;
    order[place] = entry;
  }
  return order;
}

/** Places, radii, colours and shapes of all marks of a map, entry by entry. */
export type Marking = Pick<MarkData, "points" | "radii" | "shapes"> & { colors: Uint8Array };

/** The visible marks in the order of drawing. */
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
