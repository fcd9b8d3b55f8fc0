/** The strongest observed associations: shares of all that was observed of the object that recalls. */
import type { Atlas } from "./atlas.ts";

export interface Partner {
  object: number;
  share: number;
}

export interface Associate extends Partner {
  /** The map on which it is close to the object; null where it is close on none. */
  map: number | null;
}

type Data = Pick<Atlas, "observed" | "nMaps">;

export function recalledBy({ observed, nMaps }: Data, object: number): Associate[] {
  if (observed === null) return [];
  const { offsets, partners, shares, maps } = observed;
  const found: Associate[] = [];
  const end = offsets[object + 1];
  for (let at = offsets[object]; at < end; at++) {
    const map = maps[at];
    const share = shares[at];
    found.push({ object: partners[at], share, map: map < nMaps ? map : null });
  }
  return found;
}

/** The objects that evoke an object, with shares of their own associations, the strongest first. */
export function whoRecalls({ observed }: Data, object: number): Partner[] {
  if (observed === null) return [];
  const { offsets, partners, shares } = observed;
  const found: Partner[] = [];
  let other = 0;
  for (let at = partners.indexOf(object); at >= 0; at = partners.indexOf(object, at + 1)) {
    while (offsets[other + 1] <= at) other++;
    found.push({ object: other, share: shares[at] });
  }
  return found.sort((a, b) => b.share - a.share);
}

/** The senses of an object, which are maps, the largest share first. */
export function sensesOf({ observed }: Data, object: number): { map: number; share: number }[] {
  if (observed === null) return [];
  const { offsets, maps, shares } = observed.senses;
  const [start, end] = [offsets[object], offsets[object + 1]];
  const own = shares.subarray(start, end);
  return Array.from(maps.subarray(start, end), (map, k) => ({ map, share: own[k] }));
}

/** The share of an object's sense in a map, 0 without one; null for an object without data. */
export function observedIn(atlas: Data, object: number, map: number): number | null {
  if (recalledBy(atlas, object).length === 0) return null;
  return sensesOf(atlas, object).find((sense) => sense.map === map)?.share ?? 0;
}
