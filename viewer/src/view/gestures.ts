/** The pointer on the open map.
 *
 *     drag     the map follows the pointer; with Shift or the lasso tool, a line that selects
 *     wheel    zoom by 2^(-delta / 500 pixels); the map's point under the pointer stays there
 *     pinch    zoom by the ratio of the fingers' distances; the point between them stays there
 *     click    selects, a double click opens; a drag of less than CLICK pixels is a click
 */
import { type Camera, panned, type Size, zoomAt } from "../scene/camera.ts";
import type { Point } from "../scene/label_boxes.ts";

export type Tool = "pan" | "lasso";
export type SelectMode = "replace" | "add" | "toggle";

export interface GestureHooks {
  readonly camera: Camera;
  readonly size: Size;
  /** The least and the largest zoom. */
  readonly bounds: readonly [number, number];
  /** Whether a turn of the wheel is meant for the map. */
  turns(event: WheelEvent): boolean;
  moveTo(camera: Camera): void;
  /** Whether the map is held, or the line of the lasso, changed. */
  onGrab(isHeld: boolean): void;
  /** The corners of the line, in CSS pixels of the host. */
  onLasso(line: readonly Point[], mode: SelectMode): void;
  /** The entry at a point of the host, in CSS pixels. */
  entryAt(point: Point): number | null;
  /** The pointer moved over an entry, or to another one or away from all (`isOther`). */
  onHover(entry: number | null, point: Point, isOther: boolean): void;
  /** A click on an entry or on none; with a key that asks to keep what is selected (`isMore`). */
  onClick(entry: number | null, isMore: boolean, point: Point): void;
  onOpen(entry: number): void;
}

const CLICK = 3;
const DOUBLING = 500;
/** Pixels that the units of a wheel stand for: a pixel, a line, a page. */
const UNITS = [1, 25, 500];
/** Browsers report a pinch on a trackpad as small turns of the wheel with Ctrl. */
const TRACKPAD = 10;

const distance = ([x, y]: Point, other: Point) => Math.hypot(x - other[0], y - other[1]);

export class Gestures {
  tool: Tool = "pan";
  line: Point[] | null = null;
  hovered: number | null = null;
  private fingers = new Map<number, Point>();
  private start: Point = [0, 0];
  private isHeld = false;
  /** Whether the click that now arrives is only the end of a drag. */
  private wasDrag = false;

  constructor(
    private host: HTMLElement,
    private hooks: GestureHooks,
    signal: AbortSignal,
  ) {
    const release = (event: PointerEvent) => this.release(event);
    const heard: { [T in keyof HTMLElementEventMap]?: (event: HTMLElementEventMap[T]) => void } = {
      wheel: (event) => this.turn(event),
      pointerdown: (event) => this.press(event),
      pointermove: (event) => this.move(event),
      ...{ pointerup: release, pointercancel: release, lostpointercapture: release },
      pointerleave: () => this.hover(null, this.start),
      click: (event) => this.click(event),
      dblclick: (event) => this.open(event),
      keydown: (event) => this.escape(event),
    };
    for (const [type, hear] of Object.entries(heard)) {
      host.addEventListener(type, hear as EventListener, { signal, passive: false });
    }
  }

  hover(entry: number | null, point: Point = this.start): void {
    if (entry === null && this.hovered === null) return;
    const isOther = entry !== this.hovered;
    this.hovered = entry;
    this.hooks.onHover(entry, point, isOther);
  }

  private place(event: MouseEvent): Point {
    const { left, top } = this.host.getBoundingClientRect();
    return [event.clientX - left, event.clientY - top];
  }

  private zoom(factor: number, [x, y]: Point, from = this.hooks.camera): void {
    const [least, most] = this.hooks.bounds;
    const zoom = Math.min(most, Math.max(least, from.zoom * factor));
    this.hooks.moveTo(zoomAt(from, this.hooks.size, zoom / from.zoom, x, y));
  }

  private turn(event: WheelEvent): void {
    if (!this.hooks.turns(event)) return;
    event.preventDefault();
    const pixels = event.deltaY * (UNITS[event.deltaMode] ?? 1) * (event.ctrlKey ? TRACKPAD : 1);
    this.zoom(2 ** (-pixels / DOUBLING), this.place(event));
  }

  private press(event: PointerEvent): void {
    if (this.fingers.size === 0) this.wasDrag = false;
    if (event.button !== 0) return;
    this.start = this.place(event);
    this.fingers.set(event.pointerId, this.start);
    if (this.fingers.size > 1) {
      // Whatever the first finger did, it is a pinch.
      this.dropLine();
      this.hold(event.pointerId);
    } else if (event.shiftKey || this.tool === "lasso") {
      this.line = [this.start];
      this.host.setPointerCapture(event.pointerId);
    }
  }

  private hold(pointer: number): void {
    this.host.setPointerCapture(pointer);
    if (!this.isHeld) this.hooks.onGrab(true);
    this.isHeld = true;
    this.wasDrag = true;
  }

  private move(event: PointerEvent): void {
    const [finger, now] = [this.fingers.get(event.pointerId), this.place(event)];
    if (!finger) {
      if (!event.buttons) this.hover(this.hooks.entryAt(now), now);
      return;
    }
    if (event.pointerType === "mouse" && event.buttons === 0) {
      // The button went up outside of what we hear of.
      this.release(event);
      return;
    }
    if (!this.isHeld && !this.line) {
      if (distance(now, this.start) < CLICK) return;
      this.hold(event.pointerId);
    }
    this.fingers.set(event.pointerId, now);
    if (this.line) {
      this.line.push(now);
      this.hooks.onGrab(this.isHeld);
      return;
    }
    const other = [...this.fingers].find(([pointer]) => pointer !== event.pointerId)?.[1];
    if (other) this.pinch(finger, now, other);
    else this.hooks.moveTo(panned(this.hooks.camera, finger[0] - now[0], finger[1] - now[1]));
  }

  /** One of two fingers moved: the map moves with the point between them, then zooms about it. */
  private pinch(before: Point, now: Point, other: Point): void {
    const middle: Point = [(now[0] + other[0]) / 2, (now[1] + other[1]) / 2];
    const [dx, dy] = [(before[0] - now[0]) / 2, (before[1] - now[1]) / 2];
    const factor = Math.max(1, distance(now, other)) / Math.max(1, distance(before, other));
    this.zoom(factor, middle, panned(this.hooks.camera, dx, dy));
  }

  private release(event: PointerEvent): void {
    if (!this.fingers.delete(event.pointerId) || this.fingers.size > 0) return;
    const { line } = this;
    this.dropLine();
    if (line && event.type === "pointerup" && line.some((at) => distance(at, this.start) > CLICK)) {
      this.wasDrag = true;
      this.hooks.onLasso(line, event.ctrlKey || event.metaKey ? "add" : "replace");
    }
    if (this.isHeld) this.hooks.onGrab(false);
    this.isHeld = false;
  }

  private dropLine(): void {
    if (!this.line) return;
    this.line = null;
    this.hooks.onGrab(this.isHeld);
  }

  private click(event: MouseEvent): void {
    if (this.wasDrag || event.detail > 1) return;
    const isMore = event.ctrlKey || event.metaKey || event.shiftKey;
    const point = this.place(event);
    this.hooks.onClick(this.hooks.entryAt(point), isMore, point);
  }

  private open(event: MouseEvent): void {
    const entry = this.hooks.entryAt(this.place(event));
    if (entry !== null) this.hooks.onOpen(entry);
  }

  private escape(event: KeyboardEvent): void {
    if (event.key !== "Escape" || this.line === null) return;
    event.preventDefault();
    event.stopPropagation();
    this.dropLine();
    // The button is still down; its release must not count as a click.
    this.fingers.clear();
    this.wasDrag = true;
  }
}
