/** What the data say of a word is at its senses where it stands there, and told in words where not. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Atlas } from "../../src/data/atlas.ts";
import { readAtlas } from "../../src/data/container.ts";
import { Filtering } from "../../src/state/filtering.ts";
import { Lookups } from "../../src/state/lookups.ts";
import { notClose } from "../../src/state/sentences.ts";
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
  const close = [[], [0], [0], [1], [1]];
  const rows = [3, 1, 2, 4, 5].map((partner, k): [number, number, number[]] => [
    partner,
    shares[k] ?? 0,
    close[k] ?? [],
  ]);
  const atlas = await readAtlas(
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
    }),
  );
  atlas.senses = {
    offsets: Uint32Array.of(0, 2, 2, 2, 2, 2, 2),
    maps: Uint32Array.of(0, 1),
    shares: Float32Array.of(0.75, 0.25),
    names: Uint32Array.of(3, 1, 2, 4, 5, 4),
    ends: Uint32Array.of(0, 2, 4),
    members: Uint32Array.of(1, 2, 4, 5),
  };
  return atlas;
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

test("the strongest associates come first, with the maps where the two are near", async () => {
  const lookups = lookupsOf(await light());
  const recalled = lookups.recalledBy(0);
  assert.deepEqual(objectsOf(recalled), [3, 1, 2, 4, 5]);
  assert.deepEqual(
    recalled.map(({ maps }) => maps),
    [[], [0], [0], [1], [1]],
  );
  const [lamp, dark] = lookups.whoRecalls(0);
  assert.deepEqual([lamp?.object, lamp?.share, dark?.object], [1, 1, 3]);
});

const namesOf = (lookups: Lookups) => lookups.sensesOf(0).map(({ name }) => name);

test("a word has a card for each map with something close, and what is close nowhere is named", async () => {
  const atlas = await light();
  const lookups = lookupsOf(atlas);
  assert.deepEqual(namesOf(lookups), [
    [3, 1, 2],
    [4, 5],
  ]);
  const cards = lookups.cardsOf(0);
  assert.deepEqual(
    cards.map(({ map, meanings }) => [map, meanings.map(({ neighbors }) => neighbors)]),
    [
      [0, [[1, 2]]],
      [1, [[4, 5]]],
    ],
  );
  assert.deepEqual(objectsOf(lookups.farFrom(0)), [3]);
  assert.equal(notClose(atlas, lookups.farFrom(0)), "Not close on any map: dark.");
});

test("a meaning of which nothing is close has no card, and two of one map share one", async () => {
  const atlas = await light();
  const senses = atlas.senses as NonNullable<Atlas["senses"]>;
  senses.maps = Uint32Array.of(0, 0);
  const [card, ...more] = lookupsOf(atlas).cardsOf(0);
  assert.deepEqual([card?.meanings.length, more.length], [2, 0]);
  senses.ends = Uint32Array.of(0, 0, 4);
  const lookups = lookupsOf(atlas);
  assert.deepEqual(
    lookups.sensesOf(0).map(({ rank }) => rank),
    [null, 0],
  );
  assert.equal(lookups.cardsOf(0).length, 1);
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
  (atlas.observed as NonNullable<Atlas["observed"]>).closeEnds.fill(0);
  assert.deepEqual(objectsOf(lookupsOf(atlas).farFrom(0)), [3, 1, 2]);
});
