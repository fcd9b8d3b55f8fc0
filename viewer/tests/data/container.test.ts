/** `readAtlas` gives back what a page was written from. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { kindOf } from "../../src/data/atlas.ts";
import { fromBase64, readAtlas, UnreadableAtlas } from "../../src/data/container.ts";

const MAP = {
  view: [-1, -1, 1, 1],
  share: 1,
  vectors: [],
  title: ["tie"],
  low: [0, 0],
  step: [1, 1],
};
const HEADER = {
  title: "a small atlas",
  noun: ["word", "words"],
  numbered: [false],
  nObjects: 3,
  nMaps: 2,
  nComponents: 2,
  nRows: 1,
  kinds: ["text", "word"],
  kindCounts: [1, 2],
  labels: ["tie", "knot", "</script>"],
  model: { kernel: "gaussian", kernelWidth: 2 },
  charges: { low: -2, step: 0.5 },
  maps: [
    {
      ...MAP,
      regions: [
        { name: "", words: ["tie"], x: 0, y: 0, size: 0, hue: 1, island: null },
        { name: "", words: ["tie"], x: 0, y: 0, size: 2, hue: 1, island: 0 },
      ],
    },
    { ...MAP, low: [1, 1], step: [0.5, 2], regions: [] },
  ],
  mapOrder: [1, 0],
  observed: true,
  columns: [{ name: "group", type: "category", categories: ["a"] }],
  features: [{ name: "feature 1", weight: 0.5 }],
  minWeight: 0.1,
};
const BLOCKS = {
  offsets: Uint32Array.of(0, 2, 4),
  objects: Uint16Array.of(0, 1, 0, 2),
  charges: Uint16Array.of(0, 4, 2, 4),
  weights: Uint16Array.of(13107, 65535, 52428, 65535),
  positions: Uint16Array.of(0, 3, 0, 2, 1, 5, 0, 4),
  order: Uint16Array.of(1, 0, 0, 1),
  "region/members": Uint16Array.of(0, 1),
  "data/offsets": Uint32Array.of(0, 1, 1, 1),
  "data/partners": Uint16Array.of(1),
  "data/shares": Uint16Array.of(65535),
  "data/maps": Uint8Array.of(0),
  "sense/offsets": Uint32Array.of(0, 1, 1, 1),
  "sense/maps": Uint16Array.of(0),
  "sense/shares": Float32Array.of(0.75),
  "column/0": Uint16Array.of(0, 65535, 0),
  "feature/0": Uint32Array.of(0, 2),
};
const TYPES = new Map<unknown, string>([
  [Uint8Array, "u1"],
  [Uint16Array, "u2"],
  [Uint32Array, "u4"],
  [Float32Array, "f4"],
]);

function packed(version = 2): Buffer {
  const blocks: Record<string, unknown> = {};
  const parts: Buffer[] = [];
  let total = 0;
  for (const [name, block] of Object.entries(BLOCKS)) {
    blocks[name] = { dtype: TYPES.get(block.constructor), offset: total, length: block.length };
    const bytes = Buffer.alloc(Math.ceil(block.byteLength / 8) * 8);
    Buffer.from(block.buffer).copy(bytes);
    parts.push(bytes);
    total += bytes.length;
  }
  const text = Buffer.from(JSON.stringify({ ...HEADER, blocks, total }));
  const head = Buffer.alloc(Math.ceil((16 + text.length) / 8) * 8);
  head.write("manymaps", "latin1");
  head.writeUInt32LE(version, 8);
  head.writeUInt32LE(text.length, 12);
  text.copy(head, 16);
  return gzipSync(Buffer.concat([head, ...parts]));
}

test("an atlas comes out as it was written", async () => {
  const atlas = await readAtlas(fromBase64(packed().toString("base64")));
  assert.deepEqual(atlas.labels, HEADER.labels);
  assert.deepEqual([atlas.nObjects, atlas.nMaps, atlas.nRows, atlas.minWeight], [3, 2, 1, 0.1]);
  assert.deepEqual(atlas.model, { kernel: "gaussian", kernelWidth: 2 });
  assert.deepEqual(
    [0, 1, 2].map((object) => kindOf(atlas, object)),
    ["text", "word", "word"],
  );
  const [first, second] = atlas.maps;
  assert.deepEqual([...first.objects, ...second.objects], [0, 1, 0, 2]);
  assert.deepEqual([...first.charges, ...second.charges], [-2, 0, -1, 0]);
  assert.deepEqual(
    [...first.weights, ...second.weights].map((w) => Math.round(100 * w)),
    [20, 100, 80, 100],
  );
  assert.deepEqual([...first.points], [0, 1, 3, 5]);
  assert.deepEqual([...second.points], [1, 1, 2, 9]);
  assert.deepEqual([...first.order, ...second.order], [1, 0, 0, 1]);
  assert.deepEqual(
    first.regions.map(({ members }) => [...members]),
    [
      [0, 1],
      [0, 1],
    ],
  );
  assert.deepEqual([...(atlas.observed?.partners ?? [])], [1]);
  assert.deepEqual([...(atlas.observed?.senses.shares ?? [])], [0.75]);
  assert.deepEqual(atlas.columns, [{ ...HEADER.columns[0], codes: BLOCKS["column/0"] }]);
  assert.deepEqual(atlas.features[0].members, Uint32Array.of(0, 2));
});

for (const [name, bytes] of [
  ["text", Buffer.from("<html>")],
  ["another container", gzipSync("manymaps is not all")],
  ["a part of the data", packed().subarray(0, 300)],
  ["another version", packed(1)],
] as const) {
  test(`${name} is refused with a sentence`, async () => {
    await assert.rejects(readAtlas(bytes), UnreadableAtlas);
  });
}
