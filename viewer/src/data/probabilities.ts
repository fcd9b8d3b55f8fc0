/**
 * The association probabilities of the model (`manymaps.atlas.probabilities`).
 *
 *     v_ij^m = pi_i^m pi_j^m K(|y_i^m - y_j^m|^2 / width^2)
 *
 *     conditional   q(j|i) = b_j sum_m v_ij^m / Z_i
 *     joint         q(i,j) = a_i b_j sum_m v_ij^m / Z
 *     chosen i      q(j|i) = a_j sum_m v_ij^m / Z_j, brought to a sum of 1 over the choosers j
 *
 * with factors of 1 by default; two kinds choose one another alone. The neighbours of i in map m are
 * listed by q_ij^m = b_j v_ij^m / Z_i, of two kinds by v_ij^m brought to a sum of 1, without the factors, which would put the most frequent objects first everywhere.
 */
import { type Atlas, type AtlasMap, lives, type Model } from "./atlas.ts";
import { elementAt, firstAtLeast, inBounds, Strongest } from "./elements.ts";
import { entryOf, type Home, homesOf } from "./entries.ts";

/** An object near another one, with the share of the similarity that one map gives. */
export interface Neighbor {
  object: number;
  share: number;
}

/** A group of associates of an object, or a map in which it has weight, with its neighbours there. */
export interface Sense {
  map: number;
  entry: number;
  /** The map weight of the object. */
  weight: number;
  /**
   * What falls to the group of what was observed of the object: 0 where a map with some weight
   * holds no group, null where nothing was observed of the object.
   */
  share: number | null;
  /** The objects that name it. */
  name: number[];
  /** The members of a group that are close on the map. */
  neighbors: Neighbor[];
}

type Among = "all" | "rows" | "columns";

/** An atlas as its model reads it. */
export class Probabilities {
  readonly #atlas: Atlas;
  /** a of the kernel (1 + d2 / a)^-a: 1 of the Cauchy kernel, Infinity of the Gaussian one. */
  readonly #exponent: number;
  readonly #scale: number;
  readonly #factors: Float64Array | null;
  /** The factors b_j of objects of one kind, by which neighbours are ranked. */
  readonly #popularity: Float64Array | null;
  readonly #distances: Float64Array;
  /** log Z_i and, of those that are chosen, log sum_j a_j v_ij / Z_j; NaN until asked for. */
  readonly #logNormalizers: Float64Array;
  /** log sum_j b_j v_ij of joint models, for the objects that were requested. */
  readonly #logRows = new Map<number, number>();

  constructor(atlas: Atlas) {
    this.#atlas = atlas;
    this.#exponent = exponentOf(atlas.model.kernel);
    this.#scale = 1 / atlas.model.kernelWidth ** 2;
    this.#factors = atlas.logFactors && Float64Array.from(atlas.logFactors, Math.exp);
    this.#popularity = atlas.kinds === null ? this.#factors : null;
    const largest = atlas.maps.reduce((most, { objects }) => Math.max(most, objects.length), 0);
    this.#distances = new Float64Array(largest);
    this.#logNormalizers =
      atlas.logNormalizers?.slice() ?? new Float64Array(atlas.nObjects).fill(Number.NaN);
  }

  /**
   * The senses of an object: its meanings by their shares, where its associates are known; else its
   * maps by their weights, of which the first is always listed.
   */
  senses(
    object: number,
    options: { nNeighbors: number; minWeight: number; sameKind?: boolean },
  ): Sense[] {
    const { nNeighbors, minWeight, sameKind = false } = options;
    const groups = this.#groups(object, nNeighbors);
    if (groups.length > 0) return groups;
    const among = this.#among(object, sameKind);
    const logTotal = this.#logTotal(object, among);
    const homes = homesOf(this.#atlas, object);
    const weights =
      this.#atlas.kinds !== null && sameKind
        ? this.#sharesAmong(homes, among)
        : homes.map(({ map, entry }) => elementAt(map.weights, entry));
    return homes
      .map((home, k) => ({ ...home, weight: elementAt(weights, k) }))
      .sort((a, b) => b.weight - a.weight)
      .filter(({ weight }, rank) => rank === 0 || lives(weight, minWeight))
      .map(({ map, entry, weight }) => {
        const neighbors = this.#strongest(map, entry, among, logTotal, nNeighbors);
        const name = neighbors.slice(0, 3).map((near) => near.object);
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
        neighbors: Array.from(members.subarray(0, nNeighbors), (member) => ({
          object: member,
          share: this.#share(object, member),
        })),
      });
    }
    return found;
  }

  /** q(b|a), the association probability of b given a; 0 for an object and itself and for two of one kind. */
  similarity(a: number, b: number): number {
    const { kinds, nRows, nObjects, model } = this.#atlas;
    if (a === b || (kinds && a < nRows === b < nRows)) return 0;
    const share = this.#share(a, b);
    if (kinds || model.background === 0) return share;
    const pairs = model.normalization === "joint" ? nObjects * (nObjects - 1) : nObjects - 1;
    return (1 - model.background) * share + model.background / pairs;
  }

  /** The share of b in the association probabilities of a: q(b|a), of a joint model its part of the row. */
  probability(a: number, b: number): number {
    const { model, kinds, nObjects } = this.#atlas;
    const similarity = this.similarity(a, b);
    if (model.normalization !== "joint" || similarity === 0) return similarity;
    const factor = this.#logFactor(a) - this.#logNormalizer(a);
    const row = Math.exp(this.#logRow(a) + factor);
    if (kinds) return similarity / row;
    return similarity / ((1 - model.background) * row + model.background / nObjects);
  }

  /** The nearest objects of an object in a map, with their association probabilities. */
  nearest(object: number, map: number, count: number, sameKind = false): Neighbor[] {
    const home = homesOf(this.#atlas, object).find((at) => at.map.number === map);
    if (home === undefined) return [];
    const among = this.#among(object, sameKind);
    const logTotal = among === "all" ? this.#logRow(object) : this.#logTotal(object, among);
    return this.#strongest(home.map, home.entry, among, logTotal, count);
  }

  /** The objects that the model gives an object as its strongest associates. */
  associates(object: number, count: number): Neighbor[] {
    const isCompanion = new Uint8Array(this.#atlas.nObjects);
    for (const { map } of homesOf(this.#atlas, object)) {
      for (const other of map.objects) isCompanion[other] = 1;
    }
    isCompanion[object] = 0;
    const strongest = new Strongest(count);
    isCompanion.forEach((is, other) => {
      if (is) strongest.offer(other, this.probability(object, other));
    });
    return strongest.found;
  }

  /** The maps that two objects share, with their entries. */
  #shared(a: number, b: number): [AtlasMap, number, number][] {
    return homesOf(this.#atlas, a).flatMap(({ map, entry }): [AtlasMap, number, number][] => {
      const other = entryOf(map, b);
      return other < 0 ? [] : [[map, entry, other]];
    });
  }

  /**
   * The entries of a map that are listed, from the first up to the last, without it; rows come first,
   * as they have the lower numbers.
   */
  #range({ objects }: AtlasMap, among: Among): [number, number] {
    const nRows = among === "all" ? 0 : firstAtLeast(objects, this.#atlas.nRows);
    return among === "rows" ? [0, nRows] : [nRows, objects.length];
  }

  #among(object: number, sameKind: boolean): Among {
    if (this.#atlas.kinds === null) return "all";
    return object < this.#atlas.nRows === sameKind ? "rows" : "columns";
  }

  /** The log of what neighbours are measured by: Z_i, Z, or of two kinds the sum of v_ij. */
  #logTotal(object: number, among: Among): number {
    if (among !== "all") return this.#logSum(object, among, null);
    return this.#logNormalizer(object);
  }

  #logNormalizer(object: number): number {
    if (this.#atlas.model.normalization === "joint") {
      return this.#atlas.logWhole ?? Number.NEGATIVE_INFINITY;
    }
    const known = inBounds(this.#logNormalizers[object]);
    if (!Number.isNaN(known)) return known;
    const log = this.#chooses(object)
      ? this.#logSum(object, this.#among(object, false), this.#factors)
      : this.#logEvidence(object);
    this.#logNormalizers[object] = log;
    return log;
  }

  /** log sum_j b_j v_ij, by which the association probabilities of i sum to 1. */
  #logRow(object: number): number {
    const { model } = this.#atlas;
    if (model.normalization !== "joint") return this.#logNormalizer(object);
    const known = this.#atlas.logNormalizers?.[object] ?? this.#logRows.get(object);
    if (known !== undefined) return known;
    const log = this.#logSum(object, this.#among(object, false), this.#factors);
    this.#logRows.set(object, log);
    return log;
  }

  #chooses(object: number): boolean {
    const { given } = this.#atlas.model;
    return given === null || (given === "rows") === object < this.#atlas.nRows;
  }

  /** log sum_j [b_j] v_ij over the objects listed; -Infinity without any. */
  #logSum(object: number, among: Among, factors: Float64Array | null): number {
    const { sums, least } = this.#mapSums(homesOf(this.#atlas, object), among, factors);
    return Math.log(sums.reduce((total, sum) => total + sum, 0)) - least;
  }

  /** The share of each map in the similarities to the listed objects; 0 without any. */
  #sharesAmong(homes: Home[], among: Among): number[] {
    const { sums } = this.#mapSums(homes, among, null);
    const total = sums.reduce((whole, sum) => whole + sum, 0) || 1;
    return sums.map((sum) => sum / total);
  }

  /** sum_j [b_j] v_ij^m of each map, times exp(least). */
  #mapSums(
    homes: Home[],
    among: Among,
    factors: Float64Array | null,
  ): { sums: number[]; least: number } {
    const heavy = this.#exponent === 1;
    // The nearest of all counts 1, so that remote objects keep a sum above 0.
    const least = heavy ? 0 : this.#decay(this.#leastDistance(homes, among));
    const sums = homes.map(({ map, entry }) => {
      const { objects, proportions } = map;
      const [first, last] = this.#range(map, among);
      const squares = this.#squares(map, entry, first, last);
      let sum = 0;
      for (let e = first; e < last; e++) {
        const squared = inBounds(squares[e - first]);
        const kernel = heavy ? 1 / (1 + squared) : Math.exp(least - this.#decay(squared));
        const proportion = inBounds(proportions[e]);
        const factor = factors ? inBounds(factors[inBounds(objects[e])]) : 1;
        sum += factor * proportion * kernel;
      }
      return elementAt(proportions, entry) * sum;
    });
    return { sums, least };
  }

  #leastDistance(homes: Home[], among: Among): number {
    let least = Number.POSITIVE_INFINITY;
    for (const { map, entry } of homes) {
      const [first, last] = this.#range(map, among);
      const squares = this.#squares(map, entry, first, last);
      for (const squared of squares.subarray(0, last - first)) least = Math.min(least, squared);
    }
    return Number.isFinite(least) ? least : 0;
  }

  /** Squared distances from an entry to those listed, Infinity to itself; valid until the next call. */
  #squares(map: AtlasMap, entry: number, first: number, last: number): Float64Array {
    const squares = this.#distances;
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

  /** log sum_j a_j v_ij / Z_j over the choosers j of an object that is chosen. */
  #logEvidence(object: number): number {
    const among = this.#among(object, false);
    const sum = new LogSum();
    for (const { map, entry } of homesOf(this.#atlas, object)) {
      const [first, last] = this.#range(map, among);
      for (let e = first; e < last; e++) {
        const chooser = inBounds(map.objects[e]);
        sum.add(
          this.#logValue(map, entry, e) + this.#logFactor(chooser) - this.#logNormalizer(chooser),
        );
      }
    }
    return sum.value;
  }

  #share(a: number, b: number): number {
    const sum = new LogSum();
    for (const [map, entryA, entryB] of this.#shared(a, b)) {
      sum.add(this.#logValue(map, entryA, entryB));
    }
    const logNormalizer = this.#logNormalizer(a);
    if (Math.min(sum.value, logNormalizer) === Number.NEGATIVE_INFINITY) return 0;
    let log = sum.value + this.#logFactor(b) - logNormalizer;
    if (this.#atlas.model.normalization === "joint") log += this.#logFactor(a);
    else if (!this.#chooses(a)) log -= this.#logNormalizer(b);
    return Math.exp(log);
  }

  #logFactor(object: number): number {
    return this.#atlas.logFactors?.[object] ?? 0;
  }

  /** log v_ij^m of two entries of a map. */
  #logValue(map: AtlasMap, e: number, f: number): number {
    const squared = this.#squared(map, e, f);
    const [p, q] = [inBounds(map.proportions[e]), inBounds(map.proportions[f])];
    return Math.log(p) + Math.log(q) - this.#decay(squared);
  }

  /** -log K of a squared distance. */
  #decay(squared: number): number {
    const a = this.#exponent;
    return a === Number.POSITIVE_INFINITY ? squared : a * Math.log1p(squared / a);
  }

  #squared(map: AtlasMap, e: number, f: number): number {
    const { coordinates } = map;
    const d = this.#atlas.nComponents;
    let sum = 0;
    for (let c = 0; c < d; c++) {
      sum += (inBounds(coordinates[e * d + c]) - inBounds(coordinates[f * d + c])) ** 2;
    }
    return sum * this.#scale;
  }

  #strongest(
    map: AtlasMap,
    entry: number,
    among: Among,
    logTotal: number,
    count: number,
  ): Neighbor[] {
    const popularity = this.#popularity;
    const strongest = new Strongest(count);
    if (logTotal === Number.NEGATIVE_INFINITY) return [];
    const proportion = elementAt(map.proportions, entry);
    const inverse = proportion * Math.exp(-logTotal);
    const own = Math.log(proportion) - logTotal;
    const [first, last] = this.#range(map, among);
    const squares = this.#squares(map, entry, first, last);
    for (let e = first; e < last; e++) {
      const squared = inBounds(squares[e - first]);
      const kernel =
        this.#exponent === 1 ? inverse / (1 + squared) : Math.exp(own - this.#decay(squared));
      const object = inBounds(map.objects[e]);
      const factor = popularity ? inBounds(popularity[object]) : 1;
      strongest.offer(object, factor * inBounds(map.proportions[e]) * kernel);
    }
    return strongest.found;
  }
}

function exponentOf(kernel: Model["kernel"]): number {
  if (kernel === "gaussian") return Number.POSITIVE_INFINITY;
  return kernel === "cauchy" ? 1 : (kernel + 1) / 2;
}

/** log sum exp, term by term. */
class LogSum {
  #peak = Number.NEGATIVE_INFINITY;
  #sum = 0;

  add(log: number): void {
    if (log === Number.NEGATIVE_INFINITY) return;
    if (log > this.#peak) {
      this.#sum = this.#sum * Math.exp(this.#peak - log) + 1;
      this.#peak = log;
    } else {
      this.#sum += Math.exp(log - this.#peak);
    }
  }

  get value(): number {
    return this.#sum > 0 ? this.#peak + Math.log(this.#sum) : Number.NEGATIVE_INFINITY;
  }
}
