/**
 * The emphasized entries of a map, a word and its neighbours, and their labels, which all have a place.
 *
 * Where not all find one, those of the neighbours become smaller, and then short.
 */
import { pointOf } from "../data/elements.ts";
import { type Anchor, type Arrow, type Callout, isBeyond, placeAll } from "./callouts.ts";
import { type Camera, type Size, toScreen } from "./camera.ts";
import { boxAt, type ScreenBox } from "./label_boxes.ts";
import type { LabelStyle } from "./lettering.ts";
import { LEAST_CHOSEN, LEAST_NEAR } from "./mark_data.ts";

/** Entries that stand out: shown whatever the look hides, labelled before all others. */
export interface Emphasis {
  chosen: readonly number[];
  /** The nearest first. */
  near: readonly number[];
  /** The colours of some of them, in place of those of the map. */
  tints?: ReadonlyMap<number, string>;
}

export const NO_EMPHASIS: Emphasis = { chosen: [], near: [] };

export interface ShownLabel {
  entry: number;
  object: number;
  text: string;
  style: LabelStyle;
  /** Left upper corner and extent of its box in CSS pixels. */
  x: number;
  y: number;
  width: number;
  height: number;
  /** The line from its dot, where it does not stand beside that. */
  leader?: Callout["leader"];
  /** Points to its dot, where that lies beyond the picture. */
  arrow?: Arrow | null;
}

/** The part of a scene that these labels use. */
interface LabelSource {
  map: { points: Float32Array; objects: Uint32Array };
  text(entry: number, longest?: number): string;
  textSize(text: string, style: LabelStyle): { width: number; height: number };
  dotRadius(entry: number, zoom: number): number;
  /** How far above its dot the label of an entry stands best at a zoom; null where it is all the same. */
  lift(entry: number, style: LabelStyle, zoom: number): number | null;
}

const SHORT = 13;
const MOST_ARROWS = 8;

export class EmphasisLabels {
  /** Where each label stood when it was placed last. */
  private ways = new Map<number, number>();

  constructor(
    private source: LabelSource,
    readonly emphasis: Emphasis,
  ) {}

  /** The labels at a camera, the most important first, clear of what covers the picture. */
  at(camera: Camera, size: Size, covers: readonly ScreenBox[]): ShownLabel[] {
    const { source, emphasis } = this;
    const { chosen } = emphasis;
    const isChosen = new Set(chosen);
    const point = (entry: number) => toScreen(camera, size, ...pointOf(source.map.points, entry));
    let [arrows, entries] = [0, [...new Set([...chosen, ...emphasis.near])]];
    entries = entries.filter((entry) => source.text(entry));
    // From far off the word alone is pointed to.
    if (entries.every((entry) => isBeyond(point(entry), size))) entries = entries.slice(0, 1);
    entries = entries.filter((entry) => !isBeyond(point(entry), size) || arrows++ < MOST_ARROWS);
    let shown: ShownLabel[] = [];
    for (const { style, longest } of [
      { style: "near" },
      { style: "tight" },
      { style: "tight", longest: SHORT },
    ] as { style: LabelStyle; longest?: number }[]) {
      const labels = entries.map((entry) => {
        const text = source.text(entry, longest);
        const own: LabelStyle = isChosen.has(entry) ? "chosen" : style;
        return { entry, style: own, text };
      });
      const anchors = labels.map(({ entry, style, text }): Anchor => {
        const [x, y] = point(entry);
        const least = style === "chosen" ? LEAST_CHOSEN : LEAST_NEAR;
        const radius = Math.max(least, source.dotRadius(entry, camera.zoom));
        return {
          ...{ x, y, radius, ...source.textSize(text, style) },
          lift: source.lift(entry, style, camera.zoom),
          dot: boxAt(x, y, 1.7 * radius, 1.7 * radius),
          before: this.ways.get(entry),
        };
      });
      const places = placeAll(anchors, { size, covers, hasLeaders: true });
      shown = labels.flatMap((label, i) => this.shown(label, places[i] ?? null));
      if (shown.length === entries.length) break;
    }
    return shown;
  }

  private shown(
    { entry, style, text }: { entry: number; style: LabelStyle; text: string },
    place: Callout | null,
  ): ShownLabel[] {
    if (place === null) return [];
    this.ways.set(entry, place.way);
    const { left: x, top: y, right, bottom } = place.box;
    const { leader, arrow } = place;
    const object = this.source.map.objects[entry];
    const extent = { width: right - x, height: bottom - y };
    return [{ entry, object, text, style, x, y, ...extent, leader, arrow }];
  }
}
