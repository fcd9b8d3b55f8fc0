/** How the maps are drawn: the threshold, the columns that colour and size the dots, features. */

import { percent, plural } from "../data/words.ts";
import { colorColumns, sizeColumns } from "../scene/coloring.ts";
import type { Session } from "../state/session.ts";
import { Button } from "./button.tsx";

export function hasChoices({ atlas, isSingle }: Session): boolean {
  const { kinds, features } = atlas;
  return !isSingle || colorColumns(atlas).length + features.length > 0 || kinds !== null;
}

export function Display({ session }: { session: Session }) {
  const { atlas } = session;
  return (
    <section aria-label="Display">
      {!session.isSingle && <Threshold session={session} />}
      <ColumnChoice session={session} of="color" />
      <ColumnChoice session={session} of="size" />
      {atlas.kinds && <Neighbors session={session} kinds={atlas.kinds} />}
      {atlas.features.length > 0 && <Features session={session} />}
    </section>
  );
}

function Threshold({ session }: { session: Session }) {
  const { threshold } = session.state;
  const least = percent(threshold);
  return (
    <div class="threshold">
      <label for="threshold">
        Hide {session.atlas.noun[1]} that barely belong to a map: map weight below{" "}
        <b class="number">{least}</b>
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

function ColumnChoice({ session, of }: { session: Session; of: "color" | "size" }) {
  const { atlas, state, store } = session;
  const columns = of === "color" ? colorColumns(atlas) : sizeColumns(atlas);
  if (columns.length === 0) return null;
  // In a single map all objects have the same weight.
  const none = session.isSingle ? "none" : "map weight";
  return (
    <Choice
      name={of === "color" ? "Colour by" : "Size by"}
      options={[["", none], ...columns.map(({ name }): [string, string] => [name, name])]}
      value={state[of] ?? ""}
      onChoose={(chosen) => store.change({ [of]: chosen || null })}
    />
  );
}

interface ChoiceProps {
  name: string;
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
      name="Neighbours"
      options={named.map((some, k) => [String(k), some.map((kind) => plural(2, kind)).join(", ")])}
      value={String(neighborKind)}
      onChoose={(chosen) => session.store.change({ neighborKind: chosen === "0" ? 0 : 1 })}
    />
  );
}

/** Features; the members of the one that is chosen become the selection. */
function Features({ session }: { session: Session }) {
  return (
    <fieldset class="features">
      <legend>Features</legend>
      {session.atlas.features.map(({ name, weight, members }) => (
        <Button key={name} class="key plain" onClick={() => session.select([...members])}>
          <span>{name}</span>
          <span class="number quiet">{weight.toPrecision(2)}</span>
        </Button>
      ))}
    </fieldset>
  );
}
