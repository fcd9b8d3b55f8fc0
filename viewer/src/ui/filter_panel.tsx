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
import { fold } from "../state/search.ts";
import type { Session } from "../state/session.ts";
import * as texts from "../texts.ts";
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
    <section class="filters" aria-label={texts.FILTERS}>
      <details>
        <summary>
          <h2>{texts.FILTERS}</h2>
          {filters.size > 0 && <p class="quiet number">{session.whatIsLeft}</p>}
        </summary>
        {columns.map((column) => (
          <Filter key={column.name} session={session} column={column} />
        ))}
      </details>
      {filters.size > 0 && (
        <Button onClick={() => session.store.change({ filters: new Map() })}>
          {texts.SHOW_ALL}
        </Button>
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
        {session.state.filters.has(column.name) && <span class="quiet">{texts.FILTERED}</span>}
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

interface CategoriesProps {
  session: Session;
  column: CategoryColumn;
}

function Categories({ session, column }: CategoriesProps) {
  const [text, setText] = useState("");
  const { atlas, filtering } = session;
  const counts = countsOf(atlas, column, passing(atlas, session.state.filters, column.name));
  const nameOf = (code: number) => column.categories[code] ?? texts.NO_VALUE;
  const found = [...counts.keys()].filter((code) => fold(nameOf(code)).includes(fold(text).trim()));
  const listed = found.slice(0, MOST_LISTED);
  const isLong = counts.size > FEW;
  return (
    <fieldset aria-label={column.name}>
      {isLong && (
        <input
          type="text"
          class="line"
          aria-label={texts.findIn(column.name)}
          placeholder={texts.findIn(counts.size)}
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
            {isOn ? texts.ALL : texts.NONE}
          </Button>
        ))}
      </p>
      <div class="listed">
        {listed.map((code) => (
          <div key={code} class="keyed">
            <Check
              name={nameOf(code)}
              isOn={filtering.lets(column, code)}
              onChange={(isOn) => session.let(column, [code], isOn)}
            >
              <span class="number quiet">{texts.whole(counts.get(code) ?? 0)}</span>
            </Check>
            <Only name={nameOf(code)} onChoose={() => session.showOnly(column, [code])} />
          </div>
        ))}
      </div>
      {found.length > listed.length && (
        <p class="quiet">{texts.andMore(found.length - listed.length)}</p>
      )}
    </fieldset>
  );
}

/** Shows one thing alone. */
export function Only({ name, onChoose }: { name: string; onChoose: () => void }) {
  return (
    <Button class="only plain" aria-label={texts.only(name)} onClick={onChoose}>
      {texts.ONLY}
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
    { name: texts.FROM, end: "low", placeholder: least },
    { name: texts.TO, end: "high", placeholder: most },
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
          name={texts.NO_VALUE}
          isOn={filter.withMissing}
          onChange={(withMissing) => change({ withMissing })}
        />
      )}
    </fieldset>
  );
}
