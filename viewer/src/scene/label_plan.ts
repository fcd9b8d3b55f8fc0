/**
 * From which zoom on each label of a map is shown, in order of importance.
 *
 * A label stands above its dot. Its box for the rule of `labels.ts` reaches from its upper edge down
 * to the lower edge of the dot, so that no label covers the dot of another one, and all boxes have their
 * middle at one height above their dots, so that the rule holds. Within its box a label stands nearer
 * to a small dot than to a large one. As dots grow with the zoom, all labels rise together.
 */
import { LabelRanges } from "./labels.ts";
import { type LabelStyle, LEADING, type Lettering, type TypeSizes } from "./lettering.ts";

/** How many of a map's visible labels are large, and how many large or middle. */
const N_LARGE = 6;
const N_MIDDLE = 36;
/** The heights of boxes are reckoned for dots where a share of 1 has this radius. */
const USUAL_RADIUS = 5;
/** The relative radius whose label stands at the common offset. */
const USUAL_SHARE = 0.7;
const USUAL_HEIGHT = 16;
const GAP = 10;
/** Boxes reach so many pixels below the middle of the dot. */
const BELOW = USUAL_SHARE * USUAL_RADIUS;
/** The middle of every box lies so many pixels above that of its dot. */
const BOX_MIDDLE = (USUAL_SHARE * USUAL_RADIUS + GAP + 15 / 2 - BELOW) / 2;

/** The part of a scene that a plan uses. */
interface LabelSource {
  map: { points: Float32Array };
  look: { type: TypeSizes };
  /** Relative radii of the entries. */
  radii: Float32Array;
  /** The text of an entry's label; empty where it has none. */
  text(entry: number): string;
  textSize(text: string, style: LabelStyle): { width: number; height: number };
}

/** How far above its dot the middle of a label stands, where a share of 1 has this radius. */
export function lift(radius: number, share: number, lettering: Lettering): number {
  const own = Math.min(4, Math.max(-3, USUAL_RADIUS * (share - USUAL_SHARE)));
  return USUAL_SHARE * radius + GAP + own + (lettering.size * LEADING - USUAL_HEIGHT) / 2;
}

/** Width and height of the box that the label of an entry needs; null where it has none. */
function box(source: LabelSource, entry: number, style: LabelStyle): [number, number] | null {
  const text = source.text(entry);
  if (!text) return null;
  const { width, height } = source.textSize(text, style);
  const radius = source.radii[entry];
  const top = lift(USUAL_RADIUS, radius, source.look.type[style]) + height / 2;
  return [width, 2 * Math.max(top - BOX_MIDDLE, BOX_MIDDLE + BELOW)];
}

/** The labels of the visible entries of a map. */
export class LabelPlan {
  readonly ranges: LabelRanges;
  private ranks: Uint32Array;

  constructor(
    source: LabelSource,
    readonly order: Uint32Array,
    zooms: { minZoom: number; maxZoom: number },
  ) {
    this.ranks = new Uint32Array(source.radii.length);
    for (const [rank, entry] of order.entries()) this.ranks[entry] = rank;
    const measure = (entry: number) => box(source, entry, this.style(entry));
    this.ranges = new LabelRanges(source.map.points, order, measure, zooms);
  }

  style(entry: number): LabelStyle {
    const rank = this.ranks[entry];
    if (rank < N_LARGE) return "large";
    return rank < N_MIDDLE ? "middle" : "small";
  }
}
