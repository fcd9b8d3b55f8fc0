/** The opening, with a worked example; and all maps as small pictures, those of a word first. */

import type { AtlasMap } from "../data/atlas.ts";
import { observedIn } from "../data/observed.ts";
import { counted, countedObjects, percent, plainLabel } from "../data/words.ts";
import type { Session } from "../state/session.ts";
import { Button } from "./button.tsx";
import { Cards, stepBetween } from "./cards.tsx";
import { About } from "./colophon.tsx";
import { MapTitle, Thumbnail } from "./pictures.tsx";
import { Word } from "./words.tsx";

export function Gallery({ session }: { session: Session }) {
  const { atlas, contents, state } = session;
  const { word, gallery } = state;
  const shown = contents.inGallery;
  const total = counted(atlas.nMaps, "map");
  return (
    <div class="gallery">
      {word === null && <Example session={session} />}
      <div class="bar-top">
        <h2>{shown.length === atlas.nMaps ? total : `${shown.length} of ${total}`}</h2>
        {word !== null && (
          <>
            <Button
              class="button"
              aria-pressed={gallery === "word"}
              onClick={() => session.showGallery(gallery === "word" ? "all" : "word")}
            >
              <span>
                Only maps with <bdi>{plainLabel(atlas, word)}</bdi>
              </span>
            </Button>
            <Button class="button" onClick={() => session.chooseWord(word)}>
              Show meanings
            </Button>
          </>
        )}
      </div>
      <ul class="sheets" onKeyDown={stepBetween}>
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

/** The meanings of the first example. */
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
  const own = word === null ? [] : session.lookups.sensesIn(word, number);
  const share = own[0] && word !== null ? observedIn(session.atlas.senses, word, number) : null;
  const told = share ?? own[0]?.weight;
  return (
    <Button
      class={word !== null && own.length === 0 ? "sheet apart" : "sheet"}
      data-map={number}
      onClick={() => session.openMap(number)}
    >
      <Thumbnail session={session} map={map} />
      <span class="caption">
        <span class="share">
          <span>Map {number}</span>
          <span class="number">
            {told === undefined ? countedObjects(session.atlas, count) : percent(told)}
          </span>
        </span>
        <MapTitle session={session} map={map} />
      </span>
    </Button>
  );
}
