/** What the keys do. */

import { useLayoutEffect, useRef } from "preact/hooks";
import type { Session } from "../state/session.ts";
import { Button } from "./button.tsx";
import { Icon } from "./icons.tsx";

const KEYS: [string[], string][] = [
  [["/"], "find by name; Enter opens the result"],
  [["Tab", "Enter"], "go to the next control; open it"],
  [["←", "→"], "previous or next meaning or map"],
  [["g"], "show all maps"],
  [["[", "]"], "previous map, next map"],
  [
    ["m"],
    "go to the map; then arrows move it, + and − zoom, 0 shows all, n goes to the next neighbour",
  ],
  [["s"], "select or deselect the result"],
  [["p", "b", "l"], "move the map, select in a box, select with a lasso"],
  [["d", "o"], "open or close a second view; go to the other view"],
  [["t"], "go to the threshold; arrows change it"],
  [["f"], "go to the filters; Enter opens them"],
  [["e"], "save a picture"],
  [["Esc"], "close, clear, or return to all maps"],
  [["?"], "show this help"],
];

interface HelpProps {
  session: Session;
  isOpen: boolean;
  onClose: () => void;
}

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
      <div class="dialoghead">
        <h2 id="help-title">How to read an atlas</h2>
        <Button class="tool" aria-label="Close" onClick={onClose}>
          <Icon name="close" />
        </Button>
      </div>
      <p>
        {session.isSingle
          ? `Each dot is one of the ${nouns}. Similar ${nouns} are close together.`
          : `Each map shows some of the ${nouns}; associated ${nouns} are close together. The area of a
            dot is its map weight: the share of its associations that this map contributes.`}{" "}
        Click a dot to select it; double-click to open it. Drag with Shift to select in a box, with
        Alt to select with a lasso. An arrow at the edge points to a neighbour outside the picture;
        click it to go there.
      </p>
      {session.atlas.observed && (
        <p>
          “Observed” is the share in the data, “predicted” the share that the maps predict. “Close”
          means a similarity on that map of at least 5% of the largest one.
        </p>
      )}
      <dl>
        {KEYS.map(([keys, meaning]) => (
          <>
            <dt>
              {keys.map((key) => (
                <>
                  <kbd>{key}</kbd>{" "}
                </>
              ))}
            </dt>
            <dd>{meaning}</dd>
          </>
        ))}
      </dl>
      <label class="key">
        <input
          type="checkbox"
          checked={hasKeys}
          onChange={() => session.store.change({ hasKeys: !hasKeys })}
        />
        <span>Single-key shortcuts</span>
      </label>
    </dialog>
  );
}
