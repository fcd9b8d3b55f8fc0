/**
 * Drags that select: a box with shift or the box tool, a lasso with alt or the lasso tool.
 */
import type { Palette } from "../scene/coloring.ts";
import type { Point } from "../scene/label_boxes.ts";
import { listenTo, placeIn } from "./listening.ts";

export type Tool = "pan" | "box" | "lasso";
export type SelectMode = "replace" | "add" | "toggle";

interface DragCallbacks {
  onChange(): void;
  /** The corners of the line drawn, in CSS pixels of the host. */
  onEnd(line: readonly Point[], mode: SelectMode): void;
}

/** Shorter drags are clicks. */
const LEAST = 4;

export class SelectionDrag {
  tool: Tool = "pan";
  /** The line so far: the two corners of a box, or the points of a lasso. */
  line: [Point, Point, ...Point[]] | null = null;
  /** Whether the click that follows belongs to a drag that has just ended. */
  justEnded = false;
  private kind: "box" | "lasso" = "box";

  constructor(
    private host: HTMLElement,
    private callbacks: DragCallbacks,
    signal: AbortSignal,
  ) {
    const heard = {
      pointerdown: (event: PointerEvent) => this.start(event),
      pointermove: (event: PointerEvent) => this.move(event),
      pointerup: (event: PointerEvent) => this.end(event),
      pointercancel: () => this.drop(),
      keydown: (event: KeyboardEvent) => this.escape(event),
    };
    listenTo(host, heard, signal);
  }

  /** Whether a press begins a selection instead of a pan. */
  wants(event: Event): boolean {
    if (event.type === "wheel") return false;
    const { shiftKey, altKey } = event as MouseEvent;
    return shiftKey || altKey || this.tool !== "pan";
  }

  /** Draws the line in CSS pixels. */
  draw(context: CanvasRenderingContext2D, palette: Palette): void {
    const corners = this.corners();
    if (corners.length < 2) return;
    context.beginPath();
    for (const [x, y] of corners) context.lineTo(x, y);
    context.closePath();
    context.fillStyle = palette.accent;
    context.globalAlpha = 0.1;
    context.fill();
    context.globalAlpha = 1;
    context.strokeStyle = palette.accent;
    context.lineWidth = 1.25;
    context.setLineDash([5, 4]);
    context.stroke();
    context.setLineDash([]);
  }

  private corners(): Point[] {
    if (!this.line || this.kind === "lasso") return this.line ?? [];
    const [[left, top], [right, bottom]] = this.line;
    return [
      [left, top],
      [right, top],
      [right, bottom],
      [left, bottom],
    ];
  }

  private start(event: PointerEvent): void {
    this.justEnded = false;
    if (event.button !== 0 || !event.isPrimary || !this.wants(event)) return;
    this.kind = event.altKey || (this.tool === "lasso" && !event.shiftKey) ? "lasso" : "box";
    const point = placeIn(this.host, event);
    this.line = [point, point];
    this.host.setPointerCapture(event.pointerId);
  }

  private move(event: PointerEvent): void {
    if (!this.line || !event.isPrimary) return;
    const point = placeIn(this.host, event);
    if (this.kind === "box") this.line[1] = point;
    else this.line.push(point);
    this.callbacks.onChange();
  }

  private end(event: PointerEvent): void {
    if (!this.line || !event.isPrimary) return;
    const corners = this.corners();
    const xs = corners.map(([x]) => x);
    const ys = corners.map(([, y]) => y);
    const extent = Math.max(...xs) - Math.min(...xs) + Math.max(...ys) - Math.min(...ys);
    this.line = null;
    if (extent < LEAST) {
      this.callbacks.onChange();
      return;
    }
    this.justEnded = true;
    this.callbacks.onEnd(corners, event.ctrlKey || event.metaKey ? "add" : "replace");
  }

  /** Gives up what is being drawn. */
  drop(): void {
    this.line = null;
    this.callbacks.onChange();
  }

  private escape(event: KeyboardEvent): void {
    if (event.key !== "Escape" || this.line === null) return;
    event.preventDefault();
    event.stopPropagation();
    this.drop();
    // The button is still down; its release must not count as a click.
    this.justEnded = true;
  }
}
