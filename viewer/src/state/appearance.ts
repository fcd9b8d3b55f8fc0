/** How marks are drawn now: the look that the state asks for, in the colours of the theme. */
import type { Atlas } from "../data/atlas.ts";
import { latest } from "../data/memory.ts";
import { coloringBy, PALETTES, type Palette, sizing, type Theme } from "../scene/coloring.ts";
import { PAGE_TYPE } from "../scene/lettering.ts";
import type { Look } from "../scene/scene.ts";
import type { Filtering } from "./filtering.ts";
import type { Store } from "./store.ts";

export class Appearance {
  constructor(
    private atlas: Atlas,
    private store: Store,
    private filtering: Filtering,
  ) {}

  get theme(): Theme {
    const { theme, systemTheme } = this.store.state;
    return theme === "auto" ? systemTheme : theme;
  }

  get palette(): Palette {
    return PALETTES[this.theme];
  }

  /** The current look; unchanged settings return the same object, so that maps keep their layout. */
  get look(): Look {
    const { atlas, theme, known } = this;
    const { threshold, color, size } = this.store.state;
    const coloring = this.coloringOf(color, theme);
    const { passed } = this.filtering;
    const shown = { coloring, sizes: this.sizesOf(size), threshold, passed };
    const look: Look = { atlas, theme, ...shown, type: PAGE_TYPE };
    const keys = Object.keys(look) as (keyof Look)[];
    if (!known || keys.some((key) => !Object.is(look[key], known[key]))) this.known = look;
    return this.known ?? look;
  }

  private known: Look | null = null;
  private coloringOf = latest((color: string | null, theme: Theme) =>
    coloringBy(this.atlas, color, theme),
  );
  private sizesOf = latest((size: string | null) => sizing(this.atlas, size));
}
