/** Small pictures of maps, each drawn when it comes into sight: thumbnails, crops of senses. */

import { useEffect, useRef } from "preact/hooks";
import type { AtlasMap } from "../data/atlas.ts";
import { BETWEEN, mapTitle } from "../data/words.ts";
import { drawPicture } from "../draw/picture.ts";
import type { Panel } from "../draw/sheet.ts";
import { type Camera, fit, type Size } from "../scene/camera.ts";
import { PICTURE_TYPE, scaledType } from "../scene/lettering.ts";
import { type Emphasis, Scene, type ShownLabel } from "../scene/scene.ts";
import type { ShownSense } from "../state/lookups.ts";
import type { Session } from "../state/session.ts";
import { Button } from "./button.tsx";
import { crops, drawSoon, type Queue, thumbnails } from "./drawing_queue.ts";

const THUMBNAIL_MARGIN = 12;
const THUMBNAIL_LABELS = 7;
const MOST_SCALE = 1.7;

export function thumbnail(session: Session, map: AtlasMap, size: Size): Panel {
  const emphasis: Emphasis = { chosen: session.contents.emphasisIn(map.number).chosen, near: [] };
  return still(session, map, size, emphasis, fit(map.view, size, THUMBNAIL_MARGIN));
}

/** The part of a map round a word, with its neighbours there. */
export function cropOf(session: Session, sense: ShownSense, size: Size): Panel {
  const { map } = sense;
  const emphasis = session.contents.emphasisOf(sense);
  const whole = session.atlas.maps[map];
  const camera = session.contents.closeUp(sense, size);
  // The colour is that of the sense, so other dots are grey.
  const regions = whole.regions.map((region) => ({ ...region, members: new Uint32Array() }));
  return still(session, { ...whole, regions }, size, emphasis, camera);
}

/** A still picture, with letters that suit its size. */
function still(
  { shown }: Session,
  map: AtlasMap,
  size: Size,
  emphasis: Emphasis,
  camera: Camera,
): Panel {
  const scale = Math.min(MOST_SCALE, Math.max(1, Math.min(size.width / 270, size.height / 190)));
  const type = scaledType(PICTURE_TYPE, scale);
  const scene = new Scene(map, { ...shown.look, type }, size);
  const mostLabels = Math.round(THUMBNAIL_LABELS * scale);
  return { scene, camera, size, emphasis, mostLabels, caption: "", words: "" };
}

export function Thumbnail({ session, map }: { session: Session; map: AtlasMap }) {
  const { chosen } = session.contents.emphasisIn(map.number);
  return (
    <Picture
      panel={(size) => thumbnail(session, map, size)}
      queue={thumbnails}
      depends={[session.shown.look, chosen.join()]}
    />
  );
}

type OfSense = { session: Session; sense: ShownSense };

/** The whole map of a sense, with the word and its neighbours, as a button that opens the map. */
export function WholeMap({ session, sense }: OfSense) {
  const map = session.atlas.maps[sense.map];
  const emphasis = session.contents.emphasisOf(sense);
  return (
    <Button class="sheet whole" data-map={map.number} onClick={() => session.openMap(map.number)}>
      <Picture
        panel={(size) => still(session, map, size, emphasis, fit(map.view, size))}
        queue={thumbnails}
        depends={[session.shown.look, map, sense.entry, emphasis.near.join()]}
      />
      <span class="caption">
        <span class="share">Map {map.number} · open</span>
        <MapTitle session={session} map={map} />
      </span>
    </Button>
  );
}

/** The words that name a map, those of an island in its colour. */
export function MapTitle({ session, map }: { session: Session; map: AtlasMap }) {
  const { look, palette } = session.shown;
  const isByIsland = look.coloring.legend.type === "weight";
  return (
    <bdi class="words">
      {mapTitle(map)
        .split(BETWEEN)
        .flatMap((name, k) => {
          const island = map.regions.find(({ words }) => words.join(", ") === name);
          const color = isByIsland && island ? palette.islands[island.hue] : undefined;
          return [k > 0 && BETWEEN, <span style={{ color }}>{name}</span>];
        })}
    </bdi>
  );
}

export function Crop({ session, sense }: OfSense) {
  const { near } = session.contents.emphasisOf(sense);
  const { look } = session.shown;
  return (
    <Picture
      panel={(size) => cropOf(session, sense, size)}
      queue={crops}
      depends={[look, sense.map, sense.entry, near.join()]}
    />
  );
}

interface PictureProps {
  panel: (size: Size) => Panel;
  queue: Queue;
  depends: readonly unknown[];
}

/** A canvas with the labels that are drawn on it, for scripts. */
interface Drawn extends HTMLCanvasElement {
  labels?: readonly ShownLabel[] | undefined;
}

/** A canvas that is drawn anew when its size or one of `depends` changes, while it is in sight. */
function Picture({ panel, queue, depends }: PictureProps) {
  const canvas = useRef<Drawn>(null);
  const latest = useRef(panel);
  latest.current = panel;
  const sight = useRef({ isSeen: false, isStale: true });
  const refresh = useRef(() => {
    const at = canvas.current;
    if (!at || !sight.current.isSeen || !sight.current.isStale) return;
    const size = { width: at.clientWidth, height: at.clientHeight };
    if (size.width === 0 || size.height === 0) return;
    sight.current.isStale = false;
    const letters = drawPicture(at, latest.current(size), devicePixelRatio);
    at.labels = letters?.labels;
  }).current;
  useEffect(() => {
    const seen = new IntersectionObserver(
      (entries) => {
        sight.current.isSeen = entries[entries.length - 1].isIntersecting;
        drawSoon(refresh, queue);
      },
      { rootMargin: "300px" },
    );
    const sized = new ResizeObserver(() => {
      sight.current.isStale = true;
      drawSoon(refresh, queue);
    });
    const at = canvas.current as Drawn;
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
  return <canvas ref={canvas} aria-hidden="true" />;
}
