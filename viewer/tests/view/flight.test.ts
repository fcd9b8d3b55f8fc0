/** Flights: exact ends, one perceived speed, up and over on long ways. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { flight } from "../../src/view/flight.ts";

const SIZE = { width: 800, height: 600 };

function near(actual: number, expected: number, tolerance = 1e-9): void {
  assert.ok(
    Math.abs(actual - expected) <= tolerance * Math.max(1, Math.abs(expected)),
    `${actual} is not ${expected}`,
  );
}

test("a flight begins and ends exactly, and rises on a long way", () => {
  const from = { x: 0.1, y: 0.2, zoom: 123.4567 };
  const to = { x: 40, y: -30, zoom: 98.7654 };
  const { at, duration } = flight(from, to, SIZE);
  assert.deepEqual(at(0), from);
  assert.deepEqual(at(1), to);
  assert.ok(at(0.5).zoom < Math.min(from.zoom, to.zoom));
  assert.ok(duration >= 250 && duration <= 900);
});

test("a flight arrives without a jump", () => {
  const from = { x: 0, y: 0, zoom: 3 };
  const to = { x: 7, y: 2, zoom: 90 };
  const { at } = flight(from, to, SIZE);
  const late = at(1 - 1e-9);
  near(late.x, to.x, 1e-6);
  near(late.y, to.y, 1e-6);
  near(late.zoom, to.zoom, 1e-6);
  near(at(1e-9).zoom, from.zoom, 1e-6);
});
