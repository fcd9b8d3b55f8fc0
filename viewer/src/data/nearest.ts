/**
 * The senses of objects, and the objects nearest to an object in a map.
 *
 * The neighbours j of i in a map are ranked as the model ranks them, by b_j pi_j K(|y_i - y_j|^2 / width^2)
 * with the factors b_j of the objects. Neighbours of two kinds are ranked without factors, which would
 * put the most frequent objects first everywhere.
 */
import { type Atlas, type AtlasMap, lives, type Model } from "./atlas.ts";
import { elementAt, firstAtLeast, inBounds, Strongest } from "./elements.ts";
import { homesOf } from "./entries.ts";

/** A group of associates of an object, or a map in which it has weight, with its neighbours there. */
export interface Sense {
  map: number;
  entry: number;
  /** The map weight of the object. */
  weight: number;
  /**
   * The group's share of the observed associations of the object: 0 if a map with some weight
   * contains no group, null if no associations of the object are known.
   */
  share: number | null;
  /** The objects that name it. */
  name: number[];
  /** The members of a group that are close on the map, or the nearest objects there. */
  neighbors: number[];
}

interface Options {
  nNeighbors: number;
  minWeight: number;
  /** Whether neighbours are of the object's own kind, where there are two. */
  sameKind?: boolean;
}

export class SenseFinder {
  readonly #atlas: Atlas;
  /** a of the kernel (1 + d2 / a)^-a: 1 of the Cauchy kernel, Infinity of the Gaussian one. */
  readonly #exponent: number;
  readonly #scale: number;
  readonly #factors: Float64Array | null;
  readonly #distances: Float64Array;

  constructor(atlas: Atlas) {
    this.#atlas = atlas;
    this.#exponent = exponentOf(atlas.model.kernel);
    this.#scale = 1 / atlas.model.kernelWidth ** 2;
    const hasFactors = atlas.kinds === null && atlas.logFactors;
    this.#factors = hasFactors ? Float64Array.from(hasFactors, Math.exp) : null;
    const largest = atlas.maps.reduce((most, { objects }) => Math.max(most, objects.length), 0);
    this.#distances = new Float64Array(largest);
  }

  /**
   * The senses of an object: its meanings by their shares, where its associates are known; else its
   * maps by their weights, of which the first is always listed.
   */
  senses(object: number, { nNeighbors, minWeight, sameKind = false }: Options): Sense[] {
    const groups = this.#groups(object, nNeighbors);
    if (groups.length > 0) return groups;
    return homesOf(this.#atlas, object)
      .map(({ map, entry }) => ({ map, entry, weight: elementAt(map.weights, entry) }))
      .sort((a, b) => b.weight - a.weight)
      .filter(({ weight }, rank) => rank === 0 || lives(weight, minWeight))
      .map(({ map, entry, weight }) => {
        const neighbors = this.#nearest(map, entry, nNeighbors, sameKind);
        const name = neighbors.slice(0, 3);
        return { map: map.number, entry, weight, share: null, name, neighbors };
      });
  }

  #groups(object: number, nNeighbors: number): Sense[] {
    const { senses } = this.#atlas;
    if (senses === null) return [];
    const homes = new Map(homesOf(this.#atlas, object).map((home) => [home.map.number, home]));
    const found: Sense[] = [];
    const end = elementAt(senses.offsets, object + 1);
    for (let s = elementAt(senses.offsets, object); s < end; s++) {
      const home = homes.get(elementAt(senses.maps, s));
      if (home === undefined) continue;
      const members = senses.members.subarray(senses.ends[s], senses.ends[s + 1]);
      found.push({
        map: home.map.number,
        entry: home.entry,
        weight: elementAt(home.map.weights, home.entry),
        share: elementAt(senses.shares, s),
        name: [...new Set(senses.names.subarray(3 * s, 3 * s + 3))],
        neighbors: [...members.subarray(0, nNeighbors)],
      });
    }
    return found;
  }

  /** The nearest objects of an entry in its map, the nearest first. */
  #nearest(map: AtlasMap, entry: number, count: number, sameKind: boolean): number[] {
    const { objects, proportions } = map;
    const [first, last] = this.#listed(map, elementAt(objects, entry), sameKind);
    const squares = this.#squares(map, entry, first, last);
    // The nearest of all counts 1, so that remote objects have neighbours, too.
    const least = this.#decay(squares.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY));
    const strongest = new Strongest(count);
    for (let e = first; e < last; e++) {
      const squared = inBounds(squares[e - first]);
      const kernel =
        this.#exponent === 1 ? 1 / (1 + squared) : Math.exp(least - this.#decay(squared));
      const object = inBounds(objects[e]);
      const factor = this.#factors ? inBounds(this.#factors[object]) : 1;
      strongest.offer(object, factor * inBounds(proportions[e]) * kernel);
    }
    return strongest.found.map(({ object }) => object);
  }

  /**
   * The entries of a map that may be neighbours of an object, from the first up to the last, without
   * it; rows come first, as they have the lower numbers.
   */
  #listed({ objects }: AtlasMap, object: number, sameKind: boolean): [number, number] {
    const { kinds, nRows } = this.#atlas;
    if (kinds === null) return [0, objects.length];
    const middle = firstAtLeast(objects, nRows);
    return object < nRows === sameKind ? [0, middle] : [middle, objects.length];
  }

  /** Squared distances from an entry to those listed, Infinity to itself; valid until the next call. */
  #squares(map: AtlasMap, entry: number, first: number, last: number): Float64Array {
    const squares = this.#distances.subarray(0, last - first);
    const { coordinates } = map;
    const [d, scale] = [this.#atlas.nComponents, this.#scale];
    const own = entry * d;
    if (d === 2) {
      // Twice as fast without a loop over the components.
      const [x, y] = [inBounds(coordinates[own]), inBounds(coordinates[own + 1])];
      for (let k = 0, at = 2 * first; k < last - first; k++, at += 2) {
        const dx = inBounds(coordinates[at]) - x;
        const dy = inBounds(coordinates[at + 1]) - y;
        squares[k] = (dx * dx + dy * dy) * scale;
      }
    } else {
      for (let k = 0, at = first * d; k < last - first; k++, at += d) {
        let sum = 0;
        for (let c = 0; c < d; c++) {
          sum += (inBounds(coordinates[at + c]) - inBounds(coordinates[own + c])) ** 2;
        }
        squares[k] = sum * scale;
      }
    }
    if (first <= entry && entry < last) squares[entry - first] = Number.POSITIVE_INFINITY;
    return squares;
  }

  /** -log K of a squared distance. */
  #decay(squared: number): number {
    const a = this.#exponent;
    return a === Number.POSITIVE_INFINITY ? squared : a * Math.log1p(squared / a);
  }
}

function exponentOf(kernel: Model["kernel"]): number {
  if (kernel === "gaussian") return Number.POSITIVE_INFINITY;
  return kernel === "cauchy" ? 1 : (kernel + 1) / 2;
}
