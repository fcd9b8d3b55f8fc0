/** The panel next to the pictures: how they are drawn, the word in question, the selection. */

import { useLayoutEffect, useRef } from "preact/hooks";
import { countedObjects, plainLabel, whole } from "../data/words.ts";
import { saveTable } from "../draw/saving.ts";
import type { Session } from "../state/session.ts";
import { Button, bringIntoSight } from "./button.tsx";
import { Display } from "./display.tsx";
import { Filters } from "./filter_panel.tsx";
import { About } from "./help.tsx";
import { Icon } from "./icons.tsx";
import { Word } from "./label_text.tsx";
import { Legends } from "./legend_keys.tsx";
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
    <aside class="panel" aria-label="About this view" tabIndex={0} ref={panel}>
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

const MOST_CHIPS = 60;

/** The selected objects, which can be shown one by one, saved and let go. */
function Selection({ session }: { session: Session }) {
  const { selection } = session.state;
  if (selection.length === 0) return null;
  const name = selection.length > 1 ? "selection" : plainLabel(session.atlas, selection[0]);
  return (
    <section aria-label="Selection">
      <h2>{countedObjects(session.atlas, selection.length)} selected</h2>
      <ul class="chips">
        {selection.slice(0, MOST_CHIPS).map((object) => (
          <li key={object}>
            <Button class="chip" onClick={() => session.follow(object)}>
              <Word atlas={session.atlas} object={object} />
            </Button>
          </li>
        ))}
        {selection.length > MOST_CHIPS && (
          <li class="quiet">and {whole(selection.length - MOST_CHIPS)} more</li>
        )}
      </ul>
      <div class="row">
        <Button onClick={() => saveTable(session.atlas, selection, name)}>
          <Icon name="save" /> CSV
        </Button>
        <Button onClick={() => session.select([])}>Clear</Button>
      </div>
    </section>
  );
}
