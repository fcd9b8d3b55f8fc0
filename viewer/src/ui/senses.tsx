/** The senses of a word, one crop each, the largest share first; two of one map are two crops of it. */

import type { ComponentChildren } from "preact";
import { useId, useState } from "preact/hooks";
import { bothWays } from "../data/observed.ts";
import type { Sense } from "../data/probabilities.ts";
import { percent, plainLabel } from "../data/words.ts";
import type { Beside } from "../state/lookups.ts";
import {
  beside,
  furtherMaps,
  nearIn,
  observed,
  whatIsNear,
  whereSensesLie,
} from "../state/sentences.ts";
import type { Session } from "../state/session.ts";
import { SaveButtons, sensesSheet } from "./exports.tsx";
import { Icon } from "./icons.tsx";
import { Crop } from "./pictures.tsx";
import { Word } from "./words.tsx";

/** Asymmetries weaker than this are not worth a sentence. */
const TELLING = 0.01;
/** Observed partners that are told at once. */
const MOST_UNSEEN = 6;

interface SensesProps {
  session: Session;
  word: number;
  /** Whether the cards have their words beside the crop, and so are low. */
  isLow: boolean;
  /** The id of the name of the view, beside another one. */
  of: string;
}

export function Senses({ session, word, isLow, of }: SensesProps) {
  const senses = session.lookups.sensesOf(word);
  const further = furtherMaps(session.atlas, word, senses);
  const title = useId();
  return (
    <section class={isLow ? "senses low" : "senses"} aria-labelledby={`${of} ${title}`}>
      <div class="top">
        <h2 id={title}>
          <em>
            <Word atlas={session.atlas} object={word} />
          </em>{" "}
          {senses.length === 0 ? "is not in any map" : whereSensesLie(senses)}
        </h2>
        {further && (
          <p class="quiet" title="Weight in maps without a card">
            {further}
          </p>
        )}
        <Asymmetry session={session} word={word} />
        <Unseen key={word} session={session} word={word} />
        {senses.length > 0 && (
          <div class="keep">
            <SaveButtons
              session={session}
              of="the meanings"
              name={`meanings of ${plainLabel(session.atlas, word)}`}
              sheet={() => sensesSheet(session, word, senses)}
            />
          </div>
        )}
        <button
          type="button"
          class="tool leave"
          title="Close"
          aria-label="Close the meanings"
          onClick={() => session.chooseWord(null)}
        >
          <Icon name="close" />
        </button>
      </div>
      <ul class="strip" onKeyDown={stepBetween}>
        {senses.map((sense, rank) => (
          <li key={`${sense.map} ${rank}`}>
            <Card
              session={session}
              word={word}
              sense={sense}
              isOpen={session.state.map === sense.map}
              onOpen={() => session.openMap(sense.map)}
            >
              {whatIsNear(session.atlas, sense)}
            </Card>
          </li>
        ))}
      </ul>
    </section>
  );
}

interface CardProps {
  session: Session;
  word: number;
  sense: Sense;
  isOpen: boolean;
  onOpen: () => void;
  /** What is near there. */
  children: ComponentChildren;
}

export function Card({ session, word, sense, isOpen, onOpen, children }: CardProps) {
  const { share, weight } = sense;
  return (
    <button type="button" class="sense" aria-current={isOpen} onClick={onOpen}>
      <Crop session={session} word={word} sense={sense} />
      <span class="caption">
        <span class="share">
          <span>Map {sense.map}</span>
          <span class="bar">
            <i style={{ width: `${100 * (share ?? weight)}%` }} />
            {share !== null && <b style={{ insetInlineStart: `${100 * weight}%` }} />}
          </span>
          {share === null && <span class="number">{percent(weight)}</span>}
        </span>
        {share !== null && (
          <span class="share told">
            <span>{observed(share)}</span>
            <span class="quiet">model {percent(weight)}</span>
          </span>
        )}
        <bdi class="near">{children}</bdi>
      </span>
    </button>
  );
}

/** What was observed of the word though none of the senses shows it, that first which is nowhere near. */
function Unseen({ session, word }: { session: Session; word: number }) {
  const [most, setMost] = useState(MOST_UNSEEN);
  const unseen = session.lookups.unseen(word);
  const groups = new Map<string, Beside[]>();
  for (const partner of unseen.slice(0, most)) {
    const where = nearIn(partner);
    groups.set(where, [...(groups.get(where) ?? []), partner]);
  }
  if (groups.size === 0) return null;
  return (
    <p class="asymmetry">
      Also observed
      {[...groups].map(([where, partners], group) => (
        <span key={where}>
          {group > 0 ? "; " : ", "}
          {where}:{" "}
          {partners.map((partner, k) => (
            <>
              {k > 0 && ", "}
              <button
                type="button"
                class="plain"
                onClick={() => session.chooseWord(partner.object)}
              >
                <b>
                  <Word atlas={session.atlas} object={partner.object} />
                </b>
              </button>{" "}
              {beside(partner)}
            </>
          ))}
        </span>
      ))}
      {unseen.length > most && (
        <>
          ,{" "}
          <button type="button" class="plain" onClick={() => setMost(unseen.length)}>
            and {unseen.length - most} more
          </button>
        </>
      )}
    </p>
  );
}

/** "Observed: dynasty evokes China 8.9% (model 4%), ...": the pair that differs most. */
function Asymmetry({ session, word }: { session: Session; word: number }) {
  const { atlas, lookups } = session;
  const { observed } = atlas;
  const { probabilities } = lookups;
  if (observed === null && !probabilities.isAsymmetric) return null;
  const [most] = (observed ? bothWays(observed, word) : lookups.associationsOf(word))
    .filter(({ to, from }) => Math.max(to, from) > TELLING)
    .sort((a, b) => Math.abs(b.to - b.from) - Math.abs(a.to - a.from));
  if (most === undefined) return null;
  const told = (a: number, b: number, share: number) => (
    <>
      <Word atlas={atlas} object={a} /> evokes{" "}
      <b>
        <Word atlas={atlas} object={b} />
      </b>{" "}
      {observed ? beside({ share, model: probabilities.probability(a, b) }) : percent(share)}
    </>
  );
  return (
    <p class="asymmetry">
      {observed ? "Observed" : "In the model"}: {told(word, most.object, most.to)},{" "}
      {told(most.object, word, most.from)}
    </p>
  );
}

/** Arrow keys go from one button of a list to the next. */
export function stepBetween(event: KeyboardEvent): void {
  const by = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (by === undefined) return;
  const buttons = [...(event.currentTarget as HTMLElement).querySelectorAll("button")];
  const at = buttons.indexOf(event.target as HTMLButtonElement);
  const next = buttons[at + by];
  if (at < 0 || next === undefined) return;
  event.preventDefault();
  next.focus();
}
