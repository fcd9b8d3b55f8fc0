/**
 * Dots painted pixel by pixel into an image: as quick as a software WebGL or quicker, anywhere.
 *
 * A dot is stamped by a mask of its shape, radius and place between pixels (all in quarter pixels).
 * With the mask's share `rim` of paper and `fill` of colour, each pixel becomes
 *
 *     pixel + rim (paper - pixel) + fill (colour - pixel)         shares in 256ths
 */
import { inBounds, pointOf } from "../data/elements.ts";
import { once } from "../data/memory.ts";
import { rgb } from "../scene/coloring.ts";
import { CIRCLE, CORNER, rim, SQUARE, VISIBLE_RADIUS } from "../scene/mark_data.ts";
import type { Sight } from "../scene/scene.ts";
import type { Context, Painter } from "./painter.ts";

/** Parts of a pixel by which radii and places are told apart. */
const PARTS = 4;
/** Samples along a pixel's side by which the share that a dot covers is found. */
const SAMPLES = 4;

interface Mask {
  /** Of the left upper pixel, from the pixel that holds the middle of the dot. */
  low: number;
  side: number;
  rim: Uint16Array;
  fill: Uint16Array;
}

export class PixelPainter implements Painter {
  private masks = new Map<number, Mask>();
  private image: ImageData | null = null;

  paint(target: Context, { scene, camera, size }: Sight, ratio: number): void {
    const { width, height } = target.canvas;
    if (this.image?.width !== width || this.image.height !== height) {
      this.image = new ImageData(width, height);
    }
    const pixels = new Uint32Array(this.image.data.buffer);
    const [red, green, blue] = rgb(scene.palette.paper);
    const paper = (0xff000000 | (blue << 16) | (green << 8) | red) >>> 0;
    pixels.fill(paper);
    const { count, points, radii, colors, shapes } = scene.marks;
    const scale = camera.zoom * ratio;
    const left = (size.width / 2) * ratio - camera.x * scale;
    const top = (size.height / 2) * ratio + camera.y * scale;
    const unit = scene.radius(camera.zoom);
    const reach = Math.ceil((CORNER * unit * 2 + 2) * ratio);
    for (let i = 0; i < count; i++) {
      const [mapX, mapY] = pointOf(points, i);
      const x = left + mapX * scale;
      const y = top - mapY * scale;
      if (x < -reach || y < -reach || x > width + reach || y > height + reach) continue;
      const radius = Math.max(VISIBLE_RADIUS, inBounds(radii[i]) * unit);
      const column = Math.floor(x);
      const row = Math.floor(y);
      const mask = this.mask(
        Math.round(radius * ratio * PARTS),
        Math.floor((x - column) * PARTS) + PARTS * Math.floor((y - row) * PARTS),
        inBounds(shapes[i]),
        ratio,
      );
      stamp(pixels, width, height, mask, column, row, inBounds(colors[i]), paper);
    }
    target.putImageData(this.image, 0, 0);
  }

  private mask(radius: number, place: number, shape: number, ratio: number): Mask {
    const key = ((radius * PARTS * PARTS + place) * 3 + shape) * 64 + Math.round(ratio * 8);
    return once(this.masks, key, () => newMask(radius / PARTS, place, shape, ratio));
  }
}

/** How far from the middle the corners of the diamond or square are whose border has this point. */
function toCorner(x: number, y: number, shape: number): number {
  return shape === SQUARE ? Math.SQRT2 * Math.max(x, y) : x + y;
}

/** The shares of rim and fill of the pixels round a dot; all in device pixels. */
function newMask(radius: number, place: number, shape: number, ratio: number): Mask {
  const ring = rim(radius / ratio) * ratio;
  const middleX = ((place % PARTS) + 0.5) / PARTS;
  const middleY = (Math.floor(place / PARTS) + 0.5) / PARTS;
  const isRound = shape === CIRCLE;
  const inner = isRound ? radius : radius * CORNER;
  const outer = inner + (isRound ? ring : ring * Math.SQRT2);
  const low = -Math.ceil(outer);
  const side = 2 * Math.ceil(outer) + 1;
  const mask = { low, side, rim: new Uint16Array(side * side), fill: new Uint16Array(side * side) };
  const weight = 256 / (SAMPLES * SAMPLES);
  for (let at = 0; at < side * side; at++) {
    let [nFill, nRim] = [0, 0];
    for (let sample = 0; sample < SAMPLES * SAMPLES; sample++) {
      const x = low + (at % side) + ((sample % SAMPLES) + 0.5) / SAMPLES - middleX;
      const y =
        low + Math.floor(at / side) + (Math.floor(sample / SAMPLES) + 0.5) / SAMPLES - middleY;
      const distance = isRound ? Math.hypot(x, y) : toCorner(Math.abs(x), Math.abs(y), shape);
      if (distance <= inner) nFill++;
      else if (distance <= outer) nRim++;
    }
    mask.fill[at] = nFill * weight;
    mask.rim[at] = nRim * weight;
  }
  return mask;
}

const OPAQUE = 0xff000000;
/** Red and blue of a pixel; green lies between them, so both are blended at once. */
const OUTER = 0xff00ff;

function stamp(
  pixels: Uint32Array,
  width: number,
  height: number,
  mask: Mask,
  column: number,
  row: number,
  color: number,
  paper: number,
): void {
  const { low, side } = mask;
  const firstX = Math.max(0, -(column + low));
  const lastX = Math.min(side, width - (column + low));
  const firstY = Math.max(0, -(row + low));
  const lastY = Math.min(side, height - (row + low));
  for (let y = firstY; y < lastY; y++) {
    const line = (row + low + y) * width + column + low;
    for (let x = firstX; x < lastX; x++) {
      const fill = inBounds(mask.fill[y * side + x]);
      if (fill === 256) {
        pixels[line + x] = color;
        continue;
      }
      const ring = inBounds(mask.rim[y * side + x]);
      if (fill + ring === 0) continue;
      const old = inBounds(pixels[line + x]);
      const rest = 256 - fill - ring;
      // Red and blue together need all 32 bits, which Math.imul and >>> keep.
      const outer =
        Math.imul(old & OUTER, rest) +
        Math.imul(color & OUTER, fill) +
        Math.imul(paper & OUTER, ring);
      const green =
        ((old >>> 8) & 255) * rest + ((color >>> 8) & 255) * fill + ((paper >>> 8) & 255) * ring;
      pixels[line + x] = OPAQUE | ((outer >>> 8) & OUTER) | (green & 0xff00);
    }
  }
}
