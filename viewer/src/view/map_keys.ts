/** The keys of a map that has the focus. */
import type { CameraMotion } from "./camera_motion.ts";
import { listenTo } from "./listening.ts";

const PAN_STEP = 80;
const ZOOM_STEP = 1.5;

/** `open` opens what is pointed at or selected; `next` goes to the next neighbour of the word. */
export function followMapKeys(
  host: HTMLElement,
  motion: CameraMotion,
  open: () => void,
  next: () => void,
  signal: AbortSignal,
): void {
  const actions: Record<string, () => void> = {
    ArrowLeft: () => motion.panBy(-PAN_STEP, 0),
    ArrowRight: () => motion.panBy(PAN_STEP, 0),
    ArrowUp: () => motion.panBy(0, -PAN_STEP),
    ArrowDown: () => motion.panBy(0, PAN_STEP),
    "+": () => motion.zoomBy(ZOOM_STEP),
    "=": () => motion.zoomBy(ZOOM_STEP),
    "-": () => motion.zoomBy(1 / ZOOM_STEP),
    0: () => motion.fit(),
    Enter: open,
    n: next,
  };
  const press = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const action = actions[event.key];
    if (!action || event.target !== host) return;
    event.preventDefault();
    action();
  };
  listenTo(host, { keydown: press }, signal);
}
