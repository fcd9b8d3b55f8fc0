/** One object in words: its columns, its maps, its associates and the words that evoke it. */

import type { Column } from "../data/atlas.ts";
import type { Session } from "../state/session.ts";
import * as texts from "../texts.ts";
import { Button, Tool } from "./button.tsx";
import { Disclosures } from "./disclosures.tsx";
import { Portraits, Word } from "./label_text.tsx";

const MOST_CHIPS = 8;

interface WordCardProps {
  session: Session;
  object: number;
  /** Whether it is of a dot of the open map; on a phone it then lies over the map's foot. */
  isTapped: boolean;
}

export function WordCard({ session, object, isTapped }: WordCardProps) {
  const { atlas, state } = session;
  return (
    <section
      class={isTapped ? "wordcard tapped" : "wordcard"}
      aria-label={texts.theObject(atlas.noun[0])}
    >
      {isTapped && <Tool icon="close" name={texts.CLOSE_CARD} onClick={() => session.select([])} />}
      <h2>
        <Word atlas={atlas} object={object} longest={1000} />
      </h2>
      <Portraits atlas={atlas} object={object} />
      <Details session={session} object={object} />
      <p class="row">
        {state.word === object && session.isSingle && (
          <Button onClick={() => session.chooseWord(null)}>{texts.CLOSE}</Button>
        )}
        {state.word !== object && (
          <Button onClick={() => session.follow(object)}>
            {session.isSingle ? texts.SHOW_ON_MAP : texts.SHOW_SENSES}
          </Button>
        )}
        {!session.isSingle &&
          state.word !== object &&
          session.lookups
            .mapsOf(object)
            .slice(0, MOST_CHIPS)
            .map((map) => (
              <Button key={map} class="chip" onClick={() => session.goTo(object, map)}>
                {texts.mapName(map)}
              </Button>
            ))}
      </p>
      <Disclosures session={session} object={object} />
    </section>
  );
}

export function Details({ session, object }: { session: Session; object: number }) {
  const rows = session.atlas.columns.flatMap((column): [string, string][] => {
    const value = valueIn(column, object);
    return value === null ? [] : [[column.name, value]];
  });
  if (rows.length === 0) return null;
  return (
    <dl>
      {rows.map(([name, value]) => (
        <>
          <dt>{name}</dt>
          <dd dir="auto" title={value}>
            {value}
          </dd>
        </>
      ))}
    </dl>
  );
}

function valueIn(column: Column, object: number): string | null {
  if (column.type === "image") return null;
  if (column.type === "text") return column.values[object] || null;
  if (column.type === "category") return column.categories[column.codes[object]] ?? null;
  const value = column.values[object];
  if (Number.isNaN(value)) return null;
  return String(Number.isInteger(value) ? value : Number(value.toPrecision(6)));
}
