/** A word: its senses, one card for each, and behind disclosures what else is known. */

import { useId } from "preact/hooks";
import { notShown, summary } from "../state/sentences.ts";
import type { Session } from "../state/session.ts";
import * as texts from "../texts.ts";
import { Button, Tool } from "./button.tsx";
import { Cards } from "./cards.tsx";
import { Disclosures } from "./disclosures.tsx";
import { Portraits, Word } from "./label_text.tsx";
import { Details } from "./word_card.tsx";

interface SensesProps {
  session: Session;
  word: number;
  /** Whether it is a strip above an open map. */
  isLow: boolean;
}

export function Senses({ session, word, isLow }: SensesProps) {
  const { atlas, lookups, state } = session;
  const title = useId();
  const far = notShown(atlas, lookups.farFrom(word));
  return (
    <section class={isLow ? "senses low" : "senses"} aria-labelledby={title}>
      <div class="top">
        <h2 id={title}>
          <Word atlas={atlas} object={word} />
        </h2>
        <p>{summary(lookups.sensesOf(word))}</p>
        <Tool icon="close" name={texts.CLOSE_SENSES} onClick={() => session.chooseWord(null)} />
      </div>
      <Cards session={session} word={word} onOpen={(map) => session.openMap(map)} />
      {!isLow && (
        <div class="below">
          {far && <p>{far}</p>}
          <Portraits atlas={atlas} object={word} />
          <Details session={session} object={word} />
          <Disclosures session={session} object={word} />
          {state.map === null && (
            <p>
              <Button class="plain link" onClick={() => session.showGallery()}>
                {texts.allMaps(atlas.nMaps)}
              </Button>
            </p>
          )}
        </div>
      )}
    </section>
  );
}
