/**
 * Moving a map by wheel, drag and pinch.
 *
 *     drag     the map follows the pointer
 *     wheel    zoom by 2^(-delta / 500 pixels); the map's point under the pointer stays there
 *     pinch    zoom by the ratio of the fingers' distances; the point between them stays there
 *
 * A drag of less than CLICK pixels is a click and moves nothing.
 */
import { type Camera, panned, type Size, zoomAt } from "../scene/camera.ts";
import type { Point } from "../scene/label_boxes.ts";
import { listenTo, placeIn } from "./listening.ts";

interface GestureHooks {
  camera(): Camera;
  size(): Size;
  /** The least and the largest zoom. */
  bounds(): readonly [number, number];
  /** Whether a drag that begins so moves the map. */
  moves(event: PointerEvent): boolean;
  /** Whether a turn of the wheel is meant for the map. */
  turns(event: WheelEvent): boolean;
  /** A second finger came down, so that whatever the first one did is a pinch. */
  onPinch(): void;
  onMove(camera: Camera): void;
  /** A drag or pinch began or ended. */
  onGrab(isHeld: boolean): void;
}

const CLICK = 3;
const DOUBLING = 500;
/** Pixels that the units of a wheel stand for: a pixel, a line, a page. */
const UNITS = [1, 25, 500];
/** Browsers report a pinch on a trackpad as small turns of the wheel with Ctrl. */
const TRACKPAD = 10;

function distance([x, y]: Point, [otherX, otherY]: Point): number {
  return Math.hypot(x - otherX, y - otherY);
}

export class Gestures {
  /** Whether the click that now arrives is only the end of a drag. */
  wasDrag = false;
  private fingers = new Map<number, Point>();
  private start: Point | null = null;
  private isHeld = false;
  /** Whether the fingers move the map, or draw a selection. */
  private moves = false;

  constructor(
    private host: HTMLElement,
    private hooks: GestureHooks,
    signal: AbortSignal,
  ) {
    const release = (event: PointerEvent) => this.release(event);
    const heard = {
      wheel: (event: WheelEvent) => this.turn(event),
      pointerdown: (event: PointerEvent) => this.press(event),
      pointermove: (event: PointerEvent) => this.move(event),
      ...{ pointerup: release, pointercancel: release, lostpointercapture: release },
    };
    listenTo(host, heard, signal);
  }

  private zoom(factor: number, [x, y]: Point, from = this.hooks.camera()): void {
    const [least, most] = this.hooks.bounds();
    const zoom = Math.min(most, Math.max(least, from.zoom * factor));
    this.hooks.onMove(zoomAt(from, this.hooks.size(), zoom / from.zoom, x, y));
  }

  private turn(event: WheelEvent): void {
    if (!this.hooks.turns(event)) return;
    event.preventDefault();
    const pixels = event.deltaY * (UNITS[event.deltaMode] ?? 1);
    this.zoom(
      2 ** ((-pixels * (event.ctrlKey ? TRACKPAD : 1)) / DOUBLING),
      placeIn(this.host, event),
    );
  }

  private press(event: PointerEvent): void {
    if (this.fingers.size === 0) {
      this.wasDrag = false;
      this.moves = this.hooks.moves(event);
    }
    if (event.button !== 0 || !(this.moves || event.pointerType === "touch")) return;
    this.fingers.set(event.pointerId, placeIn(this.host, event));
    this.start = placeIn(this.host, event);
    if (this.fingers.size < 2) return;
    this.moves = true;
    this.hooks.onPinch();
    this.hold(event.pointerId);
  }

  private hold(pointer: number): void {
    this.host.setPointerCapture(pointer);
    if (!this.isHeld) this.hooks.onGrab(true);
    this.isHeld = true;
    this.wasDrag = true;
  }

  private move(event: PointerEvent): void {
    const finger = this.fingers.get(event.pointerId);
    if (!finger || !this.start) return;
    if (event.pointerType === "mouse" && event.buttons === 0) {
      // The button went up outside of what we hear of.
      this.release(event);
      return;
    }
    const now = placeIn(this.host, event);
    if (this.moves && !this.isHeld) {
      if (distance(now, this.start) < CLICK) return;
      this.hold(event.pointerId);
    }
    this.fingers.set(event.pointerId, now);
    if (!this.moves) return;
    const other = [...this.fingers].find(([pointer]) => pointer !== event.pointerId)?.[1];
    if (other) this.pinch(finger, now, other);
    else this.hooks.onMove(panned(this.hooks.camera(), finger[0] - now[0], finger[1] - now[1]));
  }

  /** One of two fingers moved: the map moves with the point between them, then zooms about it. */
  private pinch(before: Point, now: Point, other: Point): void {
    const middle: Point = [(now[0] + other[0]) / 2, (now[1] + other[1]) / 2];
    const [dx, dy] = [(before[0] - now[0]) / 2, (before[1] - now[1]) / 2];
    const factor = Math.max(1, distance(now, other)) / Math.max(1, distance(before, other));
    this.zoom(factor, middle, panned(this.hooks.camera(), dx, dy));
  }

  private release(event: PointerEvent): void {
    if (!this.fingers.delete(event.pointerId) || this.fingers.size > 0) return;
    this.start = null;
    if (this.isHeld) this.hooks.onGrab(false);
    this.isHeld = false;
  }
}
