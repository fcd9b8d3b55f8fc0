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

/** A share as per cent: two digits that tell; "less than" where it is next to nothing, and exact even there. */
export function percent(share: number, isExact = false): string {
  const value = 100 * share;
  if (value <= 0) return "0%";
  const least = isExact ? 0.0001 : 0.01;
  if (value < least) return `<${least}%`;
  if (value < 0.01) return `${value.toPrecision(1)}%`;
  if (value >= 9.95) return `${Math.round(value)}%`;
  return `${value.toFixed(value < 0.995 ? 2 : 1)}%`;
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
