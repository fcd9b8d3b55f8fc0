/** Finding texts as people type them: any case, without accents, by any part, and misspelled.
 *
 *     the whole text, its beginning, the beginning of a later word, anywhere else;
 *     then the shorter text, the higher rank, the alphabet
 */

import UFuzzy from "@leeoniya/ufuzzy";

/** A text that was found, and where in it (UTF-16) the match is. */
export interface Hit {
  object: number;
  start: number;
  end: number;
}

// Marks that any script may take, and Hebrew points; vowels that are letters of their script stay.
const MARKS = /\p{Script=Inherited}|[\u0591-\u05bd]/gu;
/** Letters that Unicode does not take apart, with what is typed for them. */
const UNDECOMPOSED = "ßss æae œoe øo łl đd ħh ıi ςσ";
const TYPED = new Map(UNDECOMPOSED.split(" ").map((pair) => [pair[0], pair.slice(1)]));
const NOT_ASCII = /[^\0-\x7f]/;

/** A text without case and accents; each character folds by itself. */
export function fold(text: string): string {
  if (!NOT_ASCII.test(text)) return text.toLowerCase();
  return text
    .toLowerCase()
    .normalize("NFKD")
    .replace(MARKS, "")
    .toLowerCase()
    .replace(/[ßæœøłđħıς]/g, (letter) => TYPED.get(letter) ?? letter);
}

/** One slip per word: a letter too many, too few, another one, or two exchanged; whole words only. */
const SLIPS = new UFuzzy({
  ...{ unicode: true, interSplit: "[^\\p{L}\\d]+", interBound: "[^\\p{L}\\d]" },
  ...{ intraSplit: null, intraChars: "[\\p{L}\\d]", interLft: 1, interRgt: 1 },
  ...{ intraMode: 1, intraIns: 1, intraSub: 1, intraTrn: 1, intraDel: 1 },
});
/** Shorter queries are close to too much. */
const SHORTEST_MISSPELLED = 3;

interface Candidate {
  object: number;
  text: string;
  at: number;
}

/** Texts, ready to be searched; made so when they are searched for the first time. */
export class SearchIndex {
  #folded: string[] | null = null;

  /** `rank` is the importance of each object, the larger first among texts of one length. */
  constructor(
    private texts: readonly string[],
    private rank: ArrayLike<number> = [],
  ) {}

  get #ready(): string[] {
    this.#folded ??= fold(this.texts.map(onOneLine).join("\n")).split("\n");
    return this.#folded;
  }

  /** The first text that is the query; null without any. */
  whole(query: string): number | null {
    const found = this.#ready.indexOf(fold(onOneLine(query)).trim());
    return found >= 0 ? found : null;
  }

  /** The best `count` hits. An empty query finds nothing, and an empty text is never found. */
  find(query: string, count: number): Hit[] {
    const wanted = fold(onOneLine(query)).trim();
    if (!wanted) return [];
    const isWord = new RegExp(`(?<![\\p{L}\\p{N}\\p{M}])${escaped(wanted)}`, "u");
    const groups: Candidate[][] = [[], [], [], []];
    this.#ready.forEach((text, object) => {
      const at = text.indexOf(wanted);
      if (at < 0) return;
      if (at === 0) groups[text.length === wanted.length ? 0 : 1].push({ object, text, at });
      else {
        const word = text.search(isWord);
        groups[word < 0 ? 3 : 2].push({ object, text, at: word < 0 ? at : word });
      }
    });
    const found: Candidate[] = [];
    for (const group of groups) {
      if (found.length < count) found.push(...group.sort(this.#compare));
    }
    return found.slice(0, count).map(({ object, text, at }) => {
      // Where folding changes the length of a text, no part of it is marked.
      const isMarked = text.length === this.texts[object].length;
      return { object, start: isMarked ? at : 0, end: isMarked ? at + wanted.length : 0 };
    });
  }

  /** Texts with a word that is a slip from the query, the best `count`. */
  close(query: string, count: number): number[] {
    const wanted = fold(onOneLine(query)).trim();
    if (wanted.length < SHORTEST_MISSPELLED) return [];
    const [found, info, order] = SLIPS.search(this.#ready, wanted);
    if (!info) return (found ?? []).slice(0, count);
    const candidates = order.map((k): Candidate => {
      const object = info.idx[k];
      return { object, text: this.#ready[object], at: 0 };
    });
    return candidates
      .sort(this.#compare)
      .slice(0, count)
      .map(({ object }) => object);
  }

  #compare = (a: Candidate, b: Candidate): number =>
    a.text.length - b.text.length ||
    (this.rank[b.object] ?? 0) - (this.rank[a.object] ?? 0) ||
    (a.text < b.text ? -1 : a.text > b.text ? 1 : a.object - b.object);
}

function onOneLine(text: string): string {
  return text.replaceAll("\n", " ");
}

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");
}
