/**
 * Where a map is looked at from, as it changes: in jumps, in flights, within bounds of zoom, and
 * never at nothing.
 *
 * Until it is moved the camera fits the map, and does so anew when the screen changes its size.
 */
import { type Camera, closestZoom, inSight, panned, type Size, zoomAt } from "../scene/camera.ts";
import { FARTHEST, type Scene } from "../scene/scene.ts";
import { flight } from "./flight.ts";

interface MotionHooks {
  /** Of the screen, in CSS pixels. */
  size(): Size;
  scene(): Scene | null;
  onMove(): void;
}

/** A flight goes on by at most so many milliseconds a frame, so that slow frames skip no part of it. */
const LONGEST_STEP = 64;
/** No map reaches so far. */
const FAR = 1e15;

export class CameraMotion {
  private current: Camera = { x: 0, y: 0, zoom: 1 };
  private isFitted = true;
  private flight: { frame: number; landing: Camera } | null = null;

  constructor(
    private hooks: MotionHooks,
    private reducedMotion: boolean,
  ) {}

  get camera(): Camera {
    return this.current;
  }

  /** Where the flight will end; null without one. */
  get landing(): Camera | null {
    return this.flight?.landing ?? null;
  }

  /** The camera that shows the whole map. */
  get fitCamera(): Camera {
    return this.hooks.scene()?.fitCamera ?? this.current;
  }

  /** The least and the largest zoom; by hand only as near as there is enough to see. */
  get bounds(): [number, number] {
    const [least, most] = this.limits;
    const { current, hooks } = this;
    const scene = hooks.scene();
    const closest = scene ? closestZoom(scene.marks, current, hooks.size()) : most;
    return [least, Math.max(Math.min(most, closest), current.zoom, this.fitCamera.zoom)];
  }

  private get limits(): [number, number] {
    const { zoom } = this.fitCamera;
    return [zoom / 3, zoom * FARTHEST];
  }

  /** Looks at another map from here on: from a camera, or at all of it. */
  begin(camera: Camera | null): void {
    this.isFitted = camera === null;
    this.current = camera === null ? this.fitCamera : this.within(camera);
  }

  /** The screen has another size. */
  refit(): void {
    if (!this.isFitted || !this.hooks.scene()) return;
    this.stop();
    this.current = this.fitCamera;
  }

  /** A step by hand, key or button: short enough to need no flight. */
  jump(camera: Camera): void {
    this.stop();
    this.isFitted = false;
    this.current = this.within(camera);
    this.hooks.onMove();
  }

  /** Moves to a camera; at once where motion is not wanted. */
  flyTo(to: Camera): void {
    const size = this.hooks.size();
    const camera = this.within(to);
    if (this.reducedMotion || size.width === 0) {
      this.jump(camera);
      return;
    }
    this.stop();
    this.isFitted = false;
    const { at, duration } = flight(this.current, camera, size);
    let [elapsed, before] = [0, performance.now()];
    const fly = (now: number) => {
      elapsed += Math.min(LONGEST_STEP, Math.max(0, now - before));
      before = now;
      const time = Math.min(1, elapsed / duration);
      this.current = at(time * time * (3 - 2 * time));
      this.hooks.onMove();
      this.flight = time < 1 ? { frame: requestAnimationFrame(fly), landing: camera } : null;
    };
    this.flight = { frame: requestAnimationFrame(fly), landing: camera };
  }

  zoomBy(factor: number): void {
    const size = this.hooks.size();
    const [least, most] = this.bounds;
    const { zoom: now } = this.current;
    const zoom = Math.min(most, Math.max(least, now * factor));
    this.jump(zoomAt(this.current, size, zoom / now, size.width / 2, size.height / 2));
  }

  panBy(dx: number, dy: number): void {
    this.jump(panned(this.current, dx, dy));
  }

  /** Flies to where all of the map is seen. */
  fit(): void {
    if (!this.hooks.scene()) return;
    const { fitCamera, current } = this;
    const { x, y, zoom } = fitCamera;
    if (x === current.x && y === current.y && zoom === current.zoom) this.stop();
    else this.flyTo(fitCamera);
    this.isFitted = true;
  }

  /** Ends the flight where it is. */
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
    const scene = this.hooks.scene();
    return scene ? inSight(scene.marks, camera, this.hooks.size()) : camera;
  }
}
