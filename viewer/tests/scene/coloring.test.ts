/** Colours: contrast of the palettes, legends, and what each kind of column gives. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { CategoryColumn, NumberColumn } from "../../src/data/atlas.ts";
import { NO_CATEGORY } from "../../src/data/atlas.ts";
import { elementAt } from "../../src/data/elements.ts";
import {
  colorColumns,
  coloringBy,
  OTHERS,
  PALETTES,
  rgb,
  sizeColumns,
  sizing,
} from "../../src/scene/coloring.ts";
import { tinyAtlas } from "../tiny_atlas.ts";

function luminance(hex: string): number {
  const linear = (part: number) => {
    const share = part / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  };
  const [red, green, blue] = rgb(hex);
  return 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue);
}

function contrast(a: string, b: string): number {
  const ratio = (luminance(a) + 0.05) / (luminance(b) + 0.05);
  return Math.max(ratio, 1 / ratio);
}

test("words can be read on both papers", () => {
  for (const { paper, ink, faint, muted, accent } of Object.values(PALETTES)) {
    for (const color of [ink, faint, muted, accent]) {
      assert.ok(contrast(color, paper) >= 4.5, `${color} on ${paper}: ${contrast(color, paper)}`);
    }
  }
});

test("marks stand out from the dark paper", () => {
  const { paper, categories, other, numbers, recalls } = PALETTES.dark;
  for (const color of [...categories, other, ...numbers, ...recalls]) {
    assert.ok(contrast(color, paper) >= 3, `${color}: ${contrast(color, paper)}`);
  }
});

test("shares of recall are coloured by their square root", () => {
  const atlas = tinyAtlas({
    labels: ["a", "b", "c"],
    points: [0, 0, 1, 1, 2, 2],
    recalls: [0, 0.25, 1],
  });
  const { colors, legend, groups } = coloringBy(atlas, null, "light");
  const found = colors(atlas.maps[0]);
  assert.equal(legend.type, "recall");
  assert.equal(groups, null);
  assert.deepEqual([...found.subarray(0, 4)], [...rgb("#A9C6CC"), 255]);
  for (const [part, value] of rgb("#4F8E9C").entries()) {
    assert.ok(Math.abs(elementAt(found, 4 + part) - value) <= 1);
  }
  assert.deepEqual([...found.subarray(8)], [...rgb("#14505F"), 255]);
});

test("the legend is in the order of labels and numbers, and silent about a kind without values", () => {
  const atlas = tinyAtlas({
    labels: ["a", "b", "c", "d"],
    points: [0, 0, 1, 1, 2, 2, 3, 3],
    kinds: ["document", "word"],
    nRows: 2,
    columns: [
      {
        name: "year",
        type: "category",
        categories: ["10", "9"],
        codes: Uint16Array.from([0, 1, NO_CATEGORY, NO_CATEGORY]),
      },
      {
        name: "length",
        type: "number",
        low: 0,
        high: 1,
        values: Float32Array.from([0, Number.NaN, Number.NaN, Number.NaN]),
      },
    ],
  });
  const { legend } = coloringBy(atlas, "year", "light");
  assert.ok(legend.type === "category");
  assert.deepEqual(
    legend.items.map(({ label, code }) => [label, code]),
    [
      ["9", 1],
      ["10", 0],
    ],
  );
  const numbers = coloringBy(atlas, "length", "light").legend;
  assert.ok(numbers.type === "number" && numbers.hasMissing);
});

test("ten categories have a colour, the others share one", () => {
  const categories = "abcdefghijkl".split("");
  const codes = Uint16Array.from([...categories.keys(), NO_CATEGORY]);
  const column: CategoryColumn = { name: "group", type: "category", categories, codes };
  const atlas = tinyAtlas({
    labels: Array.from(codes, String),
    points: Array.from({ length: 26 }, (_, i) => i),
    columns: [column],
  });
  const { legend, colors, groups } = coloringBy(atlas, "group", "light");
  assert.ok(legend.type === "category");
  assert.deepEqual(
    legend.items.map(({ label }) => label),
    [..."abcdefghij", "2 others", "no value"],
  );
  assert.deepEqual(
    legend.items.slice(-2).map(({ code }) => code),
    [OTHERS, NO_CATEGORY],
  );
  assert.deepEqual(
    [...(groups ?? [])],
    [...Array.from({ length: 10 }, (_, code) => code), ...[OTHERS, OTHERS, NO_CATEGORY]],
  );
  const found = colors(atlas.maps[0]);
  assert.deepEqual([...found.subarray(4, 7)], rgb("#E69F00"));
  for (const entry of [10, 11, 12]) {
    assert.deepEqual([...found.subarray(4 * entry, 4 * entry + 3)], rgb("#B9BABB"));
  }
});

const YEARS: NumberColumn = {
  name: "year",
  type: "number",
  low: 1990,
  high: 2000,
  values: Float32Array.from([1980, 1990, 2000, Number.NaN]),
};

test("numbers have a scale that says where it ends", () => {
  const atlas = tinyAtlas({
    labels: ["a", "b", "c", "d"],
    points: [0, 0, 1, 1, 2, 2, 3, 3],
    columns: [YEARS],
  });
  const { legend, colors } = coloringBy(atlas, "year", "light");
  assert.ok(legend.type === "number");
  assert.deepEqual([legend.low, legend.high, legend.hasMissing], ["≤ 1990", "2000", true]);
  const found = colors(atlas.maps[0]);
  assert.deepEqual([...found.subarray(0, 4)], [...found.subarray(4, 8)]);
  assert.deepEqual([...found.subarray(8, 11)], rgb("#CAE11F"));
  assert.deepEqual([...found.subarray(12, 15)], rgb("#B9BABB"));
});

test("the ends of a scale are short numbers", () => {
  const column = { ...YEARS, low: 0.000012345, high: 7.12345, values: new Float32Array(1) };
  const atlas = tinyAtlas({ labels: ["a"], points: [0, 0], columns: [column] });
  const { legend } = coloringBy(atlas, "year", "light");
  assert.ok(legend.type === "number");
  assert.deepEqual([legend.low, legend.high], ["≤ 0.0000123", "7.12"]);
});

test("an unknown column or a text colours by share of recall", () => {
  const text = { name: "note", type: "text" as const, values: ["x"] };
  const atlas = tinyAtlas({ labels: ["a"], points: [0, 0], columns: [text] });
  for (const name of ["note", "nothing"]) {
    assert.equal(coloringBy(atlas, name, "dark").legend.type, "recall");
  }
  assert.deepEqual(colorColumns(atlas), []);
});

test("sizes go from a quarter to four times the area", () => {
  const constant = { ...YEARS, name: "same", low: 5, high: 5 };
  const atlas = tinyAtlas({
    labels: ["a", "b", "c", "d"],
    points: [0, 0, 1, 1, 2, 2, 3, 3],
    columns: [YEARS, constant],
  });
  assert.deepEqual([...sizing(atlas, "year")], [0.25, 0.25, 4, 0.25]);
  assert.deepEqual([...sizing(atlas, null)], [1, 1, 1, 1]);
  assert.deepEqual([...sizing(atlas, "same")], [1, 1, 1, 1]);
  assert.deepEqual(
    sizeColumns(atlas).map(({ name }) => name),
    ["year"],
  );
});
