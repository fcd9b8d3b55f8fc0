/** One view of an atlas: senses, gallery or map; beside another one, what it is called. */

import { useId, useLayoutEffect, useRef } from "preact/hooks";
import type { Panes } from "../state/panes.ts";
import { facts } from "../state/sentences.ts";
import type { Session } from "../state/session.ts";
import * as texts from "../texts.ts";
import { Check, Tool } from "./button.tsx";
import { Colophon } from "./colophon.tsx";
import { Gallery } from "./gallery.tsx";
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
  const { word, isPreview, path, map, gallery, notice } = session.state;
  const { isPair } = panes;
  const lacked = panes.lackedBy(session);
  const name = panes.nameOf(session);
  const id = useId();
  const found =
    word === null || session.isSingle || gallery !== null ? null : path !== null && !isPreview ? (
      <Path session={session} word={word} end={path} of={id} />
    ) : (
      <Senses session={session} word={word} isLow={map !== null} of={id} />
    );
  const where = map !== null ? session.nameOf(map) : found ? texts.MEANINGS : texts.ALL_MAPS;
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
      {map !== null && found}
      {lacked !== null && (
        <h2 class="senses lacked">{texts.isNotIn(<bdi>{lacked}</bdi>, <bdi>{name}</bdi>)}</h2>
      )}
      <div
        class="main"
        {...(isPair
          ? { role: "region", "aria-label": texts.lowEnd(name, where), tabIndex: -1 }
          : { role: "main", "aria-label": where })}
      >
        {notice && (
          <p class="notice" role="alert">
            {notice}
          </p>
        )}
        {map === null ? (
          found ? (
            <div class="gallery">{found}</div>
          ) : (
            <Gallery session={session} />
          )
        ) : (
          <MapPage session={session} map={map} onShown={onShown} />
        )}
      </div>
    </div>
  );
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
        <Check name={texts.SAME_WORD} isOn={panes.isLinked} onChange={(isOn) => panes.link(isOn)} />
      )}
      {!panes.hasTwoAtlases && (
        <Tool
          icon="close"
          name={texts.closeView(name)}
          keys="d"
          onClick={() => panes.close(session)}
        />
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
