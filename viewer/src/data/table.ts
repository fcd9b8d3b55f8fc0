/** A selection in CSV: label, map, weight, observed, x, y (z, or x0, x1, ...), columns of the atlas.
 *
 * A text that a spreadsheet would run has an apostrophe first, as in `manymaps.data.csv_cells`.
 */
import type { Atlas } from "./atlas.ts";
import { homesOf } from "./entries.ts";
import { observedIn } from "./observed.ts";
import { sevenDigits, valueIn } from "./words.ts";

export function atlasTable(atlas: Atlas, objects: readonly number[]): string {
  const d = atlas.nComponents;
  const axes = d <= 3 ? ["x", "y", "z"].slice(0, d) : Array.from({ length: d }, (_, c) => `x${c}`);
  const data = atlas.observed ? ["observed"] : [];
  const own = ["label", "map", "weight", ...data, ...axes];
  const others = atlas.columns.map(({ name }) => (own.includes(name) ? `metadata_${name}` : name));
  const rows = [[...own, ...others]];
  for (const object of objects) {
    const shared = atlas.columns.map((column) => valueIn(column, object));
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

/** In the page a share has 16 bits, which are five digits. */
const fiveDigits = (share: number) => Number(share.toFixed(5));

const FORMULA = /^'*[=+\-@\t\r\n\uFF1D\uFF0B\uFF0D\uFF20]/;
const NUMBER = /^[+-]?((\d+\.?\d*|\.\d+)(e[+-]?\d+)?|inf|nan)$/i;

function cell(text: string): string {
  const guarded = FORMULA.test(text) && !NUMBER.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(guarded) ? `"${guarded.replaceAll('"', '""')}"` : guarded;
}
