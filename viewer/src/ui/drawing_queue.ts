/** Small pictures that wait to be drawn, a few at each frame, so that the page stays smooth. */

export type Queue = Set<() => void>;

export const crops: Queue = new Set();
/** They wait until no crop does: what was looked up comes first. */
export const thumbnails: Queue = new Set();
const SLICE = 12;
let isAsked = false;

export function drawSoon(draw: () => void, queue: Queue): void {
  queue.add(draw);
  askForFrame();
}

function askForFrame(): void {
  if (!isAsked) requestAnimationFrame(drawSome);
  isAsked = true;
}

function drawSome(start: number): void {
  isAsked = false;
  do {
    const queue = crops.size > 0 ? crops : thumbnails;
    const [draw] = queue;
    if (draw === undefined) return;
    queue.delete(draw);
    // A picture that fails does not keep the others from being drawn.
    askForFrame();
    draw();
  } while (performance.now() - start < SLICE);
}
