/** The search field: a combobox with a list of what is found. Enter goes there, Escape gives up. */

import type { TargetedKeyboardEvent } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { capital } from "../data/words.ts";
import type { Found } from "../state/finder.ts";
import { noMatch } from "../state/sentences.ts";
import type { Session } from "../state/session.ts";
import { Button } from "./button.tsx";
import { Icon } from "./icons.tsx";
import { Word } from "./label_text.tsx";
import { Option } from "./search_result.tsx";

export function Search({ session, isOpening }: { session: Session; isOpening: boolean }) {
  const { atlas } = session;
  const { word } = session.state;
  const [, nouns] = atlas.noun;
  /** The text that is being typed; null while the field shows the word. */
  const [typed, setTyped] = useState<string | null>(null);
  const [active, setActive] = useState(0);
  const field = useRef<HTMLInputElement>(null);
  const list = useRef<HTMLDivElement>(null);
  const text = typed ?? (word === null ? "" : atlas.labels[word]);
  const isOpen = typed !== null && typed.trim() !== "";
  const hits = useMemo(() => (isOpen ? session.finder.find(text) : []), [isOpen, text]);

  useLayoutEffect(() => setTyped(null), [word]);
  useEffect(() => {
    list.current?.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" });
  }, [active, hits]);

  const type = (value: string | null) => {
    setTyped(value);
    setActive(0);
  };
  const goTo = (object: number, map: number | null = null) => {
    type(null);
    session.chooseWord(object, map);
    session.focusFound();
  };
  const enter = (found: Found) => {
    if (found.object !== null) return goTo(found.object, found.map);
    type(null);
    session.showGroup(found);
  };
  const clear = () => {
    type(null);
    session.chooseWord(null);
    field.current?.focus();
  };
  const leave = (target: HTMLElement) => {
    if (typed !== null) type(null);
    else if (text !== "") clear();
    else target.closest<HTMLElement>(".atlas")?.focus();
  };
  const pressed = (event: TargetedKeyboardEvent<HTMLInputElement>) => {
    if (event.isComposing) return;
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (by === undefined && event.key !== "Enter" && event.key !== "Escape") return;
    event.preventDefault();
    if (by !== undefined && !isOpen) type(text);
    else if (by !== undefined) setActive((active + by + hits.length) % (hits.length || 1));
    else if (event.key === "Escape") {
      event.stopPropagation();
      leave(event.currentTarget);
    } else if (hits.length > 0) enter(hits[active]);
    else if (text === "") clear();
    else if (!isOpen && word !== null) goTo(word);
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
        aria-label={`Find ${nouns}`}
        aria-expanded={isOpen}
        aria-controls="hits"
        aria-autocomplete="list"
        aria-activedescendant={hits.length > 0 ? `hit-${active}` : undefined}
        placeholder={`Find ${nouns}`}
        autocomplete="off"
        autocapitalize="off"
        spellcheck={false}
        dir="auto"
        value={text}
        ref={field}
        onInput={(event) => type(event.currentTarget.value)}
        onKeyDown={pressed}
        onFocus={(event) => event.currentTarget.select()}
        onBlur={() => type(null)}
      />
      {text !== "" && (
        <Button
          class="clear"
          aria-label="Clear the search"
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
        aria-label={`${capital(nouns)} found`}
        tabIndex={-1}
        hidden={hits.length === 0}
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
          <span class="hit quiet">{noMatch(atlas, text)}</span>
        </p>
      )}
      {isOpening && atlas.examples.length > 0 && (
        <p class="examples">
          For example{" "}
          {atlas.examples.map((object) => (
            <Button class="plain link" onClick={() => goTo(object)}>
              <Word atlas={atlas} object={object} />
            </Button>
          ))}
        </p>
      )}
    </div>
  );
}
