/** Positions of the labels of emphasized dots: next to the dot, at the end of a leader, or at the rim.
 *
 * One after the other, each label takes the free place that costs least, in units of its height:
 *
 *     beside    rank / 20
 *     leader    1 + length, and CROSSING for each label, dot or leader that it crosses
 *     rim       a quarter of each step along the rim, and RIM_ROW in a second row
 *     less STAYING for the place where the label was before
 *
 * Labels without a place choose first in the next round.
 */

import type { Size } from "./camera.ts";
import { boxAt, isWithin, meet, type Point, type ScreenBox } from "./label_boxes.ts";

export interface Anchor {
  x: number;
  y: number;
  radius: number;
  /** The box of the dot, which no other label may cover. */
  dot: ScreenBox;
  width: number;
  height: number;
  /** `Callout.way` of the place of the label before. */
  before?: number | undefined;
}

export interface Callout {
  box: ScreenBox;
  /** From the rim of the dot to the label. */
  leader: Segment | null;
  arrow: Arrow | null;
  way: number;
}

/** An arrow at the rim of a picture, and the direction in which it points. */
export interface Arrow {
  x: number;
  y: number;
  angle: number;
}

interface Rules {
  size: Size;
  covers?: readonly ScreenBox[];
}

type Offer = Callout & { cost: number };

const GAPS = [2, 6];
/** Above, below, right, left, then the corners: the middle of a box, in half boxes from the dot. */
export const WAYS: Point[] = [
  [0, -1],
  [0, 1],
  [1, 0],
  [-1, 0],
  [1, -1],
  [-1, -1],
  [1, 1],
  [-1, 1],
];
const N_BESIDE = GAPS.length * WAYS.length;
const LENGTHS = [0.8, 1.5, 2.4, 3.6, 5.2, 7.5];
const DIRECTIONS = 16;
const RIM_STEPS = 30;
/** At a narrow picture's upper or lower rim, a second row has room for what the first has not. */
const RIM_ROW = 3;
const CROSSING = 4;
const STAYING = 0.6;
const ROUNDS = 3;
/** So far from the edge of a picture the arrows stand, and their labels from them. */
const EDGE = 8;
const MARGIN = 2;

/** A place for each label, the first ones first; null for a label that finds none. */
export function placeAll(anchors: readonly Anchor[], rules: Rules): (Callout | null)[] {
  let order = [...anchors.keys()];
  let best: (Callout | null)[] = [];
  let fewest = Number.POSITIVE_INFINITY;
  for (let round = 0; round < ROUNDS && fewest > 0; round++) {
    const found = inOrder(anchors, order, rules);
    const lost = order.filter((i) => !found[i]);
    if (lost.length < fewest) [best, fewest] = [found, lost.length];
    order = [...lost, ...order.filter((i) => found[i])];
  }
  return best;
}

export function isBeyond([x, y]: Point, { width, height }: Size): boolean {
  return x < 0 || y < 0 || x > width || y > height;
}

function inOrder(anchors: readonly Anchor[], order: number[], rules: Rules): (Callout | null)[] {
  const found: (Callout | null)[] = anchors.map(() => null);
  const taken: Callout[] = [];
  for (const i of order) {
    const others = anchors.flatMap(({ dot }, k) => (k === i ? [] : [dot]));
    const solid = [...(rules.covers ?? []), ...others, ...taken.map(({ box }) => box)];
    const isFree = (box: ScreenBox) => !solid.some((other) => meet(other, box));
    let best: Offer | null = null;
    for (const offer of offers(anchors[i], rules)) {
      const { box, arrow } = offer;
      if (best && offer.cost >= best.cost) continue;
      if (!isWithin(box, rules.size, MARGIN) || !isFree(box)) continue;
      if (arrow && !isFree(around(arrow))) continue;
      offer.cost += CROSSING * crossings(offer, taken, solid);
      if (!best || offer.cost < best.cost) best = offer;
    }
    found[i] = best;
    if (best) taken.push(best);
  }
  return found;
}

/** How many leaders the place crosses, and how many labels and dots its own leader does. */
function crossings({ box, leader }: Offer, taken: Callout[], solid: ScreenBox[]): number {
  const isCrossed = ({ leader: other }: Callout) =>
    other && (hits(other, box) || (leader && cross(leader, other)));
  const isHit = (other: ScreenBox) => leader && hits(leader, other);
  return taken.filter(isCrossed).length + solid.filter(isHit).length;
}

function offers(anchor: Anchor, rules: Rules): Offer[] {
  const isOutside = isBeyond([anchor.x, anchor.y], rules.size);
  const all = isOutside ? atRim(anchor, rules) : [...beside(anchor), ...onLeaders(anchor)];
  for (const offer of all) if (offer.way === anchor.before) offer.cost -= STAYING;
  return all.sort((a, b) => a.cost - b.cost);
}

function beside({ x, y, radius, width, height }: Anchor): Offer[] {
  const boxes = GAPS.flatMap((gap) =>
    WAYS.map(([right, down]) => {
      const reach = (right && down ? 0.6 : 1) * radius + gap;
      return boxAt(x + right * (reach + width / 2), y + down * (reach + height / 2), width, height);
    }),
  );
  return boxes.map((box, way) => ({ box, leader: null, arrow: null, way, cost: way / 20 }));
}

function onLeaders({ x, y, radius, width, height }: Anchor): Offer[] {
  return LENGTHS.flatMap((length, ring) =>
    Array.from({ length: DIRECTIONS }, (_, k) => {
      const angle = (2 * Math.PI * k) / DIRECTIONS;
      const [right, down] = [Math.cos(angle), Math.sin(angle)];
      const reach = radius + length * height;
      // The box touches the end of the line with the side or corner that is turned to the dot.
      const side = (share: number) => Math.sign(Math.round(2 * share)) / 2;
      const tip: Point = [x + right * reach, y + down * reach];
      return {
        box: boxAt(tip[0] + side(right) * width, tip[1] + side(down) * height, width, height),
        leader: [[x + right * (radius + 1), y + down * (radius + 1)], tip] as const,
        arrow: null,
        way: N_BESIDE + ring * DIRECTIONS + k,
        cost: 1 + length,
      };
    }),
  );
}

/** Places along the rim, from where the way to the dot leaves the picture; inside of what covers it. */
function atRim({ x, y, width, height }: Anchor, { size, covers = [] }: Rules): Offer[] {
  const [middleX, middleY] = [size.width / 2, size.height / 2];
  const [halfX, halfY] = [Math.max(1, middleX - EDGE), Math.max(1, middleY - EDGE)];
  const [right, down] = [x - middleX, y - middleY];
  const share = Math.min(halfX / Math.abs(right || 1e-9), halfY / Math.abs(down || 1e-9));
  const isSide = share * Math.abs(right) > halfX - 0.5;
  const perRow = 2 * RIM_STEPS + 1;
  return Array.from({ length: isSide ? perRow : 2 * perRow }, (_, way) => {
    const row = Math.floor(way / perRow);
    const step = ((way % perRow) % 2 ? 1 : -1) * Math.ceil((way % perRow) / 2);
    const along = step * (isSide ? height : 0.5 * width);
    let arrowX = clamp(middleX + right * share + (isSide ? 0 : along), EDGE, size.width - EDGE);
    let arrowY = clamp(middleY + down * share + (isSide ? along : 0), EDGE, size.height - EDGE);
    const cover = covers.find((box) => meet(box, around({ x: arrowX, y: arrowY })));
    if (cover && isSide) arrowX = right > 0 ? cover.left - EDGE : cover.right + EDGE;
    else if (cover) arrowY = down > 0 ? cover.top - EDGE : cover.bottom + EDGE;
    const inward = isSide ? EDGE - 1 + width / 2 : EDGE - 2 + (row + 0.5) * height;
    const boxX = isSide
      ? arrowX - Math.sign(right) * inward
      : clamp(arrowX, MARGIN + width / 2, size.width - MARGIN - width / 2);
    const boxY = isSide
      ? clamp(arrowY, MARGIN + height / 2, size.height - MARGIN - height / 2)
      : arrowY - Math.sign(down) * inward;
    const angle = Math.atan2(y - arrowY, x - arrowX);
    const arrow = { x: arrowX, y: arrowY, angle };
    const cost = Math.abs(step) / 4 + RIM_ROW * row;
    return { box: boxAt(boxX, boxY, width, height), leader: null, arrow, way: -1 - way, cost };
  });
}

function clamp(value: number, least: number, most: number): number {
  return Math.max(least, Math.min(value, most));
}

function around({ x, y }: { x: number; y: number }): ScreenBox {
  return boxAt(x, y, 10, 10);
}

export type Segment = readonly [Point, Point];

/** Whether a segment has a point within a box. */
export function hits([[fromX, fromY], [toX, toY]]: Segment, box: ScreenBox): boolean {
  let [start, end] = [0, 1];
  for (const [from, way, low, high] of [
    [fromX, toX - fromX, box.left, box.right],
    [fromY, toY - fromY, box.top, box.bottom],
  ] as const) {
    if (way === 0) {
      if (from <= low || from >= high) return false;
      continue;
    }
    const [a, b] = [(low - from) / way, (high - from) / way];
    start = Math.max(start, Math.min(a, b));
    end = Math.min(end, Math.max(a, b));
  }
  return start < end;
}

function cross([a, b]: Segment, [c, d]: Segment): boolean {
  const side = ([x, y]: Point, [fromX, fromY]: Point, [toX, toY]: Point) =>
    Math.sign((toX - fromX) * (y - fromY) - (toY - fromY) * (x - fromX));
  return side(c, a, b) !== side(d, a, b) && side(a, c, d) !== side(b, c, d);
}
