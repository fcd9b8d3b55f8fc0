/** The whole page: head, one view or two side by side, panel. */

import { useLayoutEffect, useReducer, useRef, useState } from "preact/hooks";
import { plainLabel } from "../data/words.ts";
import type { Panes } from "../state/panes.ts";
import type { Session } from "../state/session.ts";
import * as texts from "../texts.ts";
import { Button, Tool } from "./button.tsx";
import { SaveMenu } from "./exports.tsx";
import { Help } from "./help.tsx";
import { listenToKeys } from "./keys.ts";
import type { Shown } from "./map_page.tsx";
import { Pane } from "./pane.tsx";
import { Panel } from "./panel.tsx";
import { Search } from "./search_box.tsx";

export function App({ panes }: { panes: Panes }) {
  const [, redraw] = useReducer((count: number) => count + 1, 0);
  const [said, say] = useState(new Map<Session, string>());
  const [shown, setShown] = useState(new Map<Session, Shown>());
  const [isHelpOpen, setHelpOpen] = useState(false);
  const root = useRef<HTMLDivElement>(null);
  const isOpening = useRef(false);
  const { views, active, isPair } = panes;
  // Listen before the first frame, so that no key press is lost.
  useLayoutEffect(() => panes.listen(redraw as () => void), []);
  useLayoutEffect(
    () => listenToKeys(root.current as HTMLElement, panes, () => setHelpOpen(true)),
    [],
  );
  for (const session of views) {
    session.announce = (sentence) => say((all) => new Map(all).set(session, sentence));
  }
  const labels = shown.get(active);
  const { map, word, isPreview, selection, hasSettings, color } = active.state;
  // While a word is only looked at, the field in which it is typed stays where it is.
  if (!isPreview) isOpening.current = !isPair && map === null && word === null;
  const hasPanel = map !== null || selection.length > 0 || hasSettings || color !== null;
  const layout = [isPair && "pair", isOpening.current && "opening", !hasPanel && "bare"];
  useLayoutEffect(() => {
    if (!active.ownsTheKeys || isPreview) return;
    const label = word === null ? "" : plainLabel(active.atlas, word) + texts.DASH;
    document.title = label + panes.title;
  }, [active, word, isPreview]);
  return (
    <div class={["atlas", ...layout].filter(Boolean).join(" ")} ref={root} tabIndex={-1}>
      <Head panes={panes} isOpening={isOpening.current} onHelp={() => setHelpOpen(true)} />
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
      {hasPanel && (
        <Panel
          session={active}
          of={isPair ? panes.nameOf(active) : null}
          shown={labels?.map === map ? labels.labels : []}
        />
      )}
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

interface HeadProps {
  panes: Panes;
  isOpening: boolean;
  onHelp: () => void;
}

function Head({ panes, isOpening, onHelp }: HeadProps) {
  const { active, title, isPair } = panes;
  const { theme } = active.appearance;
  const { hasSettings } = active.state;
  const other = theme === "dark" ? "light" : "dark";
  const { description } = active.atlas;
  return (
    <header class="head">
      <div>
        <h1 title={title}>{title}</h1>
        {panes.hasTwoAtlases && <p class="quiet">{texts.TWO_ATLASES}</p>}
        {isOpening && description && (
          <p class="sentence" dir="auto">
            {description}
          </p>
        )}
      </div>
      <Search session={active} isOpening={isOpening} />
      <div class="tools">
        <Button
          aria-pressed={hasSettings}
          onClick={() => active.store.change({ hasSettings: !hasSettings })}
        >
          {texts.DISPLAY}
        </Button>
        <SaveMenu session={active} />
        {(panes.mayOpen || (isPair && !panes.hasTwoAtlases)) && (
          <Tool
            icon="beside"
            name={texts.SIDE_BY_SIDE}
            keys="d"
            aria-pressed={isPair}
            onClick={() => panes.toggle()}
          />
        )}
        <Tool
          icon={theme === "dark" ? "sun" : "moon"}
          name={texts.themeOf(other)}
          onClick={() => active.store.change({ theme: other })}
        />
        <Tool icon="help" name={texts.HELP} keys="?" onClick={onHelp} />
      </div>
    </header>
  );
}
