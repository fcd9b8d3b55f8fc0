/** The keys that work anywhere in the page; `help.tsx` lists them. */

import type { Session } from "../state/session.ts";

export function listenToKeys(
  root: HTMLElement,
  session: Session,
  openHelp: () => void,
): () => void {
  const find = (selector: string) => root.querySelector<HTMLElement>(selector)?.focus();
  const settings = (selector: string) => {
    session.store.change({ hasSettings: true });
    // Once they stand there: Preact renders in a microtask.
    queueMicrotask(() => find(selector));
  };
  const actions: Record<string, () => void> = {
    "/": () => find(".search .field"),
    "?": openHelp,
    g: () => session.showGallery(),
    m: () => session.element?.querySelector<HTMLElement>(".mapview")?.focus(),
    "[": () => session.turnPage(-1),
    "]": () => session.turnPage(1),
    t: () => settings("#threshold"),
    f: () => settings(".filters summary"),
    e: () => find(".menu summary"),
    s: () => {
      const { word } = session.state;
      if (word !== null) session.select([word], "toggle");
    },
    l: () => session.store.change({ tool: session.state.tool === "pan" ? "lasso" : "pan" }),
    Escape: () => leave(session),
  };
  const pressed = (event: KeyboardEvent) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    const target = event.composedPath()[0] as HTMLElement;
    const isField = target.matches("select, input:not([type=range]):not([type=checkbox])");
    // The focus can still be in a dialog that has just closed.
    if (isField || target.closest("dialog[open]")) return;
    const action = actions[event.key];
    if (action === undefined || (event.key.length === 1 && !session.state.hasKeys)) return;
    event.preventDefault();
    event.stopPropagation();
    action();
  };
  // In a page nothing else takes keys; in a notebook only what the widget has the focus of is ours.
  const place: EventTarget = session.ownsTheKeys ? document : root;
  place.addEventListener("keydown", pressed as EventListener);
  return () => place.removeEventListener("keydown", pressed as EventListener);
}

function leave(session: Session): void {
  const { selection, word, map, gallery } = session.state;
  if (selection.length > 0) session.select([]);
  else if ((map !== null && !session.isSingle) || gallery) session.closeMap();
  else if (word !== null) session.chooseWord(null);
}
