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

/** How many points lie within a box. */
export function countIn(points: readonly Point[], { left, top, right, bottom }: ScreenBox): number {
  return points.filter(([x, y]) => x > left && x < right && y > top && y < bottom).length;
}

const CELL = 64;

/** Boxes in a grid of cells, so that few are compared with another one. */
export class Boxes {
  private cells = new Map<number, ScreenBox[]>();

  constructor(boxes: readonly ScreenBox[] = []) {
    for (const box of boxes) this.add(box);
  }

  add(box: ScreenBox): void {
    for (const cell of cellsOf(box)) {
      const there = this.cells.get(cell);
      if (there) there.push(box);
      else this.cells.set(cell, [box]);
    }
  }

  meets(box: ScreenBox): boolean {
    for (const cell of cellsOf(box)) {
      if (this.cells.get(cell)?.some((other) => meet(box, other))) return true;
    }
    return false;
  }
}

function cellsOf({ left, top, right, bottom }: ScreenBox): number[] {
  const cells: number[] = [];
  for (let column = Math.floor(left / CELL); column * CELL < right; column++) {
    for (let row = Math.floor(top / CELL); row * CELL < bottom; row++) {
      cells.push(column * 4096 + row);
    }
  }
  return cells;
}
