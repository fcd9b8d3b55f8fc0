/**
 * Finding texts as people type them: any case, without accents, by any part, and misspelled.
 *
 * A text is found where it holds the query, both folded. Hits come in the order
 *
 *     the whole text, its beginning, the beginning of a later word, anywhere else;
 *     then the shorter text, the higher rank, the alphabet
 *
 * Close to a query are texts with a word that takes few slips to become it (`spelling.ts`).
 */

import { slipsBetween } from "./spelling.ts";

/** A text that was found, and where in it (UTF-16) the match stands. */
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
  /** The folded text. */
  text: string;
  where: number;
  at: number;
}

/** Where a folded text holds what is wanted, the best first. */
enum Where {
  whole = 0,
  beginning = 1,
  word = 2,
  inside = 3,
}

/** Folded texts end to end, which are searched much faster than one by one. */
interface Folded {
  all: string;
  /** Where each text starts, and at the end where one more would. */
  starts: Uint32Array;
}

/** Shorter queries are close to too much. */
const SHORTEST_MISSPELLED = 3;
const LONG = 6;

/** Texts, ready to be searched; made so when they are searched for the first time. */
export class SearchIndex {
  readonly #texts: readonly string[];
  readonly #rankOf: () => ArrayLike<number> | null;
  #rank: ArrayLike<number> | null = null;
  #folded: Folded | null = null;

  /** `rankOf` gives the importance of each object, the larger first among texts of one length. */
  constructor(texts: readonly string[], rankOf: () => ArrayLike<number> | null = () => null) {
    this.#texts = texts;
    this.#rankOf = rankOf;
  }

  /** The best `count` hits. An empty query finds nothing, and an empty text is never found. */
  find(query: string, count: number): Hit[] {
    const wanted = folded(query).trim();
    if (!wanted || count < 1) return [];
    const { all, starts } = this.#ready;
    const best: Candidate[] = [];
    let object = 0;
    for (let at = all.indexOf(wanted); at >= 0; at = all.indexOf(wanted, starts[object])) {
      while (starts[object + 1] <= at) object++;
      const start = starts[object];
      const end = starts[object + 1] - 1;
      const last = best.length < count ? undefined : best[best.length - 1];
      // Most are told from the last hit without a look at more than where and how long they are.
      const isLater =
        last !== undefined &&
        last.where <= Where.beginning &&
        all.charCodeAt(start) > BLANK &&
        (at > start || end - start > last.text.length);
      if (!isLater) {
        const candidate = placed(object, all.slice(start, end), wanted, at - start);
        if (last === undefined || this.#compare(candidate, last) < 0) {
          this.#insert(best, candidate);
          if (best.length > count) best.pop();
        }
      }
      object++;
    }
    return best.map(({ object, at }) => this.#hit(object, at, at + wanted.length));
  }

  /** Texts with a word that is a slip or two from the query, those of fewest slips first. */
  close(query: string, count: number): number[] {
    const wanted = folded(query).trim();
    if (wanted.length < SHORTEST_MISSPELLED) return [];
    const most = wanted.length < LONG ? 1 : 2;
    const isPhrase = Array.from(wanted, (_, k) => wanted.charCodeAt(k)).some(isBreak);
    const { all, starts } = this.#ready;
    const found: { object: number; slips: number }[] = [];
    for (let object = 0; object < starts.length - 1; object++) {
      const end = starts[object + 1] - 1;
      let least = most + 1;
      let from = starts[object];
      for (let at = from; at <= end; at++) {
        if (at < end && (isPhrase || !isBreak(all.charCodeAt(at)))) continue;
        if (Math.abs(at - from - wanted.length) <= most) {
          least = Math.min(least, slipsBetween(wanted, all, from, at, most));
        }
        from = at + 1;
      }
      if (least > 0 && least <= most) found.push({ object, slips: least });
    }
    const text = (object: number) => all.slice(starts[object], starts[object + 1] - 1);
    const begins = (object: number) => (text(object)[0] === wanted[0] ? 0 : 1);
    const rank = this.#rank;
    found.sort(
      (a, b) =>
        a.slips - b.slips ||
        begins(a.object) - begins(b.object) ||
        text(a.object).length - text(b.object).length ||
        (rank ? rank[b.object] - rank[a.object] : 0) ||
        a.object - b.object,
    );
    return found.slice(0, count).map(({ object }) => object);
  }

  get #ready(): Folded {
    if (this.#folded === null) {
      const all = fold(this.#texts.map(onOneLine).join("\n"));
      const starts = new Uint32Array(this.#texts.length + 1);
      for (let k = 1; k < starts.length; k++) {
        const end = all.indexOf("\n", starts[k - 1]);
        starts[k] = (end < 0 ? all.length : end) + 1;
      }
      this.#folded = { all, starts };
      this.#rank = this.#rankOf();
    }
    return this.#folded;
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
      (rank ? rank[b.object] - rank[a.object] : 0) ||
      (a.text < b.text ? -1 : a.text > b.text ? 1 : a.object - b.object)
    );
  }

  /** From places in the folded text to places in the label itself. */
  #hit(object: number, from: number, to: number): Hit {
    const label = this.#texts[object];
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

const BLANK = 32;

function onOneLine(text: string): string {
  return text.includes("\n") ? text.replaceAll("\n", " ") : text;
}

/** A query as the texts are folded. */
function folded(query: string): string {
  return fold(onOneLine(query));
}

/** Whether a character of a folded text parts words: what is neither letter nor digit in ASCII. */
function isBreak(code: number): boolean {
  return code < 128 && !((code > 47 && code < 58) || (code > 96 && code < 123));
}
