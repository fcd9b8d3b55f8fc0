/** The pointer on the open map: the entry under it, clicks and double clicks. */
import type { Point } from "../scene/label_boxes.ts";
import { listenTo, placeIn } from "./listening.ts";

interface PointingHooks {
  /** The entry at a point of the host, in CSS pixels. */
  entryAt(point: Point): number | null;
  /** Whether the pointer draws a line, and so points at nothing. */
  isDrawing(): boolean;
  /** Whether the click that now arrives is only the end of a drag. */
  isDragEnd(): boolean;
  /** The pointer moved over an entry, or to another one or away from all (`isOther`). */
  onHover(entry: number | null, [x, y]: Point, isOther: boolean): void;
  /** A click on an entry or on none; with a key that asks to keep what is selected (`isMore`). */
  onClick(entry: number | null, isMore: boolean, point: Point): void;
  /** A double click on an entry. */
  onOpen(entry: number): void;
}

export class Pointing {
  hovered: number | null = null;
  private pointer: Point | null = null;

  constructor(
    private host: HTMLElement,
    private hooks: PointingHooks,
    signal: AbortSignal,
  ) {
    const heard = {
      pointermove: (event: PointerEvent) => this.point(event),
      pointerleave: () => this.hover(null),
      click: (event: MouseEvent) => this.click(event),
      dblclick: (event: MouseEvent) => this.open(event),
    };
    listenTo(host, heard, signal);
  }

  hover(entry: number | null): void {
    if (entry === null && this.hovered === null) return;
    const isOther = entry !== this.hovered;
    this.hovered = entry;
    this.hooks.onHover(entry, this.pointer ?? [0, 0], isOther);
  }

  private point(event: PointerEvent): void {
    this.pointer = placeIn(this.host, event);
    if (event.buttons || this.hooks.isDrawing()) return;
    this.hover(this.hooks.entryAt(this.pointer));
  }

  private click(event: MouseEvent): void {
    if (this.hooks.isDragEnd() || event.detail > 1) return;
    const isMore = event.ctrlKey || event.metaKey || event.shiftKey;
    const point = placeIn(this.host, event);
    this.hooks.onClick(this.hooks.entryAt(point), isMore, point);
  }

  private open(event: MouseEvent): void {
    const entry = this.hooks.entryAt(placeIn(this.host, event));
    if (entry !== null) this.hooks.onOpen(entry);
  }
}
