/** A view goes into the address's hash and comes back. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { NO_CATEGORY } from "../../src/data/atlas.ts";
import { stateAt, toHash } from "../../src/state/address.ts";
import type { State } from "../../src/state/store.ts";
import { tinyAtlas } from "../tiny_atlas.ts";

const LABELS = [
  "tie",
  "a&b=c",
  "50%",
  "#1",
  "%20",
  "+",
  "é",
  "日本",
  "</script>",
  "__proto__",
  "a b",
];
const points = LABELS.flatMap((_, i) => [i, i]);
const category = Uint16Array.from(LABELS, (_, i) => (i === 9 ? NO_CATEGORY : i % 3));
const ATLAS = tinyAtlas({
  labels: LABELS,
  points: [points, points],
  columns: [
    { name: "gr:oup", type: "category", categories: ["a", "b", "c"], codes: category },
    { name: "year", type: "number", low: 0, high: 9, values: new Float32Array(LABELS.length) },
  ],
});
const OPENING: State = {
  ...{ word: null, map: null, markedMap: null, camera: null, gallery: false, notice: "" },
  ...{ threshold: 0.1, color: null, size: null, filters: new Map() },
} as Partial<State> as State;

function returned(part: Partial<State>): Partial<State> {
  return stateAt(ATLAS, toHash(ATLAS, { ...OPENING, ...part }));
}

test("the hash can be read", () => {
  const camera = { zoom: 42.1, x: 1.25, y: -3.5 };
  const part = { word: 0, map: 1, camera, threshold: 0.2, color: "gr:oup", size: "year" };
  const hash = toHash(ATLAS, { ...OPENING, ...part });
  assert.equal(hash, "#word=tie&map=1&zoom=42.1&x=1.25&y=-3.5&min=0.2&color=gr:oup&size=year");
  assert.equal(toHash(ATLAS, OPENING), "");
});

test("views come back", () => {
  for (const part of [
    {},
    ...LABELS.map((_, word) => ({ word })),
    { word: 3, gallery: true },
    { map: 1, camera: { x: 1, y: -2, zoom: 0.5 } },
    { threshold: 0.01 },
    { color: "gr:oup", size: "year" },
    { filters: new Map([["gr:oup", new Set([0])]]) },
    { filters: new Map([["gr:oup", new Set([0, 2, NO_CATEGORY])]]) },
    {
      filters: new Map([
        ["year", { low: 1990, high: Number.POSITIVE_INFINITY, withMissing: true }],
      ]),
    },
    { filters: new Map([["year", { low: -1.5, high: 2e-7, withMissing: false }]]) },
  ]) {
    assert.deepEqual(returned(part), { ...OPENING, ...part });
  }
});

test("places come back within a pixel, near and far", () => {
  for (const zoom of [1e-9, 0.037, 1, 42, 9999, 1e9]) {
    const { camera } = returned({ map: 0, camera: { x: 123.456789, y: -1e-9, zoom } });
    assert.ok(camera);
    assert.ok(Math.abs(camera.x - 123.456789) * zoom <= 1);
    assert.ok(Math.abs(camera.zoom / zoom - 1) < 1e-3);
  }
});

test("parts that make no sense are skipped", () => {
  for (const hash of [
    "#map=-1&zoom=NaN",
    "#map=1.5&min=7&x=1e400&color=nothing",
    "#%E0%A4%A&&==",
    "#filter=nothing:only,0&filter=gr:oup:1990,2000&filter=year:only,0",
    "#filter=gr:oup:only,&filter=year:9,1&filter=gr:oup:%E0&filter",
    "#zoom=1&x=2&y=3&maps=all",
  ]) {
    assert.deepEqual({ ...stateAt(ATLAS, hash), notice: "" }, OPENING, hash);
  }
  assert.match(stateAt(ATLAS, "#word=nobody").notice ?? "", /nobody/);
  assert.match(stateAt(ATLAS, "#map=7").notice ?? "", /7/);
  assert.equal(stateAt(ATLAS, "#word=TIE").word, 0);
});

test("a word of two kinds has its kind in the address", () => {
  const kinds = { kinds: ["text", "word"], nRows: 1 };
  const atlas = tinyAtlas({ labels: ["tie", "tie"], points: [0, 0, 1, 1], ...kinds });
  for (const word of [0, 1]) {
    assert.equal(stateAt(atlas, toHash(atlas, { ...OPENING, word, map: 0 })).word, word);
  }
});
