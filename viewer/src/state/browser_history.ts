/** The page's address follows the state, and the state follows back, forward and edited addresses. */

import { type Atlas, type Column, kindOf, NO_CATEGORY } from "../data/atlas.ts";
import { type CodeFilter, codesOf, type Filters, type RangeFilter } from "../data/filters.ts";
import { colorColumns, sizeColumns } from "../scene/coloring.ts";
import * as texts from "../texts.ts";
import { fromHash, fromRuns, type Place, toHash, toRuns } from "./address.ts";
import { STATE } from "./script_access.ts";
import { fold } from "./search.ts";
import { noMatch } from "./sentences.ts";
import type { Session } from "./session.ts";
import type { State } from "./store.ts";

/** The value in an address if the page's own column is switched off. */
const NO_COLUMN = "(weight)";
/** Browsers refuse addresses that change too often, as a dragged slider would change them. */
const PATIENCE = 250;

/** The state that an address describes; parts that the atlas does not have are skipped. */
export function stateAt(atlas: Atlas, hash: string): Partial<State> {
  const place = fromHash(hash);
  const word = objectOf(atlas, place);
  const state: Partial<State> = { word, map: mapOf(atlas, place), markedMap: null };
  const isGallery = state.word !== null && (place.maps === "all" || place.maps === "word");
  state.gallery = isGallery && state.map === null ? (place.maps as "all" | "word") : null;
  state.notice = noticeOf(atlas, place, state);
  const { zoom, x, y } = place;
  const hasCamera = zoom !== null && x !== null && y !== null && state.map !== null;
  state.camera = hasCamera ? { zoom, x, y } : null;
  state.threshold = place.min ?? atlas.minWeight;
  state.lines = place.lines && atlas.observed !== null;
  const asked = (name: string | null, usual: string | null, columns: readonly Column[]) => {
    if (name === NO_COLUMN) return null;
    return columns.some((column) => column.name === name) ? name : usual;
  };
  state.color = asked(place.color, atlas.color, colorColumns(atlas));
  state.size = asked(place.size, atlas.size, sizeColumns(atlas));
  state.filters = filtersAt(atlas, place);
  state.selection = fromRuns(place.select ?? "", atlas.nObjects) ?? [];
  return state;
}

/** The message about a part of an address that the atlas does not have. */
function noticeOf(atlas: Atlas, { word, map }: Place, state: Partial<State>): string {
  if (word !== null && state.word === null) return noMatch(atlas, word);
  return map !== null && state.map !== map ? texts.noSuchMap(map, atlas.nMaps - 1) : "";
}

function filtersAt(atlas: Atlas, place: Place): Filters {
  const filters = new Map<string, CodeFilter | RangeFilter>();
  for (const [name, said] of place.filters) {
    const column = atlas.columns.find((other) => other.name === name);
    if (column?.type === "number" && "low" in said) filters.set(name, said);
    if (column?.type !== "category" || "low" in said) continue;
    const isOnly = "only" in said;
    const numbers = fromRuns(isOnly ? said.only : said.not, NO_CATEGORY + 1) ?? [];
    const all = codesOf(atlas, column);
    const codes = all.filter((code) => numbers.includes(code));
    if (codes.length === 0) continue;
    filters.set(name, new Set(isOnly ? all.filter((code) => !codes.includes(code)) : codes));
  }
  return filters;
}

function filtersOf(atlas: Atlas, filters: Filters): Place["filters"] {
  return [...filters].flatMap(([name, filter]): Place["filters"] => {
    const column = atlas.columns.find((other) => other.name === name);
    if (!("has" in filter)) return [[name, filter]];
    if (column?.type !== "category") return [];
    const all = codesOf(atlas, column);
    const not = toRuns(all.filter((code) => filter.has(code)));
    const only = toRuns(all.filter((code) => !filter.has(code)));
    return [[name, only && only.length < not.length ? { only } : { not }]];
  });
}

/** Longer addresses are cut by much that sends them. */
const MOST_SELECTED = 4000;

/** How many of the selected objects the address keeps, the first ones. */
export function nSelectedKept(selection: readonly number[]): number {
  const said = toRuns(selection, MOST_SELECTED);
  return fromRuns(said, Number.POSITIVE_INFINITY)?.length ?? 0;
}

/** Keeps address and state together from now on. */
export function followAddress(session: Session): void {
  let isReading = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const hashNow = () => toHash(placeOf(session.atlas, session.state));
  let last = hashNow();
  const write = (hash: string, isStep: boolean) => {
    stopWaiting();
    if ((hash || "#") === (location.hash || "#")) return;
    // Going back brings all of a selection back, also where the address holds a part of it.
    const { selection } = session.state;
    const kept = nSelectedKept(selection) < selection.length ? selection : null;
    try {
      history[isStep ? "pushState" : "replaceState"](kept, "", hash || "#");
    } catch {
      // A frame without an address of its own has none to keep a view in, and browsers refuse
      // addresses that change too often; the page goes on without.
    }
  };
  const stopWaiting = () => {
    clearTimeout(timer);
    timer = undefined;
  };
  session.store.listen((state, _, step) => {
    if (isReading || state.isPreview) return;
    // A pending change belongs to the history entry that is being left.
    if (step === "push" && timer !== undefined) write(last, false);
    last = hashNow();
    if (step === "push") {
      write(last, true);
    } else {
      stopWaiting();
      timer = setTimeout(() => write(last, false), PATIENCE);
    }
  });
  addEventListener("popstate", (event) => {
    stopWaiting();
    isReading = true;
    session.endTyping();
    showAddress(session, event[STATE]);
    last = hashNow();
    isReading = false;
  });
}

/** Shows what the address says, with the selection that it could not hold. */
function showAddress(session: Session, selection: number[] | null): void {
  const state = stateAt(session.atlas, location.hash);
  if (session.isSingle) state.map = 0;
  session.goToState({ ...state, ...(selection && { selection }), isPreview: false });
}

function placeOf(atlas: Atlas, state: State): Place {
  const { word, camera } = state;
  const label = (object: number) => atlas.labels[object];
  return {
    ...{ lines: state.lines, maps: state.gallery },
    word: word === null ? null : label(word),
    kind: word === null ? null : kindOf(atlas, word),
    map: atlas.nMaps === 1 && camera === null ? null : state.map,
    ...{ zoom: camera?.zoom ?? null, x: camera?.x ?? null, y: camera?.y ?? null },
    min: state.threshold === atlas.minWeight ? null : state.threshold,
    color: state.color === atlas.color ? null : (state.color ?? NO_COLUMN),
    size: state.size === atlas.size ? null : (state.size ?? NO_COLUMN),
    filters: filtersOf(atlas, state.filters),
    select: toRuns(state.selection, MOST_SELECTED),
  };
}

function objectOf(atlas: Atlas, { word, kind }: Place): number | null {
  if (word === null) return null;
  return named(atlas, word, atlas.starts[atlas.kinds?.indexOf(kind ?? "") ?? 0]);
}

/** The object of a label, else the first without case and accents; null without any. */
function named({ labels }: Atlas, label: string, from = 0): number | null {
  const exact = labels.indexOf(label, from);
  if (exact >= 0) return exact;
  const wanted = fold(label);
  const found = labels.findIndex((other, at) => at >= from && fold(other) === wanted);
  return found >= 0 ? found : null;
}

function mapOf(atlas: Atlas, { map }: Place): number | null {
  if (atlas.nMaps === 1) return 0;
  return map !== null && map < atlas.nMaps ? map : null;
}
