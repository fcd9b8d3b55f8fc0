/**
 * The bytes of a page -> an atlas. `manymaps.viewer.packing` writes them:
 *
 *     gzip of   "manymaps", u4 version, u4 length of the header, the header (JSON, UTF-8),
 *               zeros up to a multiple of 8, then the blocks, each at a multiple of 8
 *
 * All numbers are little endian. A proportion or a map weight is q / 65535; a
 * coordinate is low + step q where its
 * block holds u2, the number itself where it holds f4. Maps of more than two components are drawn
 * on a plane, (coordinates - middle) @ axes.
 *
 * Whatever is wrong with the bytes ends in an `UnreadableAtlas` whose message is a sentence for
 * people.
 */
import * as told from "../texts.ts";
import type { Atlas, AtlasMap, Column, Feature, Model, Observed, Region, Vector } from "./atlas.ts";
import { NO_CATEGORY } from "./atlas.ts";
import { elementAt, inBounds, startsOf } from "./elements.ts";

const MAGIC = "manymaps";
const VERSION = 1;
const PREAMBLE = 16;

const ARRAYS = {
  u1: Uint8Array,
  u2: Uint16Array,
  u4: Uint32Array,
  f4: Float32Array,
  f8: Float64Array,
};
type Whole = Uint8Array | Uint16Array | Uint32Array;
type Floats = Float32Array | Float64Array;
type Block = Whole | Floats;
type Fields = Record<string, unknown>;

/** The page cannot read the data; the message explains the problem and the remedy. */
export class UnreadableAtlas extends Error {
  override name = "UnreadableAtlas";
}

/** Bytes of a base64 text; white space in it is ignored. */
export function fromBase64(text: string): Uint8Array {
  const native = (Uint8Array as { fromBase64?: (text: string) => Uint8Array }).fromBase64;
  try {
    if (native) return native.call(Uint8Array, text);
    // A loop, because Uint8Array.from is ten times as slow.
    const characters = atob(text);
    const bytes = new Uint8Array(characters.length);
    for (let i = 0; i < bytes.length; i++) bytes[i] = characters.charCodeAt(i);
    return bytes;
  } catch (cause) {
    throw new UnreadableAtlas(told.NOT_BASE64, { cause });
  }
}

/** The atlas in the bytes of a page or a widget. */
export async function readAtlas(packed: Uint8Array): Promise<Atlas> {
  if (packed[0] !== 0x1f || packed[1] !== 0x8b) throw new UnreadableAtlas(told.NOT_PACKED);
  const bytes = await unpacked(packed);
  const view = new DataView(bytes.buffer);
  if (bytes.length < PREAMBLE || String.fromCharCode(...bytes.subarray(0, 8)) !== MAGIC) {
    throw new UnreadableAtlas(told.NOT_DESCRIBED);
  }
  const version = view.getUint32(8, true);
  if (version > VERSION) throw new UnreadableAtlas(told.newer(version, VERSION));
  const end = PREAMBLE + view.getUint32(12, true);
  if (end > bytes.length) throw cutShort();
  const header = headerOf(bytes.subarray(PREAMBLE, end));
  return assemble(header, new Blocks(header, bytes.buffer, Math.ceil(end / 8) * 8));
}

async function unpacked(packed: Uint8Array): Promise<Uint8Array<ArrayBuffer>> {
  const source = new Blob([packed as Uint8Array<ArrayBuffer>]);
  try {
    const stream = source.stream().pipeThrough(new DecompressionStream("gzip"));
    return new Uint8Array(await new Response(stream).arrayBuffer());
  } catch (cause) {
    throw cutShort(cause);
  }
}

function cutShort(cause?: unknown): UnreadableAtlas {
  return new UnreadableAtlas(told.TRUNCATED, { cause });
}

function damaged(part: string): UnreadableAtlas {
  return new UnreadableAtlas(told.damaged(part));
}

function headerOf(bytes: Uint8Array): Fields {
  try {
    const header: unknown = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
    return fields({ header }, "header");
  } catch (cause) {
    if (cause instanceof UnreadableAtlas) throw cause;
    throw new UnreadableAtlas(told.NOT_JSON, { cause });
  }
}

function isFloats(block: Block): block is Floats {
  return block instanceof Float32Array || block instanceof Float64Array;
}

/** The blocks by name, each looked at where it lies: no bytes are copied. */
class Blocks {
  readonly #listed: Fields;
  readonly #buffer: ArrayBuffer;
  readonly #start: number;

  constructor(header: Fields, buffer: ArrayBuffer, start: number) {
    this.#listed = fields(header, "blocks");
    this.#buffer = buffer;
    this.#start = start;
    if (start + count(header, "total") > buffer.byteLength) throw cutShort();
  }

  #read(name: string, length: number): Block {
    const block = fields(this.#listed, name);
    const Kind = ARRAYS[block.dtype as keyof typeof ARRAYS];
    const offset = count(block, "offset");
    if (!Kind || offset % 8 !== 0 || block.length !== length) throw damaged(name);
    const start = this.#start + offset;
    if (start + length * Kind.BYTES_PER_ELEMENT > this.#buffer.byteLength) throw cutShort();
    return new Kind(this.#buffer, start, length);
  }

  /** Whole numbers, each below `limit`. */
  whole(name: string, length: number, limit: number): Whole {
    const block = this.#read(name, length);
    if (isFloats(block) || block.some((value) => value >= limit)) throw damaged(name);
    return block;
  }

  floats(name: string, length: number): Float32Array {
    const block = this.#read(name, length);
    if (!(block instanceof Float32Array && block.every(Number.isFinite))) throw damaged(name);
    return block;
  }

  /** Numbers of which some may be missing, of single precision or double. */
  values(name: string, length: number): Floats {
    const block = this.#read(name, length);
    if (!isFloats(block)) throw damaged(name);
    return block;
  }

  /** Whole numbers or, where the block holds them, numbers themselves. */
  positions(name: string, length: number): Uint16Array | Float32Array {
    const block = this.#read(name, length);
    return block instanceof Uint16Array ? block : this.floats(name, length);
  }

  lengthOf(name: string): number {
    return count(fields(this.#listed, name), "length");
  }
}

function assemble(header: Fields, blocks: Blocks): Atlas {
  const nObjects = count(header, "n_objects");
  const labels = texts(header, "labels");
  if (labels.length !== nObjects) throw damaged("labels");
  const nComponents = count(header, "n_components");
  if (nComponents < 1) throw damaged("n_components");
  const kinds = header.kinds === null ? null : texts(header, "kinds");
  const nRows = count(header, "n_rows");
  // Pages of two kinds were once written without counts.
  const counts = header.kind_counts ? numbers(header, "kind_counts") : [nRows, nObjects - nRows];
  const starts = startsOf(Uint32Array.from(kinds ? counts : [nObjects]));
  const k = starts.length - 1;
  if (
    kinds &&
    (k < 2 ||
      kinds.length !== k ||
      starts[k - 1] !== nRows ||
      starts[k] !== nObjects ||
      counts.some((count) => count < 1))
  ) {
    throw damaged("kinds");
  }
  const columns = columnsOf(header, blocks, nObjects);
  const shown = (name: unknown): string | null => {
    if (name === null) return null;
    if (columns.some((column) => column.name === name)) return name as string;
    throw damaged("columns");
  };
  const maps = mapsOf(header, blocks, nObjects, nComponents);
  return {
    title: text(header, "title"),
    description: text(header, "description"),
    source: text(header, "source"),
    credit: text(header, "credit"),
    date: text(header, "date"),
    method: text(header, "method"),
    noun: nounOf(header),
    examples: listOf<number>((at) => labels[at as number] !== undefined)(header, "examples"),
    labels,
    isNumbered: header.numbered === true,
    nObjects,
    nMaps: maps.length,
    nComponents,
    model: modelOf(header),
    kinds,
    starts,
    nRows: kinds ? nRows : 0,
    logFactors: header.factors === true ? blocks.floats("log_factors", nObjects) : null,
    maps,
    mapOrder: numbers(header, "map_order"),
    observed: header.observed === true ? observedOf(blocks, nObjects, maps.length) : null,
    columns,
    features: featuresOf(header, blocks, nObjects),
    color: shown(header.color),
    size: shown(header.size),
    minWeight: finite(header, "min_weight"),
  };
}

function nounOf(header: Fields): [string, string] {
  const noun = texts(header, "noun");
  if (noun.length !== 2) throw damaged("noun");
  return noun as [string, string];
}

function isKernel(value: unknown): value is Model["kernel"] {
  return value === "cauchy" || value === "gaussian" || (typeof value === "number" && value >= 1);
}

function modelOf(header: Fields): Model {
  const model = fields(header, "model");
  const { kernel } = model;
  const kernelWidth = finite(model, "kernel_width");
  if (!isKernel(kernel) || kernelWidth <= 0) throw damaged("model");
  return { kernel, kernelWidth };
}

function mapsOf(header: Fields, blocks: Blocks, nObjects: number, d: number): AtlasMap[] {
  const described = parts(header, "maps");
  const n = described.length;
  if (count(header, "n_maps") !== n) throw damaged("n_maps");
  const nEntries = blocks.lengthOf("objects");
  const offsets = blocks.whole("offsets", n + 1, nEntries + 1);
  if (offsets[0] !== 0 || offsets[n] !== nEntries) throw damaged("offsets");
  const objects = blocks.whole("objects", nEntries, nObjects);
  const proportions = blocks.whole("proportions", nEntries, 65536);
  const weights = n > 1 ? blocks.whole("weights", nEntries, 65536) : proportions;
  const positions = blocks.positions("positions", nEntries * d);
  const order = blocks.whole("order", nEntries, nEntries);
  // A line has its points at a height of 0.
  const axes = d > 2 ? blocks.floats("axes", n * d * 2) : new Float32Array([1, 0]);
  const middles = d > 2 ? blocks.floats("middles", n * d) : new Float32Array(1);
  const regionsOf = regionReader(blocks);
  return described.map((map, number) => {
    const [start, end] = [elementAt(offsets, number), elementAt(offsets, number + 1)];
    if (end < start) throw damaged("offsets");
    const coordinates = coordinatesOf(positions, start, end, nEntries, d, map);
    const at = d > 2 ? number : 0;
    const [axis, middle] = [axes.subarray(at * d * 2), middles.subarray(at * d)];
    const view = numbers(map, "view");
    if (view.length !== 4) throw damaged("view");
    return {
      number,
      objects: ascending(objects.subarray(start, end)),
      proportions: shares(proportions.subarray(start, end)),
      weights: shares(weights.subarray(start, end)),
      coordinates,
      points: d === 2 ? coordinates : drawn(coordinates, d, axis, middle),
      order: permutation(order.subarray(start, end)),
      view: view as AtlasMap["view"],
      title: texts(map, "title"),
      share: finite(map, "share"),
      regions: regionsOf(map, end - start),
      vectors: vectorsOf(map),
    };
  });
}

function vectorsOf(map: Fields): Vector[] {
  return parts(map, "vectors").map((vector) => {
    const from = vector.from && numbers(vector, "from");
    return {
      name: text(vector, "name"),
      x: finite(vector, "x"),
      y: finite(vector, "y"),
      from: from as Vector["from"],
    };
  });
}

/** Reads the regions of one map after the other: their members stand end to end. */
function regionReader(blocks: Blocks): (map: Fields, nEntries: number) => Region[] {
  const members = blocks.whole("region/members", blocks.lengthOf("region/members"), 2 ** 32);
  let end = 0;
  return (map, nEntries) => {
    const regions = parts(map, "regions").map((region): Region => {
      const start = end;
      end += count(region, "size");
      const own = members.subarray(start, end);
      if (end > members.length || own.some((entry) => entry >= nEntries)) throw damaged("regions");
      return {
        name: text(region, "name"),
        words: texts(region, "words"),
        x: finite(region, "x"),
        y: finite(region, "y"),
        members: Uint32Array.from(own),
        hue: count(region, "hue") % 8,
        island: region.island === null ? null : count(region, "island"),
      };
    });
    // The members of an island are those of its parts.
    for (const [number, region] of regions.entries()) {
      const own = regions.filter(({ island }) => island === number);
      if (own.length > 0)
        region.members = Uint32Array.from(own.flatMap((part) => [...part.members]));
    }
    return regions;
  };
}

function shares(packed: Whole): Float32Array {
  return Float32Array.from(packed, (q) => q / 65535);
}

function coordinatesOf(
  positions: Uint16Array | Float32Array,
  start: number,
  end: number,
  nEntries: number,
  d: number,
  map: Fields,
): Float32Array {
  const low = numbers(map, "low");
  const step = numbers(map, "step");
  const packed = positions instanceof Uint16Array;
  if (packed && (low.length !== d || step.length !== d)) throw damaged("step");
  const coordinates = new Float32Array((end - start) * d);
  for (let c = 0; c < d; c++) {
    const [origin, unit] = packed ? [elementAt(low, c), elementAt(step, c)] : [0, 1];
    let to = c;
    for (const position of positions.subarray(c * nEntries + start, c * nEntries + end)) {
      coordinates[to] = origin + unit * position;
      to += d;
    }
  }
  return coordinates;
}

function drawn(
  coordinates: Float32Array,
  d: number,
  axes: Float32Array,
  middle: Float32Array,
): Float32Array {
  const k = coordinates.length / d;
  const points = new Float32Array(k * 2);
  for (let e = 0; e < k; e++) {
    let [x, y] = [0, 0];
    for (let c = 0; c < d; c++) {
      const from = inBounds(coordinates[e * d + c]) - inBounds(middle[c]);
      x += from * inBounds(axes[2 * c]);
      y += from * inBounds(axes[2 * c + 1]);
    }
    points[2 * e] = x;
    points[2 * e + 1] = y;
  }
  return points;
}

function ascending(objects: Whole): Uint32Array {
  if (!objects.every((object, k) => object > (objects[k - 1] ?? -1))) throw damaged("objects");
  return Uint32Array.from(objects);
}

function permutation(order: Whole): Uint32Array {
  const seen = new Uint8Array(order.length);
  for (const entry of order) {
    if (entry >= order.length || seen[entry]) throw damaged("order");
    seen[entry] = 1;
  }
  return Uint32Array.from(order);
}

function columnsOf(header: Fields, blocks: Blocks, nObjects: number): Column[] {
  return parts(header, "columns").map((column, k) => {
    const name = text(column, "name");
    const block = `column/${k}`;
    if (column.type === "category") {
      const categories = texts(column, "categories");
      const codes = Uint16Array.from(blocks.whole(block, nObjects, NO_CATEGORY + 1));
      const isKnown = (code: number) => code < categories.length || code === NO_CATEGORY;
      if (!codes.every(isKnown)) throw damaged(name);
      return { name, type: "category", categories, codes };
    }
    if (column.type === "number") {
      const low = finite(column, "low");
      const high = finite(column, "high");
      return { name, type: "number", low, high, values: blocks.values(block, nObjects) };
    }
    const values = texts(column, "values");
    const { type } = column;
    const isKnown = type === "text" || type === "image";
    if (!isKnown || values.length !== nObjects) throw damaged(name);
    return { name, type, values };
  });
}

function observedOf(blocks: Blocks, nObjects: number, nMaps: number): Observed {
  const n = blocks.lengthOf("data/partners");
  const nSenses = blocks.lengthOf("sense/maps");
  return {
    offsets: rising(blocks.whole("data/offsets", nObjects + 1, n + 1), n),
    partners: Uint32Array.from(blocks.whole("data/partners", n, nObjects)),
    shares: shares(blocks.whole("data/shares", n, 65536)),
    maps: Uint32Array.from(blocks.whole("data/maps", n, nMaps + 1)),
    senses: {
      offsets: rising(blocks.whole("sense/offsets", nObjects + 1, nSenses + 1), nSenses),
      maps: Uint32Array.from(blocks.whole("sense/maps", nSenses, nMaps)),
      shares: blocks.floats("sense/shares", nSenses),
    },
  };
}

/** Where runs start that lie end to end, from 0 to their whole. */
function rising(starts: Whole, whole: number): Uint32Array {
  const isRising = starts.every((start, k) => start >= (starts[k - 1] ?? 0));
  if (!isRising || starts[0] !== 0 || starts.at(-1) !== whole) throw damaged("senses");
  return Uint32Array.from(starts);
}

function featuresOf(header: Fields, blocks: Blocks, nObjects: number): Feature[] {
  return parts(header, "features").map((feature, k) => {
    const block = `feature/${k}`;
    return {
      name: text(feature, "name"),
      weight: finite(feature, "weight"),
      members: Uint32Array.from(blocks.whole(block, blocks.lengthOf(block), nObjects)),
    };
  });
}

/** Reads a part by its name in the header; where the part makes no sense, a message says the name. */
function reader<T>(isFit: (value: unknown) => boolean) {
  return (of: Fields, key: string): T => {
    if (!isFit(of[key])) throw damaged(key);
    return of[key] as T;
  };
}

function listOf<T>(isFit: (item: unknown) => boolean) {
  return reader<T[]>((value) => Array.isArray(value) && value.every(isFit));
}

const isText = (value: unknown) => typeof value === "string";
const isFields = (value: unknown) =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const text = reader<string>(isText);
const texts = listOf<string>(isText);
const finite = reader<number>(Number.isFinite);
const numbers = listOf<number>(Number.isFinite);
const count = reader<number>((value) => Number.isSafeInteger(value) && (value as number) >= 0);
const fields = reader<Fields>(isFields);
const parts = listOf<Fields>(isFields);
