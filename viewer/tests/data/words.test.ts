/** What maps and labels are called in sentences. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { cutLabel, mapTitle, plainLabel, plainText, wholePercents } from "../../src/data/words.ts";
import { tinyAtlas } from "../tiny_atlas.ts";

const MAP = tinyAtlas({ labels: ["0", "1"], points: [0, 0, 1, 1] }).maps[0];

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

test("whole per cent of one whole never exceed it, and keep their order", () => {
  assert.deepEqual(wholePercents([0.505, 0.495]), [51, 49]);
  assert.deepEqual(wholePercents([0.665, 0.335]), [67, 33]);
  assert.deepEqual(
    wholePercents([0.166, 0.166, 0.166, 0.166, 0.166, 0.166]),
    [17, 17, 17, 17, 16, 16],
  );
  assert.deepEqual(wholePercents([0.29]), [29]);
  assert.deepEqual(wholePercents([]), []);
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
