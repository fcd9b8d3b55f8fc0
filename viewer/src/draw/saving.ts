/** Files that the page gives: pictures and tables, saved as downloads. */

import type { Atlas } from "../data/atlas.ts";
import { atlasTable } from "../data/table.ts";
import type { Palette } from "../scene/coloring.ts";
import * as texts from "../texts.ts";
import { layOut, type Sheet, sheetCanvas, sheetSvg } from "./sheet.ts";

/** Saves the selected objects as CSV: a row for each object and map in which it lives. */
export function saveTable(atlas: Atlas, objects: readonly number[], name: string): void {
  const table = atlasTable(atlas, objects);
  save(new Blob([table], { type: "text/csv;charset=utf-8" }), `${fileName(name)}.csv`);
}

/** Saves a sheet as SVG. */
export function saveSvg(sheet: Sheet, palette: Palette, name: string): void {
  const svg = sheetSvg(sheet, palette);
  save(new Blob([svg], { type: "image/svg+xml" }), `${fileName(name)}.svg`);
}

/** Pixels of the longer side of a picture; browsers have no canvas that is much larger. */
const MOST_PIXELS = 12_000;

/** Saves a sheet as PNG, at two pixels per CSS pixel where that is not too large. */
export async function savePng(sheet: Sheet, palette: Palette, name: string): Promise<void> {
  const { width, height } = layOut(sheet, palette).size;
  const ratio = Math.min(2, MOST_PIXELS / Math.max(width, height));
  const canvas = await sheetCanvas(sheet, palette, ratio);
  const blob = await new Promise<Blob | null>((done) => canvas.toBlob(done, "image/png"));
  if (!blob) throw new Error(texts.TOO_LARGE);
  save(blob, `${fileName(name)}.png`);
}

function save(content: Blob, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  // The download has begun once the click returns; a minute is for browsers that ask where to.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

/** A name that every file system takes. */
function fileName(text: string): string {
  const safe = text
    .normalize("NFC")
    .replace(/[^\p{L}\p{N}\-_ ]+/gu, " ")
    .trim()
    .replace(/\s+/g, "-");
  return [...safe].slice(0, 60).join("") || texts.ATLAS_FILE;
}
