/**
 * Which objects are shown: a filter says which values of one column pass, and an object is shown where
 * all filters let it pass. Of two kinds of object a filter leaves one alone that has no values at all.
 */
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

/** Filters by the names of their columns. */
export type Filters = ReadonlyMap<string, CodeFilter | RangeFilter>;

export type FilterColumn = CategoryColumn | NumberColumn;

export function isFilterColumn(column: Column): column is FilterColumn {
  return column.type === "category" || column.type === "number";
}

/** Whether an object has no value in a column. */
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

/** How many objects have each code of a column. */
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

/** Where numbers lie, cut into steps of round numbers. */
export interface Axis {
  low: number;
  high: number;
  step: number;
  /** How wide one bar of its histogram is, and how many there are. */
  bar: number;
  nBars: number;
}

const MOST_STEPS = 200;
const MOST_BARS = 40;
/** An axis holds all numbers unless the few outermost make it so many times as long. */
const FAR = 3;

/** The axis of a column; what lies beyond counts as its ends. */
export function axisOf({ values, low, high }: NumberColumn): Axis {
  let [least, most, isWhole] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, true];
  for (const value of values) {
    if (value < least) least = value;
    if (value > most) most = value;
    if (value % 1) isWhole = false;
  }
  if (!(most - least <= FAR * (high - low))) [least, most] = [low, high];
  const rough = (most - least || 1) / MOST_STEPS;
  const power = 10 ** Math.floor(Math.log10(rough));
  const round = [1, 2, 5, 10].filter((digit) => digit * power >= 0.999 * rough)[0] * power;
  const step = isWhole ? Math.max(1, round) : round;
  const first = Math.floor(least / step + 1e-6);
  const last = Math.ceil(most / step - 1e-6);
  // The last of whole numbers has a place of its own; bars hold equally many steps.
  const nSteps = Math.max(1, last - first + (isWhole ? 1 : 0));
  const perBar = Math.ceil(nSteps / MOST_BARS);
  return {
    low: tidy(first * step),
    high: tidy(last * step),
    step,
    bar: perBar * step,
    nBars: Math.ceil(nSteps / perBar),
  };
}

/** A number without what adding up tenths leaves behind. */
export function tidy(value: number): number {
  return Number(value.toPrecision(12));
}

/** How many objects have numbers in each bar of an axis. */
export function histogram(
  { values }: NumberColumn,
  { low, bar, nBars }: Axis,
  among: Uint8Array | null,
): Uint32Array {
  const counts = new Uint32Array(nBars);
  for (let object = 0; object < values.length; object++) {
    const value = values[object];
    if (Number.isNaN(value) || (among !== null && !among[object])) continue;
    // Single precision lies a little below some steps.
    const at = Math.min(nBars - 1, Math.max(0, Math.floor((value - low) / bar + 1e-5)));
    counts[at] = counts[at] + 1;
  }
  return counts;
}
