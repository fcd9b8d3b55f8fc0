/** Scenes: who is visible, how large, in which order, and that no two labels ever meet. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { pointOf } from "../../src/data/elements.ts";
import { sizing } from "../../src/scene/coloring.ts";
import { CIRCLE, DIAMOND, SQUARE } from "../../src/scene/mark_data.ts";
import { dotAt, NO_EMPHASIS, Scene, type ShownLabel } from "../../src/scene/scene.ts";
import { measure, plainLook, tinyAtlas } from "../tiny_atlas.ts";

const SIZE = { width: 900, height: 600 };

function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 48271) >>> 0) % 2147483647;
    return state / 2147483647;
  };
}

function crowd(n: number, seed: number) {
  const random = randomNumbers(seed);
  return tinyAtlas({
    labels: Array.from({ length: n }, (_, i) => "word".slice(0, 1 + (i % 4)) + i),
    points: Array.from({ length: 2 * n }, () => 10 * random() ** 3),
    weights: Array.from({ length: n }, () => random()),
  });
}

function meet(a: ShownLabel, b: ShownLabel): boolean {
  const isApart =
    a.x >= b.x + b.width || b.x >= a.x + a.width || a.y >= b.y + b.height || b.y >= a.y + a.height;
  return !isApart;
}

function assertApart(labels: ShownLabel[]): void {
  for (const [i, label] of labels.entries()) {
    for (const other of labels.slice(0, i)) {
      assert.ok(!meet(label, other), `${label.text} meets ${other.text}`);
    }
  }
}

test("entries below the threshold are not shown, entries at it are", () => {
  const atlas = tinyAtlas({
    labels: ["a", "b", "c"],
    points: [0, 0, 1, 1, 2, 2],
    weights: [0.1, 0.0999, 0.9],
  });
  const scene = new Scene(atlas.maps[0], plainLook(atlas), SIZE, measure);
  assert.deepEqual([...scene.visible], [1, 0, 1]);
  assert.deepEqual([...scene.visibleEntries()], [0, 2]);
  assert.equal(scene.marks.count, 2);
});

test("what filters do not let pass is not shown, nor labelled", () => {
  const atlas = tinyAtlas({ labels: ["p", "q", "r"], points: [0, 0, 1, 1, 2, 2] });
  const look = plainLook(atlas);
  const scene = new Scene(atlas.maps[0], look, SIZE, measure);
  const labels = () => scene.letters(scene.fitCamera, SIZE).labels.map(({ text }) => text);
  assert.deepEqual(labels().sort(), ["p", "q", "r"]);
  scene.setLook({ ...look, passed: Uint8Array.from([1, 0, 1]) });
  assert.deepEqual([...scene.visible], [1, 0, 1]);
  assert.deepEqual(labels().sort(), ["p", "r"]);
  scene.setLook(look);
  assert.deepEqual([...scene.visible], [1, 1, 1]);
});

test("a dot's area is map weight times factor", () => {
  const atlas = tinyAtlas({
    labels: ["a", "b"],
    points: [0, 0, 1, 1],
    weights: [1, 0.25],
    columns: [{ name: "size", type: "number", low: 0, high: 1, values: Float32Array.from([0, 1]) }],
  });
  const plain = new Scene(atlas.maps[0], plainLook(atlas), SIZE, measure);
  const { zoom } = plain.fitCamera;
  assert.ok(Math.abs(plain.dotRadius(0, zoom) / plain.dotRadius(1, zoom) - 2) < 1e-6);
  const look = plainLook(atlas, { sizes: sizing(atlas, "size") });
  const sized = new Scene(atlas.maps[0], look, SIZE, measure);
  assert.ok(Math.abs(sized.dotRadius(1, zoom) / sized.dotRadius(0, zoom) - 2) < 1e-6);
});

test("each kind has a shape, the last one diamonds", () => {
  const labels = ["author", "author too", "paper", "word"];
  const points = [0, 0, 1, 1, 2, 0, 3, 1];
  const shapes = (kinds: string[], starts: number[]) => {
    const atlas = tinyAtlas({ labels, points, kinds, starts, nRows: 3 });
    const scene = new Scene(atlas.maps[0], plainLook(atlas), SIZE, measure);
    return labels.map((_, entry) => scene.shape(entry));
  };
  assert.deepEqual(shapes(["row", "word"], [0, 3, 4]), [CIRCLE, CIRCLE, CIRCLE, DIAMOND]);
  const three = shapes(["author", "paper", "word"], [0, 2, 3, 4]);
  assert.deepEqual(three, [CIRCLE, CIRCLE, SQUARE, DIAMOND]);
});

test("no two labels meet, at any zoom, threshold and emphasis", () => {
  const random = randomNumbers(11);
  for (let trial = 0; trial < 6; trial++) {
    const atlas = crowd(150, trial + 1);
    const [map] = atlas.maps;
    const scene = new Scene(map, plainLook(atlas), SIZE, measure);
    for (let k = 0; k < 25; k++) {
      const near = Array.from({ length: 8 }, () => Math.floor(150 * random()));
      scene.setEmphasis(k % 2 ? { chosen: [Math.floor(150 * random())], near } : NO_EMPHASIS);
      if (k % 5 === 0) scene.setLook(plainLook(atlas, { threshold: random() }));
      const entry = Math.floor(150 * random());
      const zoom = scene.fitCamera.zoom * 300 ** random();
      const [x, y] = pointOf(map.points, entry);
      assertApart(scene.letters({ x, y, zoom }, SIZE).labels);
    }
  }
});

test("while a map moves no label is added, and none overlaps", () => {
  const atlas = crowd(150, 9);
  const scene = new Scene(atlas.maps[0], plainLook(atlas), SIZE, measure);
  const { x, y, zoom } = scene.fitCamera;
  const at = (factor: number, isMoving: boolean) =>
    scene.letters({ x, y, zoom: factor * zoom }, SIZE, [], isMoving).labels;
  const entries = (labels: ShownLabel[]) => new Set(labels.map(({ entry }) => entry));
  const before = entries(at(1, false));
  for (const factor of [0.5, 0.8, 1, 1.1, 2, 5]) {
    const moving = at(factor, true);
    assertApart(moving);
    assert.ok(moving.every(({ entry }) => before.has(entry)));
  }
  assert.deepEqual(entries(at(1, true)), before);
  assert.ok(entries(at(2, true)).size < entries(at(2, false)).size);
});

test("no label covers the dot of an object that has a label", () => {
  for (let seed = 1; seed < 8; seed++) {
    const atlas = crowd(200, seed);
    const scene = new Scene(atlas.maps[0], plainLook(atlas), SIZE, measure);
    if (seed % 2) scene.setEmphasis({ chosen: [17], near: [3, 40, 41, 90, 120, 121, 150] });
    for (const factor of [1, 3, 10]) {
      const camera = { ...scene.fitCamera, zoom: factor * scene.fitCamera.zoom };
      const { labels } = scene.letters(camera, SIZE);
      for (const { entry } of labels) {
        const [x, y] = dotAt({ scene, camera, size: SIZE }, entry);
        const over = labels.filter(
          (label) =>
            label.entry !== entry &&
            x > label.x &&
            x < label.x + label.width &&
            y > label.y &&
            y < label.y + label.height,
        );
        assert.deepEqual(over, []);
      }
    }
  }
});

test("a word and its neighbours are labelled wherever one looks from", () => {
  const atlas = crowd(200, 12);
  const [map] = atlas.maps;
  const scene = new Scene(map, plainLook(atlas, { threshold: 0.9 }), SIZE, measure);
  const near = [3, 40, 41, 90, 120, 121, 150, 151];
  scene.setEmphasis({ chosen: [17], near });
  const [x, y] = pointOf(map.points, 17);
  for (const factor of [0.4, 1, 3, 30, 1000]) {
    const labels = scene.letters({ x, y, zoom: factor * scene.fitCamera.zoom }, SIZE).labels;
    const labelled = new Set(labels.map(({ entry }) => entry));
    assert.ok(
      [17, ...near].every((entry) => labelled.has(entry)),
      `at ${factor}`,
    );
    assertApart(labels);
  }
  const [last] = scene.letters({ x: 1e4, y: 0, zoom: 1 }, SIZE).labels.slice(-1);
  assert.equal(last?.entry, 17);
  assert.ok(Math.abs(Math.abs(last?.arrow?.angle ?? 0) - Math.PI) < 0.01);
});

test("a map without entries has nothing to show", () => {
  const atlas = tinyAtlas({ labels: [], points: [] });
  atlas.maps[0].view = [0, 0, 1, 1];
  const scene = new Scene(atlas.maps[0], plainLook(atlas), SIZE, measure);
  assert.deepEqual(scene.letters(scene.fitCamera, SIZE).labels, []);
  assert.equal(scene.marks.count, 0);
});
