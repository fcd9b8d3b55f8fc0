/** Names of the regions of a map, in their colours: islands from afar, their parts nearer, then words. */
import type { Atlas, AtlasMap, CategoryColumn } from "../data/atlas.ts";
import { NO_CATEGORY } from "../data/atlas.ts";
import { pointOf } from "../data/elements.ts";
import { WAYS } from "./callouts.ts";
import { type Box, type Camera, type Size, toScreen } from "./camera.ts";
import type { Coloring, Palette } from "./coloring.ts";
import { boxAt, countIn, isWithin, meet, type Point, type ScreenBox } from "./label_boxes.ts";
import { labelText } from "./lettering.ts";

export interface NamedRegion {
  text: string;
  color: string;
  /** The middle of the members and how far they reach both ways, in map units. */
  x: number;
  y: number;
  reach: Point;
  /** The side on which the name stands: -1, 0 or 1 both ways, upwards. */
  side: Point;
  /** Whether it stands from afar, and whether near by. */
  isFar: boolean;
  isNear: boolean;
  /** The labels of which the name is made; none of a name proper. */
  words: readonly string[];
}

export interface ShownName {
  text: string;
  words: readonly string[];
  style: "region";
  color: string;
  /** Left upper corner and extent of its box in CSS pixels. */
  x: number;
  y: number;
  width: number;
  height: number;
  opacity: number;
  /** The box of the region in map units. */
  region: Box;
}

const LEAST_SHOWN = 0.25;
const MOST_WORDS = 2;
const MOST_LETTERS = 24;
/** Parts take the place of islands, and words that of parts, where the map is so many times as large. */
const PARTS = [1.7, 2.1] as const;
const WORDS = [5, 7] as const;
const GAP = 4;
/** Members reach so many standard deviations from their middle, for the name and for the box. */
const BESIDE = 1.2;
const WHOLE = 2;
/** So many dots count where a name looks for the place that covers the fewest. */
export const COUNTED = 3000;
const SIDES: Point[] = [...WAYS.map(([right, down]): Point => [right, -down]), [0, 0]];

/** The regions that are to be named: islands, then parts, those of most objects first. */
export function namedRegions(
  atlas: Atlas,
  map: AtlasMap,
  { legend }: Coloring,
  { islands, faint }: Palette,
  visible: Uint8Array,
): NamedRegion[] {
  const column = atlas.columns.find(
    (other): other is CategoryColumn =>
      other.type === "category" && legend.type === "category" && other.name === legend.name,
  );
  const divided = new Set(map.regions.map(({ island }) => island));
  return map.regions.flatMap((region, number) => {
    const members = region.members.filter((entry) => visible[entry]);
    if (members.length < Math.max(1, LEAST_SHOWN * region.members.length)) return [];
    const name = (column && commonName(column, map, members)) || labelText(region.name);
    const words = name
      ? []
      : region.words.slice(0, MOST_WORDS).map((word) => labelText(word, atlas.labels));
    while (words.length > 1 && words.join(", ").length > MOST_LETTERS) words.pop();
    const [x, reachX] = spread(map, members, 0);
    const [y, reachY] = spread(map, members, 1);
    const named: NamedRegion = {
      ...{ text: name || words.join(", "), words, x, y, reach: [reachX, reachY], side: [0, 0] },
      color: legend.type === "weight" ? islands[region.hue] : faint,
      isFar: region.island === null,
      isNear: !divided.has(number),
    };
    return named.text ? [named] : [];
  });
}

function spread({ points }: AtlasMap, entries: Uint32Array, axis: number): Point {
  const value = (entry: number) => points[2 * entry + axis];
  const mean = entries.reduce((sum, entry) => sum + value(entry), 0) / entries.length;
  const square = entries.reduce((sum, entry) => sum + (value(entry) - mean) ** 2, 0);
  return [mean, Math.sqrt(square / entries.length)];
}

/** The category of more than half of some entries, if it is rarer elsewhere; otherwise "". */
function commonName(column: CategoryColumn, { objects }: AtlasMap, entries: Uint32Array): string {
  const { categories, codes } = column;
  const here = new Uint32Array(categories.length);
  for (const entry of entries) {
    const code = codes[objects[entry]];
    if (code !== NO_CATEGORY) here[code] = here[code] + 1;
  }
  const code = here.indexOf(here.reduce((most, count) => Math.max(most, count), 0));
  const share = (here[code] ?? 0) / entries.length;
  if (share <= 0.5) return "";
  const usual = codes.reduce((n, other) => n + (other === code ? 1 : 0), 0) / codes.length;
  // Numbers say nothing by themselves.
  const isNumbered = categories.every((category) => /^-?\d+$/.test(category));
  const name = categories[code];
  return share > usual ? labelText(isNumbered ? `${column.name} ${name}` : name) : "";
}

/** 0 up to the first of two values, 1 from the second one on. */
function rising(value: number, [from, to]: readonly [number, number]): number {
  return Math.min(1, Math.max(0, (value - from) / (to - from)));
}

/** How much of a region's name is seen where the map is so many times as large as the screen. */
function opacityOf({ isFar, isNear }: NamedRegion, times: number): number {
  const parts = rising(times, PARTS);
  return Math.min(isFar ? 1 : parts, 1 - (isNear ? rising(times, WORDS) : parts));
}

type TextSize = (text: string) => { width: number; height: number };

/** The box of a region's name, on its side of the region. */
function boxOf(region: NamedRegion, camera: Camera, size: Size, textSize: TextSize): ScreenBox {
  const { width, height } = textSize(region.text);
  const { side, reach } = region;
  // Names at corners stand on the same ellipse as the others, so that they stay near their region.
  const far = side[0] && side[1] ? BESIDE * Math.SQRT1_2 : BESIDE;
  const [right, up] = [far * side[0] * reach[0], far * side[1] * reach[1]];
  const [x, y] = toScreen(camera, size, region.x + right, region.y + up);
  return boxAt(x + (side[0] * width) / 2, y - (side[1] * height) / 2, width, height);
}

/** The regions whose names find a side that is free where their level begins, and covers few dots. */
export function settledRegions(
  regions: readonly NamedRegion[],
  { points, order }: AtlasMap,
  whole: Camera,
  size: Size,
  textSize: TextSize,
): NamedRegion[] {
  const settled: NamedRegion[] = [];
  for (const isFar of [true, false]) {
    const camera = isFar ? whole : { ...whole, zoom: PARTS[0] * whole.zoom };
    const boxAtLevel = (region: NamedRegion) =>
      grown(boxOf(region, camera, size, textSize), GAP / 2);
    // Islands without parts stand among the parts, too.
    const taken = settled.filter(({ isNear }) => isNear).map(boxAtLevel);
    const dots = Array.from(order.subarray(0, COUNTED), (entry) =>
      toScreen(camera, size, ...pointOf(points, entry)),
    );
    for (const region of regions) {
      if (region.isFar !== isFar) continue;
      let [best, least] = [region, Number.POSITIVE_INFINITY];
      for (const side of SIDES) {
        const box = boxAtLevel({ ...region, side });
        if (isFar && !isWithin(box, size)) continue;
        if (taken.some((other) => meet(other, box))) continue;
        const covered = countIn(dots, box);
        if (covered < least) [best, least] = [{ ...region, side }, covered];
      }
      if (least === Number.POSITIVE_INFINITY) continue;
      taken.push(boxAtLevel(best));
      settled.push(best);
    }
  }
  return settled;
}

/** The names at a camera, and the words of those too that others hide; `whole` shows the whole map. */
export function namesAt(
  regions: readonly NamedRegion[],
  { camera, size, whole }: { camera: Camera; size: Size; whole: number },
  textSize: TextSize,
  taken: readonly ScreenBox[],
): { names: ShownName[]; words: Set<string> } {
  const names: ShownName[] = [];
  const boxes: [boolean, ScreenBox][] = [];
  const said = new Set<string>();
  for (const region of regions) {
    const opacity = opacityOf(region, camera.zoom / whole);
    if (opacity < 0.05) continue;
    const box = boxOf(region, camera, size, textSize);
    const wide = grown(box, GAP / 2);
    if (!isWithin(box, size) || taken.some((other) => meet(other, wide))) continue;
    const { text, words, color, x, y, reach, isFar, isNear } = region;
    for (const word of words) said.add(word);
    // While parts take the place of an island, one shines through the other.
    const isInWay = ([isPassing, other]: [boolean, ScreenBox]) =>
      !(isPassing && isNear) && meet(other, wide);
    if (boxes.some(isInWay)) continue;
    boxes.push([isFar && !isNear, box]);
    const extent = { width: box.right - box.left, height: box.bottom - box.top };
    const [wideX, wideY] = [WHOLE * reach[0], WHOLE * reach[1]];
    names.push({
      ...{ text, words, color, style: "region", x: box.left, y: box.top, ...extent, opacity },
      region: [x - wideX, y - wideY, x + wideX, y + wideY],
    });
  }
  return { names, words: said };
}

function grown({ left, top, right, bottom }: ScreenBox, by: number): ScreenBox {
  return { left: left - by, top: top - by, right: right + by, bottom: bottom + by };
}
