/** Further facts about an object, in closed sections. */

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { Associate, Partner } from "../data/observed.ts";
import type { ShownSense } from "../state/lookups.ts";
import type { Session } from "../state/session.ts";
import * as texts from "../texts.ts";
import { Button } from "./button.tsx";
import { ObjectTable } from "./object_table.tsx";

interface OfObject {
  session: Session;
  object: number;
}

export function Disclosures({ session, object }: OfObject) {
  const { atlas, lookups, state } = session;
  const [noun] = atlas.noun;
  const isSelected = state.selection.includes(object);
  const recalled = lookups.recalledBy(object);
  const near = recalled.length > 0 ? [] : neighborsIn(lookups.sensesOf(object));
  const recalling = lookups.whoRecalls(object);
  return (
    <div class="disclosures">
      {recalled.length > 0 && (
        <Disclosure title={texts.ALL_ASSOCIATES}>
          {() => (
            <Associates session={session} object={object} rows={recalled.slice(0, MOST_OBSERVED)} />
          )}
        </Disclosure>
      )}
      {near.length > 0 && (
        <Disclosure title={texts.NEIGHBOURS}>
          {() => <Neighbors session={session} object={object} rows={near} />}
        </Disclosure>
      )}
      {recalling.length > 0 && (
        <Disclosure title={texts.evokes(noun)}>
          {() => (
            <ObjectTable
              session={session}
              caption={texts.EVOKING}
              rows={recalling}
              columns={[OBSERVED]}
            />
          )}
        </Disclosure>
      )}
      <Button
        class="button chip"
        title={texts.withKey(texts.select(false), "s")}
        aria-pressed={isSelected}
        onClick={() => session.select([object], "toggle")}
      >
        {texts.select(isSelected)}
      </Button>
    </div>
  );
}

/** A part that is made when it is opened. */
function Disclosure({ title, children }: { title: string; children: () => ComponentChildren }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{title}</summary>
      {isOpen && children()}
    </details>
  );
}

function MapLink({ session, object, map }: OfObject & { map: number }) {
  return (
    <Button
      class="plain link"
      aria-label={texts.mapName(map)}
      onClick={() => session.goTo(object, map)}
    >
      {map}
    </Button>
  );
}

const MOST_OBSERVED = 30;

const OBSERVED = {
  head: texts.OBSERVED_HEAD,
  title: texts.OBSERVED_TITLE,
  cell: ({ share }: Partner) => texts.percent(share),
};

/** The observed associates of an object, and the maps on which they are close to it. */
function Associates({ session, object, rows }: OfObject & { rows: Associate[] }) {
  const { isSingle } = session;
  const cell = ({ map }: Associate) => {
    if (isSingle) return texts.isClose(map !== null);
    return map === null ? texts.NOWHERE : <MapLink session={session} object={object} map={map} />;
  };
  const head = isSingle ? texts.ON_MAP_HEAD : texts.CLOSE_HEAD;
  return (
    <ObjectTable
      session={session}
      caption={texts.ASSOCIATES}
      rows={rows}
      columns={[OBSERVED, { head, cell, isText: true }]}
    />
  );
}

interface Neighbor {
  object: number;
  maps: number[];
}

/** The neighbours of an object without observed associations, and their maps. */
function Neighbors({ session, object, rows }: OfObject & { rows: Neighbor[] }) {
  const cell = ({ maps }: Neighbor) =>
    maps.map((map, k) => [
      k > 0 && ", ",
      <MapLink key={map} session={session} object={object} map={map} />,
    ]);
  return (
    <ObjectTable
      session={session}
      caption={texts.NEAREST}
      rows={rows}
      columns={session.isSingle ? [] : [{ head: texts.NEAR_HEAD, cell, isText: true }]}
    />
  );
}

/** The neighbours of an object in the maps of its senses, with these maps. */
function neighborsIn(senses: readonly ShownSense[]): Neighbor[] {
  const found = new Map<number, number[]>();
  for (const { map, neighbors } of senses) {
    for (const object of neighbors) found.set(object, [...(found.get(object) ?? []), map]);
  }
  return [...found].map(([object, maps]) => ({ object, maps }));
}
