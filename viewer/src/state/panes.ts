/**
 * The views side by side: one view of an atlas, two of one atlas, or one of each of two.
 *
 * A view is a `Session`. How marks are drawn is the same in both, what is selected is so as far as
 * both atlases have it, and so is the word that is looked up while the views are linked. Search, keys
 * and panel are about the view that was last used.
 */

import type { Column } from "../data/atlas.ts";
import { elementAt } from "../data/elements.ts";
import { plainLabel } from "../data/words.ts";
import { colorColumns, sizeColumns } from "../scene/coloring.ts";
import * as texts from "../texts.ts";
import { Session } from "./session.ts";
import type { State, Step } from "./store.ts";

/** Parts of the state that both views share. */
const SHARED = [
  "by",
  "threshold",
  "color",
  "size",
  "ramp",
  "scale",
  "filters",
  "lines",
  "contours",
  "tool",
  "theme",
  "systemTheme",
  "hasKeys",
  "neighborKind",
  "hasSettings",
] as const;

/** "part" is a change within a larger one, which is reported at its end. */
type Listener = (step: Step | "part") => void;

export class Panes {
  /** One or two. */
  views: readonly Session[] = [];
  active: Session;
  isLinked: boolean;
  /** Aborted when the page, or the widget, is taken off the screen. */
  readonly ending = new AbortController();
  private listeners = new Set<Listener>();
  private isBusy = false;
  /** The word that each view was last known to show. */
  private words = new Map<Session, number | null>();

  constructor(
    sessions: readonly [Session, ...Session[]],
    /** Title of the page. */
    readonly title: string,
  ) {
    [this.active] = sessions;
    for (const session of sessions) this.add(session);
    this.isLinked = this.hasTwoAtlases;
  }

  get isPair(): boolean {
    return this.views.length > 1;
  }

  /** A widget, whose model follows one view, has no other. */
  get mayOpen(): boolean {
    return !this.isPair && this.active.ownsTheKeys;
  }

  get hasTwoAtlases(): boolean {
    return this.isPair && this.views[0]?.atlas !== this.views[1]?.atlas;
  }

  beside(session: Session): Session | null {
    return this.views.find((other) => other !== session) ?? null;
  }

  nameOf(session: Session): string {
    const { atlas, state } = session;
    if (this.hasTwoAtlases) return atlas.title;
    const { word } = state;
    if (word !== null && word !== this.beside(session)?.state.word) return plainLabel(atlas, word);
    return session === this.views[0] ? texts.FIRST_VIEW : texts.SECOND_VIEW;
  }

  /** The word of the other view that this one should show and lacks; null where nothing is amiss. */
  lackedBy(session: Session): string | null {
    const other = this.beside(session);
    const word = other?.state.isPreview ? null : (other?.state.word ?? null);
    if (!other || word === null || !this.isLinked || session.state.word !== null) return null;
    const isThere = counterpart(other, session, word) !== null;
    return isThere ? null : elementAt(other.atlas.labels, word);
  }

  /** Calls back at every change of a view, and of which there are, until the returned function is called. */
  listen(listener: Listener): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  activate(session: Session): void {
    if (session === this.active || !this.views.includes(session)) return;
    this.active = session;
    this.tell("replace");
  }

  link(isLinked: boolean): void {
    this.isLinked = isLinked;
    const other = this.beside(this.active);
    if (other && isLinked) this.quietly(() => this.lead(this.active, other));
    this.tell("push");
  }

  /** A second view of the atlas, of the same word; all maps are there to choose from. */
  open(state: Partial<State> = {}, step: Step = "push"): void {
    const { active } = this;
    if (!this.mayOpen) return;
    const alike = {
      ...active.state,
      map: null,
      camera: null,
      gallery: null,
      isPreview: false,
      ...state,
    };
    this.add(new Session(active.atlas, alike, true, active.finder));
    this.isLinked = false;
    this.active = elementAt(this.views, 1);
    this.tell(step);
    if (step === "push") active.announce(texts.SECOND_OPENED);
  }

  /** A second view, or no longer. */
  toggle(): void {
    const [, second] = this.views;
    if (second) this.close(second);
    else this.open();
  }

  /** To the other view. */
  goAcross(): void {
    const other = this.beside(this.active);
    if (other === null) return;
    this.activate(other);
    other.focusFound();
    other.announce(this.nameOf(other));
  }

  /** Takes away one of two views of an atlas. */
  close(session: Session, step: Step = "push"): void {
    const rest = this.beside(session);
    if (!rest || this.hasTwoAtlases) return;
    this.views = [rest];
    this.active = rest;
    this.words.delete(session);
    this.tell(step);
    if (step === "push") rest.announce(texts.VIEW_CLOSED);
  }

  /** Changes views without one following the other, as a part of a greater change. */
  quietly(change: () => void): void {
    this.isBusy = true;
    try {
      change();
    } finally {
      this.isBusy = false;
    }
  }

  private add(session: Session): void {
    this.views = [...this.views, session];
    this.words.set(session, session.state.word);
    session.store.listen((_, before, step) => {
      const isOther = this.settle(session);
      const other = this.beside(session);
      const isAlone = !this.isBusy;
      if (isAlone && other) this.quietly(() => this.spread(session, other, before, isOther));
      this.tell(isAlone ? step : "part");
    });
  }

  /** Notes the word that a view shows; whether it is another one, previews apart. */
  private settle(session: Session): boolean {
    const { word, isPreview } = session.state;
    if (isPreview || word === this.words.get(session)) return false;
    this.words.set(session, word);
    return true;
  }

  private spread(from: Session, to: Session, before: State, isOtherWord: boolean): void {
    const { state } = from;
    const changed = SHARED.filter((key) => state[key] !== before[key]);
    const alike: Partial<State> = Object.fromEntries(changed.map((key) => [key, state[key]]));
    if ("color" in alike) alike.color = known(colorColumns(to.atlas), state.color);
    if ("size" in alike) alike.size = known(sizeColumns(to.atlas), state.size);
    if ("filters" in alike) {
      const own = [...state.filters].filter(([name]) => known(to.atlas.columns, name));
      alike.filters = new Map(own);
    }
    if (from.atlas === to.atlas) alike.features = state.features;
    if (state.selection !== before.selection) alike.selection = this.selectionOf(from, to);
    to.store.change(alike);
    if (isOtherWord && this.isLinked) this.lead(from, to);
    if (state.path !== before.path && this.isLinked && to.state.word !== null) {
      const path = state.path === null ? null : counterpart(from, to, state.path);
      to.store.change({ path });
    }
  }

  /** One view shows the word of the other. */
  private lead(from: Session, to: Session): void {
    const { word } = from.state;
    const same = word === null ? null : counterpart(from, to, word);
    if (same !== to.state.word) to.chooseWord(same, to.state.word, "replace");
    const lacked = this.lackedBy(to);
    if (lacked !== null) to.announce(texts.isNotIn(lacked, this.nameOf(to)).join(""));
  }

  /** The objects selected in one view, as the other has them, and those that it alone has. */
  private selectionOf(from: Session, to: Session): readonly number[] {
    if (from.atlas === to.atlas) return from.state.selection;
    const own = to.state.selection.filter((object) => counterpart(to, from, object) === null);
    const same = from.state.selection.map((object) => counterpart(from, to, object));
    const all = new Set([...own, ...same.filter((object) => object !== null)]);
    return [...all].sort((a, b) => a - b);
  }

  tell(step: Step | "part"): void {
    for (const listener of this.listeners) listener(step);
  }
}

/** The object of one view's atlas that another view's calls by the same label; null without any. */
function counterpart(from: Session, to: Session, object: number): number | null {
  if (from.atlas === to.atlas) return object;
  return to.finder.named(elementAt(from.atlas.labels, object));
}

function known(columns: readonly Column[], name: string | null): string | null {
  return columns.some((column) => column.name === name) ? name : null;
}
