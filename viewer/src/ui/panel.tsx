/** Beside the pictures: how they are drawn, the word in question, the selection, the words in view. */

import { type Column, lives } from "../data/atlas.ts";
import { counted, percent, plainLabel } from "../data/words.ts";
import { saveTable } from "../draw/saving.ts";
import { colorColumns, type Legend, type LegendItem, sizeColumns } from "../scene/coloring.ts";
import type { ShownLabel } from "../scene/scene.ts";
import type { Session } from "../state/session.ts";
import { Icon } from "./icons.tsx";
import { Word } from "./words.tsx";

const MOST_ROWS = 60;
const MOST_CHIPS = 60;

export function Panel({ session, shown }: { session: Session; shown: readonly ShownLabel[] }) {
  const { selection, word, map } = session.state;
  const object = selection.length === 1 ? selection[0] : word;
  return (
    <aside class="panel" aria-label="About this view" tabIndex={0}>
      <Display session={session} />
      {object === null && map === null && <ManySided session={session} />}
      {object !== null && <WordCard session={session} object={object} />}
      <Selection session={session} />
      {map !== null && <InView session={session} map={map} shown={shown} />}
    </aside>
  );
}

function Display({ session }: { session: Session }) {
  const { atlas, state, store, look } = session;
  const colors = colorColumns(atlas);
  const sizes = sizeColumns(atlas);
  return (
    <section aria-label="Display">
      {!session.isSingle && <Threshold session={session} />}
      {colors.length > 0 && (
        <ColumnChoice
          name="Colour"
          columns={colors}
          none="proportion"
          value={state.color}
          onChoose={(color) => store.change({ color, hidden: new Set() })}
        />
      )}
      <LegendKeys session={session} legend={look.coloring.legend} />
      {sizes.length > 0 && (
        <ColumnChoice
          name="Size"
          columns={sizes}
          none="proportion"
          value={state.size}
          onChoose={(size) => store.change({ size })}
        />
      )}
      {atlas.kinds && <Kinds session={session} kinds={atlas.kinds} />}
      {atlas.features.length > 0 && <Features session={session} />}
    </section>
  );
}

function Threshold({ session }: { session: Session }) {
  const { threshold } = session.state;
  return (
    <div class="setting">
      <label for="threshold">At least</label>
      <span class="slide">
        <input
          id="threshold"
          type="range"
          min="0"
          max="1"
          step="0.01"
          value={threshold}
          aria-describedby="threshold-means"
          onInput={(event) =>
            session.store.change({ threshold: event.currentTarget.valueAsNumber })
          }
        />
        <span class="value number" aria-hidden="true">
          {threshold.toFixed(2)}
        </span>
      </span>
      <span class="unseen" id="threshold-means">
        Objects with a smaller proportion in a map are not shown there.
      </span>
    </div>
  );
}

interface ColumnChoiceProps {
  name: "Colour" | "Size";
  columns: readonly Column[];
  none: string;
  value: string | null;
  onChoose: (name: string | null) => void;
}

function ColumnChoice({ name, columns, none, value, onChoose }: ColumnChoiceProps) {
  const id = `choose-${name.toLowerCase()}`;
  return (
    <div class="setting">
      <label for={id}>{name} by</label>
      <select
        id={id}
        value={value ?? ""}
        onChange={(event) => onChoose(event.currentTarget.value || null)}
      >
        <option value="">{none}</option>
        {columns.map((column) => (
          <option key={column.name} value={column.name}>
            {column.name}
          </option>
        ))}
      </select>
    </div>
  );
}

function LegendKeys({ session, legend }: { session: Session; legend: Legend }) {
  if (legend.type === "proportion") return null;
  if (legend.type === "number") {
    return (
      <div class="ramp">
        <svg viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden="true">
          {legend.stops.map((color, k) => (
            <rect
              key={color}
              x={(100 * k) / legend.stops.length}
              width={100 / legend.stops.length + 0.5}
              height="1"
              fill={color}
            />
          ))}
        </svg>
        <div class="ends number">
          <span>{legend.low}</span>
          {legend.hasMissing && <span>grey: no value</span>}
          <span>{legend.high}</span>
        </div>
      </div>
    );
  }
  return (
    <ul class="legend" aria-label={`Colours: ${legend.name}`}>
      {legend.items.map((item) => (
        <li key={item.code}>
          <Key session={session} item={item} />
        </li>
      ))}
    </ul>
  );
}

function Key({ session, item }: { session: Session; item: LegendItem }) {
  const { hidden } = session.state;
  const toggle = () => {
    const next = new Set(hidden);
    if (!next.delete(item.code)) next.add(item.code);
    session.store.change({ hidden: next });
  };
  return (
    <button
      type="button"
      class="key plain"
      title={item.label}
      aria-pressed={!hidden.has(item.code)}
      onClick={toggle}
    >
      <svg class="swatch" viewBox="0 0 10 10" aria-hidden="true">
        <circle cx="5" cy="5" r="5" fill={item.color} />
      </svg>
      <span>{item.label}</span>
    </button>
  );
}

function Kinds({ session, kinds }: { session: Session; kinds: [string, string] }) {
  const { neighborKind } = session.state;
  return (
    <>
      <ul class="legend" aria-label="Marks">
        <li class="key">
          <svg class="swatch" viewBox="0 0 10 10" aria-hidden="true">
            <circle cx="5" cy="5" r="4.5" fill="currentColor" />
          </svg>
          <span>{kinds[0]}</span>
        </li>
        <li class="key">
          <svg class="swatch" viewBox="0 0 10 10" aria-hidden="true">
            <path d="M5 0L10 5L5 10L0 5z" fill="currentColor" />
          </svg>
          <span>{kinds[1]}</span>
        </li>
      </ul>
      <div class="setting">
        <label for="neighbors">Near it</label>
        <select
          id="neighbors"
          value={neighborKind}
          onChange={(event) =>
            session.store.change({ neighborKind: event.currentTarget.value === "0" ? 0 : 1 })
          }
        >
          <option value={0}>{kinds[0]}s</option>
          <option value={1}>{kinds[1]}s</option>
        </select>
      </div>
    </>
  );
}

function Features({ session }: { session: Session }) {
  const { features } = session.state;
  return (
    <fieldset class="features">
      <legend>Features</legend>
      {session.atlas.features.map((feature, k) => (
        <label key={feature.name} class="key">
          <input
            type="checkbox"
            checked={features.has(k)}
            onChange={() => {
              const next = new Set(features);
              if (!next.delete(k)) next.add(k);
              session.store.change({ features: next });
            }}
          />
          <span title={feature.name}>{feature.name}</span>
          <span class="number quiet">{feature.weight.toPrecision(2)}</span>
        </label>
      ))}
    </fieldset>
  );
}

/** Words to begin with. */
function ManySided({ session }: { session: Session }) {
  const objects = session.manySided();
  if (objects.length === 0) return null;
  return (
    <section aria-label="Words of many senses">
      <h2>Words of many senses</h2>
      <ul class="chips">
        {objects.map((object) => (
          <li key={object}>
            <button type="button" class="chip" onClick={() => session.chooseWord(object)}>
              <Word atlas={session.atlas} object={object} />
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}

function WordCard({ session, object }: { session: Session; object: number }) {
  const { atlas, state } = session;
  const maps = session.mapsOf(object).filter((at) => lives(at.proportion, state.threshold));
  return (
    <section class="wordcard" aria-label="The word">
      <h2>
        <Word atlas={atlas} object={object} />
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
          {maps.slice(0, 8).map(({ map, proportion }) => (
            <button key={map} type="button" class="chip" onClick={() => session.goTo(object, map)}>
              Map {map} <span class="quiet number">{percent(proportion)}</span>
            </button>
          ))}
        </p>
      )}
      <Associations session={session} object={object} />
    </section>
  );
}

function Details({ session, object }: { session: Session; object: number }) {
  const kind = session.kindOf(object);
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
  if (column.type === "text") return column.values[object] || null;
  if (column.type === "category") return column.categories[column.codes[object]] ?? null;
  const value = column.values[object];
  if (Number.isNaN(value)) return null;
  return String(Number.isInteger(value) ? value : Number(value.toPrecision(6)));
}

/** What the object recalls, and what recalls it. */
function Associations({ session, object }: { session: Session; object: number }) {
  const { atlas, probabilities } = session;
  const pairs = session.associationsOf(object).filter(({ to, from }) => to > 0 || from > 0);
  // Between two kinds the most frequent would come first everywhere; the senses list what is near.
  if (pairs.length === 0 || atlas.kinds !== null) return null;
  const both = probabilities.isAsymmetric;
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

function Selection({ session }: { session: Session }) {
  const { selection } = session.state;
  if (selection.length === 0) return null;
  const name = selection.length === 1 ? plainLabel(session.atlas, selection[0]) : "selection";
  return (
    <section aria-label="Selection">
      <h2>{counted(selection.length, "object")} selected</h2>
      <ul class="chips">
        {selection.slice(0, MOST_CHIPS).map((object) => (
          <li key={object}>
            <button
              type="button"
              class="chip"
              onClick={() => session.chooseWord(object)}
              aria-label={`${plainLabel(session.atlas, object)}: show it`}
            >
              <Word atlas={session.atlas} object={object} />
            </button>
          </li>
        ))}
        {selection.length > MOST_CHIPS && (
          <li class="quiet">and {(selection.length - MOST_CHIPS).toLocaleString("en")} more</li>
        )}
      </ul>
      <div class="row">
        <button
          type="button"
          class="button"
          onClick={() => saveTable(session.atlas, selection, name)}
        >
          <Icon name="save" /> CSV
        </button>
        <button type="button" class="button" onClick={() => session.select([])}>
          Clear
        </button>
      </div>
    </section>
  );
}

interface InViewProps {
  session: Session;
  map: number;
  shown: readonly ShownLabel[];
}

/** The labels that stand on the map now, as a table: the map in words. */
function InView({ session, map, shown }: InViewProps) {
  const { atlas, state } = session;
  const { proportions } = atlas.maps[map];
  const rows = shown.slice(-MOST_ROWS).reverse();
  const otherMaps = (object: number) =>
    session
      .mapsOf(object)
      .filter((at) => at.map !== map && lives(at.proportion, state.threshold))
      .map((at) => at.map)
      .join(", ");
  return (
    <section aria-label="Words in view">
      <table>
        <caption>
          {shown.length > rows.length
            ? `The first ${rows.length} of ${shown.length} words in view`
            : `${counted(shown.length, "word")} in view`}
        </caption>
        <thead>
          <tr>
            <th scope="col">word</th>
            {!session.isSingle && (
              <>
                <th scope="col" class="number">
                  here
                </th>
                <th scope="col">also in map</th>
              </>
            )}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ entry, object }) => (
            <tr key={object}>
              <th scope="row">
                <button type="button" class="plain" onClick={() => session.chooseWord(object)}>
                  <Word atlas={atlas} object={object} />
                </button>
              </th>
              {!session.isSingle && (
                <>
                  <td class="number">{percent(proportions[entry])}</td>
                  <td>{otherMaps(object)}</td>
                </>
              )}
            </tr>
          ))}
        </tbody>
      </table>
      {shown.length > 0 && (
        <p class="row">
          <button
            type="button"
            class="button"
            onClick={() => session.select(shown.map(({ object }) => object))}
          >
            Select these words
          </button>
        </p>
      )}
    </section>
  );
}
