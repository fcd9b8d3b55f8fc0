/** The opening, with a worked example; and all maps as small pictures, those of a word first. */

import type { ComponentChildren } from "preact";
import type { AtlasMap } from "../data/atlas.ts";
import { plainLabel } from "../data/words.ts";
import type { Session } from "../state/session.ts";
import * as texts from "../texts.ts";
import { About } from "./about.tsx";
import { Button } from "./button.tsx";
import { Cards, stepBetween } from "./cards.tsx";
import { Word } from "./label_text.tsx";
import { MapTitle, Thumbnail } from "./pictures.tsx";

export function Gallery({ session }: { session: Session }) {
  const { atlas, contents, state } = session;
  const { word, gallery } = state;
  const shown = contents.inGallery;
  return (
    <div class="gallery">
      {word === null && <Example session={session} />}
      <div class="bar-top">
        <h2>
          {shown.length === atlas.nMaps
            ? texts.counted(atlas.nMaps, "map")
            : texts.someMaps(shown.length, atlas.nMaps)}
        </h2>
        {word !== null && (
          <>
            <Button
              aria-pressed={gallery === "word"}
              onClick={() => session.showGallery(gallery === "word" ? "all" : "word")}
            >
              <span>
                {texts.onlyMapsWith<ComponentChildren>(<bdi>{plainLabel(atlas, word)}</bdi>)}
              </span>
            </Button>
            <Button onClick={() => session.chooseWord(word)}>{texts.SHOW_SENSES}</Button>
          </>
        )}
      </div>
      <ul
        class={shown.length > FEW ? "sheets many" : "sheets"}
        style={{ "--columns": `${columnsOf(shown.length)}` }}
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

/** Up to this number, maps fill the width, and no row has one alone. */
const FEW = 12;

function columnsOf(count: number): number {
  if (count <= 2) return 2;
  return [5, 3].find((columns) => count % columns === 0 && count < 12) ?? 4;
}

/** The senses of the first example. */
function Example({ session }: { session: Session }) {
  const { atlas } = session;
  const [word] = atlas.examples;
  if (word === undefined) return null;
  return (
    <section class="example" aria-label={texts.EXAMPLE}>
      <h2>{texts.exampleOf<ComponentChildren>(<Word atlas={atlas} object={word} />)}</h2>
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
          <span>{texts.mapName(number)}</span>
          <span class="number">
            {own ? texts.wholePercent(own.percent) : texts.countedObjects(session.atlas, count)}
          </span>
        </span>
        <MapTitle session={session} map={map} />
      </span>
    </Button>
  );
}
