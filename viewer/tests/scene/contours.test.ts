/** Lines of equal density: closed, round what is dense, of what is shown. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { elementAt } from "../../src/data/elements.ts";
import { densityLines } from "../../src/scene/contours.ts";

/** Two heaps of dots, of radius 1 round (0, 0) and (10, 0). */
function heaps(n: number): Float32Array {
  return Float32Array.from({ length: 2 * n }, (_, i) => {
    const k = i >> 1;
    const [radius, turn] = [Math.sqrt(k / n), 2.4 * k];
    return i % 2 ? radius * Math.sin(turn) : radius * Math.cos(turn) + (k % 2 ? 10 : 0);
  });
}

function linesOf(points: Float32Array, isShown: (entry: number) => boolean = () => true) {
  const n = points.length / 2;
  const visible = Uint8Array.from({ length: n }, (_, entry) => Number(isShown(entry)));
  return densityLines(points, new Float32Array(n).fill(1), visible);
}

test("every piece of a line goes on with the next", () => {
  const lines = linesOf(heaps(600));
  assert.ok(lines.length > 100);
  const ends = new Map<string, number>();
  for (let k = 0; k < lines.length; k += 2) {
    const key = `${elementAt(lines, k).toFixed(6)} ${elementAt(lines, k + 1).toFixed(6)}`;
    ends.set(key, (ends.get(key) ?? 0) + 1);
  }
  assert.ok([...ends.values()].every((count) => count % 2 === 0));
});

test("lines go round the heaps, and not where nothing is", () => {
  const lines = linesOf(heaps(600));
  for (let k = 0; k < lines.length; k += 2) {
    const x = elementAt(lines, k);
    assert.ok(Math.min(Math.abs(x), Math.abs(x - 10)) < 4, `a line at ${x}`);
  }
});

test("what is not shown has no lines, and one dot or none has none", () => {
  const lines = linesOf(heaps(600), (entry) => entry % 2 === 0);
  for (let k = 0; k < lines.length; k += 2) assert.ok(elementAt(lines, k) < 5);
  assert.equal(linesOf(heaps(600), () => false).length, 0);
  assert.equal(linesOf(Float32Array.of(1, 1, 1, 1, 1, 1)).length, 0);
});
