/** The path between two objects is the cheapest chain of near ones; the numbers are of `Atlas.path`. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Atlas } from "../../src/data/atlas.ts";
import { readAtlas } from "../../src/data/container.ts";
import { pathBetween, type Step } from "../../src/data/paths.ts";
import { Probabilities } from "../../src/data/probabilities.ts";
import { type Description, packed } from "../packed.ts";

const OF_ALL = 65535;

function path(atlas: Atlas, start: number, end: number, minWeight = 0.1): Step[] {
  const search = pathBetween(atlas, new Probabilities(atlas), start, end, minWeight);
  for (;;) {
    const { done, value } = search.next();
    if (done) return value.steps;
  }
}

/** tie stands beside knot in map 0, beside tuxedo in map 1; knot and tuxedo share no map. */
function ties(part: Partial<Description> = {}): Promise<Atlas> {
  const half = Math.round(OF_ALL / 2);
  return readAtlas(
    packed({
      labels: ["tie", "knot", "tuxedo", "alone"],
      maps: [
        [[0], [0.1], [9], [0]],
        [[0], [9], [0.1], [0]],
        [[0], [0], [0], [0]],
      ].map((points) => points.map(([x = 0]) => [x, 0])),
      proportions: [
        [half, OF_ALL, 0, 0],
        [half, 0, OF_ALL, 0],
        [0, 0, 0, OF_ALL],
      ],
      ...part,
    }),
  );
}

test("a path leads through a word that both maps have", async () => {
  const steps = path(await ties(), 1, 2);
  assert.deepEqual(
    steps.map(({ from, to, map }) => [from, map, to]),
    [
      [1, 0, 0],
      [0, 1, 2],
    ],
  );
  assert.ok(Math.abs((steps[0]?.share ?? 0) - 1) < 1e-3);
  assert.ok(Math.abs((steps[1]?.share ?? 0) - 0.5) < 1e-3);
});

test("over observed links the cheapest path need not be the shortest", async () => {
  const observed: [number, number][][] = [
    [
      [2, 0.9],
      [1, 0.1],
    ],
    [[2, 1]],
    [
      [1, 0.8],
      [3, 0.2],
    ],
    [],
  ];
  const steps = path(await ties({ observed }), 0, 1);
  assert.deepEqual(
    steps.map(({ from, to, map }) => [from, map, to]),
    [
      [0, 1, 2],
      [2, 1, 1],
    ],
  );
  assert.equal(path(await ties({ observed }), 1, 0).length, 1);
});

test("none leads where no map is shared, nor from a word to itself", async () => {
  const atlas = await ties();
  assert.deepEqual(path(atlas, 0, 3), []);
  assert.deepEqual(path(atlas, 3, 0), []);
  assert.deepEqual(path(atlas, 1, 1), []);
});

test("a map that gives too little of a word's weight is no step, unless it gives the most", async () => {
  const weights = [
    [50000, OF_ALL, 0, 0],
    [15535, 0, OF_ALL, 0],
    [0, 0, 0, OF_ALL],
  ];
  const atlas = await ties({ weights });
  assert.equal(path(atlas, 1, 2, 0.2).length, 2);
  assert.equal(path(atlas, 1, 2, 0.3).length, 0);
  assert.equal(path(atlas, 1, 0, 0.9).length, 1);
});

test("a word that is near nobody is reached from those that are near it", async () => {
  // Twenty words stand close together, the last one far away: none of them has it among its nearest.
  const n = 21;
  const points = Array.from({ length: n }, (_, i) => [i === n - 1 ? 40 : (i * 7) % 20, 0]);
  const atlas = await readAtlas(
    packed({
      labels: points.map((_, i) => `w${i}`),
      maps: [points],
      proportions: [points.map(() => OF_ALL)],
    }),
  );
  const steps = path(atlas, 0, n - 1);
  assert.equal(steps.at(-1)?.to, n - 1);
  assert.ok(steps.every(({ to }, k) => k === steps.length - 1 || steps[k + 1]?.from === to));
});
