/** Sentences about words, for cards, headings, announcements and pictures. */
import { type Atlas, kindOf, lives } from "../data/atlas.ts";
import { mapsOf } from "../data/entries.ts";
import type { Step } from "../data/paths.ts";
import type { Sense } from "../data/probabilities.ts";
import { counted, percent, plainLabel, plainText } from "../data/words.ts";
import type { Beside } from "./lookups.ts";

/** The neighbours of a sense, or that it has none. */
export function whatIsNear(atlas: Atlas, { neighbors, first }: Sense): string {
  if (neighbors.length > 0)
    return neighbors.map(({ object }) => plainLabel(atlas, object)).join(", ");
  return first === undefined
    ? "no neighbours here"
    : `${plainLabel(atlas, first)} is not close here`;
}

const MOST_SENSES = 3;
const MOST_NEIGHBORS = 3;
/** What is not listed is not worth a word below this. */
const LEAST_SAID = 0.005;

/** Where an atlas comes from, as far as it says: "Source: USF norms \u00b7 1998 \u00b7 Credit: Nelson". */
export function provenance({ source, date, credit }: Atlas): string {
  const parts = [source && `Source: ${source}`, date, credit && `Credit: ${credit}`];
  return parts.filter(Boolean).join(" \u00b7 ");
}

/** The kind of an object and in how many maps it lives. */
export function whereabouts(atlas: Atlas, object: number, threshold: number): string {
  const kind = kindOf(atlas, object);
  if (atlas.nMaps === 1) return kind ?? "";
  const homes = mapsOf(atlas, object).filter(({ weight }) => lives(weight, threshold));
  return [kind, counted(Math.max(homes.length, 1), "map")].filter(Boolean).join(", ");
}

/** The first senses of a word, each with a few of its neighbours, and what none of them shows. */
export function sensesInWords(
  atlas: Atlas,
  word: number,
  senses: readonly Sense[],
  unseen: readonly Beside[] = [],
): string {
  const parts = senses.slice(0, MOST_SENSES).map((sense) => {
    const names = sense.neighbors
      .slice(0, MOST_NEIGHBORS)
      .map(({ object }) => plainLabel(atlas, object));
    const near = names.join(", ");
    if (atlas.nMaps === 1) return `close to ${near}`;
    return `map ${sense.map}, ${shareInWords(sense)}${near && `, close to ${near}`}`;
  });
  const [first] = unseen;
  if (first) {
    const label = plainLabel(atlas, first.object);
    parts.push(`also observed, ${nearIn(first)}: ${label} ${beside(first)}`);
  }
  const where = atlas.nMaps === 1 ? "" : ` ${whereSensesLie(senses)}`;
  return `${plainLabel(atlas, word)}${where}: ${parts.join("; ")}`;
}

/** "dog to tie in 2 steps: cat in map 3, tie in map 5". */
export function pathInWords(atlas: Atlas, steps: readonly Step[]): string {
  const [first] = steps;
  if (first === undefined) return "No path found";
  const names = steps.map(({ to, map }) => `${plainLabel(atlas, to)} in map ${map}`);
  return `${counted(steps.length, "step")} from ${plainLabel(atlas, first.from)}: ${names.join(", ")}`;
}

/** "41% (model 0.9%)": what was observed, and the model beside it. */
export function beside({ share, model }: Pick<Beside, "share" | "model">): string {
  return `${percent(share)} (model ${percent(model)})`;
}

/** "not close in any map", "close in map 3, 5": the maps in which an associate is close to the word. */
export function nearIn({ maps }: Beside): string {
  return maps.length > 0 ? `close in map ${maps.join(", ")}` : "not close in any map";
}

/** What a word has of a sense: its map weight, and its observed share. */
function shareInWords({ share, weight }: Sense): string {
  return share === null ? percent(weight) : `${observed(share)}, model ${percent(weight)}`;
}

/** "54% observed"; "not observed" for a map whose words were observed in other senses only. */
export function observed(share: number): string {
  return share > 0 ? `${percent(share)} observed` : "not observed";
}

/** "has 4 meanings in 3 maps", without those not observed; "appears in 3 maps" where no data are known. */
export function whereSensesLie(senses: readonly Sense[]): string {
  const found = senses.filter(({ share }) => share !== 0);
  const maps = counted(new Set(found.map(({ map }) => map)).size, "map");
  if (found[0]?.share === null) return `appears in ${maps}`;
  return `has ${counted(found.length, "meaning")} in ${maps}`;
}

/** Nothing has a name like a text that was typed. */
export function noMatch({ noun }: Atlas, text: string): string {
  return `No ${noun[0]} matches “${plainText(text)}”`;
}

/** "5 further maps: 7% in the model" of a word's weight; "" where that is next to nothing. */
export function furtherMaps(atlas: Atlas, word: number, senses: readonly Sense[]): string {
  const listed = new Map(senses.map(({ map, weight }) => [map, weight]));
  const rest = 1 - [...listed.values()].reduce((sum, weight) => sum + weight, 0);
  const others = mapsOf(atlas, word).filter(({ map }) => !listed.has(map));
  if (others.length === 0 || rest < LEAST_SAID) return "";
  return `${counted(others.length, "further map")}: ${percent(rest)} in the model`;
}
