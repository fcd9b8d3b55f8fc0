/** Which objects are shown: those that all filters let pass; kinds without values of a column pass. */
import type { Atlas, CategoryColumn, Column, NumberColumn } from "./atlas.ts";
import { NO_CATEGORY } from "./atlas.ts";

/** A filter of categories: the codes that do not pass, NO_CATEGORY for objects without a value. */
export type CodeFilter = ReadonlySet<number>;

/** A filter of numbers: from low to high, both included; infinite for an open end. */
export interface RangeFilter {
  low: number;
  high: number;
  /** Whether objects without a value pass. */
  withMissing: boolean;
}

export type Filters = ReadonlyMap<string, CodeFilter | RangeFilter>;

export type FilterColumn = CategoryColumn | NumberColumn;

export function isFilterColumn(column: Column): column is FilterColumn {
  return column.type === "category" || column.type === "number";
}

function isMissing(column: Column, object: number): boolean {
  if (column.type === "number") return Number.isNaN(column.values[object]);
  return column.type === "category" ? column.codes[object] === NO_CATEGORY : !column.values[object];
}

/** Whether some of the objects from `start` to `end` have, or lack, a value of a column. */
function some(column: Column, [start, end]: [number, number], isLacking: boolean): boolean {
  for (let object = start; object < end; object++) {
    if (isMissing(column, object) === isLacking) return true;
  }
  return false;
}

/** The ranges of objects with values of a column: a kind without any value is skipped. */
function askedOf({ starts }: Atlas, column: Column): [number, number][] {
  const ends = [...starts.subarray(1)];
  return ends
    .map((end, k): [number, number] => [starts[k], end])
    .filter((range) => some(column, range, false));
}

/** Whether any object lacks a value of a column that is asked for one. */
export function hasMissing(atlas: Atlas, column: Column): boolean {
  return askedOf(atlas, column).some((range) => some(column, range, true));
}

/** All codes of a column, NO_CATEGORY where an object has no value. */
export function codesOf(atlas: Atlas, column: CategoryColumn): number[] {
  const codes = [...column.categories.keys()];
  return hasMissing(atlas, column) ? [...codes, NO_CATEGORY] : codes;
}

/** 1 for each object that passes all filters but that of one column; null where nothing is filtered. */
export function passing(atlas: Atlas, filters: Filters, except?: string): Uint8Array | null {
  let passed: Uint8Array | null = null;
  for (const column of atlas.columns) {
    const filter = filters.get(column.name);
    if (filter === undefined || column.name === except || !isFilterColumn(column)) continue;
    passed ??= new Uint8Array(atlas.nObjects).fill(1);
    for (const [start, end] of askedOf(atlas, column)) {
      for (let object = start; object < end; object++) {
        if (!passes(column, filter, object)) passed[object] = 0;
      }
    }
  }
  return passed;
}

function passes(column: FilterColumn, filter: CodeFilter | RangeFilter, object: number): boolean {
  if (column.type === "category") {
    return !("has" in filter) || !filter.has(column.codes[object]);
  }
  if ("has" in filter) return true;
  const value = column.values[object];
  return Number.isNaN(value) ? filter.withMissing : value >= filter.low && value <= filter.high;
}

export function countsOf(
  atlas: Atlas,
  column: CategoryColumn,
  among: Uint8Array | null,
): Map<number, number> {
  const counts = new Map(codesOf(atlas, column).map((code) => [code, 0]));
  column.codes.forEach((code, object) => {
    if (among === null || among[object]) counts.set(code, (counts.get(code) ?? 0) + 1);
  });
  return counts;
}

/** The least and the greatest number of a column, to six digits. */
export function extremes({ values }: NumberColumn): [number, number] {
  let [least, most] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const value of values) {
    if (value < least) least = value;
    if (value > most) most = value;
  }
  return [Number(least.toPrecision(6)), Number(most.toPrecision(6))];
}
