/** The open map: its view, what hovers over it, and the tools beside it. */

import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { AtlasMap } from "../data/atlas.ts";
import { countedObjects, mapTitle } from "../data/words.ts";
import type { Camera } from "../scene/camera.ts";
import type { ScreenBox } from "../scene/label_boxes.ts";
import type { ShownName } from "../scene/scene.ts";
import type { Session } from "../state/session.ts";
import { MapView, type MapViewCallbacks } from "../view/map_view.ts";
import { Button, bringIntoSight, stepBetween, Tool } from "./button.tsx";
import { type Hovered, Tip } from "./tooltip.tsx";

export function MapPage({ session, map }: { session: Session; map: number }) {
  const host = useRef<HTMLDivElement>(null);
  const [hovered, setHovered] = useState<Hovered | null>(null);
  const at = session.atlas.maps[map];
  // Read when labels stand, which is when the view is at rest.
  const [names, setNames] = useState<readonly ShownName[]>([]);
  useMapView(session, map, host, setHovered, () => setNames(session.mapView?.letters.names ?? []));
  return (
    <div class="mappage">
      <div
        class="mapview"
        ref={host}
        role="application"
        tabIndex={0}
        aria-label={`${session.nameOf(map)}: ${mapTitle(at)}. Arrow keys move it, plus and minus zoom, 0 shows all`}
      />
      {/* The names are drawn; here keys reach them. */}
      <div class="names" role="toolbar" aria-label="Regions" onKeyDown={stepBetween}>
        {names.map((name, k) => (
          <Button
            class="name"
            key={name.text}
            tabIndex={k > 0 ? -1 : 0}
            aria-label={`Zoom to ${name.text}`}
            style={{ left: name.x, top: name.y, width: name.width, height: name.height }}
            onClick={() => session.mapView?.zoomTo(name)}
          />
        ))}
      </div>
      <Plaque session={session} map={map} />
      <Dock session={session} />
      {session.contents.countIn(at) === 0 && (
        <p class="few">
          {countedObjects(session.atlas, 0)} in sight
          <Button onClick={() => session.showAll()}>Show all</Button>
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
  setHovered: (hovered: Hovered | null) => void,
  onShown: () => void,
): void {
  const { state } = session;
  const { look } = session.shown;
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
  }, [map, look, state.word, state.selection, state.neighborKind, hasSize]);
  // Where the page scrolls as a whole, a map that opens comes into sight.
  useLayoutEffect(() => {
    const page = host.current?.closest<HTMLElement>(".atlas");
    if (page && host.current) bringIntoSight(page, host.current);
  }, [map]);
  useLayoutEffect(() => session.mapView?.setTool(state.tool), [state.tool]);
}

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
          <Tool icon="grid" name="All maps" keys="g" onClick={() => session.showGallery()} />
          <Tool icon="left" name="Previous map" keys="[" onClick={turn(-1)} />
          <Tool icon="right" name="Next map" keys="]" onClick={turn(1)} />
          <h2 title={title}>
            <small>Map {map}</small> <bdi>{title}</bdi>
          </h2>
        </>
      )}
      {projection && (
        <span
          class="quiet"
          title="The map is drawn on the plane through its two axes with the most variance"
        >
          {projection}
        </span>
      )}
    </div>
  );
}

function Dock({ session }: { session: Session }) {
  const { state, store } = session;
  const zoom = (factor: number) => () => session.mapView?.motion.zoomBy(factor);
  const hasLasso = state.tool === "lasso";
  return (
    <div class="dock">
      <Tool class="tool zoom" icon="plus" name="Zoom in" keys="+" onClick={zoom(1.6)} />
      <Tool class="tool zoom" icon="minus" name="Zoom out" keys="-" onClick={zoom(1 / 1.6)} />
      <Tool icon="fit" name="Show all" keys="0" onClick={() => session.mapView?.motion.fit()} />
      <Tool
        icon="lasso"
        name="Select with a lasso"
        keys="l"
        aria-pressed={hasLasso}
        onClick={() => store.change({ tool: hasLasso ? "pan" : "lasso" })}
      />
    </div>
  );
}
