/**
 * Objects as a table in CSV: one row per object and map in which it has weight,
 *
 *     label, map, weight, observed, x, y (z, or x0, x1, ...), the columns of the atlas
 *
 * with its map weight and, if associations are known, the share of its sense there. Coordinates are
 * those of the model, also if a map of more dimensions is drawn on a plane. A text that a spreadsheet
 * would run has an apostrophe first, as in `manymaps.data.csv_cells`, whose reader removes it.
 */
import type { Atlas, Column } from "./atlas.ts";
import { homesOf } from "./entries.ts";
import { observedIn } from "./observed.ts";

/** The table of some objects, in the order given. */
export function atlasTable(atlas: Atlas, objects: readonly number[]): string {
  const d = atlas.nComponents;
  const axes = d <= 3 ? ["x", "y", "z"].slice(0, d) : Array.from({ length: d }, (_, c) => `x${c}`);
  const data = atlas.observed ? ["observed"] : [];
  const own = ["label", "map", "weight", ...data, ...axes];
  const others = atlas.columns.map(({ name }) => (own.includes(name) ? `metadata_${name}` : name));
  const rows = [[...own, ...others]];
  for (const object of objects) {
    const shared = atlas.columns.map((column) => written(column, object));
    for (const { map, entry } of homesOf(atlas, object)) {
      const point = map.coordinates.subarray(entry * d, (entry + 1) * d);
      const numbers = [
        map.number,
        fiveDigits(map.weights[entry]),
        ...data.map(() => {
          const share = observedIn(atlas, object, map.number);
          return share === null ? "" : fiveDigits(share);
        }),
        ...Array.from(point, sevenDigits),
      ];
      rows.push([atlas.labels[object], ...numbers.map(String), ...shared]);
    }
  }
  return `\uFEFF${rows.map((row) => `${row.map(cell).join(",")}\n`).join("")}`;
}

function written(column: Column, object: number): string {
  if (column.type === "text" || column.type === "image") return column.values[object];
  if (column.type === "number") {
    const value = column.values[object];
    return Number.isNaN(value) ? "" : String(sevenDigits(value));
  }
  return column.categories[column.codes[object]] ?? "";
}

/** In the page a share has 16 bits, which are five digits, and a number single precision. */
const fiveDigits = (share: number) => Number(share.toFixed(5));
const sevenDigits = (value: number) => Number(value.toPrecision(7));

const FORMULA = /^'*[=+\-@\t\r\n\uFF1D\uFF0B\uFF0D\uFF20]/;
const NUMBER = /^[+-]?((\d+\.?\d*|\.\d+)(e[+-]?\d+)?|inf|nan)$/i;

function cell(text: string): string {
  const guarded = FORMULA.test(text) && !NUMBER.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(guarded) ? `"${guarded.replaceAll('"', '""')}"` : guarded;
}
