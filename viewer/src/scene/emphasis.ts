/** A word and its neighbours, and their labels, which become smaller, then short, if not all fit. */
import { pointOf } from "../data/elements.ts";
import { type Anchor, isBeyond, placeAll } from "./callouts.ts";
import { type Camera, type Size, toScreen } from "./camera.ts";
import type { ScreenBox } from "./label_boxes.ts";
import { dotBox, type LabelSource, type ShownLabel } from "./labels.ts";
import type { LabelStyle } from "./lettering.ts";
import { LEAST_CHOSEN, LEAST_NEAR } from "./mark_data.ts";

/** Entries that stand out: shown whatever the look hides, labelled before all others. */
export interface Emphasis {
  chosen: readonly number[];
  near: readonly number[];
  /** The colours of some of them, in place of those of the map. */
  tints?: ReadonlyMap<number, string>;
}

export const NO_EMPHASIS: Emphasis = { chosen: [], near: [] };

/** Styles and lengths of the neighbours' labels, the first of which all find places are taken. */
const TRIALS: [LabelStyle, longest?: number][] = [["near"], ["tight"], ["tight", 13]];
const MOST_ARROWS = 8;

export class EmphasisLabels {
  /** The place of each label when it was placed last. */
  private ways = new Map<number, number>();

  constructor(
    private source: LabelSource,
    readonly emphasis: Emphasis,
  ) {}

  /** The labels at a camera, the most important first, clear of what covers the picture. */
  at(camera: Camera, size: Size, covers: readonly ScreenBox[]): ShownLabel[] {
    const { source, ways } = this;
    const { chosen, near } = this.emphasis;
    const point = (entry: number) => toScreen(camera, size, ...pointOf(source.map.points, entry));
    let [arrows, entries] = [0, [...new Set([...chosen, ...near])]];
    entries = entries.filter((entry) => source.text(entry));
    // From far off the word alone is pointed to.
    if (entries.every((entry) => isBeyond(point(entry), size))) entries = entries.slice(0, 1);
    entries = entries.filter((entry) => !isBeyond(point(entry), size) || arrows++ < MOST_ARROWS);
    let shown: ShownLabel[] = [];
    for (const [usual, longest] of TRIALS) {
      const styles = entries.map((entry) => (chosen.includes(entry) ? "chosen" : usual));
      const texts = entries.map((entry) => source.text(entry, longest));
      const anchors = entries.map((entry, i): Anchor => {
        const [x, y] = point(entry);
        const least = styles[i] === "chosen" ? LEAST_CHOSEN : LEAST_NEAR;
        const radius = Math.max(least, source.dotRadius(entry, camera.zoom));
        const extent = source.textSize(texts[i], styles[i]);
        return { x, y, radius, ...extent, dot: dotBox(x, y, radius), before: ways.get(entry) };
      });
      const places = placeAll(anchors, { size, covers });
      shown = entries.flatMap((entry, i): ShownLabel[] => {
        const place = places[i];
        if (!place) return [];
        ways.set(entry, place.way);
        const [object, text, style] = [source.map.objects[entry], texts[i], styles[i]];
        const { left: x, top: y } = place.box;
        const { width, height } = anchors[i];
        const { leader, arrow } = place;
        return [{ entry, object, text, style, x, y, width, height, leader, arrow }];
      });
      if (shown.length === entries.length) break;
    }
    return shown;
  }
}
