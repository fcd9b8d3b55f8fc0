/** The whole page: head, senses, gallery or map, panel. */

import { useLayoutEffect, useReducer, useRef, useState } from "preact/hooks";
import { counted, countedObjects } from "../data/words.ts";
import type { Session } from "../state/session.ts";
import { Gallery } from "./gallery.tsx";
import { Help } from "./help.tsx";
import { Icon } from "./icons.tsx";
import { listenToKeys } from "./keys.ts";
import { MapPage, type Shown } from "./map_page.tsx";
import { Panel } from "./panel.tsx";
import { Search } from "./search.tsx";
import { Senses } from "./senses.tsx";

export function App({ session }: { session: Session }) {
  const [, redraw] = useReducer((count: number) => count + 1, 0);
  const [said, say] = useState("");
  const [shown, setShown] = useState<Shown | null>(null);
  const [isHelpOpen, setHelpOpen] = useState(false);
  const root = useRef<HTMLDivElement>(null);
  // What the page listens to is there with it, not after its first frame: nothing pressed is lost.
  useLayoutEffect(() => session.store.listen(redraw as () => void), []);
  useLayoutEffect(() => {
    session.announce = say;
    return listenToKeys(root.current as HTMLElement, session, () => setHelpOpen(true));
  }, []);
  useKeptFocus(session, root);
  const { word, map } = session.state;
  return (
    <div class="atlas" ref={root} tabIndex={-1}>
      <Head session={session} onHelp={() => setHelpOpen(true)} />
      {word !== null && !session.isSingle && <Senses session={session} word={word} />}
      <main class="main" aria-label={map === null ? "All maps" : `Map ${map}`}>
        {map === null ? (
          <Gallery session={session} />
        ) : (
          <MapPage session={session} map={map} onShown={setShown} />
        )}
      </main>
      <Panel session={session} shown={shown?.map === map ? shown.labels : []} />
      <div class="unseen" role="status" aria-live="polite">
        {said}
      </div>
      <Help session={session} isOpen={isHelpOpen} onClose={() => setHelpOpen(false)} />
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
    const found = root.current?.querySelector<HTMLElement>(instead) ?? root.current;
    found?.focus({ preventScroll: map !== null });
  });
}

function Head({ session, onHelp }: { session: Session; onHelp: () => void }) {
  const { atlas } = session;
  const { theme } = session.appearance;
  const other = theme === "dark" ? "light" : "dark";
  const objects = atlas.kinds
    ? `${counted(atlas.nRows, atlas.kinds[0])}, ${counted(atlas.nObjects - atlas.nRows, atlas.kinds[1])}`
    : countedObjects(atlas, atlas.nObjects);
  return (
    <header class="head">
      <div>
        <h1 title={atlas.title}>{atlas.title}</h1>
        <p class="facts">
          {objects} in {counted(atlas.nMaps, "map")}, by {atlas.method}
        </p>
      </div>
      <Search session={session} />
      <div class="tools">
        <button
          type="button"
          class="tool"
          title={`Go ${other}`}
          aria-label={`Go ${other}`}
          onClick={() => session.store.change({ theme: other })}
        >
          <Icon name={theme === "dark" ? "sun" : "moon"} />
        </button>
        <button type="button" class="tool" title="Help (?)" aria-label="Help" onClick={onHelp}>
          <Icon name="help" />
        </button>
      </div>
    </header>
  );
}
