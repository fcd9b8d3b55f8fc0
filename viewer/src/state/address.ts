/** The view that the address's hash names, so that a view can be sent:
 *
 *     #word=tie&kind=word&map=3&zoom=42.1&x=1.25&y=-3.5&min=0.1&color=group&filter=group:only,0,3
 *
 * A filter lists the numbers of categories that pass ("only") or not ("not"), or a range, as in
 * "year:1990,", with ",none" if objects without a value pass. "maps=all" is the gallery of a word.
 */
import { type Atlas, type Column, kindOf } from "../data/atlas.ts";
import { type CodeFilter, codesOf, type Filters, type RangeFilter } from "../data/filters.ts";
import type { Camera } from "../scene/camera.ts";
import { colorColumns, sizeColumns } from "../scene/coloring.ts";
import { fold } from "./search.ts";
import { noMatch } from "./sentences.ts";
import type { State } from "./store.ts";

/** The value in an address if the page's own column is switched off. */
const NO_COLUMN = "(weight)";
/** Four digits of a zoom are more than a pixel. */
const DIGITS = 4;

type Viewed = Pick<State, "word" | "map" | "gallery" | "camera" | "threshold" | "color" | "size"> &
  Pick<State, "filters">;

/** The hash of a view, with its "#"; "" for a page as it opens. */
export function toHash(atlas: Atlas, state: Viewed): string {
  const { word, map, camera, threshold, color, size } = state;
  const parts: [string, string | number | null][] = [
    ["word", word === null ? null : atlas.labels[word]],
    ["kind", word === null ? null : kindOf(atlas, word)],
    ["map", atlas.nMaps === 1 && camera === null ? null : map],
    ["maps", state.gallery ? "all" : null],
    ...cameraParts(camera),
    ["min", threshold === atlas.minWeight ? null : Number(threshold.toPrecision(DIGITS))],
    ["color", color === atlas.color ? null : (color ?? NO_COLUMN)],
    ["size", size === atlas.size ? null : (size ?? NO_COLUMN)],
    ...filterParts(atlas, state.filters),
  ];
  const given = parts.filter(([, value]) => value !== null && value !== "");
  const query = new URLSearchParams(given.map(([key, value]) => [key, String(value)])).toString();
  return query && `#${query.replace(/%(2C|3A|2F)/g, decodeURIComponent)}`;
}

function cameraParts(camera: Camera | null): [string, number][] {
  if (camera === null) return [];
  const { x, y, zoom } = camera;
  // As many decimals as a pixel needs.
  const decimals = Math.min(20, Math.max(0, Math.ceil(Math.log10(zoom))));
  return [
    ["zoom", Number(zoom.toPrecision(DIGITS))],
    ["x", Number(x.toFixed(decimals))],
    ["y", Number(y.toFixed(decimals))],
  ];
}

function filterParts(atlas: Atlas, filters: Filters): [string, string][] {
  return [...filters].map(([name, filter]) => {
    let value: string;
    if ("has" in filter) {
      const column = atlas.columns.find((other) => other.name === name);
      const codes = column?.type === "category" ? codesOf(atlas, column) : [];
      const only = codes.filter((code) => !filter.has(code));
      value = only.length < filter.size ? `only,${only}` : `not,${[...filter]}`;
    } else {
      const ends = [filter.low, filter.high].map((end) => (Number.isFinite(end) ? end : ""));
      value = [...ends, ...(filter.withMissing ? ["none"] : [])].join();
    }
    return ["filter", `${name}:${value}`];
  });
}

/** The state that a hash describes; parts that the atlas does not have are skipped. */
export function stateAt(atlas: Atlas, hash: string): Partial<State> {
  const parts = new URLSearchParams(hash.replace(/^#/, ""));
  const number = (key: string) => {
    const value = Number(parts.get(key) || Number.NaN);
    return Number.isFinite(value) ? value : null;
  };
  const [label, asked] = [parts.get("word"), number("map")];
  const from = atlas.starts[atlas.kinds?.indexOf(parts.get("kind") ?? "") ?? 0];
  const word = label ? named(atlas, label, from) : null;
  const isMap = asked !== null && Number.isInteger(asked) && asked >= 0 && asked < atlas.nMaps;
  const map = atlas.nMaps === 1 ? 0 : isMap ? asked : null;
  let notice = "";
  if (label && word === null) notice = noMatch(atlas, label);
  else if (asked !== null && asked !== map)
    notice = `Map ${asked} does not exist; the last map is map ${atlas.nMaps - 1}`;
  const [zoom, x, y, least] = [number("zoom"), number("x"), number("y"), number("min")];
  const hasCamera = zoom !== null && zoom > 0 && x !== null && y !== null && map !== null;
  const column = (name: string | null, usual: string | null, columns: readonly Column[]) => {
    if (name === NO_COLUMN) return null;
    return columns.some((other) => other.name === name) ? name : usual;
  };
  return {
    ...{ word, map, notice, markedMap: null },
    gallery: word !== null && map === null && parts.get("maps") === "all",
    camera: hasCamera ? { zoom, x, y } : null,
    threshold: least !== null && least >= 0 && least <= 1 ? least : atlas.minWeight,
    color: column(parts.get("color"), atlas.color, colorColumns(atlas)),
    size: column(parts.get("size"), atlas.size, sizeColumns(atlas)),
    filters: filtersIn(atlas, parts.getAll("filter")),
  };
}

function filtersIn(atlas: Atlas, given: readonly string[]): Filters {
  const filters = new Map<string, CodeFilter | RangeFilter>();
  for (const text of given) {
    const at = text.lastIndexOf(":");
    const [how, ...values] = text.slice(at + 1).split(",");
    const column = atlas.columns.find(({ name }) => name === text.slice(0, at));
    if (column?.type === "category" && (how === "only" || how === "not")) {
      const all = codesOf(atlas, column);
      const isAmong = (code: number) => values.includes(String(code));
      if (!all.some(isAmong)) continue;
      filters.set(column.name, new Set(all.filter((code) => isAmong(code) === (how === "not"))));
    }
    if (column?.type === "number") {
      const low = how === "" ? Number.NEGATIVE_INFINITY : Number(how);
      const high = values[0] ? Number(values[0]) : Number.POSITIVE_INFINITY;
      const withMissing = values[1] === "none";
      if (low <= high) filters.set(column.name, { low, high, withMissing });
    }
  }
  return filters;
}

/** The object of a label, else the first without case and accents; null without any. */
function named({ labels }: Atlas, label: string, from = 0): number | null {
  const exact = labels.indexOf(label, from);
  if (exact >= 0) return exact;
  const wanted = fold(label);
  const found = labels.findIndex((other, at) => at >= from && fold(other) === wanted);
  return found >= 0 ? found : null;
}
