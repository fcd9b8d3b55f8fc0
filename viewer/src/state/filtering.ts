/** What the filters of the state let pass; worked out once for each set of filters. */
import type { Atlas, CategoryColumn } from "../data/atlas.ts";
import { type CodeFilter, type Filters, passing, type RangeFilter } from "../data/filters.ts";
import { latest } from "../data/memory.ts";
import type { Store } from "./store.ts";

export class Filtering {
  constructor(
    private atlas: Atlas,
    private store: Store,
  ) {}

  /** 1 for each object that passes; null where nothing is filtered. */
  get passed(): Uint8Array | null {
    return this.passing(this.store.state.filters).passed;
  }

  /** How many objects pass. */
  get count(): number {
    return this.passing(this.store.state.filters).count;
  }

  passes(object: number): boolean {
    return this.passed?.[object] !== 0;
  }

  /** Whether objects of a category pass. */
  lets(column: CategoryColumn, code: number): boolean {
    return !this.offIn(column).has(code);
  }

  /** The codes of a column that do not pass. */
  offIn({ name }: CategoryColumn): CodeFilter {
    const filter = this.store.state.filters.get(name);
    return filter !== undefined && "has" in filter ? filter : new Set();
  }

  /** Sets the filter of a column, or takes it away. */
  set(column: string, filter: CodeFilter | RangeFilter | null): void {
    const filters = new Map(this.store.state.filters);
    if (filter === null || letsAllPass(filter)) filters.delete(column);
    else filters.set(column, filter);
    this.store.change({ filters });
  }

  private passing = latest((filters: Filters) => {
    const passed = passing(this.atlas, filters);
    return { passed, count: passed?.reduce((sum, is) => sum + is, 0) ?? this.atlas.nObjects };
  });
}

function letsAllPass(filter: CodeFilter | RangeFilter): boolean {
  if ("has" in filter) return filter.size === 0;
  const { low, high, withMissing } = filter;
  return withMissing && low === Number.NEGATIVE_INFINITY && high === Number.POSITIVE_INFINITY;
}
