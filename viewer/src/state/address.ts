/**
 * The place in the atlas that the address's hash names, so that a view can be sent:
 *
 *     #word=tie&map=3&zoom=42.1&x=1.25&y=-3.5&min=0.1&color=group&lines=1
 *
 * `zoom` is in pixels a map unit and (x, y) the map's point in the middle of the screen. The zoom
 * has four significant digits; x and y have the decimals that a pixel at that zoom needs.
 */

/** What an address says of a view; null where it says nothing. */
export interface Place {
  word: string | null;
  kind: string | null;
  map: number | null;
  zoom: number | null;
  x: number | null;
  y: number | null;
  threshold: number | null;
  color: string | null;
  size: string | null;
  lines: boolean;
}

const MAX_COORDINATE = 1e12;
const MAX_MAP = 1e6;
const NUMBER = /^-?\d+(\.\d+)?(e[+-]?\d+)?$/;

/** The hash of a place, with its "#"; "" for a place that says nothing. */
export function toHash(place: Place): string {
  const decimals = Math.ceil(Math.log10(place.zoom ?? 1000));
  const parts: [string, string | null][] = [
    ["word", place.word],
    ["kind", place.kind],
    ["map", written(place.map, Math.round)],
    ["zoom", written(place.zoom, (zoom) => Number(zoom.toPrecision(4)))],
    ["x", written(place.x, (x) => rounded(x, decimals))],
    ["y", written(place.y, (y) => rounded(y, decimals))],
    ["min", written(place.threshold, (least) => Number(least.toPrecision(4)))],
    ["color", place.color],
    ["size", place.size],
    ["lines", place.lines ? "1" : null],
  ];
  const said = parts.filter(([, value]) => value !== null && value !== "");
  return said
    .map(([key, value], i) => `${i ? "&" : "#"}${key}=${encoded(value as string)}`)
    .join("");
}

/** The place that a hash names; parts that make no sense are passed over. */
export function fromHash(hash: string): Place {
  const parts = new Map<string, string>();
  for (const part of hash.replace(/^#/, "").split("&")) {
    const [key = "", ...value] = part.split("=");
    const decoded = decode(value.join("="));
    if (decoded && !parts.has(key)) parts.set(key, decoded);
  }
  const number = (key: string, low: number, high: number) => {
    const said = parts.get(key);
    if (said === undefined || !NUMBER.test(said)) return null;
    const value = Number(said);
    return value >= low && value <= high ? value : null;
  };
  const map = number("map", 0, MAX_MAP);
  return {
    word: parts.get("word") ?? null,
    kind: parts.get("kind") ?? null,
    map: map !== null && Number.isInteger(map) ? map : null,
    zoom: number("zoom", 1 / MAX_COORDINATE, MAX_COORDINATE),
    x: number("x", -MAX_COORDINATE, MAX_COORDINATE),
    y: number("y", -MAX_COORDINATE, MAX_COORDINATE),
    threshold: number("min", 0, 1),
    color: parts.get("color") ?? null,
    size: parts.get("size") ?? null,
    lines: parts.get("lines") === "1",
  };
}

function written(value: number | null, round: (value: number) => number): string | null {
  return value !== null && Number.isFinite(value) ? String(round(value)) : null;
}

function rounded(value: number, decimals: number): number {
  // Adding 0 makes -0 a plain 0.
  return Number(value.toFixed(Math.min(Math.max(decimals, 0), 20))) + 0;
}

function encoded(value: string): string {
  // A lone surrogate has no UTF-8; the characters given back need no escape in a hash.
  return encodeURIComponent(value.replace(/\p{Surrogate}/gu, "\ufffd")).replace(
    /%(2C|2F|3A|3B|40|24)/g,
    decodeURIComponent,
  );
}

function decode(value: string): string | null {
  try {
    return decodeURIComponent(value);
  } catch {
    return null;
  }
}
