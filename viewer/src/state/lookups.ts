/** Senses and associations of words; kept, because every drawing needs them again. */
import { type Atlas, lives } from "../data/atlas.ts";
import { mapsOf } from "../data/entries.ts";
import { once } from "../data/memory.ts";
import { type Sense, SenseFinder } from "../data/nearest.ts";
import { type Partner, recalledBy, whoRecalls } from "../data/observed.ts";
import type { Filtering } from "./filtering.ts";
import type { Store } from "./store.ts";

const NEIGHBORS = 8;
/** Among so many neighbours those are looked for that filters let pass. */
const MOST_ASKED = 400;
const MOST_REMEMBERED = 64;
/** Many words evoke a frequent word. */
const RECALLING = 8;
/** As many meanings as a screen holds have a card. */
const MOST_MEANINGS = 5;
/** Associates that are not close on any map are named down to this share, and the strongest always. */
const LEAST_NAMED = 0.05;
const MOST_NAMED = 3;

/** A meaning, and which of the meanings with a card it is; null without a card. */
export interface Meaning extends Sense {
  rank: number | null;
}

/** The meanings of a word that one map shows, the largest share first. */
export interface Card {
  map: number;
  meanings: Meaning[];
}

export class Lookups {
  private finder: SenseFinder;
  private remembered = new Map<string, unknown>();
  private passed: Uint8Array | null = null;

  constructor(
    private atlas: Atlas,
    private store: Store,
    private filtering: Filtering,
  ) {
    this.finder = new SenseFinder(atlas);
  }

  /**
   * The senses of a word, of maps those at the present threshold. A meaning has a card where at
   * least one of its members is close on its map.
   */
  sensesOf(word: number): Meaning[] {
    const { threshold: minWeight, neighborKind } = this.store.state;
    return this.once(`senses ${word} ${minWeight} ${neighborKind}`, () => {
      const nNeighbors = this.filtering.passed ? MOST_ASKED : NEIGHBORS;
      const sameKind = this.isOwnKind(word);
      const found = this.finder.senses(word, { nNeighbors, minWeight, sameKind });
      let next = 0;
      return found.map((sense) => {
        const near = sense.neighbors.filter((object) => this.filtering.passes(object));
        const hasCard =
          next < MOST_MEANINGS && (sense.neighbors.length > 0 || sense.share === null);
        return { ...sense, neighbors: near.slice(0, NEIGHBORS), rank: hasCard ? next++ : null };
      });
    });
  }

  /** A card for each map that shows meanings of a word, in the order of their largest shares. */
  cardsOf(word: number): Card[] {
    const cards = new Map<number, Card>();
    for (const meaning of this.sensesOf(word)) {
      if (meaning.rank === null) continue;
      const { map } = meaning;
      const card = cards.get(map) ?? { map, meanings: [] };
      cards.set(map, card);
      card.meanings.push(meaning);
    }
    return [...cards.values()];
  }

  /** The maps in which an object reaches the threshold, those of most weight first. */
  mapsOf(object: number): number[] {
    const { threshold } = this.store.state;
    const found = mapsOf(this.atlas, object).filter(({ weight }) => lives(weight, threshold));
    return found.map(({ map }) => map);
  }

  sensesIn(word: number, map: number): Meaning[] {
    return this.sensesOf(word).filter((sense) => sense.map === map);
  }

  /** The observed associates of an object, the strongest first. */
  recalledBy(object: number): Partner[] {
    const { observed } = this.atlas;
    if (observed === null) return [];
    return this.once(`associates ${object}`, () => recalledBy(observed, object));
  }

  /** The objects that were observed to evoke an object, the strongest first. */
  whoRecalls(object: number): Partner[] {
    const { observed } = this.atlas;
    if (observed === null) return [];
    return this.once(`recalling ${object}`, () => whoRecalls(observed, object).slice(0, RECALLING));
  }

  /** The strongest associates of a word that are not close to it on any map. */
  farFrom(word: number): Partner[] {
    const strong = this.recalledBy(word).filter(({ share }, k) => k === 0 || share >= LEAST_NAMED);
    const far = strong.filter(({ maps, object }) => !maps.length && this.filtering.passes(object));
    return far.slice(0, MOST_NAMED);
  }

  private isOwnKind(object: number): boolean {
    return object < this.atlas.nRows === (this.store.state.neighborKind === 0);
  }

  private once<T>(key: string, compute: () => T): T {
    const { passed } = this.filtering;
    if (passed !== this.passed) {
      this.passed = passed;
      this.remembered.clear();
    }
    if (this.remembered.size >= MOST_REMEMBERED) this.remembered.clear();
    return once(this.remembered, key, compute) as T;
  }
}
