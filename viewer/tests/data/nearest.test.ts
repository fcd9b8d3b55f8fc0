/** Neighbours are ranked as Python ranks them, and senses have the members that Python gives them. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Atlas } from "../../src/data/atlas.ts";
import { senses } from "../../src/data/nearest.ts";
import { tinyAtlas } from "../tiny_atlas.ts";

/** Ten objects with charges, of which the first four are rows where there are two kinds. */
const CHARGES = [0.4, 1, 0.05, 0.7, 0.9, 0.2, 0.6, 0.01, 0.3, 0.8];
const POINTS = CHARGES.flatMap((_, i) => [3 * Math.sin(5 * i), 3 * Math.cos(3 * i * i)]);
const LABELS = CHARGES.map((_, i) => `w${i}`);

/** The neighbours of an object in the first map. */
function near(atlas: Atlas, object: number, nNeighbors: number, sameKind = false): number[] {
  return senses(atlas, object, { nNeighbors, minWeight: 0, sameKind })[0]?.neighbors ?? [];
}

const KERNELS: [Atlas["model"]["kernel"], (d2: number) => number][] = [
  ["cauchy", (d2) => 1 / (1 + d2)],
  ["gaussian", (d2) => Math.exp(-d2)],
  [5, (d2) => (1 + d2 / 3) ** -3],
];

for (const [kernel, value] of KERNELS) {
  for (const nRows of [0, 4]) {
    test(`neighbours by charge and kernel ${kernel}${nRows ? ", two kinds" : ""}`, () => {
      const kinds = nRows ? ["row", "column"] : undefined;
      const tiny = tinyAtlas({ labels: LABELS, points: POINTS, charges: CHARGES, kinds, nRows });
      const atlas: Atlas = { ...tiny, model: { kernel, kernelWidth: 1.5 } };
      const score = (i: number, j: number) => {
        const d2 =
          (POINTS[2 * i] - POINTS[2 * j]) ** 2 + (POINTS[2 * i + 1] - POINTS[2 * j + 1]) ** 2;
        return CHARGES[j] * value(d2 / 1.5 ** 2);
      };
      for (const sameKind of nRows ? [false, true] : [false]) {
        for (const i of LABELS.keys()) {
          const others = [...LABELS.keys()].filter(
            (j) => j !== i && (!nRows || (i < nRows === j < nRows) === sameKind),
          );
          const exact = others.sort((a, b) => score(i, b) - score(i, a)).slice(0, 4);
          assert.deepEqual(near(atlas, i, 4, sameKind), exact);
        }
      }
    });
  }
}

test("a Gaussian far from all others still has its nearest", () => {
  const tiny = tinyAtlas({ labels: LABELS.slice(0, 4), points: [0, 0, 0.1, 0, 90, 0, 200, 0] });
  const atlas: Atlas = { ...tiny, model: { kernel: "gaussian", kernelWidth: 1 } };
  assert.equal(near(atlas, 2, 2)[0], 1);
  assert.equal(near(atlas, 3, 2)[0], 2);
});

test("maps are listed by weight, and an object without an entry has no senses", () => {
  const points = [0, 0, 1, 1, 2, 2];
  const weights = [
    [0.3, 1, 0],
    [0.7, 0, 0],
  ];
  const atlas = tinyAtlas({ labels: LABELS.slice(0, 3), points: [points, points], weights });
  const listed = (object: number, minWeight: number) =>
    senses(atlas, object, { nNeighbors: 3, minWeight }).map(({ map, neighbors }) => [
      map,
      neighbors,
    ]);
  assert.deepEqual(listed(0, 0.1), [
    [1, []],
    [0, [1]],
  ]);
  assert.deepEqual(listed(0, 0.9), [[1, []]]);
  assert.deepEqual(listed(2, 0), []);
});

test("the senses of an object have its close associates, the strongest first", () => {
  const points = [0, 0, 1, 0, 1, 1, -1, 0, -1, 1];
  const tiny = tinyAtlas({ labels: LABELS.slice(0, 5), points: [points, points] });
  const observed = {
    offsets: Uint32Array.of(0, 4, 4, 4, 5, 5),
    partners: Uint32Array.of(3, 2, 4, 1, 0),
    shares: Float32Array.of(0.4, 0.3, 0.2, 0.1, 1),
    maps: Uint32Array.of(2, 1, 0, 1, 2),
    senses: {
      offsets: Uint32Array.of(0, 2, 2, 2, 2, 2),
      maps: Uint32Array.of(1, 0),
      shares: Float32Array.of(0.75, 0.25),
    },
  };
  const atlas: Atlas = { ...tiny, observed };
  const options = { nNeighbors: 8, minWeight: 0.1 };
  const sense = { entry: 0, weight: 1 };
  assert.deepEqual(senses(atlas, 0, options), [
    { ...sense, map: 1, share: 0.75, name: [2, 1], neighbors: [2, 1] },
    { ...sense, map: 0, share: 0.25, name: [4], neighbors: [4] },
  ]);
  // An object whose associates are close on no map has no senses; one without associates has maps.
  assert.deepEqual(senses(atlas, 3, options), []);
  const [other] = senses(atlas, 1, options);
  assert.deepEqual([other.share, other.weight, other.neighbors.length], [null, 1, 4]);
});
