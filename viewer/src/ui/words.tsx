/** How labels are written out in the page: always as text, whatever they hold. */

import type { Atlas } from "../data/atlas.ts";
import { elementAt } from "../data/elements.ts";
import { plainText } from "../data/words.ts";

interface WordProps {
  atlas: Atlas;
  object: number;
  /** How many characters are shown; what is longer is told where one points at it. */
  longest?: number;
}

/** The label of an object; one without a label says so. */
export function Word({ atlas, object, longest }: WordProps) {
  const label = elementAt(atlas.labels, object);
  const text = plainText(label, longest);
  if (text === "") return <span class="nameless">no label</span>;
  const whole = text.endsWith("…") ? label.slice(0, 2000) : undefined;
  // Only what is longer than any word of a language may break anywhere.
  return (
    <bdi class={/\S{21}/.test(text) ? "endless" : undefined} title={whole}>
      {text}
    </bdi>
  );
}

/** A text with one part of it emphasized. */
export function Marked({ text, start, end }: { text: string; start: number; end: number }) {
  return (
    <bdi>
      {text.slice(0, start)}
      <mark>{text.slice(start, end)}</mark>
      {text.slice(end)}
    </bdi>
  );
}
