/** What is looked up of words: senses, associations; remembered, as every drawing asks for it again. */
import type { Atlas } from "../data/atlas.ts";
import { manySided } from "../data/entries.ts";
import { type Association, Probabilities, type Sense } from "../data/probabilities.ts";
import type { Store } from "./store.ts";

const NEIGHBORS = 8;
const ASSOCIATIONS = 10;
const MOST_REMEMBERED = 64;

export class Lookups {
  readonly probabilities: Probabilities;
  private senses: { key: string; found: Sense[] } | null = null;
  private associations = new Map<number, Association[]>();
  private spread: number[] | null = null;

  constructor(
    private atlas: Atlas,
    private store: Store,
  ) {
    this.probabilities = new Probabilities(atlas);
  }

  /** The senses of a word, of maps those at the present threshold. */
  sensesOf(word: number): Sense[] {
    const { threshold: minRecall, neighborKind } = this.store.state;
    const key = `${word} ${minRecall} ${neighborKind}`;
    if (this.senses?.key !== key) {
      const sameKind = word < this.atlas.nRows === (neighborKind === 0);
      const asked = { nNeighbors: NEIGHBORS, minRecall, sameKind };
      this.senses = { key, found: this.probabilities.senses(word, asked) };
    }
    return this.senses.found;
  }

  sensesIn(word: number, map: number): Sense[] {
    return this.sensesOf(word).filter((sense) => sense.map === map);
  }

  /** What an object recalls and what recalls it, the strongest first. */
  associationsOf(object: number): Association[] {
    let found = this.associations.get(object);
    if (found === undefined) {
      found = this.probabilities.associations(object, ASSOCIATIONS);
      if (this.associations.size >= MOST_REMEMBERED) this.associations.clear();
      this.associations.set(object, found);
    }
    return found;
  }

  /** Objects that are spread over many maps, those of the most maps first. */
  get manySided(): number[] {
    this.spread ??= manySided(this.atlas);
    return this.spread;
  }
}
