/** Points and boxes on the screen, in CSS pixels, y downwards. */

export type Point = readonly [number, number];

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

/** The box of this extent round a point. */
export function boxAt(x: number, y: number, width: number, height: number): ScreenBox {
  return {
    left: x - width / 2,
    top: y - height / 2,
    right: x + width / 2,
    bottom: y + height / 2,
  };
}

/** Whether a box lies within a picture, and keeps so far from its edge. */
export function isWithin(
  { left, top, right, bottom }: ScreenBox,
  { width, height }: { width: number; height: number },
  margin = 0,
): boolean {
  return Math.min(left, top, width - right, height - bottom) >= margin;
}
