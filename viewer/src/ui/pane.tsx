/** One view of an atlas: senses, gallery or map; beside another one, what it is called. */

import { useId, useLayoutEffect, useRef } from "preact/hooks";
import type { Atlas } from "../data/atlas.ts";
import { counted, countedObjects } from "../data/words.ts";
import type { Panes } from "../state/panes.ts";
import type { Session } from "../state/session.ts";
import { Colophon } from "./colophon.tsx";
import { Gallery } from "./gallery.tsx";
import { Icon } from "./icons.tsx";
import { MapPage, type Shown } from "./map_page.tsx";
import { Path } from "./path.tsx";
import { Senses } from "./senses.tsx";

interface PaneProps {
  panes: Panes;
  session: Session;
  onShown: (shown: Shown) => void;
}

export function Pane({ panes, session, onShown }: PaneProps) {
  const root = useRef<HTMLDivElement>(null);
  const { word, isPreview, path, map } = session.state;
  const { isPair } = panes;
  const lacked = panes.lackedBy(session);
  const name = panes.nameOf(session);
  const id = useId();
  const where = map === null ? "All maps" : session.nameOf(map);
  useKeptFocus(session, root);
  useLayoutEffect(() => {
    session.element = root.current;
  }, []);
  // The switch asks for the word of the view in use, and so makes no other one that.
  const use = ({ target }: Event) => {
    if (!(target as Element).closest(".panebar label")) panes.activate(session);
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: what is used in it makes it the one in use
    // biome-ignore lint/a11y/useKeyWithClickEvents: by keys the focus tells
    <div
      class="pane"
      ref={root}
      onFocusIn={use}
      onClick={use}
      data-used={session === panes.active || undefined}
    >
      {isPair && <Bar panes={panes} session={session} name={name} id={id} />}
      <Colophon session={session} />
      {word !== null &&
        !session.isSingle &&
        (path !== null && !isPreview ? (
          <Path session={session} word={word} end={path} of={id} />
        ) : (
          <Senses session={session} word={word} isLow={isPair || map !== null} of={id} />
        ))}
      {lacked !== null && (
        <h2 class="senses lacked">
          <bdi>{lacked}</bdi> is not in <bdi>{name}</bdi>
        </h2>
      )}
      <div
        class="main"
        {...(isPair
          ? { role: "region", "aria-label": `${name}: ${where}`, tabIndex: -1 }
          : { role: "main", "aria-label": where })}
      >
        {map === null ? (
          <Gallery session={session} />
        ) : (
          <MapPage session={session} map={map} onShown={onShown} />
        )}
      </div>
    </div>
  );
}

/** What an atlas holds, in a line. */
export function facts(atlas: Atlas): string {
  const { kinds, nRows, nObjects, nMaps, method } = atlas;
  const objects = kinds
    ? `${counted(nRows, kinds[0])}, ${counted(nObjects - nRows, kinds[1])}`
    : countedObjects(atlas, nObjects);
  const drawn = method && `, drawn by ${method}`;
  return `${objects} in ${counted(nMaps, "map")}${drawn}`;
}

interface BarProps {
  panes: Panes;
  session: Session;
  name: string;
  id: string;
}

function Bar({ panes, session, name, id }: BarProps) {
  const isFirst = session === panes.views[0];
  return (
    <div class="panebar">
      <h2 id={id} title={name}>
        <bdi>{name}</bdi>
      </h2>
      <p class="facts">{panes.hasTwoAtlases && facts(session.atlas)}</p>
      {!isFirst && (
        <label class="key">
          <input
            type="checkbox"
            checked={panes.isLinked}
            onChange={() => panes.link(!panes.isLinked)}
          />
          <span>Same word in both</span>
        </label>
      )}
      {!panes.hasTwoAtlases && (
        <button
          type="button"
          class="tool leave"
          title="Close (d)"
          aria-label={`Close ${name}`}
          onClick={() => panes.close(session)}
        >
          <Icon name="close" />
        </button>
      )}
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
