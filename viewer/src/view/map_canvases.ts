/**
 * The two canvases of the open map: the dots below, the labels and the pointer's marks above.
 *
 * Whatever changes asks for a frame (`schedule`), and there is one drawing a frame at most.
 */

import type { Marks } from "../draw/marks.ts";
import { newCanvas } from "../draw/painter.ts";
import {
  drawGround,
  drawLetters,
  drawOutlineNumbers,
  drawPicture,
  type FeatureOutline,
  prepare,
  type Tie,
} from "../draw/picture.ts";
import { pixelRatio } from "../draw/printing.ts";
import type { Camera, Size } from "../scene/camera.ts";
import type { ScreenBox } from "../scene/label_boxes.ts";
import type { Emphasis, Letters, Scene } from "../scene/scene.ts";

/** What there is to see of a map at one moment. */
export interface Sight {
  scene: Scene;
  camera: Camera;
  size: Size;
  emphasis: Emphasis;
  selection: ReadonlySet<number>;
  outlines: readonly FeatureOutline[];
  ties: readonly Tie[];
  isMoving: boolean;
  /** What lies over the map, in CSS pixels of its host. */
  covers: readonly ScreenBox[];
}

interface CanvasHooks {
  /** What to draw now; null for nothing. */
  sight(): Sight | null;
  /** Draws what the pointer points at and what it draws, above all else. */
  drawPointer(context: CanvasRenderingContext2D, sight: Sight): void;
  onDrawn(): void;
}

/** More dots than this are painted in coarser pixels while they move. */
const HEAVY = 60_000;
const N_TIMES = 120;

export class MapCanvases {
  /** Milliseconds that each of the last 120 drawings took. */
  readonly frameTimes: number[] = [];
  /** What was written last. */
  letters: Letters = { labels: [], names: [] };
  private dots = newCanvas();
  private upper = newCanvas();
  private frame = 0;
  private dirty = { dots: true, letters: true };
  /** Device pixels per CSS pixel in which the dots are drawn now. */
  private dotRatio = 1;

  constructor(
    host: HTMLElement,
    private marks: Marks,
    private hooks: CanvasHooks,
  ) {
    for (const canvas of [this.dots, this.upper]) {
      Object.assign(canvas.style, {
        position: "absolute",
        inset: "0",
        width: "100%",
        height: "100%",
        pointerEvents: "none",
      });
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

  /** Whether the dots drawn last are coarser than the screen. */
  get isCoarse(): boolean {
    return this.dotRatio !== window.devicePixelRatio;
  }

  schedule(what: "dots" | "letters"): void {
    this.dirty[what] = true;
    this.frame ||= requestAnimationFrame(() => this.draw());
  }

  /** Draws all on the lower canvas, without waiting for a frame: paper lets nothing shine through. */
  drawOnPaper(sight: Sight): void {
    const options = { ...sight, marks: this.marks, devicePixelRatio: pixelRatio() };
    drawPicture(this.dots, sight.scene, sight.camera, options);
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

  private drawDots(sight: Sight): void {
    const { scene, camera, size, isMoving } = sight;
    const { marks } = this;
    const isHeavy = scene.marks.count > HEAVY && !marks.isWebgl;
    const devicePixelRatio =
      isMoving && isHeavy ? Math.min(1, window.devicePixelRatio) : window.devicePixelRatio;
    this.dotRatio = devicePixelRatio;
    const context = prepare(this.dots, size, devicePixelRatio);
    if (context) drawGround(context, scene, camera, { ...sight, marks, devicePixelRatio });
  }

  private write(sight: Sight): void {
    const { scene, camera, size, outlines, covers } = sight;
    const context = prepare(this.upper, size, window.devicePixelRatio);
    if (!context) return;
    context.clearRect(0, 0, size.width, size.height);
    this.letters = scene.letters(camera, size, covers);
    drawLetters(context, scene, camera, size, this.letters);
    drawOutlineNumbers(context, scene, camera, size, outlines);
    this.hooks.drawPointer(context, sight);
  }
}
