/** Sentences about words, for cards, headings, announcements and pictures. */
import { type Atlas, kindOf, lives } from "../data/atlas.ts";
import { elementAt } from "../data/elements.ts";
import { mapsOf } from "../data/entries.ts";
import type { Sense } from "../data/nearest.ts";
import type { Partner } from "../data/observed.ts";
import { plainLabel, plainText, wholePercents } from "../data/words.ts";
import * as texts from "../texts.ts";
import type { Meaning } from "./lookups.ts";

/** Words of a meaning on its card, its name among them: fewer of each where there are more meanings. */
const MOST_WORDS = [6, 6, 6, 5, 4, 3];
/** Not every neighbour is spoken. */
const MOST_NEIGHBORS = 3;
/** Smaller remaining shares are not mentioned. */
const LEAST_SAID = 0.005;

/** The meanings with a card, in the order of their shares. */
export function shownOf(senses: readonly Meaning[]): Meaning[] {
  return senses.filter(({ rank }) => rank !== null);
}

/** The percentage of each meaning with a card: its share in the data, or its map weight. */
export function numbersOf(senses: readonly Meaning[]): number[] {
  return wholePercents(shownOf(senses).map(({ share, weight }) => share ?? weight));
}

/** "Three meanings. They cover 66% of its associations."; "On three maps." where none are known. */
export function summary(senses: readonly Meaning[]): string {
  const shown = shownOf(senses);
  const { length } = shown;
  if (senses[0]?.share === null) return texts.onMaps(length);
  if (length === 0) return texts.NO_MEANINGS;
  const covered = texts.wholePercent(numbersOf(senses).reduce((sum, value) => sum + value, 0));
  return texts.meanings(length, covered);
}

/** The name of a meaning, and further words that are close on its map. */
export function wordsOf(
  atlas: Atlas,
  { name, neighbors }: Sense,
  nMeanings: number,
): { name: string; others: string } {
  const most = (MOST_WORDS[nMeanings] ?? 3) - name.length;
  const labels = (objects: number[]) => objects.map((at) => plainLabel(atlas, at)).join(", ");
  const others = neighbors.filter((object) => !name.includes(object));
  return { name: labels(name), others: labels(others.slice(0, most)) };
}

/** "Not close on any map: money."; "" where all strong associates are close somewhere. */
export function notClose(atlas: Atlas, far: readonly Partner[]): string {
  const labels = far.map(({ object }) => plainLabel(atlas, object)).join(", ");
  return labels && texts.notClose(atlas.nMaps === 1, labels);
}

/** Where an atlas comes from, as far as it says: "Source: USF norms \u00b7 1998 \u00b7 Credit: Nelson". */
export function provenance({ source, date, credit }: Atlas): string {
  const parts = [source && texts.sourceOf(source), date, credit && texts.creditOf(credit)];
  return parts.filter(Boolean).join(texts.BETWEEN);
}

/** The contents of an atlas, in a line. */
export function facts(atlas: Atlas): string {
  const { kinds, starts, nObjects, nMaps, method } = atlas;
  const countOf = (k: number) => elementAt(starts, k + 1) - elementAt(starts, k);
  const objects = kinds
    ? kinds.map((kind, k) => texts.counted(countOf(k), kind)).join(", ")
    : texts.countedObjects(atlas, nObjects);
  return texts.facts(objects, nMaps, method);
}

/** The kind of an object and in how many maps it lives. */
export function whereabouts(atlas: Atlas, object: number, threshold: number): string {
  const kind = kindOf(atlas, object);
  if (atlas.nMaps === 1) return kind ?? "";
  const homes = mapsOf(atlas, object).filter(({ weight }) => lives(weight, threshold));
  return [kind, texts.counted(Math.max(homes.length, 1), "map")].filter(Boolean).join(", ");
}

/** A word in a sentence: its meanings with their names, or its neighbours on the only map. */
export function sensesInWords(
  atlas: Atlas,
  word: number,
  senses: readonly Meaning[],
  far: readonly Partner[] = [],
): string {
  const label = plainLabel(atlas, word);
  const numbers = numbersOf(senses);
  const parts = shownOf(senses).map(({ map, name, neighbors }, k) => {
    const near = neighbors.slice(0, MOST_NEIGHBORS);
    const words = (atlas.nMaps === 1 ? near : name).map((object) => plainLabel(atlas, object));
    const named = words.join(", ");
    const share = texts.wholePercent(elementAt(numbers, k));
    return atlas.nMaps === 1 ? named : texts.meaningOnMap(named, share, map);
  });
  if (atlas.nMaps === 1) return texts.near(label, parts.join("; "));
  return texts.wordInWords(label, summary(senses), parts.join("; "), notClose(atlas, far));
}

/** Nothing has a name like a text that was typed. */
export function noMatch({ noun }: Atlas, text: string): string {
  return texts.noMatch(noun[0], plainText(text));
}

/** "5 further maps: 7% of the map weight" of a word; "" where that is next to nothing. */
export function furtherMaps(atlas: Atlas, word: number, senses: readonly Sense[]): string {
  const listed = new Map(senses.map(({ map, weight }) => [map, weight]));
  const rest = 1 - [...listed.values()].reduce((sum, weight) => sum + weight, 0);
  const others = mapsOf(atlas, word).filter(({ map }) => !listed.has(map));
  if (others.length === 0 || rest < LEAST_SAID) return "";
  return texts.furtherMaps(others.length, texts.percent(rest));
}
