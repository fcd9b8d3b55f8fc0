/** Colours of the dots by island, map weight, category or number; on light and on dark paper.
 *
 * Marks have a contrast of 3 : 1 on their paper, islands and senses, whose names are text, of 4.5 : 1.
 * Categories differ with three kinds of colour blindness, too (`tests/scene/coloring.test.ts`).
 */

import type { Atlas, AtlasMap, CategoryColumn, Column, NumberColumn } from "../data/atlas.ts";
import { NO_CATEGORY } from "../data/atlas.ts";
import { hasMissing, isFilterColumn } from "../data/filters.ts";
import { counted } from "../data/words.ts";
import { shapeOf } from "./mark_data.ts";

export type Theme = "light" | "dark";

export interface Palette {
  paper: string;
  ink: string;
  faint: string;
  muted: string;
  hairline: string;
  accent: string;
  weights: string[];
  categories: string[];
  /** Islands of a map, dark or light enough for text. */
  islands: string[];
  /** Senses of a word, as dark or light, and different from the accent with colour blindness, too. */
  senses: string[];
  /** Categories beyond the palette, and objects without a value. */
  other: string;
  numbers: string[];
  diverging: string[];
}

/** Colours that stand side by side, without the sign that begins each. */
function hues(...lines: string[]): string[] {
  return lines.join(" ").replace(/\w+/g, "#$&").split(" ");
}

export const PALETTES: Record<Theme, Palette> = {
  light: {
    paper: "#FBF9F4",
    ink: "#22272E",
    faint: "#4B525C",
    muted: "#5F666F",
    hairline: "#DDD8CC",
    accent: "#B93C25",
    weights: hues("69959F 35707C 064E5A"),
    categories: hues(
      "003B7B CA7101 037D50 77054E 8A1700 1198D9 9D9048",
      "7A46AC 026EE1 FE3C88 B24044 729C1D 2E4226 BE2F92",
      "106E90 917EF0 6A4168 760881 0F4D00 658A72",
    ),
    islands: hues("8C3907 2272B2 6E733A 614290 0A5C4A AC547D 113277 611146"),
    senses: hues("0A5AA5 8A6100 7A2E8C 1E7A5A 5B5B66"),
    other: "#8A8C8F",
    numbers: hues("3B0049 2F276E 00496C 02615E 027849 4E8B00 9F9102"),
    diverging: hues("013567 045890 4277A0 8F8E8C A75F46 9C2C24 6F171A"),
  },
  dark: {
    paper: "#14181D",
    ink: "#E9E6DE",
    faint: "#C3C2BE",
    muted: "#A4ABB3",
    hairline: "#333A42",
    accent: "#FF8A6B",
    weights: hues("4E737C 6AA4B0 B1DFE8"),
    categories: hues(
      "C2D3FC FF9F2F 69F5CA AE45C2 AF4232 00A0FF AAA85D",
      "B987CE 1378FE D2096B F06071 69900E 97A184 C9109B",
      "1D83AA 8E78DF DCACCF FF94FF A6E391 479D98",
    ),
    islands: hues("E6A253 3193CD C6DD7C B4A2FA 47CBA9 C97988 9DDBFC 8B9128"),
    senses: hues("6FB4F2 E8C05A CF94E0 6FD0A8 B5B5C0"),
    other: "#6C7480",
    numbers: hues("2E6F8E 23888E 1FA187 3BBB75 73D056 B8DE29 FDE725"),
    diverging: hues("AAE5FF 62BDF0 5B91BB 6B6A69 C37459 F3985B FFD79B"),
  },
};

export interface LegendItem {
  label: string;
  color: string;
  /** The categories that have this colour, or NO_CATEGORY alone: what filters hold. */
  codes: readonly number[];
  shape?: number;
}

export type Legend =
  | { type: "weight"; stops: string[] }
  | { type: "category"; name: string; items: LegendItem[] }
  | {
      type: "number";
      name: string;
      low: string;
      /** 0 in the middle of a ramp of numbers on both sides of it, else "". */
      middle: string;
      high: string;
      stops: string[];
      hasMissing: boolean;
      missing: string;
    };

export interface Coloring {
  legend: Legend;
  colors(map: AtlasMap): Uint8Array;
}

type Rgb = [number, number, number];

export function rgb(hex: string): Rgb {
  const value = Number.parseInt(hex.slice(1), 16);
  return [value >> 16, (value >> 8) & 255, value & 255];
}

/** A table of 256 colours, RGBA, between evenly spaced stops. */
function ramp(stops: string[]): Uint8Array {
  const colors = stops.map(rgb);
  const table = new Uint8Array(4 * 256);
  for (let i = 0; i < 256; i++) {
    const place = (i / 255) * (colors.length - 1);
    const k = Math.min(Math.floor(place), colors.length - 2);
    const [from, to] = [colors[k], colors[k + 1]];
    for (const [c, start] of from.entries()) {
      table[4 * i + c] = Math.round(start + (place - k) * (to[c] - start));
    }
    table[4 * i + 3] = 255;
  }
  return table;
}

/** RGBA of each entry, by its row in a table of colours. */
function fromTable(table: Uint8Array, map: AtlasMap, row: (entry: number) => number): Uint8Array {
  const words = new Uint32Array(table.buffer, table.byteOffset, table.length / 4);
  return new Uint8Array(Uint32Array.from(map.objects.keys(), (entry) => words[row(entry)]).buffer);
}

/** RGBA of some colours, as words. */
function wordsOf(colors: readonly string[]): Uint32Array {
  return new Uint32Array(new Uint8Array(colors.flatMap((hex) => [...rgb(hex), 255])).buffer);
}

/** The colours by a column, or by map weight where it is null, unknown or a text. */
export function coloringBy(atlas: Atlas, name: string | null, theme: Theme): Coloring {
  const column = name === null ? undefined : atlas.columns.find((other) => other.name === name);
  if (column?.type === "category") return byCategory(atlas, column, theme);
  if (column?.type === "number") return byNumber(atlas, column, theme);
  const { weights, islands, other } = PALETTES[theme];
  const table = ramp(weights);
  const words = wordsOf([...islands, other]);
  return {
    // Where maps have islands, the size of a dot alone shows its weight.
    legend: {
      type: "weight",
      stops: atlas.maps.some(({ regions }) => regions.length) ? [] : weights,
    },
    colors: (map) => {
      if (map.regions.length === 0) {
        return fromTable(table, map, (entry) => Math.round(255 * Math.sqrt(map.weights[entry])));
      }
      const colors = new Uint32Array(map.objects.length).fill(words[islands.length]);
      for (const { members, hue, island } of map.regions) {
        if (island === null) for (const entry of members) colors[entry] = words[hue];
      }
      return new Uint8Array(colors.buffer);
    },
  };
}

const inOrder = new Intl.Collator("en", { numeric: true });

function byCategory(atlas: Atlas, column: CategoryColumn, theme: Theme): Coloring {
  const { categories, other } = PALETTES[theme];
  const isMany = column.categories.length > categories.length;
  const own = isMany ? categories.length : column.categories.length;
  const kinds = (column.name === "kind" && atlas.kinds) || [];
  const items = column.categories.slice(0, own).map((label, code): LegendItem => {
    const color = categories[code];
    return { label, color, codes: [code], shape: shapeOf(label, kinds) };
  });
  items.sort((a, b) => inOrder.compare(a.label, b.label));
  // Rare categories, which come last, share one grey with objects without a value.
  const rare = Array.from({ length: column.categories.length - own }, (_, k) => own + k);
  const missing = hasMissing(atlas, column) ? [NO_CATEGORY] : [];
  if (rare.length + missing.length > 0) {
    const label = [
      rare.length > 0 && counted(rare.length, "other"),
      missing.length > 0 && "no value",
    ]
      .filter(Boolean)
      .join(", ");
    items.push({ label, color: other, codes: [...rare, ...missing] });
  }
  const table = new Uint8Array(wordsOf([...categories, other]).buffer);
  const { length } = categories;
  const indexOf = (code: number) => Math.min(code, length);
  return {
    legend: { type: "category", name: column.name, items },
    colors: (map) => fromTable(table, map, (entry) => indexOf(column.codes[map.objects[entry]])),
  };
}

function byNumber(atlas: Atlas, column: NumberColumn, theme: Theme): Coloring {
  const { numbers, diverging, other } = PALETTES[theme];
  const isDiverging = column.low < 0 && column.high > 0;
  const far = Math.max(-column.low, column.high);
  const [low, high] = isDiverging ? [-far, far] : [column.low, column.high];
  const span = high > low ? high - low : 1;
  const stops = isDiverging ? diverging : numbers;
  const table = new Uint8Array([...ramp(stops), ...rgb(other), 255]);
  const row = (value: number) =>
    Number.isNaN(value) ? 256 : Math.round(255 * Math.min(1, Math.max(0, (value - low) / span)));
  // Single precision rounds the ends too: a value is beyond one only by more than that.
  const slack = 1e-6 * Math.max(Math.abs(low), Math.abs(high));
  const { values } = column;
  return {
    legend: {
      type: "number",
      name: column.name,
      low: `${values.some((value) => value < low - slack) ? "≤ " : ""}${short(low)}`,
      middle: isDiverging ? "0" : "",
      high: `${values.some((value) => value > high + slack) ? "≥ " : ""}${short(high)}`,
      stops,
      hasMissing: hasMissing(atlas, column),
      missing: other,
    },
    colors: (map) => fromTable(table, map, (entry) => row(values[map.objects[entry]])),
  };
}

/** Three digits, but years and other thousands whole. */
function short(value: number): string {
  const size = Math.abs(value);
  if (size >= 1000 && size < 1e6) return value.toFixed(0);
  const text = value.toPrecision(3);
  return text.includes("e") ? text.replace(/\.?0+e/, "e") : String(Number(text));
}

/** Columns that can colour the marks: categories and numbers. */
export function colorColumns(atlas: Atlas): Column[] {
  return atlas.columns.filter(isFilterColumn);
}

/** Columns that can size the marks: numbers that differ. */
export function sizeColumns(atlas: Atlas): NumberColumn[] {
  return atlas.columns.filter(
    (column): column is NumberColumn => column.type === "number" && column.high > column.low,
  );
}

const SMALLEST = 0.25;
const LARGEST = 4;

/** The factor of each object's dot area, from 1/4 to 4; 1 without a column. */
export function sizing(atlas: Atlas, name: string | null): Float32Array {
  const factors = new Float32Array(atlas.nObjects).fill(1);
  const column = sizeColumns(atlas).find((other) => other.name === name);
  if (!column) return factors;
  const { low, high, values } = column;
  for (let object = 0; object < factors.length; object++) {
    const share = (values[object] - low) / (high - low);
    if (Number.isNaN(share)) factors[object] = SMALLEST;
    else factors[object] = SMALLEST + (LARGEST - SMALLEST) * Math.min(1, Math.max(0, share));
  }
  return factors;
}
