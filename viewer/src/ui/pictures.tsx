/** Small pictures of maps: thumbnails of the gallery, crops of senses. Each is drawn when it comes into sight. */

import { useEffect, useRef } from "preact/hooks";
import type { AtlasMap } from "../data/atlas.ts";
import { elementAt } from "../data/elements.ts";
import type { Sense } from "../data/probabilities.ts";
import { drawPicture, type PictureOptions } from "../draw/picture.ts";
import { type Camera, crop, fit, type Size } from "../scene/camera.ts";
import { PICTURE_TYPE } from "../scene/lettering.ts";
import { type Emphasis, Scene } from "../scene/scene.ts";
import type { Session } from "../state/session.ts";

const THUMBNAIL_MARGIN = 12;
const THUMBNAIL_LABELS = 7;

type Draw = (canvas: HTMLCanvasElement, size: Size) => void;

type Queue = Set<() => void>;

/** Pictures that wait to be drawn, a few at each frame so that typing stays smooth. */
const crops: Queue = new Set();
/** They wait until no crop does: what was looked up comes first. */
const thumbnails: Queue = new Set();
const SLICE = 12;
let isAsked = false;
/** When pictures may be drawn again. */
let drawnFrom = 0;

/** Lets pictures wait for so many milliseconds: who types is not to wait for them. */
export function holdPictures(milliseconds: number): void {
  drawnFrom = performance.now() + milliseconds;
}

function drawSoon(draw: () => void, queue: Queue): void {
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

/** A map as a whole, with the word that is looked up. */
export function Thumbnail({ session, map }: { session: Session; map: AtlasMap }) {
  const emphasis: Emphasis = { chosen: session.contents.emphasisIn(map.number).chosen, near: [] };
  const draw: Draw = (canvas, size) =>
    drawStill(session, canvas, map, size, emphasis, (at) => fit(map.view, at, THUMBNAIL_MARGIN));
  return (
    <Picture
      draw={draw}
      queue={thumbnails}
      depends={[session.appearance.look, emphasis.chosen.join()]}
    />
  );
}

/** The part of a map round a word, with its neighbours in one sense. */
export function Crop({ session, word, sense }: { session: Session; word: number; sense: Sense }) {
  const map = elementAt(session.atlas.maps, sense.map);
  const emphasis = session.contents.emphasisOf([sense]);
  const draw: Draw = (canvas, size) =>
    drawStill(session, canvas, map, size, emphasis, (at) =>
      crop(map, sense.entry, emphasis.near, at),
    );
  return (
    <Picture
      draw={draw}
      queue={crops}
      title="An arrow at the rim points to a neighbour that lies farther off"
      depends={[session.appearance.look, word, sense.map, emphasis.near.join()]}
    />
  );
}

function drawStill(
  session: Session,
  canvas: HTMLCanvasElement,
  map: AtlasMap,
  size: Size,
  emphasis: Emphasis,
  cameraFor: (size: Size) => Camera,
): void {
  const scene = new Scene(map, { ...session.appearance.look, type: PICTURE_TYPE }, size);
  const options: PictureOptions = {
    marks: session.marks,
    size,
    devicePixelRatio,
    emphasis,
    labels: "still",
    mostLabels: THUMBNAIL_LABELS,
  };
  drawPicture(canvas, scene, cameraFor(size), options);
}

interface PictureProps {
  draw: Draw;
  queue: Queue;
  depends: readonly unknown[];
  title?: string;
}

/** A canvas that is drawn anew when its size or one of `depends` changes, while it is in sight. */
function Picture({ draw, queue, depends, title }: PictureProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const latest = useRef(draw);
  latest.current = draw;
  const sight = useRef({ isSeen: false, isStale: true });
  const refresh = useRef(() => {
    const at = canvas.current;
    if (!at || !sight.current.isSeen || !sight.current.isStale) return;
    const { clientWidth: width, clientHeight: height } = at;
    if (width === 0 || height === 0) return;
    sight.current.isStale = false;
    latest.current(at, { width, height });
  }).current;
  useEffect(() => {
    const seen = new IntersectionObserver(
      (entries) => {
        sight.current.isSeen = elementAt(entries, entries.length - 1).isIntersecting;
        drawSoon(refresh, queue);
      },
      { rootMargin: "300px" },
    );
    const sized = new ResizeObserver(() => {
      sight.current.isStale = true;
      drawSoon(refresh, queue);
    });
    const at = canvas.current as HTMLCanvasElement;
    seen.observe(at);
    sized.observe(at);
    return () => {
      queue.delete(refresh);
      seen.disconnect();
      sized.disconnect();
    };
  }, []);
  useEffect(() => {
    sight.current.isStale = true;
    drawSoon(refresh, queue);
  }, depends as unknown[]);
  return <canvas ref={canvas} title={title} aria-hidden="true" />;
}
