/** Cards: a picture of a map, and under it the name, the one number and the bar of a sense. */

import type { ShownSense } from "../state/lookups.ts";
import { wordsOf } from "../state/sentences.ts";
import type { Session } from "../state/session.ts";
import * as texts from "../texts.ts";
import { Button } from "./button.tsx";
import { Crop } from "./pictures.tsx";

interface CardsProps {
  session: Session;
  word: number;
  onOpen: (map: number) => void;
}

/** Columns of 0, 1, 2, ... cards on a screen of usual width and on a wide one: no row has one alone. */
const COLUMNS: readonly number[][] = [
  [1, 1],
  [1, 1],
  [2, 2],
  [3, 3],
  [2, 4],
  [3, 5],
  [3, 3],
];

/** A card for each sense of a word. */
export function Cards({ session, word, onOpen }: CardsProps) {
  const senses = session.lookups.sensesOf(word);
  const [columns, wide] = COLUMNS[senses.length] ?? [4, 4];
  return (
    <ul
      class="strip"
      style={{ "--columns": `${columns}`, "--wide": `${wide}` }}
      onKeyDown={stepBetween}
    >
      {senses.map((sense) => (
        <li key={sense.map}>
          <Card session={session} word={word} sense={sense} onOpen={onOpen} />
        </li>
      ))}
    </ul>
  );
}

function Card({ session, word, sense, onOpen }: CardsProps & { sense: ShownSense }) {
  const { state, lookups, contents } = session;
  const { map, percent } = sense;
  const { name, others } = wordsOf(session.atlas, sense, lookups.sensesOf(word).length);
  const color = contents.colorOf(sense);
  return (
    <Button
      class={state.markedMap === map ? "sense both" : "sense"}
      data-map={map}
      aria-current={state.map === map && state.word === word}
      onClick={() => onOpen(map)}
    >
      <Crop session={session} word={word} sense={sense} />
      <span class="caption">
        <span class="share" style={color && { color }}>
          <b>
            <bdi>{name}</bdi>
          </b>
          <span class="number">{texts.wholePercent(percent)}</span>
        </span>
        <span class="bar">
          <i style={{ width: `${percent}%`, ...(color && { background: color }) }} />
        </span>
        {others && <bdi class="near">{others}</bdi>}
        <small class="quiet">
          {[texts.openMap(map), state.markedMap === map && texts.BOTH_CLOSE]
            .filter(Boolean)
            .join(texts.BETWEEN)}
        </small>
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
