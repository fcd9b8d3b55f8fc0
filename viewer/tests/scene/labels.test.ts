/** Labels never overlap, and the quick way gives the numbers of the rule by all pairs. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { pointOf } from "../../src/data/elements.ts";
import { LabelRanges, type ZoomRange } from "../../src/scene/labels.ts";
import { processorTime } from "../processor_time.ts";

interface Labels {
  points: Float32Array;
  widths: Float64Array;
  heights: Float64Array;
  order: Uint32Array;
}

const EVERY_ZOOM: ZoomRange = { minZoom: 0, maxZoom: Number.POSITIVE_INFINITY };

/**
 * The rule itself, by all pairs: z of each entry, NaN for one that is not in `order`.
 *
 * `points` are x, y of each entry; `widths` and `heights` are those of each entry's label.
 */
function labelZooms(
  points: Float32Array,
  widths: ArrayLike<number>,
  heights: ArrayLike<number>,
  order: Uint32Array,
  { minZoom, maxZoom }: ZoomRange = EVERY_ZOOM,
): Float64Array {
  const zooms = new Float64Array(points.length / 2).fill(Number.NaN);
  const placed: { x: number; y: number; width: number; height: number; zoom: number }[] = [];
  for (const entry of order) {
    const [x, y] = pointOf(points, entry);
    const [width, height] = [widths[entry], heights[entry]];
    let best = minZoom;
    for (const other of placed) {
      const free = Math.min(
        (other.width + width) / (2 * Math.abs(other.x - x)),
        (other.height + height) / (2 * Math.abs(other.y - y)),
      );
      if (free > best && free > other.zoom) best = free;
    }
    let zoom = best <= minZoom ? 0 : best;
    if (zoom > maxZoom) zoom = Number.POSITIVE_INFINITY;
    zooms[entry] = zoom;
    placed.push({ x, y, width, height, zoom });
  }
  return zooms;
}

/** Numbers in [0, 1) that are the same in every run. */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** About normal, which is near enough. */
function normal(draw: () => number): number {
  return draw() + draw() + draw() + draw() - 2;
}

type Place = (draw: () => number, i: number) => [number, number];

const cloud: Place = (draw) => [20 * normal(draw), 20 * normal(draw)];
const islands: Place = (draw, i) => [
  300 * Math.cos(i % 7) + normal(draw),
  300 * Math.sin(i % 7) + normal(draw),
];
const duplicates: Place = (draw, i) => (i % 3 ? [i % 5, 2] : [9 * draw(), 9 * draw()]);
const PLACES: Record<string, Place> = {
  "one cloud": cloud,
  islands,
  "far from 0": (draw) => [1e5 + 20 * draw(), -1e5 + 20 * draw()],
  duplicates,
  "a line": (draw) => [50 * draw(), 0],
  "a column": (draw) => [0, 50 * draw()],
  "a grid": (_, i) => [i % 30, Math.floor(i / 30)],
  "tight knots": (draw, i) => [i % 11, 1e-6 * draw()],
  "one point": () => [3, 4],
};

function labels(place: Place, n: number, seed: number): Labels {
  const draw = random(seed);
  const points = new Float32Array(2 * n);
  for (let i = 0; i < n; i++) points.set(place(draw, i), 2 * i);
  const order = Uint32Array.from({ length: n }, (_, i) => i);
  for (let i = n - 1; i > 0; i--) {
    const j = Math.floor(draw() * (i + 1));
    [order[i], order[j]] = [order[j], order[i]];
  }
  const heights = Float64Array.from({ length: n }, () => (draw() < 0.1 ? 22 : 16));
  return {
    points,
    widths: Float64Array.from(heights, () => 12 + 90 * draw() ** 2),
    heights,
    order,
  };
}

function rangesOf({ points, widths, heights, order }: Labels, range?: Partial<ZoomRange>) {
  const measure = (k: number): [number, number] => [widths[k], heights[k]];
  return new LabelRanges(points, order, measure, range);
}

function byRanges(some: Labels, range?: Partial<ZoomRange>): { zooms: Float64Array } {
  const ranges = rangesOf(some, range);
  while (!ranges.step(1));
  return { zooms: byEntry(ranges, some.order, some.points.length / 2) };
}

/** The zooms of a map's entries, NaN of one that is out of order. */
function byEntry({ zooms }: LabelRanges, order: Uint32Array, n: number): Float64Array {
  const found = new Float64Array(n).fill(Number.NaN);
  for (const [rank, entry] of order.entries()) found[entry] = zooms[rank];
  return found;
}

function assertFree({ points, widths, heights }: Labels, visible: number[], zoom: number): void {
  const boxes = visible.map((entry) => {
    const [x, y] = pointOf(points, entry);
    return { entry, x, y, width: widths[entry], height: heights[entry] };
  });
  for (const [k, a] of boxes.entries()) {
    for (const b of boxes.slice(0, k)) {
      const [dx, dy] = [Math.abs(a.x - b.x) * zoom, Math.abs(a.y - b.y) * zoom];
      const isFree =
        2 * dx >= (a.width + b.width) * (1 - 1e-12) ||
        2 * dy >= (a.height + b.height) * (1 - 1e-12);
      assert.ok(isFree, `${a.entry} ${b.entry} at ${zoom}`);
    }
  }
}

test("the rule gives the numbers of its twin in Python", () => {
  const points = Float32Array.of(0, 0, 2, 0, 2, 5);
  const zooms = labelZooms(points, [10, 30, 10], [8, 8, 8], Uint32Array.of(0, 1, 2));
  assert.deepEqual([...zooms], [0, 10, 1.6]);
});

test("a label is hidden for ever behind one at its point, and one out of order is unknown", () => {
  const points = Float32Array.of(1, 1, 1, 1, 4, 4);
  const order = Uint32Array.of(1, 0);
  const expected = [Number.POSITIVE_INFINITY, 0, Number.NaN];
  assert.deepEqual([...labelZooms(points, [5, 5, 5], [5, 5, 5], order)], expected);
  const ranges = new LabelRanges(points, order, () => [5, 5]);
  assert.ok(Number.isNaN(ranges.zooms[0]) && ranges.known === 0);
  assert.ok(ranges.step(10));
  assert.deepEqual([...byEntry(ranges, order, 3)], expected);
  assert.equal(ranges.known, 2);
});

test("an entry without a label never shows and is in nobody's way", () => {
  const points = Float32Array.of(0, 0, 0, 0);
  const ranges = new LabelRanges(points, Uint32Array.of(0, 1), (k) => (k === 0 ? null : [9, 9]));
  ranges.step(10);
  assert.deepEqual([...ranges.zooms], [Number.POSITIVE_INFINITY, 0]);
  assert.ok(new LabelRanges(new Float32Array(), new Uint32Array(), () => null).step(1));
});

for (const [name, place] of Object.entries(PLACES)) {
  test(`ranges are those of all pairs: ${name}`, () => {
    for (const [n, seed] of [
      [2, 1],
      [40, 2],
      [40, 3],
      [700, 4],
      [1500, 5],
    ] as const) {
      const some = labels(place, n, seed);
      const expected = labelZooms(some.points, some.widths, some.heights, some.order);
      assert.deepEqual(byRanges(some).zooms, expected);
      for (const range of [{ minZoom: 3, maxZoom: 400 }, { minZoom: 0.5 }, { maxZoom: 30 }]) {
        const whole = { minZoom: 0, maxZoom: Number.POSITIVE_INFINITY, ...range };
        const within = labelZooms(some.points, some.widths, some.heights, some.order, whole);
        assert.deepEqual(byRanges(some, range).zooms, within);
      }
    }
  });

  test(`no two visible labels overlap: ${name}`, () => {
    const draw = random(6);
    const some = labels(place, 600, 7);
    const { zooms } = byRanges(some);
    for (let round = 0; round < 20; round++) {
      const zoom = 10 ** (4 * draw() - 1);
      const share = draw();
      const visible = [...some.order].filter((k) => zoom >= zooms[k] && draw() < share);
      assertFree(some, visible, zoom);
    }
  });
}

test("a range leaves the zooms above its least one, and hides no label but those beyond it", () => {
  const some = labels(cloud, 500, 8);
  const whole = labelZooms(some.points, some.widths, some.heights, some.order);
  const { zooms } = byRanges(some, { minZoom: 2 });
  whole.forEach((zoom, k) => {
    assert.equal(zooms[k], zoom > 2 ? zoom : 0);
  });
  const capped = byRanges(some, { maxZoom: 20 }).zooms;
  const visible = [...some.order].filter((k) => 20 >= capped[k]);
  assert.ok(visible.length >= whole.filter((zoom) => zoom <= 20).length);
  assertFree(some, visible, 20);
});

test("one very wide label does not spoil the others", () => {
  const some = labels(cloud, 800, 9);
  some.widths[some.order[3]] = 1e5;
  const expected = labelZooms(some.points, some.widths, some.heights, some.order);
  assert.deepEqual(byRanges(some).zooms, expected);
});

test("steps are short, and what is known at any time is free of overlaps", () => {
  const some = labels(islands, 3000, 10);
  const { order } = some;
  const ranges = rangesOf(some);
  ranges.step(0);
  assert.ok(ranges.known > 0 && ranges.known < order.length);
  const zooms = byEntry(ranges, order, some.points.length / 2);
  const visible = [...order].filter((k) => 9 >= zooms[k]);
  assertFree(some, visible, 9);
});

test("many labels take little time", () => {
  const few = { cloud, islands, duplicates };
  for (const [n, places, limit] of [
    [5_000, PLACES, 250],
    [200_000, few, 12_000],
  ] as const) {
    for (const [name, place] of Object.entries(places)) {
      const some = labels(place, n, 11);
      const took = processorTime(() => byRanges(some, { minZoom: 2, maxZoom: 20_000 }));
      assert.ok(took < limit, `${n} labels, ${name}: ${took} ms`);
    }
  }
});
