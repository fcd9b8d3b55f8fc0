/** The work on a map's labels, in slices between frames so that the map goes on moving meanwhile. */
import type { Scene } from "../scene/scene.ts";

interface WorkHooks {
  scene(): Scene | null;
  isMoving(): boolean;
  /** More labels are known than were drawn last. */
  onProgress(): void;
  onDone(): void;
}

/** Milliseconds for labels between two frames, while the view moves and while it rests. */
const SLICES = { moving: 4, resting: 14 };
/** Milliseconds between two drawings of labels while they are worked out. */
const PROGRESS = 250;
/** Smaller maps get all their labels at once, within so many milliseconds. */
const SMALL_MAP = 6000;
const AT_ONCE = 120;

export class LabelWork {
  private timer = 0;
  /** When labels that were worked out meanwhile were last told of. */
  private told = 0;

  constructor(private hooks: WorkHooks) {}

  /** Whether there is more to come. */
  get isGoingOn(): boolean {
    return this.timer !== 0;
  }

  /** Works for a slice, and goes on later where that is not enough. */
  goOn(): void {
    this.stop();
    const scene = this.hooks.scene();
    if (!scene || scene.isSettled) return;
    const slice = this.hooks.isMoving() ? SLICES.moving : SLICES.resting;
    const isDone = scene.step(scene.map.objects.length <= SMALL_MAP ? AT_ONCE : slice);
    const now = performance.now();
    if (isDone || now - this.told > PROGRESS) {
      this.told = now;
      this.hooks.onProgress();
    }
    if (isDone) this.hooks.onDone();
    else this.timer = window.setTimeout(() => this.goOn(), 4);
  }

  stop(): void {
    clearTimeout(this.timer);
    this.timer = 0;
  }
}
