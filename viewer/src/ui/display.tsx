/** How the maps are drawn: the threshold, the columns that colour and size marks, the legend, features. */

import type { ComponentChildren } from "preact";
import type { CategoryColumn } from "../data/atlas.ts";
import { colorColumns, type Legend, type LegendItem, sizeColumns } from "../scene/coloring.ts";
import { kindsBeside } from "../scene/legend.ts";
import { CIRCLE, shapeOf } from "../scene/mark_data.ts";
import type { Session } from "../state/session.ts";
import * as texts from "../texts.ts";
import { Button, Check } from "./button.tsx";
import { Only } from "./filter_panel.tsx";

/** Whether there is anything to choose. */
export function hasChoices({ atlas, isSingle }: Session): boolean {
  const { observed, kinds, features } = atlas;
  return !isSingle || colorColumns(atlas).length + features.length > 0 || !!(observed || kinds);
}

export function Display({ session }: { session: Session }) {
  const { atlas } = session;
  return (
    <section aria-label={texts.DISPLAY}>
      {!session.isSingle && <Threshold session={session} />}
      <ColumnChoice session={session} of="color" />
      <ColumnChoice session={session} of="size" />
      {atlas.observed && <Lines session={session} />}
      {atlas.kinds && <Neighbors session={session} kinds={atlas.kinds} />}
      {atlas.features.length > 0 && <Features session={session} />}
    </section>
  );
}

function Threshold({ session }: { session: Session }) {
  const { threshold } = session.state;
  const least = texts.percent(threshold);
  return (
    <div class="threshold">
      <label for="threshold">
        {texts.hideBelow<ComponentChildren>(session.atlas.noun[1], <b class="number">{least}</b>)}
      </label>
      <input
        id="threshold"
        type="range"
        min="0"
        max="1"
        step="0.01"
        value={threshold}
        aria-valuetext={least}
        onInput={(event) => session.store.change({ threshold: event.currentTarget.valueAsNumber })}
      />
    </div>
  );
}

/** The column that colours or sizes the dots. */
function ColumnChoice({ session, of }: { session: Session; of: "color" | "size" }) {
  const { atlas, state, store } = session;
  const columns = of === "color" ? colorColumns(atlas) : sizeColumns(atlas);
  if (columns.length === 0) return null;
  // In a single map all objects have the same weight.
  const none = session.isSingle ? texts.NO_COLUMN : texts.MAP_WEIGHT;
  return (
    <Choice
      name={of === "color" ? texts.COLOUR_BY : texts.SIZE_BY}
      options={[["", none], ...columns.map(({ name }): [string, string] => [name, name])]}
      value={state[of] ?? ""}
      onChoose={(chosen) => store.change({ [of]: chosen || null })}
    />
  );
}

interface ChoiceProps {
  name: string;
  /** Values and what they are called. */
  options: readonly [string, string][];
  value: string;
  onChoose: (value: string) => void;
}

function Choice({ name, options, value, onChoose }: ChoiceProps) {
  const id = `choose-${name.toLowerCase().replaceAll(" ", "-")}`;
  return (
    <div class="setting">
      <label for={id}>{name}</label>
      <select id={id} value={value} onChange={(event) => onChoose(event.currentTarget.value)}>
        {options.map(([option, text]) => (
          <option key={option} value={option}>
            {text}
          </option>
        ))}
      </select>
    </div>
  );
}

/** The meaning of colours and shapes, also while the settings are hidden. */
export function Legends({ session }: { session: Session }) {
  const { legend } = session.appearance.look.coloring;
  const kinds = kindsBeside(session.atlas, legend);
  if (legend.type === "weight" && kinds.length === 0) return null;
  return (
    <section aria-label={texts.LEGEND}>
      <LegendKeys session={session} legend={legend} />
      {kinds.length > 0 && <Kinds kinds={kinds} />}
    </section>
  );
}

function LegendKeys({ session, legend }: { session: Session; legend: Legend }) {
  if (legend.type === "weight") return null;
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
          <span>{legend.middle}</span>
          <span>{legend.high}</span>
        </div>
        {legend.hasMissing && <div class="ends">{texts.GREY}</div>}
      </div>
    );
  }
  const column = session.atlas.columns.find(({ name }) => name === legend.name);
  return (
    <ul class="legend" aria-label={texts.coloursOf(legend.name)}>
      {legend.items.map((item) => (
        <li key={item.label} class="keyed">
          <Key session={session} item={item} column={column as CategoryColumn} />
        </li>
      ))}
    </ul>
  );
}

interface KeyProps {
  session: Session;
  item: LegendItem;
  column: CategoryColumn;
}

function Key({ session, item, column }: KeyProps) {
  const { label, color, codes, shape } = item;
  const isOn = codes.some((code) => session.filtering.lets(column, code));
  const onlyThis = () => session.showOnly(column, codes);
  return (
    <>
      <Button
        class="key plain"
        title={label}
        aria-pressed={isOn}
        onClick={({ altKey }) => (altKey ? onlyThis() : session.let(column, codes, !isOn))}
      >
        <Swatch shape={shape} color={color} />
        <span>{label}</span>
      </Button>
      <Only name={label} onChoose={onlyThis} />
    </>
  );
}

/** Outlines of a circle, a diamond and a square, in the order of the numbers of shapes. */
const SHAPES = ["M5 0a5 5 0 1 0 .1 0z", "M5 0L10 5L5 10L0 5z", "M1 1h8v8H1z"];

function Swatch({ shape = CIRCLE, color }: { shape?: number | undefined; color: string }) {
  return (
    <svg class="swatch" viewBox="0 0 10 10" aria-hidden="true">
      <path d={SHAPES[shape]} fill={color} />
    </svg>
  );
}

function Kinds({ kinds }: { kinds: readonly string[] }) {
  return (
    <ul class="legend" aria-label={texts.MARKS}>
      {kinds.map((kind) => (
        <li key={kind} class="key">
          <Swatch shape={shapeOf(kind, kinds)} color="currentColor" />
          <span>{kind}</span>
        </li>
      ))}
    </ul>
  );
}

/** Which kinds are listed as neighbours: those of the rows, or the last. */
function Neighbors({ session, kinds }: { session: Session; kinds: string[] }) {
  const { neighborKind } = session.state;
  const named = [kinds.slice(0, -1), kinds.slice(-1)];
  return (
    <Choice
      name={texts.NEIGHBOURS}
      options={named.map((some, k) => [String(k), some.map(texts.kinds).join(", ")])}
      value={String(neighborKind)}
      onChoose={(chosen) => session.store.change({ neighborKind: chosen === "0" ? 0 : 1 })}
    />
  );
}

/** Lines from the word to its observed associates. */
function Lines({ session }: { session: Session }) {
  const { lines, word } = session.state;
  return (
    <>
      <Check
        name={texts.DRAW_LINKS}
        isOn={lines}
        onChange={(isOn) => session.store.change({ lines: isOn })}
      />
      {lines && (
        <p class="quiet">
          {word === null
            ? texts.findToLink(session.atlas.noun[0])
            : texts.dashed(session.atlas.noun[1])}
        </p>
      )}
    </>
  );
}

/** Features; the members of the one that is chosen become the selection. */
function Features({ session }: { session: Session }) {
  return (
    <fieldset class="features">
      <legend>{texts.FEATURES}</legend>
      {session.atlas.features.map(({ name, weight, members }) => (
        <Button key={name} class="key plain" onClick={() => session.select([...members])}>
          <span>{name}</span>
          <span class="number quiet">{weight.toPrecision(2)}</span>
        </Button>
      ))}
    </fieldset>
  );
}
