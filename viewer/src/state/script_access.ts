/** The page for scripts: `document.querySelector("#manymaps").atlas`; boxes are in pixels of the map. */
import type { Session } from "./session.ts";
import type { State } from "./store.ts";

export type ScriptAccess = ReturnType<typeof scriptAccess>;

export function scriptAccess(session: Session) {
  const { atlas, lookups } = session;
  return {
    atlas,
    get state() {
      return session.state;
    },
    get camera() {
      return session.mapView?.camera ?? null;
    },
    /** Whether the open map stands still, with all its labels. */
    get isAtRest() {
      return session.mapView?.isAtRest ?? true;
    },
    senses: (object: number) => lookups.sensesOf(object),
    observed: (object: number) => ({
      recalled: lookups.recalledBy(object),
      recalling: lookups.whoRecalls(object),
    }),
    /** The strong associates of a word that are not close on their maps. */
    farFrom: (word: number) => lookups.farFrom(word).map(({ object }) => object),
    shown: () => session.mapView?.letters.labels ?? [],
    names: () => session.mapView?.letters.names ?? [],
    change: (part: Partial<State>) => session.goToState(part),
    chooseWord: (object: number | null) => session.chooseWord(object),
    openMap: (map: number) => session.openMap(map),
    select: (objects: readonly number[]) => session.select(objects),
  };
}
