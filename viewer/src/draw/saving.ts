/** Files that the page gives: pictures and tables, saved as downloads. */

import type { Atlas } from "../data/atlas.ts";
import { atlasTable } from "../data/table.ts";
import type { Palette } from "../scene/coloring.ts";
import { newCanvas, prepare } from "./pen.ts";
import { type Sheet, sheetSvg } from "./sheet.ts";

export function saveTable(atlas: Atlas, objects: readonly number[], name: string): void {
  const table = atlasTable(atlas, objects);
  save(new Blob([table], { type: "text/csv;charset=utf-8" }), `${fileName(name)}.csv`);
}

export async function saveSvg(sheet: Sheet, palette: Palette, name: string): Promise<void> {
  save(svgBlob(sheetSvg(sheet, palette).svg), `${fileName(name)}.svg`);
}

/** Pixels of the longer side of a picture; browsers have no canvas that is much larger. */
const MOST_PIXELS = 12_000;

/** Saves a sheet as PNG, at two pixels per CSS pixel where that is not too large. */
export async function savePng(sheet: Sheet, palette: Palette, name: string): Promise<void> {
  const { svg, size } = sheetSvg(sheet, palette);
  const ratio = Math.min(2, MOST_PIXELS / Math.max(size.width, size.height));
  const canvas = newCanvas();
  const context = prepare(canvas, size, ratio);
  if (!context) throw new Error("this browser has no 2D canvas");
  const image = new Image();
  image.src = URL.createObjectURL(svgBlob(svg));
  await image.decode();
  context.drawImage(image, 0, 0, size.width, size.height);
  URL.revokeObjectURL(image.src);
  const blob = await new Promise<Blob | null>((done) => canvas.toBlob(done, "image/png"));
  if (!blob) throw new Error("it is too large for this browser");
  save(blob, `${fileName(name)}.png`);
}

const svgBlob = (svg: string) => new Blob([svg], { type: "image/svg+xml" });

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
  return [...safe].slice(0, 60).join("") || "atlas";
}
