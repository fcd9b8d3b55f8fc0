/**
 * The search field: a combobox with a list of words. While one types, the first word found is already
 * shown; Enter goes there, Escape goes back to what was shown before.
 */

import type { TargetedKeyboardEvent } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { elementAt } from "../data/elements.ts";
import { capital } from "../data/words.ts";
import type { Hit } from "../state/search.ts";
import { whereabouts } from "../state/sentences.ts";
import type { Session } from "../state/session.ts";
import { Icon } from "./icons.tsx";
import { Marked } from "./words.tsx";

const MOST_HITS = 12;

export function Search({ session }: { session: Session }) {
  const { word } = session.state;
  const [noun, nouns] = session.atlas.noun;
  const labelOf = (object: number | null) =>
    object === null ? "" : elementAt(session.atlas.labels, object);
  const shown = labelOf(word);
  const [text, setText] = useState(shown);
  const [hits, setHits] = useState<Hit[]>([]);
  const [isOpen, setOpen] = useState(false);
  const [active, setActive] = useState(0);
  const [previous, setPrevious] = useState<number | null>(word);
  const isTyping = useRef(false);
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
    const found = session.index.find(value, MOST_HITS);
    setText(value);
    setHits(found);
    setActive(0);
    setOpen(value.trim() !== "");
    const [first] = found;
    if (first) session.preview(first.object);
    else session.preview(value.trim() === "" ? null : last);
  };
  /** Ends the typing; what was typed is lost, what is shown stays. */
  const close = () => {
    isTyping.current = false;
    setOpen(false);
  };
  session.endTyping = () => {
    close();
    setText(shown);
  };
  const choose = (object: number | null) => {
    const last = before();
    close();
    setText(labelOf(object));
    session.chooseWord(object, last);
  };
  const enter = (object: number) => {
    choose(object);
    // Keys belong to what was found from now on, once it stands there: Preact renders in a microtask,
    // which `choose` has asked for.
    queueMicrotask(() => session.focusFound());
  };
  // Going elsewhere keeps what was found, as a step that can be taken back.
  const leave = () => {
    if (isTyping.current) choose(session.state.word);
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
    session.preview(elementAt(hits, next).object);
  };
  const pressed = (event: TargetedKeyboardEvent<HTMLInputElement>) => {
    if (event.isComposing) return;
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      if (isOpen) move(event.key === "ArrowDown" ? 1 : -1);
      else if (text.trim() !== "") typed(text);
    } else if (event.key === "Enter") {
      event.preventDefault();
      if (isOpen && hits.length > 0) enter(elementAt(hits, active).object);
      else if (!isOpen && session.state.word !== null) enter(session.state.word);
    } else if (event.key === "Escape") {
      event.preventDefault();
      event.stopPropagation();
      if (isTyping.current) takeBack();
      else if (text !== "") clear();
      else event.currentTarget.closest<HTMLElement>(".atlas")?.focus();
    }
  };
  return (
    <div class="search" role="search">
      <Icon name="search" />
      <input
        class="field"
        type="text"
        role="combobox"
        aria-label={`Find ${nouns}`}
        aria-expanded={isOpen}
        aria-controls="hits"
        aria-autocomplete="list"
        aria-activedescendant={isOpen && hits.length > 0 ? `hit-${active}` : undefined}
        placeholder={`Find ${nouns}`}
        autocomplete="off"
        autocapitalize="off"
        spellcheck={false}
        dir="auto"
        value={text}
        ref={field}
        onInput={(event) => typed(event.currentTarget.value)}
        onKeyDown={pressed}
        onFocus={(event) => event.currentTarget.select()}
        onBlur={leave}
      />
      {text !== "" && (
        <button
          type="button"
          class="clear"
          aria-label="Clear the search"
          // As in the list: the field keeps the focus until the click.
          onMouseDown={(event) => event.preventDefault()}
          onClick={clear}
        >
          <Icon name="close" />
        </button>
      )}
      <div
        class="hits"
        id="hits"
        role="listbox"
        aria-label={`${capital(nouns)} found`}
        tabIndex={-1}
        hidden={!isOpen || hits.length === 0}
        ref={list}
      >
        {hits.map((hit, k) => (
          <Option
            key={hit.object}
            id={`hit-${k}`}
            session={session}
            hit={hit}
            isActive={k === active}
            onChoose={() => enter(hit.object)}
          />
        ))}
      </div>
      {isOpen && hits.length === 0 && (
        <p class="hits nothing" role="status">
          No {noun} is spelled like this.
        </p>
      )}
    </div>
  );
}

interface OptionProps {
  id: string;
  session: Session;
  hit: Hit;
  isActive: boolean;
  onChoose: () => void;
}

function Option({ id, session, hit, isActive, onChoose }: OptionProps) {
  return (
    <div
      class="hit"
      id={id}
      role="option"
      tabIndex={-1}
      aria-selected={isActive}
      // The field keeps the focus, so that its blur does not close the list before the click.
      onMouseDown={(event) => event.preventDefault()}
      onClick={onChoose}
      onKeyDown={(event) => event.key === "Enter" && onChoose()}
    >
      <span class="word">
        <Marked
          text={elementAt(session.atlas.labels, hit.object)}
          start={hit.start}
          end={hit.end}
        />
      </span>
      <span class="where">{whereabouts(session.atlas, hit.object, session.state.threshold)}</span>
    </div>
  );
}
