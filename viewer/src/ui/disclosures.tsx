/** Further facts about an object, in closed sections. */

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { Neighbor } from "../data/probabilities.ts";
import type { Beside } from "../state/lookups.ts";
import { furtherMaps, wordsOf } from "../state/sentences.ts";
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
              columns={figures(session)}
            />
          )}
        </Disclosure>
      )}
      {!session.isSingle && (
        <Disclosure title={atlas.observed ? texts.WEAKER : texts.OTHER_MAPS}>
          {() => <Weaker session={session} object={object} />}
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

/** Meanings without a card, and what other maps say of the object in the model. */
function Weaker({ session, object }: OfObject) {
  const { atlas, lookups } = session;
  const senses = lookups.sensesOf(object);
  const further = furtherMaps(atlas, object, senses);
  const weaker = senses.filter(({ rank }) => rank === null);
  return (
    <>
      <ul class="weaker">
        {weaker.map((sense) => (
          <li>
            <bdi>{wordsOf(atlas, sense, 0).name}</bdi>{" "}
            <span class="number">{texts.percent(sense.share ?? sense.weight)}</span>{" "}
            <MapLink session={session} object={object} map={sense.map} />
          </li>
        ))}
      </ul>
      <p class="quiet">
        {weaker.length === 0 && texts.NONE_WEAKER}
        {further}
      </p>
    </>
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
const MOST_ROWS = 12;

/** Observed shares and those that the maps predict. */
function figures({ isSingle }: Session) {
  return [
    {
      head: texts.OBSERVED_HEAD,
      title: texts.OBSERVED_TITLE,
      cell: ({ share }: Beside) => (Number.isNaN(share) ? texts.UNKNOWN : texts.percent(share)),
    },
    {
      head: texts.PREDICTED_HEAD,
      title: texts.PREDICTED_TITLE,
      cell: ({ model }: Beside) => texts.percent(model, isSingle),
    },
  ];
}

/** The associates of the object, or what the maps say where none were observed. */
function Associates({ session, object }: OfObject) {
  const { atlas, lookups } = session;
  if (atlas.observed) {
    const observed = lookups.recalledBy(object).slice(0, MOST_OBSERVED);
    const predicted = lookups.recalledInModel(object).slice(0, MOST_ROWS - observed.length);
    const cell = ({ maps, share }: Beside) => {
      if (session.isSingle) return texts.isClose(maps.length > 0);
      if (maps.length === 0) return Number.isNaN(share) ? "" : texts.NOWHERE;
      return maps.map((map, k) => [
        k > 0 && ", ",
        <MapLink key={map} session={session} object={object} map={map} />,
      ]);
    };
    const head = session.isSingle ? texts.ON_MAP_HEAD : texts.CLOSE_HEAD;
    return (
      <ObjectTable
        session={session}
        caption={texts.ASSOCIATES}
        rows={[...observed, ...predicted]}
        columns={[...figures(session), { head, cell, isText: true }]}
      />
    );
  }
  // Between two kinds the most frequent would come first everywhere; the cards list what is near.
  if (atlas.kinds !== null && !session.isSingle) return null;
  return (
    <ObjectTable
      session={session}
      caption={session.isSingle ? texts.NEAREST : texts.PREDICTED_BY_MAPS}
      rows={session.isSingle ? lookups.nearestTo(object) : lookups.associatesOf(object)}
      columns={[
        {
          head: texts.SHARE_HEAD,
          cell: ({ share }: Neighbor) => texts.percent(share, session.isSingle),
        },
      ]}
    />
  );
}
