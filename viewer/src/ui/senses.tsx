/** A word: its headline, a card for each sense, further facts, and the whole map of the first sense. */

import { useId } from "preact/hooks";
import { BETWEEN, counted, wholePercent } from "../data/words.ts";
import type { ShownSense } from "../state/lookups.ts";
import { covered, notClose, onMaps, wordsOf } from "../state/sentences.ts";
import type { Session } from "../state/session.ts";
import { Button, stepBetween, Tool } from "./button.tsx";
import { Disclosures } from "./disclosures.tsx";
import { Portraits, Word } from "./label_text.tsx";
import { Crop, WholeMap } from "./pictures.tsx";
import { Details } from "./word_card.tsx";

interface SensesProps {
  session: Session;
  word: number;
  /** Whether it is a strip above an open map. */
  isLow: boolean;
}

export function Senses({ session, word, isLow }: SensesProps) {
  const { atlas, lookups } = session;
  const title = useId();
  const senses = lookups.sensesOf(word);
  const [first] = senses;
  return (
    <section
      class={isLow ? "senses low" : "senses"}
      aria-labelledby={title}
      data-count={senses.length}
    >
      <div class="top">
        <h2 id={title}>
          <Word atlas={atlas} object={word} />: {onMaps(senses.length)}
        </h2>
        <p>{covered(senses)}</p>
        <Tool icon="close" name="Close the senses" onClick={() => session.chooseWord(null)} />
      </div>
      <Cards session={session} word={word} isLow={isLow} onOpen={(map) => session.openMap(map)} />
      {!isLow && (
        <>
          <Facts session={session} word={word} />
          {first && <WholeMap session={session} sense={first} />}
        </>
      )}
    </section>
  );
}

/** What is known of a word besides its senses, and the way to all maps. */
function Facts({ session, word }: Omit<SensesProps, "isLow">) {
  const { atlas, lookups } = session;
  const far = notClose(atlas, lookups.farFrom(word));
  return (
    <div class="facts">
      {far && <p>{far}</p>}
      <Portraits atlas={atlas} object={word} />
      <Details session={session} object={word} />
      <Disclosures session={session} object={word} />
      <Button class="plain link" onClick={() => session.showGallery()}>
        All {counted(atlas.nMaps, "map")}
      </Button>
    </div>
  );
}

/** Columns of some pictures, at most so many, in rows that are as even as can be. */
export function columnsOf(count: number, most: number): number {
  return Math.ceil(count / Math.ceil(count / most)) || 1;
}

type CardsProps = Omit<SensesProps, "isLow"> & { isLow?: boolean; onOpen(map: number): void };

/** A card for each sense of a word; the last row is as wide as the others. */
export function Cards({ session, word, isLow, onOpen }: CardsProps) {
  const known = session.lookups.sensesOf(word);
  // Small pictures have room for the words of the name alone.
  const senses = known.map((sense) => (isLow ? { ...sense, neighbors: sense.name } : sense));
  const { length } = senses;
  const style = {
    "--usual": columnsOf(length, length > 6 ? 4 : 3),
    "--wide": columnsOf(length, 5),
  };
  return (
    <ul class="strip" style={style} onKeyDown={stepBetween}>
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
  const isMarked = state.markedMap === map;
  return (
    <Button
      class={isMarked ? "sense both" : "sense"}
      data-map={map}
      aria-current={state.map === map && state.word === word}
      onClick={() => onOpen(map)}
    >
      <Crop session={session} sense={sense} />
      <span class="caption">
        <span class="share" style={color && { color }}>
          <b>
            <bdi>{name}</bdi>
          </b>
          <span class="number">{wholePercent(percent)}</span>
        </span>
        <span class="bar">
          <i style={{ width: `${percent}%`, ...(color && { background: color }) }} />
        </span>
        {others && <bdi class="near">{others}</bdi>}
        <small class="quiet">
          Map {map} · open{isMarked && `${BETWEEN}both words are close here`}
        </small>
      </span>
    </Button>
  );
}
