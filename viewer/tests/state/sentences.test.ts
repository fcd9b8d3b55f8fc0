/** How many senses a word has, and in how many maps. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Sense } from "../../src/data/probabilities.ts";
import { whereSensesLie } from "../../src/state/sentences.ts";

const senses = (...found: [number, number | null][]): Sense[] =>
  found.map(([map, share]) => ({ map, share, entry: 0, weight: 0.5, neighbors: [] }));

test("maps in which no sense was observed are listed, but not counted", () => {
  assert.equal(
    whereSensesLie(senses([4, 0.5], [4, 0.1], [2, 0], [7, 0.3])),
    "has 3 senses in 2 maps",
  );
  assert.equal(whereSensesLie(senses([4, 0.9], [2, 0])), "has 1 sense in 1 map");
  assert.equal(whereSensesLie(senses([4, 0.6], [4, 0.4])), "has 2 senses in 1 map");
});

test("a word that has one sense in each map lives in these", () => {
  assert.equal(whereSensesLie(senses([4, 0.6], [2, 0.4])), "lives in 2 maps");
  assert.equal(whereSensesLie(senses([4, null], [2, null], [1, null])), "lives in 3 maps");
});
