/** What is looked up of words: senses, associations; remembered, as every drawing asks for it again. */
import type { Atlas } from "../data/atlas.ts";
import { manySided } from "../data/entries.ts";
import { type Partner, recalledBy, whoRecalls } from "../data/observed.ts";
import {
  type Association,
  type Neighbor,
  Probabilities,
  type Sense,
} from "../data/probabilities.ts";
import type { Filtering } from "./filtering.ts";
import type { Store } from "./store.ts";

const NEIGHBORS = 8;
/** Among so many neighbours those are looked for that filters let pass. */
const MOST_ASKED = 400;
const ASSOCIATIONS = 10;
const MOST_REMEMBERED = 64;
/** Of frequent words many others are reminded, and each costs a sum over its maps. */
const RECALLING = 8;
/** Observed partners that no sense shows are told down to this share; the strongest one always. */
const LEAST_TOLD = 0.01;

/** A partner of an object in the data, beside what the model says; NaN was not observed. */
export interface Beside extends Partner {
  /** The share in the model of what the `share` was observed of. */
  model: number;
  /** The maps of the object's senses in which the partner stands near it. */
  maps: number[];
}

export class Lookups {
  readonly probabilities: Probabilities;
  private remembered = new Map<string, unknown>();
  private passed: Uint8Array | null = null;
  private spread: number[] | null = null;

  constructor(
    private atlas: Atlas,
    private store: Store,
    private filtering: Filtering,
  ) {
    this.probabilities = new Probabilities(atlas);
  }

  /** The senses of a word, of maps those at the present threshold. */
  sensesOf(word: number): Sense[] {
    const { threshold: minWeight, neighborKind } = this.store.state;
    return this.once(`senses ${word} ${minWeight} ${neighborKind}`, () => {
      const nNeighbors = this.filtering.passed ? MOST_ASKED : NEIGHBORS;
      const sameKind = this.isOwnKind(word);
      const found = this.probabilities.senses(word, { nNeighbors, minWeight, sameKind });
      for (const sense of found) {
        const near = sense.neighbors.filter(({ object }) => this.filtering.passes(object));
        sense.neighbors = near.slice(0, NEIGHBORS);
        if (!this.filtering.passes(sense.first ?? word)) sense.first = undefined;
      }
      return found;
    });
  }

  sensesIn(word: number, map: number): Sense[] {
    return this.sensesOf(word).filter((sense) => sense.map === map);
  }

  /** What an object recalls and what recalls it in the model, the strongest first. */
  associationsOf(object: number): Association[] {
    return this.once(`associations ${object}`, () =>
      this.probabilities.associations(object, ASSOCIATIONS),
    );
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
    return this.once(`associates ${object} ${this.store.state.threshold}`, () =>
      this.beside(object, recalledBy(observed, object), (other) => [object, other]),
    );
  }

  /** What the model says that an object recalls and was not observed, the most first. */
  recalledInModel(object: number): Beside[] {
    return this.once(`modelled ${object} ${this.store.state.threshold}`, () => {
      const known = new Set(this.recalledBy(object).map((partner) => partner.object));
      const found = this.associationsOf(object)
        .filter((other) => other.to > 0 && !known.has(other.object))
        .sort((a, b) => b.to - a.to)
        .map((other) => ({ object: other.object, share: Number.NaN }));
      return this.beside(object, found, (other) => [object, other]);
    });
  }

  /** Who was observed to recall an object, the most first. */
  whoRecalls(object: number): Beside[] {
    const { observed } = this.atlas;
    if (observed === null) return [];
    return this.once(`recalling ${object} ${this.store.state.threshold}`, () => {
      const found = whoRecalls(observed, object).slice(0, RECALLING);
      return this.beside(object, found, (other) => [other, object]);
    });
  }

  /** What a word was observed to recall and none of its senses shows, the most first. */
  unseen(word: number): Beside[] {
    const seen = new Set(
      this.sensesOf(word).flatMap(({ neighbors }) => neighbors.map(({ object }) => object)),
    );
    return this.recalledBy(word).filter(
      ({ object, share }, rank) =>
        !seen.has(object) && this.filtering.passes(object) && (rank === 0 || share >= LEAST_TOLD),
    );
  }

  /** Objects that are spread over many maps, those of the most maps first. */
  get manySided(): number[] {
    this.spread ??= manySided(this.atlas);
    return this.spread;
  }

  private beside(
    object: number,
    partners: readonly Partner[],
    pairOf: (other: number) => [number, number],
  ): Beside[] {
    const maps = [...new Set(this.sensesOf(object).map(({ map }) => map))];
    const isNear = maps.map((map) => this.probabilities.nearIn(object, map));
    return partners.map((partner) => ({
      ...partner,
      model: this.probabilities.probability(...pairOf(partner.object)),
      maps: maps.filter((_, k) => isNear[k]?.(partner.object)),
    }));
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
    if (!this.remembered.has(key)) {
      const found = compute();
      if (this.remembered.size >= MOST_REMEMBERED) this.remembered.clear();
      this.remembered.set(key, found);
    }
    return this.remembered.get(key) as T;
  }
}
