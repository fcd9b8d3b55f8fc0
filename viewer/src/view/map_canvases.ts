/**
 * The two canvases of the open map: the dots below, the labels and the pointer's marks above.
 *
 * Every change requests a frame (`schedule`); each frame draws once.
 */

import type { Marks } from "../draw/marks.ts";
import { type Context, newCanvas } from "../draw/painter.ts";
import type { Picture } from "../draw/picture.ts";
import { drawGround, drawLetters, lettersOf, prepare } from "../draw/picture.ts";
import type { Letters } from "../scene/scene.ts";

interface CanvasHooks {
  /** The picture to draw now; null for nothing. */
  sight(): Picture | null;
  /** Draws what the pointer points at and what it draws, above all else. */
  drawPointer(context: Context, sight: Picture): void;
  onDrawn(): void;
}

const N_TIMES = 120;

export class MapCanvases {
  /** Milliseconds that each of the last 120 drawings took. */
  readonly frameTimes: number[] = [];
  /** The texts of the latest drawing. */
  letters: Letters = { labels: [], names: [] };
  private dots = newCanvas();
  private upper = newCanvas();
  private frame = 0;
  private dirty = { dots: true, letters: true };

  constructor(
    host: HTMLElement,
    private marks: Marks,
    private hooks: CanvasHooks,
  ) {
    for (const canvas of [this.dots, this.upper]) {
      canvas.setAttribute("aria-hidden", "true");
      host.append(canvas);
    }
  }

  /** Whether a frame has been asked for. */
  get isWaiting(): boolean {
    return this.frame !== 0;
  }

  /** Whether the labels drawn last are no longer those to be shown. */
  get hasOldLabels(): boolean {
    return this.dirty.letters;
  }

  schedule(what: "dots" | "letters"): void {
    this.dirty[what] = true;
    this.frame ||= requestAnimationFrame(() => this.draw());
  }

  destroy(): void {
    cancelAnimationFrame(this.frame);
    this.dots.remove();
    this.upper.remove();
  }

  private draw(): void {
    this.frame = 0;
    const sight = this.hooks.sight();
    if (!sight || sight.size.width < 1 || sight.size.height < 1) return;
    const start = performance.now();
    if (this.dirty.dots) this.drawDots(sight);
    if (this.dirty.letters) this.write(sight);
    this.dirty = { dots: false, letters: false };
    this.hooks.onDrawn();
    this.frameTimes.push(performance.now() - start);
    if (this.frameTimes.length > N_TIMES) this.frameTimes.shift();
  }

  private drawDots(sight: Picture): void {
    const context = prepare(this.dots, sight.size, devicePixelRatio);
    if (context) drawGround(context, sight, this.marks, devicePixelRatio);
  }

  private write(sight: Picture): void {
    const { width, height } = sight.size;
    const context = prepare(this.upper, sight.size, devicePixelRatio);
    if (!context) return;
    context.clearRect(0, 0, width, height);
    this.letters = lettersOf(sight);
    drawLetters(context, sight, this.letters);
    this.hooks.drawPointer(context, sight);
  }
}
