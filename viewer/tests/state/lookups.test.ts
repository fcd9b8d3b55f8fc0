/** What the data say of a word is at its senses where it stands there, and told in words where not. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Atlas } from "../../src/data/atlas.ts";
import { readAtlas } from "../../src/data/container.ts";
import { Filtering } from "../../src/state/filtering.ts";
import { Lookups } from "../../src/state/lookups.ts";
import { beside, nearIn, sensesInWords } from "../../src/state/sentences.ts";
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
  const rows = [3, 1, 2, 4, 5].map((partner, k): [number, number] => [partner, shares[k] ?? 0]);
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
    ends: Uint32Array.of(0, 3, 5),
    members: Uint32Array.of(3, 1, 2, 4, 5),
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

test("the data come first, each share with the model's and the maps where the two are near", async () => {
  const lookups = lookupsOf(await light());
  const recalled = lookups.recalledBy(0);
  assert.deepEqual(objectsOf(recalled), [3, 1, 2, 4, 5]);
  assert.deepEqual(
    recalled.map(({ maps }) => maps),
    [[], [0], [0], [1], [1]],
  );
  for (const { object, share, model } of recalled) {
    assert.equal(model, lookups.probabilities.similarity(0, object));
    assert.ok(share > 0);
  }
  const [lamp, dark] = lookups.whoRecalls(0);
  assert.deepEqual([lamp?.object, lamp?.share, dark?.object], [1, 1, 3]);
  assert.equal(lamp?.model, lookups.probabilities.similarity(1, 0));
  assert.deepEqual([lamp?.maps, dark?.maps], [[0], []]);
});

test("what the model alone places near has no share in the data", async () => {
  const lookups = lookupsOf(await light());
  const found = lookups.recalledInModel(1);
  assert.ok(found.length > 0 && !objectsOf(found).includes(0));
  assert.ok(found.every(({ share, model }) => Number.isNaN(share) && model > 0));
});

/** Whether a word's strongest observed partner is at one of its senses, told in words, or neither. */
function whereStrongest(lookups: Lookups, word: number): "sense" | "words" | "nowhere" {
  const [strongest] = objectsOf(lookups.recalledBy(word));
  const isThere = (found: readonly { object: number }[]) =>
    objectsOf(found).includes(strongest as number);
  if (lookups.sensesOf(word).some(({ neighbors }) => isThere(neighbors))) return "sense";
  return isThere(lookups.unseen(word)) ? "words" : "nowhere";
}

test("the strongest partner is at its sense where it lives, far away too, and told where not", async () => {
  const atlas = await light();
  assert.equal(whereStrongest(lookupsOf(atlas), 0), "sense");
  assert.deepEqual(objectsOf(lookupsOf(atlas).unseen(0)), []);
  // No map shows dark any more.
  atlas.maps[0]?.weights.fill(0.01, 3, 4);
  const lookups = lookupsOf(atlas);
  assert.equal(whereStrongest(lookups, 0), "words");
  const senses = lookups.sensesOf(0);
  assert.deepEqual(
    senses.map(({ neighbors }) => objectsOf(neighbors)),
    [
      [1, 2],
      [4, 5],
    ],
  );
  const [dark] = lookups.unseen(0);
  assert.ok(dark);
  assert.match(
    `${nearIn(dark)}: ${beside(dark)}`,
    /^not close in any map: 40% \(model <?0\.\d+%\)$/,
  );
  assert.match(
    sensesInWords(atlas, 0, senses, lookups.unseen(0)),
    /; also observed, not close in any map: dark 40% \(model <?0\.\d+%\)$/,
  );
});

test("a sense of which nothing is near says what it is of, unless that is filtered out", async () => {
  const atlas = await light();
  atlas.maps[0]?.coordinates.fill(400, 2, 6);
  const senses = atlas.senses as NonNullable<Atlas["senses"]>;
  senses.members = Uint32Array.of(2, 1, 1, 4, 5);
  atlas.maps[0]?.weights.fill(0.01, 1, 3);
  const store = new Store({
    threshold: 0.1,
    neighborKind: 1,
    word: null,
    filters: new Map(),
  } as Partial<State> as State);
  const filtering = new Filtering(atlas, store);
  const [first] = new Lookups(atlas, store, filtering).sensesOf(0);
  assert.deepEqual([first?.neighbors, first?.first], [[], 2]);
  filtering.passes = (object) => object !== 2;
  const [other] = new Lookups(atlas, store, filtering).sensesOf(0);
  assert.equal(other?.first, undefined);
});

test("of every word the strongest partner is shown or told, however weak", async () => {
  for (const shares of [[0.4], [0.004, 0.002], [0.2, 0.2, 0.2, 0.2, 0.2]]) {
    const atlas = await light(shares);
    for (const threshold of [0, 0.1, 0.9]) {
      const lookups = lookupsOf(atlas, threshold);
      for (const word of [0, 1, 3]) assert.notEqual(whereStrongest(lookups, word), "nowhere");
    }
  }
});

test("without data nothing is said to be observed", async () => {
  const atlas = await light();
  atlas.observed = null;
  const lookups = lookupsOf(atlas);
  assert.deepEqual([lookups.recalledBy(0), lookups.whoRecalls(0), lookups.unseen(0)], [[], [], []]);
});
