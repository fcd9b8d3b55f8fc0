/** The view of a map as a standalone SVG document, drawn by the same pen as on a canvas.
 *
 * A stroke and a fill of the same shape are one element (`paint-order`), so that each word is one text.
 */
import type { Point } from "../scene/label_boxes.ts";
import { LABEL_FONT } from "../scene/lettering.ts";
import { NO_EMPHASIS } from "../scene/scene.ts";
import { type Brush, Pen } from "./pen.ts";
import { drawLetters, drawOver, lettersOf, type Picture } from "./picture.ts";

/** The view as SVG, at a point of another document or by itself. */
export function svgOf(picture: Picture, at?: Point): string {
  const { scene, emphasis = NO_EMPHASIS } = picture;
  const { width, height } = picture.size;
  scene.setEmphasis(emphasis);
  const brush = new SvgBrush();
  const pen = new Pen(brush, picture);
  for (const entry of scene.marks.entries) pen.mark(entry);
  drawOver(pen, picture);
  drawLetters(brush, picture, lettersOf(picture));
  const extent = `width="${round(width)}" height="${round(height)}"`;
  const place = at ? `x="${round(at[0])}" y="${round(at[1])}" ` : "";
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" ${place}${extent} ` +
      `viewBox="0 0 ${round(width)} ${round(height)}" font-family="${escaped(LABEL_FONT)}">`,
    `<rect width="100%" height="100%" fill="${scene.palette.paper}"/>`,
    ...brush.elements,
    "</svg>\n",
  ].join("\n");
}

export function escaped(text: string): string {
  const names: Record<string, string> = { "&": "amp", "<": "lt", ">": "gt", '"': "quot" };
  return text
    .replace(/[&<>"]/g, (character) => `&${names[character]};`)
    .replace(/[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu, "\uFFFD");
}

export function round(value: number): string {
  return String(Math.round(value * 10) / 10);
}

/** The part of a canvas that a pen uses; it writes SVG elements. */
class SvgBrush implements Brush {
  readonly elements: string[] = [];
  fillStyle = "";
  strokeStyle = "";
  lineWidth = 1;
  lineJoin: CanvasLineJoin = "round";
  globalAlpha = 1;
  font = "";
  textAlign: CanvasTextAlign = "center";
  textBaseline: CanvasTextBaseline = "alphabetic";
  private path = "";
  private circles: string[] = [];
  private dashes = "";
  private place = "";
  /** The latest stroke or fill, which the other one of the same shape joins. */
  private last = { shape: "", look: "", what: "", number: -1 };

  beginPath(): void {
    this.path = "";
    this.circles = [];
  }

  moveTo(x: number, y: number): void {
    this.path += `M${round(x)} ${round(y)}`;
  }

  lineTo(x: number, y: number): void {
    this.path += `${this.path ? "L" : "M"}${round(x)} ${round(y)}`;
  }

  arc(x: number, y: number, radius: number): void {
    this.circles.push(`<circle cx="${round(x)}" cy="${round(y)}" r="${radius.toFixed(2)}"`);
  }

  closePath(): void {
    this.path += "Z";
  }

  fill(): void {
    for (const shape of this.shapes) this.paint(shape, "/>", "fill");
  }

  stroke(): void {
    for (const shape of this.shapes) this.paint(shape, "/>", "stroke");
  }

  fillText(text: string, x: number, y: number): void {
    this.write(text, x, y, "fill");
  }

  strokeText(text: string, x: number, y: number): void {
    this.write(text, x, y, "stroke");
  }

  setLineDash(dashes: number[]): void {
    this.dashes = dashes.length ? ` stroke-dasharray="${dashes.join(" ")}"` : "";
  }

  save(): void {}

  translate(x: number, y: number): void {
    this.place += `translate(${round(x)} ${round(y)}) `;
  }

  rotate(angle: number): void {
    this.place += `rotate(${round((180 / Math.PI) * angle)})`;
  }

  restore(): void {
    this.place = "";
  }

  /** Circles are elements of their own; the path only moves to where they begin. */
  private get shapes(): string[] {
    const place = this.place && ` transform="${this.place}"`;
    const hasLines = this.path.includes("L");
    return [...this.circles, ...(hasLines ? [`<path d="${this.path}"${place}`] : [])];
  }

  private write(text: string, x: number, y: number, what: "fill" | "stroke"): void {
    const [weight, size] = this.font.split(" ");
    const middle = this.textBaseline === "middle" ? ' dominant-baseline="central"' : "";
    const start =
      `<text x="${round(x)}" y="${round(y)}" text-anchor="middle"${middle} ` +
      `font-size="${Number.parseFloat(size ?? "")}" font-weight="${weight}"`;
    this.paint(start, `>${escaped(text)}</text>`, what);
  }

  private paint(start: string, end: string, what: "fill" | "stroke"): void {
    const opacity = this.globalAlpha < 1 ? ` ${what}-opacity="${round(this.globalAlpha)}"` : "";
    const look =
      what === "fill"
        ? ` fill="${this.fillStyle}"${opacity}`
        : ` stroke="${this.strokeStyle}" stroke-width="${round(this.lineWidth)}"` +
          ` stroke-linejoin="round"${this.dashes}${opacity}`;
    const { last } = this;
    const isSame = last.shape === start + end && last.number === this.elements.length - 1;
    if (isSame && last.what !== what) {
      const order = what === "fill" ? ' paint-order="stroke"' : "";
      this.elements[last.number] = start + look + last.look + order + end;
      return;
    }
    this.last = { shape: start + end, look, what, number: this.elements.length };
    this.elements.push(start + (what === "fill" ? "" : ' fill="none"') + look + end);
  }
}
