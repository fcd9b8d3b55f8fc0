/** Cards: a picture of a map, and under it a name, one number and one bar for each meaning there. */

import type { ComponentChildren } from "preact";
import { elementAt } from "../data/elements.ts";
import type { Meaning } from "../state/lookups.ts";
import { numbersOf, shownOf, wordsOf } from "../state/sentences.ts";
import type { Session } from "../state/session.ts";
import * as texts from "../texts.ts";
import { Button } from "./button.tsx";
import { Crop } from "./pictures.tsx";

interface CardsProps {
  session: Session;
  word: number;
  onOpen: (map: number) => void;
}

/** A card for each map that shows meanings of a word. */
export function Cards({ session, word, onOpen }: CardsProps) {
  const { atlas, lookups, state } = session;
  const senses = lookups.sensesOf(word);
  const numbers = numbersOf(senses);
  const meant = word === state.word ? lookups.meantBy(word, state.context)?.meaning.rank : null;
  return (
    <ul class="strip" onKeyDown={stepBetween}>
      {lookups.cardsOf(word).map(({ map, meanings }) => (
        <li key={map}>
          <Card
            session={session}
            word={word}
            meanings={meanings}
            isOpen={state.map === map && state.word === word}
            isMeant={meanings.some(({ rank }) => rank === meant)}
            onOpen={() => onOpen(map)}
          >
            {meanings.map((meaning) => {
              const { name, others } = wordsOf(atlas, meaning, shownOf(senses).length);
              const rank = meaning.rank as number;
              const color = meaning.share === null ? undefined : session.contents.colorOf(rank);
              return (
                <Share key={rank} value={elementAt(numbers, rank)} color={color} others={others}>
                  <bdi>{name}</bdi>
                </Share>
              );
            })}
          </Card>
        </li>
      ))}
    </ul>
  );
}

interface ShareProps {
  /** A whole per cent. */
  value: number;
  color?: string | undefined;
  others?: string;
  /** The name of the meaning or step. */
  children: ComponentChildren;
}

/** A name with its one number and bar, and further words. */
export function Share({ value, color, others, children }: ShareProps) {
  const bar = color === undefined ? {} : { background: color };
  return (
    <span class="meaning">
      <span class="share" style={color && { color }}>
        <b>{children}</b>
        <span class="number">{texts.wholePercent(value)}</span>
      </span>
      <span class="bar">
        <i style={{ width: `${value}%`, ...bar }} />
      </span>
      {others && <bdi class="near">{others}</bdi>}
    </span>
  );
}

interface CardProps {
  session: Session;
  word: number;
  /** All on one map. */
  meanings: readonly Meaning[];
  isOpen: boolean;
  /** Whether the context of the word points to it. */
  isMeant?: boolean;
  onOpen: () => void;
  children: ComponentChildren;
}

export function Card(props: CardProps) {
  const { session, word, meanings, isOpen, isMeant, onOpen, children } = props;
  const { map } = elementAt(meanings, 0);
  return (
    <Button
      class={isMeant ? "sense meant" : "sense"}
      data-map={map}
      aria-current={isOpen}
      onClick={onOpen}
    >
      <Crop session={session} word={word} meanings={meanings} />
      <span class="caption">
        {children}
        <small class="quiet">{texts.openMap(map)}</small>
      </span>
    </Button>
  );
}

/** Arrow keys go from one button of a list to the next. */
export function stepBetween(event: KeyboardEvent): void {
  const by = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (by === undefined) return;
  const buttons = [...(event.currentTarget as HTMLElement).querySelectorAll("button")];
  const at = buttons.indexOf(event.target as HTMLButtonElement);
  const next = buttons[at + by];
  if (at < 0 || next === undefined) return;
  event.preventDefault();
  next.focus();
}
