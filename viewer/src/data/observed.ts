/**
 * Observed associations: the strongest associates of each object, and the objects that evoke it.
 *
 * A share is a part of all that was observed of the object that recalls. Only the strongest partners
 * of each are known; what is none of these has a smaller share, or none.
 */
import type { Observed, SenseGroups } from "./atlas.ts";
import { elementAt, inBounds } from "./elements.ts";

export interface Partner {
  object: number;
  share: number;
  /** The maps on which the partner is close to the object. */
  maps: number[];
}

/** The observed associates of an object, the strongest first. */
export function recalledBy(observed: Observed, object: number): Partner[] {
  const { offsets, partners, shares, closeEnds, closeMaps } = observed;
  const found: Partner[] = [];
  const end = elementAt(offsets, object + 1);
  for (let at = elementAt(offsets, object); at < end; at++) {
    const maps = [...closeMaps.subarray(closeEnds[at], closeEnds[at + 1])];
    found.push({ object: elementAt(partners, at), share: elementAt(shares, at), maps });
  }
  return found;
}

/** The objects that evoke an object, with shares of their own associations, the strongest first. */
export function whoRecalls({ offsets, partners, shares }: Observed, object: number): Partner[] {
  const found: Partner[] = [];
  let other = 0;
  for (let at = partners.indexOf(object); at >= 0; at = partners.indexOf(object, at + 1)) {
    while (inBounds(offsets[other + 1]) <= at) other++;
    found.push({ object: other, share: inBounds(shares[at]), maps: [] });
  }
  return found.sort((a, b) => b.share - a.share);
}

/** The observed share of an object's senses in a map; null for an object without data. */
export function observedIn(senses: SenseGroups | null, object: number, map: number): number | null {
  if (senses === null) return null;
  const { offsets, maps, shares } = senses;
  const [start, end] = [elementAt(offsets, object), elementAt(offsets, object + 1)];
  if (start === end) return null;
  let sum = 0;
  for (let s = start; s < end; s++) if (maps[s] === map) sum += elementAt(shares, s);
  return sum;
}
