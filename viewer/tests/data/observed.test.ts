/** Observed associations of objects, read in both directions. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { recalledBy, whoRecalls } from "../../src/data/observed.ts";

/** light recalls dark and lamp and more; dark recalls light alone; nothing is known of lamp. */
const DATA = {
  nMaps: 8,
  observed: {
    offsets: Uint32Array.of(0, 2, 3, 3, 5),
    partners: Uint32Array.of(1, 2, 0, 0, 1),
    shares: Float32Array.of(0.5, 0.25, 1, 0.75, 0.25),
    maps: Uint32Array.of(4, 8, 8, 1, 8),
    senses: {
      offsets: Uint32Array.of(0, 2, 2, 2, 3),
      maps: Uint32Array.of(4, 2, 1),
      shares: Float32Array.of(0.5, 0.25, 0.75),
    },
  },
};
const NOTHING = { nMaps: 8, observed: null };

test("partners are read both ways, the strongest first, with the map where they are close", () => {
  assert.deepEqual(recalledBy(DATA, 0), [
    { object: 1, share: 0.5, map: 4 },
    { object: 2, share: 0.25, map: null },
  ]);
  assert.deepEqual(recalledBy(DATA, 2), []);
  assert.deepEqual(recalledBy(NOTHING, 0), []);
  assert.deepEqual(whoRecalls(DATA, 0), [
    { object: 1, share: 1 },
    { object: 3, share: 0.75 },
  ]);
  assert.deepEqual(whoRecalls(DATA, 1), [
    { object: 0, share: 0.5 },
    { object: 3, share: 0.25 },
  ]);
  assert.deepEqual(whoRecalls(DATA, 3), []);
});
