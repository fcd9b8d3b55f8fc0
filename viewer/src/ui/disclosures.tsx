/** Further facts about an object: tables of objects in closed sections. */

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { percent } from "../data/words.ts";
import type { ShownSense } from "../state/lookups.ts";
import type { Session } from "../state/session.ts";
import { Button } from "./button.tsx";
import { Portraits, Word } from "./label_text.tsx";

const MOST_OBSERVED = 30;

export function Disclosures({ session, object }: { session: Session; object: number }) {
  const { atlas, isSingle, lookups, state } = session;
  const isSelected = state.selection.includes(object);
  const recalled = lookups.recalledBy(object).slice(0, MOST_OBSERVED);
  const near = recalled.length > 0 ? [] : neighborsIn(lookups.sensesOf(object));
  const link = (map: number) => (
    <Button
      key={map}
      class="plain link"
      aria-label={`Map ${map}`}
      onClick={() => session.goTo(object, map)}
    >
      {map}
    </Button>
  );
  const closeness = (map: number | null) => {
    if (isSingle) return map === null ? "not close" : "close";
    return map === null ? "none" : link(map);
  };
  return (
    <div class="disclosures">
      <Disclosure
        session={session}
        title="All associates"
        caption="Its associates"
        heads={["observed", isSingle ? "on the map" : "close on map"]}
        rows={recalled.map((other) => [other.object, percent(other.share), closeness(other.map)])}
      />
      <Disclosure
        session={session}
        title="Neighbours"
        caption="Nearest neighbours"
        heads={isSingle ? [] : ["on map"]}
        rows={near.map(([other, maps]) => [
          other,
          maps.map((map, k) => [k > 0 && ", ", link(map)]),
        ])}
      />
      <Disclosure
        session={session}
        title={`What evokes this ${atlas.noun[0]}`}
        caption="Shares of their own associations"
        heads={["observed"]}
        rows={lookups.whoRecalls(object).map((other) => [other.object, percent(other.share)])}
      />
      <Button
        class="button chip"
        title="Select (s)"
        aria-pressed={isSelected}
        onClick={() => session.select([object], "toggle")}
      >
        {isSelected ? "Selected" : "Select"}
      </Button>
    </div>
  );
}

/** The neighbours of an object in the maps of its senses, with these maps. */
function neighborsIn(senses: readonly ShownSense[]): [object: number, maps: number[]][] {
  const found = new Map<number, number[]>();
  for (const { map, neighbors } of senses) {
    for (const object of neighbors) found.set(object, [...(found.get(object) ?? []), map]);
  }
  return [...found];
}

interface DisclosureProps {
  session: Session;
  title: string;
  caption: string;
  /** Heads of the columns after the first. */
  heads: readonly string[];
  rows: readonly [object: number, ...cells: ComponentChildren[]][];
}

/** A table that is made when it is opened; none without rows. */
function Disclosure({ session, title, caption, heads, rows }: DisclosureProps) {
  const { atlas } = session;
  const [isOpen, setOpen] = useState(false);
  if (rows.length === 0) return null;
  const kindOf = (column: number) => (heads[column] === "observed" ? "number" : undefined);
  return (
    <details open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{title}</summary>
      {isOpen && (
        <table>
          <caption>{caption}</caption>
          <thead>
            <tr>
              <th scope="col">{atlas.noun[0]}</th>
              {heads.map((head, column) => (
                <th key={head} scope="col" class={kindOf(column)}>
                  {head}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map(([object, ...cells]) => (
              <tr key={object}>
                <th scope="row">
                  <Button class="plain" onClick={() => session.follow(object)}>
                    <Portraits atlas={atlas} object={object} isNamed />
                    <Word atlas={atlas} object={object} />
                  </Button>
                </th>
                {heads.map((head, column) => (
                  <td key={head} class={kindOf(column)}>
                    {cells[column]}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </details>
  );
}
