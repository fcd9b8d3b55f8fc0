/** The entry: `export default { render }` for anywidget; in a page, the module starts by itself. */

import { h, render as renderTree } from "preact";
import { useErrorBoundary } from "preact/hooks";
import type { Atlas } from "./data/atlas.ts";
import { fromBase64, readAtlas, UnreadableAtlas } from "./data/container.ts";
import { stateAt } from "./state/address.ts";
import { followAddress } from "./state/browser_history.ts";
import { type ScriptAccess, scriptAccess } from "./state/script_access.ts";
import { Session } from "./state/session.ts";
import type { State } from "./state/store.ts";
import { followModel, type Model, stateIn } from "./state/widget_model.ts";
import { App } from "./ui/app.tsx";

interface Host extends HTMLElement {
  atlas?: ScriptAccess;
}

async function render({ model, el }: { model: Model; el: HTMLElement }): Promise<() => void> {
  const host = document.createElement("div");
  host.style.height = `${model.get("height")}px`;
  // Keys that the atlas has the focus of are not commands of the notebook.
  host.dataset.lmSuppressShortcuts = "true";
  host.addEventListener("keydown", (event) => event.stopPropagation());
  el.append(host);
  const { buffer, byteOffset, byteLength } = model.get("data") as DataView;
  const packed = () => new Uint8Array(buffer, byteOffset, byteLength);
  const style = () => String(model.get("sheet"));
  const session = await show(host, style, packed, (atlas) => stateIn(model, atlas));
  const stop = session === null ? () => {} : followModel(session, model, host);
  return () => {
    stop();
    session?.ending.abort();
    if (host.shadowRoot) renderTree(null, host.shadowRoot);
    host.remove();
  };
}

/** Reads an atlas and shows it; a failure is shown too, and gives null. */
async function show(
  host: Host,
  style: () => string,
  data: () => Uint8Array,
  stateOf: (atlas: Atlas) => Partial<State>,
  ownsTheKeys = false,
): Promise<Session | null> {
  try {
    // The content of the host stays visible until the atlas is read.
    const atlas = await readAtlas(data());
    const session = new Session(atlas, stateOf(atlas), ownsTheKeys);
    followTheme(session, host);
    renderTree(h(Guarded, { session }), shadowOf(host, style()));
    host.atlas = scriptAccess(session);
    return session;
  } catch (error) {
    renderTree(h(Failure, { error }), shadowOf(host, style()));
    return null;
  }
}

function shadowOf(host: Host, style: string): ShadowRoot {
  if (host.shadowRoot) return host.shadowRoot;
  const root = host.attachShadow({ mode: "open" });
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(style);
  root.adoptedStyleSheets = [sheet];
  host.replaceChildren();
  return root;
}

/** The style sheet reads the theme off the host. */
function followTheme(session: Session, host: Host): void {
  const { store, ending } = session;
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const follow = () => {
    // JupyterLab has a theme of its own.
    const lab = document.body.dataset.jpThemeLight;
    const isDark = lab === undefined ? dark.matches : lab === "false";
    store.change({ systemTheme: isDark ? "dark" : "light" });
    host.dataset.theme = session.shown.theme;
  };
  follow();
  store.listen(() => {
    host.dataset.theme = session.shown.theme;
  });
  const { signal } = ending;
  dark.addEventListener("change", follow, { signal });
  const lab = new MutationObserver(follow);
  lab.observe(document.body, { attributeFilter: ["data-jp-theme-light"] });
  signal.addEventListener("abort", () => lab.disconnect());
}

/** The page, or why it can no longer be shown. */
function Guarded({ session }: { session: Session }) {
  const [error] = useErrorBoundary();
  return error ? h(Failure, { error }) : h(App, { session });
}

function Failure({ error }: { error: unknown }) {
  const sentence =
    error instanceof UnreadableAtlas
      ? error.message
      : `The atlas could not be opened: ${error instanceof Error ? error.message : String(error)}`;
  return h(
    "div",
    { class: "failure", role: "alert" },
    h("h1", null, "This atlas cannot be shown"),
    h("p", null, sentence),
  );
}

async function startPage(host: HTMLElement, data: HTMLElement): Promise<void> {
  const packed = () => fromBase64(data.textContent ?? "");
  const sheet = document.querySelector<HTMLTemplateElement>("#manymaps-style");
  const style = () => sheet?.content.textContent ?? "";
  const state = (atlas: Atlas) => stateAt(atlas, location.hash);
  const session = await show(host, style, packed, state, true);
  if (session === null) return;
  followAddress(session);
  performance.mark("manymaps-ready");
}

const host = document.getElementById("manymaps");
const data = document.getElementById("manymaps-data");
if (host && data) startPage(host, data);

export default { render };
