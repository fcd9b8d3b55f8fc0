/**
 * What colours say: the share of recall, a category or a number; on light and on dark paper.
 *
 * Palettes: a single quiet hue for shares (by their square root), Okabe and Ito's colours for
 * categories (told apart under every common colour blindness), viridis without the end that comes
 * too close to the paper for numbers. The colours of the dark theme are the same hues made lighter,
 * each with a contrast of 3 : 1 or more on its paper.
 */
import type { Atlas, AtlasMap, CategoryColumn, Column, NumberColumn } from "../data/atlas.ts";
import { NO_CATEGORY } from "../data/atlas.ts";
import { elementAt, inBounds } from "../data/elements.ts";
import { forEachEntry } from "../data/entries.ts";

export type Theme = "light" | "dark";

export interface Palette {
  paper: string;
  ink: string;
  /** Ink of lesser labels. */
  faint: string;
  muted: string;
  hairline: string;
  accent: string;
  /** Stops of the ramp of shares of recall, from small to large. */
  recalls: string[];
  categories: string[];
  /** Categories beyond the palette, and objects without a value. */
  other: string;
  /** Stops of the ramp of numbers, from low to high. */
  numbers: string[];
}

export const PALETTES: Record<Theme, Palette> = {
  light: {
    paper: "#FBF9F4",
    ink: "#22272E",
    faint: "#4B525C",
    muted: "#5F666F",
    hairline: "#DDD8CC",
    accent: "#B93C25",
    recalls: ["#A9C6CC", "#4F8E9C", "#14505F"],
    categories: [
      ...["#0072B2", "#E69F00", "#009E73", "#CC79A7", "#D55E00", "#56B4E9", "#8A7A00"],
      ...["#5B4A9C", "#7A4A22", "#4A4F57"],
    ],
    other: "#B9BABB",
    numbers: [
      ...["#440154", "#482979", "#3E4C8A", "#2F6B8E", "#24868E"],
      ...["#1FA287", "#3FBC73", "#7FD34E", "#CAE11F"],
    ],
  },
  dark: {
    paper: "#14181D",
    ink: "#E9E6DE",
    faint: "#C3C2BE",
    muted: "#A4ABB3",
    hairline: "#333A42",
    accent: "#FF8A6B",
    recalls: ["#3E6D78", "#579CAB", "#A5DBE5"],
    categories: [
      ...["#3E97DA", "#F0B23A", "#2CC295", "#E29AC4", "#F07A35", "#9BD6F7", "#C4B532"],
      ...["#A493F0", "#C08A5E", "#E4E8EC"],
    ],
    other: "#6C7480",
    numbers: [
      ...["#2F6C8E", "#27808E", "#20938C", "#22A785", "#38B977"],
      ...["#60CA60", "#93D741", "#CAE11F", "#FDE725"],
    ],
  },
};

/** The code of all categories beyond the palette together. */
export const OTHERS = NO_CATEGORY - 1;

export interface LegendItem {
  label: string;
  color: string;
  /** The category's number, OTHERS or NO_CATEGORY: what `Look.hiddenCategories` holds. */
  code: number;
}

export type Legend =
  | { type: "recall"; stops: string[] }
  | { type: "category"; name: string; items: LegendItem[] }
  | {
      type: "number";
      name: string;
      low: string;
      high: string;
      stops: string[];
      hasMissing: boolean;
      missing: string;
    };

export interface Coloring {
  legend: Legend;
  /** RGBA of each entry of a map. */
  colors(map: AtlasMap): Uint8Array;
  /** The legend's code of each object; null where it has no categories. */
  groups: Uint16Array | null;
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
    const [from, to] = [elementAt(colors, k), elementAt(colors, k + 1)];
    for (const [c, start] of from.entries()) {
      table[4 * i + c] = Math.round(start + (place - k) * (elementAt(to, c) - start));
    }
    table[4 * i + 3] = 255;
  }
  return table;
}

/** RGBA of each entry, by its row in a table of colours. */
function fromTable(
  table: Uint8Array,
  map: AtlasMap,
  row: (object: number, recall: number) => number,
): Uint8Array {
  const words = new Uint32Array(table.buffer, table.byteOffset, table.length / 4);
  const colors = new Uint32Array(map.objects.length);
  forEachEntry(map, (object, recall, entry) => {
    colors[entry] = inBounds(words[row(object, recall)]);
  });
  return new Uint8Array(colors.buffer);
}

/** The colours by a column, or by share of recall where it is null, unknown or a text. */
export function coloringBy(atlas: Atlas, name: string | null, theme: Theme): Coloring {
  const column = name === null ? undefined : atlas.columns.find((other) => other.name === name);
  if (column?.type === "category") return byCategory(atlas, column, theme);
  if (column?.type === "number") return byNumber(atlas, column, theme);
  const stops = PALETTES[theme].recalls;
  const table = ramp(stops);
  return {
    legend: { type: "recall", stops },
    colors: (map) => fromTable(table, map, (_, recall) => Math.round(255 * Math.sqrt(recall))),
    groups: null,
  };
}

/** Whether any object lacks a value; a kind of object of which none has one is not asked. */
function lacks({ kinds, nRows, nObjects }: Atlas, isMissing: (object: number) => boolean): boolean {
  const ranges: [number, number][] =
    kinds === null
      ? [[0, nObjects]]
      : [
          [0, nRows],
          [nRows, nObjects],
        ];
  return ranges.some(([start, end]) => {
    let missing = 0;
    for (let object = start; object < end; object++) missing += isMissing(object) ? 1 : 0;
    return missing > 0 && missing < end - start;
  });
}

/** In the order in which people look categories up. */
const inOrder = new Intl.Collator("en", { numeric: true });

function byCategory(atlas: Atlas, column: CategoryColumn, theme: Theme): Coloring {
  const { categories, other } = PALETTES[theme];
  const own = Math.min(categories.length, column.categories.length);
  const groups = column.codes.map((code) => (code === NO_CATEGORY || code < own ? code : OTHERS));
  const items = column.categories
    .slice(0, own)
    .map((label, code) => ({ label, color: elementAt(categories, code), code }));
  items.sort((a, b) => inOrder.compare(a.label, b.label));
  const beyond = column.categories.length - own;
  if (beyond > 0) {
    items.push({ label: `${beyond} other${beyond > 1 ? "s" : ""}`, color: other, code: OTHERS });
  }
  if (lacks(atlas, (object) => groups[object] === NO_CATEGORY)) {
    items.push({ label: "no value", color: other, code: NO_CATEGORY });
  }
  const table = new Uint8Array([...categories, other].flatMap((hex) => [...rgb(hex), 255]));
  return {
    legend: { type: "category", name: column.name, items },
    colors: (map) =>
      fromTable(table, map, (object) => Math.min(inBounds(groups[object]), categories.length)),
    groups,
  };
}

function byNumber(atlas: Atlas, column: NumberColumn, theme: Theme): Coloring {
  const { numbers, other } = PALETTES[theme];
  const { low, high, values } = column;
  const table = new Uint8Array([...ramp(numbers), ...rgb(other), 255]);
  const span = high > low ? high - low : 1;
  const row = (value: number) =>
    Number.isNaN(value) ? 256 : Math.round(255 * Math.min(1, Math.max(0, (value - low) / span)));
  // Single precision rounds the ends too: a value is beyond one only by more than that.
  const slack = 1e-6 * Math.max(Math.abs(low), Math.abs(high));
  return {
    legend: {
      type: "number",
      name: column.name,
      low: `${values.some((value) => value < low - slack) ? "≤ " : ""}${short(low)}`,
      high: `${values.some((value) => value > high + slack) ? "≥ " : ""}${short(high)}`,
      stops: numbers,
      hasMissing: lacks(atlas, (object) => Number.isNaN(values[object])),
      missing: other,
    },
    colors: (map) => fromTable(table, map, (object) => row(inBounds(values[object]))),
    groups: null,
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
  return atlas.columns.filter(({ type }) => type === "category" || type === "number");
}

/** Columns that can size the marks: numbers that differ. */
export function sizeColumns(atlas: Atlas): NumberColumn[] {
  return atlas.columns.filter(
    (column): column is NumberColumn => column.type === "number" && column.high > column.low,
  );
}

const SMALLEST = 0.25;
const LARGEST = 4;

/** Of each object, by how much its dot's area is multiplied, from 1/4 to 4; 1 without a column. */
export function sizing(atlas: Atlas, name: string | null): Float32Array {
  const factors = new Float32Array(atlas.nObjects).fill(1);
  const column = sizeColumns(atlas).find((other) => other.name === name);
  if (!column) return factors;
  const { low, high, values } = column;
  for (let object = 0; object < factors.length; object++) {
    const share = (inBounds(values[object]) - low) / (high - low);
    if (Number.isNaN(share)) factors[object] = SMALLEST;
    else factors[object] = SMALLEST + (LARGEST - SMALLEST) * Math.min(1, Math.max(0, share));
  }
  return factors;
}
