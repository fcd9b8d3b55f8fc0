/** The keys of a map that has the focus. */
import { listenTo } from "./listening.ts";

interface Commands {
  panBy(dx: number, dy: number): void;
  zoomBy(factor: number): void;
  /** Shows all of the map. */
  fit(): void;
  /** Opens what is pointed at or selected. */
  open(): void;
  /** Goes to the next neighbour of the word. */
  next(): void;
}

const PAN_STEP = 80;
const ZOOM_STEP = 1.5;

export function followMapKeys(host: HTMLElement, commands: Commands, signal: AbortSignal): void {
  const actions: Record<string, () => void> = {
    ArrowLeft: () => commands.panBy(-PAN_STEP, 0),
    ArrowRight: () => commands.panBy(PAN_STEP, 0),
    ArrowUp: () => commands.panBy(0, -PAN_STEP),
    ArrowDown: () => commands.panBy(0, PAN_STEP),
    "+": () => commands.zoomBy(ZOOM_STEP),
    "=": () => commands.zoomBy(ZOOM_STEP),
    "-": () => commands.zoomBy(1 / ZOOM_STEP),
    0: () => commands.fit(),
    Enter: () => commands.open(),
    n: () => commands.next(),
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
