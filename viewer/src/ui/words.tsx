/** How labels are written out in the page: always as text, whatever they hold. */

import type { Atlas } from "../data/atlas.ts";
import { elementAt } from "../data/elements.ts";

/** The label of an object; one without a label says so. */
export function Word({ atlas, object }: { atlas: Atlas; object: number }) {
  const label = elementAt(atlas.labels, object);
  if (label.trim() === "") return <span class="nameless">no label</span>;
  return <bdi>{label}</bdi>;
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
