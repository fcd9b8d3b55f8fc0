/** About the atlas, how to read its maps, and the keys. */

import { useLayoutEffect, useRef } from "preact/hooks";
import { facts, provenance } from "../state/sentences.ts";
import type { Session } from "../state/session.ts";
import { Check, Tool } from "./button.tsx";

/** The description, contents and source of the atlas. */
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

const KEYS: [keys: string[], effect: string][] = [
  [["/"], "find by name; Enter opens the result"],
  [["Tab", "Enter"], "go to the next control; open it"],
  [["←", "→"], "previous or next sense or map"],
  [["g"], "show all maps"],
  [["[", "]"], "previous map, next map"],
  [
    ["m"],
    "go to the map; then arrows move it, + and − zoom, 0 shows all, n goes to the next neighbour, Tab to the names of regions",
  ],
  [["s"], "select or deselect the result"],
  [["l"], "select with a lasso, or move the map again"],
  [["t"], "go to the threshold; arrows change it"],
  [["f"], "go to the filters; Enter opens them"],
  [["e"], "save a picture"],
  [["Esc"], "close, clear, or return to all maps"],
  [["?"], "show this help"],
];

type HelpProps = { session: Session; isOpen: boolean; onClose: () => void };

export function Help({ session, isOpen, onClose }: HelpProps) {
  const { hasKeys } = session.state;
  const [, nouns] = session.atlas.noun;
  const dialog = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => {
    if (isOpen) dialog.current?.showModal();
    else dialog.current?.close();
  }, [isOpen]);
  return (
    <dialog ref={dialog} aria-labelledby="help-title" onCancel={onClose} onClose={onClose}>
      <Tool icon="close" name="Close" onClick={onClose} />
      <h2 id="help-title">How to read an atlas</h2>
      <p>
        {session.isSingle
          ? `Each dot is one of the ${nouns}. Similar ${nouns} are close together. `
          : `Each map shows some of the ${nouns}; associated ${nouns} are close together. The area of a dot is its map weight: the share of its associations that this map contributes. `}
        Click a dot to select it; double-click to open it. Drag with Shift to select with a lasso.
        An arrow at the edge points to a neighbour outside the picture; click it to go there.
      </p>
      {session.atlas.observed && (
        <p>
          “Observed” is the share in the data. “Close” means a similarity on that map of at least 5%
          of the largest one.
        </p>
      )}
      <dl>
        {KEYS.map(([keys, effect]) => (
          <>
            <dt>
              {keys.map((key) => (
                <>
                  <kbd>{key}</kbd>{" "}
                </>
              ))}
            </dt>
            <dd>{effect}</dd>
          </>
        ))}
      </dl>
      <Check
        name="Single-key shortcuts"
        isOn={hasKeys}
        onChange={(isOn) => session.store.change({ hasKeys: isOn })}
      />
    </dialog>
  );
}
