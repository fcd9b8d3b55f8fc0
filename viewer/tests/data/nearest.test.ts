/** `SenseFinder` ranks as `manymaps.Atlas` does (its senses), written out here. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { readAtlas } from "../../src/data/container.ts";
import { elementAt } from "../../src/data/elements.ts";
import { type Sense, SenseFinder } from "../../src/data/nearest.ts";
import { type Description, packed } from "../packed.ts";
import { processorTime } from "../processor_time.ts";
import { tinyAtlas } from "../tiny_atlas.ts";

/** A map, and the neighbours there. */
type Listed = [map: number, neighbors: number[]];

interface Case extends Omit<Description, "labels" | "senses"> {
  name: string;
  /** Of the first and the last object. */
  senses: [Listed[], Listed[]];
  /** Of the first object, among its own kind. */
  sameKind?: Listed[];
}

// biome-ignore format: rows of numbers
const CASES: Case[] = [
  {
    name: "three maps, Cauchy kernel",
    model: {kernel: "cauchy", kernelWidth: 1.0},
    maps: [[[0.69, 1.64], [0.66, -2.61], [1.81, 0.89], [-1.07, 1.16], [0.73, 0.59], [0.06, 1.09]],
      [[-1.47, -0.33], [-0.96, 1.2], [0.08, -0.58], [-1.56, -0.51], [0.02, -0.55], [2.59, 2.01]],
      [[-5.42, -3.78], [-0.35, -0.84], [0.43, 0.43], [4.24, -2.22], [-0.76, 4.09], [1.29, 1.33]]],
    proportions: [[13234, 5209, 23605, 0, 0, 42502], [0, 16574, 20218, 54931, 56657, 23033],
      [52301, 43752, 21712, 10604, 8878, 0]],
    weights: [[53778, 1925, 10643, 0, 0, 48722], [0, 35252, 44984, 63921, 64574, 16813], [11757,
      28358, 9908, 1614, 961, 0]],
    senses: [[[0, [5, 2]], [2, [1, 2]]], [[0, [0, 2]], [1, [4, 3]]]],
  },
  {
    name: "Gaussian kernel of another width",
    model: {kernel: "gaussian", kernelWidth: 1.5},
    maps: [[[0.38, -1.05], [-0.83, -4.88], [3.6, 2.29], [-0.65, 1.55], [0.56, -1.11], [1.96,
      -0.62]], [[-0.66, -1.58], [0.91, -0.2], [1.09, -1.21], [0.25, -1.78], [1.68, 0.38], [0.66,
      0.82]]],
    proportions: [[22189, 16925, 35069, 12214, 38556, 43283], [43346, 48610, 30466, 53321, 26979,
      22252]],
    weights: [[22100, 15, 275, 422, 32179, 28691], [43435, 65520, 65260, 65113, 33356, 36844]],
    senses: [[[1, [3, 2]], [0, [4, 5]]], [[1, [1, 4]], [0, [4, 0]]]],
  },
  {
    name: "factors of one kind, two degrees of freedom",
    model: {kernel: 2, kernelWidth: 1.0},
    maps: [[[-1.2, -1.99], [-0.37, 0.63], [1.7, 0.16], [-0.83, -1.18], [1.12, 2.45], [0.41,
      -1.85]], [[-1.44, 2.4], [0.3, -2.6], [-0.13, -1.74], [-0.94, -0.73], [-1.07, 0.83], [-0.09,
      -0.88]]],
    proportions: [[8517, 22123, 63310, 65535, 45750, 19963], [57018, 43412, 2225, 0, 19785,
      45572]],
    weights: [[36014, 30521, 57863, 65535, 22833, 35544], [29521, 35014, 7672, 0, 42702, 29991]],
    factors: [2.477, 1.154, 0.702, 2.186, 1.511, 2.457],
    senses: [[[0, [3, 5]], [1, [4, 5]]], [[0, [3, 0]], [1, [1, 0]]]],
  },
  {
    name: "joint normalization",
    model: {kernel: "cauchy", kernelWidth: 1.0},
    maps: [[[4.08, -5.11], [0.84, -1.14], [-0.91, -0.43], [-4.04, -0.46], [-1.73, 6.65], [0.45,
      -0.71]], [[-0.56, -1.34], [-2.11, -0.78], [0.96, -0.48], [1.92, -0.4], [0.05, 3.09], [1.09,
      -1.01]]],
    proportions: [[56479, 0, 23122, 24902, 47917, 35448], [9056, 65535, 42413, 40633, 17618,
      30087]],
    weights: [[15612, 0, 9377, 4641, 20794, 11878], [49923, 65535, 56158, 60894, 44741, 53657]],
    senses: [[[1, [1, 2]], [0, [5, 2]]], [[1, [2, 3]], [0, [2, 0]]]],
  },
  {
    name: "joint with a uniform background",
    model: {kernel: "gaussian", kernelWidth: 1.0},
    maps: [[[-0.65, -0.17], [1.66, 0.66], [-1.64, -0.01], [-0.62, 0.15], [-1.61, 0.24]]],
    proportions: [[65535, 65535, 65535, 65535, 65535]],
    senses: [[[0, [3, 2]]], [[0, [2, 3]]]],
  },
  {
    name: "one component, conditional with a background",
    model: {kernel: "cauchy", kernelWidth: 1.0},
    maps: [[[-3.48], [-2.67], [-2.72], [-0.7], [-4.63]], [[-0.38], [-1.91], [1.79], [1.91],
      [2.78]]],
    proportions: [[39949, 60250, 47022, 0, 61183], [25586, 5285, 18513, 65535, 4352]],
    weights: [[59105, 64633, 50956, 0, 60233], [6430, 902, 14579, 65535, 5302]],
    senses: [[[0, [1, 2]]], [[0, [0, 1]]]],
  },
  {
    name: "two kinds, rows choose",
    model: {kernel: "gaussian", kernelWidth: 1.0},
    maps: [[[-0.8, -1.32], [-0.25, 0.42], [1.14, 0.11], [-0.55, -0.78], [0.75, 1.63], [0.27,
      -1.23], [-0.96, 1.6]], [[0.2, -1.73], [-0.08, -1.16], [-0.63, -0.49], [-0.71, 0.55], [-0.06,
      -0.59], [0.41, 0.83], [-1.64, -0.26]]],
    proportions: [[54008, 65535, 48939, 65535, 5324, 22860, 36631], [11527, 0, 16596, 0, 60211,
      42675, 28904]],
    weights: [[62034, 65535, 12419, 65535, 2655, 57674, 30637], [3501, 0, 53116, 0, 62880, 7861,
      34898]],
    nRows: 3,
    factors: [0.877, 0.322, 0.623, 0.789, 0.73, 0.92, 0.867],
    senses: [[[0, [3, 5]]], [[1, [2, 0]], [0, [1, 2]]]],
    sameKind: [[0, [1, 2]]],
  },
  {
    name: "two kinds, columns choose",
    model: {kernel: "gaussian", kernelWidth: 1.0},
    maps: [[[1.05, 1.78], [-2.55, -0.14], [1.01, 1.35], [0.65, 1.5], [0.29, 0.55], [0.18, -1.07],
      [-0.85, 0.38]], [[-0.58, 1.27], [1.29, 1.8], [-0.03, 1.38], [-0.91, -0.82], [0.08, 0.28],
      [-1.6, -1.73], [0.36, -0.86]]],
    proportions: [[43295, 4424, 60806, 0, 0, 0, 0], [22240, 61111, 4729, 65535, 65535, 65535,
      65535]],
    weights: [[1, 1, 1, 0, 0, 0, 0], [65535, 65535, 65535, 65535, 65535, 65535, 65535]],
    nRows: 3,
    factors: [0.877, 0.322, 0.623, 0.789, 0.73, 0.92, 0.867],
    senses: [[[1, [4, 3]]], [[1, [0, 2]]]],
    sameKind: [[1, [2, 1]]],
  },
  {
    name: "two kinds, joint",
    model: {kernel: "cauchy", kernelWidth: 1.0},
    maps: [[[0.0, 0.6], [-0.55, -1.78], [-0.91, -1.98], [0.12, 2.68], [-0.98, -1.24], [0.98,
      0.71], [0.21, -1.86]], [[-0.06, 1.39], [-2.69, -0.92], [-3.8, -2.58], [-3.68, -0.47],
      [-2.53, 0.54], [0.31, -0.37], [-5.03, -1.08]]],
    proportions: [[41026, 0, 60281, 24655, 3444, 0, 28190], [24509, 65535, 5254, 40880, 62091,
      65535, 37345]],
    weights: [[23328, 0, 58229, 19913, 9849, 0, 51105], [42207, 65535, 7306, 45622, 55686, 65535,
      14430]],
    nRows: 3,
    factors: [0.877, 0.322, 0.623, 0.789, 0.73, 0.92, 0.867],
    senses: [[[1, [5, 4]], [0, [3, 6]]], [[0, [2, 0]], [1, [1, 2]]]],
    sameKind: [[1, [1, 2]], [0, [2]]],
  },
  {
    name: "three components",
    model: {kernel: "cauchy", kernelWidth: 1.0},
    maps: [[[-2.21, -1.45, -1.56], [0.53, -0.5, 0.25], [1.69, 1.72, 0.95], [-0.9, -1.51, -1.63],
      [-0.69, -0.1, -1.94]], [[-2.27, 0.61, -3.7], [-0.35, 0.85, -1.97], [-2.23, -1.52, 1.3],
      [-0.26, -3.74, -0.85], [2.03, 1.97, 1.26]]],
    proportions: [[0, 48959, 8663, 25374, 56428], [65535, 16576, 56872, 40161, 9107]],
    weights: [[0, 47577, 13670, 45507, 62177], [65535, 17958, 51865, 20028, 3358]],
    senses: [[[1, [1, 2]]], [[0, [3, 1]]]],
  },
];

async function finderOf(description: Omit<Description, "labels">): Promise<SenseFinder> {
  const labels = elementAt(description.proportions, 0).map((_, i) => `w${i}`);
  const kinds = description.nRows ? (["row", "column"] as [string, string]) : undefined;
  return new SenseFinder(await readAtlas(packed({ ...description, labels, kinds })));
}

function listed(senses: Sense[]): Listed[] {
  return senses.map(({ map, neighbors }) => [map, neighbors]);
}

for (const { name, senses, sameKind, ...description } of CASES) {
  test(`senses: ${name}`, async () => {
    const n = elementAt(description.proportions, 0).length;
    const options = { nNeighbors: 2, minWeight: 0.1 };
    const finder = await finderOf(description);
    assert.deepEqual(listed(finder.senses(0, options)), senses[0], "first");
    assert.deepEqual(listed(finder.senses(n - 1, options)), senses[1], "last");
    if (sameKind) {
      const own = finder.senses(0, { ...options, sameKind: true });
      assert.deepEqual(listed(own), sameKind, "of its kind");
    }
    const weights = finder.senses(0, { ...options, minWeight: 0 }).map(({ weight }) => weight);
    assert.ok(Math.abs(weights.reduce((sum, weight) => sum + weight, 0) - 1) < 1e-4);
    assert.deepEqual(
      weights,
      weights.toSorted((a, b) => b - a),
    );
  });
}

/** The neighbours of an object in the first map. */
function nearTo(finder: SenseFinder, object: number, nNeighbors: number): number[] {
  const senses = finder.senses(object, { nNeighbors, minWeight: 0 });
  return senses.find(({ map }) => map === 0)?.neighbors ?? [];
}

test("an object alone in its maps, or in none, has no neighbours", async () => {
  const points = [0, 1, 2, 3].map((x) => [x, x]);
  const finder = await finderOf({
    maps: [points, points],
    proportions: [
      [65535, 65535, 0, 0],
      [0, 0, 65535, 0],
    ],
  });
  assert.deepEqual(nearTo(finder, 0, 3), [1]);
  assert.deepEqual(listed(finder.senses(2, { nNeighbors: 3, minWeight: 0 })), [[1, []]]);
  assert.deepEqual(finder.senses(3, { nNeighbors: 3, minWeight: 0 }), []);
});

test("a Gaussian far from all others still has its nearest", async () => {
  const finder = await finderOf({
    maps: [[0, 0.1, 90, 200].map((x) => [x, 0])],
    proportions: [[65535, 65535, 65535, 1]],
    model: { kernel: "gaussian" },
  });
  assert.equal(nearTo(finder, 2, 2)[0], 1);
  assert.equal(nearTo(finder, 3, 2)[0], 2);
});

test("of equal neighbours the first comes first, and none beyond the count", async () => {
  const finder = await finderOf({
    maps: [
      [
        [0, 0],
        [1, 0],
        [-1, 0],
        [0, 1],
        [0, 0],
      ],
    ],
    proportions: [[65535, 65535, 65535, 65535, 65535]],
  });
  const objects = (count: number) => nearTo(finder, 0, count);
  assert.deepEqual(objects(9), [4, 1, 2, 3]);
  assert.deepEqual(objects(2), [4, 1]);
  assert.deepEqual(objects(0), []);
});

test("a number is the degrees of freedom of the kernel, which says how much distance counts", () => {
  const labels = ["one", "near and light", "far and heavy"];
  const proportions = [1, 0.1, 1];
  const atlas = tinyAtlas({ labels, points: [0, 0, 1, 0, 0, 4], proportions });
  const first = (kernel: number) =>
    nearTo(new SenseFinder({ ...atlas, model: { ...atlas.model, kernel } }), 0, 1)[0];
  // 0.1 K(1) against K(16).
  assert.deepEqual([first(1), first(20)], [2, 1]);
});

test("one lookup among 200,000 objects of a map is quick", () => {
  const n = 200_000;
  const coordinates = Float32Array.from({ length: 2 * n }, (_, i) => Math.sin(i * i) * 50);
  const atlas = tinyAtlas({ labels: new Array(n).fill(""), points: Array.from(coordinates) });
  for (const kernel of ["cauchy", "gaussian", 4] as const) {
    const finder = new SenseFinder({ ...atlas, model: { ...atlas.model, kernel } });
    finder.senses(5, { nNeighbors: 8, minWeight: 0.1 });
    const times = [7, 8, 9].map((object) => {
      return processorTime(() => finder.senses(object, { nNeighbors: 8, minWeight: 0.1 }));
    });
    assert.ok(Math.min(...times) < 60, `${times} ms`);
  }
});

test("the senses of an object have its close associates, the strongest first", () => {
  const atlas = tinyAtlas({
    labels: ["light", "lamp", "bulb", "dark", "heavy"],
    points: [0, 0, 1, 0, 1, 1, -1, 0, -1, 1],
  });
  const [map] = atlas.maps;
  const two = { ...atlas, nMaps: 2, maps: [map, { ...map, number: 1 }] };
  two.observed = {
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
  const finder = new SenseFinder(two);
  const options = { nNeighbors: 8, minWeight: 0.1 };
  const [first, second, ...more] = finder.senses(0, options);
  assert.deepEqual(more, []);
  const sense = { entry: 0, weight: 1 };
  assert.deepEqual(first, { ...sense, map: 1, share: 0.75, name: [2, 1], neighbors: [2, 1] });
  assert.deepEqual(second, { ...sense, map: 0, share: 0.25, name: [4], neighbors: [4] });
  const [short] = finder.senses(0, { ...options, nNeighbors: 1 });
  assert.deepEqual(short?.neighbors, [2]);
  // An object whose associates are close on no map has no senses; one without associates has maps.
  assert.deepEqual(finder.senses(3, options), []);
  const [other] = finder.senses(1, options);
  assert.deepEqual([other?.share, other?.weight, other?.neighbors.length], [null, 1, 4]);
});
