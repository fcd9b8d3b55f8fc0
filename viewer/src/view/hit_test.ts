/** Which dot or label lies under the pointer, and which dots lie within a line drawn round them. */
import { pointOf } from "../data/elements.ts";
import { toMap } from "../scene/camera.ts";
import type { Point } from "../scene/label_boxes.ts";
import type { ShownLabel, Sight } from "../scene/scene.ts";

/** How far beside a dot the pointer may be, in CSS pixels. */
const REACH = 6;
const ARROW_REACH = 10;

/** The entry whose dot or label is at a screen point, the nearest of several; null for none. */
export function entryAt(sight: Sight, labels: readonly ShownLabel[], [x, y]: Point): number | null {
  const dot = dotAt(sight, [x, y]);
  if (dot && dot.gap <= 0) return dot.entry;
  const label = labels.findLast(
    ({ arrow, ...box }) =>
      (x >= box.x && x < box.x + box.width && y >= box.y && y < box.y + box.height) ||
      (arrow && Math.hypot(x - arrow.x, y - arrow.y) < ARROW_REACH),
  );
  return label?.entry ?? dot?.entry ?? null;
}

type Dot = { entry: number; gap: number };

function dotAt({ scene, camera, size }: Sight, [x, y]: Point): Dot | null {
  const { zoom } = camera;
  const [mapX, mapY] = toMap(camera, size, x, y);
  const { points } = scene.map;
  let best: Dot | null = null;
  // No dot is larger than this: a size factor of 4 doubles the radius.
  const reach = (2 * scene.radius(zoom) + REACH) / zoom;
  // A look at all dots takes a millisecond for several hundred thousand, and needs no index.
  scene.visible.forEach((isVisible, entry) => {
    if (!isVisible) return;
    const dx = points[2 * entry] - mapX;
    if (Math.abs(dx) > reach) return;
    const dy = points[2 * entry + 1] - mapY;
    const gap = Math.hypot(dx, dy) * zoom - scene.dotRadius(entry, zoom);
    // If dots overlap, the smaller dot is on top, and its edge is farther away.
    if (gap <= REACH && (!best || gap < best.gap)) best = { entry, gap };
  });
  return best;
}

/** Visible entries whose dots' middles lie within a closed line of screen points, ascending. */
export function entriesWithin({ scene, camera, size }: Sight, line: readonly Point[]): number[] {
  if (line.length < 3 || scene.map.objects.length === 0) return [];
  const corners = line.map(([x, y]) => toMap(camera, size, x, y));
  const { points } = scene.map;
  const found: number[] = [];
  scene.visible.forEach((isVisible, entry) => {
    if (isVisible && isWithin(pointOf(points, entry), corners)) found.push(entry);
  });
  return found;
}

/** Whether a point lies within a polygon, by the even-odd rule. */
function isWithin([x, y]: Point, corners: readonly Point[]): boolean {
  let inside = false;
  let [beforeX, beforeY] = corners[corners.length - 1];
  for (const [cornerX, cornerY] of corners) {
    if (cornerY > y !== beforeY > y) {
      const crossing = cornerX + ((y - cornerY) / (beforeY - cornerY)) * (beforeX - cornerX);
      if (x < crossing) inside = !inside;
    }
    [beforeX, beforeY] = [cornerX, cornerY];
  }
  return inside;
}
