/** Labels, shares and counts in words, for sentences and for the names of things. */

import type { Atlas, AtlasMap, Column } from "./atlas.ts";
import { once } from "./elements.ts";

/** Between names and facts on one line. */
export const BETWEEN = " · ";
/** How many characters of a label stand in sentences, lists and tables. */
const LONGEST = 60;
/** Longer texts are cut before anything else looks at them. */
const UNITS_PER_CHARACTER = 15;
/** Marks that turn the direction of what follows, other labels too. */
const TURNING = /[\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]+/g;
const CONTROLS_AND_SPACES = /[\s\p{Cc}\u2028\u2029]+/gu;

/** A label as it may stand beside other text: on one line, turning nothing round, and not too long. */
export function plainText(label: string, longest = LONGEST, isEnd = false): string {
  const room = UNITS_PER_CHARACTER * longest;
  const cut = isEnd ? label.slice(-room) : label.slice(0, room);
  const text = cut.replace(TURNING, "").replace(CONTROLS_AND_SPACES, " ").trim();
  if (text.length <= longest) return text;
  const graphemes = [...new Intl.Segmenter().segment(text)];
  if (graphemes.length <= longest) return text;
  const from = graphemes.length - longest + 1;
  if (isEnd) return `…${text.slice(graphemes[from].index).trimStart()}`;
  return `${text.slice(0, graphemes[longest - 1].index).trimEnd()}…`;
}

/** Common starts of at least two longer labels, by the length of the start. */
const starts = new WeakMap<readonly string[], Map<number, Set<string>>>();

function commonStarts(labels: readonly string[], length: number): Set<string> {
  const known = starts.get(labels) ?? new Map<number, Set<string>>();
  starts.set(labels, known);
  return once(known, length, () => {
    const [seen, found] = [new Set<string>(), new Set<string>()];
    for (const label of labels) {
      if (label.length <= length) continue;
      const start = label.slice(0, length);
      (seen.has(start) ? found : seen).add(start);
    }
    return found;
  });
}

/** One of some labels on one line, cut at its start where others that are cut start alike. */
export function cutLabel(labels: readonly string[], label: string, longest = LONGEST): string {
  const length = longest - 1;
  const isEnd = label.length > length && commonStarts(labels, length).has(label.slice(0, length));
  return plainText(label, longest, isEnd);
}

/** A label for messages and names: never empty, never endless. */
export function plainLabel({ labels, noun }: Atlas, object: number): string {
  return cutLabel(labels, labels[object]) || `${noun[0]} without a label`;
}

/** The first words of those that name a map. */
export function mapTitle(map: AtlasMap, most = 4): string {
  return (
    map.title
      .slice(0, most)
      .map((word) => plainText(word) || "an object without a label")
      .join(BETWEEN) || "no words"
  );
}

/** Shares as whole per cent with their rounded sum, as in `manymaps.labels.whole_percents`. */
export function wholePercents(shares: readonly number[]): number[] {
  const units = shares.map((share) => Math.round(100_000 * share));
  const sum = (values: number[]) => values.reduce((total, value) => total + value, 0);
  const found = units.map((unit) => Math.floor(unit / 1000));
  const rest = Math.round(sum(units) / 1000) - sum(found);
  const remainder = (k: number) => units[k] % 1000;
  const order = [...shares.keys()].sort((a, b) => remainder(b) - remainder(a));
  for (const k of order.slice(0, rest)) found[k] = found[k] + 1;
  return found;
}

export const whole = (count: number) => count.toLocaleString("en");

export const plural = (count: number, noun: string) =>
  noun + (count === 1 || /s$/.test(noun) ? "" : "s");

export const counted = (count: number, noun: string) => `${whole(count)} ${plural(count, noun)}`;

/** A count of an atlas's objects in its own noun: 1 image, 2,000 cells. */
export const countedObjects = ({ noun }: Atlas, count: number) =>
  `${whole(count)} ${noun[count === 1 ? 0 : 1]}`;

export const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

/** A share as per cent: "<1%" below 1 %, one decimal below 10 %. */
export function percent(share: number): string {
  const value = 100 * share;
  if (!(value > 0)) return "0%";
  if (value < 1) return "<1%";
  return `${value.toFixed(value >= 9.95 ? 0 : 1)}%`;
}

/** A whole per cent; "<1%" for 0. */
export const wholePercent = (value: number) => (value > 0 ? `${value}%` : "<1%");

/** A number of single precision. */
export const sevenDigits = (value: number) => Number(value.toPrecision(7));

/** The value of an object in a column, as text; "" where it has none. */
export function valueIn(column: Column, object: number): string {
  if (column.type === "category") return column.categories[column.codes[object]] ?? "";
  if (column.type !== "number") return column.values[object];
  const value = column.values[object];
  return Number.isNaN(value) ? "" : String(sevenDigits(value));
}
