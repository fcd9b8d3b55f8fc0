/** One object in words: its columns, its maps, its associates and the words that evoke it. */

import { valueIn } from "../data/words.ts";
import type { Session } from "../state/session.ts";
import { Button, Tool } from "./button.tsx";
import { Disclosures } from "./disclosures.tsx";
import { Portraits, Word } from "./label_text.tsx";

const MOST_CHIPS = 8;

type WordCardProps = { session: Session; object: number; isTapped: boolean };

/** The card of the word or, on a phone over the foot of the map, of a dot that was tapped. */
export function WordCard({ session, object, isTapped }: WordCardProps) {
  const { atlas, state } = session;
  return (
    <section class={isTapped ? "wordcard tapped" : "wordcard"} aria-label={`The ${atlas.noun[0]}`}>
      {isTapped && <Tool icon="close" name="Close the card" onClick={() => session.select([])} />}
      <h2>
        <Word atlas={atlas} object={object} longest={1000} />
      </h2>
      <Portraits atlas={atlas} object={object} />
      <Details session={session} object={object} />
      <p class="row">
        {state.word === object && session.isSingle && (
          <Button onClick={() => session.chooseWord(null)}>Close</Button>
        )}
        {state.word !== object && (
          <Button onClick={() => session.follow(object)}>
            {session.isSingle ? "Show on map" : "Show senses"}
          </Button>
        )}
        {!session.isSingle &&
          state.word !== object &&
          session.lookups
            .mapsOf(object)
            .slice(0, MOST_CHIPS)
            .map((map) => (
              <Button key={map} class="chip" onClick={() => session.goTo(object, map)}>
                Map {map}
              </Button>
            ))}
      </p>
      <Disclosures session={session} object={object} />
    </section>
  );
}

export function Details({ session, object }: { session: Session; object: number }) {
  const columns = session.atlas.columns.filter(({ type }) => type !== "image");
  const rows = columns.map((column) => [column.name, valueIn(column, object)]);
  const known = rows.filter(([, value]) => value !== "");
  if (known.length === 0) return null;
  return (
    <dl>
      {known.map(([name, value]) => (
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
