/** What the state means in one map: which entries stand out, and from where it is looked at first. */
import { type Atlas, type AtlasMap, lives } from "../data/atlas.ts";
import { elementAt } from "../data/elements.ts";
import { entryOf } from "../data/entries.ts";
import type { Sense } from "../data/probabilities.ts";
import type { FeatureOutline, Tie } from "../draw/picture.ts";
import { type Camera, crop, fit, type Size } from "../scene/camera.ts";
import { type Emphasis, NO_EMPHASIS } from "../scene/scene.ts";
import type { Appearance } from "./appearance.ts";
import type { Filtering } from "./filtering.ts";
import type { Lookups } from "./lookups.ts";
import type { PathSearch } from "./path_search.ts";
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
    private paths: PathSearch,
  ) {}

  /** Where a map is looked at when it opens: at the word where it lives there; null for all of it. */
  firstCamera(map: number, size: Size): Camera | null {
    const { word } = this.store.state;
    const stepped = this.stepped(map);
    const { chosen, near } =
      stepped ?? this.emphasisOf(word === null ? [] : this.lookups.sensesIn(word, map));
    const [entry] = chosen;
    if (entry === undefined) return null;
    const at = elementAt(this.atlas.maps, map);
    const close = crop(at, entry, near, size);
    // A little farther than the crops, so that the surroundings show too; two words have but each other.
    const farther = (stepped ? 0.12 : 0.75) * close.zoom;
    return { ...close, zoom: Math.max(fit(at.view, size).zoom, farther) };
  }

  /** The entries of the word, wherever it lives, of its neighbours in the senses there, and at lines. */
  emphasisIn(map: number): Emphasis {
    const { word } = this.store.state;
    if (word === null) return NO_EMPHASIS;
    const stepped = this.stepped(map);
    if (stepped) return stepped;
    const senses = this.lookups.sensesIn(word, map);
    const { chosen, near } = this.emphasisOf(senses);
    return {
      chosen: senses.length > 0 ? chosen : this.shownIn(map, [word]),
      near: [...new Set([...near, ...this.tiesIn(map).map(({ to }) => to)])],
    };
  }

  /** The entries of the two words of the path's step in a map; null where it has none there. */
  private stepped(map: number): Emphasis | null {
    const step = this.paths.stepIn(map);
    if (step === null) return null;
    return { chosen: this.entriesIn(map, [step.from]), near: this.entriesIn(map, [step.to]) };
  }

  /** Lines from the word to what was observed of it and is in the map too, where they are wanted. */
  tiesIn(map: number): Tie[] {
    const { word, lines } = this.store.state;
    const stepped = this.stepped(map);
    if (stepped) {
      const [from = 0] = stepped.chosen;
      return stepped.near.map((to) => ({ from, to, isNear: true }));
    }
    if (word === null || !lines) return [];
    const [sense] = this.lookups.sensesIn(word, map);
    const [from] = sense ? [sense.entry] : this.shownIn(map, [word]);
    if (from === undefined) return [];
    const isNear = this.lookups.probabilities.nearIn(word, map);
    return this.lookups
      .recalledBy(word)
      .slice(0, MOST_TIES)
      .flatMap(({ object }) => {
        const near = isNear(object);
        const entries = near ? this.entriesIn(map, [object]) : this.shownIn(map, [object]);
        return entries.map((to) => ({ from, to, isNear: near }));
      });
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

  /** How many objects are shown in a map. */
  countIn({ objects, weights }: AtlasMap): number {
    const { threshold } = this.store.state;
    const { passed } = this.filtering;
    return weights.reduce((count, weight, entry) => {
      const isShown = lives(weight, threshold) && passed?.[elementAt(objects, entry)] !== 0;
      return count + (isShown ? 1 : 0);
    }, 0);
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

  private shownIn(map: number, objects: Iterable<number>): number[] {
    const { weights } = elementAt(this.atlas.maps, map);
    const { threshold } = this.store.state;
    return this.entriesIn(map, objects).filter((at) => lives(elementAt(weights, at), threshold));
  }

  /** The entries of objects that live there and pass the filters; the word does so always. */
  private entriesIn(map: number, objects: Iterable<number>): number[] {
    const at = elementAt(this.atlas.maps, map);
    const { word } = this.store.state;
    return [...objects]
      .filter((object) => object === word || this.filtering.passes(object))
      .map((object) => entryOf(at, object))
      .filter((entry) => entry >= 0);
  }
}
