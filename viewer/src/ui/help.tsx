/** What the keys do. */

import { useLayoutEffect, useRef } from "preact/hooks";
import type { Session } from "../state/session.ts";
import { Icon } from "./icons.tsx";

const KEYS: [string[], string][] = [
  [["/"], "find one by its name; Enter goes to it"],
  [["Tab", "Enter"], "go from one thing to the next, and open it"],
  [["←", "→"], "from one sense or map to the next, in the strip and the gallery"],
  [["g"], "all maps"],
  [["[", "]"], "the map before, the map after"],
  [
    ["m"],
    "to the map; then arrows move it, + and − zoom, 0 shows all of it, n goes to the next neighbour",
  ],
  [["s"], "select what was found, or no longer"],
  [["p", "b", "l"], "move the map, select in a box, select with a lasso"],
  [["d", "o"], "a second view beside, or no longer; to the other view"],
  [["t"], "to the threshold; arrows move it"],
  [["f"], "to the filters; Enter unfolds them"],
  [["e"], "to the exports of the open map"],
  [["Esc"], "close, clear, or back to all maps"],
  [["?"], "these keys"],
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
        <h2 id="help-title">Reading an atlas</h2>
        <button type="button" class="tool" aria-label="Close" onClick={onClose}>
          <Icon name="close" />
        </button>
      </div>
      <p>
        {session.isSingle
          ? `A dot is one of the ${nouns}; what is alike stands near it.`
          : `Every map shows some of the ${nouns}. A dot’s area says how much of what it recalls this
            map gives; what is near it here is one of its senses.`}{" "}
        Click a dot to select it, double-click to see all about it; drag with Shift for a box, with
        Alt for a lasso. An arrow at the rim points to a neighbour that lies farther off; a click on
        it goes there.
      </p>
      {session.atlas.observed && (
        <p>
          “Observed” are shares in the data, “model” what the maps make of them. Near is what stands
          not much farther from a dot than its nearest neighbour there.
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
        <span>Single keys are commands</span>
      </label>
    </dialog>
  );
}
