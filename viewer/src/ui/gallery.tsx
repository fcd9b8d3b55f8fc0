/** All maps as small pictures; where a word is looked up, its maps come first. */

import type { AtlasMap } from "../data/atlas.ts";
import { counted, countedObjects, percent, plainLabel } from "../data/words.ts";
import type { Session } from "../state/session.ts";
import { About } from "./colophon.tsx";
import { gallerySheet, SaveButtons } from "./exports.tsx";
import { MapTitle, Thumbnail } from "./pictures.tsx";
import { stepBetween } from "./senses.tsx";

export function Gallery({ session }: { session: Session }) {
  const { word, onlyItsMaps } = session.state;
  const senses = word === null ? [] : session.lookups.sensesOf(word);
  const weights = new Map(senses.map(({ map, weight }) => [map, weight]));
  const { mapOrder } = session.atlas;
  const sorted = [...session.atlas.maps].sort(
    (a, b) =>
      (weights.get(b.number) ?? 0) - (weights.get(a.number) ?? 0) ||
      mapOrder.indexOf(a.number) - mapOrder.indexOf(b.number),
  );
  const shown = word !== null && onlyItsMaps ? sorted.filter((m) => weights.has(m.number)) : sorted;
  return (
    <div class="gallery">
      {word === null && <About session={session} />}
      <div class="bar-top">
        <h2>
          {shown.length === sorted.length
            ? `${counted(sorted.length, "map")}`
            : `${shown.length} of ${counted(sorted.length, "map")}`}
        </h2>
        <div class="keep">
          <SaveButtons
            session={session}
            of="all maps"
            name="maps"
            sheet={() => gallerySheet(session, shown)}
          />
        </div>
        {word !== null && (
          <button
            type="button"
            class="button"
            aria-pressed={onlyItsMaps}
            onClick={() => session.store.change({ onlyItsMaps: !onlyItsMaps })}
          >
            <span>
              Only maps with <bdi>{plainLabel(session.atlas, word)}</bdi>
            </span>
          </button>
        )}
      </div>
      <ul class="sheets" onKeyDown={stepBetween}>
        {shown.map((map) => (
          <li key={map.number}>
            <Sheet session={session} map={map} weight={weights.get(map.number)} />
          </li>
        ))}
      </ul>
    </div>
  );
}

interface SheetProps {
  session: Session;
  map: AtlasMap;
  /** The map weight of the word that is looked up. */
  weight: number | undefined;
}

function Sheet({ session, map, weight }: SheetProps) {
  const { word } = session.state;
  const count = session.contents.countIn(map);
  const isApart = word !== null && weight === undefined;
  return (
    <button
      type="button"
      class={isApart ? "sheet apart" : "sheet"}
      data-map={map.number}
      onClick={() => session.openMap(map.number)}
    >
      <Thumbnail session={session} map={map} />
      <span class="caption">
        <span class="share">
          <span>Map {map.number}</span>
          {weight === undefined ? (
            <span>{countedObjects(session.atlas, count)}</span>
          ) : (
            <>
              <span class="bar">
                <i style={{ width: `${100 * weight}%` }} />
              </span>
              <span class="number">
                {session.atlas.observed && "model "}
                {percent(weight)}
              </span>
            </>
          )}
        </span>
        <MapTitle session={session} map={map} />
      </span>
    </button>
  );
}
