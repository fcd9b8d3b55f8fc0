/** What the state means in one map: which entries stand out, and from where it is looked at first. */
import type { Atlas } from "../data/atlas.ts";
import { elementAt } from "../data/elements.ts";
import { entryOf } from "../data/entries.ts";
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
    const sense = word === null ? null : this.lookups.senseIn(word, map);
    if (sense === null) return null;
    const at = elementAt(this.atlas.maps, map);
    const close = crop(at, sense.entry, this.emphasisIn(map).near, size);
    // A little farther than the crops, so that the surroundings show too.
    return { ...close, zoom: Math.max(fit(at.view, size).zoom, 0.75 * close.zoom) };
  }

  /** The entries of the word and of its neighbours. */
  emphasisIn(map: number): Emphasis {
    const { word } = this.store.state;
    const sense = word === null ? null : this.lookups.senseIn(word, map);
    if (sense === null) return NO_EMPHASIS;
    const at = elementAt(this.atlas.maps, map);
    return {
      chosen: [sense.entry],
      near: sense.neighbors.map(({ object }) => entryOf(at, object)),
    };
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
