/** Letters that suit the screen: smaller ones on a phone, larger ones on a wall. */
import type { Size } from "../scene/camera.ts";
import { scaledType, type TypeSizes } from "../scene/lettering.ts";

/** Letters have their own size on screens whose shorter side is this long. */
const USUAL_SIDE = 800;
const LEAST_SCALE = 0.95;
const MOST_SCALE = 1.45;

export class ScreenType {
  private known: { from: TypeSizes; scale: number; type: TypeSizes } | null = null;

  /** The letters for a screen: the same object while they are the same, so that no label moves. */
  of(type: TypeSizes, { width, height }: Size): TypeSizes {
    const share = Math.min(width, height) / USUAL_SIDE;
    const suited = Math.min(MOST_SCALE, Math.max(LEAST_SCALE, 0.65 + 0.35 * share));
    const scale = Math.round(suited * 20) / 20;
    if (this.known?.from !== type || this.known.scale !== scale) {
      this.known = { from: type, scale, type: scaledType(type, scale) };
    }
    return this.known.type;
  }
}
