/**
 * Finding labels as people type them: any case, without accents, by any part.
 *
 * A label is found where its folded text holds the folded query. Hits come in the order
 *
 *     the whole label, its beginning, the beginning of a later word, anywhere else;
 *     then the shorter label, the higher rank, the alphabet
 */

import { elementAt } from "../data/elements.ts";

/** A label that was found, and where in it (UTF-16) the match stands. */
export interface Hit {
  object: number;
  start: number;
  end: number;
}

// Marks that any script may take (diacritics, Arabic vowel signs) and Hebrew points. Marks that are
// letters of their script, such as the vowels of Devanagari, stay.
const MARKS = /\p{Script=Inherited}|[\u0591-\u05bd]/gu;
const UNDECOMPOSED: Record<string, string> = {
  ß: "ss",
  æ: "ae",
  œ: "oe",
  ø: "o",
  ł: "l",
  đ: "d",
  ħ: "h",
  ı: "i",
  ς: "σ",
};
const SPECIAL = new RegExp(`[${Object.keys(UNDECOMPOSED).join("")}]`, "g");
const NOT_ASCII = /[^\0-\x7f]/;
const WORD = /[\p{L}\p{N}\p{M}]/u;

/** A text without case and accents; each character folds by itself. */
export function fold(text: string): string {
  if (!NOT_ASCII.test(text)) return text.toLowerCase();
  return text
    .toLowerCase()
    .normalize("NFKD")
    .replace(MARKS, "")
    .toLowerCase()
    .replace(SPECIAL, (character) => UNDECOMPOSED[character] ?? character);
}

interface Candidate {
  object: number;
  /** The folded label. */
  text: string;
  where: Where;
  at: number;
}

enum Where {
  whole = 0,
  beginning = 1,
  word = 2,
  inside = 3,
}

/** Labels, ready to be searched. */
export class SearchIndex {
  readonly #labels: string[];
  readonly #folded: string[];
  readonly #rank: ArrayLike<number> | null;
  /** The first object of each folded label, once it is asked for. */
  #places: Map<string, number> | null = null;

  /** `rank` is the importance of each object, the larger first among labels of one length. */
  constructor(labels: string[], rank: ArrayLike<number> | null = null) {
    this.#labels = labels;
    this.#folded = labels.map(fold);
    this.#rank = rank;
  }

  /** The best `count` hits. An empty query finds nothing, and an empty label is never found. */
  find(query: string, count: number): Hit[] {
    const wanted = fold(query).trim();
    if (!wanted || count < 1) return [];
    const best: Candidate[] = [];
    let object = -1;
    for (const text of this.#folded) {
      object++;
      const first = text.indexOf(wanted);
      if (first < 0) continue;
      const candidate = placed(object, text, wanted, first);
      const last = best[best.length - 1];
      if (last === undefined || best.length < count || this.#compare(candidate, last) < 0) {
        this.#insert(best, candidate);
        if (best.length > count) best.pop();
      }
    }
    return best.map(({ object, at }) => this.#hit(object, at, at + wanted.length));
  }

  /** The object of a label: exactly this, else the first without case and accents; null without any. */
  named(label: string): number | null {
    const wanted = fold(label).trim();
    if (!wanted) return null;
    const exact = this.#labels.indexOf(label);
    if (exact >= 0) return exact;
    this.#places ??= new Map(
      this.#folded.map((text, object) => [text.trim(), object] as const).reverse(),
    );
    return this.#places.get(wanted) ?? null;
  }

  #insert(best: Candidate[], candidate: Candidate): void {
    const next = best.findIndex((other) => this.#compare(candidate, other) < 0);
    best.splice(next < 0 ? best.length : next, 0, candidate);
  }

  #compare(a: Candidate, b: Candidate): number {
    const rank = this.#rank;
    return (
      a.where - b.where ||
      a.text.length - b.text.length ||
      (rank ? elementAt(rank, b.object) - elementAt(rank, a.object) : 0) ||
      (a.text < b.text ? -1 : a.text > b.text ? 1 : a.object - b.object)
    );
  }

  /** From places in the folded text to places in the label itself. */
  #hit(object: number, from: number, to: number): Hit {
    const label = elementAt(this.#labels, object);
    if (!NOT_ASCII.test(label)) return { object, start: from, end: to };
    let [start, end, position, length] = [0, label.length, 0, 0];
    for (const character of label) {
      const folded = fold(character).length;
      if (length <= from && folded > 0) start = position;
      // Marks after the match belong to its last letter.
      if (length >= to && folded > 0) {
        end = position;
        break;
      }
      length += folded;
      position += character.length;
    }
    return { object, start, end };
  }
}

/** Where a folded label holds what is wanted: at the beginning of a word rather than where it is first. */
function placed(object: number, text: string, wanted: string, first: number): Candidate {
  if (first === 0 || text.slice(0, first).trim() === "") {
    const whole = text.slice(first + wanted.length).trim() === "";
    return { object, text, where: whole ? Where.whole : Where.beginning, at: first };
  }
  for (let at = first; at >= 0; at = text.indexOf(wanted, at + 1)) {
    if (beginsWord(text, at)) return { object, text, where: Where.word, at };
  }
  return { object, text, where: Where.inside, at: first };
}

function beginsWord(text: string, at: number): boolean {
  const before = text.codePointAt(at - 1) as number;
  const isLow = before >= 0xdc00 && before <= 0xdfff && at > 1;
  return !WORD.test(String.fromCodePoint(isLow ? (text.codePointAt(at - 2) as number) : before));
}
