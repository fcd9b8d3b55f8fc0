/** What is said of the senses of a word. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { ShownSense } from "../../src/state/lookups.ts";
import { notShown, sensesInWords, summary, wordsOf } from "../../src/state/sentences.ts";
import { tinyAtlas } from "../tiny_atlas.ts";

const LABELS = ["tie", "knot", "rope", "suit", "shirt", "game", "score", "draw", "even"];
const ATLAS = { ...tinyAtlas({ labels: LABELS, points: new Array(18).fill(0) }), nMaps: 8 };

/** Senses by map, share, per cent, and close words. */
function senses(...found: [number, number | null, number, number[]][]): ShownSense[] {
  return found.map(([map, share, percent, near], rank) => ({
    map,
    share,
    percent,
    rank,
    entry: 0,
    weight: 0.4,
    name: near.slice(0, 2),
    neighbors: near,
  }));
}

const TIE = senses([4, 0.503, 50, [1, 2]], [7, 0.155, 16, [3, 4, 5, 6]]);

test("senses are counted, and what they cover is the sum of their numbers", () => {
  assert.equal(summary(TIE), "Two senses. They cover 66% of its associations.");
  assert.equal(summary(TIE.slice(0, 1)), "One sense. It covers 50% of its associations.");
  assert.equal(summary([]), "No map shows its senses.");
});

test("without data there are only maps", () => {
  assert.equal(summary(senses([4, null, 40, []], [2, null, 40, []])), "On two maps.");
});

test("a card has a name and further words, six in all, and fewer where there are many senses", () => {
  const sense = TIE[1] as ShownSense;
  assert.deepEqual(wordsOf(ATLAS, sense, 2), { name: "suit, shirt", others: "game, score" });
  assert.deepEqual(wordsOf(ATLAS, sense, 5), { name: "suit, shirt", others: "game" });
});

test("what is far everywhere is one plain sentence", () => {
  const far = [{ object: 7, share: 0.2 }];
  assert.equal(notShown(ATLAS, far), "Strong associates that no card shows: draw.");
  assert.equal(notShown(ATLAS, []), "");
  assert.equal(
    sensesInWords(ATLAS, 0, TIE, far),
    "tie: Two senses. They cover 66% of its associations. knot, rope, 50% on map 4; " +
      "suit, shirt, 16% on map 7. Strong associates that no card shows: draw.",
  );
  assert.equal(
    sensesInWords(ATLAS, 0, [], far),
    "tie: No map shows its senses. Strong associates that no card shows: draw.",
  );
  const single = { ...ATLAS, nMaps: 1 };
  assert.equal(sensesInWords(single, 0, TIE.slice(1)), "tie, near suit, shirt, game");
  assert.equal(sensesInWords(single, 0, []), "tie");
});
