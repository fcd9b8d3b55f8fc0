/** Entries: where objects live, and which weigh most. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Atlas } from "../../src/data/atlas.ts";
import { readAtlas } from "../../src/data/container.ts";
import { elementAt, startsOf } from "../../src/data/elements.ts";
import { entryOf, importance, mapsOf } from "../../src/data/entries.ts";
import { packed } from "../packed.ts";

function twoMaps(): Promise<Atlas> {
  const points = [
    [0, 0],
    [1, 0],
    [2, 0],
  ];
  // What is shown goes by the map weight, whatever the proportions.
  const proportions = [
    [65000, 65535, 0],
    [535, 0, 65535],
  ];
  const weights = [
    [32767, 65535, 0],
    [32768, 0, 65535],
  ];
  const maps = [points, points];
  return readAtlas(packed({ labels: ["a", "b", "c"], maps, proportions, weights }));
}

test("an object has an entry in the maps where it lives, and -1 elsewhere", async () => {
  const atlas = await twoMaps();
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

test("the first of a map weighs most", async () => {
  const atlas = await twoMaps();
  const [shared, ...alone] = importance(atlas);
  assert.ok(Math.abs((shared ?? 0) - 0.25) < 1e-4);
  assert.deepEqual(alone, [1, 1]);
});

test("a place beyond an array is an error; groups stand end to end", () => {
  assert.equal(elementAt([7, 8], 1), 8);
  assert.throws(() => elementAt([7, 8], 2), RangeError);
  assert.throws(() => elementAt([], -1), RangeError);
  assert.deepEqual(startsOf(Uint32Array.of(2, 0, 3)), Uint32Array.of(0, 2, 2, 5));
});
