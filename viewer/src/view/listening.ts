/** Events of an element, and where in it they happen. */
import type { Point } from "../scene/label_boxes.ts";

type Heard = { [Type in keyof HTMLElementEventMap]?: (event: HTMLElementEventMap[Type]) => void };

/** Calls back at events of an element until the signal ends that. */
export function listenTo(host: HTMLElement, heard: Heard, signal: AbortSignal): void {
  for (const [type, hear] of Object.entries(heard)) {
    host.addEventListener(type, hear as EventListener, { signal, passive: false });
  }
}

/** The place of an event, in CSS pixels from the upper left corner of an element. */
export function placeIn(host: HTMLElement, event: MouseEvent): Point {
  const { left, top } = host.getBoundingClientRect();
  return [event.clientX - left, event.clientY - top];
}
