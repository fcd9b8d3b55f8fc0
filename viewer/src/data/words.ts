/** Labels, shares and counts in words, for sentences and for the names of things. */

import type { Atlas, AtlasMap } from "./atlas.ts";
import { elementAt } from "./elements.ts";

/** A label for messages and names: never empty, never endless. */
export function plainLabel(atlas: Atlas, object: number): string {
  const label = elementAt(atlas.labels, object).replace(/\s+/g, " ").trim();
  if (label === "") return "an object without a label";
  return label.length > 60 ? `${label.slice(0, 59)}…` : label;
}

/** The first words of those that name a map. */
export function mapTitle(atlas: Atlas, map: AtlasMap, most = 4): string {
  const words = map.title.slice(0, most).map((object) => plainLabel(atlas, object));
  return words.join(" · ") || "no words";
}

/** A share as per cent: two digits that tell, "less than" where there are none. */
export function percent(share: number): string {
  const value = 100 * share;
  if (value <= 0) return "0%";
  if (value < 0.01) return "<0.01%";
  if (value >= 9.95) return `${Math.round(value)}%`;
  return `${value.toFixed(value < 0.995 ? 2 : 1)}%`;
}

/** A count with its noun: 1 map, 2,000 words. */
export function counted(count: number, noun: string): string {
  return `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;
}
