/**
 * Where one looks from: a point of the map in the middle of the screen, and CSS pixels a map unit.
 *
 *     screen = ((x - camera.x) zoom + width / 2, (camera.y - y) zoom + height / 2)
 *
 * y runs upwards in a map and downwards on the screen.
 */
import { elementAt, pointOf } from "../data/elements.ts";

export interface Camera {
  x: number;
  y: number;
  /** CSS pixels a map unit. */
  zoom: number;
}

export interface Size {
  width: number;
  height: number;
}

/** left, bottom, right, top in map units. */
export type Box = readonly [number, number, number, number];

/** What a crop needs of a map: its drawn points, two numbers an entry. */
interface Points {
  points: Float32Array;
}

/** A crop is small, and reaches at most so many times as far as the median neighbour. */
const REMOTE = 2;
const MARGIN = 36;

/** The camera that shows a box whole, with free pixels round it. */
export function fit(box: Box, size: Size, margin = MARGIN): Camera {
  const [left, bottom, right, top] = box;
  const room = [size.width, size.height].map((side) => Math.max(side - 2 * margin, side / 4, 1));
  const spans = [right - left, top - bottom];
  const tiny = 1e-12 * Math.max(1, ...box.map(Math.abs));
  const zooms = spans.flatMap((span, axis) => (span > tiny ? [elementAt(room, axis) / span] : []));
  return {
    x: (left + right) / 2,
    y: (bottom + top) / 2,
    zoom: zooms.length ? Math.min(...zooms) : Math.min(...room),
  };
}

/** The screen point of a map point. */
export function toScreen(camera: Camera, size: Size, x: number, y: number): [number, number] {
  return [
    (x - camera.x) * camera.zoom + size.width / 2,
    (camera.y - y) * camera.zoom + size.height / 2,
  ];
}

/** The screen point of an entry of `points`, which holds x, y of each. */
export function entryOnScreen(
  points: Float32Array,
  entry: number,
  camera: Camera,
  size: Size,
): [number, number] {
  const [x, y] = pointOf(points, entry);
  return toScreen(camera, size, x, y);
}

/** The map point of a screen point. */
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

/** A camera moved by screen pixels: what is on the screen goes the other way. */
export function panned(camera: Camera, dx: number, dy: number): Camera {
  return { x: camera.x + dx / camera.zoom, y: camera.y - dy / camera.zoom, zoom: camera.zoom };
}

/**
 * The camera that has one entry in the middle and reaches to its nearest neighbours.
 *
 * It leaves out neighbours that are remote by comparison: the reach is the least of the largest
 * distance and twice the median one, by the larger of |dx| and |dy|.
 */
export function crop(map: Points, entry: number, neighbors: ArrayLike<number>, size: Size): Camera {
  const [x, y] = pointOf(map.points, entry);
  const reaches = Array.from(neighbors, (other) => {
    const [otherX, otherY] = pointOf(map.points, other);
    return Math.max(Math.abs(otherX - x), Math.abs(otherY - y));
  }).sort((a, b) => a - b);
  const n = reaches.length;
  const largest = reaches.at(-1) ?? 0;
  let radius = 1;
  if (largest > 0) {
    const median = (elementAt(reaches, (n - 1) >> 1) + elementAt(reaches, n >> 1)) / 2;
    radius = Math.min(largest, REMOTE * Math.max(median, 1e-9 * largest));
  }
  return fit([x - radius, y - radius, x + radius, y + radius], size, 26);
}
