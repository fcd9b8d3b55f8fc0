/** The whole page: head, one view or two side by side, panel. */

import { useLayoutEffect, useReducer, useRef, useState } from "preact/hooks";
import { capital } from "../data/words.ts";
import type { Panes } from "../state/panes.ts";
import type { Session } from "../state/session.ts";
import { Help } from "./help.tsx";
import { Icon } from "./icons.tsx";
import { listenToKeys } from "./keys.ts";
import type { Shown } from "./map_page.tsx";
import { facts, Pane } from "./pane.tsx";
import { Panel } from "./panel.tsx";
import { Search } from "./search.tsx";

export function App({ panes }: { panes: Panes }) {
  const [, redraw] = useReducer((count: number) => count + 1, 0);
  const [said, say] = useState(new Map<Session, string>());
  const [shown, setShown] = useState(new Map<Session, Shown>());
  const [isHelpOpen, setHelpOpen] = useState(false);
  const root = useRef<HTMLDivElement>(null);
  const { views, active, isPair } = panes;
  // What the page listens to is there with it, not after its first frame: nothing pressed is lost.
  useLayoutEffect(() => panes.listen(redraw as () => void), []);
  useLayoutEffect(
    () => listenToKeys(root.current as HTMLElement, panes, () => setHelpOpen(true)),
    [],
  );
  for (const session of views) {
    session.announce = (sentence) => say((all) => new Map(all).set(session, sentence));
  }
  const labels = shown.get(active);
  return (
    <div class={isPair ? "atlas pair" : "atlas"} ref={root} tabIndex={-1}>
      <Head panes={panes} onHelp={() => setHelpOpen(true)} />
      <div class="panes" role={isPair ? "main" : undefined}>
        {views.map((session) => (
          <Pane
            key={session}
            panes={panes}
            session={session}
            onShown={(part) => setShown((all) => new Map(all).set(session, part))}
          />
        ))}
      </div>
      <Panel
        session={active}
        of={isPair ? panes.nameOf(active) : null}
        shown={labels?.map === active.state.map ? labels.labels : []}
      />
      {views.map((session) => (
        <div key={session} class="unseen" role="status" aria-live="polite">
          {isPair && said.has(session) && `${panes.nameOf(session)}: `}
          {said.get(session)}
        </div>
      ))}
      <Help session={active} isOpen={isHelpOpen} onClose={() => setHelpOpen(false)} />
    </div>
  );
}

function Head({ panes, onHelp }: { panes: Panes; onHelp: () => void }) {
  const { active, title, isPair } = panes;
  const { theme } = active.appearance;
  const other = theme === "dark" ? "light" : "dark";
  const goOther = `${capital(other)} theme`;
  return (
    <header class="head">
      <div>
        <h1 title={title}>{title}</h1>
        <p class="facts">
          {panes.hasTwoAtlases ? "Two atlases side by side" : facts(active.atlas)}
        </p>
      </div>
      <Search session={active} />
      <div class="tools">
        {(panes.mayOpen || (isPair && !panes.hasTwoAtlases)) && (
          <button
            type="button"
            class="tool"
            title="Side by side (d)"
            aria-label="Side by side"
            aria-pressed={isPair}
            onClick={() => panes.toggle()}
          >
            <Icon name="beside" />
          </button>
        )}
        <button
          type="button"
          class="tool"
          title={goOther}
          aria-label={goOther}
          onClick={() => active.store.change({ theme: other })}
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
