/** Filters: what passes one, several together, and what columns say of their values. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { type CategoryColumn, NO_CATEGORY, type NumberColumn } from "../../src/data/atlas.ts";
import { codesOf, countsOf, extremes, type Filters, passing } from "../../src/data/filters.ts";
import { tinyAtlas } from "../tiny_atlas.ts";

const GROUP: CategoryColumn = {
  name: "group",
  type: "category",
  categories: ["noun", "verb"],
  codes: Uint16Array.from([0, 1, 0, NO_CATEGORY]),
};
const YEAR: NumberColumn = {
  name: "year",
  type: "number",
  low: 1990,
  high: 2000,
  values: Float32Array.from([1990, 1995, Number.NaN, 2000]),
};

function small(kinds?: [string, string]) {
  const two = kinds === undefined ? {} : { kinds, nRows: 2 };
  const labels = ["a", "b", "c", "d"];
  return tinyAtlas({ labels, points: [0, 0, 1, 1, 2, 2, 3, 3], columns: [GROUP, YEAR], ...two });
}

function passed(filters: Filters, except?: string) {
  const found = passing(small(), filters, except);
  return found && [...found].join("");
}

const range = (low: number, high: number, withMissing = false) => ({ low, high, withMissing });

test("an object passes where all filters let it pass", () => {
  assert.equal(passed(new Map()), null);
  assert.equal(passed(new Map([["group", new Set([0])]])), "0101");
  assert.equal(passed(new Map([["group", new Set([1, NO_CATEGORY])]])), "1010");
  assert.equal(passed(new Map([["year", range(1995, 2000)]])), "0101");
  assert.equal(passed(new Map([["year", range(1995, Number.POSITIVE_INFINITY, true)]])), "0111");
  const both: Filters = new Map<string, Set<number> | ReturnType<typeof range>>([
    ["group", new Set([NO_CATEGORY])],
    ["year", range(1995, 2000)],
  ]);
  assert.equal(passed(both), "0100");
  assert.equal(passed(both, "year"), "1110");
});

test("a filter that fits no column, or another type of column, says nothing", () => {
  assert.equal(passed(new Map([["nothing", new Set([0])]])), null);
  assert.equal(passed(new Map([["group", range(5, 6)]])), "1111");
  assert.equal(passed(new Map([["year", new Set([0])]])), "1111");
});

test("a kind of object without any value is left alone", () => {
  const atlas = small(["document", "word"]);
  const documents = { ...GROUP, codes: Uint16Array.from([0, 1, NO_CATEGORY, NO_CATEGORY]) };
  const found = passing({ ...atlas, columns: [documents] }, new Map([["group", new Set([0])]]));
  assert.deepEqual([...(found ?? [])], [0, 1, 1, 1]);
  assert.deepEqual(codesOf({ ...atlas, columns: [documents] }, documents), [0, 1]);
});

test("categories are counted among what other filters let pass", () => {
  const atlas = small();
  assert.deepEqual(
    [...countsOf(atlas, GROUP, null)],
    [
      [0, 2],
      [1, 1],
      [NO_CATEGORY, 1],
    ],
  );
  const among = Uint8Array.from([1, 1, 0, 0]);
  assert.deepEqual(
    [...countsOf(atlas, GROUP, among)],
    [
      [0, 1],
      [1, 1],
      [NO_CATEGORY, 0],
    ],
  );
});

test("the fields of a range say where numbers begin and end", () => {
  const values = Float64Array.from([0.13, Number.NaN, 1234567.8, -2]);
  assert.deepEqual(extremes({ ...YEAR, values }), [-2, 1234570]);
});
