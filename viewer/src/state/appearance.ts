/** How marks are drawn now: the look that the state asks for, in the colours of the theme. */
import type { Atlas, Quantity } from "../data/atlas.ts";
import { isPrinting } from "../draw/printing.ts";
import {
  type Coloring,
  coloringBy,
  PALETTES,
  type Palette,
  type RampName,
  type Scale,
  sizing,
  type Theme,
} from "../scene/coloring.ts";
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

  /** Paper is light. */
  get theme(): Theme {
    if (isPrinting()) return "light";
    const { theme, systemTheme } = this.store.state;
    return theme === "auto" ? systemTheme : theme;
  }

  get palette(): Palette {
    return PALETTES[this.theme];
  }

  /** The same object as long as nothing of it changes. */
  get look(): Look {
    const { by, threshold, color, ramp, scale, size, contours } = this.store.state;
    const coloring = this.coloringOf(color, this.theme, ramp, scale);
    const { passed } = this.filtering;
    return this.lookOf(coloring, this.theme, this.sizesOf(size), by, threshold, passed, contours);
  }

  // What a look is made of stays the same object while it says the same, so that no map is laid
  // out anew for it.
  private coloringOf = latest(
    (color: string | null, theme: Theme, ramp: RampName | null, scale: Scale): Coloring =>
      coloringBy(this.atlas, color, { theme, ramp, scale }),
  );
  private sizesOf = latest((size: string | null) => sizing(this.atlas, size));
  private lookOf = latest(
    (
      coloring: Coloring,
      theme: Theme,
      sizes: Float32Array,
      by: Quantity,
      threshold: number,
      passed: Uint8Array | null,
      contours: boolean,
    ): Look => ({
      atlas: this.atlas,
      theme,
      coloring,
      sizes,
      by,
      threshold,
      passed,
      contours,
      type: PAGE_TYPE,
    }),
  );
}

/** The latest result of a function, computed anew for other arguments. */
function latest<A extends unknown[], T>(compute: (...from: A) => T) {
  let known: { from: A; value: T } | null = null;
  return (...from: A): T => {
    if (known === null || from.some((part, k) => !Object.is(part, known?.from[k]))) {
      known = { from, value: compute(...from) };
    }
    return known.value;
  };
}
