/**
 * Objects as a table in CSV: one row per object and map in which it lives, with the columns of
 * `manymaps export`, the map weight of the object, and beside it, where
 * data are known, the share of its sense there in all that was observed of the object,
 *
 *     label, map, proportion, weight, observed, x, y (z, or x0, x1, ...), the columns of the atlas
 *
 * Coordinates are those of the model, also where a map of more dimensions is drawn on a plane. A text
 * that a spreadsheet would run has an apostrophe first, as in `manymaps.data.csv_cells`, whose reader
 * takes it away; a byte order mark says that the file is UTF-8.
 */
import type { Atlas, Column } from "./atlas.ts";
import { NO_CATEGORY } from "./atlas.ts";
import { elementAt } from "./elements.ts";
import { homesOf } from "./entries.ts";
import { observedIn } from "./observed.ts";

/** The table of some objects, in the order given. */
export function atlasTable(atlas: Atlas, objects: readonly number[]): string {
  const d = atlas.nComponents;
  const axes = d <= 3 ? ["x", "y", "z"].slice(0, d) : Array.from({ length: d }, (_, c) => `x${c}`);
  const data = atlas.observed ? ["observed"] : [];
  const own = ["label", "map", "proportion", "weight", ...data, ...axes];
  const others = atlas.columns.map(({ name }) => (own.includes(name) ? `metadata_${name}` : name));
  const rows = [[...own, ...others]];
  for (const object of objects) {
    const shared = atlas.columns.map((column) => written(column, object));
    for (const { map, entry } of homesOf(atlas, object)) {
      const point = map.coordinates.subarray(entry * d, (entry + 1) * d);
      const numbers = [
        map.number,
        fiveDigits(elementAt(map.proportions, entry)),
        fiveDigits(elementAt(map.weights, entry)),
        ...data.map(() => {
          const share = observedIn(atlas, object, map.number);
          return share === null ? "" : fiveDigits(share);
        }),
        ...Array.from(point, shortest),
      ];
      rows.push([elementAt(atlas.labels, object), ...numbers.map(String), ...shared]);
    }
  }
  return `\uFEFF${rows.map((row) => `${row.map(cell).join(",")}\n`).join("")}`;
}

function written(column: Column, object: number): string {
  if (column.type === "text" || column.type === "image") return elementAt(column.values, object);
  if (column.type === "number") {
    const value = elementAt(column.values, object);
    return Number.isNaN(value) ? "" : String(shortest(value));
  }
  const code = elementAt(column.codes, object);
  return code === NO_CATEGORY ? "" : elementAt(column.categories, code);
}

/** In the page a share has 16 bits, which are five digits. */
function fiveDigits(share: number): number {
  return Number(share.toFixed(5));
}

/** The number of fewest digits that single precision does not tell from this one. */
function shortest(value: number): number {
  if (Math.fround(value) !== value) return value;
  for (let digits = 6; digits < 9; digits++) {
    const short = Number(value.toPrecision(digits));
    if (Math.fround(short) === value) return short;
  }
  return value;
}

const FORMULA = /^'*[=+\-@\t\r\n\uFF1D\uFF0B\uFF0D\uFF20]/;
const NUMBER = /^[+-]?((\d+\.?\d*|\.\d+)(e[+-]?\d+)?|inf|nan)$/i;

function cell(text: string): string {
  const guarded = FORMULA.test(text) && !NUMBER.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(guarded) ? `"${guarded.replaceAll('"', '""')}"` : guarded;
}
