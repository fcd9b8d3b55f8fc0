/**
 * Printing: every picture is drawn on light paper, finely and at once, before the browser lays its
 * pages out, and as it was afterwards. Between the two no frame comes, and nothing is scrolled into sight.
 */

type Redraw = (isPrinting: boolean) => void;

/** Device pixels per CSS pixel on paper. */
const FINE = 3;

const pictures = new Set<Redraw>();
let isOn = false;
let paper: MediaQueryList | null = null;

/** Whether the page is laid out for paper, or will be at once. */
export function isPrinting(): boolean {
  return isOn || paper?.matches === true;
}

/** Device pixels per CSS pixel that a picture has now. */
export function pixelRatio(): number {
  return isOn ? Math.max(FINE, devicePixelRatio) : devicePixelRatio;
}

/** Calls back before and after printing, until the returned function is called. */
export function onPrint(redraw: Redraw): () => void {
  listen();
  pictures.add(redraw);
  return () => pictures.delete(redraw);
}

function listen(): void {
  if (paper !== null) return;
  addEventListener("beforeprint", () => turn(true));
  addEventListener("afterprint", () => turn(false));
  // Printing without a dialog may send only this event.
  paper = matchMedia("print");
  paper.addEventListener("change", ({ matches }) => turn(matches));
}

function turn(on: boolean): void {
  if (on === isOn) return;
  isOn = on;
  for (const redraw of pictures) redraw(on);
}
