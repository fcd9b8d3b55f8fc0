/** How many meanings a word has, and in how many maps. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Sense } from "../../src/data/probabilities.ts";
import { whereSensesLie } from "../../src/state/sentences.ts";

const senses = (...found: [number, number | null][]): Sense[] =>
  found.map(([map, share]) => ({ map, share, entry: 0, weight: 0.5, neighbors: [] }));

test("maps in which no sense was observed are listed, but not counted", () => {
  assert.equal(
    whereSensesLie(senses([4, 0.5], [4, 0.1], [2, 0], [7, 0.3])),
    "has 3 meanings in 2 maps",
  );
  assert.equal(whereSensesLie(senses([4, 0.9], [2, 0])), "has 1 meaning in 1 map");
  assert.equal(whereSensesLie(senses([4, 0.6], [4, 0.4])), "has 2 meanings in 1 map");
});

test("without data there are only maps", () => {
  assert.equal(whereSensesLie(senses([4, null], [2, null], [1, null])), "appears in 3 maps");
});
