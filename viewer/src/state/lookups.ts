/** What is looked up of words: senses, associations; remembered, as every drawing asks for it again. */
import type { Atlas } from "../data/atlas.ts";
import { inContext } from "../data/context.ts";
import { once } from "../data/memory.ts";
import { type Partner, recalledBy, whoRecalls } from "../data/observed.ts";
import { type Neighbor, Probabilities, type Sense } from "../data/probabilities.ts";
import type { Filtering } from "./filtering.ts";
import type { Store } from "./store.ts";

const NEIGHBORS = 8;
/** Among so many neighbours those are looked for that filters let pass. */
const MOST_ASKED = 400;
const ASSOCIATIONS = 10;
const MOST_REMEMBERED = 64;
/** Of frequent words many others are reminded, and each costs a sum over its maps. */
const RECALLING = 8;
/** As many meanings as a screen holds have a card. */
const MOST_MEANINGS = 5;
/** Associates that are not close on any map are named down to this share, and the strongest always. */
const LEAST_NAMED = 0.05;
const MOST_NAMED = 3;

/** A partner of an object in the data, and its share in the model; NaN was not observed. */
export interface Beside extends Partner {
  model: number;
}

/** A meaning, and which of the meanings with a card it is; null without a card. */
export interface Meaning extends Sense {
  rank: number | null;
}

/** The meaning of a word that its context points to. */
export interface Meant {
  meaning: Meaning;
  probability: number;
}

/** The meanings of a word that one map shows, the largest share first. */
export interface Card {
  map: number;
  meanings: Meaning[];
}

export class Lookups {
  readonly probabilities: Probabilities;
  private remembered = new Map<string, unknown>();
  private passed: Uint8Array | null = null;

  constructor(
    private atlas: Atlas,
    private store: Store,
    private filtering: Filtering,
  ) {
    this.probabilities = new Probabilities(atlas);
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
      const found = this.probabilities.senses(word, { nNeighbors, minWeight, sameKind });
      let next = 0;
      return found.map((sense) => {
        const near = sense.neighbors.filter(({ object }) => this.filtering.passes(object));
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

  sensesIn(word: number, map: number): Meaning[] {
    return this.sensesOf(word).filter((sense) => sense.map === map);
  }

  /** What an object recalls in the model, the most first. */
  associatesOf(object: number): Neighbor[] {
    return this.once(`model ${object}`, () => this.probabilities.associates(object, ASSOCIATIONS));
  }

  /** What the only map places nearest to an object, with the shares of all that is there. */
  nearestTo(object: number): Neighbor[] {
    return this.once(`nearest ${object} ${this.store.state.neighborKind}`, () =>
      this.probabilities.nearest(object, 0, ASSOCIATIONS, this.isOwnKind(object)),
    );
  }

  /** What an object was observed to recall, the most first. */
  recalledBy(object: number): Beside[] {
    const { observed } = this.atlas;
    if (observed === null) return [];
    return this.once(`associates ${object}`, () =>
      recalledBy(observed, object).map((partner) => ({
        ...partner,
        model: this.probabilities.probability(object, partner.object),
      })),
    );
  }

  /** What the model says that an object recalls and was not observed, the most first. */
  recalledInModel(object: number): Beside[] {
    const known = new Set(this.recalledBy(object).map((partner) => partner.object));
    return this.associatesOf(object)
      .filter((other) => !known.has(other.object))
      .map(({ object, share }) => ({ object, share: Number.NaN, maps: [], model: share }));
  }

  /** Who was observed to recall an object, the most first. */
  whoRecalls(object: number): Beside[] {
    const { observed } = this.atlas;
    if (observed === null) return [];
    return this.once(`recalling ${object}`, () =>
      whoRecalls(observed, object)
        .slice(0, RECALLING)
        .map((partner) => ({
          ...partner,
          model: this.probabilities.probability(partner.object, object),
        })),
    );
  }

  /** The strongest associates of a word that are not close to it on any map. */
  farFrom(word: number): Beside[] {
    return this.recalledBy(word)
      .filter(
        ({ object, share, maps }, rank) =>
          maps.length === 0 &&
          (rank === 0 || share >= LEAST_NAMED) &&
          this.filtering.passes(object),
      )
      .slice(0, MOST_NAMED);
  }

  /** The probability of each of the `sensesOf` a word in a context; 0 without data. */
  inContext(word: number, context: readonly number[]): number[] {
    const { observed } = this.atlas;
    const chances =
      observed &&
      this.once(`context ${word} ${context}`, () =>
        inContext(observed, this.probabilities, word, context),
      );
    return this.sensesOf(word).map((_, number) => chances?.get(number) ?? 0);
  }

  /** The meaning that some words point to, and its probability; null without such words, or data. */
  meantBy(word: number, context: readonly number[]): Meant | null {
    if (context.length === 0) return null;
    const chances = this.inContext(word, context);
    const probability = Math.max(...chances);
    const meaning = this.sensesOf(word)[chances.indexOf(probability)];
    return meaning && probability > 0 ? { meaning, probability } : null;
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
