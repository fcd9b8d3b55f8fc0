/** `src/texts.ts` contains every visible text of the page. */
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import * as texts from "../src/texts.ts";

/** Names of keys, and messages and values for programmers. */
const NOT_VISIBLE = [/^Arrow|^E(nter|scape)$|^Error$|^RangeError/, /^no element |^\(weight\)$/];
/** The strings of these sources are parts of SVG documents. */
const WRITERS = ["draw/drawing_svg.ts", "draw/sheet.ts"];
const SOURCES = readdirSync("src", { recursive: true, encoding: "utf8" }).filter(
  (name) => /\.tsx?$/.test(name) && name !== "texts.ts" && !WRITERS.includes(name),
);

/** The visible texts of a source: between tags, in attributes that are read, and sentences. */
function visible(source: string): string[] {
  const code = source
    .replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, "")
    .replace(/^(import|export) [^;]*? from .*$/gm, "")
    // Shaders, classes, selectors and paths of drawings are not visible.
    .replace(/#version[^`]*/g, "")
    .replace(/(class|d|[vV]iewBox|Icon name)=("[^"]*"|\{[^}]*\})/g, "")
    .replace(
      /(querySelector(All)?|closest|matches|matchMedia|find|settings|focusOn|getExtension)(<[^>]*>)?\([^)]*\)/g,
      "",
    )
    .replace(/LABEL_FONT =[^;]*;|<(svg|rect|text|tspan|circle|path|title)\b[^`]*`/g, "");
  const between = [
    ...code.matchAll(/(?<![=&|] ?)>\s*([^<>{}()=;:&]*[A-Za-z]{2}[^<>{}()=;:&]*)<\//g),
  ];
  const read = [
    ...code.matchAll(
      /(?:(?:title|head|caption): |(?:title|aria-label|alt|placeholder|caption|name)=)"([^"]+)"/g,
    ),
  ];
  const strings = [...code.matchAll(/"([^"\n]*)"|`([^`]*)`/g)].map(
    (match) => match[1] ?? match[2] ?? "",
  );
  const sentences = strings.filter((text) =>
    /^[A-Z][a-z]+( |$)|[a-z”%][,.:;]? [a-z“]/.test(text.replace(/\$\{[^}]*\}/g, "%")),
  );
  const found = [...[...between, ...read].map(([, text]) => text ?? ""), ...sentences];
  return [...new Set(found.map((text) => text.trim()))].filter(
    (text) => text && !NOT_VISIBLE.some((known) => known.test(text)),
  );
}

test("only the source of the texts has visible texts", () => {
  for (const name of SOURCES) {
    assert.deepEqual(visible(readFileSync(`src/${name}`, "utf8")), [], name);
  }
});

test("visible texts are found", () => {
  assert.deepEqual(visible('<b>\n  Show all\n</b>; said("Shown on a card"); <i title="Help" />'), [
    "Show all",
    "Help",
    "Shown on a card",
  ]);
});

test("texts are typeset", () => {
  for (const [name, text] of Object.entries(texts)) {
    if (typeof text === "string") assert.doesNotMatch(text, /"|\.\.\.| {2}|!/, name);
  }
});

test("nouns have plurals", () => {
  const found = [
    [1, "site"],
    [30, "species"],
    [1200, "word"],
  ] as [number, string][];
  assert.deepEqual(
    found.map(([count, noun]) => texts.counted(count, noun)),
    ["1 site", "30 species", "1,200 words"],
  );
});
