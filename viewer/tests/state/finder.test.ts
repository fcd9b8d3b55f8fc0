/** A search finds labels first, then what columns hold, then what is close. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { NO_CATEGORY } from "../../src/data/atlas.ts";
import { Finder } from "../../src/state/finder.ts";
import { tinyAtlas } from "../tiny_atlas.ts";

const LABELS = ["light", "lamp", "moon", "night", "lighthouse"];

function found(query: string): string[] {
  const atlas = tinyAtlas({
    labels: LABELS,
    points: [0, 0, 1, 1, 2, 2, 3, 3, 4, 4],
    columns: [
      {
        name: "theme",
        type: "category",
        categories: ["moonlight", "space"],
        codes: Uint16Array.from([0, 0, 1, NO_CATEGORY, 0]),
      },
      { name: "note", type: "text", values: ["seen by day", "", "of the spaceman", "", "Space"] },
      { name: "look", type: "image", values: ["data:space", "", "", "", ""] },
    ],
  });
  return new Finder(atlas).find(query).map((hit) => {
    const part = hit.text.slice(hit.start, hit.end);
    if (hit.object === null) return `${hit.column} = ${hit.text} [${part}] ${hit.count}`;
    return `${LABELS[hit.object]} ${hit.how} ${hit.column}[${part}]`;
  });
}

test("labels come first, then groups, then texts", () => {
  assert.deepEqual(found("light"), [
    "light label [light]",
    "lighthouse label [light]",
    "theme = moonlight [light] 3",
  ]);
  assert.deepEqual(found("space"), [
    "theme = space [space] 1",
    "lighthouse text note[Space]",
    "moon text note[space]",
  ]);
});

test("one letter finds labels and values of one letter", () => {
  assert.deepEqual(found("s"), ["lighthouse label [s]"]);
});

test("what is misspelled is offered last", () => {
  assert.deepEqual(found("ligth"), ["light close []"]);
  assert.deepEqual(found("data:space"), []);
});

test("two words give the first one, with the map on which both are close", () => {
  const labels = ["bow", "arrow", "tie", "ice cream"];
  const points = [
    [0, 0, 1, 0, 90, 0, 90, 1],
    [0, 0, 90, 0, 1, 0, 90, 1],
  ];
  const weights = [
    [0.5, 1, 0, 0.5],
    [0.5, 0, 1, 0.5],
  ];
  const finder = new Finder(tinyAtlas({ labels, points, weights }));
  const first = (query: string) => {
    const [{ object, ...hit }] = finder.find(query);
    return [object, "how" in hit && hit.how, "map" in hit && hit.map];
  };
  assert.deepEqual(first("bow arrow"), [0, "pair", 0]);
  assert.deepEqual(first(" Bow  tie "), [0, "pair", 1]);
  assert.deepEqual(first("arrow tie"), [1, "pair", null]);
  assert.equal(first("ice cream bow")[0], 3);
  assert.deepEqual(first("ice cream"), [3, "label", null]);
  assert.deepEqual(finder.find("bow zebra"), []);
});
