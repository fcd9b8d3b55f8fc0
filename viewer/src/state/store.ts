/** The state of the page. A change is a step that the back button undoes (push), or a replacement. */

import type { Filters } from "../data/filters.ts";
import type { Camera } from "../scene/camera.ts";
import type { Tool } from "../view/gestures.ts";

export type ThemeChoice = "auto" | "light" | "dark";

export interface State {
  word: number | null;
  /** The map whose card is marked, because a second word that was searched for is close there. */
  markedMap: number | null;
  /** The open map; null shows the gallery. */
  map: number | null;
  /** Where the open map is looked at; null where it fits the screen. */
  camera: Camera | null;
  threshold: number;
  color: string | null;
  size: string | null;
  filters: Filters;
  selection: readonly number[];
  tool: Tool;
  theme: ThemeChoice;
  systemTheme: "light" | "dark";
  hasKeys: boolean;
  /** The kind of object that is listed as neighbours: 0 the rows, 1 the columns. */
  neighborKind: 0 | 1;
  /** Whether all maps are shown in place of the senses of the word. */
  gallery: boolean;
  hasSettings: boolean;
  /** The message about parts of the address that the atlas does not have; "" for none. */
  notice: string;
}

export type Step = "push" | "replace";
type Listener = (state: State, before: State, step: Step) => void;

export class Store {
  private listeners = new Set<Listener>();

  constructor(public state: State) {}

  change(part: Partial<State>, step: Step = "replace"): void {
    const before = this.state;
    const after = { ...before, ...part };
    const keys = Object.keys(part) as (keyof State)[];
    if (keys.every((key) => Object.is(before[key], after[key]))) return;
    this.state = after;
    for (const listener of this.listeners) listener(after, before, step);
  }

  /** Calls back at every change until the returned function is called. */
  listen(listener: Listener): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }
}
