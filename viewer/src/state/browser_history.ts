/** The page's address follows the state, and the state follows back, forward and edited addresses. */

import { type Atlas, type Column, kindOf } from "../data/atlas.ts";
import { elementAt } from "../data/elements.ts";
import { colorColumns, sizeColumns } from "../scene/coloring.ts";
import { fromHash, type Place, toHash } from "./address.ts";
import type { Session } from "./session.ts";
import type { State } from "./store.ts";

/** What an address says where the page's own column is switched off. */
const NO_COLUMN = "(recall)";
/** Browsers refuse addresses that change too often, as a dragged slider would change them. */
const PATIENCE = 250;

/** What an address asks of the state; what the atlas does not have is left out. */
export function stateAt(atlas: Atlas, hash: string): Partial<State> {
  const place = fromHash(hash);
  const state: Partial<State> = { word: objectOf(atlas, place), map: mapOf(atlas, place) };
  const { zoom, x, y, threshold } = place;
  const hasCamera = zoom !== null && x !== null && y !== null && state.map !== null;
  state.camera = hasCamera ? { zoom, x, y } : null;
  state.threshold = threshold ?? atlas.minRecall;
  state.lines = place.lines && atlas.observed !== null;
  const asked = (name: string | null, usual: string | null, columns: readonly Column[]) => {
    if (name === NO_COLUMN) return null;
    return columns.some((column) => column.name === name) ? name : usual;
  };
  state.color = asked(place.color, atlas.color, colorColumns(atlas));
  state.size = asked(place.size, atlas.size, sizeColumns(atlas));
  return state;
}

/** Keeps address and state together from now on. */
export function followAddress(session: Session): void {
  const { atlas, store } = session;
  let isReading = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const write = (state: State, isStep: boolean) => {
    clearTimeout(timer);
    timer = undefined;
    const hash = toHash(placeOf(atlas, state)) || "#";
    if (hash === (location.hash || "#")) return;
    try {
      history[isStep ? "pushState" : "replaceState"](null, "", hash);
    } catch {
      // A frame without an address of its own has none to keep a view in, and browsers refuse
      // addresses that change too often; the page goes on without.
    }
  };
  store.listen((state, before, step) => {
    if (isReading || state.isPreview) return;
    if (step === "push") {
      // What was still to be written belongs to the entry that is being left.
      if (timer !== undefined) write(before, false);
      write(state, true);
    } else {
      clearTimeout(timer);
      timer = setTimeout(() => write(store.state, false), PATIENCE);
    }
  });
  addEventListener("popstate", () => {
    clearTimeout(timer);
    timer = undefined;
    isReading = true;
    const state = stateAt(atlas, location.hash);
    if (session.isSingle) state.map = 0;
    session.endTyping();
    // Codes of one column mean nothing in another.
    const hidden = state.color === store.state.color ? store.state.hidden : new Set<number>();
    session.goToState({ ...state, hidden, isPreview: false });
    isReading = false;
  });
}

function placeOf(atlas: Atlas, state: State): Place {
  const { word, map, camera, threshold, color, size, lines } = state;
  return {
    word: word === null ? null : elementAt(atlas.labels, word),
    kind: word === null ? null : kindOf(atlas, word),
    map: atlas.nMaps === 1 && camera === null ? null : map,
    zoom: camera?.zoom ?? null,
    x: camera?.x ?? null,
    y: camera?.y ?? null,
    threshold: threshold === atlas.minRecall ? null : threshold,
    color: color === atlas.color ? null : (color ?? NO_COLUMN),
    size: size === atlas.size ? null : (size ?? NO_COLUMN),
    lines,
  };
}

function objectOf(atlas: Atlas, { word, kind }: Place): number | null {
  if (word === null) return null;
  const from = atlas.kinds !== null && kind === atlas.kinds[1] ? atlas.nRows : 0;
  const exact = atlas.labels.indexOf(word, from);
  return exact >= 0 ? exact : null;
}

function mapOf(atlas: Atlas, { map }: Place): number | null {
  if (atlas.nMaps === 1) return 0;
  return map !== null && map < atlas.nMaps ? map : null;
}
