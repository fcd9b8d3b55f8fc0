/** One object in words: its columns, its maps, its associates and the words that evoke it. */

import { type Column, kindOf, lives } from "../data/atlas.ts";
import { elementAt } from "../data/elements.ts";
import { mapsOf } from "../data/entries.ts";
import type { Association, Neighbor } from "../data/probabilities.ts";
import { capital, percent, plainLabel } from "../data/words.ts";
import type { Beside } from "../state/lookups.ts";
import type { Session } from "../state/session.ts";
import { Icon } from "./icons.tsx";
import { ObjectTable } from "./object_table.tsx";
import { PathTo } from "./path.tsx";
import { Portraits, Word } from "./words.tsx";

interface WordCardProps {
  session: Session;
  /** The name of the view that it is about, beside another one. */
  of: string | null;
  object: number;
  /** Whether it is of a dot of the open map; on a phone it then lies over the map's foot. */
  isTapped: boolean;
}

export function WordCard({ session, of, object, isTapped }: WordCardProps) {
  const { atlas, state } = session;
  const maps = mapsOf(atlas, object).filter((at) => lives(at.weight, state.threshold));
  return (
    <section class={isTapped ? "wordcard tapped" : "wordcard"} aria-label={`The ${atlas.noun[0]}`}>
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
      {of !== null && of !== plainLabel(atlas, object) && (
        <p class="quiet">
          <bdi>{of}</bdi>
        </p>
      )}
      <h2>
        <Word atlas={atlas} object={object} longest={1000} />
      </h2>
      <Portraits atlas={atlas} object={object} />
      <Details session={session} object={object} />
      <p class="row">
        {state.word === object && session.isSingle && (
          <button type="button" class="button" onClick={() => session.chooseWord(null)}>
            Close
          </button>
        )}
        {state.word !== object && (
          <button type="button" class="button" onClick={() => session.chooseWord(object)}>
            {session.isSingle ? "Show on map" : "Show meanings"}
          </button>
        )}
        <button
          type="button"
          class="button"
          title="Select (s)"
          aria-pressed={state.selection.includes(object)}
          onClick={() => session.select([object], "toggle")}
        >
          {state.selection.includes(object) ? "Selected" : "Select"}
        </button>
      </p>
      {!session.isSingle && state.word !== object && (
        <p class="row">
          {maps.slice(0, 8).map(({ map, weight }) => (
            <button key={map} type="button" class="chip" onClick={() => session.goTo(object, map)}>
              Map {map}{" "}
              <span class="quiet number">
                {atlas.observed && "model "}
                {percent(weight)}
              </span>
            </button>
          ))}
        </p>
      )}
      {!session.isSingle && <PathTo key={object} session={session} object={object} />}
      <Associations session={session} object={object} />
    </section>
  );
}

export function Details({ session, object }: { session: Session; object: number }) {
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

/** The associates of the object and the objects that evoke it: observed shares, then the model's. */
function Associations({ session, object }: { session: Session; object: number }) {
  const { atlas, lookups } = session;
  if (atlas.observed) return <Observations session={session} object={object} />;
  if (session.isSingle) {
    const share = ({ share }: Neighbor) => percent(share, true);
    const title = "Share of its similarity on this map";
    return (
      <ObjectTable
        session={session}
        caption="Nearest neighbours"
        rows={lookups.nearestTo(object)}
        columns={[{ head: "share", cell: share, title }]}
      />
    );
  }
  const pairs = lookups.associationsOf(object);
  // Between two kinds the most frequent would come first everywhere; the senses list what is near.
  if (atlas.kinds !== null) return null;
  const {
    probabilities,
    probabilities: { isAsymmetric },
  } = lookups;
  const to = {
    head: isAsymmetric ? "evoked by it" : "model",
    cell: (pair: Association) => percent(probabilities.probability(object, pair.object)),
  };
  const from = { head: "evokes it", cell: (pair: Association) => percent(pair.from) };
  return (
    <ObjectTable
      session={session}
      caption="Associates in the model"
      rows={pairs}
      columns={isAsymmetric ? [to, from] : [to]}
    />
  );
}

const MOST_OBSERVED = 8;
const MOST_ROWS = 12;

function Observations({ session, object }: { session: Session; object: number }) {
  const { lookups } = session;
  const observed = lookups.recalledBy(object).slice(0, MOST_OBSERVED);
  const modelled = lookups.recalledInModel(object).slice(0, MOST_ROWS - observed.length);
  const columns = [
    {
      head: "observed",
      title: "Share in the data; a dash if not among the strongest",
      cell: ({ share }: Beside) => (Number.isNaN(share) ? "–" : percent(share)),
    },
    {
      head: "model",
      title: "Share that the maps predict",
      cell: ({ model }: Beside) => percent(model, session.isSingle),
    },
    session.isSingle
      ? {
          head: "on the map",
          isText: true,
          cell: ({ maps }: Beside) => (maps.length > 0 ? "close" : "not close"),
        }
      : {
          head: "close in map",
          isText: true,
          cell: ({ maps }: Beside) => <Places session={session} object={object} maps={maps} />,
        },
  ];
  return (
    <>
      <ObjectTable
        session={session}
        caption="Its associates"
        rows={[...observed, ...modelled]}
        columns={columns}
      />
      <ObjectTable
        session={session}
        caption={`${capital(session.atlas.noun[1])} that evoke it`}
        rows={lookups.whoRecalls(object)}
        columns={columns}
      />
    </>
  );
}

/** The maps in which another object stands near this one: each opens there. */
function Places({ session, object, maps }: { session: Session; object: number; maps: number[] }) {
  if (maps.length === 0) return "none";
  return maps.map((map, k) => (
    <>
      {k > 0 && ", "}
      <button
        type="button"
        class="plain"
        aria-label={`Map ${map}`}
        onClick={() => session.goTo(object, map)}
      >
        {map}
      </button>
    </>
  ));
}
