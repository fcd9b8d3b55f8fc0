/** Observed associations of objects, read in both directions. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Observed, SenseGroups } from "../../src/data/atlas.ts";
import { observedIn, recalledBy, whoRecalls } from "../../src/data/observed.ts";

/** light recalls dark and lamp and more; dark recalls light alone; nothing is known of lamp. */
const OBSERVED: Observed = {
  offsets: Uint32Array.of(0, 2, 3, 3, 5),
  partners: Uint32Array.of(1, 2, 0, 0, 1),
  shares: Float32Array.of(0.5, 0.25, 1, 0.75, 0.25),
  closeEnds: Uint32Array.of(0, 2, 2, 3, 3, 3),
  closeMaps: Uint32Array.of(4, 7, 1),
};

test("partners are read both ways, the strongest first, with the maps where they are close", () => {
  assert.deepEqual(recalledBy(OBSERVED, 0), [
    { object: 1, share: 0.5, maps: [4, 7] },
    { object: 2, share: 0.25, maps: [] },
  ]);
  assert.deepEqual(recalledBy(OBSERVED, 2), []);
  assert.deepEqual(whoRecalls(OBSERVED, 0), [
    { object: 1, share: 1, maps: [] },
    { object: 3, share: 0.75, maps: [] },
  ]);
  assert.deepEqual(whoRecalls(OBSERVED, 1), [
    { object: 0, share: 0.5, maps: [] },
    { object: 3, share: 0.25, maps: [] },
  ]);
  assert.deepEqual(whoRecalls(OBSERVED, 3), []);
});

test("the senses of an object in one map have their shares together", () => {
  const senses: SenseGroups = {
    offsets: Uint32Array.of(0, 3, 3),
    maps: Uint32Array.of(4, 2, 4),
    shares: Float32Array.of(0.5, 0.25, 0.125),
    names: new Uint32Array(9),
    ends: Uint32Array.of(0, 0, 0, 0),
    members: Uint32Array.of(),
  };
  assert.equal(observedIn(senses, 0, 4), 0.625);
  assert.equal(observedIn(senses, 0, 7), 0);
  assert.equal(observedIn(senses, 1, 4), null);
  assert.equal(observedIn(null, 0, 4), null);
});
