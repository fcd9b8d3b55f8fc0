/**
 * Paints paper and dots: by WebGL2 where a graphics processor does it, else pixel by pixel.
 *
 * One painter serves all canvases of a page, for browsers allow few WebGL contexts. Every dot has a
 * thin rim of paper, by which dots that lie on each other stay apart.
 */
import type { Sight } from "../scene/scene.ts";
import type { Context, Painter } from "./painter.ts";
import { PixelPainter } from "./pixel_marks.ts";
import { WebglPainter } from "./webgl_marks.ts";

/**
 * The marks of a page.
 *
 * A WebGL that a processor only imitates is slower than painting pixels, so it is not asked for.
 */
export class Marks implements Painter {
  private webgl: WebglPainter | null;
  private pixels = new PixelPainter();
  private listeners = new Set<() => void>();

  constructor() {
    const changed = () => {
      for (const listener of this.listeners) listener();
    };
    this.webgl = WebglPainter.make(changed);
  }

  get isWebgl(): boolean {
    return this.webgl?.isReady ?? false;
  }

  paint(target: Context, sight: Sight, ratio: number): void {
    const painter = this.webgl?.isReady ? this.webgl : this.pixels;
    painter.paint(target, sight, ratio);
  }

  /** Calls back when WebGL was lost or came back, until the returned function is called. */
  listen(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }
}

let shared: Marks | null = null;

/** The one `Marks` of the page. */
export function sharedMarks(): Marks {
  shared ??= new Marks();
  return shared;
}
