/** A place goes into the address's hash and comes back. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { fromHash, type Place, toHash } from "../../src/state/address.ts";

const NOWHERE: Place = {
  word: null,
  kind: null,
  map: null,
  zoom: null,
  x: null,
  y: null,
  threshold: null,
  color: null,
  size: null,
  lines: false,
};

test("the hash can be read", () => {
  const place = {
    ...NOWHERE,
    word: "tie",
    map: 3,
    zoom: 42.1,
    x: 1.25,
    y: -3.5,
    threshold: 0.1,
    color: "group",
    lines: true,
  };
  assert.equal(
    toHash(place),
    "#word=tie&map=3&zoom=42.1&x=1.25&y=-3.5&min=0.1&color=group&lines=1",
  );
  assert.deepEqual(fromHash(toHash(place)), place);
  assert.equal(toHash(NOWHERE), "");
  assert.deepEqual(fromHash(""), NOWHERE);
  assert.deepEqual(fromHash("#"), NOWHERE);
});

test("words of any letters come back", () => {
  for (const word of [
    "bow tie",
    "a&b=c",
    "50%",
    "#1",
    "%20",
    "+",
    "é",
    "日本",
    "👩‍🚀",
    "</script>",
    "x".repeat(1000),
    "__proto__",
    "a/b:c@d,e;$",
  ]) {
    const place = { ...NOWHERE, word, kind: word, color: word, size: word };
    assert.deepEqual(fromHash(toHash(place)), place);
  }
  assert.equal(fromHash(toHash({ ...NOWHERE, word: "a\ud800b" })).word, "a\ufffdb");
  assert.equal(toHash({ ...NOWHERE, word: "either/or, a:b" }), "#word=either/or,%20a:b");
});

test("a view comes back to a pixel at any zoom", () => {
  for (let power = -6; power <= 9; power++) {
    const zoom = 4.2137 * 10 ** power;
    const [x, y] = [123.456789 / zoom + 7, -9876.54321 / zoom];
    const there = fromHash(toHash({ ...NOWHERE, map: 0, zoom, x, y }));
    assert.ok(Math.abs((there.x as number) - x) * zoom < 0.51, `${x} at ${zoom}`);
    assert.ok(Math.abs((there.y as number) - y) * zoom < 0.51, `${y} at ${zoom}`);
    assert.ok(Math.abs((there.zoom as number) / zoom - 1) < 1e-3);
  }
});

test("numbers are short", () => {
  const place = { ...NOWHERE, zoom: 42.123456, x: 0.1 + 0.2, y: -0.0001, threshold: 0.1 + 1e-9 };
  assert.equal(toHash(place), "#zoom=42.12&x=0.3&y=0&min=0.1");
  assert.equal(toHash({ ...NOWHERE, x: Number.NaN, y: Number.POSITIVE_INFINITY }), "");
});

test("what makes no sense is passed over, part by part", () => {
  assert.deepEqual(fromHash("#word=%E0%A4%A&map=3"), { ...NOWHERE, map: 3 });
  assert.deepEqual(fromHash("#map=x&zoom=-1&x=1e999&y=&min=2&word=tie"), {
    ...NOWHERE,
    word: "tie",
  });
  assert.deepEqual(fromHash("#map=1.5&zoom=0&x=NaN&y=0x10&min=-0.1"), NOWHERE);
  assert.deepEqual(fromHash("#&&=&=3&map&word=&nonsense=4&map=-1&zoom=1e99"), NOWHERE);
  assert.deepEqual(fromHash("word=a&word=b&y=-2"), { ...NOWHERE, word: "a", y: -2 });
  assert.deepEqual(fromHash("#section"), NOWHERE);
});
