/** The tooltip of a dot: its map weight, its columns, its neighbours, its other maps. */

import { type AtlasMap, kindOf } from "../data/atlas.ts";
import { observedIn } from "../data/observed.ts";
import { counted, percent } from "../data/words.ts";
import type { Session } from "../state/session.ts";
import { Portraits, Word } from "./label_text.tsx";
import { Details } from "./word_card.tsx";

const MOST_NEAR = 3;

export interface Hovered {
  map: AtlasMap;
  entry: number;
  x: number;
  y: number;
}

type TipProps = { session: Session; at: Hovered; host: HTMLElement | null };

export function Tip({ session, at, host }: TipProps) {
  const { atlas } = session;
  const { number: map, objects, weights } = at.map;
  const object = objects[at.entry];
  const others = session.lookups.mapsOf(object).filter((other) => other !== map);
  const share = observedIn(atlas, object, map);
  const here =
    share === null ? `map weight ${percent(weights[at.entry])}` : `${percent(share)} observed here`;
  const { width, height } = host?.getBoundingClientRect() ?? { width: 0, height: 0 };
  const style = {
    ...(at.x > width / 2 ? { right: `${width - at.x + 14}px` } : { left: `${at.x + 14}px` }),
    ...(at.y > height / 2 ? { bottom: `${height - at.y + 10}px` } : { top: `${at.y + 10}px` }),
  };
  return (
    <div class="tip" style={style} role="tooltip">
      <b>
        <Word atlas={atlas} object={object} />
      </b>{" "}
      {session.isSingle ? kindOf(atlas, object) : here}
      <Portraits atlas={atlas} object={object} />
      <Details session={session} object={object} />
      <Near session={session} object={object} map={map} />
      {others.length > 0 && (
        <span class="more">
          also in {others.length === 1 ? "map" : `${counted(others.length, "map")}:`}{" "}
          {others.slice(0, 6).join(", ")}
        </span>
      )}
    </div>
  );
}

/** The strongest observed associates of an object; without data, its neighbours on the map. */
function Near({ session, object, map }: { session: Session; object: number; map: number }) {
  const { atlas, lookups } = session;
  const partners = lookups.recalledBy(object);
  const near = lookups.senseIn(object, map)?.neighbors ?? [];
  const isObserved = partners.length > 0;
  const listed: [number, string][] = isObserved
    ? partners.map((partner) => [partner.object, ` ${percent(partner.share)}`])
    : near.map((neighbor) => [neighbor, ""]);
  if (listed.length === 0) return null;
  return (
    <span class="more">
      {isObserved ? "Observed: " : "Neighbours: "}
      {listed.slice(0, MOST_NEAR).map(([other, share], k) => (
        <>
          {k > 0 && ", "}
          <Portraits atlas={atlas} object={other} isNamed />
          <Word atlas={atlas} object={other} />
          {share}
        </>
      ))}
    </span>
  );
}
