/** Labels are found in any case, without accents and by any part, the likeliest first. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { fold, SearchIndex } from "../../src/state/search.ts";

function found(labels: string[], query: string, count = 20): string[] {
  return new SearchIndex(labels).find(query, count).map(({ object }) => labels[object]);
}

function marked(label: string, query: string): string[] {
  return new SearchIndex([label]).find(query, 1).map(({ start, end }) => label.slice(start, end));
}

test("folding takes case and accents away", () => {
  for (const [text, folded] of [
    ["Café", "cafe"],
    ["CAFE\u0301", "cafe"],
    ["Straße", "strasse"],
    ["STRASSE", "strasse"],
    ["ﬁsh", "fish"],
    ["Ærøskøbing", "aeroskobing"],
    ["Łódź", "lodz"],
    ["İstanbul", "istanbul"],
    ["ΣΊΣΥΦΟΣ", "σισυφοσ"],
    ["Σίσυφος", "σισυφοσ"],
    ["Ｆｕｌｌ", "full"],
    ["مُدَرِّس", "مدرس"],
    ["Ёлка", "елка"],
    ["", ""],
  ] as const) {
    assert.equal(fold(text), folded);
  }
  assert.notEqual(fold("कि"), fold("क"));
});

test("the whole label comes first, then beginnings, later words, and the rest", () => {
  const labels = ["necktie", "bow tie", "tied", "TIE", "untied", "tie dye", "tier", "black-tie"];
  assert.deepEqual(found(labels, "tie"), [
    "TIE",
    "tied",
    "tier",
    "tie dye",
    "bow tie",
    "black-tie",
    "untied",
    "necktie",
  ]);
  assert.deepEqual(found(labels, " Tie ", 2), ["TIE", "tied"]);
  assert.deepEqual(found(labels, "tiex"), []);
});

test("rank decides between labels of one length, then the alphabet, then the number", () => {
  const labels = ["tim", "tin", "tip", "tin"];
  const order = (rank: number[]) =>
    new SearchIndex(labels, rank).find("ti", 9).map(({ object }) => object);
  assert.deepEqual(order([]), [0, 1, 3, 2]);
  assert.deepEqual(order([0, 0, 5, 1]), [2, 3, 0, 1]);
});

test("nothing is found for nothing, nor labels that are empty", () => {
  const index = new SearchIndex(["", " ", "tie", "\u0301"]);
  for (const query of ["", "  ", "\t", "\u0301"]) assert.deepEqual(index.find(query, 5), []);
  assert.deepEqual(index.find("tie", 0), []);
  assert.deepEqual(new SearchIndex([]).find("tie", 5), []);
});

test("the match is marked in the label as it is written", () => {
  assert.deepEqual(marked("bow TIE", "tie"), ["TIE"]);
  assert.deepEqual(marked("le Café noir", "cafe"), ["Café"]);
  assert.deepEqual(marked("Große Straße", "strasse"), [""]);
  assert.deepEqual(marked("a 🎀 b", "🎀"), ["🎀"]);
  assert.deepEqual(marked("שלום עולם", "עולם"), ["עולם"]);
  assert.deepEqual(marked("</script><b>", "script"), ["script"]);
});

test("labels are found whatever lines they are made of", () => {
  const labels = ["one\ntwo", "two", "", "\n", "twosome"];
  assert.deepEqual(found(labels, "two"), ["two", "twosome", "one\ntwo"]);
  assert.deepEqual(marked("one\ntwo", "e t"), ["e\nt"]);
  assert.deepEqual(found(labels, "one\ntwo"), ["one\ntwo"]);
});

function close(labels: string[], query: string, count = 9): string[] {
  return new SearchIndex(labels).close(query, count).map((object) => labels[object]);
}

test("a slip of one letter is close to what was meant", () => {
  const labels = ["light", "right", "Licht", "bulb", "light bulb", "knot", "Café", "тетрадь"];
  assert.deepEqual(close(labels, "ligth"), ["light", "light bulb"]);
  assert.deepEqual(close(labels, "lihgt"), ["light", "light bulb"]);
  assert.deepEqual(close(labels, "LIGHTT"), ["light", "light bulb"]);
  assert.deepEqual(close(labels, "ligth bulb"), ["light bulb"]);
  assert.deepEqual(close(labels, "knto"), ["knot"]);
  assert.deepEqual(close(labels, "cfae"), ["Café"]);
  assert.deepEqual(close(labels, "тертадь"), ["тетрадь"]);
  for (const query of ["", "li", "zzzz", "+"]) assert.deepEqual(close(labels, query), []);
  assert.deepEqual(close(labels, "ligth", 1), ["light"]);
});
