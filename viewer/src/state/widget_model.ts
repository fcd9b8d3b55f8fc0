/** The notebook's side of the page: what Python set is shown, what a person does is told to Python. */

import type { Atlas } from "../data/atlas.ts";
import type { Session } from "./session.ts";
import type { State, ThemeChoice } from "./store.ts";

/** anywidget's model, as far as it is used here. */
export interface Model {
  get(name: string): unknown;
  set(name: string, value: unknown): void;
  save_changes(): void;
  on(event: string, callback: () => void): void;
  off(event: string, callback: () => void): void;
}

export function stateIn(model: Model, { labels }: Atlas): Partial<State> {
  const word = labels.indexOf(model.get("word") as string);
  return {
    theme: model.get("theme") as ThemeChoice,
    selection: model.get("selected") as number[],
    word: word < 0 || model.get("word") === "" ? null : word,
    map: model.get("map") as number | null,
  };
}

/** Keeps session and model alike until the returned function is called. */
export function followModel(session: Session, model: Model, host: HTMLElement): () => void {
  const { labels } = session.atlas;
  const tell = (state: State, before: State) => {
    if (state.selection !== before.selection) model.set("selected", [...state.selection]);
    if (state.word !== before.word) {
      model.set("word", state.word === null ? "" : labels[state.word]);
    }
    if (state.map !== before.map) model.set("map", state.map);
    model.save_changes();
  };
  const heard: Record<string, () => void> = {
    selected: () => {
      const asked = model.get("selected") as number[];
      if (asked.join() !== session.state.selection.join()) session.select(asked);
    },
    word: () => {
      const asked = model.get("word") as string;
      const now = session.state.word === null ? "" : labels[session.state.word];
      if (asked !== now) session.chooseWord(asked === "" ? null : labels.indexOf(asked));
    },
    map: () => {
      const asked = model.get("map") as number | null;
      if (asked === session.state.map) return;
      if (asked === null) session.closeMap();
      else session.openMap(asked);
    },
    theme: () => session.store.change({ theme: model.get("theme") as ThemeChoice }),
    height: () => {
      host.style.height = `${model.get("height")}px`;
    },
  };
  for (const [name, hear] of Object.entries(heard)) model.on(`change:${name}`, hear);
  const deafen = session.store.listen(tell);
  return () => {
    deafen();
    for (const [name, hear] of Object.entries(heard)) model.off(`change:${name}`, hear);
  };
}
