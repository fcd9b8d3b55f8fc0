/** Entries: the maps of objects, and the importance of objects. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { entryOf, importance, mapsOf } from "../../src/data/entries.ts";
import { tinyAtlas } from "../tiny_atlas.ts";

const points = [0, 0, 1, 0, 2, 0];
const weights = [
  [0.25, 1, 0],
  [0.75, 0, 1],
];
const atlas = tinyAtlas({ labels: ["a", "b", "c"], points: [points, points], weights });

test("an object has an entry in the maps in which it has weight, and -1 elsewhere", () => {
  const entries = atlas.maps.map((map) => [0, 1, 2].map((object) => entryOf(map, object)));
  assert.deepEqual(entries, [
    [0, 1, -1],
    [0, -1, 1],
  ]);
  assert.deepEqual(
    mapsOf(atlas, 0).map(({ map }) => map),
    [1, 0],
  );
  assert.deepEqual(mapsOf(atlas, 2), [{ map: 1, weight: 1 }]);
});

test("importance is the largest weight by rank", () => {
  assert.deepEqual([...importance(atlas)], [0.75, 0.5, 0.5]);
});
