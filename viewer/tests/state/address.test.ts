/** A place goes into the address's hash and comes back. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { fromHash, fromRuns, type Place, toHash, toRuns } from "../../src/state/address.ts";

const NOWHERE: Place = {
  word: null,
  kind: null,
  map: null,
  maps: null,
  zoom: null,
  x: null,
  y: null,
  min: null,
  color: null,
  size: null,
  lines: false,
  filters: [],
  select: null,
};

test("the hash can be read", () => {
  const place = {
    ...NOWHERE,
    word: "tie",
    map: 3,
    maps: "word",
    zoom: 42.1,
    x: 1.25,
    y: -3.5,
    min: 0.1,
    color: "group",
    lines: true,
  };
  assert.equal(
    toHash(place),
    "#word=tie&map=3&maps=word&zoom=42.1&x=1.25&y=-3.5&min=0.1&color=group&lines=1",
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
  const place = { ...NOWHERE, zoom: 42.123456, x: 0.1 + 0.2, y: -0.0001, min: 0.1 + 1e-9 };
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

test("filters come back, of columns of any name", () => {
  const everywhere = { low: Number.NEGATIVE_INFINITY, high: Number.POSITIVE_INFINITY };
  const place: Place = {
    ...NOWHERE,
    filters: [
      ["group", { only: "0-3.5" }],
      ["a:b,c&d=e #%", { not: "1ekf" }],
      ["year", { low: 1990, high: Number.POSITIVE_INFINITY, withMissing: false }],
      ["only", { low: -1.5, high: 20240131, withMissing: true }],
      ["日本\n", { ...everywhere, withMissing: false }],
    ],
    select: "5.2-1",
  };
  assert.deepEqual(fromHash(toHash(place)), place);
  const hash = toHash({ ...NOWHERE, filters: place.filters.slice(0, 1), select: "5.2-1" });
  assert.equal(hash, "#filter=group:only,0-3.5&select=5.2-1");
});

test("filters that make no sense are passed over", () => {
  for (const said of [
    "group",
    "group:",
    "year:x,3",
    "year:5,4",
    "year:1e999,",
    "year:NaN,NaN",
    "%",
  ]) {
    assert.deepEqual(fromHash(`#filter=${said}&map=2`), { ...NOWHERE, map: 2 }, said);
  }
});

test("sets of numbers are runs", () => {
  for (const [numbers, text] of [
    [[], ""],
    [[0], "0"],
    [[5, 8, 9], "5.2-1"],
    [[0, 1, 2, 3, 70], "0-3.1u"],
    [Array.from({ length: 1000 }, (_, i) => i + 40), "14-rr"],
  ] as const) {
    assert.equal(toRuns(numbers), text);
    if (text) assert.deepEqual(fromRuns(text, 2000), numbers);
  }
});

test("runs are cut where they are too long, and hold nothing beyond a limit", () => {
  const numbers = Array.from({ length: 5000 }, (_, i) => 7 * i);
  const text = toRuns(numbers, 100);
  assert.ok(text.length <= 100);
  assert.deepEqual(fromRuns(text, 1e9), numbers.slice(0, 50));
  assert.deepEqual(fromRuns("5-zzzzzzzz.3", 8), [5, 6, 7]);
  for (const wrong of ["", "-", "1.", ".1", "1--2", "A", "1-2-3", "1e999,", "999999999"]) {
    assert.equal(fromRuns(wrong, 1000), null, wrong);
  }
});
