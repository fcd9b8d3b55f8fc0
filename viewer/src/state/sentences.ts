/** What the page says of words: beside those found, and to those who hear it. */
import { type Atlas, kindOf, lives } from "../data/atlas.ts";
import { mapsOf } from "../data/entries.ts";
import type { Sense } from "../data/probabilities.ts";
import { counted, percent, plainLabel } from "../data/words.ts";

const MOST_SENSES = 3;
const MOST_NEIGHBORS = 3;

/** The kind of an object and in how many maps it lives. */
export function whereabouts(atlas: Atlas, object: number, threshold: number): string {
  const kind = kindOf(atlas, object);
  if (atlas.nMaps === 1) return kind ?? "";
  const homes = mapsOf(atlas, object).filter(({ proportion }) => lives(proportion, threshold));
  return [kind, counted(Math.max(homes.length, 1), "map")].filter(Boolean).join(", ");
}

/** The first senses of a word, each with a few of its neighbours. */
export function sensesInWords(atlas: Atlas, word: number, senses: readonly Sense[]): string {
  const parts = senses.slice(0, MOST_SENSES).map(({ map, share, neighbors }) => {
    const names = neighbors.slice(0, MOST_NEIGHBORS).map(({ object }) => plainLabel(atlas, object));
    const near = names.join(", ");
    return `map ${map}, ${percent(share)}${near && `, near ${near}`}`;
  });
  const name = plainLabel(atlas, word);
  return `${name} ${whereSensesLie(senses)}: ${parts.join("; ")}`;
}

/** "lives in 3 maps", or "has 4 senses in 3 maps" where one holds several. */
export function whereSensesLie(senses: readonly Sense[]): string {
  const maps = counted(new Set(senses.map(({ map }) => map)).size, "map");
  const isOneEach = new Set(senses.map(({ map }) => map)).size === senses.length;
  return isOneEach ? `lives in ${maps}` : `has ${counted(senses.length, "sense")} in ${maps}`;
}
