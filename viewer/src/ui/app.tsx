/** The whole page: head, senses, gallery or map, panel. */

import { useEffect, useReducer, useRef, useState } from "preact/hooks";
import type { ShownLabel } from "../scene.ts";
import type { Session } from "../session.ts";
import { Gallery } from "./gallery.tsx";
import { Help } from "./help.tsx";
import { Icon } from "./icons.tsx";
import { listenToKeys } from "./keys.ts";
import { MapPage } from "./map_page.tsx";
import { Panel } from "./panel.tsx";
import { Search } from "./search.tsx";
import { Senses } from "./senses.tsx";
import { counted } from "./words.tsx";

export function App({ session }: { session: Session }) {
  const [, redraw] = useReducer((count: number) => count + 1, 0);
  const [said, say] = useState("");
  const [shown, setShown] = useState<readonly ShownLabel[]>([]);
  const [isHelpOpen, setHelpOpen] = useState(false);
  const root = useRef<HTMLDivElement>(null);
  useEffect(() => session.store.listen(redraw as () => void), []);
  useEffect(() => {
    session.announce = say;
    return listenToKeys(root.current as HTMLElement, session, () => setHelpOpen(true));
  }, []);
  useEffect(() => {
    const dark = matchMedia("(prefers-color-scheme: dark)");
    dark.addEventListener("change", redraw as () => void);
    return () => dark.removeEventListener("change", redraw as () => void);
  }, []);
  const { word, map } = session.state;
  return (
    <div class="atlas" ref={root}>
      <Head session={session} onHelp={() => setHelpOpen(true)} />
      {word !== null && <Senses session={session} word={word} />}
      <main class="main" aria-label={map === null ? "All maps" : `Map ${map}`}>
        {map === null ? (
          <Gallery session={session} />
        ) : (
          <MapPage session={session} map={map} onShown={setShown} />
        )}
      </main>
      <Panel session={session} shown={shown} />
      <div class="unseen" role="status" aria-live="polite">
        {said}
      </div>
      <Help isOpen={isHelpOpen} onClose={() => setHelpOpen(false)} />
    </div>
  );
}

function Head({ session, onHelp }: { session: Session; onHelp: () => void }) {
  const { atlas, theme } = session;
  const other = theme === "dark" ? "light" : "dark";
  const objects = atlas.kinds
    ? `${counted(atlas.nRows, atlas.kinds[0])}, ${counted(atlas.nObjects - atlas.nRows, atlas.kinds[1])}`
    : counted(atlas.nObjects, "object");
  return (
    <header class="head">
      <div>
        <h1 title={atlas.title}>{atlas.title}</h1>
        <p class="facts">
          {objects} in {counted(atlas.nMaps, "map")}
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
