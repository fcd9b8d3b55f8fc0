/** Entries of maps: where an object lives, and which objects live in many maps or weigh in them. */
import type { Atlas, AtlasMap } from "./atlas.ts";

/** The number of an object's entry in a map, -1 where it does not live there. */
export function entryOf({ objects }: AtlasMap, object: number): number {
  let [low, high] = [0, objects.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (objects[middle] < object) low = middle + 1;
    else high = middle;
  }
  return objects[low] === object ? low : -1;
}

/** The maps of an object with its proportion there, the largest first. */
export function mapsOf({ maps }: Atlas, object: number): { map: number; proportion: number }[] {
  const found = [];
  for (const map of maps) {
    const entry = entryOf(map, object);
    if (entry >= 0) found.push({ map: map.number, proportion: map.proportions[entry] });
  }
  return found.sort((a, b) => b.proportion - a.proportion);
}

const LEAST_EFFECTIVE = 1.8;
const MOST_MANY_SIDED = 24;

/** The objects with the largest effective number of maps, exp(-sum p log p), those of the most first. */
export function manySided({ maps, nObjects }: Atlas): number[] {
  const entropy = new Float32Array(nObjects);
  for (const { objects, proportions } of maps) {
    proportions.forEach((p, entry) => {
      entropy[objects[entry]] -= p * Math.log(p);
    });
  }
  const least = Math.log(LEAST_EFFECTIVE);
  const found = [...entropy.keys()].filter((object) => entropy[object] >= least);
  return found.sort((a, b) => entropy[b] - entropy[a] || a - b).slice(0, MOST_MANY_SIDED);
}

/** What tells words of one beginning apart in a search: how early they stand in their maps' orders. */
export function importance({ maps, nObjects }: Atlas): Float32Array {
  const found = new Float32Array(nObjects);
  for (const { objects, order, proportions } of maps) {
    order.forEach((entry, rank) => {
      const value = proportions[entry] / (1 + rank);
      if (value > found[objects[entry]]) found[objects[entry]] = value;
    });
  }
  return found;
}
