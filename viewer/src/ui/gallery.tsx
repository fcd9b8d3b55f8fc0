/** All maps as small pictures; where a word is looked up, its maps come first. */

import { type AtlasMap, lives } from "../data/atlas.ts";
import { counted, mapTitle, percent, plainLabel } from "../data/words.ts";
import type { Session } from "../state/session.ts";
import { Thumbnail } from "./pictures.tsx";
import { stepBetween } from "./senses.tsx";

export function Gallery({ session }: { session: Session }) {
  const { word, onlyItsMaps } = session.state;
  const shares = new Map<number, number>();
  for (const { map, share } of word === null ? [] : session.lookups.sensesOf(word)) {
    shares.set(map, (shares.get(map) ?? 0) + share);
  }
  const sorted = [...session.atlas.maps].sort(
    (a, b) => (shares.get(b.number) ?? 0) - (shares.get(a.number) ?? 0) || a.number - b.number,
  );
  const shown = word !== null && onlyItsMaps ? sorted.filter((m) => shares.has(m.number)) : sorted;
  return (
    <div class="gallery">
      <div class="bar-top">
        <h2>
          {shown.length === sorted.length
            ? `${counted(sorted.length, "map")}`
            : `${shown.length} of ${counted(sorted.length, "map")}`}
        </h2>
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
            <Sheet session={session} map={map} share={shares.get(map.number)} />
          </li>
        ))}
      </ul>
    </div>
  );
}

interface SheetProps {
  session: Session;
  map: AtlasMap;
  /** What the word that is looked up has of this map: its senses' share, or its proportion. */
  share: number | undefined;
}

function Sheet({ session, map, share }: SheetProps) {
  const { word, threshold } = session.state;
  const title = mapTitle(session.atlas, map);
  const count = map.proportions.reduce((n, p) => n + (lives(p, threshold) ? 1 : 0), 0);
  const isApart = word !== null && share === undefined;
  return (
    <button
      type="button"
      class={isApart ? "sheet apart" : "sheet"}
      data-map={map.number}
      aria-label={`Map ${map.number}, ${counted(count, "object")}: ${title}`}
      onClick={() => session.openMap(map.number)}
    >
      <Thumbnail session={session} map={map} />
      <span class="caption">
        <span class="share">
          <span>Map {map.number}</span>
          {share === undefined ? (
            <span>{counted(count, "object")}</span>
          ) : (
            <>
              <span class="bar">
                <i style={{ width: `${100 * share}%` }} />
              </span>
              <span class="number">{percent(share)}</span>
            </>
          )}
        </span>
        <bdi class="words">{title}</bdi>
      </span>
    </button>
  );
}
