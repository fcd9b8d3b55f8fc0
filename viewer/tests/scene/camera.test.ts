/** The camera: screen and map, boxes that have no extent; crops. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { type Box, crop, fit, inSight, toMap, toScreen, zoomAt } from "../../src/scene/camera.ts";

const SIZE = { width: 800, height: 600 };

function near(actual: number, expected: number, tolerance = 1e-9): void {
  assert.ok(
    Math.abs(actual - expected) <= tolerance * Math.max(1, Math.abs(expected)),
    `${actual} is not ${expected}`,
  );
}

test("a fitted box lies within the margins and touches two of them", () => {
  const camera = fit([-2, -1, 6, 3], SIZE, 50);
  assert.deepEqual([camera.x, camera.y], [2, 1]);
  near(camera.zoom, Math.min(700 / 8, 500 / 4));
});

test("a point, a line and a tiny screen still give a camera", () => {
  for (const box of [
    [5, 5, 5, 5],
    [0, 7, 10, 7],
    [1e9, 0, 1e9, 3],
  ] as Box[]) {
    for (const size of [SIZE, { width: 10, height: 5 }, { width: 0, height: 0 }]) {
      const { x, y, zoom } = fit(box, size);
      assert.ok(Number.isFinite(x) && Number.isFinite(y) && zoom > 0 && Number.isFinite(zoom));
    }
  }
  near(fit([0, 7, 10, 7], SIZE, 50).zoom, 70);
});

test("zooming at a point of the screen leaves it where it is", () => {
  const camera = { x: 1, y: 2, zoom: 10 };
  const before = toMap(camera, SIZE, 123, 456);
  const after = toMap(zoomAt(camera, SIZE, 2.5, 123, 456), SIZE, 123, 456);
  near(after[0], before[0]);
  near(after[1], before[1]);
});

test("a view of nothing moves to the nearest point, and no farther", () => {
  const map = { points: Float32Array.from([0, 0, 10, 0, 10, 8]), count: 3 };
  const camera = { x: 5, y: 3, zoom: 1e9 };
  const moved = inSight(map, camera, SIZE);
  near(moved.x, 0, 1e-6);
  near(moved.y, 0, 1e-6);
  const beside = inSight(map, { x: 1000, y: 8, zoom: 10 }, SIZE);
  assert.ok(toScreen(beside, SIZE, 10, 8)[0] > 0);
  assert.deepEqual([beside.y, beside.zoom], [8, 10]);
  assert.deepEqual(inSight(map, beside, SIZE), beside);
  assert.deepEqual(inSight(map, { x: 5, y: 3, zoom: 40 }, SIZE), { x: 5, y: 3, zoom: 40 });
  // A point that is not shown keeps nobody.
  assert.deepEqual(inSight({ ...map, count: 0 }, camera, SIZE), camera);
});

test("a crop shows its entry and all neighbours", () => {
  const map = { points: Float32Array.from([1, 1, 2, 1, 1, 3, 0, 0, 9, 1]) };
  const camera = crop(map, 0, [1, 2, 3, 4], SIZE);
  for (const entry of map.points.keys()) {
    if (entry % 2) continue;
    const [x, y] = toScreen(camera, SIZE, map.points[entry] ?? 0, map.points[entry + 1] ?? 0);
    assert.ok(x > 20 && y > 20 && x < SIZE.width - 20 && y < SIZE.height - 20);
  }
});

test("a crop leaves out a neighbour that would heap the others upon the entry", () => {
  const map = { points: Float32Array.from([0, 0, 1, 0, 0, 1, -1, 0, 900, 0]) };
  const all = crop(map, 0, [1, 2, 3, 4], SIZE);
  assert.deepEqual(all, crop(map, 0, [1, 2, 3], SIZE));
  assert.ok(toScreen(all, SIZE, 900, 0)[0] > SIZE.width);
});
