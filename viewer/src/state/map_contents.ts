/** What the state means in one map: which entries stand out, and from where it is looked at first. */
import { type Atlas, lives } from "../data/atlas.ts";
import { elementAt } from "../data/elements.ts";
import { entryOf } from "../data/entries.ts";
import type { Sense } from "../data/probabilities.ts";
import type { FeatureOutline } from "../draw/picture.ts";
import { type Camera, crop, fit, type Size } from "../scene/camera.ts";
import { type Emphasis, NO_EMPHASIS } from "../scene/scene.ts";
import type { Appearance } from "./appearance.ts";
import type { Lookups } from "./lookups.ts";
import type { Store } from "./store.ts";

export class MapContents {
  constructor(
    private atlas: Atlas,
    private store: Store,
    private lookups: Lookups,
    private appearance: Appearance,
  ) {}

  /** Where a map is looked at when it opens: at the word where it lives there; null for all of it. */
  firstCamera(map: number, size: Size): Camera | null {
    const { word } = this.store.state;
    const [sense] = word === null ? [] : this.lookups.sensesIn(word, map);
    if (sense === undefined) return null;
    const at = elementAt(this.atlas.maps, map);
    const close = crop(at, sense.entry, this.emphasisIn(map).near, size);
    // A little farther than the crops, so that the surroundings show too.
    return { ...close, zoom: Math.max(fit(at.view, size).zoom, 0.75 * close.zoom) };
  }

  /** The entries of the word, wherever it lives, and of its neighbours in the senses there. */
  emphasisIn(map: number): Emphasis {
    const { word, threshold } = this.store.state;
    if (word === null) return NO_EMPHASIS;
    const senses = this.lookups.sensesIn(word, map);
    if (senses.length > 0) return this.emphasisOf(senses);
    const { recalls } = elementAt(this.atlas.maps, map);
    const isThere = (entry: number) => lives(elementAt(recalls, entry), threshold);
    return { chosen: this.entriesIn(map, [word]).filter(isThere), near: [] };
  }

  /** The entries of the word and of its neighbours in some senses of one map. */
  emphasisOf(senses: readonly Sense[]): Emphasis {
    const [first] = senses;
    if (first === undefined) return NO_EMPHASIS;
    const neighbors = senses.flatMap((sense) => sense.neighbors.map(({ object }) => object));
    return { chosen: [first.entry], near: this.entriesIn(first.map, new Set(neighbors)) };
  }

  /** The entries of the selected objects that live there. */
  selectionIn(map: number): Set<number> {
    return new Set(this.entriesIn(map, this.store.state.selection));
  }

  /** The features that are switched on. */
  outlinesIn(map: number): FeatureOutline[] {
    const { categories } = this.appearance.palette;
    return [...this.store.state.features].sort().map((k) => ({
      number: k + 1,
      color: elementAt(categories, k % categories.length),
      members: this.entriesIn(map, elementAt(this.atlas.features, k).members),
    }));
  }

  private entriesIn(map: number, objects: Iterable<number>): number[] {
    const at = elementAt(this.atlas.maps, map);
    return [...objects].map((object) => entryOf(at, object)).filter((entry) => entry >= 0);
  }
}
