/** Labels, shares and counts in words, for sentences and for the names of things. */

import type { Atlas, AtlasMap } from "./atlas.ts";
import { elementAt } from "./elements.ts";

/** A label for messages and names: never empty, never endless. */
export function plainLabel(atlas: Atlas, object: number): string {
  return plain(elementAt(atlas.labels, object));
}

function plain(text: string): string {
  const label = text.replace(/\s+/g, " ").trim();
  if (label === "") return "an object without a label";
  return label.length > 60 ? `${label.slice(0, 59)}…` : label;
}

/** The first words of those that name a map. */
export function mapTitle(map: AtlasMap, most = 4): string {
  return map.title.slice(0, most).map(plain).join(" · ") || "no words";
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
