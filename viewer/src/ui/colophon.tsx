/** About the atlas: its description and, on paper, the legend and the source. */

import { useLayoutEffect, useState } from "preact/hooks";
import { onPrint } from "../draw/printing.ts";
import { keysOf } from "../scene/legend.ts";
import { facts, provenance } from "../state/sentences.ts";
import type { Session } from "../state/session.ts";

/** The contents and the source of the atlas. */
export function About({ session: { atlas, isSingle } }: { session: Session }) {
  return (
    <div class="about">
      {isSingle && atlas.description && <p dir="auto">{atlas.description}</p>}
      <p class="quiet source" dir="auto">
        {[facts(atlas), provenance(atlas)].filter(Boolean).join(". ")}
      </p>
    </div>
  );
}

/** The legend and the source of what is printed, in the colours of paper. */
export function Colophon({ session }: { session: Session }) {
  const [isShown, show] = useState(false);
  useLayoutEffect(() => onPrint(show), []);
  if (!isShown) return null;
  const { atlas, appearance, state } = session;
  const { ink } = appearance.palette;
  return (
    <footer class="colophon">
      <ul>
        {keysOf(atlas, appearance.look.coloring.legend, state, ink).map((runs) => (
          <li>
            {runs.map(({ text, color }) => (
              <span style={color && { color }}>{text}</span>
            ))}
          </li>
        ))}
      </ul>
      <p>{provenance(atlas)}</p>
    </footer>
  );
}
