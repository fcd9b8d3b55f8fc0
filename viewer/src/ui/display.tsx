/** How the maps are drawn: the threshold, the columns that colour and size the dots, links, features. */

import type { ComponentChildren } from "preact";
import { colorColumns, sizeColumns } from "../scene/coloring.ts";
import type { Session } from "../state/session.ts";
import * as texts from "../texts.ts";
import { Button, Check } from "./button.tsx";

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
