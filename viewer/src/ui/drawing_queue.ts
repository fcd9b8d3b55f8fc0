/** Small pictures that wait to be drawn, a few at each frame. */

export type Queue = Set<() => void>;

/** Pictures that wait to be drawn, a few at each frame so that typing stays smooth. */
export const crops: Queue = new Set();
/** They wait until no crop does: what was looked up comes first. */
export const thumbnails: Queue = new Set();
const SLICE = 12;
let isAsked = false;
/** When pictures may be drawn again. */
let drawnFrom = 0;

/** Lets pictures wait for so many milliseconds: who types is not to wait for them. */
export function holdPictures(milliseconds: number): void {
  drawnFrom = performance.now() + milliseconds;
}

export function drawSoon(draw: () => void, queue: Queue): void {
  queue.add(draw);
  askForFrame();
}

function askForFrame(): void {
  if (!isAsked) requestAnimationFrame(drawSome);
  isAsked = true;
}

function drawSome(): void {
  isAsked = false;
  const start = performance.now();
  if (start < drawnFrom) {
    isAsked = true;
    setTimeout(() => requestAnimationFrame(drawSome), drawnFrom - start);
    return;
  }
  do {
    const queue = crops.size > 0 ? crops : thumbnails;
    const [draw] = queue;
    if (draw === undefined) return;
    queue.delete(draw);
    // A picture that fails does not keep the others from being drawn.
    if (crops.size + thumbnails.size > 0) askForFrame();
    draw();
  } while (performance.now() - start < SLICE);
}
