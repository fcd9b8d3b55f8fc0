/** Fitted variables over a map: arrows and centroids, each with its name beyond it. */
import type { Vector } from "../data/atlas.ts";
import { hits, type Segment } from "./callouts.ts";
import { type Camera, type Size, toScreen } from "./camera.ts";
import { boxAt, countIn, meet, type Point, type ScreenBox } from "./label_boxes.ts";

const GAP = 5;
/** How far round its tip, in radians, a name may stand from where an arrow points: in eight places. */
const TURNS = [0, 0.8, -0.8, 1.6, -1.6, 2.4, -2.4, 3.1];

export interface VectorMark {
  name: string;
  /** Where an arrow starts, and its tip; a centroid has one place twice. */
  line: Segment;
  angle: number;
  box: ScreenBox;
}

/** Variables at a camera; each name takes the place round its tip that covers the fewest dots. */
export function vectorMarks(
  vectors: readonly Vector[],
  camera: Camera,
  size: Size,
  textSize: (name: string) => Size,
  dots: readonly Point[],
): VectorMark[] {
  const lines = vectors.map(
    ({ x, y, from }): Segment => [
      toScreen(camera, size, ...(from ?? [x, y])),
      toScreen(camera, size, x, y),
    ],
  );
  const taken: ScreenBox[] = [];
  return lines.map((line, k) => {
    const [[left, top], [x, y]] = line;
    const { name } = vectors[k];
    const angle = Math.atan2(y - top, x - left);
    const { width, height } = textSize(name);
    const places = TURNS.map((turn) => {
      const right = x + Math.round(Math.cos(angle + turn)) * (width / 2 + GAP);
      const below = y + Math.round(Math.sin(angle + turn)) * (height / 2 + GAP);
      return boxAt(right, below, width, height);
    });
    const isFree = (place: ScreenBox) =>
      !lines.some((other) => hits(other, place)) && !taken.some((other) => meet(place, other));
    const cost = (place: ScreenBox) => countIn(dots, place) + (isFree(place) ? 0 : 1e6);
    const box = places.reduce((best, place) => (cost(place) < cost(best) ? place : best));
    taken.push(box);
    return { name, line, angle, box };
  });
}
