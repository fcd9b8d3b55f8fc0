/** The opening, with a worked example; and all maps as small pictures, those of a word first. */

import type { AtlasMap } from "../data/atlas.ts";
import { counted, countedObjects, wholePercent } from "../data/words.ts";
import type { Session } from "../state/session.ts";
import { Button, stepBetween } from "./button.tsx";
import { About } from "./help.tsx";
import { Word } from "./label_text.tsx";
import { MapTitle, Thumbnail } from "./pictures.tsx";
import { Cards, columnsOf } from "./senses.tsx";

export function Gallery({ session }: { session: Session }) {
  const { atlas, contents, state } = session;
  const { word } = state;
  const shown = contents.inGallery;
  return (
    <div class="gallery">
      {word === null && <Example session={session} />}
      <div class="bar-top">
        <h2>{counted(atlas.nMaps, "map")}</h2>
        {word !== null && <Button onClick={() => session.chooseWord(word)}>Show senses</Button>}
      </div>
      <ul
        class={shown.length > FEW ? "sheets many" : "sheets"}
        style={{ "--usual": columnsOf(shown.length, shown.length === 5 ? 5 : 4) }}
        onKeyDown={stepBetween}
      >
        {shown.map((map) => (
          <li key={map.number}>
            <Sheet session={session} map={map} />
          </li>
        ))}
      </ul>
      {word === null && <About session={session} />}
    </div>
  );
}

const FEW = 12;

function Example({ session }: { session: Session }) {
  const { atlas } = session;
  const [word] = atlas.examples;
  if (word === undefined) return null;
  return (
    <section class="example" aria-label="Example">
      <h2>
        Example: <Word atlas={atlas} object={word} />
      </h2>
      <Cards session={session} word={word} onOpen={(map) => session.goTo(word, map)} />
    </section>
  );
}

function Sheet({ session, map }: { session: Session; map: AtlasMap }) {
  const { word } = session.state;
  const { number } = map;
  const count = session.contents.countIn(map);
  const own = word === null ? undefined : session.lookups.senseIn(word, number);
  return (
    <Button
      class={word !== null && !own ? "sheet apart" : "sheet"}
      data-map={number}
      onClick={() => session.openMap(number)}
    >
      <Thumbnail session={session} map={map} />
      <span class="caption">
        <span class="share">
          <span>Map {number}</span>
          <span class="number">
            {own ? wholePercent(own.percent) : countedObjects(session.atlas, count)}
          </span>
        </span>
        <MapTitle session={session} map={map} />
      </span>
    </Button>
  );
}
