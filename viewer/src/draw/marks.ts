/**
 * Paints paper and dots: by WebGL2, or one by one where there is none.
 *
 * One painter serves all canvases of a page, for browsers allow few WebGL contexts. Every dot has a
 * thin rim of paper, by which dots that lie on each other stay apart.
 */
import type { Sight } from "../scene/scene.ts";
import type { Context, Painter } from "./painter.ts";
import { Pen } from "./picture.ts";
import { WebglPainter } from "./webgl_marks.ts";

/** The marks of a page. */
export class Marks implements Painter {
  private webgl: WebglPainter | null;
  private listeners = new Set<() => void>();

  constructor() {
    const changed = () => {
      for (const listener of this.listeners) listener();
    };
    this.webgl = WebglPainter.make(changed);
  }

  paint(target: Context, sight: Sight, ratio: number): void {
    if (this.webgl?.isReady) this.webgl.paint(target, sight, ratio);
    else paintOneByOne(target, sight);
  }

  /** Calls back when WebGL was lost or came back, until the returned function is called. */
  listen(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }
}

function paintOneByOne(target: Context, sight: Sight): void {
  const { scene, size } = sight;
  target.fillStyle = scene.palette.paper;
  target.fillRect(0, 0, size.width, size.height);
  const pen = new Pen(target, sight);
  for (const entry of scene.marks.entries) pen.mark(entry);
}

let shared: Marks | null = null;

/** The one `Marks` of the page. */
export function sharedMarks(): Marks {
  shared ??= new Marks();
  return shared;
}
