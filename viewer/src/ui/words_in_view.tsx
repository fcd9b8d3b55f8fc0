/** The labels on the open map, as a table: the map in words. */

import { lives } from "../data/atlas.ts";
import { elementAt } from "../data/elements.ts";
import { mapsOf } from "../data/entries.ts";
import { observedIn } from "../data/observed.ts";
import type { ShownLabel } from "../scene/scene.ts";
import type { Session } from "../state/session.ts";
import * as texts from "../texts.ts";
import { Button } from "./button.tsx";
import { ObjectTable } from "./object_table.tsx";

const MOST_ROWS = 60;

interface WordsInViewProps {
  session: Session;
  map: number;
  shown: readonly ShownLabel[];
}

export function WordsInView({ session, map, shown }: WordsInViewProps) {
  const { atlas, state } = session;
  const { noun } = atlas;
  const weights = elementAt(atlas.maps, map)[state.by];
  // From far away no label is drawn.
  if (shown.length === 0) return null;
  const rows = shown.slice(-MOST_ROWS).reverse();
  const otherMaps = (object: number) =>
    mapsOf(atlas, object, state.by)
      .filter((at) => at.map !== map && lives(at.weight, state.threshold))
      .map((at) => at.map)
      .join(", ");
  const title = texts.labelledObjects(noun[1]);
  const labelled = texts.countedObjects(atlas, shown.length, texts.LABELLED);
  const weight = ({ entry }: ShownLabel) => texts.percent(elementAt(weights, entry));
  const observed = ({ object }: ShownLabel) => {
    const share = observedIn(atlas.senses, object, map);
    return share === null ? texts.UNKNOWN : texts.percent(share);
  };
  const others = {
    head: texts.ALSO_HEAD,
    isText: true,
    cell: (row: ShownLabel) => otherMaps(row.object),
  };
  const given = atlas.observed
    ? { head: texts.OBSERVED_HEAD, cell: observed, title: texts.OBSERVED_HERE_TITLE }
    : { head: texts.quantity(state.by), cell: weight };
  return (
    <section aria-label={title}>
      <ObjectTable
        session={session}
        caption={shown.length > rows.length ? texts.firstOf(rows.length, labelled) : labelled}
        rows={rows}
        columns={session.isSingle ? [] : [given, others]}
      />
      <p class="row">
        <Button onClick={() => session.select(shown.map(({ object }) => object))}>
          {texts.selectThese(noun[1])}
        </Button>
      </p>
    </section>
  );
}
