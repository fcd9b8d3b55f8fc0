/** What a painter of marks is, whatever it paints by: WebGL2 (`webgl_marks.ts`) or pixels (`pixel_marks.ts`). */
import type { Camera, Size } from "../scene/camera.ts";
import type { Scene } from "../scene/scene.ts";

/** A canvas: its size in CSS pixels, and device pixels per CSS pixel. */
export interface Screen {
  size: Size;
  ratio: number;
}

/** Fills a whole canvas with paper and the dots of a scene, so it comes first in a picture. */
export interface Painter {
  paint(target: CanvasRenderingContext2D, scene: Scene, camera: Camera, screen: Screen): void;
}

export function newCanvas(): HTMLCanvasElement {
  return document.createElement("canvas");
}
