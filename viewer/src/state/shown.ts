/** What is shown, and how: the objects that pass the filters, and the look in the colours of the theme. */
import type { Atlas, CategoryColumn } from "../data/atlas.ts";
import { latest } from "../data/elements.ts";
import { type CodeFilter, type Filters, passing, type RangeFilter } from "../data/filters.ts";
import { coloringBy, PALETTES, type Palette, sizing, type Theme } from "../scene/coloring.ts";
import { PAGE_TYPE } from "../scene/lettering.ts";
import type { Look } from "../scene/scene.ts";
import type { Store } from "./store.ts";

export class Shown {
  constructor(
    readonly atlas: Atlas,
    readonly store: Store,
  ) {}

  /** 1 for each object that passes the filters; null where nothing is filtered. */
  get passed(): Uint8Array | null {
    return this.passing(this.store.state.filters);
  }

  passes(object: number): boolean {
    return this.passed?.[object] !== 0;
  }

  /** The codes of a column that do not pass. */
  offIn({ name }: CategoryColumn): CodeFilter {
    const filter = this.store.state.filters.get(name);
    return filter !== undefined && "has" in filter ? filter : new Set();
  }

  setFilter(column: string, filter: CodeFilter | RangeFilter | null): void {
    const filters = new Map(this.store.state.filters);
    if (filter === null || letsAllPass(filter)) filters.delete(column);
    else filters.set(column, filter);
    this.store.change({ filters });
  }

  get theme(): Theme {
    const { theme, systemTheme } = this.store.state;
    return theme === "auto" ? systemTheme : theme;
  }

  get palette(): Palette {
    return PALETTES[this.theme];
  }

  /** The current look; unchanged settings return the same object, so that maps keep their layout. */
  get look(): Look {
    const { threshold, color, size } = this.store.state;
    return this.lookOf(this.theme, color, size, threshold, this.passed);
  }

  private lookOf = latest(
    (
      theme: Theme,
      color: string | null,
      size: string | null,
      threshold: number,
      passed: Uint8Array | null,
    ): Look => {
      const coloring = this.coloringOf(color, theme);
      const sizes = this.sizesOf(size);
      return { atlas: this.atlas, theme, coloring, sizes, threshold, passed, type: PAGE_TYPE };
    },
  );
  private coloringOf = latest((color: string | null, theme: Theme) =>
    coloringBy(this.atlas, color, theme),
  );
  private sizesOf = latest((size: string | null) => sizing(this.atlas, size));
  private passing = latest((filters: Filters) => passing(this.atlas, filters));
}

function letsAllPass(filter: CodeFilter | RangeFilter): boolean {
  if ("has" in filter) return filter.size === 0;
  const { low, high, withMissing } = filter;
  return withMissing && low === Number.NEGATIVE_INFINITY && high === Number.POSITIVE_INFINITY;
}
