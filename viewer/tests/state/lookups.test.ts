/** What the data say of a word is at its senses where it stands there, and told in words where not. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Atlas } from "../../src/data/atlas.ts";
import { readAtlas } from "../../src/data/container.ts";
import { Filtering } from "../../src/state/filtering.ts";
import { Lookups } from "../../src/state/lookups.ts";
import { notShown } from "../../src/state/sentences.ts";
import { type State, Store } from "../../src/state/store.ts";
import { packed } from "../packed.ts";

const LABELS = ["light", "lamp", "bulb", "dark", "heavy", "weight"];
const ALL = 65535;

/** light beside lamp and bulb in map 0, beside heavy and weight in map 1, and beside dark in none. */
async function light(shares: number[] = [0.4, 0.2, 0.15, 0.15, 0.1]): Promise<Atlas> {
  const near = (x: number) => [
    [x, 0],
    [x + 1, 0],
    [x, 1],
    [x + 90, 0],
  ];
  const nowhere = [500, 500];
  const close = [undefined, 0, 0, 1, 1];
  const rows = [3, 1, 2, 4, 5].map((partner, k): [number, number, number?] => [
    partner,
    shares[k] ?? 0,
    close[k],
  ]);
  return readAtlas(
    packed({
      labels: LABELS,
      maps: [
        [...near(0), nowhere, nowhere],
        [[0, 0], nowhere, nowhere, nowhere, [1, 0], [0, 1]],
      ],
      proportions: [
        [ALL / 2, ALL, ALL, ALL, 0, 0],
        [ALL / 2, 0, 0, 0, ALL, ALL],
      ].map((row) => row.map(Math.floor)),
      observed: [rows, [[0, 1]], [], [[0, 0.5]], [], []],
      senses: [
        [
          [0, 0.503],
          [1, 0.155],
        ],
        [],
        [],
        [],
        [],
        [],
      ],
    }),
  );
}

function lookupsOf(atlas: Atlas, threshold = 0.1): Lookups {
  const store = new Store({
    threshold,
    neighborKind: 1,
    word: null,
    filters: new Map(),
  } as Partial<State> as State);
  return new Lookups(atlas, store, new Filtering(atlas, store));
}

const objectsOf = (found: readonly { object: number }[]) => found.map(({ object }) => object);

test("the strongest associates come first, with the map where the two are near", async () => {
  const lookups = lookupsOf(await light());
  const recalled = lookups.recalledBy(0);
  assert.deepEqual(objectsOf(recalled), [3, 1, 2, 4, 5]);
  assert.deepEqual(
    recalled.map(({ map }) => map),
    [null, 0, 0, 1, 1],
  );
  const [lamp, dark] = lookups.whoRecalls(0);
  assert.deepEqual([lamp?.object, lamp?.share, dark?.object], [1, 1, 3]);
});

test("a word has senses with whole per cent, and what is close nowhere is named", async () => {
  const atlas = await light();
  const lookups = lookupsOf(atlas);
  assert.deepEqual(
    lookups.sensesOf(0).map(({ map, name, rank, percent }) => [map, name, rank, percent]),
    [
      [0, [1, 2], 0, 50],
      [1, [4, 5], 1, 16],
    ],
  );
  assert.deepEqual(lookups.senseIn(0, 1)?.neighbors, [4, 5]);
  assert.equal(lookups.senseIn(0, 2), undefined);
  assert.deepEqual(objectsOf(lookups.farFrom(0)), [3]);
  assert.equal(notShown(atlas, lookups.farFrom(0)), "Strong associates that no card shows: dark.");
});

test("the strongest associate is named where it is close nowhere, weak others are not", async () => {
  for (const [shares, expected] of [
    [[0.4, 0.2, 0.15, 0.15, 0.1], [3]],
    [[0.004, 0.002], [3]],
  ] as const) {
    const atlas = await light([...shares]);
    assert.deepEqual(objectsOf(lookupsOf(atlas).farFrom(0)), expected);
  }
  const atlas = await light();
  (atlas.observed as NonNullable<Atlas["observed"]>).maps.fill(2);
  assert.deepEqual(objectsOf(lookupsOf(atlas).farFrom(0)), [3, 1, 2]);
});
