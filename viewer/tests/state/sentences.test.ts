/** What is said of the meanings of a word. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Meaning } from "../../src/state/lookups.ts";
import { notClose, numbersOf, sensesInWords, summary, wordsOf } from "../../src/state/sentences.ts";
import { tinyAtlas } from "../tiny_atlas.ts";

const LABELS = ["tie", "knot", "rope", "suit", "shirt", "game", "score", "draw", "even"];
const ATLAS = { ...tinyAtlas({ labels: LABELS, points: new Array(18).fill(0) }), nMaps: 8 };

/** Meanings by map, share, whether they have a card, and close words. */
function meanings(...found: [number, number | null, boolean, number[]][]): Meaning[] {
  let next = 0;
  return found.map(([map, share, hasCard, near]) => ({
    map,
    share,
    entry: 0,
    weight: 0.4,
    name: near.slice(0, 2),
    neighbors: near,
    rank: hasCard ? next++ : null,
  }));
}

const TIE = meanings([4, 0.503, true, [1, 2]], [2, 0.2, false, []], [7, 0.155, true, [3, 4, 5, 6]]);

test("meanings with a card are counted, and what they cover is the sum of their numbers", () => {
  assert.deepEqual(numbersOf(TIE), [50, 16]);
  assert.equal(summary(TIE), "Two meanings. They cover 66% of its associations.");
  assert.equal(summary(TIE.slice(0, 1)), "One meaning. It covers 50% of its associations.");
  assert.equal(summary(TIE.slice(1, 2)), "No map shows its meanings.");
});

test("without data there are only maps, with their weights", () => {
  const found = meanings([4, null, true, []], [2, null, true, []]);
  assert.equal(summary(found), "On two maps.");
  assert.deepEqual(numbersOf(found), [40, 40]);
  assert.equal(summary([]), "No map shows its meanings.");
});

test("a card has a name and further words, six in all, and fewer where there are many meanings", () => {
  const meaning = TIE[2] as Meaning;
  assert.deepEqual(wordsOf(ATLAS, meaning, 2), { name: "suit, shirt", others: "game, score" });
  assert.deepEqual(wordsOf(ATLAS, meaning, 5), { name: "suit, shirt", others: "game" });
});

test("what is far everywhere is one plain sentence", () => {
  const far = [{ object: 7, share: 0.2, maps: [] }];
  assert.equal(notClose(ATLAS, far), "Not close on any map: draw.");
  assert.equal(notClose({ ...ATLAS, nMaps: 1 }, far), "Not close on the map: draw.");
  assert.equal(notClose(ATLAS, []), "");
  assert.equal(
    sensesInWords(ATLAS, 0, TIE, far),
    "tie: Two meanings. They cover 66% of its associations. knot, rope, 50% on map 4; " +
      "suit, shirt, 16% on map 7. Not close on any map: draw.",
  );
});
