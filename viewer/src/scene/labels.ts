/** The labels of single objects, above their dots, in one pass by importance.
 *
 * A label is shown if its box and its dot are free of what is there already.
 */
import type { Arrow, Segment } from "./callouts.ts";
import { type Camera, type Size, toScreen } from "./camera.ts";
import { type Boxes, boxAt, isWithin, type ScreenBox } from "./label_boxes.ts";
import { type LabelStyle, LEADING } from "./lettering.ts";
import { LEAST_LABELLED } from "./mark_data.ts";

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
  leader?: Segment | null;
  /** Points to its dot, if that lies beyond the picture. */
  arrow?: Arrow | null;
  /** Whether it was not there before, so that it appears gradually. */
  isNew?: boolean;
}

/** The part of a scene that labels use. */
export interface LabelSource {
  map: { points: Float32Array; objects: Uint32Array };
  look: { type: Record<LabelStyle, { size: number }> };
  text(entry: number, longest?: number): string;
  textSize(text: string, style: LabelStyle): Size;
  dotRadius(entry: number, zoom: number): number;
  style(entry: number): LabelStyle;
}

export const GAP = 2;
/** Dots are squares of so many radii. */
const DOT = 1.7;
/** No label is narrower. */
const NARROW = 12;

export function dotBox(x: number, y: number, radius: number): ScreenBox {
  return boxAt(x, y, DOT * radius, DOT * radius);
}

/** The labels that find room among some entries, which come in order; their boxes are added to `room`. */
export function greedyLabels(
  source: LabelSource,
  { camera, size }: { camera: Camera; size: Size },
  entries: Iterable<number>,
  room: { solid: Boxes; dots: Boxes },
  most: number,
  isSaid: (text: string) => boolean,
): ShownLabel[] {
  const { points, objects } = source.map;
  const shown: ShownLabel[] = [];
  for (const entry of entries) {
    if (shown.length === most) break;
    const [x, y] = toScreen(camera, size, points[2 * entry], points[2 * entry + 1]);
    if (x < 0 || x > size.width || y < 0 || y > size.height) continue;
    const radius = Math.max(LEAST_LABELLED, source.dotRadius(entry, camera.zoom));
    const dot = dotBox(x, y, radius);
    const style = source.style(entry);
    const high = LEADING * source.look.type[style].size;
    // Most labels have no room even if they are narrow, so only few are measured.
    const narrow = boxAt(x, y - radius - GAP - high / 2, NARROW, high);
    if (room.solid.meets(dot) || room.solid.meets(narrow) || room.dots.meets(narrow)) continue;
    const text = source.text(entry);
    if (!text || isSaid(text)) continue;
    const { width, height } = source.textSize(text, style);
    const middle = Math.min(Math.max(x, width / 2), size.width - width / 2);
    const box = boxAt(middle, y - radius - GAP - height / 2, width, height);
    if (!isWithin(box, size) || room.solid.meets(box) || room.dots.meets(box)) continue;
    room.solid.add(box);
    room.dots.add(dot);
    const object = objects[entry];
    shown.push({ entry, object, text, style, x: box.left, y: box.top, width, height });
  }
  return shown;
}
