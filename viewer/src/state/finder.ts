/**
 * The results of a query: labels, categories and numbers of columns, texts that columns contain,
 * and where few labels hold it, labels that are close to it.
 */
import type { Atlas, CategoryColumn } from "../data/atlas.ts";
import { importance } from "../data/entries.ts";
import { countsOf } from "../data/filters.ts";
import { once } from "../data/memory.ts";
import { type Hit, SearchIndex } from "./search.ts";

/** An object: by its label, by a label that is close to the query, or by the text of a column. */
interface FoundObject {
  object: number;
  how: "label" | "close" | "text";
  /** The label or text, and where the match stands in it. */
  text: string;
  start: number;
  end: number;
  /** The column of a text, "" else. */
  column: string;
}

/** All objects with one category or number. */
export interface FoundGroup {
  object: null;
  column: string;
  /** The category's code; of a number the number. */
  value: number;
  text: string;
  start: number;
  end: number;
  count: number;
}

export type Found = FoundObject | FoundGroup;

const MOST = 12;
const MOST_GROUPS = 3;
const MOST_TEXTS = 4;
const MOST_CLOSE = 5;
/** Where so many labels hold the query nothing close to it is looked for. */
const ENOUGH = 4;
/** One letter is in nearly every category and text, and finds those that are this letter. */
const SHORTEST = 2;

export class Finder {
  private labels: SearchIndex;
  private indices = new Map<string, SearchIndex>();
  private counts = new Map<string, Map<number, number>>();

  constructor(private atlas: Atlas) {
    this.labels = new SearchIndex(atlas.labels, () => importance(atlas));
  }

  find(query: string): Found[] {
    const { labels } = this.atlas;
    const label = (hit: Hit, how: FoundObject["how"]): Found => ({
      ...hit,
      how,
      text: labels[hit.object],
      column: "",
    });
    const hits = this.labels.find(query, MOST).map((hit) => label(hit, "label"));
    const isLong = query.trim().length >= SHORTEST;
    const groups = this.groups(query)
      .filter(({ text }) => isLong || text.length < SHORTEST)
      .slice(0, MOST_GROUPS);
    const known = new Set(hits.map(({ object }) => object));
    const texts = isLong ? this.texts(query).filter(({ object }) => !known.has(object)) : [];
    const others = [...groups, ...texts.slice(0, MOST_TEXTS)];
    const close = hits.length < ENOUGH ? this.labels.close(query, MOST_CLOSE) : [];
    return [
      ...hits.slice(0, MOST - others.length),
      ...others,
      ...close
        .filter((object) => !known.has(object))
        .map((object) => label({ object, start: 0, end: 0 }, "close")),
    ];
  }

  private groups(query: string): FoundGroup[] {
    const number = Number(query);
    return this.atlas.columns.flatMap((column): FoundGroup[] => {
      const { name } = column;
      if (column.type === "category") {
        const found = this.indexOf(name, column.categories).find(query, MOST_GROUPS);
        return found.map(({ object: value, start, end }) => {
          const count = this.countsIn(column).get(value) ?? 0;
          const text = column.categories[value];
          return { object: null, column: name, value, text, start, end, count };
        });
      }
      if (column.type !== "number" || Number.isNaN(number)) return [];
      const value = column.values instanceof Float32Array ? Math.fround(number) : number;
      let count = 0;
      for (const other of column.values) if (other === value) count++;
      const text = query.trim();
      const whole = { text, start: 0, end: text.length };
      return count > 0 ? [{ object: null, column: name, value, ...whole, count }] : [];
    });
  }

  private texts(query: string): FoundObject[] {
    return this.atlas.columns.flatMap(({ name, ...column }): FoundObject[] => {
      if (column.type !== "text") return [];
      const found = this.indexOf(name, column.values).find(query, MOST_TEXTS);
      return found.map((hit) => ({
        ...hit,
        how: "text",
        text: column.values[hit.object],
        column: name,
      }));
    });
  }

  private indexOf(column: string, texts: readonly string[]): SearchIndex {
    return once(this.indices, column, () => new SearchIndex(texts));
  }

  private countsIn(column: CategoryColumn): Map<number, number> {
    return once(this.counts, column.name, () => countsOf(this.atlas, column, null));
  }
}
