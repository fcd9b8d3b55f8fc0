/** The panel next to the pictures: how they are drawn, the word in question, the selection. */

import { useLayoutEffect, useRef } from "preact/hooks";
import type { Session } from "../state/session.ts";
import * as texts from "../texts.ts";
import { About } from "./about.tsx";
import { Display } from "./display.tsx";
import { Filters } from "./filter_panel.tsx";
import { Legends } from "./legend_keys.tsx";
import { Selection } from "./selection.tsx";
import { bringIntoSight } from "./sight.ts";
import { WordCard } from "./word_card.tsx";

export function Panel({ session }: { session: Session }) {
  const { state } = session;
  const { selection, word, map } = state;
  const [only = null] = selection.length === 1 ? selection : [];
  const object = only ?? word;
  const panel = useRef<HTMLElement>(null);
  // Where the panel scrolls, what can be done with what was just chosen comes into sight.
  useLayoutEffect(() => {
    const card = panel.current?.querySelector<HTMLElement>(".wordcard .row");
    if (panel.current && card) bringIntoSight(panel.current, card);
  }, [object]);
  return (
    <aside class="panel" aria-label={texts.ABOUT_VIEW} tabIndex={0} ref={panel}>
      {map !== null && (session.isSingle || object === null) && <About session={session} />}
      {state.hasSettings && <Display session={session} />}
      <Legends session={session} />
      {state.hasSettings && <Filters session={session} />}
      {object !== null && (map !== null || only !== null) && (
        <WordCard session={session} object={object} isTapped={only !== null && map !== null} />
      )}
      <Selection session={session} />
    </aside>
  );
}
