/** Which objects are shown, by the values of columns: folded until one asks for it. */

import { useMemo, useState } from "preact/hooks";
import type { CategoryColumn, NumberColumn } from "../data/atlas.ts";
import {
  countsOf,
  extremes,
  type FilterColumn,
  hasMissing,
  isFilterColumn,
  passing,
  type RangeFilter,
} from "../data/filters.ts";
import { whole } from "../data/words.ts";
import { fold } from "../state/search.ts";
import type { Session } from "../state/session.ts";
import { Button, Check } from "./button.tsx";

/** Longer lists of categories can be searched, and are cut. */
const FEW = 12;
const MOST_LISTED = 60;
const EVERYTHING: RangeFilter = {
  low: Number.NEGATIVE_INFINITY,
  high: Number.POSITIVE_INFINITY,
  withMissing: true,
};

export function Filters({ session }: { session: Session }) {
  const { filters } = session.state;
  const columns = session.atlas.columns.filter(isFilterColumn);
  if (columns.length === 0) return null;
  return (
    <section class="filters" aria-label="Filters">
      <details>
        <summary>
          <h2>Filters</h2>
          {filters.size > 0 && <p class="quiet number">{session.whatIsLeft}</p>}
        </summary>
        {columns.map((column) => (
          <Filter key={column.name} session={session} column={column} />
        ))}
      </details>
      {filters.size > 0 && (
        <Button onClick={() => session.store.change({ filters: new Map() })}>Show all</Button>
      )}
    </section>
  );
}

function Filter({ session, column }: { session: Session; column: FilterColumn }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <bdi>{column.name}</bdi>
        {session.state.filters.has(column.name) && <span class="quiet">{" filtered"}</span>}
      </summary>
      {isOpen &&
        (column.type === "number" ? (
          <Range session={session} column={column} />
        ) : (
          <Categories session={session} column={column} />
        ))}
    </details>
  );
}

function Categories({ session, column }: { session: Session; column: CategoryColumn }) {
  const [text, setText] = useState("");
  const { atlas, shown } = session;
  const counts = countsOf(atlas, column, passing(atlas, session.state.filters, column.name));
  const nameOf = (code: number) => column.categories[code] ?? "no value";
  const found = [...counts.keys()].filter((code) => fold(nameOf(code)).includes(fold(text).trim()));
  const listed = found.slice(0, MOST_LISTED);
  const isLong = counts.size > FEW;
  return (
    <fieldset aria-label={column.name}>
      {isLong && (
        <input
          type="text"
          class="line"
          aria-label={`Find in ${column.name}`}
          placeholder={`Find in ${counts.size}`}
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
      )}
      <p class="row">
        {[true, false].map((isOn) => (
          <Button
            key={String(isOn)}
            class="plain quiet"
            onClick={() => session.let(column, found, isOn)}
          >
            {isOn ? "All" : "None"}
          </Button>
        ))}
      </p>
      <div class="listed">
        {listed.map((code) => (
          <div key={code} class="keyed">
            <Check
              name={nameOf(code)}
              isOn={!shown.offIn(column).has(code)}
              onChange={(isOn) => session.let(column, [code], isOn)}
            >
              <span class="number quiet">{whole(counts.get(code) ?? 0)}</span>
            </Check>
            <Only name={nameOf(code)} onChoose={() => session.showOnly(column, [code])} />
          </div>
        ))}
      </div>
      {found.length > listed.length && (
        <p class="quiet">and {whole(found.length - listed.length)} more</p>
      )}
    </fieldset>
  );
}

export function Only({ name, onChoose }: { name: string; onChoose: () => void }) {
  return (
    <Button class="only plain" aria-label={`Only ${name}`} onClick={onChoose}>
      only
    </Button>
  );
}

/** Two fields for the ends of a range; an empty one leaves that end open. */
function Range({ session, column }: { session: Session; column: NumberColumn }) {
  const { atlas, state } = session;
  const current = state.filters.get(column.name);
  const filter = current === undefined || "has" in current ? EVERYTHING : current;
  const [least, most] = useMemo(() => extremes(column), [column]);
  const change = (part: Partial<RangeFilter>) => {
    const next = { ...filter, ...part };
    const isOpen = next.low === EVERYTHING.low && next.high === EVERYTHING.high;
    // A range of numbers excludes objects without a number.
    const withMissing =
      part.withMissing ?? (isOpen || (current !== undefined && filter.withMissing));
    session.filter(column.name, { ...next, withMissing });
  };
  const ends = [
    { name: "from", end: "low", placeholder: least },
    { name: "to", end: "high", placeholder: most },
  ] as const;
  return (
    <fieldset aria-label={column.name}>
      {ends.map(({ name, end, placeholder }) => (
        <label key={end} class="setting">
          <span>{name}</span>
          <input
            type="number"
            class="line"
            step="any"
            min={least}
            max={most}
            placeholder={String(placeholder)}
            value={Number.isFinite(filter[end]) ? filter[end] : ""}
            onInput={({ currentTarget: { value } }) =>
              change({ [end]: value === "" ? EVERYTHING[end] : Number(value) })
            }
          />
        </label>
      ))}
      {hasMissing(atlas, column) && (
        <Check
          name="no value"
          isOn={filter.withMissing}
          onChange={(withMissing) => change({ withMissing })}
        />
      )}
    </fieldset>
  );
}
