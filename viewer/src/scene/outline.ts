/**
 * A rounded line round some points of the screen: their convex hull, `padding` pixels farther out.
 *
 * The line consists of the hull's edges moved outwards and of arcs round its corners; round a lone
 * point it is a circle. It holds every point within its padding. y runs downwards.
 */

import { elementAt } from "../data/elements.ts";

export type Point = readonly [number, number];

/** A corner of the hull and the angles between which its arc runs, clockwise on the screen. */
export interface Arc {
  x: number;
  y: number;
  radius: number;
  start: number;
  end: number;
}

/** The corners of the convex hull, clockwise on the screen; no three on a line. */
export function convexHull(points: readonly Point[]): Point[] {
  const sorted = [...points].sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  const distinct = sorted.filter(([x, y], i) => {
    const before = sorted[i - 1];
    return before === undefined || x !== before[0] || y !== before[1];
  });
  if (distinct.length < 3) return distinct;
  const half = (ordered: Point[]) => {
    const chain: Point[] = [];
    for (const point of ordered) {
      while (chain.length > 1) {
        const [before, last] = [
          elementAt(chain, chain.length - 2),
          elementAt(chain, chain.length - 1),
        ];
        if (turn(before, last, point) > 0) break;
        chain.pop();
      }
      chain.push(point);
    }
    return chain.slice(0, -1);
  };
  return [...half(distinct), ...half(distinct.reverse())];
}

function turn(a: Point, b: Point, c: Point): number {
  return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
}

/** The arcs of the line, in order; straight lines connect each one's end with the next one's start. */
export function roundedHull(points: readonly Point[], padding: number): Arc[] {
  const hull = convexHull(points);
  if (hull.length === 1) {
    return hull.map(([x, y]) => ({ x, y, radius: padding, start: 0, end: 2 * Math.PI }));
  }
  return hull.map(([x, y], i) => {
    const before = elementAt(hull, (i + hull.length - 1) % hull.length);
    const after = elementAt(hull, (i + 1) % hull.length);
    const start = Math.atan2(y - before[1], x - before[0]) - Math.PI / 2;
    let end = Math.atan2(after[1] - y, after[0] - x) - Math.PI / 2;
    while (end < start) end += 2 * Math.PI;
    return { x, y, radius: padding, start, end };
  });
}

/** Adds the line to a canvas path. */
export function tracePath(
  arcs: readonly Arc[],
  path: Pick<CanvasPath, "moveTo" | "arc" | "closePath">,
): void {
  for (const [i, { x, y, radius, start, end }] of arcs.entries()) {
    if (i === 0) path.moveTo(x + radius * Math.cos(start), y + radius * Math.sin(start));
    path.arc(x, y, radius, start, end);
  }
  if (arcs.length) path.closePath();
}

/** The highest point of the line, where its number stands. */
export function crest(arcs: readonly Arc[]): Point {
  let best: Point = [0, Number.POSITIVE_INFINITY];
  for (const { x, y, radius } of arcs) if (y - radius < best[1]) best = [x, y - radius];
  return best;
}
