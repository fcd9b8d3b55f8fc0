/**
 * Names of the regions of a map: large and quiet where one looks from afar, gone where one is near.
 *
 * A region is called by the category that most of its shown members have, where the map is coloured by
 * categories; else by its own name, or by words. Its name fades as the region comes to fill the
 * screen: the names of single objects take its place.
 */
import type { Atlas, AtlasMap, CategoryColumn } from "../data/atlas.ts";
import { NO_CATEGORY } from "../data/atlas.ts";
import { elementAt, inBounds, pointOf } from "../data/elements.ts";
import { type Camera, type Size, toScreen } from "./camera.ts";
import type { Coloring } from "./coloring.ts";
import { boxAt, meet, type ScreenBox } from "./label_boxes.ts";
import { labelText } from "./lettering.ts";

/** A region with what it is called, and how far it reaches, in map units. */
export interface NamedRegion {
  text: string;
  x: number;
  y: number;
  reach: number;
  /** So many of its heights below its place the name stands. */
  shift: number;
  /** The labels of which the name is made; none of a name proper. */
  words: readonly string[];
}

export interface ShownName {
  text: string;
  words: readonly string[];
  style: "region";
  /** Left upper corner and extent of its box in CSS pixels. */
  x: number;
  y: number;
  width: number;
  height: number;
  opacity: number;
}

/** A region less of which is shown has no name. */
const LEAST_SHOWN = 0.25;
const MOST_WORDS = 2;
const MOST_LETTERS = 24;
/** A name fades while its region grows from the first to the second of these shares of the screen. */
const FADING = [0.45, 0.75] as const;
/** No name fades before the map is so many times as large as the screen. */
const EARLIEST = 1.6;
/** Free pixels between names. */
const GAP = 6;
/** So many of its heights below its place a name may stand, and words, which are few dots' own. */
const SHIFTS = [0, -1, 1];
const WORD_SHIFTS = [-1, 1, 0];

/** The regions that are to be named, those of most objects first. */
export function namedRegions(
  atlas: Atlas,
  map: AtlasMap,
  coloring: Coloring,
  visible: Uint8Array,
): NamedRegion[] {
  const { legend } = coloring;
  const column = atlas.columns.find(
    (other): other is CategoryColumn =>
      other.type === "category" && legend.type === "category" && other.name === legend.name,
  );
  return map.regions.flatMap((region) => {
    const members = region.members.filter((entry) => visible[entry]);
    if (members.length < Math.max(1, LEAST_SHOWN * region.members.length)) return [];
    const name = (column && commonName(column, map, members)) || labelText(region.name);
    const words = name ? [] : region.words.slice(0, MOST_WORDS).map(labelText);
    while (words.length > 1 && words.join(", ").length > MOST_LETTERS) words.pop();
    const text = name || words.join(", ");
    const { x, y } = region;
    let sum = 0;
    for (const entry of members) {
      const [toX, toY] = pointOf(map.points, entry);
      sum += (toX - x) ** 2 + (toY - y) ** 2;
    }
    const reach = Math.sqrt(sum / members.length);
    return text ? [{ text, words, x, y, reach, shift: 0 }] : [];
  });
}

/** What most of some entries are and few others; "" where there is no such thing. */
function commonName(column: CategoryColumn, { objects }: AtlasMap, entries: Uint32Array): string {
  const { categories, codes } = column;
  const here = new Uint32Array(categories.length);
  for (const entry of entries) {
    const code = inBounds(codes[inBounds(objects[entry])]);
    if (code !== NO_CATEGORY) here[code] = inBounds(here[code]) + 1;
  }
  const code = here.indexOf(here.reduce((most, count) => Math.max(most, count), 0));
  const share = (here[code] ?? 0) / entries.length;
  if (share <= 0.5) return "";
  const usual = codes.reduce((n, other) => n + (other === code ? 1 : 0), 0) / codes.length;
  // Numbers say nothing by themselves.
  const isNumbered = categories.every((category) => /^-?\d+$/.test(category));
  const name = elementAt(categories, code);
  return share > usual ? labelText(isNumbered ? `${column.name} ${name}` : name) : "";
}

/** How much of a region's name is seen: all from afar, nothing near by. */
function opacityOf(reach: number, camera: Camera, size: Size, whole: number): number {
  const [from, to] = FADING;
  const share = (2 * reach * camera.zoom) / Math.min(size.width, size.height);
  const late = (camera.zoom / whole / EARLIEST - 1) / (to / from - 1);
  return 1 - Math.min(1, Math.max(0, Math.min((share - from) / (to - from), late)));
}

type TextSize = (text: string) => { width: number; height: number };

/** The box of a region's name, where it stands or a little above or below. */
function boxOf(region: NamedRegion, camera: Camera, size: Size, textSize: TextSize): ScreenBox {
  const { width, height } = textSize(region.text);
  const [x, y] = toScreen(camera, size, region.x, region.y);
  return boxAt(x, y + region.shift * height, width, height);
}

/**
 * The regions whose names find a place that is free of those before, at a zoom near the whole map.
 *
 * There they stay, so that names are free of one another wherever one is nearer, and no label has to
 * go for a name that comes while one zooms in.
 */
export function settledRegions(
  regions: readonly NamedRegion[],
  camera: Camera,
  size: Size,
  textSize: TextSize,
): NamedRegion[] {
  const near = { ...camera, zoom: EARLIEST * camera.zoom };
  const taken: ScreenBox[] = [];
  return regions.flatMap((region) => {
    for (const shift of region.words.length ? WORD_SHIFTS : SHIFTS) {
      const placed = { ...region, shift };
      const box = grown(boxOf(placed, near, size, textSize), GAP / 2);
      if (taken.some((other) => meet(other, box))) continue;
      taken.push(box);
      return [placed];
    }
    return [];
  });
}

/**
 * The names at a camera, the first ones first: those that meet neither one another nor what is taken,
 * and the room and the words of those too that others hide here, for them labels would have to go
 * as one comes nearer. `whole` is the zoom that shows the whole map.
 */
export function namesAt(
  regions: readonly NamedRegion[],
  { camera, size, whole }: { camera: Camera; size: Size; whole: number },
  textSize: TextSize,
  taken: readonly ScreenBox[],
): { names: ShownName[]; room: ScreenBox[]; words: Set<string> } {
  const names: ShownName[] = [];
  const boxes: ScreenBox[] = [];
  const room: ScreenBox[] = [];
  const said = new Set<string>();
  for (const region of regions) {
    const opacity = opacityOf(region.reach, camera, size, whole);
    if (opacity < 0.05) continue;
    const box = boxOf(region, camera, size, textSize);
    const wide = grown(box, GAP / 2);
    const isFree = (others: readonly ScreenBox[]) => !others.some((other) => meet(other, wide));
    if (!isWithin(box, size) || !isFree(taken)) continue;
    room.push(box);
    for (const word of region.words) said.add(word);
    if (!isFree(boxes)) continue;
    boxes.push(box);
    const { left: x, top: y, right, bottom } = box;
    const { text, words } = region;
    const extent = { width: right - x, height: bottom - y };
    names.push({ text, words, style: "region", x, y, ...extent, opacity });
  }
  return { names, room, words: said };
}

function isWithin({ left, top, right, bottom }: ScreenBox, { width, height }: Size): boolean {
  return left >= 0 && top >= 0 && right <= width && bottom <= height;
}

function grown({ left, top, right, bottom }: ScreenBox, by: number): ScreenBox {
  return { left: left - by, top: top - by, right: right + by, bottom: bottom + by };
}
