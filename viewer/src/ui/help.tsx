/** How to read the maps, and the keys. */

import { useLayoutEffect, useRef } from "preact/hooks";
import type { Session } from "../state/session.ts";
import * as texts from "../texts.ts";
import { Check, Tool } from "./button.tsx";

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
      <Tool icon="close" name={texts.CLOSE} onClick={onClose} />
      <h2 id="help-title">{texts.HELP_TITLE}</h2>
      <p>{texts.reading(session.isSingle, nouns)}</p>
      {session.atlas.observed && <p>{texts.OBSERVED_HELP}</p>}
      <dl>
        {texts.KEYS.map(([keys, effect]) => (
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
        name={texts.SHORTCUTS}
        isOn={hasKeys}
        onChange={(isOn) => session.store.change({ hasKeys: isOn })}
      />
    </dialog>
  );
}
