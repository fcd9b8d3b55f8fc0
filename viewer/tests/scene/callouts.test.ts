/** Labels of single dots: all have a place, none lies on another, on a dot or beyond the picture. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { type Anchor, type Callout, hits, placeAll } from "../../src/scene/callouts.ts";
import { boxAt, meet } from "../../src/scene/label_boxes.ts";

/** The crop of a sense, and the open map. */
const CROP = { width: 210, height: 116 };
const MAP = { width: 900, height: 540 };

function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 48271) >>> 0) % 2147483647;
    return state / 2147483647;
  };
}

function anchor(x: number, y: number, letters: number, height = 15): Anchor {
  const radius = 3;
  const dot = boxAt(x, y, 1.7 * radius, 1.7 * radius);
  return { x, y, radius, width: 6 + 6 * letters, height, dot };
}

function assertApart(anchors: Anchor[], places: Callout[], size: typeof CROP): void {
  for (const [i, { box, leader }] of places.entries()) {
    assert.ok(
      box.left >= 0 && box.top >= 0 && box.right <= size.width && box.bottom <= size.height,
    );
    for (const { box: other } of places.slice(0, i)) assert.ok(!meet(box, other));
    for (const [k, { dot }] of anchors.entries()) {
      if (k !== i && dot) assert.ok(!meet(box, dot), "a label covers a dot");
    }
    if (leader) assert.ok(hits(leader, boxAt(leader[0][0], leader[0][1], 1, 1)));
  }
}

test("a word and eight neighbours all have labels, however they crowd", () => {
  for (const size of [CROP, MAP]) {
    for (let seed = 1; seed < 60; seed++) {
      const random = randomNumbers(seed);
      const spread = 4 + 40 * random();
      const anchors = Array.from({ length: 9 }, () =>
        anchor(
          size.width / 2 + 2 * spread * (random() - 0.5),
          size.height / 2 + spread * (random() - 0.5),
          3 + Math.floor(5 * random()),
          size === CROP ? 12.5 : 17.5,
        ),
      );
      const places = placeAll(anchors, { size });
      assert.ok(
        places.every((place) => place !== null),
        `seed ${seed}, ${size.width} wide`,
      );
      assertApart(anchors, places as Callout[], size);
    }
  }
});

test("a label stands above its dot where that is free, and then beside it, without a leader", () => {
  const [alone] = placeAll([anchor(100, 60, 5)], { size: CROP });
  assert.deepEqual(alone?.box, boxAt(100, 60 - 12.5, 36, 15));
  const pair = placeAll([anchor(100, 60, 5), anchor(100, 48, 5)], { size: CROP });
  assert.ok(pair.every((place) => place?.leader === null));
});

test("a dot beyond the picture is pointed to from the rim, in its direction", () => {
  const anchors = [
    anchor(100, 60, 5),
    anchor(900, 60, 5),
    anchor(905, 61, 5),
    anchor(100, -400, 5),
  ];
  const places = placeAll(anchors, { size: CROP }) as Callout[];
  assertApart(anchors, places, CROP);
  assert.equal(places[0]?.arrow, null);
  for (const place of places.slice(1, 3)) assert.ok(Math.abs(place.arrow?.angle ?? 9) < 0.2);
  assert.ok(Math.abs((places[3]?.arrow?.angle ?? 0) + Math.PI / 2) < 0.2);
  assert.ok((places[1]?.arrow?.x ?? 0) > CROP.width - 12);
});

test("labels and arrows keep clear of what lies over the picture", () => {
  const covers = [boxAt(880, 270, 40, 500)];
  const anchors = Array.from({ length: 9 }, (_, i) => anchor(2000 + i, 100 + 40 * i, 8));
  for (const place of placeAll(anchors, { size: MAP, covers })) {
    assert.ok(place?.arrow);
    assert.ok(!meet(place.box, covers[0]));
    assert.ok(place.arrow.x < 860);
  }
});

test("a label stays where it was while another place is not much better", () => {
  const crowd = Array.from({ length: 6 }, (_, i) => anchor(300 + 2 * i, 300 + (i % 2), 7));
  const first = placeAll(crowd, { size: MAP });
  const moved = crowd.map((at, i): Anchor => {
    const x = at.x + 0.4 * i;
    return { ...at, x, dot: boxAt(x, at.y, 5.1, 5.1), before: first[i]?.way };
  });
  const second = placeAll(moved, { size: MAP });
  const same = second.filter((place, i) => place?.way === first[i]?.way).length;
  assert.ok(same >= 5, `${same} of 6 stayed`);
});
