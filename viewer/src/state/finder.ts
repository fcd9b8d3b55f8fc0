/** The results of a query: two words, labels, categories, texts of columns; else labels close to it. */

import type { Atlas } from "../data/atlas.ts";
import { once } from "../data/elements.ts";
import { importance } from "../data/entries.ts";
import { countsOf } from "../data/filters.ts";
import { sharedMap } from "../data/nearest.ts";
import { type Hit, SearchIndex } from "./search.ts";

/** An object by its label, one close to the query, the text of a column, or as the first of two words. */
interface FoundObject {
  object: number;
  how: "label" | "close" | "text" | "pair";
  /** The label or text, and where the match is in it. */
  text: string;
  start: number;
  end: number;
  /** The column of a text, "" else. */
  column: string;
  /** The map on which two words are close; null if there is none. */
  map: number | null;
}

export interface FoundGroup {
  object: null;
  column: string;
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
/** One letter is in nearly every category and text, and finds those that are this letter. */
const SHORTEST = 2;

export class Finder {
  private labels: SearchIndex;
  private indices = new Map<string, SearchIndex>();

  constructor(private atlas: Atlas) {
    this.labels = new SearchIndex(atlas.labels, importance(atlas));
  }

  find(query: string): Found[] {
    const label = (hit: Hit, how: FoundObject["how"]): Found => ({
      ...hit,
      ...{ how, text: this.atlas.labels[hit.object], column: "", map: null },
    });
    const hits = this.labels.find(query, MOST).map((hit) => label(hit, "label"));
    const isLong = query.trim().length >= SHORTEST;
    const groups = this.groups(query)
      .filter(({ text }) => isLong || text.length < SHORTEST)
      .slice(0, MOST_GROUPS);
    const known = new Set(hits.map(({ object }) => object));
    const inColumns = isLong ? this.texts(query).filter(({ object }) => !known.has(object)) : [];
    const others = [...groups, ...inColumns.slice(0, MOST_TEXTS)];
    const found = [...this.pair(query), ...hits.slice(0, MOST - others.length), ...others];
    if (found.length > 0) return found;
    return this.labels
      .close(query, MOST_CLOSE)
      .map((object) => label({ object, start: 0, end: 0 }, "close"));
  }

  /** The first of two words, with the map on which both are close. */
  private pair(query: string): FoundObject[] {
    const words = query.trim().split(/\s+/);
    for (let k = 1; k < words.length; k++) {
      const object = this.labels.whole(words.slice(0, k).join(" "));
      const other = this.labels.whole(words.slice(k).join(" "));
      if (object === null || other === null || object === other) continue;
      const map = sharedMap(this.atlas, object, other);
      const { labels } = this.atlas;
      const text = `${labels[object]} + ${labels[other]}`;
      return [{ object, how: "pair", text, start: 0, end: 0, column: "", map }];
    }
    return [];
  }

  private groups(query: string): FoundGroup[] {
    return this.atlas.columns.flatMap((column): FoundGroup[] => {
      const { name } = column;
      if (column.type !== "category") return [];
      const found = this.indexOf(name, column.categories).find(query, MOST_GROUPS);
      return found.map(({ object: value, start, end }) => {
        const count = countsOf(this.atlas, column, null).get(value) ?? 0;
        const text = column.categories[value];
        return { object: null, column: name, value, text, start, end, count };
      });
    });
  }

  private texts(query: string): FoundObject[] {
    return this.atlas.columns.flatMap(({ name, ...column }): FoundObject[] => {
      if (column.type !== "text") return [];
      const found = this.indexOf(name, column.values).find(query, MOST_TEXTS);
      return found.map((hit) => ({
        ...hit,
        ...{ how: "text", text: column.values[hit.object], column: name, map: null },
      }));
    });
  }

  private indexOf(column: string, texts: readonly string[]): SearchIndex {
    return once(this.indices, column, () => new SearchIndex(texts));
  }
}
