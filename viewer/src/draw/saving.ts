/** Files that the page gives: pictures and tables, saved as downloads. */

import type { Atlas } from "../data/atlas.ts";
import { atlasTable } from "../data/table.ts";

/** Saves the selected objects as CSV: a row for each object and map in which it lives. */
export function saveTable(atlas: Atlas, objects: readonly number[], name: string): void {
  const table = atlasTable(atlas, objects);
  save(new Blob([table], { type: "text/csv;charset=utf-8" }), `${fileName(name)}.csv`);
}

export function save(content: Blob, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  // The download has begun once the click returns; a minute is for browsers that ask where to.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

/** A name that every file system takes. */
export function fileName(text: string): string {
  const safe = text
    .normalize("NFC")
    .replace(/[^\p{L}\p{N}\-_ ]+/gu, " ")
    .trim()
    .replace(/\s+/g, "-");
  return [...safe].slice(0, 60).join("") || "atlas";
}
