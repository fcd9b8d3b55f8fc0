/**
 * Columns that two atlases side by side have both: one list of categories and one scale of numbers, so
 * that what is the same has the same colour in both.
 */
import type { Atlas, CategoryColumn, Column } from "./atlas.ts";
import { NO_CATEGORY } from "./atlas.ts";

/** Gives columns of one name and type in two atlases the same categories, or the same ends. */
export function shareColumns(first: Atlas, second: Atlas): void {
  first.columns = first.columns.map((column) => {
    const place = second.columns.findIndex((other) => other.name === column.name);
    const both = sharedColumns(column, second.columns[place]);
    if (both === null) return column;
    second.columns[place] = both[1];
    return both[0];
  });
}

function sharedColumns(a: Column, b: Column | undefined): [Column, Column] | null {
  if (a.type === "category" && b?.type === "category") return sharedCategories(a, b);
  if (a.type !== "number" || b?.type !== "number") return null;
  const ends = { low: Math.min(a.low, b.low), high: Math.max(a.high, b.high) };
  return [Object.assign({}, a, ends), Object.assign({}, b, ends)];
}

/** The categories of both, the most frequent in both together first. */
function sharedCategories(a: CategoryColumn, b: CategoryColumn): [CategoryColumn, CategoryColumn] {
  const counts = new Map<string, number>();
  for (const { categories, codes } of [a, b]) {
    for (const category of categories) counts.set(category, counts.get(category) ?? 0);
    for (const code of codes) {
      const category = categories[code];
      if (category !== undefined) counts.set(category, (counts.get(category) ?? 0) + 1);
    }
  }
  const sorted = [...counts].sort(([, one], [, other]) => other - one);
  const categories = sorted.map(([category]) => category);
  const places = new Map(categories.map((category, place) => [category, place]));
  const placed = (column: CategoryColumn): CategoryColumn => {
    const codes = column.codes.map((code) => {
      const category = column.categories[code];
      return category === undefined ? NO_CATEGORY : (places.get(category) ?? NO_CATEGORY);
    });
    return { ...column, categories, codes };
  };
  return [placed(a), placed(b)];
}
