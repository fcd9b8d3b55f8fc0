/** The page's address follows the state, and the state follows back, forward and edited addresses. */
import { stateAt, toHash } from "./address.ts";
import type { Session } from "./session.ts";

/** Browsers refuse addresses that change too often, as a dragged slider would change them. */
const PATIENCE = 250;

export function followAddress(session: Session): void {
  const { atlas, store } = session;
  let isReading = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let last = toHash(atlas, session.state);
  const write = (hash: string, isStep: boolean) => {
    stopWaiting();
    if ((hash || "#") === (location.hash || "#")) return;
    try {
      history[isStep ? "pushState" : "replaceState"](null, "", hash || "#");
    } catch {
      // Frames without an address have none to keep a view in; the page goes on without.
    }
  };
  const stopWaiting = () => {
    clearTimeout(timer);
    timer = undefined;
  };
  store.listen((state, _, step) => {
    if (isReading) return;
    // A pending change belongs to the history entry that is being left.
    if (step === "push" && timer !== undefined) write(last, false);
    last = toHash(atlas, state);
    if (step === "push") write(last, true);
    else {
      stopWaiting();
      timer = setTimeout(() => write(last, false), PATIENCE);
    }
  });
  addEventListener("popstate", () => {
    stopWaiting();
    isReading = true;
    session.goToState(stateAt(atlas, location.hash));
    last = toHash(atlas, session.state);
    isReading = false;
  });
}
