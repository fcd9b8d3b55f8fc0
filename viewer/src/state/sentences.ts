/** Sentences about words, for cards, headings, announcements and pictures. */
import { type Atlas, kindOf } from "../data/atlas.ts";
import type { Sense } from "../data/nearest.ts";
import type { Partner } from "../data/observed.ts";
import {
  BETWEEN,
  counted,
  countedObjects,
  plainLabel,
  plainText,
  plural,
  wholePercent,
} from "../data/words.ts";
import type { ShownSense } from "./lookups.ts";

const NUMBERS = "no one two three four five six seven eight nine".split(" ");
/** Words of a sense on its card, its name among them: fewer of each where there are more senses. */
const MOST_WORDS = [6, 6, 6, 5, 4, 3];
const MOST_NEIGHBORS = 3;

/** "with 66% of its associations", which the senses cover; "" if no associations are known. */
export function covered(senses: readonly ShownSense[]): string {
  const sum = senses.reduce((total, { percent }) => total + percent, 0);
  return senses.some(({ share }) => share !== null)
    ? `with ${wholePercent(sum)} of its associations`
    : "";
}

export function onMaps(count: number): string {
  const number = NUMBERS[count] ?? String(count);
  return `on ${number} ${plural(count, "map")}`;
}

/** "on three maps with 66% of its associations". */
export function summary(senses: readonly ShownSense[]): string {
  return [onMaps(senses.length), covered(senses)].filter(Boolean).join(" ");
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

/** "Associates that are not close on their map: money."; "" if there are none. */
export function notClose(atlas: Atlas, far: readonly Partner[]): string {
  const labels = far.map(({ object }) => plainLabel(atlas, object)).join(", ");
  return labels && `Associates that are not close on their map: ${labels}.`;
}

/** Where an atlas comes from, as far as it says: "Source: USF norms \u00b7 1998 \u00b7 Credit: Nelson". */
export function provenance({ source, date, credit }: Atlas): string {
  const parts = [source && `Source: ${source}`, date, credit && `Credit: ${credit}`];
  return parts.filter(Boolean).join(BETWEEN);
}

export function facts(atlas: Atlas): string {
  const { kinds, starts, nObjects, nMaps, method } = atlas;
  const countOf = (k: number) => starts[k + 1] - starts[k];
  const objects = kinds
    ? kinds.map((kind, k) => counted(countOf(k), kind)).join(", ")
    : countedObjects(atlas, nObjects);
  return `${objects} in ${counted(nMaps, "map")}${method && `, drawn by ${method}`}`;
}

/** The kind of an object and the number of maps on which it has a sense. */
export function whereabouts(atlas: Atlas, object: number, nSenses: number): string {
  const count = atlas.nMaps > 1 && counted(nSenses, "map");
  return [kindOf(atlas, object), count].filter(Boolean).join(", ");
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
    const near = named(senses[0]?.neighbors.slice(0, MOST_NEIGHBORS) ?? []);
    return near ? `${label}, near ${near}` : label;
  }
  const parts = senses.map(
    ({ map, name, percent }) => `${named(name)}, ${wholePercent(percent)} on map ${map}`,
  );
  const sentences = [`${label}: ${summary(senses)}`, parts.join("; "), notClose(atlas, far)];
  return sentences.filter(Boolean).join(". ");
}

export function noMatch({ noun }: Atlas, text: string): string {
  return `No ${noun[0]} matches “${plainText(text)}”`;
}
