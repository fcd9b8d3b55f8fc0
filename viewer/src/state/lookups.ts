/** Senses and associations of words; kept, because every drawing needs them again. */
import { type Atlas, lives } from "../data/atlas.ts";
import { once } from "../data/elements.ts";
import { mapsOf } from "../data/entries.ts";
import { type Sense, senses } from "../data/nearest.ts";
import {
  type Associate,
  type Partner,
  recalledBy,
  sensesOf,
  whoRecalls,
} from "../data/observed.ts";
import { wholePercents } from "../data/words.ts";
import type { Shown } from "./shown.ts";
import type { Store } from "./store.ts";

const NEIGHBORS = 8;
/** Among so many neighbours those are looked for that filters let pass. */
const MOST_ASKED = 400;
const MOST_REMEMBERED = 64;
/** Many words evoke a frequent word. */
const RECALLING = 8;
/** Associates that are not close on their maps are named down to this share, and the strongest always. */
const LEAST_NAMED = 0.05;
const MOST_NAMED = 3;

/** A sense of a word, its place among them, and its share or map weight as a whole per cent. */
export interface ShownSense extends Sense {
  rank: number;
  percent: number;
}

export class Lookups {
  private remembered = new Map<string, unknown>();
  private passed: Uint8Array | null = null;

  private atlas: Atlas;
  private store: Store;

  constructor(private shown: Shown) {
    ({ atlas: this.atlas, store: this.store } = shown);
  }

  /** The senses of a word, or its maps at the present threshold. */
  sensesOf(word: number): ShownSense[] {
    const { threshold: minWeight, neighborKind } = this.store.state;
    return this.once(`senses ${word} ${minWeight} ${neighborKind}`, () => {
      const nNeighbors = this.shown.passed ? MOST_ASKED : NEIGHBORS;
      const sameKind = this.isOwnKind(word);
      const found = senses(this.atlas, word, { nNeighbors, minWeight, sameKind });
      const percents = wholePercents(found.map(({ share, weight }) => share ?? weight));
      return found.map((sense, rank) => {
        const near = sense.neighbors.filter((object) => this.shown.passes(object));
        const percent = percents[rank];
        return { ...sense, neighbors: near.slice(0, NEIGHBORS), rank, percent };
      });
    });
  }

  /** The number of senses of an object, without their neighbours. */
  countOf(object: number): number {
    const known = this.recalledBy(object).length > 0;
    return known ? sensesOf(this.atlas, object).length : Math.max(1, this.mapsOf(object).length);
  }

  /** The maps in which an object reaches the threshold, those of most weight first. */
  mapsOf(object: number): number[] {
    const { threshold } = this.store.state;
    const found = mapsOf(this.atlas, object).filter(({ weight }) => lives(weight, threshold));
    return found.map(({ map }) => map);
  }

  senseIn(word: number, map: number): ShownSense | undefined {
    return this.sensesOf(word).find((sense) => sense.map === map);
  }

  recalledBy(object: number): Associate[] {
    return this.once(`associates ${object}`, () => recalledBy(this.atlas, object));
  }

  /** The objects that were observed to evoke an object, the strongest first. */
  whoRecalls(object: number): Partner[] {
    return this.once(`recalling ${object}`, () =>
      whoRecalls(this.atlas, object).slice(0, RECALLING),
    );
  }

  /** The strongest associates of a word that are not close to it on their maps. */
  farFrom(word: number): Associate[] {
    const strong = this.recalledBy(word).filter(({ share }, k) => k === 0 || share >= LEAST_NAMED);
    const far = strong.filter(({ map, object }) => map === null && this.shown.passes(object));
    return far.slice(0, MOST_NAMED);
  }

  private isOwnKind(object: number): boolean {
    return object < this.atlas.nRows === (this.store.state.neighborKind === 0);
  }

  private once<T>(key: string, compute: () => T): T {
    const { passed } = this.shown;
    if (passed !== this.passed) {
      this.passed = passed;
      this.remembered.clear();
    }
    if (this.remembered.size >= MOST_REMEMBERED) this.remembered.clear();
    return once(this.remembered, key, compute) as T;
  }
}
