/** The letters of the labels: the font, the sizes, the text as it is shown, its measured width. */

import { once } from "../data/elements.ts";
import { cutLabel } from "../data/words.ts";

/** The fonts that the labels ask for, the same on every canvas and in SVG. */
export const LABEL_FONT =
  '"Source Sans 3", "Source Sans Pro", Inter, "Open Sans", "Noto Sans", "Helvetica Neue", ' +
  '"Segoe UI", Arial, "DejaVu Sans", sans-serif';

/** What a label is: one of a few great names, the name of a region, chosen, or near what is chosen. */
export type LabelStyle = "large" | "middle" | "small" | "region" | "near" | "tight" | "chosen";

export interface Lettering {
  size: number;
  weight: number;
}

export type TypeSizes = Record<LabelStyle, Lettering>;

export const PAGE_TYPE: TypeSizes = {
  large: { size: 17, weight: 600 },
  middle: { size: 14, weight: 400 },
  small: { size: 12, weight: 400 },
  region: { size: 16, weight: 600 },
  near: { size: 14, weight: 600 },
  tight: { size: 12, weight: 600 },
  chosen: { size: 17, weight: 600 },
};

export const PICTURE_TYPE: TypeSizes = {
  large: { size: 12, weight: 600 },
  middle: { size: 11, weight: 400 },
  small: { size: 10.5, weight: 400 },
  region: { size: 11.5, weight: 600 },
  near: { size: 12, weight: 400 },
  tight: { size: 10, weight: 400 },
  chosen: { size: 14, weight: 600 },
};

/** Letters have their own size on screens whose shorter side is this long. */
const USUAL_SIDE = 800;
const LEAST_SCALE = 0.95;
const MOST_SCALE = 1.45;

export function screenScale({ width, height }: { width: number; height: number }): number {
  const suited = 0.65 + (0.35 * Math.min(width, height)) / USUAL_SIDE;
  return Math.round(Math.min(MOST_SCALE, Math.max(LEAST_SCALE, suited)) * 20) / 20;
}

/** The same sizes, all larger or smaller, to half a pixel. */
export function scaledType(type: TypeSizes, scale: number): TypeSizes {
  const scaled = Object.entries(type).map(([style, lettering]) => [
    style,
    { ...lettering, size: Math.round(2 * scale * lettering.size) / 2 },
  ]);
  return Object.fromEntries(scaled) as TypeSizes;
}

export const LEADING = 1.25;
export const PAD = 3;
const LONGEST = 28;

export function fontOf({ size, weight }: Lettering): string {
  return `${weight} ${size}px ${LABEL_FONT}`;
}

/** One of some labels on one line, at most 28 characters (as a reader counts them) long, or fewer. */
export const labelText = (label: string, labels: readonly string[] = [], longest = LONGEST) =>
  cutLabel(labels, label, longest);

export type Measure = (text: string, lettering: Lettering) => number;

const widths = new Map<string, number>();
let ruler: OffscreenCanvasRenderingContext2D | null = null;

/** The width of a text as the canvas will write it. */
export const measureText: Measure = (text, lettering) => {
  const font = fontOf(lettering);
  return once(widths, `${font} ${text}`, () => {
    ruler ??= new OffscreenCanvas(1, 1).getContext("2d");
    if (!ruler) throw new Error("this browser has no 2D canvas");
    ruler.font = font;
    return ruler.measureText(text).width;
  });
};
