/** Flights end exactly, without a jump, and zoom about a point that stays in place. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { toScreen } from "../../src/scene/camera.ts";
import { between } from "../../src/view/camera_motion.ts";

const SIZE = { width: 800, height: 600 };

test("a flight zooms evenly about one point, and ends exactly", () => {
  const from = { x: 0.1, y: 0.2, zoom: 10 };
  const to = { x: 4, y: -3, zoom: 90 };
  assert.deepEqual(between(from, to, 1), to);
  assert.ok(Math.abs(between(from, to, 0.5).zoom - 30) < 1e-9);
  const fixed = (zoomed: number, other: number) => (90 * zoomed - 10 * other) / 80;
  const [x, y] = [fixed(to.x, from.x), fixed(to.y, from.y)];
  const place = toScreen(from, SIZE, x, y);
  for (const time of [0.001, 0.3, 0.999]) {
    const now = toScreen(between(from, to, time), SIZE, x, y);
    assert.ok(Math.hypot(now[0] - place[0], now[1] - place[1]) < 1e-6);
  }
});

test("a flight at one zoom is a straight line", () => {
  const to = { x: 8, y: 4, zoom: 5 };
  assert.deepEqual(between({ x: 0, y: 0, zoom: 5 }, to, 0.25), { x: 2, y: 1, zoom: 5 });
});
