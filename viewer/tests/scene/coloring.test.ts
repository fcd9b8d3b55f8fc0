/** Colours: contrast of the palettes, legends, and what each kind of column gives. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { CategoryColumn, NumberColumn } from "../../src/data/atlas.ts";
import { NO_CATEGORY } from "../../src/data/atlas.ts";
import { coloringBy, PALETTES, rgb, sizeColumns, sizing } from "../../src/scene/coloring.ts";
import { keysOf } from "../../src/scene/legend.ts";
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
  for (const { paper, ink, faint, muted, accent, islands } of Object.values(PALETTES)) {
    for (const color of [ink, faint, muted, accent, ...islands]) {
      assert.ok(contrast(color, paper) >= 4.5, `${color} on ${paper}: ${contrast(color, paper)}`);
    }
  }
});

test("every colour of a mark stands out from its paper, and ramps do so between their stops", () => {
  for (const { paper, categories, other, weights, numbers, diverging } of Object.values(PALETTES)) {
    const between = [weights, numbers, diverging].flatMap(samples);
    for (const color of [...categories, other, ...between]) {
      assert.ok(contrast(color, paper) >= 3, `${color} on ${paper}: ${contrast(color, paper)}`);
    }
  }
});

/** Colours of a ramp: its stops, and three between each two. */
function samples(stops: string[]): string[] {
  return stops.slice(1).flatMap((to, k) =>
    [0, 0.25, 0.5, 0.75, 1].map((at) => {
      const [a, b] = [rgb(stops[k]), rgb(to)];
      const mixed = a.map((part, c) => Math.round(part + at * (b[c] - part)));
      return `#${mixed.map((part) => part.toString(16).padStart(2, "0")).join("")}`;
    }),
  );
}

// How the colour blind see linear RGB, after Machado, Oliveira and Fernandes (2009), severity 1.
const SIGHTS = {
  common: [1, 0, 0, 0, 1, 0, 0, 0, 1],
  protanopia: [
    0.152286, 1.052583, -0.204868, 0.114503, 0.786281, 0.099216, -0.003882, -0.048116, 1.051998,
  ],
  deuteranopia: [
    0.367322, 0.860646, -0.227968, 0.280085, 0.672501, 0.047413, -0.01182, 0.04294, 0.968881,
  ],
  tritanopia: [
    1.255528, -0.076749, -0.178779, -0.078411, 0.930809, 0.147602, 0.004733, 0.691367, 0.3039,
  ],
};

/** A colour as L*, a*, b* (CIE 1976, D65), as it looks to those with a kind of sight. */
function seen(hex: string, sight: readonly number[]): [number, number, number] {
  const linear = rgb(hex).map((part) => {
    const share = part / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  const times = (matrix: readonly number[], vector: readonly number[]) =>
    [0, 3, 6].map((row) => vector.reduce((sum, part, c) => sum + matrix[row + c] * part, 0));
  const shown = times(sight, linear).map((part) => Math.min(1, Math.max(0, part)));
  const xyz = times(
    [
      0.4124564, 0.3575761, 0.1804375, 0.2126729, 0.7151522, 0.072175, 0.0193339, 0.119192,
      0.9503041,
    ],
    shown,
  );
  const [x = 0, y = 0, z = 0] = xyz.map((part, c) => {
    const t = part / [0.95047, 1, 1.08883][c];
    return t > 216 / 24389 ? Math.cbrt(t) : ((24389 / 27) * t + 16) / 116;
  });
  return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
}

function leastDistance(colors: string[], sight: readonly number[]): number {
  const points = colors.map((color) => seen(color, sight));
  const pairs = points.flatMap((a, k) => points.slice(0, k).map((b) => [a, b] as const));
  return Math.min(...pairs.map(([a, b]) => Math.hypot(...a.map((c, k) => c - b[k]))));
}

test("categories are told apart, by the colour blind too", () => {
  for (const { categories, other } of Object.values(PALETTES)) {
    assert.equal(categories.length, 20);
    for (const [name, sight] of Object.entries(SIGHTS)) {
      const isCommon = name === "common";
      const ten = leastDistance([...categories.slice(0, 10), other], sight);
      const all = leastDistance([...categories, other], sight);
      assert.ok(ten >= (isCommon ? 30 : 13), `ten, ${name}: ${ten}`);
      assert.ok(all >= (isCommon ? 19 : 8), `all, ${name}: ${all}`);
    }
  }
});

test("islands are told apart, by the colour blind too", () => {
  for (const { islands } of Object.values(PALETTES)) {
    assert.equal(new Set(islands).size, 8);
    for (const [name, sight] of Object.entries(SIGHTS)) {
      const least = leastDistance(islands, sight);
      assert.ok(least >= (name === "common" ? 19 : 9), `${name}: ${least}`);
    }
  }
});

test("map weights are coloured by their square root", () => {
  const atlas = tinyAtlas({
    labels: ["a", "b", "c"],
    points: [0, 0, 1, 1, 2, 2],
    weights: [1e-9, 0.25, 1],
  });
  const { colors, legend } = coloringBy(atlas, null, "light");
  const found = colors(atlas.maps[0]);
  const [first = "", second = "", third = ""] = PALETTES.light.weights;
  assert.equal(legend.type, "weight");
  assert.deepEqual([...found.subarray(0, 4)], [...rgb(first), 255]);
  for (const [part, value] of rgb(second).entries()) {
    assert.ok(Math.abs(found[4 + part] - value) <= 1);
  }
  assert.deepEqual([...found.subarray(8)], [...rgb(third), 255]);
});

test("colours by kind show the shapes, and no kind is listed twice", () => {
  const column: CategoryColumn = {
    ...{ name: "kind", type: "category", categories: ["word", "author", "paper"] },
    codes: Uint16Array.of(1, 2, 0),
  };
  const atlas = tinyAtlas({
    ...{ labels: ["a", "p", "w"], points: [0, 0, 1, 1, 2, 2], columns: [column] },
    ...{ kinds: ["author", "paper", "word"], starts: [0, 1, 2, 3], nRows: 2 },
  });
  const keys = (name: string | null) => {
    const { legend } = coloringBy(atlas, name, "light");
    return keysOf(atlas, legend, null, "ink").map((runs) => runs.map(({ text }) => text).join(""));
  };
  const shapes = ["●\u00A0author", "■\u00A0paper", "◆\u00A0word"];
  assert.deepEqual([keys("kind"), keys(null)], [shapes, shapes]);
});

test("twenty categories have a colour, the others share one grey with missing values", () => {
  const categories = "abcdefghijklmnopqrstuv".split("");
  const codes = Uint16Array.from([...categories.keys(), NO_CATEGORY]);
  const column: CategoryColumn = { name: "group", type: "category", categories, codes };
  const atlas = tinyAtlas({
    labels: Array.from(codes, String),
    points: Array.from({ length: 46 }, (_, i) => i),
    columns: [column],
  });
  const { legend, colors } = coloringBy(atlas, "group", "light");
  assert.ok(legend.type === "category");
  assert.deepEqual(
    legend.items.map(({ label }) => label),
    [..."abcdefghijklmnopqrst", "2 others, no value"],
  );
  assert.deepEqual(legend.items.at(-1)?.codes, [20, 21, NO_CATEGORY]);
  assert.equal(new Set(legend.items.map(({ color }) => color)).size, 21);
  const found = colors(atlas.maps[0]);
  const { categories: own, other } = PALETTES.light;
  assert.deepEqual([...found.subarray(4, 7)], rgb(own[1]));
  for (const entry of [20, 21, 22]) {
    assert.deepEqual([...found.subarray(4 * entry, 4 * entry + 3)], rgb(other));
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
  assert.deepEqual([...found.subarray(8, 11)], rgb(PALETTES.light.numbers[6]));
  assert.deepEqual([...found.subarray(12, 15)], rgb(PALETTES.light.other));
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
