/** Small pictures of maps: thumbnails of the gallery, crops of senses. Each is drawn when it comes into sight. */

import { useEffect, useRef } from "preact/hooks";
import type { AtlasMap } from "../data/atlas.ts";
import { mapTitle } from "../data/words.ts";
import { drawPicture } from "../draw/picture.ts";
import type { Panel } from "../draw/sheet.ts";
import { type Camera, fit, type Size } from "../scene/camera.ts";
import { PICTURE_TYPE, scaledType } from "../scene/lettering.ts";
import { type Emphasis, Scene, type ShownLabel } from "../scene/scene.ts";
import type { ShownSense } from "../state/lookups.ts";
import type { Session } from "../state/session.ts";
import * as texts from "../texts.ts";
import { Button } from "./button.tsx";
import { crops, drawSoon, type Queue, thumbnails } from "./drawing_queue.ts";

const THUMBNAIL_MARGIN = 12;
const THUMBNAIL_LABELS = 7;
/** Letters of pictures that are wider than this are larger, too. */
const USUAL_WIDTH = 270;
const MOST_SCALE = 1.7;

/** A map as a whole, with the word that is looked up. */
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
  session: Session,
  map: AtlasMap,
  size: Size,
  emphasis: Emphasis,
  camera: Camera,
): Panel {
  const scale = Math.min(MOST_SCALE, Math.max(1, size.width / USUAL_WIDTH));
  const type = scaledType(PICTURE_TYPE, scale);
  const scene = new Scene(map, { ...session.appearance.look, type }, size);
  const mostLabels = Math.round(THUMBNAIL_LABELS * scale);
  const view = { scene, camera, size, emphasis, mostLabels };
  return { ...view, isStill: true, caption: "", words: "" };
}

export function Thumbnail({ session, map }: { session: Session; map: AtlasMap }) {
  const { chosen } = session.contents.emphasisIn(map.number);
  return (
    <Picture
      panel={(size) => thumbnail(session, map, size)}
      queue={thumbnails}
      depends={[session.appearance.look, chosen.join()]}
    />
  );
}

interface WholeMapProps {
  session: Session;
  sense: ShownSense;
}

/** The whole map of a sense, with the word and its neighbours, as a button that opens the map. */
export function WholeMap({ session, sense }: WholeMapProps) {
  const map = session.atlas.maps[sense.map];
  const emphasis = session.contents.emphasisOf(sense);
  return (
    <Button class="sheet whole" data-map={map.number} onClick={() => session.openMap(map.number)}>
      <Picture
        panel={(size) => still(session, map, size, emphasis, fit(map.view, size))}
        queue={thumbnails}
        depends={[session.appearance.look, map, sense.entry, emphasis.near.join()]}
      />
      <span class="caption">
        <span class="share">{texts.openMap(map.number)}</span>
        <MapTitle session={session} map={map} />
      </span>
    </Button>
  );
}

/** The words that name a map, those of an island in its colour. */
export function MapTitle({ session, map }: { session: Session; map: AtlasMap }) {
  const { look, palette } = session.appearance;
  const isByIsland = look.coloring.legend.type === "weight";
  return (
    <bdi class="words">
      {mapTitle(map)
        .split(texts.BETWEEN)
        .flatMap((name, k) => {
          const island = map.regions.find(({ words }) => words.join(", ") === name);
          const color = isByIsland && island ? palette.islands[island.hue] : undefined;
          return [k > 0 && texts.BETWEEN, <span style={{ color }}>{name}</span>];
        })}
    </bdi>
  );
}

interface CropProps {
  session: Session;
  word: number;
  sense: ShownSense;
}

export function Crop({ session, word, sense }: CropProps) {
  const { near } = session.contents.emphasisOf(sense);
  const { look } = session.appearance;
  return (
    <Picture
      panel={(size) => cropOf(session, sense, size)}
      queue={crops}
      title={texts.ARROW}
      depends={[look, word, sense.map, near.join()]}
    />
  );
}

interface PictureProps {
  /** The picture at a size. */
  panel: (size: Size) => Panel;
  queue: Queue;
  depends: readonly unknown[];
  title?: string;
}

/** A canvas with the labels that are drawn on it, for scripts. */
interface Drawn extends HTMLCanvasElement {
  labels?: readonly ShownLabel[] | undefined;
}

/** A canvas that is drawn anew when its size or one of `depends` changes, while it is in sight. */
function Picture({ panel, queue, depends, title }: PictureProps) {
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
  return <canvas ref={canvas} title={title} aria-hidden="true" />;
}
