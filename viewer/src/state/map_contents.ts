/** The state in one map: the emphasized entries, and the first camera. */
import { type Atlas, type AtlasMap, lives } from "../data/atlas.ts";
import { pointOf, Strongest } from "../data/elements.ts";
import { entryOf } from "../data/entries.ts";
import { type Camera, crop, fit, NEAREST, type Size } from "../scene/camera.ts";
import { type Emphasis, NO_EMPHASIS } from "../scene/scene.ts";
import type { Lookups, ShownSense } from "./lookups.ts";
import type { Shown } from "./shown.ts";
import type { Store } from "./store.ts";

export class MapContents {
  private atlas: Atlas;
  private store: Store;

  constructor(
    private shown: Shown,
    private lookups: Lookups,
  ) {
    ({ atlas: this.atlas, store: this.store } = shown);
  }

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

  /** The camera of a sense: the word, the words of the name, the nearest dots, and other neighbours. */
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
    return lives(weight, this.store.state.threshold) && this.shown.passes(object);
  }

  /** The entries of the word, wherever it lives, and of its neighbours in the sense there. */
  emphasisIn(map: number): Emphasis {
    const { word } = this.store.state;
    if (word === null) return NO_EMPHASIS;
    const sense = this.lookups.senseIn(word, map);
    return sense ? this.emphasisOf(sense) : { chosen: this.shownIn(map, [word]), near: [] };
  }

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
    const { senses } = this.shown.palette;
    return share === null ? undefined : senses[rank % senses.length];
  }

  get inGallery(): AtlasMap[] {
    const { word } = this.store.state;
    const { mapOrder } = this.atlas;
    const maps = mapOrder.map((map) => this.atlas.maps[map]);
    if (word === null) return maps;
    const own = new Set(this.lookups.sensesOf(word).map(({ map }) => map));
    const first = [...own].map((map) => this.atlas.maps[map]);
    return [...first, ...maps.filter((map) => !own.has(map.number))];
  }

  /** What is marked on a map: the word and its neighbours, the selected objects. */
  markedIn(map: number) {
    return {
      emphasis: this.emphasisIn(map),
      selection: new Set(this.entriesIn(map, this.store.state.selection)),
    };
  }

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
      .filter((object) => object === word || this.shown.passes(object))
      .map((object) => entryOf(at, object))
      .filter((entry) => entry >= 0);
  }
}
