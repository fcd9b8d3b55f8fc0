/** The atlas itself: senses, gallery or map. */

import { useLayoutEffect, useRef } from "preact/hooks";
import type { Session } from "../state/session.ts";
import { Gallery } from "./gallery.tsx";
import { MapPage } from "./map_page.tsx";
import { Senses } from "./senses.tsx";

export function Main({ session }: { session: Session }) {
  const root = useRef<HTMLDivElement>(null);
  const { word, map, gallery, notice } = session.state;
  const found =
    word === null || session.isSingle || gallery ? null : (
      <Senses session={session} word={word} isLow={map !== null} />
    );
  const where = map !== null ? session.nameOf(map) : found ? "Senses" : "All maps";
  useKeptFocus(session, root);
  useLayoutEffect(() => {
    session.element = root.current;
  }, []);
  return (
    <div class="contents" ref={root}>
      {map !== null && found}
      <div key={map === null ? where : "map"} class="main" role="main" aria-label={where}>
        {notice && (
          <p class="notice" role="alert">
            {notice}
          </p>
        )}
        {map !== null && <MapPage session={session} map={map} />}
        {map === null && found && <div class="gallery">{found}</div>}
        {map === null && !found && <Gallery session={session} />}
      </div>
    </div>
  );
}

/** Where what had the focus is gone, the focus goes to what took its place. */
function useKeptFocus(session: Session, root: { current: HTMLElement | null }): void {
  const { map } = session.state;
  const last = useRef<{ element: Element | null; map: number | null }>({ element: null, map });
  useLayoutEffect(() => {
    const keep = (event: Event) => {
      last.current.element = event.composedPath()[0] as Element;
    };
    root.current?.addEventListener("focusin", keep);
    return () => root.current?.removeEventListener("focusin", keep);
  }, []);
  useLayoutEffect(() => {
    const { element, map: before } = last.current;
    last.current.map = map;
    const shadow = root.current?.getRootNode() as ShadowRoot;
    if (element === null || element.isConnected || shadow.activeElement !== null) return;
    const instead = map === null ? `[data-map="${before}"]` : ".mapview";
    // The page itself takes keys, where nothing took the place of what is gone.
    const found =
      root.current?.querySelector<HTMLElement>(instead) ??
      root.current?.closest<HTMLElement>(".atlas");
    found?.focus({ preventScroll: map !== null });
  });
}
