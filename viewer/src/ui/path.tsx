/** The path from a word to another one: a card for each step, which opens its map there. */

import { useId, useState } from "preact/hooks";
import { elementAt } from "../data/elements.ts";
import { entryOf } from "../data/entries.ts";
import { observedShare } from "../data/observed.ts";
import type { Step } from "../data/paths.ts";
import type { Meaning } from "../state/lookups.ts";
import { noMatch } from "../state/sentences.ts";
import type { Session } from "../state/session.ts";
import * as texts from "../texts.ts";
import { AS_TYPED, Button, Tool } from "./button.tsx";
import { Card, Share, stepBetween } from "./cards.tsx";
import { Word } from "./label_text.tsx";

const MOST_HITS = 8;

interface PathProps {
  session: Session;
  word: number;
  end: number;
}

export function Path({ session, word, end }: PathProps) {
  const { atlas, paths, state } = session;
  const { steps, found } = paths;
  const title = useId();
  return (
    <section class={state.map === null ? "senses path" : "senses low path"} aria-labelledby={title}>
      <div class="top">
        <h2 id={title}>
          {texts.fromTo(
            <em>
              <Word atlas={atlas} object={word} />
            </em>,
            <em>
              <Word atlas={atlas} object={end} />
            </em>,
            steps?.length ?? 0,
          )}
        </h2>
        <p class="quiet">
          {found === null
            ? texts.SEARCHING
            : texts.pathIs(found.steps.length, found.isObserved, atlas.observed !== null)}
        </p>
        <Tool icon="close" name={texts.CLOSE_PATH} onClick={() => session.findPath(null)} />
      </div>
      <ol class="strip" onKeyDown={stepBetween}>
        {(steps ?? []).map((step, k) => (
          <li key={step.from}>
            <Card
              session={session}
              word={step.from}
              meanings={[asMeaning(session, step)]}
              isOpen={state.map === step.map && paths.stepIn(step.map) === step}
              onOpen={() => session.openStep(k)}
            >
              <Share value={Math.round(100 * shareOf(session, step))}>
                {texts.step(
                  <Word atlas={atlas} object={step.from} />,
                  <Word atlas={atlas} object={step.to} />,
                )}
              </Share>
            </Card>
          </li>
        ))}
      </ol>
    </section>
  );
}

/** The response share of an observed step; otherwise the share in the model. */
function shareOf({ atlas, paths }: Session, { from, to, share }: Step): number {
  return paths.found?.isObserved && atlas.observed
    ? observedShare(atlas.observed, from, to)
    : share;
}

/** A step as what its card shows: the next word as the only neighbour. */
function asMeaning({ atlas }: Session, { from, to, map, share }: Step): Meaning {
  return {
    map,
    entry: entryOf(elementAt(atlas.maps, map), from),
    weight: share,
    share: null,
    name: [to],
    neighbors: [{ object: to, share }],
    rank: null,
  };
}

/** Asks for a path from an object: as one types, what it may lead to; Enter takes the first. */
export function PathTo({ session, object }: { session: Session; object: number }) {
  const [text, setText] = useState("");
  const hits = session.finder.objects(text, MOST_HITS).filter((other) => other !== object);
  const go = (end: number) => {
    setText("");
    session.findPath(end, object);
  };
  return (
    <form
      class="pathto"
      onSubmit={(event) => {
        event.preventDefault();
        const [first] = hits;
        if (first !== undefined) go(first);
      }}
    >
      <label class="setting">
        {texts.PATH_TO}
        <input
          class="line"
          type="text"
          placeholder={texts.another(session.atlas.noun[0])}
          {...AS_TYPED}
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
      </label>
      <div class="chips">
        {hits.map((hit) => (
          <Button key={hit} class="chip" onClick={() => go(hit)}>
            <Word atlas={session.atlas} object={hit} />
          </Button>
        ))}
        {text.trim() !== "" && hits.length === 0 && (
          <span class="quiet">{noMatch(session.atlas, text)}</span>
        )}
      </div>
    </form>
  );
}
