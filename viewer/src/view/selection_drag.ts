/** Drags that select: a lasso, with shift or the lasso tool. */
import type { Palette } from "../scene/coloring.ts";
import type { Point } from "../scene/label_boxes.ts";
import { listenTo, placeIn } from "./listening.ts";

export type Tool = "pan" | "lasso";
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
  /** The line so far. */
  line: Point[] | null = null;
  /** Whether the click that follows belongs to a drag that has just ended. */
  justEnded = false;

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
  wants({ shiftKey }: PointerEvent): boolean {
    return shiftKey || this.tool === "lasso";
  }

  /** Draws the line in CSS pixels. */
  draw(context: CanvasRenderingContext2D, palette: Palette): void {
    if (!this.line) return;
    context.beginPath();
    for (const [x, y] of this.line) context.lineTo(x, y);
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

  private start(event: PointerEvent): void {
    this.justEnded = false;
    if (event.button !== 0 || !event.isPrimary || !this.wants(event)) return;
    this.line = [placeIn(this.host, event)];
    this.host.setPointerCapture(event.pointerId);
  }

  private move(event: PointerEvent): void {
    if (!this.line || !event.isPrimary) return;
    this.line.push(placeIn(this.host, event));
    this.callbacks.onChange();
  }

  private end(event: PointerEvent): void {
    if (!this.line || !event.isPrimary) return;
    const { line } = this;
    const xs = line.map(([x]) => x);
    const ys = line.map(([, y]) => y);
    const extent = Math.max(...xs) - Math.min(...xs) + Math.max(...ys) - Math.min(...ys);
    this.line = null;
    if (extent < LEAST) {
      this.callbacks.onChange();
      return;
    }
    this.justEnded = true;
    this.callbacks.onEnd(line, event.ctrlKey || event.metaKey ? "add" : "replace");
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
