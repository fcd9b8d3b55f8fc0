/** The senses of a word, one crop each, what recalls most first; two of one map are two crops of it. */

import type { Sense } from "../data/probabilities.ts";
import { percent, plainLabel } from "../data/words.ts";
import { furtherMaps, observed, whereSensesLie } from "../state/sentences.ts";
import type { Session } from "../state/session.ts";
import { Icon } from "./icons.tsx";
import { Crop } from "./pictures.tsx";
import { Word } from "./words.tsx";

/** Asymmetries weaker than this are not worth a sentence. */
const TELLING = 0.01;

export function Senses({ session, word }: { session: Session; word: number }) {
  const senses = session.lookups.sensesOf(word);
  const further = furtherMaps(session.atlas, word, senses);
  return (
    <section
      class={session.state.map === null ? "senses" : "senses low"}
      aria-labelledby="senses-title"
    >
      <div class="top">
        <h2 id="senses-title">
          <em>
            <Word atlas={session.atlas} object={word} />
          </em>{" "}
          {senses.length === 0 ? "is in none of the maps" : whereSensesLie(senses)}
        </h2>
        {further && (
          <p class="quiet" title="Of what the model recalls of it">
            {further}
          </p>
        )}
        <Asymmetry session={session} word={word} />
        <button
          type="button"
          class="tool leave"
          title="Close"
          aria-label="Close the senses"
          onClick={() => session.chooseWord(null)}
        >
          <Icon name="close" />
        </button>
      </div>
      <ul class="strip" onKeyDown={stepBetween}>
        {senses.map((sense, rank) => (
          <li key={`${sense.map} ${rank}`}>
            <Card session={session} word={word} sense={sense} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function Card({ session, word, sense }: { session: Session; word: number; sense: Sense }) {
  const { atlas, state } = session;
  const near = sense.neighbors.map(({ object }) => plainLabel(atlas, object)).join(", ");
  const { share, recall } = sense;
  return (
    <button
      type="button"
      class="sense"
      aria-current={state.map === sense.map}
      onClick={() => session.openMap(sense.map)}
    >
      <Crop session={session} word={word} sense={sense} />
      <span class="caption">
        <span class="share">
          <span>Map {sense.map}</span>
          <span class="bar">
            <i style={{ width: `${100 * (share ?? recall)}%` }} />
            {share !== null && <b style={{ insetInlineStart: `${100 * recall}%` }} />}
          </span>
          {share === null && <span class="number">{percent(recall)}</span>}
        </span>
        {share !== null && (
          <span class="share told">
            <span>{observed(share)}</span>
            <span class="quiet">model {percent(recall)}</span>
          </span>
        )}
        <bdi class="near">{near || "no neighbours here"}</bdi>
      </span>
    </button>
  );
}

/** "dynasty recalls China 8.9%, China recalls dynasty 0.5%": the pair that differs most. */
function Asymmetry({ session, word }: { session: Session; word: number }) {
  if (!session.lookups.probabilities.isAsymmetric) return null;
  const pairs = session.lookups.associationsOf(word);
  const differing = pairs
    .filter(({ to, from }) => Math.max(to, from) > TELLING)
    .sort((a, b) => Math.abs(b.to - b.from) - Math.abs(a.to - a.from));
  const [most] = differing;
  if (most === undefined) return null;
  const { object, to, from } = most;
  const [here, there] = [
    <Word atlas={session.atlas} object={word} />,
    <Word atlas={session.atlas} object={object} />,
  ];
  return (
    <p class="asymmetry">
      {here} recalls <b>{there}</b> {percent(to)}, {there} recalls <b>{here}</b> {percent(from)}
    </p>
  );
}

/** Arrow keys go from one button of a list to the next. */
export function stepBetween(event: KeyboardEvent): void {
  const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (by === undefined) return;
  const buttons = [...(event.currentTarget as HTMLElement).querySelectorAll("button")];
  const at = buttons.indexOf(event.target as HTMLButtonElement);
  const next = buttons[at + by];
  if (at < 0 || next === undefined) return;
  event.preventDefault();
  next.focus();
}
