/**
 * The view of a map as a standalone SVG document: dots, outlines and the visible labels as text.
 *
 * Coordinates are CSS pixels of the screen. Rims and halos of paper are strokes under the fill
 * (`paint-order`), so that every word is one editable text.
 */
import { elementAt } from "../data/elements.ts";
import { type Camera, entryOnScreen, type Size, toScreen } from "../scene/camera.ts";

import { LABEL_FONT, spacingOf } from "../scene/lettering.ts";
import {
  DIAMOND,
  DIAMOND_REACH,
  LEAST_CHOSEN,
  LEAST_LABELLED,
  LEAST_NEAR,
  rim,
} from "../scene/mark_data.ts";
import { type Arc, crest, type Point, pathData, roundedHull } from "../scene/outline.ts";
import {
  type Emphasis,
  NO_EMPHASIS,
  type Scene,
  type ShownLabel,
  type ShownName,
} from "../scene/scene.ts";
import {
  ARROW,
  baseline,
  CONTOUR_OPACITY,
  type FeatureOutline,
  haloRadius,
  isPlain,
  labelColor,
  lettersOf,
  outlineReach,
  TIE,
  type Tie,
  type View,
} from "./picture.ts";

interface SvgOptions extends View {
  /** Where it stands in another document. */
  at?: Point;
}

/** The view as SVG. */
export function svgOf(scene: Scene, camera: Camera, size: Size, options: SvgOptions = {}): string {
  const { at, emphasis = NO_EMPHASIS, selection = new Set(), outlines = [], ties = [] } = options;
  scene.setEmphasis(emphasis);
  scene.setSelection(selection);
  const drawing = new Drawing(scene, camera, size);
  const { labels, names } = lettersOf(scene, camera, size, options);
  const { width, height } = size;
  const parts = [
    `<svg xmlns="http://www.w3.org/2000/svg" ${at ? `x="${round(at[0])}" y="${round(at[1])}" ` : ""}width="${round(width)}" height="${round(height)}" ` +
      `viewBox="0 0 ${round(width)} ${round(height)}" font-family="${escaped(LABEL_FONT)}">`,
    `<rect width="100%" height="100%" fill="${scene.palette.paper}"/>`,
    ...drawing.contours(),
    ...drawing.dots(),
    ...outlines.flatMap((outline) => drawing.outline(outline)),
    ...ties.map((tie) => drawing.tie(tie)),
    ...drawing.rings(scene.ringed),
    ...drawing.emphasized(emphasis),
    ...drawing.names(names),
    ...drawing.labels(labels),
    ...outlines.flatMap((outline) => drawing.outlineNumber(outline)),
    "</svg>",
  ];
  return `${parts.join("\n")}\n`;
}

/** Text that XML may hold anywhere. */
export function escaped(text: string): string {
  const names: Record<string, string> = { "&": "amp", "<": "lt", ">": "gt", '"': "quot" };
  return text
    .replace(/[&<>"]/g, (character) => `&${names[character]};`)
    .replace(/[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu, "\uFFFD");
}

export function round(value: number): string {
  return String(Math.round(value * 10) / 10);
}

class Drawing {
  constructor(
    private scene: Scene,
    private camera: Camera,
    private size: Size,
  ) {}

  contours(): string[] {
    const lines = this.scene.densityLines;
    let path = "";
    for (let k = 0; k < lines.length; k += 2) {
      const at = toScreen(this.camera, this.size, elementAt(lines, k), elementAt(lines, k + 1));
      path += `${k % 4 ? "L" : "M"}${at.map(round).join(" ")}`;
    }
    const look = `stroke="${this.scene.palette.other}" stroke-opacity="${CONTOUR_OPACITY}"`;
    return path ? [`<path d="${path}" fill="none" ${look}/>`] : [];
  }

  dots(): string[] {
    const { scene } = this;
    const dots: string[] = [];
    for (const entry of scene.marks.entries) {
      if (!this.isOn(entry)) continue;
      dots.push(this.dot(entry, scene.color(entry), 0));
    }
    return [`<g stroke="${scene.palette.paper}" paint-order="stroke">`, ...dots, "</g>"];
  }

  outline({ color, members }: FeatureOutline): string[] {
    if (members.length === 0) return [];
    return [
      `<path d="${pathData(this.arcs(members))}" fill="${color}" fill-opacity="0.07" stroke="${color}" ` +
        `stroke-width="1.6"/>`,
    ];
  }

  outlineNumber({ number, color, members }: FeatureOutline): string[] {
    if (members.length === 0) return [];
    const [x, y] = crest(this.arcs(members));
    const { paper, ink } = this.scene.palette;
    return [
      `<circle cx="${round(x)}" cy="${round(y)}" r="8" fill="${paper}" stroke="${color}" ` +
        `stroke-width="1.6"/>`,
      `<text x="${round(x)}" y="${round(y + 4)}" text-anchor="middle" font-size="11" ` +
        `font-weight="600" fill="${ink}">${number}</text>`,
    ];
  }

  tie({ from, to, isNear }: Tie): string {
    const [x1, y1] = this.point(from).map(round);
    const [x2, y2] = this.point(to).map(round);
    const dashes = isNear ? "" : ` stroke-dasharray="${TIE.dashes.join(" ")}"`;
    return (
      `<line x1="${x1}" y1="${y1}" x2="${x2}" y2="${y2}" stroke="${this.scene.palette.accent}" ` +
      `stroke-width="${TIE.width}" stroke-opacity="${TIE.opacity}"${dashes}/>`
    );
  }

  private arcs(members: readonly number[]): Arc[] {
    return roundedHull(
      members.map((entry) => this.point(entry)),
      outlineReach(this.scene, this.camera),
    );
  }

  rings(selection: ReadonlySet<number>): string[] {
    const ring = `fill="none" stroke="${this.scene.palette.ink}" stroke-width="1.6"`;
    return [...selection]
      .filter((entry) => this.isOn(entry))
      .map((entry) => this.shape(entry, this.radius(entry) + 1.8, ring));
  }

  emphasized({ chosen, near }: Emphasis): string[] {
    const { scene } = this;
    const { accent, paper } = scene.palette;
    const isByColumn = scene.look.coloring.legend.type !== "weight";
    const dots = [...near]
      .reverse()
      .map((entry) => this.dot(entry, scene.color(entry), LEAST_NEAR));
    for (const entry of chosen) {
      const halo = haloRadius(scene, entry, this.camera);
      dots.push(this.shape(entry, halo, `fill="${accent}" fill-opacity="0.28" stroke="none"`));
      dots.push(this.dot(entry, isByColumn ? scene.color(entry) : accent, LEAST_CHOSEN));
    }
    return [`<g stroke="${paper}" paint-order="stroke">`, ...dots, "</g>"];
  }

  names(names: ShownName[]): string[] {
    const { scene } = this;
    const lettering = scene.look.type.region;
    const { size, weight } = lettering;
    return names.map(({ text, x, y, width, height, opacity }) => {
      const spacing = spacingOf(text, lettering);
      const look =
        `font-size="${size}" font-weight="${weight}" fill="${labelColor(scene, "region")}" ` +
        `letter-spacing="${spacing}" opacity="${round(opacity)}"`;
      return this.text(text, x + (width + spacing) / 2, baseline({ y, height }), look);
    });
  }

  labels(labels: ShownLabel[]): string[] {
    const { scene } = this;
    const small = labels.filter(
      ({ entry, style }) => isPlain(style) && this.radius(entry) < LEAST_LABELLED,
    );
    const dots = small.map(({ entry }) => this.dot(entry, scene.color(entry), LEAST_LABELLED));
    const texts = labels.map((label) => {
      const { size, weight } = scene.look.type[label.style];
      const fill = scene.tint(label.entry) || labelColor(scene, label.style);
      const look = `font-size="${size}" font-weight="${weight}" fill="${fill}"`;
      return this.text(label.text, label.x + label.width / 2, baseline(label), look);
    });
    const { paper, muted, accent } = scene.palette;
    const joints = labels.flatMap(({ leader, arrow, style }) => {
      if (arrow) {
        const corners = ARROW.map((corner) => corner.join(",")).join(" ");
        const at = `translate(${round(arrow.x)} ${round(arrow.y)}) rotate(${round((180 / Math.PI) * arrow.angle)})`;
        return [
          `<polygon points="${corners}" transform="${at}" fill="${style === "chosen" ? accent : muted}"/>`,
        ];
      }
      if (!leader) return [];
      const line = `d="M${leader.map((end) => end.map(round).join(" ")).join("L")}"`;
      return [
        `<path ${line} stroke="${paper}" stroke-width="3"/>`,
        `<path ${line} stroke="${muted}"/>`,
      ];
    });
    return [`<g stroke="${paper}" paint-order="stroke">`, ...dots, "</g>", ...joints, ...texts];
  }

  private text(text: string, x: number, y: number, look: string): string {
    return (
      `<text x="${round(x)}" y="${round(y)}" text-anchor="middle" ${look} ` +
      `stroke="${this.scene.palette.paper}" stroke-width="3" stroke-linejoin="round" ` +
      `paint-order="stroke">${escaped(text)}</text>`
    );
  }

  private dot(entry: number, color: string, least: number): string {
    const radius = Math.max(least, this.radius(entry));
    // A stroke lies half within the shape, where the fill covers it.
    const look = `fill="${color}" stroke-width="${(2 * rim(radius)).toFixed(2)}"`;
    return this.shape(entry, radius, look);
  }

  private shape(entry: number, radius: number, look: string): string {
    const [x, y] = this.point(entry);
    if (this.scene.shape(entry) !== DIAMOND) {
      return `<circle cx="${round(x)}" cy="${round(y)}" r="${radius.toFixed(2)}" ${look}/>`;
    }
    const reach = radius * DIAMOND_REACH;
    const corners = [
      [x + reach, y],
      [x, y + reach],
      [x - reach, y],
      [x, y - reach],
    ];
    const points = corners.map((corner) => corner.map(round).join(",")).join(" ");
    return `<polygon points="${points}" ${look}/>`;
  }

  private radius(entry: number): number {
    return this.scene.dotRadius(entry, this.camera.zoom);
  }

  private point(entry: number): Point {
    return entryOnScreen(this.scene.map.points, entry, this.camera, this.size);
  }

  private isOn(entry: number): boolean {
    const [x, y] = this.point(entry);
    const reach = 2 * this.radius(entry) + 10;
    const { width, height } = this.size;
    return x > -reach && y > -reach && x < width + reach && y < height + reach;
  }
}
