/** Columns of one name in two atlases have one list of categories and one scale. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { type Column, NO_CATEGORY } from "../../src/data/atlas.ts";
import { shareColumns } from "../../src/data/shared_columns.ts";
import { coloringBy } from "../../src/scene/coloring.ts";
import { tinyAtlas } from "../tiny_atlas.ts";

function atlasWith(columns: Column[]) {
  return tinyAtlas({ labels: ["a", "b", "c"], points: [0, 0, 1, 1, 2, 2], columns });
}

function category(name: string, categories: string[], codes: number[]): Column {
  return { name, type: "category", categories, codes: Uint16Array.from(codes) };
}

test("a category has the same code and colour in both, the most frequent of both first", () => {
  const first = atlasWith([category("group", ["noun", "verb"], [0, 0, 1])]);
  const second = atlasWith([
    category("other", ["x"], [0, 0, 0]),
    category("group", ["verb", "rare"], [0, 0, NO_CATEGORY]),
  ]);
  shareColumns(first, second);
  const [mine] = first.columns;
  const [other, theirs] = second.columns;
  assert.ok(mine?.type === "category" && theirs?.type === "category");
  assert.deepEqual(mine.categories, ["verb", "noun", "rare"]);
  assert.deepEqual(theirs.categories, mine.categories);
  assert.deepEqual([...mine.codes], [1, 1, 0]);
  assert.deepEqual([...theirs.codes], [0, 0, NO_CATEGORY]);
  assert.ok(other?.type === "category" && other.categories.length === 1);
  const colors = (atlas: typeof first, entry: number) => [
    ...coloringBy(atlas, "group", { theme: "light", ramp: null, scale: "linear" })
      .colors(atlas.maps[0])
      .subarray(4 * entry, 4 * entry + 4),
  ];
  assert.deepEqual(colors(first, 2), colors(second, 0));
});

test("numbers of one name have one scale, and columns of two types stay as they are", () => {
  const number = (low: number, high: number): Column => ({
    name: "age",
    type: "number",
    low,
    high,
    values: new Float32Array(3),
  });
  const first = atlasWith([number(1, 5), category("mixed", ["x"], [0, 0, 0])]);
  const second = atlasWith([number(3, 9), { ...number(0, 1), name: "mixed" }]);
  shareColumns(first, second);
  for (const { columns } of [first, second]) {
    assert.ok(columns[0]?.type === "number");
    assert.deepEqual([columns[0].low, columns[0].high], [1, 9]);
  }
  assert.equal(first.columns[1]?.type, "category");
  assert.equal(second.columns[1]?.type, "number");
});
