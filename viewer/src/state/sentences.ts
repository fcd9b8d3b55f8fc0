/** Sentences about words, for cards, headings, announcements and pictures. */
import { type Atlas, kindOf, lives } from "../data/atlas.ts";
import { elementAt } from "../data/elements.ts";
import { mapsOf } from "../data/entries.ts";
import type { Sense } from "../data/nearest.ts";
import type { Partner } from "../data/observed.ts";
import { plainLabel, plainText } from "../data/words.ts";
import * as texts from "../texts.ts";
import type { ShownSense } from "./lookups.ts";

/** Words of a sense on its card, its name among them: fewer of each where there are more senses. */
const MOST_WORDS = [6, 6, 6, 5, 4, 3];
/** Not every neighbour is spoken. */
const MOST_NEIGHBORS = 3;

/** "Three senses. They cover 66% of its associations."; "On three maps." where none are known. */
export function summary(senses: readonly ShownSense[]): string {
  const [first] = senses;
  if (!first) return texts.NO_SENSES;
  if (first.share === null) return texts.onMaps(senses.length);
  const covered = senses.reduce((sum, { percent }) => sum + percent, 0);
  return texts.senses(senses.length, texts.wholePercent(covered));
}

/** The name of a sense, and further words that are close on its map. */
export function wordsOf(
  atlas: Atlas,
  { name, neighbors }: Sense,
  nSenses: number,
): { name: string; others: string } {
  const most = (MOST_WORDS[nSenses] ?? 3) - name.length;
  const labels = (objects: number[]) => objects.map((at) => plainLabel(atlas, at)).join(", ");
  const others = neighbors.filter((object) => !name.includes(object));
  return { name: labels(name), others: labels(others.slice(0, most)) };
}

/** "Strong associates that no card shows: money."; "" where there are none. */
export function notShown(atlas: Atlas, far: readonly Partner[]): string {
  const labels = far.map(({ object }) => plainLabel(atlas, object)).join(", ");
  return labels && texts.notShown(labels);
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

/** A word in a sentence: its senses with their names, or its neighbours on the only map. */
export function sensesInWords(
  atlas: Atlas,
  word: number,
  senses: readonly ShownSense[],
  far: readonly Partner[] = [],
): string {
  const label = plainLabel(atlas, word);
  const named = (objects: number[]) => objects.map((at) => plainLabel(atlas, at)).join(", ");
  if (atlas.nMaps === 1) {
    return texts.near(label, named(senses[0]?.neighbors.slice(0, MOST_NEIGHBORS) ?? []));
  }
  const parts = senses.map(({ map, name, percent }) =>
    texts.senseOnMap(named(name), texts.wholePercent(percent), map),
  );
  return texts.wordInWords(label, summary(senses), parts.join("; "), notShown(atlas, far));
}

/** Nothing has a name like a text that was typed. */
export function noMatch({ noun }: Atlas, text: string): string {
  return texts.noMatch(noun[0], plainText(text));
}
