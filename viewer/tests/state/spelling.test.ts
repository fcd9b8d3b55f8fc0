/** Slips between spellings, against the plain rule on whole tables. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { slipsBetween } from "../../src/state/spelling.ts";

/** d(i, j) as it is written down. */
function reference(a: string, b: string): number {
  const at = (i: number, j: number): number => {
    if (i === 0 || j === 0) return i + j;
    const key = i * 1000 + j;
    const told = known.get(key);
    if (told !== undefined) return told;
    let slips = Math.min(
      at(i - 1, j) + 1,
      at(i, j - 1) + 1,
      at(i - 1, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1),
    );
    if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
      slips = Math.min(slips, at(i - 2, j - 2) + 1);
    }
    known.set(key, slips);
    return slips;
  };
  const known = new Map<number, number>();
  return at(a.length, b.length);
}

function slips(a: string, b: string, most: number): number {
  return slipsBetween(a, `x${b}y`, 1, 1 + b.length, most);
}

test("letters too many, too few, other and exchanged are slips", () => {
  for (const [a, b, expected] of [
    ["light", "light", 0],
    ["ligth", "light", 1],
    ["lght", "light", 1],
    ["lightt", "light", 1],
    ["right", "light", 1],
    ["", "ab", 2],
    ["ca", "abc", 3],
  ] as const) {
    assert.equal(slips(a, b, 9), expected, `${a} ${b}`);
    assert.equal(slips(a, b, 1), Math.min(expected, 2), `${a} ${b}`);
  }
});

test("words of two letters in any order", () => {
  let seed = 1;
  const random = (below: number) => {
    seed = (Math.imul(seed, 48271) >>> 0) % 2147483647;
    return seed % below;
  };
  const word = () => Array.from({ length: random(9) }, () => "abc"[random(3)]).join("");
  for (let round = 0; round < 3000; round++) {
    const [a, b, most] = [word(), word(), random(4)];
    assert.equal(slips(a, b, most), Math.min(reference(a, b), most + 1), `${a} ${b} ${most}`);
  }
});

test("long words are no danger", () => {
  const long = "ab".repeat(400);
  assert.equal(slips(long, `${long}c`, 2), 1);
  assert.equal(slips(`${long}c`, long, 2), 1);
  assert.equal(slips(long, "b".repeat(800), 2), 3);
});
