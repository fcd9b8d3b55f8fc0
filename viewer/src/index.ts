/**
 * The entry: `export default { render }`, as anywidget asks for it.
 *
 * In a notebook `model` is the Python widget's. In a page this same module finds the element
 * "manymaps-data" and starts by itself, with a model that holds its data.
 */

import { h, render as renderTree } from "preact";
import { useErrorBoundary } from "preact/hooks";
import type { Atlas } from "./data/atlas.ts";
import { fromBase64, readAtlas, UnreadableAtlas } from "./data/container.ts";
import { elementAt } from "./data/elements.ts";
import { shareColumns } from "./data/shared_columns.ts";
import { splitHash } from "./state/address.ts";
import { followAddress, stateAt } from "./state/browser_history.ts";
import { Panes } from "./state/panes.ts";
import { ATLAS, scriptAccess } from "./state/script_access.ts";
import { Session } from "./state/session.ts";
import type { State } from "./state/store.ts";
import { followModel, type Model, stateIn } from "./state/widget_model.ts";
import * as texts from "./texts.ts";
import { App } from "./ui/app.tsx";

interface Host extends HTMLElement {
  [ATLAS]?: ReturnType<typeof scriptAccess>;
}

async function render({ model, el }: { model: Model; el: HTMLElement }): Promise<() => void> {
  const host = document.createElement("div");
  host.style.height = `${model.get("height")}px`;
  // Keys that the atlas has the focus of are not commands of the notebook.
  host.dataset.lmSuppressShortcuts = "true";
  host.addEventListener("keydown", (event) => event.stopPropagation());
  el.append(host);
  const packed = () => [bytesOf(model.get("data"))];
  const style = () => String(model.get("sheet"));
  const panes = await show(host, style, packed, (atlas) => stateIn(model, atlas));
  const stop = panes === null ? () => {} : followModel(panes.active, model, host);
  return () => {
    stop();
    panes?.ending.abort();
    if (host.shadowRoot) renderTree(null, host.shadowRoot);
    host.remove();
  };
}

/** Reads an atlas, or two, and shows them; a failure is shown too, and gives null. */
async function show(
  host: Host,
  style: () => string,
  data: () => Uint8Array[],
  stateOf: (atlas: Atlas, place: number) => Partial<State>,
  ownsTheKeys = false,
): Promise<Panes | null> {
  try {
    // The content of the host stays visible until the atlas is read.
    const [first, second] = await Promise.all(data().map(readAtlas));
    if (first === undefined) throw new UnreadableAtlas(texts.NO_ATLAS);
    const sessions: [Session, ...Session[]] = [new Session(first, stateOf(first, 0), ownsTheKeys)];
    if (second !== undefined) {
      shareColumns(first, second);
      sessions.push(new Session(second, stateOf(second, 1), ownsTheKeys));
    }
    const panes = new Panes(sessions, second ? document.title : first.title);
    followTheme(panes, host);
    renderTree(h(Guarded, { panes }), shadowOf(host, style()));
    host[ATLAS] = scriptAccess(
      () => elementAt(panes.views, 0),
      () => panes.views[1] ?? null,
    );
    return panes;
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
function followTheme(panes: Panes, host: Host): void {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const follow = () => {
    // JupyterLab has a theme of its own.
    const lab = document.body.dataset.jpThemeLight;
    const isDark = lab === undefined ? dark.matches : lab === "false";
    for (const { store } of panes.views) store.change({ systemTheme: isDark ? "dark" : "light" });
    host.dataset.theme = panes.active.appearance.theme;
  };
  follow();
  panes.listen(() => {
    host.dataset.theme = panes.active.appearance.theme;
  });
  const { signal } = panes.ending;
  dark.addEventListener("change", follow, { signal });
  const lab = new MutationObserver(follow);
  lab.observe(document.body, { attributeFilter: ["data-jp-theme-light"] });
  signal.addEventListener("abort", () => lab.disconnect());
}

/** The page, or why it can no longer be shown. */
function Guarded({ panes }: { panes: Panes }) {
  const [error] = useErrorBoundary();
  return error ? h(Failure, { error }) : h(App, { panes });
}

function Failure({ error }: { error: unknown }) {
  const sentence =
    error instanceof UnreadableAtlas
      ? error.message
      : texts.notOpened(error instanceof Error ? error.message : String(error));
  return h(
    "div",
    { class: "failure", role: "alert" },
    h("h1", null, texts.FAILURE),
    h("p", null, sentence),
  );
}

function bytesOf(data: unknown): Uint8Array {
  return ArrayBuffer.isView(data)
    ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
    : new Uint8Array(data as ArrayBuffer);
}

async function startPage(host: HTMLElement, data: NodeListOf<HTMLElement>): Promise<void> {
  const packed = () => Array.from(data, ({ textContent }) => fromBase64(textContent ?? ""));
  const hashes = splitHash(location.hash);
  const state = (atlas: Atlas, place: number) => stateAt(atlas, hashes[place] ?? "");
  const sheet = document.querySelector<HTMLTemplateElement>("#manymaps-style");
  const style = () => sheet?.content.textContent ?? "";
  const panes = await show(host, style, packed, state, true);
  if (panes === null) return;
  const { active } = panes;
  if (hashes[1] !== undefined) panes.open(state(active.atlas, 1), "replace");
  // An address of one word is that of both atlases.
  else if (panes.hasTwoAtlases) panes.link(true);
  panes.activate(active);
  followAddress(panes);
  performance.mark("manymaps-ready");
}

const host = document.getElementById("manymaps");
const data = document.querySelectorAll<HTMLElement>('[id^="manymaps-data"]');
if (host && data.length > 0) startPage(host, data);

export default { render };
