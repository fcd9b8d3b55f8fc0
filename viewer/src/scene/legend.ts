/** The meaning of colours, shapes and sizes, for saved pictures. */

import type { Atlas } from "../data/atlas.ts";
import { plainText } from "../data/words.ts";
import type { Legend } from "./coloring.ts";
import { CIRCLE, shapeOf } from "./mark_data.ts";

/** A part of an entry; one in a colour is a mark of it. */
export type Run = { text: string; color?: string };

/** An entry of a legend: marks among words. */
export type Key = Run[];

const NARROW = "\u00A0";

/** The entries of a legend; `size` is the column that sizes the dots. */
export function keysOf(atlas: Atlas, legend: Legend, size: string | null, ink: string): Key[] {
  const keys = colorKeys(atlas, legend);
  if (size !== null) keys.push([{ text: `dot size: ${plainText(size)}` }]);
  const kinds = kindsBeside(atlas, legend);
  for (const kind of kinds) keys.push(dot(kind, ink, shapeOf(kind, kinds)));
  return keys;
}

/** The kinds of the objects, unless the colours of a legend show them. */
export function kindsBeside({ kinds }: Atlas, legend: Legend): readonly string[] {
  return legend.type === "category" && legend.name === "kind" ? [] : (kinds ?? []);
}

function colorKeys({ nMaps }: Atlas, legend: Legend): Key[] {
  if (legend.type === "category")
    return legend.items.map(({ label, color, shape }) => dot(label, color, shape));
  // In a single map every weight is 1, and where maps have islands, their names are the key.
  if (legend.type === "weight") {
    const { stops } = legend;
    return nMaps === 1 || stops.length === 0 ? [] : [ramp("map weight: low", stops, "high")];
  }
  const { name, low, high, stops, hasMissing, missing } = legend;
  const keys = [ramp(`${plainText(name)}: ${low}`, stops, high)];
  if (hasMissing) keys.push(dot("no value", missing));
  return keys;
}

function dot(label: string, color: string, shape = CIRCLE): Key {
  return [{ text: "●◆■".charAt(shape), color }, { text: NARROW + plainText(label) }];
}

function ramp(low: string, stops: readonly string[], high: string): Key {
  const marks = stops.map((color) => ({ text: "■", color }));
  return [{ text: low + NARROW }, ...marks, { text: NARROW + high }];
}
