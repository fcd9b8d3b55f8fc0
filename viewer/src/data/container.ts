/** The bytes of a page -> an atlas; `manymaps.viewer.packing` writes them and describes their format. */
import type { Atlas, AtlasMap, Column, Observed, Region } from "./atlas.ts";

const MAGIC = "manymaps";
const VERSION = 2;
const PREAMBLE = 16;
const TOP = 65535;

const again = (problem: string) =>
  `The data in this page ${problem}; save the page again with \`manymaps view\`.`;
const TRUNCATED = again("are truncated or damaged");
const otherVersion = (version: number, own: number) =>
  again(`have format ${version}, but this viewer reads ${own}`);

const ARRAYS = {
  u1: Uint8Array,
  u2: Uint16Array,
  u4: Uint32Array,
  f4: Float32Array,
  f8: Float64Array,
};
type Numbers = InstanceType<(typeof ARRAYS)[keyof typeof ARRAYS]>;

type MapHeader = Pick<AtlasMap, "title" | "view" | "share" | "vectors"> & {
  low: number[];
  step: number[];
  regions: (Omit<Region, "members"> & { size: number })[];
};
type Header = Omit<Atlas, "starts" | "maps" | "observed" | "features"> & {
  blocks: Record<string, { dtype: keyof typeof ARRAYS; offset: number; length: number }>;
  total: number;
  kindCounts: number[];
  charges: { low: number; step: number };
  maps: MapHeader[];
  observed: boolean;
  features: { name: string; weight: number }[];
};

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
    throw new UnreadableAtlas(TRUNCATED, { cause });
  }
}

export async function readAtlas(packed: Uint8Array): Promise<Atlas> {
  const bytes = await unpacked(packed);
  const view = new DataView(bytes.buffer);
  const isAtlas = String.fromCharCode(...bytes.subarray(0, 8)) === MAGIC;
  if (!isAtlas || bytes.length < PREAMBLE) throw new UnreadableAtlas(TRUNCATED);
  const version = view.getUint32(8, true);
  if (version !== VERSION) throw new UnreadableAtlas(otherVersion(version, VERSION));
  const end = PREAMBLE + view.getUint32(12, true);
  if (end > bytes.length) throw new UnreadableAtlas(TRUNCATED);
  const header: Header = JSON.parse(new TextDecoder().decode(bytes.subarray(PREAMBLE, end)));
  const start = Math.ceil(end / 8) * 8;
  if (start + header.total > bytes.length) throw new UnreadableAtlas(TRUNCATED);
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
    throw new UnreadableAtlas(TRUNCATED, { cause });
  }
}

type Blocks = (name: string) => Numbers;

function assemble(header: Header, block: Blocks): Atlas {
  const { kinds, kindCounts, nObjects } = header;
  let end = 0;
  const ends = (kinds ? kindCounts : [nObjects]).map((count) => (end += count));
  return {
    ...header,
    starts: Uint32Array.of(0, ...ends),
    maps: mapsOf(header, block),
    observed: header.observed ? observedOf(block) : null,
    columns: header.columns.map((column, k) => columnOf(column, k, block)),
    features: header.features.map((feature, k) => ({
      ...feature,
      members: block(`feature/${k}`) as Uint32Array,
    })),
  };
}

function mapsOf({ maps, charges, nComponents: d }: Header, block: Blocks): AtlasMap[] {
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
