/** Labels of single objects: by importance, above their dots, clear of what is there. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Boxes, boxAt, meet } from "../../src/scene/label_boxes.ts";
import { greedyLabels, type LabelSource } from "../../src/scene/labels.ts";
import { PAGE_TYPE } from "../../src/scene/lettering.ts";

const SIZE = { width: 800, height: 600 };
const CAMERA = { x: 0, y: 0, zoom: 1 };

function sourceOf(points: number[]): LabelSource {
  const n = points.length / 2;
  return {
    map: { points: Float32Array.from(points), objects: Uint32Array.from(Array(n).keys()) },
    look: { type: PAGE_TYPE },
    text: (entry) => `word ${entry}`,
    textSize: (text) => ({ width: 6 * text.length, height: 15 }),
    dotRadius: () => 3,
    style: () => "small",
  };
}

function labelled(points: number[], solid = new Boxes(), dots = new Boxes(), most = 100) {
  const entries = Array(points.length / 2).keys();
  const sight = { camera: CAMERA, size: SIZE };
  return greedyLabels(
    sourceOf(points),
    sight,
    entries,
    { solid, dots },
    most,
    (text) => text === "word 9",
  );
}
const entriesOf = (labels: { entry: number }[]) => labels.map(({ entry }) => entry);

test("the first of two that overlap is labelled, and at most so many", () => {
  assert.deepEqual(entriesOf(labelled([0, 0, 10, 5, 100, 100, -200, 50])), [0, 2, 3]);
  assert.deepEqual(
    entriesOf(labelled([0, 0, 10, 5, 100, 100, -200, 50], undefined, undefined, 2)),
    [0, 2],
  );
});

test("labels keep clear of boxes and dots that are there already", () => {
  // The label of a dot in the middle of the screen is above it.
  const above = new Boxes([boxAt(400, 288, 10, 10)]);
  assert.deepEqual(labelled([0, 0], above), []);
  assert.deepEqual(labelled([0, 0], undefined, above), []);
  // A dot under a label has no label, a dot on a dot may have one.
  const on = new Boxes([boxAt(400, 300, 2, 2)]);
  assert.deepEqual(labelled([0, 0], on), []);
  assert.deepEqual(entriesOf(labelled([0, 0], undefined, on)), [0]);
});

test("objects beyond the screen, and texts that a name contains, have no labels", () => {
  assert.deepEqual(labelled([900, 0, 0, -400]), []);
  const apart = Array.from({ length: 10 }, (_, k) => [0, 40 * k - 200]).flat();
  assert.deepEqual(entriesOf(labelled(apart)), [0, 1, 2, 3, 4, 5, 6, 7, 8]);
});

test("boxes meet as they do one by one", () => {
  const random = (seed: number) => (Math.sin(seed * 12.9898) * 43758.5453) % 1;
  const boxes = Array.from({ length: 300 }, (_, k) =>
    boxAt(500 * random(k), 500 * random(k + 0.3), 40 + 100 * random(k + 0.6) ** 2, 20),
  );
  for (const [k, box] of boxes.entries()) {
    const others = boxes.slice(0, k);
    assert.equal(
      new Boxes(others).meets(box),
      others.some((other) => meet(other, box)),
    );
  }
});
