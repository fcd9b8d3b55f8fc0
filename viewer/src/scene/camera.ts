/** Where one looks from: a point of the map in the middle of the screen, and CSS pixels a map unit.
 *
 *     screen = ((x - camera.x) zoom + width / 2, (camera.y - y) zoom + height / 2)
 */
import { pointOf, Strongest } from "../data/elements.ts";

export interface Camera {
  x: number;
  y: number;
  zoom: number;
}

export interface Size {
  width: number;
  height: number;
}

/** left, bottom, right, top in map units. */
export type Box = readonly [number, number, number, number];

/** Drawn points, two numbers per entry, and the number of them that are dots. */
type Points = { points: Float32Array };
type Marks = Points & { count: number };

const MARGIN = 36;
/** Least distance, in pixels, between the edge of a view and the dot that keeps it from being empty. */
const SIGHT = 56;
const CROP_MARGIN = 34;
/** The median neighbour of a crop keeps so many pixels from the word, which leaves room for names. */
const APART = 36;

/** The camera that shows a box whole, with free pixels round it. */
export function fit(box: Box, size: Size, margin = MARGIN): Camera {
  const [left, bottom, right, top] = box;
  const room = [size.width, size.height].map((side) => Math.max(side - 2 * margin, side / 4, 1));
  const spans = [right - left, top - bottom];
  const tiny = 1e-12 * Math.max(1, ...box.map(Math.abs));
  const zooms = spans.flatMap((span, axis) => (span > tiny ? [room[axis] / span] : []));
  return {
    x: (left + right) / 2,
    y: (bottom + top) / 2,
    zoom: zooms.length ? Math.min(...zooms) : Math.min(...room),
  };
}

export function toScreen(camera: Camera, size: Size, x: number, y: number): [number, number] {
  return [
    (x - camera.x) * camera.zoom + size.width / 2,
    (camera.y - y) * camera.zoom + size.height / 2,
  ];
}

export function toMap(camera: Camera, size: Size, x: number, y: number): [number, number] {
  return [
    (x - size.width / 2) / camera.zoom + camera.x,
    camera.y - (y - size.height / 2) / camera.zoom,
  ];
}

/** The camera `factor` times as near, with the screen point (x, y) where it is. */
export function zoomAt(camera: Camera, size: Size, factor: number, x: number, y: number): Camera {
  const [mapX, mapY] = toMap(camera, size, x, y);
  return {
    x: mapX + (camera.x - mapX) / factor,
    y: mapY + (camera.y - mapY) / factor,
    zoom: camera.zoom * factor,
  };
}

export function panned(camera: Camera, dx: number, dy: number): Camera {
  return { x: camera.x + dx / camera.zoom, y: camera.y - dy / camera.zoom, zoom: camera.zoom };
}

/** As many of the nearest dots stay in sight where one looks from near. */
export const NEAREST = 5;

/** The largest zoom at which the nearest dots round the middle of the screen are all in sight. */
export function closestZoom({ points, count }: Marks, { x, y }: Camera, size: Size): number {
  const nearest = new Strongest(NEAREST, Number.NEGATIVE_INFINITY);
  for (let i = 0; i < count; i++) {
    nearest.offer(i, -Math.hypot(points[2 * i] - x, points[2 * i + 1] - y));
  }
  const farthest = nearest.found[NEAREST - 1];
  const room = Math.max(Math.min(size.width, size.height) / 2 - CROP_MARGIN, 1);
  return farthest ? room / -farthest.share : Number.POSITIVE_INFINITY;
}

/** The camera, moved as little as is needed for one of the first `count` points to be in sight. */
export function inSight({ points, count }: Marks, camera: Camera, size: Size): Camera {
  const { x, y, zoom } = camera;
  const halfX = Math.max(size.width / 2 - SIGHT, 0) / zoom;
  const halfY = Math.max(size.height / 2 - SIGHT, 0) / zoom;
  let [least, nearest] = [Number.POSITIVE_INFINITY, -1];
  for (let i = 0; i < count; i++) {
    const beyondX = Math.max(Math.abs(points[2 * i] - x) - halfX, 0);
    const beyondY = Math.max(Math.abs(points[2 * i + 1] - y) - halfY, 0);
    const way = beyondX * beyondX + beyondY * beyondY;
    if (way === 0) return camera;
    if (way < least) [least, nearest] = [way, i];
  }
  if (nearest < 0) return camera;
  const [toX, toY] = pointOf(points, nearest);
  return {
    x: Math.min(Math.max(x, toX - halfX), toX + halfX),
    y: Math.min(Math.max(y, toY - halfY), toY + halfY),
    zoom,
  };
}

/** The camera that shows an entry, the nearest `least` neighbours and all that are required.
 *
 * Remote neighbours are left out while the median one would be nearer to the entry than APART pixels.
 */
export function crop(
  map: Points,
  entry: number,
  neighbors: ArrayLike<number>,
  size: Size,
  least = 1,
  required: ArrayLike<number> = [],
): Camera {
  const [x, y] = pointOf(map.points, entry);
  const pointsOf = (entries: ArrayLike<number>) =>
    Array.from(entries, (other) => pointOf(map.points, other));
  const [others, fixed] = [pointsOf(neighbors), [[x, y], ...pointsOf(required)] as const];
  const distance = (other: readonly number[]) => Math.hypot(other[0] - x, other[1] - y);
  others.sort((a, b) => distance(a) - distance(b));
  const median = others.length ? distance(others[(others.length - 1) >> 1]) : 0;
  const margin = Math.min(CROP_MARGIN, 0.2 * Math.min(size.width, size.height));
  for (; ; others.pop()) {
    const shown = [...fixed, ...others];
    const [xs, ys] = [shown.map((point) => point[0]), shown.map((point) => point[1])];
    const box: Box = [Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys)];
    const isPoint = box[0] === box[2] && box[1] === box[3];
    const camera = fit(isPoint ? [x - 1, y - 1, x + 1, y + 1] : box, size, margin);
    if (others.length <= least || camera.zoom * median >= APART) return camera;
  }
}
