/**
 * One atlas on show: its data, its state, and what a person can do with it.
 *
 * Components call these methods and read `state`; nothing else changes it. The open map's `MapView`
 * and the element of the page register themselves here, so that keys and buttons anywhere reach them.
 */

import type { Atlas, CategoryColumn } from "../data/atlas.ts";
import { type CodeFilter, codesOf, type RangeFilter } from "../data/filters.ts";
import { mapTitle, plainLabel } from "../data/words.ts";
import * as texts from "../texts.ts";
import type { MapView } from "../view/map_view.ts";
import { Appearance } from "./appearance.ts";
import { Filtering } from "./filtering.ts";
import { Finder, type FoundGroup } from "./finder.ts";
import { Lookups } from "./lookups.ts";
import { MapContents } from "./map_contents.ts";
import { sensesInWords } from "./sentences.ts";
import { type State, Store } from "./store.ts";

export class Session {
  readonly finder: Finder;
  readonly store: Store;
  readonly filtering: Filtering;
  readonly lookups: Lookups;
  readonly appearance: Appearance;
  readonly contents: MapContents;
  mapView: MapView | null = null;
  /** Aborted when the page, or the widget, is taken off the screen. */
  readonly ending = new AbortController();
  /** The element of the senses, the gallery or the map. */
  element: HTMLElement | null = null;
  /** Lets go of what is being typed. */
  endTyping: () => void = () => {};
  /** Says a sentence to those who hear the page. */
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
      isPreview: false,
      map: null,
      camera: null,
      threshold: atlas.minWeight,
      color: atlas.color,
      size: atlas.size,
      filters: new Map(),
      lines: false,
      selection: [],
      tool: "pan",
      theme: "auto",
      systemTheme: "light",
      hasKeys: true,
      neighborKind: 1,
      gallery: null,
      hasSettings: false,
      notice: "",
      ...state,
    });
    this.filtering = new Filtering(atlas, this.store);
    this.lookups = new Lookups(atlas, this.store, this.filtering);
    this.appearance = new Appearance(atlas, this.store, this.filtering);
    const { store, lookups, appearance, filtering } = this;
    this.contents = new MapContents(atlas, store, lookups, appearance, filtering);
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
    return this.isSingle ? texts.THE_MAP : texts.mapName(map);
  }

  /** How much of a map of more than two dimensions is drawn, in words; "" for flat ones. */
  projectionOf(map: number): string {
    const { nComponents, maps } = this.atlas;
    return nComponents < 3 ? "" : texts.projection(nComponents, texts.percent(maps[map].share));
  }

  /** Shows a word while it is being searched for; a choice or another preview ends that. */
  preview(word: number | null): void {
    this.store.change({ word, isPreview: true });
  }

  /** Shows the word again that was there before previews. */
  endPreview(word: number | null): void {
    this.store.change({ word, isPreview: false });
  }

  /**
   * Goes to a word; `previous` is what was shown before it was searched for, and `markedMap` the map on
   * which a second word is close.
   */
  chooseWord(
    word: number | null,
    previous = this.state.word,
    markedMap: number | null = null,
  ): void {
    this.endPreview(previous);
    const senses = word === null ? [] : this.lookups.sensesOf(word);
    const { map } = this.state;
    const isHere = senses.some((sense) => sense.map === map) && (markedMap ?? map) === map;
    const first = markedMap ?? senses[0]?.map;
    const there = map === null || isHere || first === undefined ? {} : { map: first, camera: null };
    this.step({ word, markedMap, ...there });
    if (isHere) this.flyToWord();
    this.announce(word === null ? texts.noneShown(this.atlas.noun[0]) : this.inWords(word));
  }

  /** Goes to a word in one of its maps. */
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
    this.announce(texts.mapHeading(map, mapTitle(this.atlas.maps[map])));
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

  /** Shows all of the open map; where thresholds and filters hide all of it, as the page began. */
  showAll(): void {
    const { map } = this.state;
    if (map !== null && this.contents.countIn(this.atlas.maps[map]) === 0) {
      this.store.change({ threshold: this.atlas.minWeight, filters: new Map() });
    }
    this.mapView?.motion.fit();
  }

  /** A step that can be taken back; the view that is left is kept as it is now. */
  private step(part: Partial<State>): void {
    this.mapView?.tellCamera();
    this.store.change({ gallery: null, notice: "", ...part }, "push");
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

  /** Shows all maps, or those of the word alone. */
  showGallery(gallery: "all" | "word" = "all"): void {
    if (this.isSingle) return;
    const { word } = this.state;
    this.step({ map: null, camera: null, gallery: word === null ? null : gallery });
    this.announce(gallery === "all" ? texts.allMaps(this.atlas.nMaps) : texts.ITS_MAPS);
  }

  /** The map before or after the open one. */
  turnPage(by: number): void {
    const { map } = this.state;
    if (map !== null && !this.isSingle)
      this.openMap((map + by + this.atlas.nMaps) % this.atlas.nMaps);
  }

  /** Lets the values of a column pass that a filter says; all of them where it is null. */
  filter(column: string, filter: CodeFilter | RangeFilter | null): void {
    this.filtering.set(column, filter);
    this.announce(this.whatIsLeft);
  }

  /** Lets some categories of a column pass, or no longer. */
  let(column: CategoryColumn, codes: readonly number[], isOn: boolean): void {
    const off = new Set(this.filtering.offIn(column));
    for (const code of codes) {
      if (isOn) off.delete(code);
      else off.add(code);
    }
    this.filter(column.name, off);
  }

  /** Shows some categories of a column alone; all again where it already shows them alone. */
  showOnly(column: CategoryColumn, codes: readonly number[]): void {
    const off = this.filtering.offIn(column);
    const others = this.codesBut(column, codes);
    const isAlone = off.size === others.size && [...others].every((code) => off.has(code));
    this.filter(column.name, isAlone ? null : others);
  }

  /** Shows a group that a search found, alone. */
  showGroup({ column: name, value }: FoundGroup): void {
    const column = this.atlas.columns.find((other) => other.name === name);
    const range = { low: value, high: value, withMissing: false };
    this.filter(name, column?.type === "category" ? this.codesBut(column, [value]) : range);
  }

  private codesBut(column: CategoryColumn, codes: readonly number[]): ReadonlySet<number> {
    return new Set(codesOf(this.atlas, column).filter((code) => !codes.includes(code)));
  }

  /** How many objects the filters let pass. */
  get whatIsLeft(): string {
    const { count } = this.filtering;
    return texts.shownOf(count, texts.countedObjects(this.atlas, this.atlas.nObjects));
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
    const named =
      only === undefined ? "" : texts.toggled(plainLabel(this.atlas, only), now.has(only));
    this.announce(named + texts.selected(texts.countedObjects(this.atlas, selection.length)));
  }
}
