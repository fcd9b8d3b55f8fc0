/** What `readAtlas` reads, and what it says of bytes that are none of an atlas. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { gunzipSync, gzipSync } from "node:zlib";
import { kindOf } from "../../src/data/atlas.ts";
import { fromBase64, readAtlas, UnreadableAtlas } from "../../src/data/container.ts";
import { elementAt } from "../../src/data/elements.ts";
import { type Block, type Description, type Header, packed } from "../packed.ts";
import { processorTime } from "../processor_time.ts";

const SMALL: Description = {
  labels: ["tie", "knot", "tuxedo", "</script>"],
  maps: [
    [
      [0, 0],
      [1, 0.5],
      [9, 9],
      [-2, 4],
    ],
    [
      [3, 3],
      [9, 9],
      [2, 2],
      [9, 9],
    ],
  ],
  proportions: [
    [26214, 65535, 0, 65535],
    [39321, 0, 65535, 0],
  ],
  weights: [
    [52428, 65535, 0, 65535],
    [13107, 0, 65535, 0],
  ],
  columns: [
    {
      name: "group",
      type: "category",
      categories: ["a", "b"],
      codes: Uint16Array.of(0, 1, 65535, 0),
    },
    {
      name: "year",
      type: "number",
      low: 1,
      high: 3,
      values: Float32Array.of(1, Number.NaN, 2.5, 3),
    },
    { name: "note", type: "text", values: ["", "x", "y", "z"] },
  ],
  features: [{ name: "feature 1", weight: 0.5, members: [0, 2] }],
};

async function refusal(bytes: Uint8Array): Promise<string> {
  try {
    await readAtlas(bytes);
  } catch (error) {
    assert.ok(error instanceof UnreadableAtlas, `${error}`);
    assert.match(error.message, /^[A-Z].*manymaps view.*\.$/);
    return error.message;
  }
  assert.fail("it was read");
}

test("maps, columns and features come out as they went in", async () => {
  const atlas = await readAtlas(packed(SMALL));
  assert.deepEqual([atlas.nObjects, atlas.nMaps, atlas.nComponents], [4, 2, 2]);
  assert.deepEqual(atlas.labels, SMALL.labels);
  const [first, second] = [elementAt(atlas.maps, 0), elementAt(atlas.maps, 1)];
  assert.deepEqual([...first.objects], [0, 1, 3]);
  assert.deepEqual([...first.points], [0, 0, 1, 0.5, -2, 4]);
  assert.deepEqual([...first.order], [1, 2, 0]);
  assert.deepEqual([...second.objects], [0, 2]);
  assert.ok(Math.abs(elementAt(second.proportions, 0) - 0.6) < 1e-6);
  assert.equal(second.proportions[1], 1);
  assert.ok(Math.abs(elementAt(first.weights, 0) - 0.8) < 1e-6);
  assert.ok(Math.abs(elementAt(second.weights, 0) - 0.2) < 1e-6);
  assert.deepEqual(
    [second.number, second.title, second.view],
    [1, ["tie", "tuxedo"], [-1, -1, 1, 1]],
  );
  assert.deepEqual(atlas.columns, SMALL.columns);
  assert.deepEqual(atlas.features[0]?.members, Uint32Array.of(0, 2));
  assert.deepEqual([atlas.color, atlas.size, atlas.minWeight], [null, null, 0.1]);
  assert.deepEqual([atlas.kinds, atlas.nRows, atlas.logFactors], [null, 0, null]);
});

test("packed positions are right to half a step", async () => {
  const atlas = await readAtlas(packed({ ...SMALL, positions: "u2" }));
  const { points } = elementAt(atlas.maps, 0);
  [0, 0, 1, 0.5, -2, 4].forEach((value, i) => {
    assert.ok(Math.abs(elementAt(points, i) - value) <= 3 / 65535);
  });
});

/** Two associates and two senses of tie, and nothing of the others. */
const OBSERVED: Description = {
  ...SMALL,
  observed: [
    [
      [1, 0.6, 1],
      [2, 0.4],
    ],
    [],
    [],
    [],
  ],
  senses: [
    [
      [1, 0.75],
      [0, 0.25],
    ],
    [],
    [],
    [],
  ],
};

test("associates and senses come out as they went in", async () => {
  assert.equal((await readAtlas(packed(SMALL))).observed, null);
  const { observed } = await readAtlas(packed(OBSERVED));
  assert.deepEqual(observed?.offsets, Uint32Array.of(0, 2, 2, 2, 2));
  assert.deepEqual(observed?.partners, Uint32Array.of(1, 2));
  assert.deepEqual(observed?.maps, Uint32Array.of(1, 2));
  assert.deepEqual(observed?.senses, {
    offsets: Uint32Array.of(0, 2, 2, 2, 2),
    maps: Uint32Array.of(1, 0),
    shares: Float32Array.of(0.75, 0.25),
  });
});

test("associates and senses that do not fit are refused", async () => {
  const broken: [string, Block][] = [
    ["sense/offsets", Uint32Array.of(0, 2, 1, 2, 2)],
    ["sense/offsets", Uint32Array.of(0, 1, 1, 1, 1)],
    ["sense/offsets", Uint32Array.of(1, 2, 2, 2, 2)],
    ["sense/offsets", Uint32Array.of(0, 2, 2, 2)],
    ["sense/maps", Uint16Array.of(1, 2)],
    ["sense/shares", Float32Array.of(0.75, Number.NaN)],
    ["data/offsets", Uint32Array.of(0, 3, 3, 3, 3)],
    ["data/partners", Uint16Array.of(1, 4)],
    ["data/maps", Uint8Array.of(1, 3)],
    ["data/maps", Uint8Array.of(1)],
  ];
  for (const [name, block] of broken) {
    const bytes = packed(OBSERVED, (_, blocks) => {
      blocks[name] = block;
    });
    assert.match(await refusal(bytes), /damaged/, name);
  }
});

test("examples are objects of the atlas", async () => {
  const withExamples = (examples: unknown) =>
    packed(SMALL, (header) => {
      header.examples = examples;
    });
  assert.deepEqual((await readAtlas(withExamples([2, 0]))).examples, [2, 0]);
  for (const wrong of [[4], [-1], ["tie"], null]) {
    assert.match(await refusal(withExamples(wrong)), /damaged \(.*example/);
  }
});

test("maps of one component lie on a line, maps of three on their plane", async () => {
  const line = { ...SMALL, maps: SMALL.maps.map((map) => map.map((point) => point.slice(0, 1))) };
  const { points } = elementAt((await readAtlas(packed(line))).maps, 0);
  assert.deepEqual([...points], [0, 0, 1, 0, -2, 0]);
  const space: Description = {
    labels: ["a", "b"],
    maps: [
      [
        [1, 2, 3],
        [4, 6, 5],
      ],
    ],
    proportions: [[65535, 65535]],
    axes: [0, 1, 1, 0, 0, 0],
    middles: [1, 2, 3],
  };
  const map = elementAt((await readAtlas(packed(space))).maps, 0);
  assert.deepEqual([...map.points], [0, 0, 4, 3]);
  assert.deepEqual([...map.coordinates], [1, 2, 3, 4, 6, 5]);
});

test("objects of three kinds stand in ranges", async () => {
  const parts = { ...SMALL, kinds: ["author", "paper", "word"], nRows: 2 };
  const read = (...counts: number[]) =>
    readAtlas(packed({ ...parts, header: { kind_counts: counts } }));
  const atlas = await read(1, 1, 2);
  const kinds = atlas.labels.map((_, object) => kindOf(atlas, object));
  assert.deepEqual(kinds, ["author", "paper", "word", "word"]);
  for (const counts of [
    [2, 2],
    [1, 2, 1],
    [1, 1, 1],
    [2, 0, 2],
  ]) {
    await assert.rejects(read(...counts), /kinds/);
  }
});

test("two kinds of object have factors", async () => {
  const atlas = await readAtlas(
    packed({
      ...SMALL,
      kinds: ["document", "word"],
      nRows: 1,
      factors: [0.5, 1, 2, 1],
      model: { kernel: "gaussian", kernelWidth: 2 },
    }),
  );
  assert.deepEqual([atlas.kinds, atlas.nRows], [["document", "word"], 1]);
  assert.deepEqual([...atlas.starts], [0, 1, 4]);
  assert.ok(Math.abs(elementAt(atlas.logFactors ?? [], 2) - Math.log(2)) < 1e-6);
  assert.deepEqual(atlas.model, { kernel: "gaussian", kernelWidth: 2 });
});

test("a map without objects is read", async () => {
  const atlas = await readAtlas(
    packed({
      ...SMALL,
      maps: [...SMALL.maps, elementAt(SMALL.maps, 0)],
      proportions: [...SMALL.proportions, [0, 0, 0, 0]],
    }),
  );
  assert.equal(elementAt(atlas.maps, 2).objects.length, 0);
});

test("base64 gives the bytes back, with white space too", () => {
  const bytes = packed(SMALL);
  const text = Buffer.from(bytes).toString("base64");
  assert.deepEqual(fromBase64(text), bytes);
  assert.deepEqual(fromBase64(`\n${text.slice(0, 40)}\n${text.slice(40)}\n`), bytes);
  assert.throws(() => fromBase64("no base64 ~ at all"), UnreadableAtlas);
});

test("bytes that are no whole gzip are refused", async () => {
  const bytes = packed(SMALL);
  assert.match(await refusal(new Uint8Array()), /not a packed atlas/);
  assert.match(await refusal(Uint8Array.of(60, 33, 68)), /not a packed atlas/);
  for (const length of [2, 10, 30, bytes.length >> 1, bytes.length - 9, bytes.length - 1]) {
    assert.match(await refusal(bytes.subarray(0, length)), /truncated/);
  }
  const flipped = bytes.slice();
  flipped[bytes.length >> 1] = elementAt(bytes, bytes.length >> 1) ^ 0x55;
  await refusal(flipped);
});

test("another file, a newer format and a header that is no JSON are named", async () => {
  const change = (at: number, byte: number) => {
    const bytes = gunzipSync(packed(SMALL));
    bytes[at] = byte;
    return new Uint8Array(gzipSync(bytes));
  };
  assert.match(await refusal(new Uint8Array(gzipSync("hello"))), /do not describe an atlas/);
  assert.match(await refusal(change(0, 77)), /do not describe an atlas/);
  assert.match(await refusal(change(8, 2)), /format 2, newer than 1.*update manymaps/);
  assert.match(await refusal(change(15, 9)), /truncated/);
  assert.match(await refusal(change(17, 0)), /not JSON/);
});

test("blocks that end beyond the data or hold impossible numbers are refused", async () => {
  const spoilt = (change: Parameters<typeof packed>[1]) => refusal(packed(SMALL, change));
  const bytes = gunzipSync(packed(SMALL));
  assert.match(await refusal(new Uint8Array(gzipSync(bytes.subarray(0, -8)))), /truncated/);
  assert.match(
    await spoilt((_, { objects }) => {
      objects[1] = 4;
    }),
    /damaged/,
  );
  assert.match(
    await spoilt((_, { objects }) => {
      objects[1] = 0;
    }),
    /damaged/,
  );
  assert.match(
    await spoilt((_, { order }) => {
      order[0] = 3;
    }),
    /damaged/,
  );
  assert.match(
    await spoilt((_, { order }) => {
      order[0] = 2;
    }),
    /damaged/,
  );
  assert.match(
    await spoilt((_, { offsets }) => {
      offsets[1] = 9;
    }),
    /damaged/,
  );
  assert.match(
    await spoilt((_, { offsets }) => {
      offsets[2] = 4;
    }),
    /damaged/,
  );
  assert.match(
    await spoilt((_, { positions }) => {
      positions[3] = Number.NaN;
    }),
    /damaged/,
  );
  assert.match(
    await spoilt((_, blocks) => {
      blocks["column/0"]?.set([2], 1);
    }),
    /damaged/,
  );
  assert.match(
    await spoilt((_, blocks) => {
      blocks["feature/0"]?.set([4], 1);
    }),
    /damaged/,
  );
  assert.match(
    await spoilt((_, blocks) => {
      Reflect.deleteProperty(blocks, "order");
    }),
    /damaged/,
  );
  assert.match(
    await spoilt((_, blocks) => {
      blocks.order = Uint16Array.of(0);
    }),
    /damaged/,
  );
  assert.match(
    await spoilt((_, blocks) => {
      blocks.proportions = new Float32Array(5);
    }),
    /damaged/,
  );
  assert.match(
    await spoilt((_, blocks) => {
      Reflect.deleteProperty(blocks, "weights");
    }),
    /damaged/,
  );
  for (const title of [[0], "tie", null]) {
    assert.match(
      await spoilt((header) => {
        elementAt(header.maps as Header[], 0).title = title;
      }),
      /(title)/,
    );
  }
});

test("no header ends in another error than one for people", async () => {
  const names: string[] = [];
  packed(SMALL, (header) => {
    names.push(...Object.keys(header));
  });
  const values = [undefined, null, -1, 1e99, "text", [], {}, [null], [[]], [{}], true];
  for (const name of [...names, "blocks", "total"]) {
    for (const value of values) {
      const bytes = packed(SMALL, (header) => {
        if (value === undefined) delete header[name];
        else header[name] = value;
      });
      await readAtlas(bytes).catch((error) =>
        assert.ok(error instanceof UnreadableAtlas, error.stack),
      );
    }
  }
});

test("four megabytes of base64 take less than a tenth of a second", () => {
  const text = Buffer.alloc(3_000_000, 7).toString("base64");
  assert.equal(fromBase64(text).length, 3_000_000);
  const times = [1, 2, 3].map(() => processorTime(() => fromBase64(text)));
  assert.ok(Math.min(...times) < 100, `${times} ms`);
});

test("what was observed, regions and what the page is about are read", async () => {
  const atlas = await readAtlas(
    packed({
      ...SMALL,
      observed: SMALL.labels.map((_, i) => (i === 0 ? [[1, 0.2]] : [])),
      regions: [
        [
          { name: "neckwear", words: ["tie"], x: 1, y: 2, members: [], hue: 5, island: null },
          ...[1, 0].map((entry) => ({
            ...{ name: "", words: [], x: 1, y: 2, members: [entry], hue: 5, island: 0 },
          })),
        ],
      ],
      header: {
        description: "What people say",
        source: "norms",
        noun: ["word", "words"],
      },
    }),
  );
  assert.deepEqual([...(atlas.observed?.offsets ?? [])].slice(0, 3), [0, 1, 1]);
  assert.deepEqual([...(atlas.observed?.partners ?? [])], [1]);
  assert.deepEqual([...(atlas.observed?.shares ?? [])], [Math.fround(0.2)]);
  const [region, part] = elementAt(atlas.maps, 0).regions;
  assert.equal(region?.name, "neckwear");
  assert.deepEqual([...(region?.members ?? [])], [1, 0]);
  assert.deepEqual([region?.hue, region?.island, part?.island], [5, null, 0]);
  assert.deepEqual(atlas.noun, ["word", "words"]);
  assert.equal(atlas.description, "What people say");
});
