/**
 * The senses of objects, and the objects nearest to an object in a map.
 *
 * The neighbours j of i in a map are ranked as the model ranks them, by b_j pi_j K(|y_i - y_j|^2 / width^2)
 * with the factors b_j of the objects. Neighbours of two kinds are ranked without factors, which would
 * put the most frequent objects first everywhere.
 */
import { type Atlas, type AtlasMap, lives, type Model } from "./atlas.ts";
import { elementAt, firstAtLeast, inBounds, Strongest } from "./elements.ts";
import { entryOf, type Home, mapsOf } from "./entries.ts";
import { recalledBy, sensesOf } from "./observed.ts";

/** A map with a part of the associations of an object, or in which it has weight. */
export interface Sense {
  map: number;
  entry: number;
  /** The map weight of the object. */
  weight: number;
  /** The part of the associations; null if no associations of the object are known. */
  share: number | null;
  /** The first of the neighbours, which name it. */
  name: number[];
  /** The associates that are close on the map, the strongest first, or the nearest objects there. */
  neighbors: number[];
}

const NAMED = 3;

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
   * The senses of an object by their shares, where its associates are known; else its maps by their
   * weights, of which the first is always listed.
   */
  senses(object: number, { nNeighbors, minWeight, sameKind = false }: Options): Sense[] {
    const atlas = this.#atlas;
    const associates = recalledBy(atlas, object);
    if (associates.length > 0) {
      return sensesOf(atlas, object).map(({ map, share }) => {
        const close = associates.filter((other) => other.map === map).slice(0, nNeighbors);
        return this.#sense(object, map, share, () => close.map((other) => other.object));
      });
    }
    return mapsOf(atlas, object)
      .filter(({ weight }, rank) => rank === 0 || lives(weight, minWeight))
      .map(({ map }) =>
        this.#sense(object, map, null, (home) => this.#nearest(home, nNeighbors, sameKind)),
      );
  }

  #sense(
    object: number,
    number: number,
    share: number | null,
    neighborsIn: (home: Home) => number[],
  ): Sense {
    const map = elementAt(this.#atlas.maps, number);
    const entry = entryOf(map, object);
    const neighbors = neighborsIn({ map, entry });
    const weight = elementAt(map.weights, entry);
    return { map: number, entry, weight, share, name: neighbors.slice(0, NAMED), neighbors };
  }

  /** The nearest objects of an entry in its map, the nearest first. */
  #nearest({ map, entry }: Home, count: number, sameKind: boolean): number[] {
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
