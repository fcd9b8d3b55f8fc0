/** The interface of the painters of dots. */
import type { Sight } from "../scene/scene.ts";

export type Context = CanvasRenderingContext2D;

/**
 * Fills a whole canvas, of so many pixels per CSS pixel, with paper and the dots of a scene, so it
 * comes first in a picture.
 */
export interface Painter {
  paint(target: Context, sight: Sight, ratio: number): void;
}

export function newCanvas(): HTMLCanvasElement {
  return document.createElement("canvas");
}
