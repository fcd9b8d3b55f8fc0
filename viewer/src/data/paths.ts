/**
 * The path between two objects, over observed links or through the maps (`manymaps.atlas.paths`).
 *
 *     cost of a path = -sum log p_ij       over observed links
 *                      -sum log q_ij^m     each from i to one of the objects nearest to i in a map; to
 *                                          the end also from one of those nearest to the end
 *
 * Dijkstra's algorithm finds the cheapest path and computes only the steps that it visits.
 */
import type { Atlas } from "./atlas.ts";
import { elementAt, inBounds } from "./elements.ts";
import { recalledBy } from "./observed.ts";
import type { Near, Probabilities } from "./probabilities.ts";

export interface Step {
  from: number;
  to: number;
  map: number;
  /** The contribution of the map to the association probability of `to` given `from`. */
  share: number;
}

/** Number of nearest objects in a map to which a step may lead. */
const NEAREST = 8;
/** The search ends after this number of visited objects. */
const FARTHEST = 20_000;

/** The steps of a path, which are empty if no path exists, and whether they follow observed links. */
export interface Found {
  steps: Step[];
  isObserved: boolean;
}

/** Search for a path; each turn visits one object. */
export function* pathBetween(
  { nObjects, observed }: Pick<Atlas, "nObjects" | "observed">,
  probabilities: Probabilities,
  start: number,
  end: number,
  minWeight: number,
): Generator<undefined, Found> {
  if (observed !== null) {
    const links = (from: number) =>
      recalledBy(observed, from).map(({ object, share }) => ({ map: -1, object, share }));
    const chain = yield* chainBetween(links, nObjects, start, end);
    const steps = chain.map(({ from, to }) => {
      const map = probabilities.mapOf(from, to);
      return { from, to, map, share: probabilities.shareIn(map, from, to) };
    });
    if (steps.length > 0) return { steps, isObserved: true };
  }
  const beforeEnd = probabilities.around(end, NEAREST, minWeight);
  const near = (from: number) => {
    const steps = probabilities.around(from, NEAREST, minWeight);
    for (const { map, object } of beforeEnd) {
      if (object !== from) continue;
      steps.push({ map, object: end, share: probabilities.shareIn(map, from, end) });
    }
    return steps;
  };
  return { steps: yield* chainBetween(near, nObjects, start, end), isObserved: false };
}

function* chainBetween(
  stepsOf: (from: number) => Near[],
  nObjects: number,
  start: number,
  end: number,
): Generator<undefined, Step[]> {
  const costs = new Float64Array(nObjects).fill(Number.POSITIVE_INFINITY);
  const came = new Map<number, Step>();
  const queue = new Queue();
  costs[start] = 0;
  queue.add({ object: start, cost: 0 });
  for (let passed = 0; passed < FARTHEST; passed++) {
    const next = queue.cheapest();
    if (next === undefined || next.object === end) break;
    const { object: from, cost } = next;
    if (cost > inBounds(costs[from])) continue;
    for (const { map, object, share } of stepsOf(from)) {
      const whole = cost - Math.log(share);
      if (!(whole < inBounds(costs[object]))) continue;
      costs[object] = whole;
      came.set(object, { from, to: object, map, share });
      queue.add({ object, cost: whole });
    }
    yield;
  }
  const path: Step[] = [];
  for (let at = end; at !== start; at = inBounds(path[0]?.from)) {
    const step = came.get(at);
    if (step === undefined) return [];
    path.unshift(step);
  }
  return path;
}

interface Place {
  object: number;
  cost: number;
}

/** Objects that the search has reached but not visited, the cheapest last. */
class Queue {
  #places: Place[] = [];

  add(place: Place): void {
    let [low, high] = [0, this.#places.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (elementAt(this.#places, middle).cost > place.cost) low = middle + 1;
      else high = middle;
    }
    this.#places.splice(low, 0, place);
  }

  cheapest(): Place | undefined {
    return this.#places.pop();
  }
}
