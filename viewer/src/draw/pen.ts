/** Drawing on canvases, or on what writes SVG: dots, rings, lines and arrows at one camera. */
import type { Arrow } from "../scene/callouts.ts";
import type { Size } from "../scene/camera.ts";
import type { Point } from "../scene/label_boxes.ts";
import {
  CIRCLE,
  CORNER,
  DIAMOND,
  LEAST_CHOSEN,
  LEAST_LABELLED,
  LEAST_NEAR,
  rim,
  SQUARE,
} from "../scene/mark_data.ts";
import { dotAt, type Emphasis, type Scene, type ShownLabel, type Sight } from "../scene/scene.ts";
import type { VectorMark } from "../scene/vectors.ts";

export type Context = CanvasRenderingContext2D;

export function newCanvas(): HTMLCanvasElement {
  return document.createElement("canvas");
}

/** Makes a canvas this large and its context draw in CSS pixels; null for an empty canvas. */
export function prepare(canvas: HTMLCanvasElement, size: Size, ratio: number): Context | null {
  const width = Math.round(size.width * ratio);
  const height = Math.round(size.height * ratio);
  if (width < 1 || height < 1) return null;
  // Setting a size clears the canvas and costs time, even where it is the same.
  if (canvas.width !== width) canvas.width = width;
  if (canvas.height !== height) canvas.height = height;
  const context = canvas.getContext("2d");
  context?.setTransform(ratio, 0, 0, ratio, 0, 0);
  return context;
}

/** The context of a canvas, or an object that writes SVG. */
export type Brush = Pick<
  CanvasRenderingContext2D,
  | ("fillStyle" | "strokeStyle" | "lineWidth" | "lineJoin" | "globalAlpha")
  | ("font" | "textAlign" | "textBaseline" | "beginPath" | "moveTo")
  | ("lineTo" | "arc" | "closePath" | "fillText" | "strokeText" | "setLineDash" | "save")
  | ("translate" | "rotate" | "restore")
> & { fill(): void; stroke(): void };

/** The corners of an arrow that points to the right. */
const ARROW: [Point, ...Point[]] = [
  [4.5, 0],
  [-3, 3.6],
  [-3, -3.6],
];

/** Draws single things at one camera. */
export class Pen {
  private scene: Scene;

  constructor(
    private context: Brush,
    private sight: Sight,
  ) {
    this.scene = sight.scene;
  }

  /** The lines and arrows of labels that do not stand beside their dots. */
  callout({ leader, arrow, style }: ShownLabel): void {
    const { context, scene } = this;
    if (leader) {
      context.beginPath();
      for (const [x, y] of leader) context.lineTo(x, y);
      this.stroke(scene.palette.paper, 3);
      this.stroke(scene.palette.muted, 1);
    }
    const { accent, muted } = scene.palette;
    if (arrow) this.head(arrow, style === "chosen" ? accent : muted);
  }

  private head({ x, y, angle }: Arrow, color: string): void {
    const { context } = this;
    context.save();
    context.translate(x, y);
    context.rotate(angle);
    context.beginPath();
    for (const [x, y] of ARROW) context.lineTo(x, y);
    this.fill(color);
    context.restore();
  }

  /** The arrow of a fitted variable, or the centroid of one of its levels. */
  vector({ line: [start, [x, y]], angle }: VectorMark, color: string): void {
    const { context } = this;
    context.beginPath();
    if (start[0] === x && start[1] === y) {
      this.trace(x, y, 3.5, DIAMOND);
      this.fill(color);
      return;
    }
    const [left, top] = [x - ARROW[0][0] * Math.cos(angle), y - ARROW[0][0] * Math.sin(angle)];
    context.moveTo(...(start as [number, number]));
    context.lineTo(left, top);
    this.stroke(color, 1.5);
    this.head({ x: left, y: top, angle }, color);
  }

  /** A labelled dot that is too small to be seen beside its label. */
  labelled({ entry, style }: ShownLabel): void {
    const isPlain = style === "small" || style === "middle" || style === "large";
    if (!isPlain || this.radius(entry) >= LEAST_LABELLED) return;
    this.dot(entry, this.scene.color(entry), LEAST_LABELLED);
  }

  ring(selection: ReadonlySet<number>): void {
    const { context, scene } = this;
    context.beginPath();
    for (const entry of selection) {
      const [x, y] = this.point(entry);
      if (!this.isNear(x, y)) continue;
      this.trace(x, y, this.radius(entry) + 1.8, scene.shape(entry));
    }
    this.stroke(scene.palette.ink, 1.6);
  }

  hoverRing(entry: number): void {
    const { context, scene } = this;
    context.beginPath();
    context.arc(...this.point(entry), this.radius(entry) + 3.5, 0, 2 * Math.PI);
    this.stroke(scene.palette.accent, 1.5);
  }

  lasso(line: readonly Point[]): void {
    const { context, scene } = this;
    context.beginPath();
    for (const [x, y] of line) context.lineTo(x, y);
    context.closePath();
    this.fill(scene.palette.accent, 0.1);
    context.setLineDash([5, 4]);
    this.stroke(scene.palette.accent, 1.25);
    context.setLineDash([]);
  }

  /** The neighbours' dots above all others, then the chosen ones with a halo in the accent. */
  emphasize({ chosen, near }: Emphasis): void {
    const { context, scene } = this;
    const { accent } = scene.palette;
    const isByColumn = scene.look.coloring.legend.type !== "weight";
    for (const entry of [...near].reverse()) {
      if (this.isNear(...this.point(entry))) this.dot(entry, scene.color(entry), LEAST_NEAR);
    }
    for (const entry of chosen) {
      const [x, y] = this.point(entry);
      if (!this.isNear(x, y)) continue;
      context.beginPath();
      this.trace(x, y, 1.35 * Math.max(LEAST_CHOSEN, this.radius(entry)) + 5, scene.shape(entry));
      this.fill(accent, 0.28);
      this.dot(entry, isByColumn ? scene.color(entry) : accent, LEAST_CHOSEN);
    }
  }

  mark(entry: number): void {
    if (this.isNear(...this.point(entry))) this.dot(entry, this.scene.color(entry), 0, 0);
  }

  private dot(entry: number, color: string, least: number, leastRim = 0.6): void {
    const { context, scene } = this;
    const [x, y] = this.point(entry);
    const radius = Math.max(least, this.radius(entry));
    context.beginPath();
    this.trace(x, y, radius, scene.shape(entry));
    // A stroke lies half within the shape, where the fill covers it.
    this.stroke(scene.palette.paper, 2 * Math.max(leastRim, rim(radius)));
    this.fill(color);
  }

  private stroke(color: string, width: number, opacity = 1): void {
    const { context } = this;
    context.strokeStyle = color;
    context.lineWidth = width;
    context.globalAlpha = opacity;
    context.stroke();
    context.globalAlpha = 1;
  }

  private fill(color: string, opacity = 1): void {
    const { context } = this;
    context.fillStyle = color;
    context.globalAlpha = opacity;
    context.fill();
    context.globalAlpha = 1;
  }

  private trace(x: number, y: number, radius: number, shape: number): void {
    const { context } = this;
    if (shape === CIRCLE) {
      context.moveTo(x + radius, y);
      context.arc(x, y, radius, 0, 2 * Math.PI);
      return;
    }
    const reach = radius * CORNER;
    const [dx, dy] = shape === SQUARE ? [reach * Math.SQRT1_2, reach * Math.SQRT1_2] : [reach, 0];
    context.moveTo(x + dx, y + dy);
    context.lineTo(x - dy, y + dx);
    context.lineTo(x - dx, y - dy);
    context.lineTo(x + dy, y - dx);
    context.closePath();
  }

  private point(entry: number): [number, number] {
    return dotAt(this.sight, entry);
  }

  private radius(entry: number): number {
    return this.scene.dotRadius(entry, this.sight.camera.zoom);
  }

  private isNear(x: number, y: number): boolean {
    const { width, height } = this.sight.size;
    return x > -60 && y > -60 && x < width + 60 && y < height + 60;
  }
}
