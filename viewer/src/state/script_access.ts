/**
 * The interface of an atlas page for scripts: `document.querySelector("#manymaps").atlas`.
 *
 * Objects are numbered as in `labels`, maps from 0. `shown()` gives the labels that stand on the
 * open map, with their boxes in CSS pixels from the map's upper left corner.
 */

import type { Atlas } from "../data/atlas.ts";
import type { Associate, Partner } from "../data/observed.ts";
import type { Camera } from "../scene/camera.ts";
import type { ShownLabel, ShownName } from "../scene/scene.ts";
import type { ShownSense } from "./lookups.ts";
import type { Session } from "./session.ts";
import type { State } from "./store.ts";

/** Names that the bundle keeps here, and shortens elsewhere. */
export const ATLAS = "atlas";
export const STATE = "state";

interface ScriptAccess {
  readonly [ATLAS]: Atlas;
  readonly [STATE]: State;
  readonly camera: Camera | null;
  /** Whether the open map stands still, with all its labels. */
  readonly isAtRest: boolean;
  /** Milliseconds of the last frames of the open map. */
  readonly frameTimes: readonly number[];
  senses(object: number): ShownSense[];
  /** The observed associates of an object, and the objects that evoke it. */
  observed(object: number): { recalled: Associate[]; recalling: Partner[] };
  /** The strong associates of a word that are not close on their maps. */
  farFrom(object: number): number[];
  shown(): readonly ShownLabel[];
  /** The names of regions that stand on the open map, with their boxes. */
  names(): readonly ShownName[];
  change(part: Partial<State>): void;
  chooseWord(object: number | null): void;
  openMap(map: number): void;
  select(objects: readonly number[]): void;
}

export function scriptAccess(session: Session): ScriptAccess {
  return {
    get [ATLAS]() {
      return session.atlas;
    },
    get [STATE]() {
      return session.state;
    },
    get camera() {
      return session.mapView?.camera ?? null;
    },
    get isAtRest() {
      return session.mapView?.isAtRest ?? true;
    },
    get frameTimes() {
      return session.mapView?.canvases.frameTimes ?? [];
    },
    senses: (object) => session.lookups.sensesOf(object),
    observed: (object) => ({
      recalled: session.lookups.recalledBy(object),
      recalling: session.lookups.whoRecalls(object),
    }),
    farFrom: (word) => session.lookups.farFrom(word).map(({ object }) => object),
    shown: () => session.mapView?.letters.labels ?? [],
    names: () => session.mapView?.letters.names ?? [],
    change: (part) => session.goToState(part),
    chooseWord: (object) => session.chooseWord(object),
    openMap: (map) => session.openMap(map),
    select: (objects) => session.select(objects),
  };
}
