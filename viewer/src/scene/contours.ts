/**
 * Lines of equal density of a map's dots, which show its parts where dots lie on each other.
 *
 * Map weights fall into the cells of a grid, are smoothed by three running means a way (nearly a
 * Gaussian, whose width falls with the number of dots as in Scott's rule), and each cell between
 * four values is crossed by a line where a level lies between them (marching squares).
 */
import { inBounds, pointOf } from "../data/elements.ts";

/** Cells along a side; the outer ones are left free for what is smoothed. */
const CELLS = 128;
const FREE = 20;
/** Widths of the smoothing as parts of the side, for one dot. */
const WIDTH = 0.13;
/** Shares of the greatest density. */
const LEVELS = [0.07, 0.2, 0.42, 0.7];

/** Pieces of lines in map units: x, y of both ends of each. */
export function densityLines(
  points: Float32Array,
  weights: Float32Array,
  visible: Uint8Array,
): Float64Array {
  let [left, bottom, right, top, count] = [Infinity, Infinity, -Infinity, -Infinity, 0];
  visible.forEach((is, entry) => {
    if (!is) return;
    const [x, y] = pointOf(points, entry);
    [left, bottom, right, top] = [
      Math.min(left, x),
      Math.min(bottom, y),
      Math.max(right, x),
      Math.max(top, y),
    ];
    count++;
  });
  const inner = CELLS - 2 * FREE;
  const scale = inner / Math.max(right - left, top - bottom);
  if (count < 3 || !(scale < Infinity)) return new Float64Array();
  const [x0, y0] = [(left + right - CELLS / scale) / 2, (bottom + top - CELLS / scale) / 2];
  let density: Float64Array = new Float64Array(CELLS * CELLS);
  visible.forEach((is, entry) => {
    if (!is) return;
    const [x, y] = pointOf(points, entry);
    const cell = Math.floor((y - y0) * scale) * CELLS + Math.floor((x - x0) * scale);
    density[cell] = inBounds(density[cell]) + inBounds(weights[entry]);
  });
  const reach = Math.min(6, Math.max(1, Math.round(WIDTH * inner * count ** (-1 / 6))));
  for (const step of [1, CELLS]) {
    for (let pass = 0; pass < 3; pass++) density = smoothed(density, step, reach);
  }
  const most = density.reduce((a, b) => Math.max(a, b), 0);
  const lines = LEVELS.flatMap((level) => crossings(density, level * most));
  // The value of a cell is that of its middle.
  return Float64Array.from(lines, (at, k) => (k % 2 ? y0 : x0) + (at + 0.5) / scale);
}

/** Running means of 2 reach + 1 cells, each `step` from the next; cells beyond the grid count as 0. */
function smoothed(density: Float64Array, step: number, reach: number): Float64Array {
  const across = step === 1 ? CELLS : 1;
  const means = new Float64Array(density.length);
  for (let line = 0; line < CELLS; line++) {
    const value = (k: number) =>
      k >= 0 && k < CELLS ? inBounds(density[line * across + k * step]) : 0;
    let sum = 0;
    for (let k = -reach; k < CELLS; k++) {
      sum += value(k + reach) - value(k - reach - 1);
      if (k >= 0) means[line * across + k * step] = sum;
    }
  }
  return means;
}

function crossings(density: Float64Array, level: number): number[] {
  const lines: number[] = [];
  for (let row = 0; row < CELLS - 1; row++) {
    for (let column = 0; column < CELLS - 1; column++) {
      const at = row * CELLS + column;
      // Round the cell: left below, right below, right above, left above.
      const corners = [0, 1, CELLS + 1, CELLS].map((k) => inBounds(density[at + k]) - level);
      corners.forEach((value, side) => {
        const next = inBounds(corners[(side + 1) % 4]);
        if (value > 0 === next > 0) return;
        const part = value / (value - next);
        const along = side < 2 ? part : 1 - part;
        const isLevel = side % 2 === 0;
        lines.push(column + (isLevel ? along : Number(side === 1)));
        lines.push(row + (isLevel ? Number(side === 2) : along));
      });
    }
  }
  return lines;
}
