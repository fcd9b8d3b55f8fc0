/** How marks are drawn now: the look that the state asks for, in the colours of the theme. */
import type { Atlas } from "../data/atlas.ts";
import {
  type Coloring,
  coloringBy,
  PALETTES,
  type Palette,
  sizing,
  type Theme,
} from "../scene/coloring.ts";
import { PAGE_TYPE } from "../scene/lettering.ts";
import type { Look } from "../scene/scene.ts";
import type { Store } from "./store.ts";

export class Appearance {
  private known: { key: string; look: Look } | null = null;

  constructor(
    private atlas: Atlas,
    private store: Store,
  ) {}

  get theme(): Theme {
    const { theme, systemTheme } = this.store.state;
    return theme === "auto" ? systemTheme : theme;
  }

  get palette(): Palette {
    return PALETTES[this.theme];
  }

  /** The same object as long as nothing of it changes. */
  get look(): Look {
    const { threshold, color, size, hidden } = this.store.state;
    const key = JSON.stringify([this.theme, threshold, color, size, [...hidden]]);
    if (this.known?.key !== key) {
      const look: Look = {
        atlas: this.atlas,
        theme: this.theme,
        coloring: this.coloringOf(`${this.theme} ${color}`, color),
        sizes: this.sizesOf(size),
        threshold,
        hiddenCategories: hidden,
        type: PAGE_TYPE,
      };
      this.known = { key, look };
    }
    return this.known.look;
  }

  // What a look is made of stays the same object while it says the same, so that no map is laid
  // out anew for it.
  private coloringOf = latest(
    (_: string, color: string | null): Coloring => coloringBy(this.atlas, color, this.theme),
  );
  private sizesOf = latest((size: string | null) => sizing(this.atlas, size));
}

/** The latest result of a function, computed anew for another first argument. */
function latest<K, A extends unknown[], T>(compute: (key: K, ...more: A) => T) {
  let known: { key: K; value: T } | null = null;
  return (key: K, ...more: A): T => {
    if (known === null || !Object.is(known.key, key)) known = { key, value: compute(key, ...more) };
    return known.value;
  };
}
