/**
 * The bytes of a page -> an atlas. `manymaps.viewer.packing` writes them and describes their format.
 *
 * A page contains its own reader, so the data are of the reader's version; a file that was damaged on
 * its way ends in an `UnreadableAtlas`, whose message is a sentence for people.
 */
import * as texts from "../texts.ts";
import type { Atlas, AtlasMap, Column, Observed, Region, Vector } from "./atlas.ts";
import { startsOf } from "./elements.ts";

const MAGIC = "manymaps";
const VERSION = 2;
const PREAMBLE = 16;
/** The largest code of 16 bits. */
const TOP = 65535;

const ARRAYS = {
  u1: Uint8Array,
  u2: Uint16Array,
  u4: Uint32Array,
  f4: Float32Array,
  f8: Float64Array,
};
type Numbers = InstanceType<(typeof ARRAYS)[keyof typeof ARRAYS]>;

type RegionHeader = Omit<Region, "members"> & { size: number };
type MapHeader = Pick<AtlasMap, "title" | "view" | "share"> & {
  low: number[];
  step: number[];
  regions: RegionHeader[];
  vectors: Vector[];
};
type Same = "title" | "description" | "source" | "credit" | "date" | "method" | "noun" | "examples";

interface Header extends Pick<Atlas, Same | "labels" | "kinds" | "color" | "size"> {
  blocks: Record<string, { dtype: keyof typeof ARRAYS; offset: number; length: number }>;
  /** Bytes of all blocks. */
  total: number;
  numbered: boolean[];
  n_objects: number;
  n_components: number;
  n_rows: number;
  kind_counts: number[];
  model: { kernel: Atlas["model"]["kernel"]; kernel_width: number };
  charges: { low: number; step: number };
  maps: MapHeader[];
  map_order: number[];
  observed: boolean;
  columns: Column[];
  features: { name: string; weight: number }[];
  min_weight: number;
}

/** The page cannot read the data; the message explains the problem and the remedy. */
export class UnreadableAtlas extends Error {
  override name = "UnreadableAtlas";
}

/** Bytes of a base64 text; white space in it is ignored. */
export function fromBase64(text: string): Uint8Array {
  try {
    // A loop, because Uint8Array.from is ten times as slow.
    const characters = atob(text);
    const bytes = new Uint8Array(characters.length);
    for (let i = 0; i < bytes.length; i++) bytes[i] = characters.charCodeAt(i);
    return bytes;
  } catch (cause) {
    throw new UnreadableAtlas(texts.NOT_PACKED, { cause });
  }
}

/** The atlas in the bytes of a page or a widget. */
export async function readAtlas(packed: Uint8Array): Promise<Atlas> {
  const bytes = await unpacked(packed);
  const view = new DataView(bytes.buffer);
  if (bytes.length < PREAMBLE || String.fromCharCode(...bytes.subarray(0, 8)) !== MAGIC) {
    throw new UnreadableAtlas(texts.NOT_PACKED);
  }
  const version = view.getUint32(8, true);
  if (version !== VERSION) throw new UnreadableAtlas(texts.otherVersion(version, VERSION));
  const end = PREAMBLE + view.getUint32(12, true);
  if (end > bytes.length) throw new UnreadableAtlas(texts.TRUNCATED);
  const header: Header = JSON.parse(new TextDecoder().decode(bytes.subarray(PREAMBLE, end)));
  const start = Math.ceil(end / 8) * 8;
  if (start + header.total > bytes.length) throw new UnreadableAtlas(texts.TRUNCATED);
  return assemble(header, (name) => {
    const { dtype, offset, length } = header.blocks[name];
    return new ARRAYS[dtype](bytes.buffer, start + offset, length);
  });
}

async function unpacked(packed: Uint8Array): Promise<Uint8Array<ArrayBuffer>> {
  const source = new Blob([packed as Uint8Array<ArrayBuffer>]);
  try {
    const stream = source.stream().pipeThrough(new DecompressionStream("gzip"));
    return new Uint8Array(await new Response(stream).arrayBuffer());
  } catch (cause) {
    throw new UnreadableAtlas(texts.TRUNCATED, { cause });
  }
}

/** The numbers of a block, by its name. */
type Blocks = (name: string) => Numbers;

function assemble(header: Header, block: Blocks): Atlas {
  const { kinds, model } = header;
  return {
    ...header,
    nObjects: header.n_objects,
    nMaps: header.maps.length,
    nComponents: header.n_components,
    model: { kernel: model.kernel, kernelWidth: model.kernel_width },
    starts: startsOf(Uint32Array.from(kinds ? header.kind_counts : [header.n_objects])),
    nRows: header.n_rows,
    maps: mapsOf(header, block),
    mapOrder: header.map_order,
    observed: header.observed ? observedOf(block) : null,
    columns: header.columns.map((column, k) => columnOf(column, k, block)),
    features: header.features.map((feature, k) => ({
      ...feature,
      members: block(`feature/${k}`) as Uint32Array,
    })),
    minWeight: header.min_weight,
  };
}

function mapsOf({ maps, charges, n_components: d }: Header, block: Blocks): AtlasMap[] {
  const [offsets, objects, order] = [block("offsets"), block("objects"), block("order")];
  const [weights, codes, positions] = [block("weights"), block("charges"), block("positions")];
  const members = block("region/members");
  let nMembers = 0;
  return maps.map((map, number) => {
    const [start, end] = [offsets[number], offsets[number + 1]];
    const coordinates = new Float32Array((end - start) * d);
    for (let c = 0; c < d; c++) {
      for (let entry = start, to = c; entry < end; entry++, to += d) {
        coordinates[to] = map.low[c] + map.step[c] * positions[c * objects.length + entry];
      }
    }
    const regions = map.regions.map(({ size, ...region }): Region => {
      nMembers += size;
      return { ...region, members: Uint32Array.from(members.subarray(nMembers - size, nMembers)) };
    });
    // The members of an island are those of its parts.
    for (const [island, region] of regions.entries()) {
      const parts = regions.filter((part) => part.island === island);
      if (parts.length > 0) {
        region.members = Uint32Array.from(parts.flatMap((part) => [...part.members]));
      }
    }
    return {
      number,
      objects: Uint32Array.from(objects.subarray(start, end)),
      charges: Float32Array.from(codes.subarray(start, end), (q) => charges.low + charges.step * q),
      weights: Float32Array.from(weights.subarray(start, end), (q) => q / TOP),
      coordinates,
      points: d === 2 ? coordinates : drawn(coordinates, d, number, block),
      order: Uint32Array.from(order.subarray(start, end)),
      view: map.view,
      title: map.title,
      share: map.share,
      regions,
      vectors: map.vectors,
    };
  });
}

/** The points on the plane of a map of more than two dimensions; those of a line have a height of 0. */
function drawn(coordinates: Float32Array, d: number, map: number, block: Blocks): Float32Array {
  const axes = d > 2 ? block("axes").subarray(map * d * 2) : [1, 0];
  const middle = d > 2 ? block("middles").subarray(map * d) : [0];
  const points = new Float32Array((2 * coordinates.length) / d);
  for (let e = 0; e < points.length / 2; e++) {
    for (let c = 0; c < d; c++) {
      const from = coordinates[e * d + c] - middle[c];
      points[2 * e] += from * axes[2 * c];
      points[2 * e + 1] += from * axes[2 * c + 1];
    }
  }
  return points;
}

function columnOf(column: Column, k: number, block: Blocks): Column {
  if (column.type === "category") return { ...column, codes: block(`column/${k}`) as Uint16Array };
  if (column.type === "number") return { ...column, values: block(`column/${k}`) as Float32Array };
  return column;
}

function observedOf(block: Blocks): Observed {
  return {
    offsets: block("data/offsets") as Uint32Array,
    partners: Uint32Array.from(block("data/partners")),
    shares: Float32Array.from(block("data/shares"), (q) => q / TOP),
    maps: Uint32Array.from(block("data/maps")),
    senses: {
      offsets: block("sense/offsets") as Uint32Array,
      maps: Uint32Array.from(block("sense/maps")),
      shares: block("sense/shares") as Float32Array,
    },
  };
}
