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
  return (
    <div class="disclosures">
      <Disclosure title={atlas.observed ? texts.ALL_ASSOCIATES : texts.NEIGHBOURS}>
        {() => (
          <>
            <Associates session={session} object={object} />
            <p class="row">
              <Button
                title={texts.withKey(texts.select(false), "s")}
                aria-pressed={isSelected}
                onClick={() => session.select([object], "toggle")}
              >
                {texts.select(isSelected)}
              </Button>
            </p>
          </>
        )}
      </Disclosure>
      {atlas.observed && (
        <Disclosure title={texts.evokes(noun)}>
          {() => (
            <ObjectTable
              session={session}
              caption={texts.EVOKING}
              rows={lookups.whoRecalls(object)}
              columns={[OBSERVED]}
            />
          )}
        </Disclosure>
      )}
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

/** The associates of the object, or its neighbours on the maps where none were observed. */
function Associates({ session, object }: OfObject) {
  const { atlas, lookups, isSingle } = session;
  const link = (map: number) => <MapLink key={map} session={session} object={object} map={map} />;
  if (atlas.observed) {
    const head = isSingle ? texts.ON_MAP_HEAD : texts.CLOSE_HEAD;
    const cell = ({ map }: Associate) => {
      if (isSingle) return texts.isClose(map !== null);
      return map === null ? texts.NOWHERE : link(map);
    };
    return (
      <ObjectTable
        session={session}
        caption={texts.ASSOCIATES}
        rows={lookups.recalledBy(object).slice(0, MOST_OBSERVED)}
        columns={[OBSERVED, { head, cell, isText: true }]}
      />
    );
  }
  const cell = ({ maps }: { maps: number[] }) => maps.map((map, k) => [k > 0 && ", ", link(map)]);
  return (
    <ObjectTable
      session={session}
      caption={texts.NEAREST}
      rows={neighborsIn(lookups.sensesOf(object))}
      columns={isSingle ? [] : [{ head: texts.NEAR_HEAD, cell, isText: true }]}
    />
  );
}

/** The neighbours of an object in the maps of its senses, with these maps. */
function neighborsIn(senses: readonly ShownSense[]): { object: number; maps: number[] }[] {
  const found = new Map<number, number[]>();
  for (const { map, neighbors } of senses) {
    for (const object of neighbors) found.set(object, [...(found.get(object) ?? []), map]);
  }
  return [...found].map(([object, maps]) => ({ object, maps }));
}
