/** Where a map is looked at from: jumps and flights, within bounds; until it is moved it fits the map. */
import { type Camera, closestZoom, inSight, panned, type Size, zoomAt } from "../scene/camera.ts";
import { FARTHEST, type Scene } from "../scene/scene.ts";

export interface MotionHooks {
  readonly size: Size;
  readonly scene: Scene | null;
  onMove(): void;
}

const DURATION = 500;
/** A flight goes on by at most so many milliseconds a frame, so that slow frames skip no part of it. */
const LONGEST_STEP = 64;
const FAR = 1e15;

export class CameraMotion {
  camera: Camera = { x: 0, y: 0, zoom: 1 };
  private isFitted = true;
  private flight: { frame: number; landing: Camera } | null = null;

  constructor(private hooks: MotionHooks) {}

  /** Where the flight will end; null without one. */
  get landing(): Camera | null {
    return this.flight?.landing ?? null;
  }

  get fitCamera(): Camera {
    return this.hooks.scene?.fitCamera ?? this.camera;
  }

  /** The least and the largest zoom; by hand only as near as there is enough to see. */
  get bounds(): [number, number] {
    const [least, most] = this.limits;
    const { camera, hooks } = this;
    const closest = hooks.scene ? closestZoom(hooks.scene.marks, camera, hooks.size) : most;
    return [least, Math.max(Math.min(most, closest), camera.zoom, this.fitCamera.zoom)];
  }

  private get limits(): [number, number] {
    const { zoom } = this.fitCamera;
    return [zoom / 3, zoom * FARTHEST];
  }

  begin(camera: Camera | null): void {
    this.isFitted = camera === null;
    this.camera = camera === null ? this.fitCamera : this.within(camera);
  }

  refit(): void {
    if (!this.isFitted || !this.hooks.scene) return;
    this.stop();
    this.camera = this.fitCamera;
  }

  /** A step by hand, key or button: short enough to need no flight. */
  jump(camera: Camera): void {
    this.stop();
    this.isFitted = false;
    this.camera = this.within(camera);
    this.hooks.onMove();
  }

  /** Moves to a camera; at once where motion is not wanted. */
  flyTo(to: Camera): void {
    const size = this.hooks.size;
    const camera = this.within(to);
    if (matchMedia("(prefers-reduced-motion: reduce)").matches || size.width === 0) {
      this.jump(camera);
      return;
    }
    this.stop();
    this.isFitted = false;
    const from = this.camera;
    let [elapsed, before] = [0, performance.now()];
    const fly = (now: number) => {
      elapsed += Math.min(LONGEST_STEP, Math.max(0, now - before));
      before = now;
      const time = Math.min(1, elapsed / DURATION);
      this.camera = between(from, camera, time * time * (3 - 2 * time));
      this.hooks.onMove();
      this.flight = time < 1 ? { frame: requestAnimationFrame(fly), landing: camera } : null;
    };
    this.flight = { frame: requestAnimationFrame(fly), landing: camera };
  }

  zoomBy(factor: number): void {
    const size = this.hooks.size;
    const [least, most] = this.bounds;
    const { zoom: now } = this.camera;
    const zoom = Math.min(most, Math.max(least, now * factor));
    this.jump(zoomAt(this.camera, size, zoom / now, size.width / 2, size.height / 2));
  }

  panBy(dx: number, dy: number): void {
    this.jump(panned(this.camera, dx, dy));
  }

  fit(): void {
    if (!this.hooks.scene) return;
    const { fitCamera, camera } = this;
    const { x, y, zoom } = fitCamera;
    if (x === camera.x && y === camera.y && zoom === camera.zoom) this.stop();
    else this.flyTo(fitCamera);
    this.isFitted = true;
  }

  stop(): void {
    if (this.flight) cancelAnimationFrame(this.flight.frame);
    this.flight = null;
  }

  /** The nearest camera that shows something; what comes from elsewhere may be anything. */
  private within(asked: Camera): Camera {
    const [least, most] = this.limits;
    const known = (value: number, usual: number) => (Math.abs(value) < FAR ? value : usual);
    const { x, y, zoom } = this.fitCamera;
    const near = Math.min(most, Math.max(least, known(asked.zoom, zoom)));
    const camera = { x: known(asked.x, x), y: known(asked.y, y), zoom: near };
    const scene = this.hooks.scene;
    return scene ? inSight(scene.marks, camera, this.hooks.size) : camera;
  }
}

/** The camera on its way: the zoom grows evenly about the one point that stays in place. */
export function between(from: Camera, to: Camera, time: number): Camera {
  // The end is exact, so that an address restores a view to the last digit.
  if (time === 1) return to;
  const rate = Math.log(to.zoom / from.zoom);
  const share = rate === 0 ? time : Math.expm1(-rate * time) / Math.expm1(-rate);
  return {
    x: from.x + share * (to.x - from.x),
    y: from.y + share * (to.y - from.y),
    zoom: from.zoom * Math.exp(rate * time),
  };
}
