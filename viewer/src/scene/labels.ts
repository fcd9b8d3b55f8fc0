/**
 * From which zoom on each label of a map shows, so that none ever lies on another.
 *
 * A label is a box of fixed size in pixels, centred on its point. At `zoom` pixels a map unit the
 * labels i and j overlap iff
 *
 *     zoom < free_ij = min((w_i + w_j) / (2 |dx|), (h_i + h_j) / (2 |dy|))
 *
 * and in order of priority each takes the least zoom at which it is free of those that show there:
 *
 *     z_k = max { free_ik : i before k, free_ik > z_i },  else 0
 *
 * Showing k iff zoom >= z_k, no two visible labels overlap at any zoom, nor in any subset, and none
 * goes away while one zooms in. In a range of zooms
 * z_k is 0 at or below its least one; beyond its greatest z_k is Infinity, and such a label hides
 * no other label.
 *
 * `LabelRanges` finds the same numbers without looking at all pairs. It sorts the labels into grids,
 * one for each doubling of z_i. Those of a grid are free of one another at twice its zoom, so a
 * cell of so many pixels holds few, and only cells within the reach of free_ik > max(z_i, the best
 * so far) count.
 */

import { pointOf } from "../data/elements.ts";

/** The zooms that a picture can have. */
export interface ZoomRange {
  minZoom: number;
  maxZoom: number;
}

/** Width and height of a label in pixels; null for an entry that has no label. */
export type Measure = (entry: number) => [number, number] | null;

const EVERY_ZOOM: ZoomRange = { minZoom: 0, maxZoom: Number.POSITIVE_INFINITY };
const CELL_WIDTH = 100;
const CELL_HEIGHT = 16;
// Beyond so many cells from the corner their numbers lose the digits that tell them apart.
const MAX_CELL = 2 ** 30;
const SLACK = 1e-6;
const BATCH = 64;
const FIELDS = 5;

function inRange(zoom: number, { minZoom, maxZoom }: ZoomRange): number {
  if (zoom <= minZoom) return 0;
  return zoom > maxZoom ? Number.POSITIVE_INFINITY : zoom;
}

/** Place of a label, from the corner of the map, and its width and height. */
type Box = [number, number, number, number];

/** The labels whose z lies between two powers of 2. */
interface Level {
  exponent: number;
  /** Cells a map unit. */
  scaleX: number;
  scaleY: number;
  /** The least z, the greatest width and height among the members. */
  zoom: number;
  width: number;
  height: number;
  members: number[];
}

/** The zooms of many labels, found in slices of time. */
export class LabelRanges {
  /** z by rank: NaN while it is not known, Infinity for a label that never shows. */
  readonly zooms: Float64Array;
  /** How many of `order` are done; the important ones come first. */
  known = 0;
  readonly #points: Float32Array;
  readonly #order: Uint32Array;
  readonly #measure: Measure;
  readonly #range: ZoomRange;
  /** x, y, width, height and z of each label by its rank, together as they are read together. */
  readonly #boxes: Float64Array;
  readonly #corner: [number, number];
  /** The greatest zoom first. */
  readonly #levels: Level[] = [];
  /** The first member of each cell, by its hash, and the next one after each member; -1 ends. */
  readonly #heads: Int32Array;
  readonly #next: Int32Array;

  constructor(
    points: Float32Array,
    order: Uint32Array,
    measure: Measure,
    range: Partial<ZoomRange> = {},
  ) {
    this.zooms = new Float64Array(order.length).fill(Number.NaN);
    this.#points = points;
    this.#order = order;
    this.#measure = measure;
    this.#range = { ...EVERY_ZOOM, ...range };
    this.#boxes = new Float64Array(FIELDS * order.length);
    this.#corner = cornerOf(points, order);
    this.#heads = new Int32Array(2 ** Math.ceil(Math.log2(2 * order.length + 2))).fill(-1);
    this.#next = new Int32Array(order.length);
  }

  /** Goes on for about so many milliseconds; true when all labels are done. */
  step(milliseconds: number): boolean {
    const end = performance.now() + milliseconds;
    while (this.known < this.#order.length) {
      const stop = Math.min(this.known + BATCH, this.#order.length);
      while (this.known < stop) {
        const entry = this.#order[this.known];
        this.zooms[this.known] = this.#place(this.known, entry);
        this.known++;
      }
      if (performance.now() >= end) break;
    }
    return this.known === this.#order.length;
  }

  #place(rank: number, entry: number): number {
    const size = this.#measure(entry);
    if (size === null) return Number.POSITIVE_INFINITY;
    const point = pointOf(this.#points, entry);
    this.#boxes.set(point, FIELDS * rank);
    this.#boxes.set(size, FIELDS * rank + 2);
    const [left, bottom] = this.#corner;
    const box: Box = [point[0] - left, point[1] - bottom, ...size];
    let best = this.#range.minZoom;
    for (const level of this.#levels) {
      best = this.#greatestIn(level, rank, box, best);
      if (best > this.#range.maxZoom || best === Number.POSITIVE_INFINITY) break;
    }
    const zoom = inRange(best, this.#range);
    if (zoom < Number.POSITIVE_INFINITY) this.#insert(rank, box, zoom);
    return zoom;
  }

  /** The greatest zoom at which a member of the level shows and is in the way, if above `best`. */
  #greatestIn(level: Level, rank: number, box: Box, best: number): number {
    const [x, y, width, height] = box;
    const least = 2 * Math.max(best, level.zoom);
    const reachX = (width + level.width) / least;
    const reachY = (height + level.height) / least;
    const left = Math.floor((x - reachX) * level.scaleX - SLACK);
    const right = Math.floor((x + reachX) * level.scaleX + SLACK);
    const bottom = Math.floor((y - reachY) * level.scaleY - SLACK);
    const top = Math.floor((y + reachY) * level.scaleY + SLACK);
    const nCells = (right - left + 1) * (top - bottom + 1);
    if (!(nCells <= level.members.length && right < MAX_CELL && top < MAX_CELL)) {
      return level.members.reduce((best, other) => this.#greater(rank, other, best), best);
    }
    let greatest = best;
    for (let column = left; column <= right; column++) {
      for (let row = bottom; row <= top; row++) {
        let other = this.#heads[this.#hash(level.exponent, column, row)];
        // Members of other cells with the same hash are candidates like any other.
        for (; other >= 0; other = this.#next[other]) {
          greatest = this.#greater(rank, other, greatest);
        }
      }
    }
    return greatest;
  }

  #greater(k: number, i: number, best: number): number {
    const boxes = this.#boxes;
    const [own, other] = [FIELDS * k, FIELDS * i];
    const dx = boxes[other] - boxes[own];
    const dy = boxes[other + 1] - boxes[own + 1];
    const widths = boxes[other + 2] + boxes[own + 2];
    const heights = boxes[other + 3] + boxes[own + 3];
    const free = Math.min(widths / (2 * Math.abs(dx)), heights / (2 * Math.abs(dy)));
    return free > best && free > boxes[other + 4] ? free : best;
  }

  #insert(rank: number, [x, y, width, height]: Box, zoom: number): void {
    const level = this.#levelOf(Math.floor(Math.log2(Math.max(zoom, this.#range.minZoom))));
    level.zoom = Math.min(level.zoom, zoom);
    level.width = Math.max(level.width, width);
    level.height = Math.max(level.height, height);
    level.members.push(rank);
    const column = Math.floor(x * level.scaleX);
    const cell = this.#hash(level.exponent, column, Math.floor(y * level.scaleY));
    this.#boxes[FIELDS * rank + 4] = zoom;
    this.#next[rank] = this.#heads[cell];
    this.#heads[cell] = rank;
  }

  #levelOf(exponent: number): Level {
    const at = this.#levels.findIndex((level) => level.exponent <= exponent);
    const found = this.#levels[at];
    if (found?.exponent === exponent) return found;
    const level: Level = {
      exponent,
      scaleX: 2 ** exponent / CELL_WIDTH,
      scaleY: 2 ** exponent / CELL_HEIGHT,
      zoom: Number.POSITIVE_INFINITY,
      width: 0,
      height: 0,
      members: [],
    };
    this.#levels.splice(at < 0 ? this.#levels.length : at, 0, level);
    return level;
  }

  #hash(exponent: number, column: number, row: number): number {
    const mixed =
      Math.imul(column, 0x9e3779b1) ^ Math.imul(row, 0x85ebca77) ^ Math.imul(exponent, 0xc2b2ae3d);
    return (mixed ^ (mixed >>> 15)) & (this.#heads.length - 1);
  }
}

function cornerOf(points: Float32Array, order: Uint32Array): [number, number] {
  let [left, bottom] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  for (const entry of order) {
    const [x, y] = pointOf(points, entry);
    left = Math.min(left, x);
    bottom = Math.min(bottom, y);
  }
  return [left, bottom];
}
