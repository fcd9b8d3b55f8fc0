/**
 * Which dot or label lies under the pointer, and which dots lie within a line drawn round them.
 */
import Flatbush from "flatbush";
import type { AtlasMap } from "../data/atlas.ts";
import { elementAt, pointOf } from "../data/elements.ts";
import { type Camera, entryOnScreen, type Size, toMap } from "../scene/camera.ts";
import type { Point } from "../scene/outline.ts";
import type { Scene, ShownLabel } from "../scene/scene.ts";

/** How far beside a dot the pointer may be, in CSS pixels. */
const REACH = 6;
const CANDIDATES = 12;
const ARROW_REACH = 10;

const indices = new WeakMap<AtlasMap, Flatbush>();

function indexOf(map: AtlasMap): Flatbush {
  let index = indices.get(map);
  if (!index) {
    const { points } = map;
    index = new Flatbush(map.objects.length, 16, Float32Array);
    for (let entry = 0; entry < map.objects.length; entry++) {
      const [x, y] = pointOf(points, entry);
      index.add(x, y, x, y);
    }
    index.finish();
    indices.set(map, index);
  }
  return index;
}

/** The entry whose dot or label is at a screen point, the nearest of several; null for none. */
export function entryAt(
  scene: Scene,
  camera: Camera,
  size: Size,
  labels: readonly ShownLabel[],
  [x, y]: Point,
): number | null {
  const dot = dotAt(scene, camera, size, [x, y]);
  if (dot && dot.gap <= 0) return dot.entry;
  const label = labels.findLast(
    ({ arrow, ...box }) =>
      (x >= box.x && x < box.x + box.width && y >= box.y && y < box.y + box.height) ||
      (arrow && Math.hypot(x - arrow.x, y - arrow.y) < ARROW_REACH),
  );
  return label?.entry ?? dot?.entry ?? null;
}

function dotAt(
  scene: Scene,
  camera: Camera,
  size: Size,
  [x, y]: Point,
): { entry: number; gap: number } | null {
  if (scene.map.objects.length === 0) return null;
  const { zoom } = camera;
  const [mapX, mapY] = toMap(camera, size, x, y);
  // Seldom is a dot larger than this: a size factor of 4 doubles the radius.
  const reach = (2 * scene.radius(zoom) + REACH) / zoom;
  const found = indexOf(scene.map).neighbors(mapX, mapY, CANDIDATES, reach, (entry) =>
    Boolean(scene.visible[entry]),
  );
  let best: { entry: number; gap: number } | null = null;
  for (const entry of found) {
    const [dotX, dotY] = entryOnScreen(scene.map.points, entry, camera, size);
    const gap = Math.hypot(dotX - x, dotY - y) - scene.dotRadius(entry, zoom);
    // Of dots on each other the smaller one lies above, and its edge is farther.
    if (gap <= REACH && (!best || gap < best.gap)) best = { entry, gap };
  }
  return best;
}

/** Visible entries whose dots' middles lie within a closed line of screen points, ascending. */
export function entriesWithin(
  scene: Scene,
  camera: Camera,
  size: Size,
  line: readonly Point[],
): number[] {
  if (line.length < 3 || scene.map.objects.length === 0) return [];
  const corners = line.map(([x, y]) => toMap(camera, size, x, y));
  const xs = corners.map(([x]) => x);
  const ys = corners.map(([, y]) => y);
  const { points } = scene.map;
  return indexOf(scene.map)
    .search(Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys), (entry) =>
      Boolean(scene.visible[entry]),
    )
    .filter((entry) => isWithin(pointOf(points, entry), corners))
    .sort((a, b) => a - b);
}

/** Whether a point lies within a polygon, by the even-odd rule. */
function isWithin([x, y]: Point, corners: readonly Point[]): boolean {
  let inside = false;
  let [beforeX, beforeY] = elementAt(corners, corners.length - 1);
  for (const [cornerX, cornerY] of corners) {
    if (cornerY > y !== beforeY > y) {
      const crossing = cornerX + ((y - cornerY) / (beforeY - cornerY)) * (beforeX - cornerX);
      if (x < crossing) inside = !inside;
    }
    [beforeX, beforeY] = [cornerX, cornerY];
  }
  return inside;
}
