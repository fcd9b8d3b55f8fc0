/** One atlas on show: its data, its state, and what a person can do with it; nothing else changes it. */

import type { Atlas, CategoryColumn } from "../data/atlas.ts";
import { type CodeFilter, codesOf, type RangeFilter } from "../data/filters.ts";
import { counted, countedObjects, mapTitle, percent, plainLabel, whole } from "../data/words.ts";
import type { MapView } from "../view/map_view.ts";
import { Finder, type FoundGroup } from "./finder.ts";
import { Lookups } from "./lookups.ts";
import { MapContents } from "./map_contents.ts";
import { sensesInWords } from "./sentences.ts";
import { Shown } from "./shown.ts";
import { type State, Store } from "./store.ts";

export class Session {
  readonly finder: Finder;
  readonly store: Store;
  readonly shown: Shown;
  readonly lookups: Lookups;
  readonly contents: MapContents;
  mapView: MapView | null = null;
  /** Aborted when the page, or the widget, is taken off the screen. */
  readonly ending = new AbortController();
  element: HTMLElement | null = null;
  announce: (sentence: string) => void = () => {};

  constructor(
    readonly atlas: Atlas,
    state: Partial<State>,
    /** Whether keys anywhere in the document are meant for this atlas. */
    readonly ownsTheKeys: boolean,
  ) {
    this.finder = new Finder(atlas);
    this.store = new Store({
      word: null,
      markedMap: null,
      map: null,
      camera: null,
      threshold: atlas.minWeight,
      color: atlas.color,
      size: atlas.size,
      filters: new Map(),
      selection: [],
      tool: "pan",
      theme: "auto",
      systemTheme: "light",
      hasKeys: true,
      neighborKind: 1,
      gallery: false,
      hasSettings: false,
      notice: "",
      ...state,
    });
    this.shown = new Shown(atlas, this.store);
    this.lookups = new Lookups(this.shown);
    this.contents = new MapContents(this.shown, this.lookups);
    if (this.isSingle) this.store.change({ map: 0 });
  }

  get state(): State {
    return this.store.state;
  }

  /** An atlas of one map has no gallery. */
  get isSingle(): boolean {
    return this.atlas.nMaps === 1;
  }

  /** The name of a map; a single map has no number. */
  nameOf(map: number): string {
    return this.isSingle ? "The map" : `Map ${map}`;
  }

  /** How much of a map of more than two dimensions is drawn, in words; "" for flat ones. */
  projectionOf(map: number): string {
    const { nComponents, maps } = this.atlas;
    return nComponents < 3
      ? ""
      : `Projection of ${nComponents} dimensions, with ${percent(maps[map].share)} of the variance`;
  }

  /** Goes to a word; `markedMap` is the map on which a second word is close. */
  chooseWord(word: number | null, markedMap: number | null = null): void {
    const senses = word === null ? [] : this.lookups.sensesOf(word);
    const { map } = this.state;
    const isHere = senses.some((sense) => sense.map === map) && (markedMap ?? map) === map;
    const first = markedMap ?? senses[0]?.map;
    const there = map === null || isHere || first === undefined ? {} : { map: first, camera: null };
    this.step({ word, markedMap, ...there });
    if (isHere) this.flyToWord();
    this.announce(word === null ? `No ${this.atlas.noun[0]} shown` : this.inWords(word));
  }

  goTo(word: number, map: number): void {
    this.enter(map, { word, markedMap: null });
    this.announce(this.inWords(word));
  }

  private inWords(word: number): string {
    const { atlas, lookups } = this;
    return sensesInWords(atlas, word, lookups.sensesOf(word), lookups.farFrom(word));
  }

  /** Goes to a word as a link does: the focus follows. */
  follow(word: number): void {
    this.chooseWord(word);
    this.focusFound();
  }

  /** Puts the focus on the open map, on the marked card of the word, or on its first card. */
  focusFound(): void {
    const card = this.state.markedMap === null ? ".sense" : ".both";
    const selector = this.state.map === null ? `.senses ${card}` : ".mapview";
    // Once the card is there: Preact renders in a microtask that has been asked for.
    queueMicrotask(() => this.element?.querySelector<HTMLElement>(selector)?.focus());
  }

  /** Opens a map in a step; one that is open flies to the word. */
  private enter(map: number, part: Partial<State>): void {
    const isThere = this.state.map === map;
    this.step({ ...part, map, ...(isThere ? {} : { camera: null }) });
    if (isThere) this.flyToWord();
  }

  openMap(map: number): void {
    this.enter(map, {});
    this.announce(`Map ${map}: ${mapTitle(this.atlas.maps[map])}`);
  }

  /** Flies to the word where it lives in the open map, and else to where all of it is seen. */
  private flyToWord(): void {
    // The strip of senses takes its room first: Preact renders in a microtask that has been asked for.
    queueMicrotask(() => {
      const { mapView } = this;
      const { map } = this.state;
      if (mapView === null || map === null) return;
      mapView.measure();
      const camera = this.contents.firstCamera(map, mapView.size);
      if (camera) mapView.motion.flyTo(camera);
      else mapView.motion.fit();
    });
  }

  /** Shows what thresholds and filters hide. */
  showAll(): void {
    this.store.change({ threshold: this.atlas.minWeight, filters: new Map() });
  }

  /** A step that can be taken back; the view that is left is kept as it is now. */
  private step(part: Partial<State>): void {
    this.mapView?.tellCamera();
    this.store.change({ gallery: false, notice: "", ...part }, "push");
  }

  /** Changes the state as a script or an address says: the open map goes where it would open. */
  goToState(part: Partial<State>): void {
    const { map } = this.state;
    const { camera } = part;
    this.store.change(part);
    if (camera === undefined || this.state.map !== map) return;
    if (camera === null) this.flyToWord();
    // The dots that are shown bound the camera, so they are drawn first.
    else queueMicrotask(() => this.mapView?.motion.jump(camera));
  }

  /** Goes from a map to the word, or to all maps. */
  closeMap(): void {
    const { word } = this.state;
    if (this.isSingle) return;
    if (word === null) this.showGallery();
    else {
      this.step({ map: null, camera: null });
      this.announce(this.inWords(word));
    }
  }

  showGallery(): void {
    if (this.isSingle) return;
    this.step({ map: null, camera: null, gallery: this.state.word !== null });
    this.announce(`All ${counted(this.atlas.nMaps, "map")}`);
  }

  turnPage(by: number): void {
    const { map } = this.state;
    if (map !== null && !this.isSingle)
      this.openMap((map + by + this.atlas.nMaps) % this.atlas.nMaps);
  }

  /** Lets the values of a column pass that a filter says; all of them where it is null. */
  filter(column: string, filter: CodeFilter | RangeFilter | null): void {
    this.shown.setFilter(column, filter);
    this.announce(this.whatIsLeft);
  }

  /** Lets some categories of a column pass, or no longer. */
  let(column: CategoryColumn, codes: readonly number[], isOn: boolean): void {
    const off = new Set(this.shown.offIn(column));
    for (const code of codes) {
      if (isOn) off.delete(code);
      else off.add(code);
    }
    this.filter(column.name, off);
  }

  /** Shows some categories of a column alone; all again where it already shows them alone. */
  showOnly(column: CategoryColumn, codes: readonly number[]): void {
    const off = this.shown.offIn(column);
    const others = this.codesBut(column, codes);
    const isAlone = off.size === others.size && [...others].every((code) => off.has(code));
    this.filter(column.name, isAlone ? null : others);
  }

  /** Shows a group that a search found, alone. */
  showGroup({ column: name, value }: FoundGroup): void {
    const column = this.atlas.columns.find((other) => other.name === name);
    if (column?.type === "category") this.filter(name, this.codesBut(column, [value]));
  }

  private codesBut(column: CategoryColumn, codes: readonly number[]): ReadonlySet<number> {
    return new Set(codesOf(this.atlas, column).filter((code) => !codes.includes(code)));
  }

  get whatIsLeft(): string {
    const count = this.shown.passed?.reduce((sum, is) => sum + is, 0) ?? this.atlas.nObjects;
    return `${whole(count)} of ${countedObjects(this.atlas, this.atlas.nObjects)} shown`;
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
    const count = `${countedObjects(this.atlas, selection.length)} selected`;
    if (only === undefined) this.announce(count);
    else {
      const change = now.has(only) ? "selected" : "deselected";
      this.announce(`${plainLabel(this.atlas, only)} ${change}; ${count}`);
    }
  }
}
