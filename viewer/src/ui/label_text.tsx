/** How objects are written out in the page: labels always as text, whatever they hold; and pictures. */

import type { Atlas } from "../data/atlas.ts";
import { cutLabel, plainLabel } from "../data/words.ts";
import * as texts from "../texts.ts";

interface WordProps {
  atlas: Atlas;
  object: number;
  /** How many characters are shown; what is longer is told where one points at it. */
  longest?: number;
}

/** The label of an object; one without a label says so. */
export function Word({ atlas, object, longest }: WordProps) {
  const label = atlas.labels[object];
  const text = cutLabel(atlas.labels, label, longest);
  if (text === "") return <span class="nameless">{texts.NO_LABEL}</span>;
  const whole = /^…|…$/.test(text) ? label.slice(0, 2000) : undefined;
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

interface PortraitsProps {
  atlas: Atlas;
  object: number;
  /** Whether its label stands beside them. */
  isNamed?: boolean;
}

/** The pictures of an object, which the page's data hold themselves. */
export function Portraits({ atlas, object, isNamed }: PortraitsProps) {
  return atlas.columns.map((column) => {
    const source = column.type === "image" ? column.values[object] : "";
    if (!source.startsWith("data:image/")) return null;
    const alt = isNamed ? "" : texts.portrait(column.name, plainLabel(atlas, object));
    return <img key={column.name} class="portrait" src={source} alt={alt} />;
  });
}
