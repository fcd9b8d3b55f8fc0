/** How objects are written out in the page: labels always as text, whatever they hold; and pictures. */

import type { Atlas } from "../data/atlas.ts";
import { cutLabel, plainLabel } from "../data/words.ts";

type WordProps = { atlas: Atlas; object: number; longest?: number };

/** The label of an object, cut where it is too long; one without a label says so. */
export function Word({ atlas, object, longest }: WordProps) {
  const label = atlas.labels[object];
  const text = cutLabel(atlas.labels, label, longest);
  if (text === "") return <span class="nameless">no label</span>;
  const whole = /^…|…$/.test(text) ? label.slice(0, 2000) : undefined;
  // Only what is longer than any word of a language may break anywhere.
  return (
    <bdi class={/\S{21}/.test(text) ? "endless" : undefined} title={whole}>
      {text}
    </bdi>
  );
}

export function Marked({ text, start, end }: { text: string; start: number; end: number }) {
  return (
    <bdi>
      {text.slice(0, start)}
      <mark>{text.slice(start, end)}</mark>
      {text.slice(end)}
    </bdi>
  );
}

type PortraitsProps = { atlas: Atlas; object: number; isNamed?: boolean };

/** The pictures of an object; without a text in place of them where its label stands beside. */
export function Portraits({ atlas, object, isNamed }: PortraitsProps) {
  return atlas.columns.map((column) => {
    const source = column.type === "image" ? column.values[object] : "";
    if (!source.startsWith("data:image/")) return null;
    const alt = isNamed ? "" : `${column.name} of ${plainLabel(atlas, object)}`;
    return <img key={column.name} class="portrait" src={source} alt={alt} />;
  });
}
