/** Which objects are shown, by the values of columns: folded until one asks for it. */

import { useMemo, useRef, useState } from "preact/hooks";
import type { CategoryColumn, NumberColumn } from "../data/atlas.ts";
import {
  type Axis,
  axisOf,
  countsOf,
  type FilterColumn,
  hasMissing,
  histogram,
  isFilterColumn,
  passing,
  type RangeFilter,
  tidy,
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
      {filters.size > 0 && (
        <Button onClick={() => session.store.change({ filters: new Map() })}>
          {texts.SHOW_ALL}
        </Button>
      )}
      <details>
        <summary>
          <h2>{texts.FILTERS}</h2>
          {filters.size > 0 && <p class="quiet number">{session.whatIsLeft}</p>}
        </summary>
        {columns.map((column) => (
          <Filter key={column.name} session={session} column={column} />
        ))}
      </details>
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

function Range({ session, column }: { session: Session; column: NumberColumn }) {
  const { atlas, state } = session;
  const start = useRef<number | null>(null);
  const said = state.filters.get(column.name);
  const filter = said === undefined || "has" in said ? EVERYTHING : said;
  const axis = useMemo(() => axisOf(column), [column]);
  const [low, high] = [Math.max(filter.low, axis.low), Math.min(filter.high, axis.high)];
  const change = (part: Partial<RangeFilter>) =>
    session.filter(column.name, { ...filter, ...part });
  const onStep = (value: number) => tidy(Math.round(value / axis.step) * axis.step);
  const setRange = (from: number, to: number) => {
    // At its end a thumb lets everything pass that lies beyond.
    const ends = {
      low: from <= axis.low ? EVERYTHING.low : onStep(from),
      high: to >= axis.high ? EVERYTHING.high : onStep(to),
    };
    const isAll = ends.low === EVERYTHING.low && ends.high === EVERYTHING.high;
    // A range of numbers excludes objects without a number.
    change({ withMissing: isAll || (said !== undefined && filter.withMissing), ...ends });
  };
  const brush = (event: PointerEvent, isStart: boolean) => {
    const at = event.currentTarget as Element;
    const { left, width } = at.getBoundingClientRect();
    const share = Math.min(1, Math.max(0, (event.clientX - left) / width));
    const value = axis.low + share * axis.nBars * axis.bar;
    if (isStart) {
      at.setPointerCapture(event.pointerId);
      start.current = value;
    } else if (start.current !== null) {
      setRange(Math.min(start.current, value), Math.max(start.current, value));
    }
  };
  return (
    <fieldset aria-label={column.name}>
      <Histogram
        session={session}
        column={column}
        range={[low, high]}
        onBrush={brush}
        axis={axis}
        onEnd={() => {
          start.current = null;
        }}
      />
      {[texts.FROM, texts.TO].map((end) => (
        <label key={end} class="setting">
          <span>{end}</span>
          <span class="slide">
            <input
              type="range"
              min={axis.low}
              max={axis.high}
              step={axis.step}
              value={end === texts.FROM ? low : high}
              onInput={({ currentTarget: { valueAsNumber: value } }) => {
                if (end === texts.FROM) setRange(value, Math.max(value, high));
                else setRange(Math.min(low, value), value);
              }}
            />
            <span class="value number" aria-hidden="true">
              {end === texts.FROM ? low : high}
            </span>
          </span>
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

interface HistogramProps {
  session: Session;
  column: NumberColumn;
  axis: Axis;
  /** The part of it that is shown. */
  range: [number, number];
  onBrush: (event: PointerEvent, isStart: boolean) => void;
  onEnd: () => void;
}

/** How often the numbers are, of what the other filters let pass; a range can be drawn on it. */
function Histogram({ session, column, axis, range, onBrush, onEnd }: HistogramProps) {
  const { filters } = session.state;
  const counts = useMemo(
    () => histogram(column, axis, passing(session.atlas, filters, column.name)),
    [column, filters],
  );
  const most = Math.max(...counts, 1);
  return (
    <svg
      class="bins"
      viewBox={`0 0 ${axis.nBars} 1`}
      preserveAspectRatio="none"
      aria-hidden="true"
      onPointerDown={(event) => onBrush(event, true)}
      onPointerMove={(event) => onBrush(event, false)}
      onPointerUp={onEnd}
      onPointerCancel={onEnd}
    >
      {Array.from(counts, (count, k) => {
        const start = axis.low + k * axis.bar;
        const isIn = start + axis.bar > range[0] && start <= range[1];
        return (
          <rect
            key={k}
            class={isIn ? "in" : ""}
            x={k + 0.08}
            y={1 - count / most}
            width="0.84"
            height={count / most}
          />
        );
      })}
    </svg>
  );
}
