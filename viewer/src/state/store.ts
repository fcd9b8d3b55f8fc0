/**
 * The state of the page and the one way to change it.
 *
 * A change is a push (a step that the browser's back button undoes: another word, another map), or a
 * replacement (a slider, a colour, a camera that came to rest). Listeners learn of both.
 */

import type { Filters } from "../data/filters.ts";
import type { Camera } from "../scene/camera.ts";
import type { Tool } from "../view/gestures.ts";

export type ThemeChoice = "auto" | "light" | "dark";

export interface State {
  /** The word whose senses are shown. */
  word: number | null;
  /** The map whose card is marked, because a second word that was searched for is close there. */
  markedMap: number | null;
  /** Whether the word is only looked at while one types. */
  isPreview: boolean;
  /** The open map; null shows the gallery. */
  map: number | null;
  /** Where the open map is looked at; null where it fits the screen. */
  camera: Camera | null;
  /** A map does not show objects with less map weight. */
  threshold: number;
  color: string | null;
  size: string | null;
  filters: Filters;
  /** Whether the open map has lines from the word to what was observed of it. */
  lines: boolean;
  /** Selected objects, ascending. */
  selection: readonly number[];
  tool: Tool;
  theme: ThemeChoice;
  /** The theme of the system, which "auto" uses. */
  systemTheme: "light" | "dark";
  /** Whether single letters are commands. */
  hasKeys: boolean;
  /** The kind of object that is listed as neighbours: 0 the rows, 1 the columns. */
  neighborKind: 0 | 1;
  /** Whether all maps, or those of the word alone, are shown in place of its senses. */
  gallery: "all" | "word" | null;
  /** Whether the settings of how maps are drawn are in sight. */
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
