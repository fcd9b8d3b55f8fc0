/** What is said of the senses of a word. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { ShownSense } from "../../src/state/lookups.ts";
import {
  covered,
  notClose,
  sensesInWords,
  summary,
  whereabouts,
  wordsOf,
} from "../../src/state/sentences.ts";
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
  assert.equal(summary(TIE), "on two maps with 66% of its associations");
  assert.equal(summary(TIE.slice(0, 1)), "on one map with 50% of its associations");
  assert.equal(summary([]), "on no map");
});

test("without data there are only maps", () => {
  const found = senses([4, null, 40, []], [2, null, 40, []]);
  assert.equal(summary(found), "on two maps");
  assert.equal(covered(found), "");
});

test("a search result counts senses, which a single map does not have", () => {
  assert.equal(whereabouts(ATLAS, 0, 2), "2 maps");
  assert.equal(whereabouts(ATLAS, 0, 1), "1 map");
  assert.equal(whereabouts({ ...ATLAS, nMaps: 1 }, 0, 1), "");
});

test("a card has a name and further words, six in all, and fewer where there are many senses", () => {
  const sense = TIE[1] as ShownSense;
  assert.deepEqual(wordsOf(ATLAS, sense, 2), { name: "suit, shirt", others: "game, score" });
  assert.deepEqual(wordsOf(ATLAS, sense, 5), { name: "suit, shirt", others: "game" });
});

test("what is far everywhere is one plain sentence", () => {
  const far = [{ object: 7, share: 0.2 }];
  assert.equal(notClose(ATLAS, far), "Associates that are not close on their map: draw.");
  assert.equal(notClose(ATLAS, []), "");
  assert.equal(
    sensesInWords(ATLAS, 0, TIE, far),
    "tie: on two maps with 66% of its associations. knot, rope, 50% on map 4; " +
      "suit, shirt, 16% on map 7. Associates that are not close on their map: draw.",
  );
  assert.equal(
    sensesInWords(ATLAS, 0, [], far),
    "tie: on no map. Associates that are not close on their map: draw.",
  );
  const single = { ...ATLAS, nMaps: 1 };
  assert.equal(sensesInWords(single, 0, TIE.slice(1)), "tie, near suit, shirt, game");
  assert.equal(sensesInWords(single, 0, []), "tie");
});
