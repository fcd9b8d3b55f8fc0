/** What a map is called. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { elementAt } from "../../src/data/elements.ts";
import { mapTitle } from "../../src/data/words.ts";
import { tinyAtlas } from "../tiny_atlas.ts";

const MAP = elementAt(tinyAtlas({ labels: ["0", "1"], points: [0, 0, 1, 1] }).maps, 0);

test("a map is called by the words of its title, which need be no labels", () => {
  const title = ["digit 3", "5", "8", "1", "7"];
  assert.equal(mapTitle({ ...MAP, title }), "digit 3 · 5 · 8 · 1");
  assert.equal(mapTitle({ ...MAP, title }, 2), "digit 3 · 5");
});

test("a title without words, with blank ones and with endless ones can be read", () => {
  assert.equal(mapTitle({ ...MAP, title: [] }), "no words");
  const title = [" ", "a\n b", "x".repeat(100)];
  const cut = `${"x".repeat(59)}…`;
  assert.equal(mapTitle({ ...MAP, title }), `an object without a label · a b · ${cut}`);
});
