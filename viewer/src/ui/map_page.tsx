/** The open map: its view, what hovers over it, and the tools beside it. */

import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { AtlasMap } from "../data/atlas.ts";
import { mapTitle } from "../data/words.ts";
import type { Camera } from "../scene/camera.ts";
import type { ScreenBox } from "../scene/label_boxes.ts";
import type { ShownName } from "../scene/scene.ts";
import type { Session } from "../state/session.ts";
import * as texts from "../texts.ts";
import type { Tool as Selecting } from "../view/gestures.ts";
import { MapView, type MapViewCallbacks } from "../view/map_view.ts";
import { Button, Tool } from "./button.tsx";
import { stepBetween } from "./cards.tsx";
import { bringIntoSight } from "./sight.ts";
import { type Hovered, Tip } from "./tooltip.tsx";

/** A view with fewer dots offers the way back. */
const FEW = 3;

export function MapPage({ session, map }: { session: Session; map: number }) {
  const host = useRef<HTMLDivElement>(null);
  const [hovered, setHovered] = useState<Hovered | null>(null);
  const at = session.atlas.maps[map];
  // Read when labels stand, which is when the view is at rest.
  const [few, setFew] = useState<number | null>(null);
  const [names, setNames] = useState<readonly ShownName[]>([]);
  useMapView(session, map, host, few !== null, setHovered, () => {
    setNames(session.mapView?.letters.names ?? []);
    const count = session.mapView?.countInSight ?? FEW;
    setFew(
      count < FEW && count < session.contents.countIn(at) + (count === 0 ? 1 : 0) ? count : null,
    );
  });
  return (
    <div class="mappage">
      <div
        class="mapview"
        ref={host}
        role="application"
        tabIndex={0}
        aria-label={texts.keysOfMap(session.nameOf(map), mapTitle(at))}
      />
      {/* The names are drawn; here keys reach them. */}
      <div class="names" role="toolbar" aria-label={texts.REGIONS} onKeyDown={stepBetween}>
        {names.map((name, k) => (
          <Button
            class="name"
            key={name.text}
            tabIndex={k > 0 ? -1 : 0}
            aria-label={texts.zoomToRegion(name.text)}
            style={{ left: name.x, top: name.y, width: name.width, height: name.height }}
            onClick={() => session.mapView?.zoomTo(name)}
          />
        ))}
      </div>
      <Plaque session={session} map={map} />
      <Dock session={session} />
      {few !== null && (
        <p class="few">
          {texts.seenNow(texts.countedObjects(session.atlas, few))}
          <Button onClick={() => session.showAll()}>{texts.SHOW_ALL}</Button>
        </p>
      )}
      {hovered?.map === at && <Tip session={session} at={hovered} host={host.current} />}
    </div>
  );
}

/** Makes the view once, and lets it follow the state; the labels keep clear of the way back. */
function useMapView(
  session: Session,
  map: number,
  host: { current: HTMLDivElement | null },
  isFew: boolean,
  setHovered: (hovered: Hovered | null) => void,
  onShown: () => void,
): void {
  const { state } = session;
  const { look } = session.appearance;
  // A host that is not laid out yet, as in a tab of a notebook, has no size to fit a map to.
  const [hasSize, setHasSize] = useState(false);
  useLayoutEffect(() => {
    // The view reports on the map that it shows, which may be one behind the state.
    const report = (tell: (map: AtlasMap) => void) => view.map && tell(view.map);
    const callbacks: MapViewCallbacks = {
      covers: () => coversOf(host.current as HTMLElement),
      onSized: () => setHasSize(true),
      onCamera: (camera, settled) => {
        setHovered(null);
        if (!settled || view.map?.number !== session.state.map) return;
        session.store.change({ camera: sameCamera(camera, view.motion.fitCamera) ? null : camera });
      },
      onHover: (entry, x, y) =>
        report((at) => setHovered(entry === null ? null : { map: at, entry, x, y })),
      onSelect: (entries, mode) =>
        report(({ objects }) => {
          const found = entries.map((entry) => objects[entry]);
          session.select(found, mode);
        }),
      onOpen: (entry) => report(({ objects }) => session.chooseWord(objects[entry])),
      onShown,
    };
    const view = new MapView(host.current as HTMLElement, callbacks, !session.ownsTheKeys);
    session.mapView = view;
    setHasSize(view.size.width > 0);
    return () => {
      session.mapView = null;
      view.destroy();
    };
  }, []);
  useLayoutEffect(() => {
    const view = session.mapView;
    if (view === null || view.size.width === 0) return;
    view.measure();
    const { contents } = session;
    const camera = state.camera ?? contents.firstCamera(map, view.size);
    view.show(session.atlas.maps[map], look, contents.markedIn(map), camera);
  }, [map, look, state.word, state.selection, state.neighborKind, state.lines, hasSize, isFew]);
  // Where the page scrolls as a whole, a map that opens comes into sight.
  useLayoutEffect(() => {
    const page = host.current?.closest<HTMLElement>(".atlas");
    if (page && host.current) bringIntoSight(page, host.current);
  }, [map]);
  useLayoutEffect(() => session.mapView?.setTool(state.tool), [state.tool]);
}

/** The boxes of what lies over the map. */
function coversOf(host: HTMLElement): ScreenBox[] {
  const { left: x, top: y } = host.getBoundingClientRect();
  const over = host.parentElement?.querySelectorAll(".plaque, .dock, .few") ?? [];
  return Array.from(over, (element) => {
    const { left, top, right, bottom } = element.getBoundingClientRect();
    return { left: left - x, top: top - y, right: right - x, bottom: bottom - y };
  });
}

function sameCamera(a: Camera, b: Camera): boolean {
  const near = 0.5 / b.zoom;
  return (
    Math.abs(a.x - b.x) < near && Math.abs(a.y - b.y) < near && Math.abs(a.zoom / b.zoom - 1) < 1e-3
  );
}

function Plaque({ session, map }: { session: Session; map: number }) {
  const at = session.atlas.maps[map];
  const title = mapTitle(at);
  const projection = session.projectionOf(map);
  if (session.isSingle && !projection) return null;
  const turn = (by: number) => () => session.turnPage(by);
  return (
    <div class="plaque">
      {!session.isSingle && (
        <>
          <Tool icon="grid" name={texts.ALL_MAPS} keys="g" onClick={() => session.showGallery()} />
          <Tool icon="left" name={texts.PREVIOUS_MAP} keys="[" onClick={turn(-1)} />
          <Tool icon="right" name={texts.NEXT_MAP} keys="]" onClick={turn(1)} />
          <h2 title={title}>
            <small>{texts.mapName(map)}</small> <bdi>{title}</bdi>
          </h2>
        </>
      )}
      {projection && (
        <span class="quiet" title={texts.PROJECTION}>
          {projection}
        </span>
      )}
    </div>
  );
}

function Dock({ session }: { session: Session }) {
  const { state, store } = session;
  const zoom = (factor: number) => () => session.mapView?.motion.zoomBy(factor);
  const tools: [Selecting, string, string][] = [
    ["pan", texts.PAN, "p"],
    ["lasso", texts.LASSO, "l"],
  ];
  return (
    <div class="dock">
      <Tool class="tool zoom" icon="plus" name={texts.ZOOM_IN} keys="+" onClick={zoom(1.6)} />
      <Tool class="tool zoom" icon="minus" name={texts.ZOOM_OUT} keys="-" onClick={zoom(1 / 1.6)} />
      <Tool
        icon="fit"
        name={texts.SHOW_ALL}
        keys="0"
        onClick={() => session.mapView?.motion.fit()}
      />
      {tools.map(([id, name, keys]) => {
        const isOn = state.tool === id;
        const choose = () => store.change({ tool: id });
        return <Tool icon={id} name={name} keys={keys} aria-pressed={isOn} onClick={choose} />;
      })}
    </div>
  );
}
