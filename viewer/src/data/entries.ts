/** Entries of maps: where an object lives, and how important it is. */
import type { Atlas, AtlasMap } from "./atlas.ts";
import { firstAtLeast } from "./elements.ts";

/** The number of an object's entry in a map, -1 where it does not live there. */
export function entryOf({ objects }: AtlasMap, object: number): number {
  const entry = firstAtLeast(objects, object);
  return objects[entry] === object ? entry : -1;
}

export interface Home {
  map: AtlasMap;
  entry: number;
}

export function homesOf({ maps }: Pick<Atlas, "maps">, object: number): Home[] {
  const homes = maps.map((map) => ({ map, entry: entryOf(map, object) }));
  return homes.filter(({ entry }) => entry >= 0);
}

/** The maps of an object with its weight in each, the largest first. */
export function mapsOf(atlas: Atlas, object: number): { map: number; weight: number }[] {
  return homesOf(atlas, object)
    .map(({ map, entry }) => ({ map: map.number, weight: map.weights[entry] }))
    .sort((a, b) => b.weight - a.weight);
}

/** Importance of objects, which ranks search results: how early they appear in the orders of their maps. */
export function importance({ maps, nObjects }: Atlas): Float32Array {
  const found = new Float32Array(nObjects);
  for (const { objects, order, weights } of maps) {
    order.forEach((entry, rank) => {
      const object = objects[entry];
      const value = weights[entry] / (1 + rank);
      if (value > found[object]) found[object] = value;
    });
  }
  return found;
}
