/**
 * The search field: a combobox with a list of what is found. When one pauses, the first word of it is
 * already shown; Enter goes there, Escape goes back to what was shown before.
 */

import type { TargetedKeyboardEvent } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Found } from "../state/finder.ts";
import { noMatch } from "../state/sentences.ts";
import type { Session } from "../state/session.ts";
import * as texts from "../texts.ts";
import { AS_TYPED, Button } from "./button.tsx";
import { holdPictures } from "./drawing_queue.ts";
import { Icon } from "./icons.tsx";
import { Word } from "./label_text.tsx";
import { Option } from "./search_result.tsx";

/** Milliseconds without a key after which a word is shown; before that only the list follows. */
const PAUSE = 150;

interface SearchProps {
  session: Session;
  /** Whether examples stand below the field. */
  isOpening: boolean;
}

export function Search({ session, isOpening }: SearchProps) {
  const { word } = session.state;
  const [, nouns] = session.atlas.noun;
  const labelOf = (object: number | null) => (object === null ? "" : session.atlas.labels[object]);
  const shown = labelOf(word);
  const [text, setText] = useState(shown);
  const [hits, setHits] = useState<Found[]>([]);
  const [isOpen, setOpen] = useState(false);
  const [active, setActive] = useState(0);
  const [previous, setPrevious] = useState<number | null>(word);
  const isTyping = useRef(false);
  const pause = useRef<{ timer: ReturnType<typeof setTimeout>; show: () => void } | null>(null);
  const field = useRef<HTMLInputElement>(null);
  const list = useRef<HTMLDivElement>(null);

  useLayoutEffect(() => {
    if (!isTyping.current) setText(shown);
  }, [shown, isOpen]);
  useEffect(() => {
    list.current?.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" });
  }, [active, hits]);

  /** The word that was shown before the typing began. */
  const before = () => (isTyping.current ? previous : session.state.word);
  const typed = (value: string) => {
    const last = before();
    if (!isTyping.current) setPrevious(last);
    isTyping.current = true;
    const found = session.finder.find(value);
    setText(value);
    setHits(found);
    setActive(0);
    setOpen(value.trim() !== "");
    const [first] = found;
    if (first) showSoon(first.object ?? last);
    else showSoon(value.trim() === "" ? null : last);
  };
  const showSoon = (object: number | null) => {
    stopWaiting();
    holdPictures(PAUSE);
    const show = () => {
      pause.current = null;
      session.preview(object);
    };
    pause.current = { timer: setTimeout(show, PAUSE), show };
  };
  const stopWaiting = () => {
    clearTimeout(pause.current?.timer);
    pause.current = null;
  };
  /** Ends the typing; what was typed is lost, what is shown stays. */
  const close = () => {
    stopWaiting();
    isTyping.current = false;
    setOpen(false);
  };
  session.endTyping = () => {
    close();
    setText(shown);
  };
  const choose = (object: number | null, map: number | null = null) => {
    const last = before();
    close();
    setText(labelOf(object));
    session.chooseWord(object, last, map);
  };
  const enter = (found: Found) => {
    if (found.object === null) {
      takeBack();
      session.showGroup(found);
    } else goTo(found.object, found.map);
  };
  const goTo = (object: number, map: number | null = null) => {
    choose(object, map);
    session.focusFound();
  };
  // Going elsewhere keeps what was found, as a step that can be taken back.
  const leave = () => {
    if (!isTyping.current) return;
    pause.current?.show();
    choose(session.state.word);
  };
  const takeBack = () => {
    close();
    setText(labelOf(previous));
    session.endPreview(previous);
  };
  const clear = () => {
    choose(null);
    setHits([]);
    field.current?.focus();
  };
  const move = (by: number) => {
    if (!isOpen || hits.length === 0) return;
    const next = (active + by + hits.length) % hits.length;
    setActive(next);
    showSoon(hits[next].object ?? previous);
  };
  const pressed = (event: TargetedKeyboardEvent<HTMLInputElement>) => {
    if (event.isComposing) return;
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      if (isOpen) move(event.key === "ArrowDown" ? 1 : -1);
      else if (text.trim() !== "") typed(text);
    } else if (event.key === "Enter") {
      event.preventDefault();
      if (isOpen && hits.length > 0) enter(hits[active]);
      else if (!isOpen && session.state.word !== null) goTo(session.state.word);
    } else if (event.key === "Escape") {
      event.preventDefault();
      event.stopPropagation();
      if (isTyping.current) takeBack();
      else if (text !== "") clear();
      else event.currentTarget.closest<HTMLElement>(".atlas")?.focus();
    }
  };
  // Guesses are marked as such only if nothing matches what was typed.
  const isGuessing = hits.every((hit) => hit.object !== null && hit.how === "close");
  return (
    <div class="search" role="search">
      <Icon name="search" />
      <input
        class="field"
        type="text"
        role="combobox"
        aria-label={texts.find(nouns)}
        aria-expanded={isOpen}
        aria-controls="hits"
        aria-autocomplete="list"
        aria-activedescendant={isOpen && hits.length > 0 ? `hit-${active}` : undefined}
        placeholder={texts.find(nouns)}
        {...AS_TYPED}
        value={text}
        ref={field}
        onInput={(event) => typed(event.currentTarget.value)}
        onKeyDown={pressed}
        onFocus={(event) => event.currentTarget.select()}
        onBlur={leave}
      />
      {text !== "" && (
        <Button
          class="clear"
          aria-label={texts.CLEAR_SEARCH}
          // As in the list: the field keeps the focus until the click.
          onMouseDown={(event) => event.preventDefault()}
          onClick={clear}
        >
          <Icon name="close" />
        </Button>
      )}
      <div
        class="hits"
        id="hits"
        role="listbox"
        aria-label={texts.foundList(nouns)}
        tabIndex={-1}
        hidden={!isOpen || hits.length === 0}
        ref={list}
      >
        {hits.map((hit, k) => (
          <Option
            key={`${hit.object} ${hit.column} ${hit.text}`}
            id={`hit-${k}`}
            session={session}
            hit={hit}
            isGuess={isGuessing && k === 0}
            isActive={k === active}
            onChoose={() => enter(hit)}
          />
        ))}
      </div>
      {isOpen && hits.length === 0 && (
        <p class="hits" role="status">
          <span class="hit quiet">{noMatch(session.atlas, text)}</span>
        </p>
      )}
      {isOpening && session.atlas.examples.length > 0 && (
        <p class="examples">
          {texts.FOR_EXAMPLE}
          {session.atlas.examples.map((object) => (
            <Button class="plain link" onClick={() => goTo(object)}>
              <Word atlas={session.atlas} object={object} />
            </Button>
          ))}
        </p>
      )}
    </div>
  );
}
