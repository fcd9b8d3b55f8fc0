/**
 * The place in the atlas that the address's hash names, so that a view can be sent:
 *
 *     #word=tie&map=3&zoom=42.1&x=1.25&y=-3.5&min=0.1&color=group&filter=group:not,0-3&select=5.2&lines=1
 *
 * `zoom` is in pixels a map unit and (x, y) the map's point in the middle of the screen. The zoom
 * has four significant digits; x and y have the decimals that a pixel at that zoom needs.
 *
 * Sets of numbers are runs: how far each begins after the one before, and where it holds several
 * numbers how many follow, all to the base 36: 5, 8 and 9 are "5.2-1". A filter is the column and the
 * categories that pass or do not, "group:only,0-3", or the range that passes, "year:1990,", with
 * ",none" where objects without a value pass too.
 */
import type { RangeFilter } from "../data/filters.ts";

const SHOWN = ["word", "kind", "maps", "select"] as const;
const DRAWN = ["color", "size"] as const;
const TEXTS = [...SHOWN, ...DRAWN] as const;
const MAX_COORDINATE = 1e12;
const COORDINATES = [-MAX_COORDINATE, MAX_COORDINATE] as const;
/** The numbers of an address, and between which values they make sense. */
const NUMBERS = {
  map: [0, 1e6],
  zoom: [1 / MAX_COORDINATE, MAX_COORDINATE],
  ...{ x: COORDINATES, y: COORDINATES },
  min: [0, 1],
} as const;

/**
 * A view as an address describes it; null for a missing part. `maps` is "all" or
 * "word" in place of the senses, `by` is "proportion" where that is drawn, `select` is in runs.
 */
export type Place = Record<(typeof TEXTS)[number], string | null> &
  Record<keyof typeof NUMBERS, number | null> & {
    lines: boolean;
    filters: [column: string, filter: Said][];
  };

/** A filter as an address says it: categories that pass alone, or do not, or a range. */
type Said = { only: string } | { not: string } | RangeFilter;

const NUMBER = /^-?\d+(\.\d+)?(e[+-]?\d+)?$/;

/** The hash of a place, with its "#"; "" for a place that says nothing. */
export function toHash(place: Place): string {
  const decimals = Math.ceil(Math.log10(place.zoom ?? 1000));
  const parts: [string, string | null][] = [
    ["word", place.word],
    ["kind", place.kind],
    ["map", written(place.map, Math.round)],
    ["maps", place.maps],
    ["zoom", written(place.zoom, (zoom) => Number(zoom.toPrecision(4)))],
    ["x", written(place.x, (x) => rounded(x, decimals))],
    ["y", written(place.y, (y) => rounded(y, decimals))],
    ["min", written(place.min, (least) => Number(least.toPrecision(4)))],
    ["color", place.color],
    ["size", place.size],
    ["lines", place.lines ? "1" : null],
    ...place.filters.map(([column, filter]): [string, string] => [
      "filter",
      `${column}:${writtenFilter(filter)}`,
    ]),
    ["select", place.select],
  ];
  const said = parts.filter(([, value]) => value !== null && value !== "");
  return said
    .map(([key, value], i) => `${i ? "&" : "#"}${key}=${encoded(value as string)}`)
    .join("");
}

/** The place that a hash names; parts that make no sense are passed over. */
export function fromHash(hash: string): Place {
  const parts = new Map<string, string>();
  const filters: Place["filters"] = [];
  for (const part of hash.replace(/^#/, "").split("&")) {
    const [key = "", ...value] = part.split("=");
    const decoded = decode(value.join("="));
    if (decoded && !parts.has(key)) parts.set(key, decoded);
    if (decoded && key === "filter") filters.push(...readFilter(decoded));
  }
  const place = { filters } as Place;
  for (const key of TEXTS) place[key] = parts.get(key) ?? null;
  place.lines = parts.get("lines") === "1";
  for (const key of Object.keys(NUMBERS) as (keyof typeof NUMBERS)[]) {
    const said = parts.get(key) ?? "";
    const [value, [low, high]] = [Number(said), NUMBERS[key]];
    place[key] = NUMBER.test(said) && value >= low && value <= high ? value : null;
  }
  if (!Number.isInteger(place.map)) place.map = null;
  return place;
}

function writtenFilter(filter: Said): string {
  if ("only" in filter) return `only,${filter.only}`;
  if ("not" in filter) return `not,${filter.not}`;
  const ends = [filter.low, filter.high].map((end) => (Number.isFinite(end) ? String(end) : ""));
  return [...ends, ...(filter.withMissing ? ["none"] : [])].join();
}

/** The filter that a text says, none where it makes no sense. */
function readFilter(text: string): Place["filters"] {
  const [, column = "", said = ""] = text.match(/^(.*):([^:]*)$/s) ?? [];
  const [first = "", second = "", ...more] = said.split(",");
  if (first === "only" || first === "not") return [[column, { [first]: second } as Said]];
  const end = (said: string, open: number) => {
    const value = NUMBER.test(said) ? Number(said) : Number.NaN;
    return said === "" ? open : Number.isFinite(value) ? value : Number.NaN;
  };
  const low = end(first, Number.NEGATIVE_INFINITY);
  const high = end(second, Number.POSITIVE_INFINITY);
  if (!(low <= high) || said === "") return [];
  return [[column, { low, high, withMissing: more[0] === "none" }]];
}

/** Ascending whole numbers as runs; what does not fit into so many characters is left out. */
export function toRuns(numbers: readonly number[], most = Number.POSITIVE_INFINITY): string {
  let text = "";
  let next = 0;
  for (let k = 0; k < numbers.length; ) {
    const first = numbers[k] as number;
    let more = 0;
    while (numbers[k + more + 1] === first + more + 1) more++;
    const run = `${(first - next).toString(36)}${more > 0 ? `-${more.toString(36)}` : ""}`;
    if (text.length + 1 + run.length > most) break;
    text += `${text && "."}${run}`;
    next = first + more + 1;
    k += more + 1;
  }
  return text;
}

/** The numbers below a limit that a text of runs contains; null for any other text. */
export function fromRuns(text: string, limit: number): number[] | null {
  if (!/^[\da-z]{1,8}(-[\da-z]{1,8})?(\.[\da-z]{1,8}(-[\da-z]{1,8})?)*$/.test(text)) return null;
  const numbers: number[] = [];
  let next = 0;
  for (const run of text.split(".")) {
    const [gap = 0, more = 0] = run.split("-").map((part) => Number.parseInt(part, 36));
    const end = next + gap + more + 1;
    for (next += gap; next < Math.min(end, limit); next++) numbers.push(next);
    next = end;
  }
  return numbers;
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
