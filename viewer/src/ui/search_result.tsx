/** One result in the list of the search field, and why or where it was found. */

import { countedObjects, plainText } from "../data/words.ts";
import type { Found } from "../state/finder.ts";
import { whereabouts } from "../state/sentences.ts";
import type { Session } from "../state/session.ts";
import { Marked, Word } from "./label_text.tsx";

/** Number of characters of a long text that are listed before and after the match. */
const AROUND = 24;

interface OptionProps {
  session: Session;
  hit: Found;
  isGuess: boolean;
  id: string;
  isActive: boolean;
  onChoose: () => void;
}

export function Option({ session, hit, isGuess, id, isActive, onChoose }: OptionProps) {
  const isLong = hit.object !== null && hit.how === "text";
  const [what, where] = foundAs(session, hit, isGuess);
  return (
    <div
      class="hit"
      id={id}
      role="option"
      tabIndex={-1}
      aria-selected={isActive}
      // The field keeps the focus, so that its blur does not close the list before the click.
      onMouseDown={(event) => event.preventDefault()}
      onClick={onChoose}
      onKeyDown={(event) => event.key === "Enter" && onChoose()}
    >
      <span class="word">{what}</span>
      <span class={isLong ? "long where" : "where"}>{where}</span>
    </div>
  );
}

function foundAs({ atlas, lookups }: Session, hit: Found, isGuess: boolean) {
  const { object, column, text, start, end } = hit;
  const match = <Marked text={text} start={start} end={end} />;
  if (object === null) {
    const name = <bdi>{plainText(column)}</bdi>;
    return [["Show only ", name, " = ", match], countedObjects(atlas, hit.count)];
  }
  const word = <Word atlas={atlas} object={object} />;
  if (hit.how === "text") {
    const from = Math.max(0, start - AROUND);
    const part = text.slice(from, end + AROUND);
    const name = <bdi>{plainText(column)}</bdi>;
    const around = <Marked text={part} start={start - from} end={end - from} />;
    return [word, [name, ": ", from > 0 && "…", around]];
  }
  if (hit.how === "pair")
    return [text, hit.map === null ? "close on no map" : `both close on map ${hit.map}`];
  return [
    [isGuess && "Did you mean: ", match],
    whereabouts(atlas, object, lookups.countOf(object)),
  ];
}
