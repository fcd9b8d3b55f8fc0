/** What maps and labels are called in sentences. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { cutLabel, mapTitle, plainLabel, plainText, wholePercents } from "../../src/data/words.ts";
import { capital, countedObjects, percent, spelled, wholePercent } from "../../src/texts.ts";
import { tinyAtlas } from "../tiny_atlas.ts";

const MAP = tinyAtlas({ labels: ["0", "1"], points: [0, 0, 1, 1] }).maps[0];

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

test("no label turns what stands beside it", () => {
  const turning = "\u061C\u200E\u200F\u202A\u202B\u202C\u202D\u202E\u2066\u2067\u2068\u2069";
  const label = `${turning}evil${turning}live`;
  const atlas = tinyAtlas({ labels: [label, turning], points: [0, 0, 1, 1] });
  assert.equal(plainLabel(atlas, 0), "evillive");
  assert.equal(plainLabel(atlas, 1), "object without a label");
  assert.equal(mapTitle({ ...MAP, title: [label, "tie"] }), "evillive · tie");
  assert.equal(plainText("שלום עולם"), "שלום עולם");
});

test("a label in a sentence is cut between what a reader counts as characters", () => {
  const family = "👩‍👩‍👧‍👦";
  assert.equal(plainText(family.repeat(70)), `${family.repeat(59)}…`);
  assert.equal(plainText("y".repeat(70), 100), "y".repeat(70));
});

test("an atlas speaks of its objects by its own noun", () => {
  const atlas = tinyAtlas({ labels: ["", "4"], points: [0, 0, 1, 1] });
  assert.equal(countedObjects(atlas, 1200), "1,200 objects");
  assert.equal(plainLabel(atlas, 0), "object without a label");
  atlas.noun = ["mouse", "mice"];
  assert.equal(countedObjects(atlas, 1), "1 mouse");
  assert.equal(countedObjects(atlas, 0), "0 mice");
  assert.equal(plainLabel(atlas, 0), "mouse without a label");
  assert.equal(capital(atlas.noun[1]), "Mice");
});

test("below 1 % there are no digits", () => {
  assert.equal(percent(0.0000123), "<1%");
  assert.equal(percent(0.00999), "<1%");
  assert.equal(percent(0.01), "1.0%");
  assert.equal(percent(0.0994), "9.9%");
  assert.equal(percent(0.0996), "10%");
  assert.equal(percent(0), "0%");
});

test("whole per cent of one whole never exceed it, and keep their order", () => {
  assert.deepEqual(wholePercents([0.505, 0.495]), [51, 49]);
  assert.deepEqual(wholePercents([0.665, 0.335]), [67, 33]);
  assert.deepEqual(
    wholePercents([0.166, 0.166, 0.166, 0.166, 0.166, 0.166]),
    [17, 17, 17, 17, 16, 16],
  );
  assert.deepEqual(wholePercents([0.29]), [29]);
  assert.deepEqual(wholePercents([]), []);
  assert.equal(wholePercent(0), "<1%");
  for (let seed = 1; seed < 300; seed++) {
    const shares = Array.from({ length: 1 + (seed % 7) }, (_, k) =>
      Math.abs(Math.sin(seed + 9 * k)),
    );
    const sum = shares.reduce((total, share) => total + share, 0);
    const parts = shares.map((share) => share / sum).sort((a, b) => b - a);
    const found = wholePercents(parts);
    assert.equal(
      found.reduce((total, value) => total + value, 0),
      100,
    );
    assert.deepEqual(
      [...found].sort((a, b) => b - a),
      found,
    );
    parts.forEach((part, k) => {
      assert.ok(Math.abs(100 * part - found[k]) < 1);
    });
  }
});

test("small counts are spelled", () => {
  assert.equal(spelled(1, "map"), "One map");
  assert.equal(spelled(3, "sense"), "Three senses");
  assert.equal(spelled(0, "map"), "No maps");
  assert.equal(spelled(12, "map"), "12 maps");
});

test("long labels that start alike are cut at their starts", () => {
  const labels = [
    "Staphylococcus aureus 17",
    "Staphylococcus aureus 18",
    "Streptococcus pyogenes 3",
  ];
  const cut = labels.map((label) => cutLabel(labels, label, 17));
  assert.deepEqual(cut, ["…coccus aureus 17", "…coccus aureus 18", "Streptococcus py…"]);
  assert.equal(cutLabel(labels, labels[0], 24), labels[0]);
});
