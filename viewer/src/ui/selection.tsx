/** The selected objects, which can be shown one by one, saved and let go. */

import { plainLabel } from "../data/words.ts";
import { saveTable } from "../draw/saving.ts";
import type { Session } from "../state/session.ts";
import * as texts from "../texts.ts";
import { Button } from "./button.tsx";
import { Icon } from "./icons.tsx";
import { Word } from "./label_text.tsx";

const MOST_CHIPS = 60;

export function Selection({ session }: { session: Session }) {
  const { selection } = session.state;
  if (selection.length === 0) return null;
  const [only] = selection.length === 1 ? selection : [];
  const name = only === undefined ? texts.SELECTION_FILE : plainLabel(session.atlas, only);
  return (
    <section aria-label={texts.SELECTION}>
      <h2>{texts.selected(texts.countedObjects(session.atlas, selection.length))}</h2>
      <ul class="chips">
        {selection.slice(0, MOST_CHIPS).map((object) => (
          <li key={object}>
            <Button class="chip" onClick={() => session.follow(object)}>
              <Word atlas={session.atlas} object={object} />
            </Button>
          </li>
        ))}
        {selection.length > MOST_CHIPS && (
          <li class="quiet">{texts.andMore(selection.length - MOST_CHIPS)}</li>
        )}
      </ul>
      <div class="row">
        <Button onClick={() => saveTable(session.atlas, selection, name)}>
          <Icon name="save" />
          {texts.CSV}
        </Button>
        <Button onClick={() => session.select([])}>{texts.CLEAR}</Button>
      </div>
    </section>
  );
}
