/**
 * Writes small atlases as `manymaps.page_data` does, for tests:
 *
 *     packed({ labels: ["tie", "knot"], maps: [[[0, 0], [1, 0]]], proportions: [[65535, 65535]] })
 *
 * A map gives a point to every object; the proportions are whole numbers, 65535 for all of an
 * object, 0 where it does not live. So are the map weights, which are the proportions by default.
 */
import { gzipSync } from "node:zlib";
import type { Column, Model, Region } from "../src/data/atlas.ts";
import { elementAt, startsOf } from "../src/data/elements.ts";

export type Block = Uint8Array | Uint16Array | Uint32Array | Float32Array;
export type Blocks = Record<string, Block> &
  Record<"offsets" | "objects" | "proportions" | "positions" | "order", Block>;
export type Header = Record<string, unknown>;

export interface Description {
  labels: string[];
  maps: number[][][];
  proportions: number[][];
  weights?: number[][];
  model?: Partial<Model>;
  kinds?: string[];
  nRows?: number;
  factors?: number[];
  columns?: Column[];
  /** Of each map. */
  regions?: (Omit<Region, "members"> & { members: number[] })[][];
  /** Of each object: partners, shares, and the map on which they are close, if any. */
  observed?: [number, number, number?][][];
  /** Of each object: maps and shares of its senses. */
  senses?: [number, number][][];
  features?: { name: string; weight: number; members: number[] }[];
  /** How positions are kept: as they are by default, or in 65,536 steps. */
  positions?: "f4" | "u2";
  axes?: number[];
  middles?: number[];
  header?: Header;
}

const TYPES = new Map<unknown, string>([
  [Uint8Array, "u1"],
  [Uint16Array, "u2"],
  [Uint32Array, "u4"],
  [Float32Array, "f4"],
]);

/** The bytes of an atlas; `change` may spoil header and blocks before they are written. */
export function packed(
  description: Description,
  change: (header: Header, blocks: Blocks) => void = () => {},
): Uint8Array {
  const blocks = blocksOf(description);
  const header = headerOf(description);
  change(header, blocks);
  return written(header, blocks);
}

/** Header and blocks as the bytes of a page; a header that lists blocks keeps its list. */
export function written(header: Header, blocks: Blocks): Uint8Array {
  const listed: Record<string, unknown> = {};
  let total = 0;
  for (const [name, block] of Object.entries(blocks)) {
    listed[name] = { dtype: TYPES.get(block.constructor), offset: total, length: block.length };
    total += Math.ceil(block.byteLength / 8) * 8;
  }
  const text = Buffer.from(JSON.stringify({ blocks: listed, total, ...header }));
  const start = Math.ceil((16 + text.length) / 8) * 8;
  const bytes = Buffer.alloc(start + total);
  bytes.write("manymaps", "latin1");
  bytes.writeUInt32LE(1, 8);
  bytes.writeUInt32LE(text.length, 12);
  text.copy(bytes, 16);
  let offset = start;
  for (const block of Object.values(blocks)) {
    bytes.set(new Uint8Array(block.buffer, block.byteOffset, block.byteLength), offset);
    offset += Math.ceil(block.byteLength / 8) * 8;
  }
  return new Uint8Array(gzipSync(bytes));
}

/** The objects that live in each map. */
function homes({ proportions }: Description): number[][] {
  return proportions.map((row) => row.flatMap((q, object) => (q > 0 ? [object] : [])));
}

function blocksOf(description: Description): Blocks {
  const { maps, proportions } = description;
  const objects = homes(description);
  const d = maps[0]?.[0]?.length ?? 2;
  let total = 0;
  const offsets = [0];
  for (const members of objects) {
    total += members.length;
    offsets.push(total);
  }
  const order = objects.flatMap((members, m) => {
    const row = elementAt(proportions, m);
    return members
      .map((object, entry) => ({ entry, q: elementAt(row, object) }))
      .sort((a, b) => b.q - a.q || a.entry - b.entry)
      .map(({ entry }) => entry);
  });
  const positions = Array.from({ length: d }, (_, c) =>
    objects.flatMap((members, m) => {
      const { low, step } = scaleOf(description, m);
      const points = elementAt(maps, m);
      const [origin, unit] = [elementAt(low, c), elementAt(step, c)];
      return members.map((object) => (elementAt(elementAt(points, object), c) - origin) / unit);
    }),
  ).flat();
  const blocks: Blocks = {
    offsets: Uint32Array.from(offsets),
    objects: Uint16Array.from(objects.flat()),
    proportions: Uint16Array.from(
      objects.flatMap((list, m) => list.map((i) => elementAt(elementAt(proportions, m), i))),
    ),
    positions:
      description.positions === "u2"
        ? Uint16Array.from(positions, Math.round)
        : Float32Array.from(positions),
    order: Uint16Array.from(order),
  };
  if (maps.length > 1) {
    const { weights = proportions } = description;
    blocks.weights = Uint16Array.from(
      objects.flatMap((list, m) => list.map((i) => elementAt(elementAt(weights, m), i))),
    );
  }
  if (d > 2) {
    const axes = description.axes ?? Array.from({ length: maps.length * d * 2 }, () => 0.5);
    blocks.axes = Float32Array.from(axes);
    blocks.middles = Float32Array.from(description.middles ?? new Array(maps.length * d).fill(0));
  }
  blocks["region/members"] = Uint16Array.from(
    (description.regions ?? []).flatMap((regions) => regions.flatMap(({ members }) => members)),
  );
  if (description.observed) {
    const { observed, senses = observed.map(() => []) } = description;
    const all = observed.flat();
    blocks["data/offsets"] = startsOf(Uint32Array.from(observed, (pairs) => pairs.length));
    blocks["data/partners"] = Uint16Array.from(all, ([partner]) => partner);
    blocks["data/shares"] = Uint16Array.from(all, ([, share]) => 65535 * share);
    blocks["data/maps"] = Uint8Array.from(all, ([, , map = maps.length]) => map);
    blocks["sense/offsets"] = startsOf(Uint32Array.from(senses, (own) => own.length));
    blocks["sense/maps"] = Uint16Array.from(senses.flat(), ([map]) => map);
    blocks["sense/shares"] = Float32Array.from(senses.flat(), ([, share]) => share);
  }
  if (description.kinds || description.factors) {
    const factors = description.factors ?? description.labels.map(() => 1);
    blocks.log_factors = Float32Array.from(factors, Math.log);
  }
  description.columns?.forEach((column, k) => {
    if (column.type === "category") blocks[`column/${k}`] = Uint16Array.from(column.codes);
    if (column.type === "number") blocks[`column/${k}`] = Float32Array.from(column.values);
  });
  description.features?.forEach(({ members }, k) => {
    blocks[`feature/${k}`] = Uint32Array.from(members);
  });
  return blocks;
}

function scaleOf(description: Description, m: number): { low: number[]; step: number[] } {
  const d = description.maps[0]?.[0]?.length ?? 2;
  const map = elementAt(description.maps, m);
  const points = elementAt(homes(description), m).map((object) => elementAt(map, object));
  const low: number[] = [];
  const step: number[] = [];
  for (let c = 0; c < d; c++) {
    const values = points.map((point) => elementAt(point, c));
    const least = description.positions === "u2" ? Math.min(...values) : 0;
    low.push(least);
    step.push(description.positions === "u2" ? (Math.max(...values) - least) / 65535 || 1 : 1);
  }
  return { low, step };
}

function headerOf(description: Description): Header {
  const { labels, maps, model = {}, kinds = null } = description;
  const { kernel = "cauchy", kernelWidth = 1 } = model;
  return {
    title: "a small atlas",
    description: "",
    source: "",
    credit: "",
    date: "",
    noun: ["object", "objects"],
    numbered: false,
    examples: [],
    observed: description.observed !== undefined,
    method: "mm-tsne",
    n_objects: labels.length,
    n_maps: maps.length,
    n_components: maps[0]?.[0]?.length ?? 2,
    model: { kernel, kernel_width: kernelWidth },
    n_rows: description.nRows ?? 0,
    kinds,
    labels,
    map_order: maps.map((_, m) => m),
    min_weight: 0.1,
    color: null,
    size: null,
    maps: maps.map((_, m) => ({
      title: elementAt(homes(description), m)
        .slice(0, 2)
        .map((object) => elementAt(labels, object)),
      view: [-1, -1, 1, 1],
      share: 1,
      vectors: [],
      ...scaleOf(description, m),
      regions: (description.regions?.[m] ?? []).map(({ members, ...region }) => ({
        ...region,
        size: members.length,
      })),
    })),
    columns: (description.columns ?? []).map((column) => {
      const { name, type } = column;
      if (type === "category") return { name, type, categories: column.categories };
      if (type === "number") return { name, type, low: column.low, high: column.high };
      return { name, type, values: column.values };
    }),
    features: (description.features ?? []).map(({ name, weight }) => ({ name, weight })),
    factors: Boolean(description.kinds ?? description.factors),
    ...description.header,
  };
}
