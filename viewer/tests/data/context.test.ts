/** Which meaning other words point to; the numbers are those of `Atlas.disambiguate`. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Observed } from "../../src/data/atlas.ts";
import { inContext } from "../../src/data/context.ts";
import type { Probabilities } from "../../src/data/probabilities.ts";

/** bank recalls money, cash and river; the first two are fine senses of one meaning. */
const OBSERVED = {
  offsets: Uint32Array.of(0, 3),
  partners: Uint32Array.of(1, 2, 3),
  shares: Float32Array.of(0.5, 0.25, 0.25),
  fine: Uint32Array.of(0, 1, 2),
  meanings: Uint32Array.of(0, 0, 1),
} as Observed;

test("the meaning whose associates bring the context to mind is the most probable", () => {
  const chances = new Map([[3, 0.2]]);
  const model = {
    probability: (of: number) => chances.get(of) ?? 0.05,
  } as unknown as Probabilities;
  const found = inContext(OBSERVED, model, 0, [4]);
  // p(c|z) is 0.05 or 0.2, p(c) is 0.0875, and a tenth of the evidence is ignored.
  const [low, high] = [0.9 * (0.05 / 0.0875) + 0.1, 0.9 * (0.2 / 0.0875) + 0.1];
  const expected = (0.25 * high) / (0.75 * low + 0.25 * high);
  assert.ok(Math.abs((found.get(1) ?? 0) - expected) < 1e-6);
  assert.ok(Math.abs((found.get(0) ?? 0) - (1 - expected)) < 1e-6);
  assert.deepEqual(inContext(OBSERVED, model, 0, [0]).get(0), 0.75);
});
