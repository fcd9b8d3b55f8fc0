/** The labels that stand on the open map now, as a table: the map in words. */

import { lives } from "../data/atlas.ts";
import { elementAt } from "../data/elements.ts";
import { mapsOf } from "../data/entries.ts";
import { counted, percent } from "../data/words.ts";
import type { ShownLabel } from "../scene/scene.ts";
import type { Session } from "../state/session.ts";
import { Word } from "./words.tsx";

const MOST_ROWS = 60;

interface WordsInViewProps {
  session: Session;
  map: number;
  shown: readonly ShownLabel[];
}

export function WordsInView({ session, map, shown }: WordsInViewProps) {
  const { atlas, state } = session;
  const { recalls } = elementAt(atlas.maps, map);
  const rows = shown.slice(-MOST_ROWS).reverse();
  const otherMaps = (object: number) =>
    mapsOf(atlas, object)
      .filter((at) => at.map !== map && lives(at.recall, state.threshold))
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
                  <td class="number">{percent(elementAt(recalls, entry))}</td>
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
