/** The two canvases of the open map: the dots below, the labels and the pointer's marks above. */

import { newCanvas, Pen, prepare } from "../draw/pen.ts";
import { drawGround, drawLetters, lettersOf, type Picture } from "../draw/picture.ts";
import type { Point } from "../scene/label_boxes.ts";
import type { Letters } from "../scene/scene.ts";

export interface CanvasHooks {
  /** What is drawn; null for nothing. */
  readonly sight: Picture | null;
  /** Whether the view moves, so that no label is added. */
  readonly isMoving: boolean;
  readonly pointer: { hovered: number | null; line: readonly Point[] | null };
  onDrawn(): void;
}

const FADE = 120;

export class MapCanvases {
  letters: Letters = { labels: [], names: [] };
  private dots = newCanvas();
  private upper = newCanvas();
  private frame = 0;
  private dirty = { dots: true, letters: true };
  private since = 0;

  constructor(
    host: HTMLElement,
    private hooks: CanvasHooks,
  ) {
    for (const canvas of [this.dots, this.upper]) {
      canvas.setAttribute("aria-hidden", "true");
      host.append(canvas);
    }
  }

  get isWaiting(): boolean {
    return this.frame !== 0;
  }

  /** Asks for a frame, in which dots or letters are new; the pointer's marks always are. */
  schedule(what?: "dots" | "letters"): void {
    if (what) this.dirty[what] = true;
    this.frame ||= requestAnimationFrame(() => this.draw());
  }

  destroy(): void {
    cancelAnimationFrame(this.frame);
    this.dots.remove();
    this.upper.remove();
  }

  private draw(): void {
    this.frame = 0;
    const sight = this.hooks.sight;
    if (!sight || sight.size.width < 1 || sight.size.height < 1) return;
    if (this.dirty.dots) this.drawDots(sight);
    if (this.dirty.letters) this.place(sight);
    this.dirty = { dots: false, letters: false };
    this.write(sight);
    this.hooks.onDrawn();
  }

  private drawDots(sight: Picture): void {
    const context = prepare(this.dots, sight.size, devicePixelRatio);
    if (context) drawGround(context, sight, devicePixelRatio);
  }

  private place(sight: Picture): void {
    const before = new Set(this.letters.labels.map(({ entry }) => entry));
    this.letters = lettersOf(sight, this.hooks.isMoving);
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) return;
    for (const label of this.letters.labels) {
      label.isNew = !before.has(label.entry);
      if (label.isNew) this.since = performance.now();
    }
  }

  private write(sight: Picture): void {
    const { width, height } = sight.size;
    const shown = Math.min(1, (performance.now() - this.since) / FADE);
    if (shown < 1) this.schedule();
    const context = prepare(this.upper, sight.size, devicePixelRatio);
    if (!context) return;
    context.clearRect(0, 0, width, height);
    drawLetters(context, sight, this.letters, shown);
    const { hovered, line } = this.hooks.pointer;
    const pen = new Pen(context, sight);
    if (hovered !== null) pen.hoverRing(hovered);
    if (line) pen.lasso(line);
  }
}
