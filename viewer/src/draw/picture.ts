/** One picture of a map on one canvas: paper, dots, halos, labels. */
import type { ScreenBox } from "../scene/label_boxes.ts";
import { fontOf, type LabelStyle, LEADING } from "../scene/lettering.ts";
import {
  boxOf,
  type Emphasis,
  type Letters,
  NO_EMPHASIS,
  type Scene,
  type Sight,
} from "../scene/scene.ts";
import { sharedMarks } from "./marks.ts";
import { type Brush, type Context, Pen, prepare } from "./pen.ts";

/** The view of a map and all marks on its picture except dots. */
export interface Picture extends Sight {
  emphasis?: Emphasis;
  selection?: ReadonlySet<number>;
  /** The boxes over the map on the screen, under which no labels stand. */
  covers?: readonly ScreenBox[];
  /** How many labels a still picture has at most; otherwise all that have room. */
  mostLabels?: number;
}

export function drawPicture(
  canvas: HTMLCanvasElement,
  picture: Picture,
  ratio: number,
): Letters | null {
  const context = prepare(canvas, picture.size, ratio);
  if (!context) return null;
  picture.scene.setEmphasis(picture.emphasis ?? NO_EMPHASIS);
  drawGround(context, picture, ratio);
  const letters = lettersOf(picture);
  drawLetters(context, picture, letters);
  return letters;
}

export function drawGround(context: Context, picture: Picture, ratio: number): void {
  sharedMarks().paint(context, picture, ratio);
  drawOver(new Pen(context, picture), picture);
}

/** Rings and halos: above the dots and below the labels. */
export function drawOver(pen: Pen, { selection, emphasis }: Picture): void {
  if (selection?.size) pen.ring(selection);
  pen.emphasize(emphasis ?? NO_EMPHASIS);
}

function labelColor(scene: Scene, style: LabelStyle): string {
  const { accent, ink, faint } = scene.palette;
  if (style === "chosen") return accent;
  return style === "small" ? faint : ink;
}

/** The colour of an arrow, or of the centroid of a category that has a colour. */
function vectorColor({ look, palette }: Scene, name: string): string {
  const { legend } = look.coloring;
  const items = legend.type === "category" ? legend.items : [];
  const own = items.find(({ label }) => name.endsWith(`: ${label}`));
  return own?.color ?? palette.categories[0];
}

/** Writes names and labels, each on a thin halo of paper, with what joins labels to their dots. */
export function drawLetters(
  context: Brush,
  picture: Picture,
  { labels, names, vectors = [] }: Letters,
  newOpacity = 1,
): void {
  const { scene } = picture;
  const pen = new Pen(context, picture);
  for (const vector of vectors) pen.vector(vector, vectorColor(scene, vector.name));
  for (const label of labels) pen.labelled(label);
  for (const label of labels) pen.callout(label);
  context.textAlign = "center";
  context.textBaseline = "alphabetic";
  context.lineJoin = "round";
  context.strokeStyle = scene.palette.paper;
  for (const { text, color, x, y, width, height, opacity } of names) {
    context.font = fontOf(scene.look.type.region);
    context.fillStyle = color;
    context.globalAlpha = opacity;
    write(context, text, x + width / 2, baseline({ y, height }), 5);
  }
  context.globalAlpha = 1;
  context.font = fontOf(scene.look.type.near);
  context.fillStyle = scene.palette.ink;
  for (const { name, box } of vectors) {
    const height = box.bottom - box.top;
    write(context, name, (box.left + box.right) / 2, baseline({ y: box.top, height }), 4);
  }
  let style: LabelStyle | null = null;
  for (const label of labels) {
    if (label.style !== style) {
      style = label.style;
      context.font = fontOf(scene.look.type[style]);
    }
    context.fillStyle = scene.tint(label.entry) || labelColor(scene, style);
    context.globalAlpha = label.isNew ? newOpacity : 1;
    write(context, label.text, label.x + label.width / 2, baseline(label), 3);
  }
}

function write(context: Brush, text: string, x: number, y: number, halo: number): void {
  context.lineWidth = halo;
  context.strokeText(text, x, y);
  context.fillText(text, x, y);
}

/** Where the letters of a label stand. */
function baseline({ y, height }: { y: number; height: number }): number {
  // Half of the x-height and half of the ascenders lie above the middle of a line of text.
  return y + height / 2 + (0.34 * height) / LEADING;
}

/** The texts of a picture; the scene knows what it emphasizes. */
export function lettersOf(picture: Picture, isMoving = false): Letters {
  const { scene, camera, size, covers, mostLabels } = picture;
  if (mostLabels === undefined) return scene.letters(camera, size, covers, isMoving);
  const first = scene.emphasizedLabels(camera, size);
  const { names } = scene.names(camera, size, first.map(boxOf));
  if (first.length + names.length > 0) return { labels: first.reverse(), names };
  return { labels: scene.fewLabels(camera, size, mostLabels), names };
}
