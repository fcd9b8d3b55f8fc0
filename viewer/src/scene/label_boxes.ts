/**
 * Boxes on the screen, and labels that choose a place round their dots for one still picture.
 *
 * Boxes are left, top, right, bottom in CSS pixels, y downwards. The labels of a map that is zoomed
 * stand above their dots instead, by the rule of `labels.ts`.
 */

export interface ScreenBox {
  left: number;
  top: number;
  right: number;
  bottom: number;
}

/** Whether two boxes have an inner point in common. */
export function meet(a: ScreenBox, b: ScreenBox): boolean {
  return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
}

export interface Candidate {
  /** The dot. */
  x: number;
  y: number;
  radius: number;
  /** The label's box. */
  width: number;
  height: number;
  /** Its own dot, where that is one of `dots`: it may be covered by a halo, not by other labels. */
  dot: ScreenBox | null;
}

/** Free pixels between dot and label: next to it, or farther off where there is no room. */
const GAPS = [1, 6];
/** Above, below, right, left, then the corners: the middle of a box, in half boxes from the dot. */
const WAYS: [number, number][] = [
  [0, -1],
  [0, 1],
  [1, 0],
  [-1, 0],
  [1, -1],
  [-1, -1],
  [1, 1],
  [-1, 1],
];

/**
 * A free place for each label, the first ones first; null for a label that finds none.
 *
 * No label meets another, leaves the picture or covers one of `dots`, which hold the dots of the
 * labels that matter.
 */
export function placeAround(
  candidates: Candidate[],
  size: { width: number; height: number },
  dots: ScreenBox[],
  most: number,
): (ScreenBox | null)[] {
  const taken: ScreenBox[] = [];
  return candidates.map((candidate) => {
    if (taken.length >= most) return null;
    const places = GAPS.flatMap((gap) => WAYS.map((way) => placed(candidate, way, gap)));
    const box =
      places.find(
        (place) =>
          isInside(place, size) &&
          !taken.some((other) => meet(place, other)) &&
          !dots.some((dot) => dot !== candidate.dot && meet(place, dot)),
      ) ?? null;
    if (box) taken.push(box);
    return box;
  });
}

function isInside(box: ScreenBox, { width, height }: { width: number; height: number }): boolean {
  return box.left >= 0 && box.top >= 0 && box.right <= width && box.bottom <= height;
}

function placed(dot: Candidate, [right, down]: [number, number], gap: number): ScreenBox {
  const corner = right !== 0 && down !== 0;
  const reach = (corner ? 0.6 : 1) * dot.radius + gap;
  const x = dot.x + right * (reach + dot.width / 2);
  const y = dot.y + down * (reach + dot.height / 2);
  return {
    left: x - dot.width / 2,
    top: y - dot.height / 2,
    right: x + dot.width / 2,
    bottom: y + dot.height / 2,
  };
}
