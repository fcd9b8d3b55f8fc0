/** Labels, shares and counts in words, for sentences and for the names of things. */

import type { Atlas, AtlasMap } from "./atlas.ts";
import { elementAt } from "./elements.ts";

/** How many characters of a label stand in sentences, lists and tables. */
const LONGEST = 60;
/** Longer texts are cut before anything else looks at them. */
const UNITS_PER_CHARACTER = 15;
/** Marks that turn the direction of what follows, other labels too. */
const TURNING = /[\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]+/g;
const CONTROLS_AND_SPACES = /[\s\p{Cc}\u2028\u2029]+/gu;

/**
 * A label as it may stand beside other text, in a sentence, a name or a picture: on one line, turning
 * nothing round, and at most so many characters (as a reader counts them) long.
 */
export function plainText(label: string, longest = LONGEST): string {
  const cut = label.slice(0, UNITS_PER_CHARACTER * longest);
  const text = cut.replace(TURNING, "").replace(CONTROLS_AND_SPACES, " ").trim();
  if (text.length <= longest) return text;
  const graphemes = [...new Intl.Segmenter().segment(text)];
  if (graphemes.length <= longest) return text;
  return `${text.slice(0, elementAt(graphemes, longest - 1).index).trimEnd()}…`;
}

/** A label for messages and names: never empty, never endless. */
export function plainLabel(atlas: Atlas, object: number): string {
  return plain(elementAt(atlas.labels, object), `${atlas.noun[0]} without a label`);
}

function plain(label: string, nameless = "an object without a label"): string {
  return plainText(label) || nameless;
}

/** What stands between the words that name a map. */
export const BETWEEN = " · ";

/** The first words of those that name a map. */
export function mapTitle(map: AtlasMap, most = 4): string {
  return (
    map.title
      .slice(0, most)
      .map((word) => plain(word))
      .join(BETWEEN) || "no words"
  );
}

/** A share as per cent: "<1%" below 1 %, one decimal below 10 %; exact digits where they are asked for. */
export function percent(share: number, isExact = false): string {
  const value = 100 * share;
  if (!(value > 0)) return "0%";
  if (isExact && value < 0.995) {
    if (value < 1e-4) return "<0.0001%";
    return `${value < 0.01 ? value.toPrecision(1) : value.toFixed(2)}%`;
  }
  if (value < 1) return "<1%";
  return `${value.toFixed(value >= 9.95 ? 0 : 1)}%`;
}

/**
 * Shares of one whole as whole per cent whose sum is the rounded sum of the shares: the largest
 * remainders are rounded up.
 */
export function wholePercents(shares: readonly number[]): number[] {
  const whole = Math.round(shares.reduce((sum, share) => sum + 100 * share, 0));
  const found = shares.map((share) => Math.floor(100 * share));
  const rest = whole - found.reduce((sum, value) => sum + value, 0);
  const remainder = (k: number) => 100 * elementAt(shares, k) - elementAt(found, k);
  const order = [...shares.keys()].sort((a, b) => remainder(b) - remainder(a));
  for (const k of order.slice(0, rest)) found[k] = elementAt(found, k) + 1;
  return found;
}

/** A whole per cent; "<1%" for 0. */
export function wholePercent(value: number): string {
  return value > 0 ? `${value}%` : "<1%";
}

const NUMBERS = ["No", "One", "Two", "Three", "Four", "Five"];

/** A small count in words, with its noun: "One meaning", "Three maps". */
export function spelled(count: number, noun: string): string {
  return `${NUMBERS[count] ?? count} ${noun}${count === 1 ? "" : "s"}`;
}

/** A count with its noun: 1 map, 2,000 words. */
export function counted(count: number, noun: string): string {
  return `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;
}

/** A count of an atlas's objects in its own noun: 1 image, 2,000 cells. */
export function countedObjects({ noun }: Atlas, count: number, adjective = ""): string {
  return `${count.toLocaleString("en")} ${adjective}${noun[count === 1 ? 0 : 1]}`;
}

/** A text that begins a heading. */
export function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
