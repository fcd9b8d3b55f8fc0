/**
 * One atlas on show: its data, its state, and what a person can do with it.
 *
 * Components call these methods and read `state`; nothing else changes it. The open map's `MapView`
 * and the search field register themselves here, so that keys and buttons anywhere reach them.
 */

import { type Atlas, type AtlasMap, lives } from "../data/atlas.ts";
import { type Association, Probabilities, type Sense } from "../data/probabilities.ts";
import { counted, percent, plainLabel } from "../data/words.ts";
import { type Marks, sharedMarks } from "../draw/marks.ts";
import type { FeatureOutline } from "../draw/picture.ts";
import { type Camera, crop, fit, type Size } from "../scene/camera.ts";
import {
  type Coloring,
  coloringBy,
  PALETTES,
  type Palette,
  sizing,
  type Theme,
} from "../scene/coloring.ts";
import { type Emphasis, type Look, NO_EMPHASIS, PAGE_TYPE } from "../scene/scene.ts";
import type { MapView } from "../view/map_view.ts";
import { SearchIndex } from "./search.ts";
import { type State, Store } from "./store.ts";

const NEIGHBORS = 8;
const ASSOCIATIONS = 10;
const MOST_REMEMBERED = 64;
const MOST_SAID = 3;

export class Session {
  readonly probabilities: Probabilities;
  readonly index: SearchIndex;
  readonly store: Store;
  readonly marks: Marks;
  mapView: MapView | null = null;
  searchField: HTMLInputElement | null = null;
  /** Lets go of what is being typed. */
  endTyping: () => void = () => {};
  /** Says a sentence to those who hear the page. */
  announce: (sentence: string) => void = () => {};
  private look_: { key: string; look: Look } | null = null;
  private senses_: { key: string; senses: Sense[] } | null = null;
  private associations_ = new Map<number, Association[]>();
  /** Aborted when the atlas is taken off the screen. */
  readonly ending = new AbortController();

  constructor(
    readonly atlas: Atlas,
    state: Partial<State>,
    /** Whether keys anywhere in the document are meant for this atlas. */
    readonly ownsTheKeys: boolean,
  ) {
    this.marks = sharedMarks();
    this.probabilities = new Probabilities(atlas);
    this.index = new SearchIndex(atlas.labels, importance(atlas));
    this.store = new Store({
      word: null,
      isPreview: false,
      map: null,
      camera: null,
      threshold: atlas.minProportion,
      color: atlas.color,
      size: atlas.size,
      hidden: new Set(),
      features: new Set(),
      selection: [],
      tool: "pan",
      theme: "auto",
      systemTheme: "light",
      hasKeys: true,
      neighborKind: 1,
      onlyItsMaps: false,
      ...state,
    });
    if (this.isSingle) this.store.change({ map: 0 });
  }

  get state(): State {
    return this.store.state;
  }

  /** An atlas of one map has no gallery. */
  get isSingle(): boolean {
    return this.atlas.nMaps === 1;
  }

  get theme(): Theme {
    const { theme, systemTheme } = this.state;
    return theme === "auto" ? systemTheme : theme;
  }

  get palette(): Palette {
    return PALETTES[this.theme];
  }

  /** How marks are drawn now; the same object as long as nothing of it changes. */
  get look(): Look {
    const { threshold, color, size, hidden } = this.state;
    const key = JSON.stringify([this.theme, threshold, color, size, [...hidden]]);
    if (this.look_?.key !== key) {
      const coloring = this.coloringOf(`${this.theme} ${color}`, color);
      const sizes = this.sizesOf(size);
      const look: Look = {
        atlas: this.atlas,
        theme: this.theme,
        coloring,
        sizes,
        threshold,
        hiddenCategories: hidden,
        type: PAGE_TYPE,
      };
      this.look_ = { key, look };
    }
    return this.look_.look;
  }

  // What a look is made of stays the same object while it says the same, so that no map is laid
  // out anew for it.
  private coloringOf = latest(
    (_: string, color: string | null): Coloring => coloringBy(this.atlas, color, this.theme),
  );
  private sizesOf = latest((size: string | null) => sizing(this.atlas, size));

  /** The maps of a word at the present threshold, the largest proportion first. */
  sensesOf(word: number): Sense[] {
    const { threshold, neighborKind } = this.state;
    const key = `${word} ${threshold} ${neighborKind}`;
    if (this.senses_?.key !== key) {
      this.senses_ = { key, senses: this.probabilities.senses(word, this.asked(word)) };
    }
    return this.senses_.senses;
  }

  private asked(word: number) {
    const { threshold: minProportion, neighborKind } = this.state;
    const sameKind = word < this.atlas.nRows === (neighborKind === 0);
    return { nNeighbors: NEIGHBORS, minProportion, sameKind };
  }

  /** What an object recalls and what recalls it, the strongest first. */
  associationsOf(object: number): Association[] {
    let found = this.associations_.get(object);
    if (found === undefined) {
      found = this.probabilities.associations(object, ASSOCIATIONS);
      if (this.associations_.size >= MOST_REMEMBERED) this.associations_.clear();
      this.associations_.set(object, found);
    }
    return found;
  }

  /** The number of an object's entry in a map, -1 where it does not live there. */
  entryOf(object: number, map: number): number {
    const { objects } = this.atlas.maps[map];
    let [low, high] = [0, objects.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (objects[middle] < object) low = middle + 1;
      else high = middle;
    }
    return objects[low] === object ? low : -1;
  }

  /** The maps of an object with its proportion there, the largest first. */
  mapsOf(object: number): { map: number; proportion: number }[] {
    const found = [];
    for (const { number, proportions } of this.atlas.maps) {
      const entry = this.entryOf(object, number);
      if (entry >= 0) found.push({ map: number, proportion: proportions[entry] });
    }
    return found.sort((a, b) => b.proportion - a.proportion);
  }

  /** Objects that are spread over many maps, those of the most maps first. */
  readonly manySided = memo(() => manySided(this.atlas));

  kindOf(object: number): string | null {
    return this.atlas.kinds?.[object < this.atlas.nRows ? 0 : 1] ?? null;
  }

  /** What the list of words found says beside a word. */
  whereabouts(object: number): string {
    const kind = this.kindOf(object);
    if (this.isSingle) return kind ?? "";
    const count = this.mapsOf(object).filter((at) =>
      lives(at.proportion, this.state.threshold),
    ).length;
    return [kind, counted(Math.max(count, 1), "map")].filter(Boolean).join(", ");
  }

  /** The words that name a map. */
  titleOf(map: AtlasMap, most = 4): string {
    const words = map.title.slice(0, most).map((object) => plainLabel(this.atlas, object));
    return words.join(" · ") || "no words";
  }

  /** Shows a word while it is being searched for; a choice or another preview ends that. */
  preview(word: number | null): void {
    this.store.change({ word, isPreview: true });
  }

  /** Shows the word again that was there before previews. */
  endPreview(word: number | null): void {
    this.store.change({ word, isPreview: false });
  }

  /** Goes to a word; `previous` is what was shown before it was searched for. */
  chooseWord(word: number | null, previous: number | null = this.state.word): void {
    this.endPreview(previous);
    const senses = word === null ? [] : this.probabilities.senses(word, this.asked(word));
    const { map } = this.state;
    const isHere = senses.some((sense) => sense.map === map);
    if (map === null || isHere || senses.length === 0) this.step({ word });
    else this.step({ word, map: senses[0].map, camera: null });
    if (isHere) this.flyToWord();
    this.announce(word === null ? "No word is looked up" : this.inWords(word, senses));
  }

  /** Goes to a word in one of its maps. */
  goTo(word: number, map: number): void {
    const isThere = this.state.map === map;
    this.step({ word, map, ...(isThere ? {} : { camera: null }) });
    if (isThere) this.flyToWord();
    this.announce(this.inWords(word, this.sensesOf(word)));
  }

  private inWords(word: number, senses: Sense[]): string {
    const parts = senses.slice(0, MOST_SAID).map(({ map, proportion, neighbors }) => {
      const names = neighbors.slice(0, 3).map(({ object }) => plainLabel(this.atlas, object));
      const near = names.join(", ");
      return `map ${map}, ${percent(proportion)}${near && `, near ${near}`}`;
    });
    const name = plainLabel(this.atlas, word);
    return `${name} lives in ${counted(senses.length, "map")}: ${parts.join("; ")}`;
  }

  /** Puts the focus on the open map, or on the first sense of the word. */
  focusFound(): void {
    const root = this.searchField?.getRootNode() as ShadowRoot | undefined;
    root?.querySelector<HTMLElement>(this.state.map === null ? ".sense" : ".mapview")?.focus();
  }

  openMap(map: number): void {
    if (map === this.state.map) this.flyToWord();
    else this.step({ map, camera: null });
    this.announce(`Map ${map}: ${this.titleOf(this.atlas.maps[map])}`);
  }

  /** Flies to the word where it lives in the open map, and else to where all of it is seen. */
  private flyToWord(): void {
    // The strip of senses takes its room first: Preact renders in a microtask that has been asked for.
    queueMicrotask(() => {
      const { mapView } = this;
      const { map } = this.state;
      if (mapView === null || map === null) return;
      mapView.measure();
      const camera = this.firstCamera(map, mapView.size);
      if (camera) mapView.flyTo(camera);
      else mapView.fit();
    });
  }

  /** A step that can be taken back; the view that is left is kept as it is now. */
  private step(part: Partial<State>): void {
    this.mapView?.tellCamera();
    this.store.change(part, "push");
  }

  /** Changes the state as a script or an address says: the open map goes where it would open. */
  goToState(part: Partial<State>): void {
    const { map } = this.state;
    const { camera } = part;
    this.store.change(part);
    if (camera === undefined || this.state.map !== map) return;
    if (camera === null) this.flyToWord();
    else this.mapView?.lookFrom(camera);
  }

  closeMap(): void {
    if (this.isSingle || this.state.map === null) return;
    this.step({ map: null, camera: null });
    this.announce(`All ${counted(this.atlas.nMaps, "map")}`);
  }

  /** The map before or after the open one. */
  turnPage(by: number): void {
    const { map } = this.state;
    if (map !== null && !this.isSingle)
      this.openMap((map + by + this.atlas.nMaps) % this.atlas.nMaps);
  }

  /** Where a map is looked at when it opens: at the word where it lives there; null for all of it. */
  firstCamera(map: number, size: Size): Camera | null {
    const { word } = this.state;
    if (word === null || this.senseIn(word, map) === null) return null;
    const at = this.atlas.maps[map];
    const { chosen, near } = this.emphasisIn(map);
    const close = crop(at, chosen[0], near, size);
    // A little farther than the crops, so that the surroundings show too.
    return { ...close, zoom: Math.max(fit(at.view, size).zoom, 0.75 * close.zoom) };
  }

  /** The entries of the word and of its neighbours in a map. */
  emphasisIn(map: number): Emphasis {
    const { word } = this.state;
    const sense = word === null ? null : this.senseIn(word, map);
    if (sense === null) return NO_EMPHASIS;
    const near = sense.neighbors.map(({ object }) => this.entryOf(object, map));
    return { chosen: [sense.entry], near };
  }

  /** The entries of the selected objects that live in a map. */
  selectionIn(map: number): Set<number> {
    const entries = this.state.selection.map((object) => this.entryOf(object, map));
    return new Set(entries.filter((entry) => entry >= 0));
  }

  /** The features that are switched on, as they lie in a map. */
  featuresIn(map: number): FeatureOutline[] {
    const { categories } = this.palette;
    return [...this.state.features].sort().map((k) => ({
      number: k + 1,
      color: categories[k % categories.length],
      members: [...this.atlas.features[k].members]
        .map((object) => this.entryOf(object, map))
        .filter((entry) => entry >= 0),
    }));
  }

  senseIn(word: number, map: number): Sense | null {
    return this.sensesOf(word).find((sense) => sense.map === map) ?? null;
  }

  select(objects: readonly number[], mode: "replace" | "add" | "toggle" = "replace"): void {
    const now = new Set(mode === "replace" ? [] : this.state.selection);
    for (const object of objects) {
      if (mode === "toggle" && now.has(object)) now.delete(object);
      else now.add(object);
    }
    const selection = [...now].sort((a, b) => a - b);
    this.store.change({ selection });
    const [only] = objects.length === 1 ? objects : [];
    const verb = only === undefined || now.has(only) ? "" : "no longer ";
    const named = only === undefined ? "" : `${plainLabel(this.atlas, only)} ${verb}selected; `;
    this.announce(`${named}${counted(selection.length, "object")} selected`);
  }
}

/** The latest result of a function, computed anew for another first argument. */
function latest<K, A extends unknown[], T>(compute: (key: K, ...more: A) => T) {
  let known: { key: K; value: T } | null = null;
  return (key: K, ...more: A): T => {
    if (known === null || !Object.is(known.key, key)) known = { key, value: compute(key, ...more) };
    return known.value;
  };
}

/** A value that is computed when it is first asked for. */
function memo<T>(compute: () => T): () => T {
  let value: { is: T } | null = null;
  return () => {
    value ??= { is: compute() };
    return value.is;
  };
}

const LEAST_EFFECTIVE = 1.8;
const MOST_MANY_SIDED = 24;

/** The objects with the largest effective number of maps, exp(-sum p log p). */
function manySided({ maps, nObjects }: Atlas): number[] {
  const entropy = new Float32Array(nObjects);
  for (const { objects, proportions } of maps) {
    proportions.forEach((p, entry) => {
      entropy[objects[entry]] -= p * Math.log(p);
    });
  }
  const least = Math.log(LEAST_EFFECTIVE);
  const found = [...entropy.keys()].filter((object) => entropy[object] >= least);
  return found.sort((a, b) => entropy[b] - entropy[a] || a - b).slice(0, MOST_MANY_SIDED);
}

/** What tells words of one beginning apart in a search: how early they stand in their maps' orders. */
function importance(atlas: Atlas): Float32Array {
  const found = new Float32Array(atlas.nObjects);
  for (const { objects, order, proportions } of atlas.maps) {
    order.forEach((entry, rank) => {
      const value = proportions[entry] / (1 + rank);
      if (value > found[objects[entry]]) found[objects[entry]] = value;
    });
  }
  return found;
}
