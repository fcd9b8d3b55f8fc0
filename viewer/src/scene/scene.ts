/** One map under a look: the entries that are shown, their sizes, their colours and their labels.
 *
 *     dot area = pi R(zoom)^2 map weight x size factor
 *
 * R is such that the dots of the whole map cover INK of the screen, and grows slowly as one zooms in.
 */
import { type Atlas, type AtlasMap, isUnnamed, lives } from "../data/atlas.ts";
import { firstAtLeast, once, pointOf } from "../data/elements.ts";
import type { Segment } from "./callouts.ts";
import { type Camera, fit, type Size, toScreen } from "./camera.ts";
import { type Coloring, PALETTES, type Palette, type Theme } from "./coloring.ts";
import { type Emphasis, EmphasisLabels, NO_EMPHASIS } from "./emphasis.ts";
import { Boxes, type ScreenBox } from "./label_boxes.ts";
import { dotBox, greedyLabels, type ShownLabel } from "./labels.ts";
import {
  type LabelStyle,
  LEADING,
  labelText,
  type Measure,
  measureText,
  PAD,
  type TypeSizes,
} from "./lettering.ts";
import {
  CIRCLE,
  largestFirst,
  type MarkData,
  type Marking,
  markData,
  shapeOf,
  VISIBLE_RADIUS,
} from "./mark_data.ts";
import {
  COUNTED,
  type NamedRegion,
  namedRegions,
  namesAt,
  type ShownName,
  settledRegions,
} from "./regions.ts";
import { type VectorMark, vectorMarks } from "./vectors.ts";

export { type Emphasis, NO_EMPHASIS } from "./emphasis.ts";
export type { ShownLabel } from "./labels.ts";
export type { ShownName } from "./regions.ts";

export interface Look {
  atlas: Atlas;
  theme: Theme;
  coloring: Coloring;
  /** Factor of the dot area of each object. */
  sizes: Float32Array;
  threshold: number;
  /** 1 for each object that filters let pass; null where nothing is filtered. */
  passed: Uint8Array | null;
  type: TypeSizes;
}

/** A scene as a camera sees it on a screen. */
export interface Sight {
  scene: Scene;
  camera: Camera;
  size: Size;
}

const INK = 0.045;
const LEAST_RADIUS = 1.1;
const MOST_RADIUS = 7;
/** The largest dots grow with screens whose shorter side exceeds this number of pixels. */
const WIDE_SCREEN = 1100;
/** Maps with smaller dots than this let them grow faster. */
const SMALL_RADIUS = 2.5;
const MOST_LABELS = 700;
/** How many of a map's visible labels are large, and how many large or middle. */
const N_LARGE = 6;
const N_MIDDLE = 36;
/** Labels that only number the objects show where one is so much nearer than the whole map. */
const NUMBERED = 6;

export interface Letters {
  /** Fitted variables, none on still pictures. */
  vectors?: VectorMark[];
  labels: ShownLabel[];
  names: ShownName[];
}

export class Scene {
  readonly visible: Uint8Array;
  /** Radii relative to that of a share of 1. */
  radii: Float32Array;
  marks: MarkData;
  fitCamera: Camera;
  private unitRadius = 1;
  private marking: Marking;
  private drawingOrder: Uint32Array;
  /** The ranks of the most important entries that are shown. */
  private ranks = new Map<number, number>();
  /** The entries that had labels at the last rest. */
  private labelled: number[] = [];
  private emphasized: EmphasisLabels;
  private texts = new Map<number, string>();
  /** The regions that have names as things are shown now; null where that is to be found out. */
  private named: NamedRegion[] | null = null;

  constructor(
    readonly map: AtlasMap,
    public look: Look,
    public size: Size,
    private measure: Measure = measureText,
  ) {
    this.visible = new Uint8Array(map.objects.length);
    this.radii = this.relativeRadii();
    this.marking = this.newMarking();
    this.drawingOrder = largestFirst(this.radii);
    this.marks = this.newMarks();
    this.emphasized = new EmphasisLabels(this, NO_EMPHASIS);
    this.fitCamera = fit(map.view, size);
    this.resize(size);
  }

  get palette(): Palette {
    return PALETTES[this.look.theme];
  }

  setLook(look: Look): void {
    const resized = look.sizes !== this.look.sizes;
    this.look = look;
    if (resized) {
      this.radii = this.relativeRadii();
      this.drawingOrder = largestFirst(this.radii);
      this.resize(this.size);
    }
    this.marking = this.newMarking();
    this.marks = this.newMarks();
  }

  /** Says how large the screen is on which the map is to fit. */
  resize(size: Size): void {
    this.size = size;
    this.named = null;
    this.fitCamera = fit(this.map.view, size);
    const { objects, weights } = this.map;
    const { atlas, sizes } = this.look;
    let total = 0;
    for (let entry = 0; entry < objects.length; entry++) {
      const weight = weights[entry];
      if (!lives(weight, atlas.minWeight)) continue;
      total += weight * sizes[objects[entry]];
    }
    const area = (INK * size.width * size.height) / Math.max(total, 1e-9);
    const side = Math.min(size.width, size.height);
    const most = Math.min(MOST_RADIUS * Math.max(1, side / WIDE_SCREEN), 2.4 + side / 140);
    this.unitRadius = Math.min(most, Math.max(LEAST_RADIUS, Math.sqrt(area / Math.PI)));
  }

  /** The radius in CSS pixels of a share of 1 (and size factor 1) at a zoom. */
  radius(zoom: number): number {
    const isSmall = this.unitRadius < SMALL_RADIUS;
    const growth = (zoom / this.fitCamera.zoom) ** (isSmall ? 0.4 : 0.25);
    const most = isSmall ? 5 / this.unitRadius : 2;
    return this.unitRadius * Math.min(most, Math.max(0.7, growth));
  }

  /** The radius in CSS pixels of an entry's dot at a zoom. */
  dotRadius(entry: number, zoom: number): number {
    return Math.max(VISIBLE_RADIUS, this.radii[entry] * this.radius(zoom));
  }

  shape(entry: number): number {
    return this.marking.shapes[entry];
  }

  /** The colour of an entry that stands out, where it has one of its own. */
  tint(entry: number): string | undefined {
    return this.emphasized.emphasis.tints?.get(entry);
  }

  color(entry: number): string {
    const tint = this.tint(entry);
    if (tint) return tint;
    const part = (c: number) => this.marking.colors[4 * entry + c];
    return `#${((1 << 24) | (part(0) << 16) | (part(1) << 8) | part(2)).toString(16).slice(1)}`;
  }

  /** The text of an entry's label, on one line and not too long; empty where it has none. */
  text(entry: number, longest?: number): string {
    const { labels } = this.look.atlas;
    const label = () => labels[this.map.objects[entry]];
    if (longest !== undefined) return labelText(label(), labels, longest);
    return once(this.texts, entry, () => labelText(label(), labels));
  }

  visibleEntries(): Uint32Array {
    return this.map.order.filter((entry) => this.visible[entry]);
  }

  setEmphasis(emphasis: Emphasis): void {
    if (emphasis === this.emphasized.emphasis) return;
    this.emphasized = new EmphasisLabels(this, emphasis);
  }

  /** The labels of what stands out, clear of what covers the picture; the most important first. */
  emphasizedLabels(camera: Camera, size: Size, covers: readonly ScreenBox[] = []): ShownLabel[] {
    return this.emphasized.at(camera, size, covers);
  }

  /** The labels and names on a screen, and where; labels that matter most last. */
  letters(
    camera: Camera,
    size: Size,
    others: readonly ScreenBox[] = [],
    isMoving = false,
  ): Letters {
    const nameSize = (name: string) => this.textSize(name, "near");
    const counted = this.map.vectors.length ? this.visibleEntries().subarray(0, COUNTED) : [];
    const points = Array.from(counted, (entry) => dotAt({ scene: this, camera, size }, entry));
    const vectors = vectorMarks(this.map.vectors, camera, size, nameSize, points);
    const covers = [...others, ...vectors.map(({ box }) => box)];
    const first = this.emphasizedLabels(camera, size, covers);
    const { chosen, near } = this.emphasized.emphasis;
    const taken = new Set([...chosen, ...near]);
    const dots = [...taken].map((entry) => this.dotBox(entry, camera, size));
    const leaders = first.flatMap(({ leader }) => (leader ? [boxRound(leader)] : []));
    const solid = [...covers, ...first.map(boxOf), ...leaders];
    const { names, words } = this.names(camera, size, [...solid, ...dots]);
    const isFar = camera.zoom < NUMBERED * this.fitCamera.zoom;
    const isBare = isFar && names.length > 0 && this.look.atlas.numbered.every(Boolean);
    const more = isBare
      ? []
      : greedyLabels(
          this,
          { camera, size },
          this.candidates(taken, isMoving),
          { solid: new Boxes([...solid, ...names.map(boxOf)]), dots: new Boxes(dots) },
          MOST_LABELS,
          (text) => words.has(text),
        );
    if (!isMoving) this.labelled = more.map(({ entry }) => entry);
    return { labels: [...more.reverse(), ...first.reverse()], names, vectors };
  }

  fewLabels(camera: Camera, size: Size, most: number): ShownLabel[] {
    const room = { solid: new Boxes(), dots: new Boxes() };
    const entries = this.candidates(new Set(), false);
    return greedyLabels(this, { camera, size }, entries, room, most, () => false).reverse();
  }

  private isUnnamed(entry: number): boolean {
    return isUnnamed(this.look.atlas, this.map.objects[entry]);
  }

  private *candidates(taken: ReadonlySet<number>, isMoving: boolean): Iterable<number> {
    for (const entry of isMoving ? this.labelled : this.map.order) {
      if (this.visible[entry] && !taken.has(entry) && !this.isUnnamed(entry)) yield entry;
    }
  }

  /** The names of regions that are shown, clear of what is taken. */
  names(camera: Camera, size: Size, taken: readonly ScreenBox[]): ReturnType<typeof namesAt> {
    const { atlas, coloring } = this.look;
    const textSize = (text: string) => this.textSize(text, "region");
    this.named ??= settledRegions(
      namedRegions(atlas, this.map, coloring, this.palette, this.visible),
      this.map,
      this.fitCamera,
      this.size,
      textSize,
    );
    const sight = { camera, size, whole: this.fitCamera.zoom };
    return namesAt(this.named, sight, textSize, taken);
  }

  textSize(text: string, style: LabelStyle): { width: number; height: number } {
    const lettering = this.look.type[style];
    return { width: this.measure(text, lettering) + 2 * PAD, height: lettering.size * LEADING };
  }

  style(entry: number): LabelStyle {
    const rank = this.ranks.get(entry) ?? N_MIDDLE;
    if (rank < N_LARGE) return "large";
    return rank < N_MIDDLE ? "middle" : "small";
  }

  private dotBox(entry: number, camera: Camera, size: Size): ScreenBox {
    const point = dotAt({ scene: this, camera, size }, entry);
    return dotBox(...point, this.dotRadius(entry, camera.zoom));
  }

  private relativeRadii(): Float32Array {
    const { objects, weights } = this.map;
    const { sizes } = this.look;
    return weights.map((weight, entry) => Math.sqrt(weight * sizes[objects[entry]]));
  }

  private newMarking(): Marking {
    const { objects, points } = this.map;
    const { atlas, coloring } = this.look;
    const shapes = new Uint8Array(objects.length).fill(CIRCLE);
    atlas.kinds?.forEach((kind, k, kinds) => {
      shapes.fill(shapeOf(kind, kinds), firstAtLeast(objects, atlas.starts[k]));
    });
    return { points, radii: this.radii, colors: coloring.colors(this.map), shapes };
  }

  private newMarks(): MarkData {
    const { objects, weights } = this.map;
    const { threshold, passed } = this.look;
    this.named = null;
    for (let entry = 0; entry < objects.length; entry++) {
      const isThere = lives(weights[entry], threshold);
      this.visible[entry] = isThere && passed?.[objects[entry]] !== 0 ? 1 : 0;
    }
    const first = this.visibleEntries().subarray(0, N_MIDDLE);
    this.ranks = new Map(Array.from(first, (entry, rank) => [entry, rank]));
    return markData(this.marking, this.drawingOrder, this.visible);
  }
}

/** How much nearer than the whole map one may look. */
export const FARTHEST = 4000;

export function boxOf({ x, y, width, height }: ShownLabel | ShownName): ScreenBox {
  return { left: x, top: y, right: x + width, bottom: y + height };
}

export function dotAt({ scene, camera, size }: Sight, entry: number): [number, number] {
  return toScreen(camera, size, ...pointOf(scene.map.points, entry));
}

function boxRound([[x, y], [toX, toY]]: Segment): ScreenBox {
  const [left, right] = [Math.min(x, toX), Math.max(x, toX)];
  const [top, bottom] = [Math.min(y, toY), Math.max(y, toY)];
  return { left, top, right: right + 1, bottom: bottom + 1 };
}
