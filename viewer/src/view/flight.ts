/**
 * The way from one camera to another that looks smooth: out, over, and in again.
 *
 *     u(s) = w0 / rho^2 (cosh r0 tanh(rho s + r0) - sinh r0)     way covered, in map units
 *     w(s) = w0 cosh r0 / cosh(rho s + r0)                       width of what is seen
 *     b_i  = (w1^2 - w0^2 +- rho^4 u1^2) / (2 w_i rho^2 u1),     r_i = log(sqrt(b_i^2 + 1) - b_i)
 *
 * of length S = (r1 - r0) / rho (van Wijk & Nuij, Smooth and efficient zooming and panning, 2003).
 */
import type { Camera, Size } from "../scene/camera.ts";

interface Flight {
  /** The camera at time t in [0, 1]. */
  at(t: number): Camera;
  /** How long it should take, in milliseconds. */
  duration: number;
}

const RHO = Math.SQRT2;
/** Milliseconds for a unit of S. */
const PACE = 600;
const SHORTEST = 250;
const LONGEST = 900;

/** The flight from one camera to another over a screen of this size. */
export function flight(from: Camera, to: Camera, size: Size): Flight {
  const span = Math.max(1, Math.min(size.width, size.height));
  const [w0, w1] = [span / from.zoom, span / to.zoom];
  const [dx, dy] = [to.x - from.x, to.y - from.y];
  const u1 = Math.hypot(dx, dy);
  const isStraight = u1 < 1e-9 * w0;
  const log = Math.log(w1 / w0);
  const turn = (w: number, sign: number) =>
    -Math.asinh((w1 ** 2 - w0 ** 2 + sign * RHO ** 4 * u1 ** 2) / (2 * w * RHO ** 2 * u1));
  const r0 = isStraight ? 0 : turn(w0, 1);
  const length = isStraight ? Math.abs(log) / RHO : (turn(w1, -1) - r0) / RHO;
  const at = (t: number): Camera => {
    // The ends are exact, so that an address restores a view to the last digit.
    if (t <= 0) return from;
    if (t >= 1) return to;
    const s = RHO * t * length;
    if (isStraight) return { ...from, zoom: from.zoom * Math.exp(-Math.sign(log) * s) };
    const way = ((w0 / RHO ** 2) * (Math.cosh(r0) * Math.tanh(s + r0) - Math.sinh(r0))) / u1;
    const width = (w0 * Math.cosh(r0)) / Math.cosh(s + r0);
    return { x: from.x + way * dx, y: from.y + way * dy, zoom: span / width };
  };
  return { at, duration: Math.min(LONGEST, Math.max(SHORTEST, PACE * length)) };
}
