/** What the data say of a word is at its senses where it stands there, and told in words where not. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Atlas } from "../../src/data/atlas.ts";
import { Lookups } from "../../src/state/lookups.ts";
import { notClose } from "../../src/state/sentences.ts";
import { Shown } from "../../src/state/shown.ts";
import { type State, Store } from "../../src/state/store.ts";
import { tinyAtlas } from "../tiny_atlas.ts";

/** light near lamp and bulb on map 0, near heavy and weight on map 1, and near dark on none. */
function light(shares = [0.4, 0.2, 0.15, 0.15, 0.1]): Atlas {
  const near = [0, 0, 1, 0, 0, 1, 90, 0, 1, 0, 0, 1];
  const weights = [
    [0.5, 1, 1, 1, 0, 0],
    [0.5, 0, 0, 0, 1, 1],
  ];
  const labels = ["light", "lamp", "bulb", "dark", "heavy", "weight"];
  const observed = {
    offsets: Uint32Array.of(0, 5, 6, 6, 7, 7, 7),
    partners: Uint32Array.of(3, 1, 2, 4, 5, 0, 0),
    shares: Float32Array.of(...shares, 1, 0.5),
    maps: Uint32Array.of(2, 0, 0, 1, 1, 2, 2),
    senses: {
      offsets: Uint32Array.of(0, 2, 2, 2, 2, 2, 2),
      maps: Uint32Array.of(0, 1),
      shares: Float32Array.of(0.503, 0.155),
    },
  };
  return { ...tinyAtlas({ labels, points: [near, near], weights }), observed };
}

function lookupsOf(atlas: Atlas, threshold = 0.1): Lookups {
  const store = new Store({
    threshold,
    neighborKind: 1,
    word: null,
    filters: new Map(),
  } as Partial<State> as State);
  return new Lookups(new Shown(atlas, store));
}

const objectsOf = (found: readonly { object: number }[]) => found.map(({ object }) => object);

test("the strongest associates come first, with the map where the two are near", () => {
  const lookups = lookupsOf(light());
  const recalled = lookups.recalledBy(0);
  assert.deepEqual(objectsOf(recalled), [3, 1, 2, 4, 5]);
  assert.deepEqual(
    recalled.map(({ map }) => map),
    [null, 0, 0, 1, 1],
  );
  const [lamp, dark] = lookups.whoRecalls(0);
  assert.deepEqual([lamp?.object, lamp?.share, dark?.object], [1, 1, 3]);
});

test("a word has senses with whole per cent, and what is close nowhere is named", () => {
  const atlas = light();
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
  assert.equal(
    notClose(atlas, lookups.farFrom(0)),
    "Associates that are not close on their map: dark.",
  );
});
