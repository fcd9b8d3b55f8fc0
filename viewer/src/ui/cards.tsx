/** Cards: a picture of a map, and under it a name, one number and one bar for each meaning there. */

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
  return (
    <ul class="strip" onKeyDown={stepBetween}>
      {session.lookups.cardsOf(word).map(({ map, meanings }) => (
        <li key={map}>
          <Card session={session} word={word} meanings={meanings} onOpen={onOpen} />
        </li>
      ))}
    </ul>
  );
}

function Card({ session, word, meanings, onOpen }: CardsProps & { meanings: Meaning[] }) {
  const { state } = session;
  const { map } = elementAt(meanings, 0);
  return (
    <Button
      class="sense"
      data-map={map}
      aria-current={state.map === map && state.word === word}
      onClick={() => onOpen(map)}
    >
      <Crop session={session} word={word} meanings={meanings} />
      <span class="caption">
        {meanings.map((meaning) => (
          <Share key={meaning.rank} session={session} word={word} meaning={meaning} />
        ))}
        <small class="quiet">{texts.openMap(map)}</small>
      </span>
    </Button>
  );
}

interface ShareProps {
  session: Session;
  word: number;
  meaning: Meaning;
}

/** A meaning: its name, its one number and bar, and further words. */
function Share({ session, word, meaning }: ShareProps) {
  const senses = session.lookups.sensesOf(word);
  const { name, others } = wordsOf(session.atlas, meaning, shownOf(senses).length);
  const rank = meaning.rank as number;
  const value = elementAt(numbersOf(senses), rank);
  const color = meaning.share === null ? undefined : session.contents.colorOf(rank);
  const bar = color === undefined ? {} : { background: color };
  return (
    <span class="meaning">
      <span class="share" style={color && { color }}>
        <b>
          <bdi>{name}</bdi>
        </b>
        <span class="number">{texts.wholePercent(value)}</span>
      </span>
      <span class="bar">
        <i style={{ width: `${value}%`, ...bar }} />
      </span>
      {others && <bdi class="near">{others}</bdi>}
    </span>
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
