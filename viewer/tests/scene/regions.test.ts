/** Names of regions: what they are called, where they stand, and that they give way. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Region } from "../../src/data/atlas.ts";
import { coloringBy } from "../../src/scene/coloring.ts";
import { boxAt, meet } from "../../src/scene/label_boxes.ts";
import { dotAt, Scene } from "../../src/scene/scene.ts";
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
    ...{ name: "", words: ["alpha", "beta", "gamma"], hue: first ? 1 : 0, island: null, ...part },
    x: SIDE / 2 + (first ? 2 * SIDE : 0),
    y: SIDE / 2,
    members: Uint32Array.from({ length: n / 2 }, (_, k) => first + k),
  });
  atlas.maps[0].regions = [region(0), region(n / 2)];
  atlas.numbered = [isNumbered];
  return atlas;
}

function sceneOf(atlas: ReturnType<typeof halves>, column: string | null = null): Scene {
  const look = plainLook(atlas, { coloring: coloringBy(atlas, column, "light") });
  const scene = new Scene(atlas.maps[0], look, SIZE, measure);
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

/** The halves, each of four parts of two columns. */
function divided() {
  const atlas = halves(() => 0);
  const [map] = atlas.maps;
  for (const [island, whole] of [...map.regions].entries()) {
    for (let k = 0; k < 4; k++) {
      const members = whole.members.filter((_, i) => (i % SIDE) >> 1 === k);
      const words = [`part ${island}${k}`];
      map.regions.push({ ...whole, words, members, island, x: whole.x - 3 + 2 * k });
    }
  }
  return atlas;
}

test("parts take the place of an island, and words that of parts; no place is without a name", () => {
  const scene = sceneOf(divided());
  const { x, y, zoom } = scene.fitCamera;
  const at = (factor: number) => {
    const wide = { width: factor * SIZE.width, height: factor * SIZE.height };
    return scene.letters({ x, y, zoom: factor * zoom }, wide);
  };
  const said = (factor: number) => at(factor).names.map(({ text }) => text);
  assert.deepEqual(said(1), ["alpha, beta", "alpha, beta"]);
  const parts = said(3);
  assert.ok(parts.every((text) => text.startsWith("part ")));
  for (const island of [0, 1]) assert.ok(parts.some((text) => text.startsWith(`part ${island}`)));
  assert.deepEqual(said(8), []);
  assert.ok(at(8).labels.length > 2 * N_HALF * 0.8);
  for (let factor = 1; factor < 7; factor *= 1.05) {
    const { names } = at(factor);
    for (const island of [0, 1]) {
      const own = names.filter(({ region: [left] }) => left > SIDE === Boolean(island));
      const seen = own.reduce((sum, { opacity }) => Math.max(sum, opacity), 0);
      assert.ok(seen > 0.4 || factor > 5, `island ${island} at ${factor}: ${seen}`);
    }
  }
});

test("a name stands beside its region where it covers the fewest dots", () => {
  const scene = sceneOf(halves(() => 0));
  const { names } = scene.letters(scene.fitCamera, SIZE);
  for (const name of names) {
    const inside = Array.from(scene.map.objects.keys()).filter((entry) => {
      const [x, y] = dotAt({ scene, camera: scene.fitCamera, size: SIZE }, entry);
      return x > name.x && x < name.x + name.width && y > name.y && y < name.y + name.height;
    });
    assert.ok(inside.length < 6, `${inside.length}`);
  }
});
