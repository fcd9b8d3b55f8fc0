/** A word: its headline, a card for each sense, further facts, and the whole map of the first sense. */

import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";
import { covered, notClose } from "../state/sentences.ts";
import type { Session } from "../state/session.ts";
import * as texts from "../texts.ts";
import { Button, Tool } from "./button.tsx";
import { Cards } from "./cards.tsx";
import { Disclosures } from "./disclosures.tsx";
import { Portraits, Word } from "./label_text.tsx";
import { WholeMap } from "./pictures.tsx";
import { Details } from "./word_card.tsx";

interface SensesProps {
  session: Session;
  word: number;
  /** Whether it is a strip above an open map. */
  isLow: boolean;
}

export function Senses({ session, word, isLow }: SensesProps) {
  const { atlas, lookups } = session;
  const title = useId();
  const senses = lookups.sensesOf(word);
  const [first] = senses;
  return (
    <section
      class={isLow ? "senses low" : "senses"}
      aria-labelledby={title}
      data-count={senses.length}
    >
      <div class="top">
        <h2 id={title}>
          {texts.headline<ComponentChildren>(
            <Word atlas={atlas} object={word} />,
            texts.onMaps(senses.length),
          )}
        </h2>
        <p>{covered(senses)}</p>
        <Tool icon="close" name={texts.CLOSE_SENSES} onClick={() => session.chooseWord(null)} />
      </div>
      <Cards session={session} word={word} onOpen={(map) => session.openMap(map)} />
      {!isLow && (
        <>
          <Facts session={session} word={word} />
          {first && <WholeMap session={session} sense={first} />}
        </>
      )}
    </section>
  );
}

/** What is known of a word besides its senses, and the way to all maps. */
function Facts({ session, word }: Omit<SensesProps, "isLow">) {
  const { atlas, lookups } = session;
  const far = notClose(atlas, lookups.farFrom(word));
  return (
    <div class="facts">
      {far && <p>{far}</p>}
      <Portraits atlas={atlas} object={word} />
      <Details session={session} object={word} />
      <Disclosures session={session} object={word} />
      <Button class="plain link" onClick={() => session.showGallery()}>
        {texts.allMaps(atlas.nMaps)}
      </Button>
    </div>
  );
}
