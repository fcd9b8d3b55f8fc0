/** A picture that is kept: title, subtitle, maps with captions, legend and source, written as SVG. */

import type { Size } from "../scene/camera.ts";
import type { Palette } from "../scene/coloring.ts";
import type { Point } from "../scene/label_boxes.ts";
import type { Key, Run } from "../scene/legend.ts";
import { LABEL_FONT, type Lettering, measureText } from "../scene/lettering.ts";
import { escaped, round, svgOf } from "./drawing_svg.ts";
import type { Picture } from "./picture.ts";

/** One map of a sheet; all of a sheet have one size. */
export interface Panel extends Picture {
  caption: string;
  words: string;
}

export interface Sheet {
  title: string;
  subtitle: string;
  panels: Panel[];
  columns: number;
  keys: Key[];
  foot: string;
}

const EDGE = 24;
const GAP = 18;
const LEAST_WIDTH = 320;
const TITLE = { size: 20, weight: 600 };
const BODY = { size: 13, weight: 400 };
const SMALL = { size: 11.5, weight: 400 };
const LINE = 1.4;
const MOST_LINES = 3;

const at = (x: number, y: number) => `x="${round(x)}" y="${round(y)}"`;
const extent = ({ width, height }: Size) => `width="${round(width)}" height="${round(height)}"`;

class Writing {
  readonly elements: string[] = [];
  y = EDGE;

  constructor(private palette: Palette) {}

  /** One line, which takes no room. */
  line(runs: readonly Run[], x: number, { size, weight }: Lettering, isMuted = false): void {
    const said = runs.map(({ color, text }) =>
      color ? `<tspan fill="${color}">${escaped(text)}</tspan>` : escaped(text),
    );
    this.elements.push(
      `<text ${at(x, this.y + size)} font-size="${size}" font-weight="${weight}" ` +
        `fill="${this.palette[isMuted ? "muted" : "ink"]}">${said.join("")}</text>`,
    );
  }

  /** A text on as many lines as it needs, up to three. */
  lines(text: string, x: number, room: number, lettering: Lettering, isMuted = false): void {
    const words = text.split(" ").filter(Boolean);
    for (let line = 1; words.length > 0 && line <= MOST_LINES; line++) {
      let said = words.shift() as string;
      while (words.length > 0 && measureText(`${said} ${words[0]}`, lettering) <= room) {
        said += ` ${words.shift()}`;
      }
      if (line === MOST_LINES && words.length > 0) said += " …";
      this.line([{ text: said }], x, lettering, isMuted);
      this.y += LINE * lettering.size;
    }
  }

  /** The keys of a legend, as many on a line as have room. */
  keys(keys: readonly Key[], width: number): void {
    let x = EDGE;
    for (const runs of keys) {
      const room = measureText(runs.map(({ text }) => text).join(""), SMALL);
      if (x + room > EDGE + width) {
        x = EDGE;
        this.y += LINE * SMALL.size;
      }
      this.line(runs, x, SMALL);
      x += room + GAP;
    }
    if (keys.length > 0) this.y += 2 * SMALL.size;
  }
}

/** A sheet as a standalone SVG document, and its size. */
export function sheetSvg(sheet: Sheet, palette: Palette): { svg: string; size: Size } {
  const { title, subtitle, panels, columns, keys, foot } = sheet;
  const { width: wide, height: high } = panels[0]?.size ?? { width: 0, height: 0 };
  const width = Math.max(columns * wide + (columns - 1) * GAP, LEAST_WIDTH);
  const writing = new Writing(palette);
  const places: Point[] = [];
  writing.lines(title, EDGE, width, TITLE);
  writing.lines(subtitle, EDGE, width, BODY, true);
  for (let first = 0; first < panels.length; first += columns) {
    const top = writing.y + GAP / 2;
    let bottom = top;
    panels.slice(first, first + columns).forEach((panel, column) => {
      const x = EDGE + column * (wide + GAP);
      places.push([x, top]);
      const frame = `${at(x, top)} ${extent(panel.size)} fill="none" stroke="${palette.hairline}"`;
      writing.elements.push(`<rect ${frame}/>`);
      writing.y = top + high + GAP / 4;
      writing.lines(panel.caption, x, wide, SMALL, true);
      writing.lines(panel.words, x, wide, BODY);
      bottom = Math.max(bottom, writing.y);
    });
    writing.y = bottom + GAP / 2;
  }
  writing.keys(keys, width);
  writing.lines(foot, EDGE, width, SMALL, true);
  const size = { width: width + 2 * EDGE, height: writing.y + EDGE };
  const svg = [
    `<svg xmlns="http://www.w3.org/2000/svg" ${extent(size)} font-family="${escaped(LABEL_FONT)}">`,
    `<title>${escaped(title)}</title>`,
    `<rect width="100%" height="100%" fill="${palette.paper}"/>`,
    ...panels.map((panel, k) => svgOf(panel, places[k])),
    ...writing.elements,
    "</svg>\n",
  ].join("\n");
  return { svg, size };
}
