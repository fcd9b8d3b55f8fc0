/** Outlines: hulls, and lines that keep their distance from every member. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { elementAt } from "../../src/data/elements.ts";
import { type Arc, convexHull, crest, type Point, roundedHull } from "../../src/scene/outline.ts";

const SQUARE: Point[] = [
  [0, 0],
  [10, 0],
  [10, 10],
  [0, 10],
];

/** Points along the line. */
function traced(arcs: Arc[]): Point[] {
  return arcs.flatMap(({ x, y, radius, start, end }) =>
    Array.from({ length: 21 }, (_, i): Point => {
      const angle = start + ((end - start) * i) / 20;
      return [x + radius * Math.cos(angle), y + radius * Math.sin(angle)];
    }),
  );
}

test("the hull has the corners only", () => {
  const inner: Point[] = [
    [5, 5],
    [5, 0],
    [10, 5],
    [0, 0],
  ];
  const hull = convexHull([...inner, ...SQUARE]);
  assert.deepEqual(
    hull.map(String).sort(),
    SQUARE.map(String).sort(),
    "points on an edge or given twice are no corners",
  );
});

test("points on one line have two corners, equal points one", () => {
  const line: Point[] = [
    [0, 0],
    [2, 2],
    [1, 1],
    [3, 3],
  ];
  assert.equal(convexHull(line).length, 2);
  const point = elementAt(line, 1);
  assert.equal(convexHull([point, point, point]).length, 1);
  assert.deepEqual(convexHull([]), []);
});

test("the rounded line is as long as the hull and a circle", () => {
  const arcs = roundedHull(SQUARE, 3);
  const turns = arcs.reduce((sum, { start, end }) => sum + end - start, 0);
  assert.ok(Math.abs(turns - 2 * Math.PI) < 1e-9);
  const line = traced(arcs);
  const length = line.reduce((sum, [x, y], i) => {
    const [nextX, nextY] = elementAt(line, (i + 1) % line.length);
    return sum + Math.hypot(nextX - x, nextY - y);
  }, 0);
  assert.ok(Math.abs(length - (40 + 6 * Math.PI)) < 0.05);
});

test("the line keeps its distance from every member, for random points", () => {
  let state = 7;
  const random = () => {
    state = (Math.imul(state, 48271) >>> 0) % 2147483647;
    return state / 2147483647;
  };
  for (let trial = 0; trial < 50; trial++) {
    const n = 1 + Math.floor(random() * 12);
    const points = Array.from({ length: n }, (): Point => [100 * random(), 100 * random()]);
    for (const [x, y] of traced(roundedHull(points, 8))) {
      const nearest = Math.min(...points.map(([a, b]) => Math.hypot(a - x, b - y)));
      assert.ok(nearest >= 8 - 1e-6);
    }
  }
});

test("a lone member has a circle", () => {
  const arcs = roundedHull([[4, 5]], 6);
  assert.equal(arcs.length, 1);
  assert.deepEqual(crest(arcs), [4, -1]);
  assert.deepEqual(arcs, [{ x: 4, y: 5, radius: 6, start: 0, end: 2 * Math.PI }]);
});

test("nobody has no line", () => {
  assert.deepEqual(roundedHull([], 5), []);
});
