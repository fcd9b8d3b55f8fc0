/** `Probabilities` gives the numbers of `manymaps.Atlas` (its senses and similarities), written out here. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Atlas } from "../../src/data/atlas.ts";
import { readAtlas } from "../../src/data/container.ts";
import { elementAt } from "../../src/data/elements.ts";
import { type Neighbor, Probabilities, type Sense } from "../../src/data/probabilities.ts";
import { furtherMaps } from "../../src/state/sentences.ts";
import { type Description, packed } from "../packed.ts";
import { processorTime } from "../processor_time.ts";
import { tinyAtlas } from "../tiny_atlas.ts";

/** A map, and the neighbours there with their shares. */
type Listed = [number, [number, number][]];

interface Case extends Omit<Description, "labels"> {
  name: string;
  /** Of the first and the last object. */
  senses: [Listed[], Listed[]];
  /** Of the first object, among its own kind. */
  sameKind?: Listed[];
  /** q(j|i) for i the first and the last object. */
  similarities: number[][];
}

// biome-ignore format: rows of numbers
const CASES: Case[] = [
  {
    name: "three maps, Cauchy kernel",
    model: {kernel: "cauchy", normalization: "conditional", background: 0.0, kernelWidth: 1.0,
      given: null},
    maps: [[[0.69, 1.64], [0.66, -2.61], [1.81, 0.89], [-1.07, 1.16], [0.73, 0.59], [0.06, 1.09]],
      [[-1.47, -0.33], [-0.96, 1.2], [0.08, -0.58], [-1.56, -0.51], [0.02, -0.55], [2.59, 2.01]],
      [[-5.42, -3.78], [-0.35, -0.84], [0.43, 0.43], [4.24, -2.22], [-0.76, 4.09], [1.29, 1.33]]],
    proportions: [[13234, 5209, 23605, 0, 0, 42502], [0, 16574, 20218, 54931, 56657, 23033],
      [52301, 43752, 21712, 10604, 8878, 0]],
    weights: [[53778, 1925, 10643, 0, 0, 48722], [0, 35252, 44984, 63921, 64574, 16813], [11757,
      28358, 9908, 1614, 961, 0]],
    senses: [[[0, [[5, 0.6096609], [2, 0.2042712]]], [2, [[1, 0.1192396], [2, 0.0395053]]]], [[0,
      [[0, 0.4168985], [2, 0.308028]]], [1, [[4, 0.1160947], [3, 0.064854]]]]],
    similarities: [[0.0, 0.1259, 0.243776, 0.0105588, 0.0101034, 0.609661], [0.416898, 0.052252,
      0.349901, 0.064854, 0.116095, 0.0]],
  },
  {
    name: "Gaussian kernel of another width",
    model: {kernel: "gaussian", normalization: "conditional", background: 0.0, kernelWidth: 1.5,
      given: null},
    maps: [[[0.38, -1.05], [-0.83, -4.88], [3.6, 2.29], [-0.65, 1.55], [0.56, -1.11], [1.96,
      -0.62]], [[-0.66, -1.58], [0.91, -0.2], [1.09, -1.21], [0.25, -1.78], [1.68, 0.38], [0.66,
      0.82]]],
    proportions: [[22189, 16925, 35069, 12214, 38556, 43283], [43346, 48610, 30466, 53321, 26979,
      22252]],
    weights: [[22100, 15, 275, 422, 32179, 28691], [43435, 65520, 65260, 65113, 33356, 36844]],
    senses: [[[1, [[3, 0.4638798], [2, 0.094045]]], [0, [[4, 0.2485419], [5, 0.0861053]]]], [[1,
      [[1, 0.3108178], [4, 0.1627426]]], [0, [[4, 0.2944687], [0, 0.1368371]]]]],
    similarities: [[0.0, 0.089299, 0.0940611, 0.466355, 0.254033, 0.096252], [0.152962, 0.310821,
      0.0519205, 0.027085, 0.457211, 0.0]],
  },
  {
    name: "factors of one kind, two degrees of freedom",
    model: {kernel: 2, normalization: "conditional", background: 0.0, kernelWidth: 1.0,
      given: null},
    maps: [[[-1.2, -1.99], [-0.37, 0.63], [1.7, 0.16], [-0.83, -1.18], [1.12, 2.45], [0.41,
      -1.85]], [[-1.44, 2.4], [0.3, -2.6], [-0.13, -1.74], [-0.94, -0.73], [-1.07, 0.83], [-0.09,
      -0.88]]],
    proportions: [[8517, 22123, 63310, 65535, 45750, 19963], [57018, 43412, 2225, 0, 19785,
      45572]],
    weights: [[36014, 30521, 57863, 65535, 22833, 35544], [29521, 35014, 7672, 0, 42702, 29991]],
    factors: [2.477, 1.154, 0.702, 2.186, 1.511, 2.457],
    senses: [[[0, [[3, 0.4591068], [5, 0.0654629]]], [1, [[4, 0.2680776], [5, 0.1578626]]]], [[0,
      [[3, 0.4165076], [0, 0.0478922]]], [1, [[1, 0.2186502], [0, 0.1154911]]]]],
    similarities: [[0.0, 0.0336881, 0.0101937, 0.459107, 0.273686, 0.223326], [0.163383, 0.239009,
      0.0636167, 0.416508, 0.117483, 0.0]],
  },
  {
    name: "joint normalization",
    model: {kernel: "cauchy", normalization: "joint", background: 0.0, kernelWidth: 1.0,
      given: null},
    maps: [[[4.08, -5.11], [0.84, -1.14], [-0.91, -0.43], [-4.04, -0.46], [-1.73, 6.65], [0.45,
      -0.71]], [[-0.56, -1.34], [-2.11, -0.78], [0.96, -0.48], [1.92, -0.4], [0.05, 3.09], [1.09,
      -1.01]]],
    proportions: [[56479, 0, 23122, 24902, 47917, 35448], [9056, 65535, 42413, 40633, 17618,
      30087]],
    weights: [[15612, 0, 9377, 4641, 20794, 11878], [49923, 65535, 56158, 60894, 44741, 53657]],
    logWhole: 0.666942681,
    senses: [[[1, [[1, 0.0190865], [2, 0.011334]]], [0, [[5, 0.0071344], [2, 0.0032649]]]], [[1,
      [[2, 0.1175098], [3, 0.0708898]]], [0, [[2, 0.0334541], [0, 0.0071344]]]]],
    similarities: [[0.0, 0.0190865, 0.0145989, 0.00737181, 0.00277707, 0.0156333], [0.0156333,
      0.0208665, 0.150964, 0.0758606, 0.00674094, 0.0]],
  },
  {
    name: "joint with a uniform background",
    model: {kernel: "gaussian", normalization: "joint", background: 0.2, kernelWidth: 1.0,
      given: null},
    maps: [[[-0.65, -0.17], [1.66, 0.66], [-1.64, -0.01], [-0.62, 0.15], [-1.61, 0.24]]],
    proportions: [[65535, 65535, 65535, 65535, 65535]],
    logWhole: 1.876672767,
    senses: [[[0, [[3, 0.138073], [2, 0.0560017]]]], [[0, [[2, 0.1436935], [3, 0.0569904]]]]],
    similarities: [[0.0, 0.0102961, 0.0548014, 0.120458, 0.0511918], [0.0511918, 0.0100023,
      0.124955, 0.0555923, 0.0]],
  },
  {
    name: "one component, conditional with a background",
    model: {kernel: "cauchy", normalization: "conditional", background: 0.1, kernelWidth: 1.0,
      given: null},
    maps: [[[-3.48], [-2.67], [-2.72], [-0.7], [-4.63]], [[-0.38], [-1.91], [1.79], [1.91],
      [2.78]]],
    proportions: [[39949, 60250, 47022, 0, 61183], [25586, 5285, 18513, 65535, 4352]],
    weights: [[59105, 64633, 50956, 0, 60233], [6430, 902, 14579, 65535, 5302]],
    senses: [[[0, [[1, 0.3546007], [2, 0.2905182]]]], [[0, [[0, 0.397599], [1, 0.2876493]]]]],
    similarities: [[0.0, 0.353028, 0.304686, 0.0839673, 0.258319], [0.386286, 0.284224, 0.249292,
      0.0801978, 0.0]],
  },
  {
    name: "two kinds, rows choose",
    model: {kernel: "gaussian", normalization: "conditional", background: 0.0, kernelWidth: 1.0,
      given: "rows"},
    maps: [[[-0.8, -1.32], [-0.25, 0.42], [1.14, 0.11], [-0.55, -0.78], [0.75, 1.63], [0.27,
      -1.23], [-0.96, 1.6]], [[0.2, -1.73], [-0.08, -1.16], [-0.63, -0.49], [-0.71, 0.55], [-0.06,
      -0.59], [0.41, 0.83], [-1.64, -0.26]]],
    proportions: [[54008, 65535, 48939, 65535, 5324, 22860, 36631], [11527, 0, 16596, 0, 60211,
      42675, 28904]],
    weights: [[62034, 65535, 12419, 65535, 2655, 57674, 30637], [3501, 0, 53116, 0, 62880, 7861,
      34898]],
    nRows: 3,
    factors: [0.877, 0.322, 0.623, 0.789, 0.73, 0.92, 0.867],
    senses: [[[0, [[3, 0.8136323], [5, 0.1276654]]]], [[1, [[2, 0.3104513], [0, 0.0024597]]], [0,
      [[1, 0.6818874], [2, 0.0044784]]]]],
    sameKind: [[0, [[1, 0.8159307], [2, 0.0511069]]], [1, [[2, 0.1329624]]]],
    similarities: [[0.0, 0.0, 0.0, 0.800067, 0.052706, 0.146632, 0.000595275], [0.00270971,
      0.459228, 0.538063, 0.0, 0.0, 0.0, 0.0]],
  },
  {
    name: "two kinds, columns choose",
    model: {kernel: "gaussian", normalization: "conditional", background: 0.0, kernelWidth: 1.0,
      given: "columns"},
    maps: [[[1.05, 1.78], [-2.55, -0.14], [1.01, 1.35], [0.65, 1.5], [0.29, 0.55], [0.18, -1.07],
      [-0.85, 0.38]], [[-0.58, 1.27], [1.29, 1.8], [-0.03, 1.38], [-0.91, -0.82], [0.08, 0.28],
      [-1.6, -1.73], [0.36, -0.86]]],
    proportions: [[43295, 4424, 60806, 0, 0, 0, 0], [22240, 61111, 4729, 65535, 65535, 65535,
      65535]],
    weights: [[1, 1, 1, 0, 0, 0, 0], [65535, 65535, 65535, 65535, 65535, 65535, 65535]],
    nRows: 3,
    factors: [0.877, 0.322, 0.623, 0.789, 0.73, 0.92, 0.867],
    senses: [[[1, [[4, 0.9387606], [3, 0.0439591]]]], [[1, [[0, 0.6691945], [2, 0.1828555]]]]],
    sameKind: [[0, [[2, 0.952947], [1, 0.0]]]],
    similarities: [[0.0, 0.0, 0.0, 0.258785, 0.196455, 0.310812, 0.233948], [0.78414, 0.0636521,
      0.152208, 0.0, 0.0, 0.0, 0.0]],
  },
  {
    name: "two kinds, joint",
    model: {kernel: "cauchy", normalization: "joint", background: 0.0, kernelWidth: 1.0,
      given: "rows"},
    maps: [[[0.0, 0.6], [-0.55, -1.78], [-0.91, -1.98], [0.12, 2.68], [-0.98, -1.24], [0.98,
      0.71], [0.21, -1.86]], [[-0.06, 1.39], [-2.69, -0.92], [-3.8, -2.58], [-3.68, -0.47],
      [-2.53, 0.54], [0.31, -0.37], [-5.03, -1.08]]],
    proportions: [[41026, 0, 60281, 24655, 3444, 0, 28190], [24509, 65535, 5254, 40880, 62091,
      65535, 37345]],
    weights: [[23328, 0, 58229, 19913, 9849, 0, 51105], [42207, 65535, 7306, 45622, 55686, 65535,
      14430]],
    nRows: 3,
    factors: [0.877, 0.322, 0.623, 0.789, 0.73, 0.92, 0.867],
    logWhole: -0.684726294,
    senses: [[[1, [[5, 0.3652625], [4, 0.1873126]]], [0, [[3, 0.1823754], [6, 0.1569522]]]], [[0,
      [[2, 0.5513744], [0, 0.1199848]]], [1, [[1, 0.2771274], [2, 0.0303262]]]]],
    sameKind: [[0, [[2, 0.699225]]], [1, [[1, 0.2907289], [2, 0.010046]]]],
    similarities: [[0.0, 0.0, 0.0, 0.0787417, 0.0653187, 0.141322, 0.0673327], [0.0673327,
      0.0485303, 0.19709, 0.0, 0.0, 0.0, 0.0]],
  },
  {
    name: "three components",
    model: {kernel: "cauchy", normalization: "conditional", background: 0.0, kernelWidth: 1.0,
      given: null},
    maps: [[[-2.21, -1.45, -1.56], [0.53, -0.5, 0.25], [1.69, 1.72, 0.95], [-0.9, -1.51, -1.63],
      [-0.69, -0.1, -1.94]], [[-2.27, 0.61, -3.7], [-0.35, 0.85, -1.97], [-2.23, -1.52, 1.3],
      [-0.26, -3.74, -0.85], [2.03, 1.97, 1.26]]],
    proportions: [[0, 48959, 8663, 25374, 56428], [65535, 16576, 56872, 40161, 9107]],
    weights: [[0, 47577, 13670, 45507, 62177], [65535, 17958, 51865, 20028, 3358]],
    senses: [[[1, [[1, 0.3927733], [2, 0.3414129]]]], [[0, [[3, 0.5076124], [1, 0.4115747]]]]],
    similarities: [[0.0, 0.392773, 0.341413, 0.229472, 0.0363414], [0.014408, 0.420698, 0.047914,
      0.51698, 0.0]],
  },
];

async function probabilitiesOf(description: Omit<Description, "labels">): Promise<Probabilities> {
  const labels = elementAt(description.proportions, 0).map((_, i) => `w${i}`);
  const kinds = description.nRows ? (["row", "column"] as [string, string]) : undefined;
  return new Probabilities(await readAtlas(packed({ ...description, labels, kinds })));
}

function near(actual: number, expected: number, what: string): void {
  assert.ok(
    Math.abs(actual - expected) <= 2e-6 + 2e-5 * expected,
    `${what}: ${actual} ${expected}`,
  );
}

function sameSenses(actual: Sense[], expected: Listed[], what: string): void {
  assert.deepEqual(
    actual.map(({ map, neighbors }) => [map, neighbors.map(({ object }) => object)]),
    expected.map(([map, neighbors]) => [map, neighbors.map(([object]) => object)]),
    what,
  );
  const expectedShares = expected.flatMap(([, neighbors]) => neighbors.map(([, share]) => share));
  const shares = actual.flatMap(({ neighbors }) => neighbors.map(({ share }) => share));
  for (const [k, share] of shares.entries()) near(share, elementAt(expectedShares, k), what);
}

for (const { name, senses, sameKind, similarities, ...description } of CASES) {
  const n = elementAt(description.proportions, 0).length;
  const options = { nNeighbors: 2, minWeight: 0.1 };

  test(`senses: ${name}`, async () => {
    const probabilities = await probabilitiesOf(description);
    sameSenses(probabilities.senses(0, options), senses[0], "first");
    sameSenses(probabilities.senses(n - 1, options), senses[1], "last");
    if (sameKind) {
      sameSenses(probabilities.senses(0, { ...options, sameKind: true }), sameKind, "of its kind");
    }
    for (const { map, neighbors } of probabilities.senses(0, options)) {
      assert.deepEqual(nearIn(probabilities, 0, map, 2), neighbors);
    }
    for (const sameKind of [false, true]) {
      const all = probabilities.senses(0, { ...options, minWeight: 0, sameKind });
      const weights = all.map(({ weight }) => weight);
      near(
        weights.reduce((sum, weight) => sum + weight, 0),
        1,
        "all that is recalled",
      );
      assert.deepEqual(
        weights,
        weights.toSorted((a, b) => b - a),
      );
    }
  });

  test(`similarities: ${name}`, async () => {
    const probabilities = await probabilitiesOf(description);
    similarities.forEach((row, which) => {
      const i = which === 0 ? 0 : n - 1;
      row.forEach((expected, j) => {
        near(probabilities.similarity(i, j), expected, `${i} ${j}`);
      });
    });
  });

  test(`what is recalled has a sum of 1: ${name}`, async () => {
    const probabilities = await probabilitiesOf(description);
    for (const i of [0, n - 1]) {
      const recalled = Array.from({ length: n }, (_, j) => probabilities.probability(i, j));
      near(
        recalled.reduce((sum, share) => sum + share, 0),
        1,
        `${i}`,
      );
      const similar = recalled.map((_, j) => probabilities.similarity(i, j));
      const largest = Math.max(...similar);
      assert.equal(similar.indexOf(largest), recalled.indexOf(Math.max(...recalled)));
    }
  });

  test(`nearest: ${name}`, async () => {
    const probabilities = await probabilitiesOf(description);
    const nearest = description.maps.flatMap((_, map) => probabilities.nearest(0, map, 9));
    near(
      nearest.reduce((sum, { share }) => sum + share, 0),
      1,
      "all that is near",
    );
    if (description.maps.length > 1 || description.nRows) return;
    const recalled = nearest.map(({ object }) => probabilities.probability(0, object));
    assert.deepEqual(
      recalled,
      recalled.toSorted((a, b) => b - a),
    );
  });

  test(`associates: ${name}`, async () => {
    const probabilities = await probabilitiesOf(description);
    const found = probabilities.associates(0, 3);
    const others = Array.from({ length: n }, (_, j) => probabilities.probability(0, j));
    const strongest = others.filter((share) => share > 0).sort((a, b) => b - a);
    assert.deepEqual(
      found.map(({ share }) => share),
      strongest.slice(0, 3),
    );
    for (const { object, share } of found) assert.equal(share, others[object]);
  });
}

/** The neighbours of an object in one map. */
function nearIn(
  probabilities: Probabilities,
  object: number,
  map: number,
  nNeighbors: number,
): Neighbor[] {
  const senses = probabilities.senses(object, { nNeighbors, minWeight: 0 });
  return senses.find((sense) => sense.map === map)?.neighbors ?? [];
}

test("an object alone in its maps, or in none, has no neighbours and no similarity", async () => {
  const probabilities = await probabilitiesOf({
    maps: [
      [
        [0, 0],
        [1, 1],
        [2, 2],
        [3, 3],
      ],
      [
        [0, 0],
        [1, 1],
        [2, 2],
        [3, 3],
      ],
    ],
    proportions: [
      [65535, 65535, 0, 0],
      [0, 0, 65535, 0],
    ],
  });
  assert.deepEqual(probabilities.senses(2, { nNeighbors: 3, minWeight: 0.1 }), [
    { map: 1, entry: 0, weight: 1, share: null, name: [], neighbors: [] },
  ]);
  assert.deepEqual(probabilities.senses(3, { nNeighbors: 3, minWeight: 0.1 }), []);
  assert.deepEqual(nearIn(probabilities, 0, 1, 3), []);
  assert.deepEqual(nearIn(probabilities, 0, 0, 3), [{ object: 1, share: 1 }]);
  for (const i of [2, 3]) {
    assert.deepEqual(probabilities.associates(i, 3), []);
    for (let j = 0; j < 4; j++) {
      assert.equal(probabilities.similarity(i, j), 0);
      assert.equal(probabilities.similarity(j, i), 0);
    }
  }
});

test("a lone object of either kind and a joint model without pairs give 0", async () => {
  for (const given of ["rows", "columns"] as const) {
    const probabilities = await probabilitiesOf({
      maps: [
        [
          [0, 0],
          [1, 1],
          [2, 2],
        ],
        [
          [0, 0],
          [1, 1],
          [2, 2],
        ],
      ],
      proportions: [
        [65535, 65535, 0],
        [0, 0, 65535],
      ],
      nRows: 1,
      model: { given },
    });
    assert.equal(probabilities.similarity(0, 2), 0);
    assert.equal(probabilities.similarity(2, 0), 0);
    near(probabilities.similarity(1, 0), 1, "the only pair");
    assert.deepEqual(nearIn(probabilities, 2, 1, 3), []);
    assert.deepEqual(probabilities.associates(2, 3), []);
  }
  const joint = await probabilitiesOf({
    maps: [[[0, 0]]],
    proportions: [[65535]],
    model: { normalization: "joint", background: 0.2 },
  });
  assert.deepEqual(nearIn(joint, 0, 0, 3), []);
  assert.equal(joint.similarity(0, 0), 0);
});

test("a Gaussian far from all others still recalls its nearest", async () => {
  const probabilities = await probabilitiesOf({
    maps: [
      [
        [0, 0],
        [0.1, 0],
        [90, 0],
        [200, 0],
      ],
    ],
    proportions: [[65535, 65535, 65535, 1]],
    model: { kernel: "gaussian" },
  });
  near(probabilities.similarity(2, 1), 1, "to the nearest");
  assert.equal(probabilities.similarity(1, 2), 0);
  const [found] = probabilities.associates(2, 2);
  assert.deepEqual([found?.object, Math.round(found?.share ?? 0)], [1, 1]);
});

test("of equal neighbours the first comes first, and none beyond the count", async () => {
  const probabilities = await probabilitiesOf({
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
  const objects = (count: number) => nearIn(probabilities, 0, 0, count).map(({ object }) => object);
  assert.deepEqual(objects(9), [4, 1, 2, 3]);
  assert.deepEqual(objects(2), [4, 1]);
  assert.deepEqual(objects(0), []);
});

test("a number is the degrees of freedom of the kernel", () => {
  const labels = ["one", "near", "farther", "remote"];
  const atlas = tinyAtlas({ labels, points: [0, 0, 1, 0, 0, 2, 1e8, 0] });
  atlas.model = { ...atlas.model, kernel: 4 };
  const probabilities = new Probabilities(atlas);
  const kernel = (squared: number) => (1 + squared / 2.5) ** -2.5;
  near(probabilities.similarity(0, 1), kernel(1) / (kernel(1) + kernel(4)), "near");
  const shares = nearIn(probabilities, 0, 0, 2).map(({ share }) => share);
  near(elementAt(shares, 1), kernel(4) / (kernel(1) + kernel(4)), "farther");
  near(probabilities.similarity(3, 0) + probabilities.similarity(3, 1), 2 / 3, "from afar");
});

test("one lookup among 200,000 objects of a map is quick", () => {
  const n = 200_000;
  const coordinates = Float32Array.from({ length: 2 * n }, (_, i) => Math.sin(i * i) * 50);
  const atlas = tinyAtlas({ labels: new Array(n).fill(""), points: Array.from(coordinates) });
  for (const kernel of ["cauchy", "gaussian", 4] as const) {
    const probabilities = new Probabilities({ ...atlas, model: { ...atlas.model, kernel } });
    probabilities.senses(5, { nNeighbors: 8, minWeight: 0.1 });
    const times = [7, 8, 9].map((object) => {
      return processorTime(() => probabilities.senses(object, { nNeighbors: 8, minWeight: 0.1 }));
    });
    const slow = processorTime(() => probabilities.associates(7, 8));
    assert.ok(Math.min(...times) < 60 && slow < 2000, `${times} and ${slow} ms`);
  }
});

test("of a joint model the nearest have shares of the row, not of the whole", () => {
  const labels = ["one", "its neighbour", "another", "far away"];
  const atlas = tinyAtlas({ labels, points: [0, 0, 1, 0, 0, 2, 90, 0] });
  atlas.model = { ...atlas.model, normalization: "joint" };
  atlas.logWhole = Math.log(1e7);
  const probabilities = new Probabilities(atlas);
  assert.ok(probabilities.similarity(0, 1) < 1e-7);
  const [first, second] = probabilities.nearest(0, 0, 2);
  const whole = 1 / 2 + 1 / 5 + 1 / 8101;
  assert.equal(first?.object, 1);
  near(first?.share ?? 0, 0.5 / whole, "the nearest");
  near(second?.share ?? 0, 0.2 / whole, "the second");
  near(probabilities.probability(0, 1), 0.5 / whole, "what it recalls");
});

test("groups of what an object recalls are its senses, two of one map too", () => {
  const atlas = tinyAtlas({
    labels: ["light", "lamp", "bulb", "heavy", "weight"],
    points: [0, 0, 1, 0, 1, 1, -1, 0, -1, 1],
  });
  atlas.senses = {
    offsets: Uint32Array.of(0, 2, 2, 2, 2, 2),
    maps: Uint32Array.of(0, 0),
    shares: Float32Array.of(0.75, 0.25),
    names: Uint32Array.of(2, 1, 2, 3, 4, 3),
    ends: Uint32Array.of(0, 2, 4),
    members: Uint32Array.of(1, 2, 3, 4),
  };
  const probabilities = new Probabilities(atlas);
  const [first, second, ...more] = probabilities.senses(0, { nNeighbors: 8, minWeight: 0.1 });
  assert.equal(more.length, 0);
  assert.deepEqual([first?.map, first?.share, first?.weight], [0, 0.75, 1]);
  assert.deepEqual([second?.map, second?.share, second?.entry], [0, 0.25, 0]);
  assert.deepEqual(
    [first, second].map((sense) => sense?.neighbors.map(({ object }) => object)),
    [
      [1, 2],
      [3, 4],
    ],
  );
  assert.equal(first?.neighbors[0]?.share, probabilities.similarity(0, 1));
  const [short] = probabilities.senses(0, { nNeighbors: 1, minWeight: 0.1 });
  assert.equal(short?.neighbors.length, 1);
  // Of an object without groups the maps are listed.
  const [map] = probabilities.senses(1, { nNeighbors: 8, minWeight: 0.1 });
  assert.deepEqual([map?.share, map?.weight, map?.neighbors.length], [null, 1, 4]);
  assert.deepEqual(
    [first?.name, second?.name],
    [
      [2, 1],
      [3, 4],
    ],
  );
});

test("what is not listed is counted, with the weight that the maps give it", () => {
  const labels = ["light", "lamp", "heavy"];
  const points = [0, 0, 1, 0, -1, 0];
  const atlas: Atlas = tinyAtlas({ labels, points });
  const shares = [
    [0.2, 1, 0],
    [0.7, 0, 1],
    [0.06, 0, 0],
    [0.04, 0, 0],
  ];
  atlas.maps = shares.map((weights, number) => {
    const [map] = tinyAtlas({ labels, points, weights }).maps;
    return { ...map, number };
  });
  atlas.nMaps = 4;
  const senses = new Probabilities(atlas).senses(0, { nNeighbors: 8, minWeight: 0.1 });
  assert.equal(furtherMaps(atlas, 0, senses), "2 further maps: 10% predicted.");
  const single = tinyAtlas({ labels, points });
  const all = new Probabilities(single).senses(0, { nNeighbors: 8, minWeight: 0.1 });
  assert.equal(furtherMaps(single, 0, all), "");
});
