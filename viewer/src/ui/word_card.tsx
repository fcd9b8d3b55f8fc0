/** One object in words: its columns, its maps, what it recalls and what recalls it. */

import { type Column, kindOf, lives } from "../data/atlas.ts";
import { elementAt } from "../data/elements.ts";
import { mapsOf } from "../data/entries.ts";
import { percent } from "../data/words.ts";
import type { Session } from "../state/session.ts";
import { Icon } from "./icons.tsx";
import { Word } from "./words.tsx";

interface WordCardProps {
  session: Session;
  object: number;
  /** Whether it is of a dot of the open map; on a phone it then lies over the map's foot. */
  isTapped: boolean;
}

export function WordCard({ session, object, isTapped }: WordCardProps) {
  const { atlas, state } = session;
  const maps = mapsOf(atlas, object).filter((at) => lives(at.recall, state.threshold));
  return (
    <section class={isTapped ? "wordcard tapped" : "wordcard"} aria-label="The word">
      {isTapped && (
        <button
          type="button"
          class="tool leave"
          aria-label="Close the card"
          onClick={() => session.select([])}
        >
          <Icon name="close" />
        </button>
      )}
      <h2>
        <Word atlas={atlas} object={object} longest={1000} />
      </h2>
      <Details session={session} object={object} />
      <p class="row">
        {state.word !== object && (
          <button type="button" class="button" onClick={() => session.chooseWord(object)}>
            {session.isSingle ? "Go there" : "Show its senses"}
          </button>
        )}
        <button
          type="button"
          class="button"
          title="Select it (s)"
          aria-pressed={state.selection.includes(object)}
          onClick={() => session.select([object], "toggle")}
        >
          {state.selection.includes(object) ? "Selected" : "Select"}
        </button>
      </p>
      {!session.isSingle && state.word !== object && (
        <p class="row">
          {maps.slice(0, 8).map(({ map, recall }) => (
            <button key={map} type="button" class="chip" onClick={() => session.goTo(object, map)}>
              Map {map} <span class="quiet number">{percent(recall)}</span>
            </button>
          ))}
        </p>
      )}
      <Associations session={session} object={object} />
    </section>
  );
}

function Details({ session, object }: { session: Session; object: number }) {
  const kind = kindOf(session.atlas, object);
  const rows: [string, string][] = session.atlas.columns.flatMap((column): [string, string][] => {
    const value = valueIn(column, object);
    return value === null || (column.name === "kind" && kind !== null)
      ? []
      : [[column.name, value]];
  });
  if (kind !== null) rows.unshift(["kind", kind]);
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
  if (column.type === "category") return column.categories[elementAt(column.codes, object)] ?? null;
  const value = elementAt(column.values, object);
  if (Number.isNaN(value)) return null;
  return String(Number.isInteger(value) ? value : Number(value.toPrecision(6)));
}

/** What the object recalls, and what recalls it. */
function Associations({ session, object }: { session: Session; object: number }) {
  const { atlas, lookups } = session;
  const pairs = lookups.associationsOf(object).filter(({ to, from }) => to > 0 || from > 0);
  // Between two kinds the most frequent would come first everywhere; the senses list what is near.
  if (pairs.length === 0 || atlas.kinds !== null) return null;
  const both = lookups.probabilities.isAsymmetric;
  return (
    <table>
      <caption>
        {both ? "What it recalls, and what recalls it" : "What is most similar to it"}
      </caption>
      <thead>
        <tr>
          <th scope="col">word</th>
          <th scope="col" class="number">
            {both ? "recalled" : "similarity"}
          </th>
          {both && (
            <th scope="col" class="number">
              recalls it
            </th>
          )}
        </tr>
      </thead>
      <tbody>
        {pairs.map(({ object: other, to, from }) => (
          <tr key={other}>
            <th scope="row">
              <button type="button" class="plain" onClick={() => session.chooseWord(other)}>
                <Word atlas={atlas} object={other} />
              </button>
            </th>
            <td class="number">{percent(to)}</td>
            {both && <td class="number">{percent(from)}</td>}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
