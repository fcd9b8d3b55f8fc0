/** The whole page: head, senses, gallery or map, panel. */

import { useLayoutEffect, useReducer, useRef, useState } from "preact/hooks";
import { capital, plainLabel } from "../data/words.ts";
import type { Session } from "../state/session.ts";
import { Button, Tool, useOutside } from "./button.tsx";
import { hasChoices } from "./display.tsx";
import { SaveMenu } from "./exports.tsx";
import { Help } from "./help.tsx";
import { listenToKeys } from "./keys.ts";
import { Main } from "./main.tsx";
import { Panel } from "./panel.tsx";
import { Search } from "./search_box.tsx";

export function App({ session }: { session: Session }) {
  const [, redraw] = useReducer((count: number) => count + 1, 0);
  const [said, say] = useState("");
  const [isHelpOpen, setHelpOpen] = useState(false);
  const root = useRef<HTMLDivElement>(null);
  const { atlas, state } = session;
  // Listen before the first frame, so that no key press is lost.
  useLayoutEffect(() => session.store.listen(redraw as () => void), []);
  useLayoutEffect(
    () => listenToKeys(root.current as HTMLElement, session, () => setHelpOpen(true)),
    [],
  );
  session.announce = say;
  // An address with a word is a link, too; a notebook keeps its own focus.
  useLayoutEffect(() => {
    if (session.ownsTheKeys && state.word !== null) session.focusFound();
  }, []);
  const { map, word, selection, hasSettings, color } = state;
  const isOpening = map === null && word === null;
  const hasPanel = map !== null || selection.length > 0 || hasSettings || color !== null;
  const layout = ["atlas", isOpening && "opening", !hasPanel && "bare"];
  useLayoutEffect(() => {
    if (!session.ownsTheKeys) return;
    const label = word === null ? "" : `${plainLabel(atlas, word)} – `;
    document.title = label + atlas.title;
  }, [word]);
  return (
    <div class={layout.filter(Boolean).join(" ")} ref={root} tabIndex={-1}>
      <Head session={session} isOpening={isOpening} onHelp={() => setHelpOpen(true)} />
      <Main session={session} />
      {hasPanel && <Panel session={session} />}
      <div class="unseen" role="status" aria-live="polite">
        {said}
      </div>
      <Help session={session} isOpen={isHelpOpen} onClose={() => setHelpOpen(false)} />
    </div>
  );
}

type HeadProps = { session: Session; isOpening: boolean; onHelp: () => void };

function Head({ session, isOpening, onHelp }: HeadProps) {
  const { atlas, state, store } = session;
  const { theme } = session.shown;
  const { hasSettings } = state;
  const [isMenuOpen, setMenuOpen] = useState(false);
  const menu = useRef<HTMLDivElement>(null);
  useOutside(menu, () => setMenuOpen(false));
  const other = theme === "dark" ? "light" : "dark";
  const { title, description } = atlas;
  return (
    <header class="head">
      <div>
        <h1 title={title}>{title}</h1>
        {isOpening && description && (
          <p class="sentence" dir="auto">
            {description}
          </p>
        )}
      </div>
      <Search session={session} isOpening={isOpening} />
      <div class={isMenuOpen ? "tools open" : "tools"} ref={menu}>
        <Tool
          class="tool menu-button"
          icon="menu"
          name="Menu"
          aria-expanded={isMenuOpen}
          onClick={() => setMenuOpen(!isMenuOpen)}
        />
        {hasChoices(session) && (
          <Button
            aria-pressed={hasSettings}
            onClick={() => store.change({ hasSettings: !hasSettings })}
          >
            Display
          </Button>
        )}
        <SaveMenu session={session} />
        <Tool
          icon={theme === "dark" ? "sun" : "moon"}
          name={`${capital(other)} theme`}
          onClick={() => store.change({ theme: other })}
        />
        <Tool icon="help" name="Help" keys="?" onClick={onHelp} />
      </div>
    </header>
  );
}
