/** Names of regions: what they are called, where they stand, and that they give way. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Region } from "../../src/data/atlas.ts";
import { elementAt } from "../../src/data/elements.ts";
import { svgOf } from "../../src/draw/drawing_svg.ts";
import { type ColorChoice, coloringBy } from "../../src/scene/coloring.ts";
import { boxAt, meet } from "../../src/scene/label_boxes.ts";
import { spacingOf } from "../../src/scene/lettering.ts";
import { Scene } from "../../src/scene/scene.ts";
import { measure, plainLook, tinyAtlas } from "../tiny_atlas.ts";

const SIZE = { width: 900, height: 600 };
const SIDE = 8;

/** Two squares of objects side by side, each a region; `codes` say the digit of each object. */
function halves(
  codeOf: (object: number) => number,
  part: Partial<Region> = {},
  isNumbered = false,
) {
  const n = 2 * SIDE * SIDE;
  const place = (i: number) => [
    (i % SIDE) + (i < n / 2 ? 0 : 2 * SIDE),
    Math.floor((i % (SIDE * SIDE)) / SIDE),
  ];
  const codes = Uint16Array.from({ length: n }, (_, i) => codeOf(i));
  const atlas = tinyAtlas({
    labels: Array.from({ length: n }, (_, i) => `img ${i}`),
    points: Array.from({ length: n }, (_, i) => place(i)).flat(),
    columns: [{ name: "digit", type: "category", categories: ["4", "9", "7"], codes }],
  });
  const region = (first: number): Region => ({
    ...{ name: "", words: ["alpha", "beta", "gamma"], ...part },
    x: SIDE / 2 + (first ? 2 * SIDE : 0),
    y: SIDE / 2,
    members: Uint32Array.from({ length: n / 2 }, (_, k) => first + k),
  });
  atlas.maps[0].regions = [region(0), region(n / 2)];
  atlas.isNumbered = isNumbered;
  return atlas;
}

const LIGHT: ColorChoice = { theme: "light", ramp: null, scale: "linear" };

function sceneOf(atlas: ReturnType<typeof halves>, column: string | null = null): Scene {
  const look = plainLook(atlas, { coloring: coloringBy(atlas, column, LIGHT) });
  const scene = new Scene(atlas.maps[0], look, SIZE, measure);
  while (!scene.step(50));
  return scene;
}

const N_HALF = SIDE * SIDE;

test("a region is called by the category of most of its members, a number with its column", () => {
  const atlas = halves((i) => (i < N_HALF ? (i % 5 ? 0 : 2) : i % 3 ? 1 : 2));
  const names = (scene: Scene) => scene.letters(scene.fitCamera, SIZE).names.map((n) => n.text);
  assert.deepEqual(names(sceneOf(atlas, "digit")), ["digit 4", "digit 9"]);
  assert.deepEqual(names(sceneOf(atlas)), ["alpha, beta", "alpha, beta"]);
});

test("without a majority, or where all are the same, a region keeps its own name", () => {
  const texts = (atlas: ReturnType<typeof halves>) => {
    const scene = sceneOf(atlas, "digit");
    return scene.letters(scene.fitCamera, SIZE).names.map(({ text }) => text);
  };
  assert.deepEqual(texts(halves((i) => i % 3, { name: "north" })), ["north", "north"]);
  assert.deepEqual(texts(halves(() => 0, { name: "north" })), ["north", "north"]);
});

test("names meet neither labels nor one another, and give way to labels as one zooms in", () => {
  const scene = sceneOf(
    halves((i) => (i < N_HALF ? 0 : 1)),
    "digit",
  );
  const { x, y, zoom } = scene.fitCamera;
  let before = 3;
  for (let factor = 0.5; factor < 40; factor *= 1.2) {
    const { labels, names } = scene.letters({ x: x - SIDE, y, zoom: factor * zoom }, SIZE);
    const boxes = [...labels, ...names].map((at) =>
      boxAt(at.x + at.width / 2, at.y + at.height / 2, at.width, at.height),
    );
    for (const [i, box] of boxes.entries()) {
      for (const other of boxes.slice(0, i)) assert.ok(!meet(box, other), `at ${factor}`);
    }
    assert.ok(names.length <= before);
    before = names.length;
  }
  assert.equal(before, 0);
});

test("no label goes for a name while one zooms in", () => {
  const atlas = halves((i) => i % 2, {}, false);
  const [first] = atlas.maps[0].regions as [Region];
  for (let k = 0; k < 12; k++) {
    const members = first.members.slice(5 * k, 5 * k + 5);
    const region = { ...first, words: [`img ${k}`, `some ${k}`], members };
    atlas.maps[0].regions.push({ ...region, x: 2 * k, y: (k % 4) + 1 });
  }
  const scene = sceneOf(atlas);
  const { x, y, zoom } = scene.fitCamera;
  const wide = { width: 1e5, height: 1e5 };
  let before = new Set<number>();
  for (let factor = 1; factor < 60; factor *= 1.1) {
    const { labels } = scene.letters({ x, y, zoom: factor * zoom }, wide);
    const shown = new Set(labels.map(({ entry }) => entry));
    for (const entry of before) assert.ok(shown.has(entry), `${entry} went at ${factor}`);
    before = shown;
  }
  assert.ok(before.size > 40);
});

test("labels that only number the objects wait until one is near", () => {
  const scene = sceneOf(
    halves((i) => (i < N_HALF ? 0 : 1), {}, true),
    "digit",
  );
  const { x, y, zoom } = scene.fitCamera;
  assert.equal(scene.letters(scene.fitCamera, SIZE).labels.length, 0);
  assert.ok(scene.letters({ x: x - SIDE, y, zoom: 9 * zoom }, SIZE).labels.length > 0);
});

test("a region whose members are not shown has no name", () => {
  const atlas = halves((i) => (i < N_HALF ? 0 : 1));
  const coloring = coloringBy(atlas, "digit", LIGHT);
  const look = plainLook(atlas, {
    coloring,
    passed: Uint8Array.from({ length: 2 * N_HALF }, (_, i) => (i < N_HALF ? 0 : 1)),
  });
  const scene = new Scene(atlas.maps[0], look, SIZE, measure);
  const { names } = scene.letters(scene.fitCamera, SIZE);
  assert.deepEqual(
    names.map(({ text }) => text),
    ["digit 9"],
  );
});

test("lines of equal density stand in SVG where they are asked for", () => {
  const atlas = halves(() => 0);
  const svg = (contours: boolean) => {
    const scene = new Scene(atlas.maps[0], plainLook(atlas, { contours }), SIZE, measure);
    return svgOf(scene, scene.fitCamera, SIZE);
  };
  assert.match(svg(true), /<path d="M[^"]+" fill="none"/);
  assert.doesNotMatch(svg(false), /<path/);
});

test("names stand in SVG, with space between letters that do not join", () => {
  const atlas = halves((i) => (i < N_HALF ? 0 : 1));
  const look = plainLook(atlas, { coloring: coloringBy(atlas, "digit", LIGHT) });
  const svg = svgOf(new Scene(atlas.maps[0], look, SIZE, measure), sceneOf(atlas).fitCamera, SIZE);
  assert.match(svg, /letter-spacing="2.5"[^>]*>digit 4</);
  const { region } = look.type;
  assert.equal(spacingOf("שלום", region), 0);
  assert.ok(elementAt([spacingOf("digit", region)], 0) > 0);
});
