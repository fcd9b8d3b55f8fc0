/** The state in one map: the emphasized entries, and the first camera. */
import { type Atlas, type AtlasMap, lives } from "../data/atlas.ts";
import { pointOf, Strongest } from "../data/elements.ts";
import { entryOf } from "../data/entries.ts";
import type { Tie } from "../draw/pen.ts";
import { type Camera, crop, fit, NEAREST, type Size } from "../scene/camera.ts";
import { type Emphasis, NO_EMPHASIS } from "../scene/scene.ts";
import type { Appearance } from "./appearance.ts";
import type { Filtering } from "./filtering.ts";
import type { Lookups, ShownSense } from "./lookups.ts";
import type { Store } from "./store.ts";

/** Lines from one word. */
const MOST_TIES = 10;

export class MapContents {
  constructor(
    private atlas: Atlas,
    private store: Store,
    private lookups: Lookups,
    private appearance: Appearance,
    private filtering: Filtering,
  ) {}

  /** Where a map is looked at when it opens: at the word where it lives there; null for all of it. */
  firstCamera(map: number, size: Size): Camera | null {
    const { word } = this.store.state;
    const sense = word === null ? undefined : this.lookups.senseIn(word, map);
    if (!sense) return null;
    const { view } = this.atlas.maps[map];
    const close = this.closeUp(sense, size);
    // A little farther than the crops, so that the surroundings show too.
    return { ...close, zoom: Math.max(fit(view, size).zoom, 0.75 * close.zoom) };
  }

  /**
   * The camera that shows a word on the map of a sense, with all words that name the sense, at least
   * the nearest dots, and the neighbours if there is room.
   */
  closeUp({ map, entry, name, neighbors }: ShownSense, size: Size): Camera {
    const at = this.atlas.maps[map];
    const near = [...this.entriesIn(map, neighbors), ...this.nearestDots(at, entry)];
    return crop(at, entry, [...new Set(near)], size, NEAREST, this.entriesIn(map, name));
  }

  private nearestDots({ points, objects, weights }: AtlasMap, entry: number): number[] {
    const [x, y] = pointOf(points, entry);
    const nearest = new Strongest(NEAREST, Number.NEGATIVE_INFINITY);
    for (let at = 0; at < objects.length; at++) {
      if (at === entry || !this.isShown(weights[at], objects[at])) continue;
      const [otherX, otherY] = pointOf(points, at);
      nearest.offer(at, -Math.hypot(otherX - x, otherY - y));
    }
    return nearest.found.map(({ object }) => object);
  }

  private isShown(weight: number, object: number): boolean {
    return lives(weight, this.store.state.threshold) && this.filtering.passes(object);
  }

  /** The entries of the word, wherever it lives, of its neighbours in the senses there, and at lines. */
  emphasisIn(map: number): Emphasis {
    const { word } = this.store.state;
    if (word === null) return NO_EMPHASIS;
    const sense = this.lookups.senseIn(word, map);
    const own = sense ? this.emphasisOf(sense) : { chosen: this.shownIn(map, [word]), near: [] };
    return {
      ...own,
      near: [...new Set([...own.near, ...this.tiesIn(map).map(({ to }) => to)])],
    };
  }

  /** Lines from the word to what was observed of it and is in the map too, where they are wanted. */
  private tiesIn(map: number): Tie[] {
    const { word, lines } = this.store.state;
    if (word === null || !lines) return [];
    const sense = this.lookups.senseIn(word, map);
    const [from] = sense ? [sense.entry] : this.shownIn(map, [word]);
    if (from === undefined) return [];
    return this.lookups
      .recalledBy(word)
      .slice(0, MOST_TIES)
      .flatMap(({ object, map: closeOn }) => {
        const near = closeOn === map;
        const entries = near ? this.entriesIn(map, [object]) : this.shownIn(map, [object]);
        return entries.map((to) => ({ from, to, isNear: near }));
      });
  }

  /** The entries of the word and of its neighbours in a sense. */
  emphasisOf(sense: ShownSense): Emphasis {
    const near = this.entriesIn(sense.map, sense.neighbors);
    const color = this.colorOf(sense);
    return {
      chosen: [sense.entry],
      near,
      ...(color && { tints: new Map(near.map((entry) => [entry, color])) }),
    };
  }

  /** The colour of a sense; maps without known associations have the colours of the page. */
  colorOf({ share, rank }: ShownSense): string | undefined {
    const { senses } = this.appearance.palette;
    return share === null ? undefined : senses[rank % senses.length];
  }

  /** The maps of the gallery: those of the word first, or alone. */
  get inGallery(): AtlasMap[] {
    const { word, gallery } = this.store.state;
    const { mapOrder } = this.atlas;
    const maps = mapOrder.map((map) => this.atlas.maps[map]);
    if (word === null) return maps;
    const own = new Set(this.lookups.sensesOf(word).map(({ map }) => map));
    const first = [...own].map((map) => this.atlas.maps[map]);
    return gallery === "word" ? first : [...first, ...maps.filter((map) => !own.has(map.number))];
  }

  /** The marks on a map: words, the selected objects in the map, lines. */
  markedIn(map: number) {
    return {
      emphasis: this.emphasisIn(map),
      selection: new Set(this.entriesIn(map, this.store.state.selection)),
      ties: this.tiesIn(map),
    };
  }

  /** How many objects are shown in a map. */
  countIn({ objects, weights }: AtlasMap): number {
    return weights.reduce(
      (count, weight, entry) => count + (this.isShown(weight, objects[entry]) ? 1 : 0),
      0,
    );
  }

  private shownIn(map: number, objects: Iterable<number>): number[] {
    const { threshold } = this.store.state;
    const { weights } = this.atlas.maps[map];
    return this.entriesIn(map, objects).filter((at) => lives(weights[at], threshold));
  }

  /** The entries of objects that live there and pass the filters; the word does so always. */
  private entriesIn(map: number, objects: Iterable<number>): number[] {
    const at = this.atlas.maps[map];
    const { word } = this.store.state;
    return [...objects]
      .filter((object) => object === word || this.filtering.passes(object))
      .map((object) => entryOf(at, object))
      .filter((entry) => entry >= 0);
  }
}
