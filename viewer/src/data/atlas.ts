/** The contents of an atlas; maps, objects and the entries of a map are numbered from 0. */

export interface Model {
  /** A number is the degrees of freedom of Student's kernel. */
  kernel: "cauchy" | "gaussian" | number;
  kernelWidth: number;
}

/** A fitted variable: the tip of an arrow and where it starts, or a centroid, which has no start. */
export interface Vector {
  name: string;
  x: number;
  y: number;
  from: [number, number] | null;
}

/** One map: its entries are the objects that live in it, k of them. */
export interface AtlasMap {
  number: number;
  /** Object of each entry, ascending. */
  objects: Uint32Array;
  /** Logarithm of the charge of each entry, which ranks neighbours (`nearest.ts`). */
  charges: Float32Array;
  /** The map weight of each entry's object, in (0, 1]. Pictures and lists use it. */
  weights: Float32Array;
  /** Coordinates in map units, entry by entry: k * nComponents. Distances of the model are taken here. */
  coordinates: Float32Array;
  /** The points that are drawn, k * 2: x, y of each entry, y upwards. */
  points: Float32Array;
  /** Entries in order of importance, the most important first. */
  order: Uint32Array;
  /** The box shown at first: left, bottom, right, top in map units. */
  view: [number, number, number, number];
  /** Names of the largest islands, which together name the map; labels or categories without any. */
  title: string[];
  /** Share of the spread that the two drawn dimensions hold, 1 for flat maps. */
  share: number;
  /** Parts of the map that have names, those of most objects first. */
  regions: Region[];
  vectors: Vector[];
}

/** A part of a map: a category that is at home there, a feature, or a group of neighbours. */
export interface Region {
  /** The category or the feature; "" for a group of neighbours. */
  name: string;
  /** Labels from which the members may be guessed; none where labels only number the objects. */
  words: string[];
  /** Where the members are densest, in map units. */
  x: number;
  y: number;
  members: Uint32Array;
  hue: number;
  /** The number of the region of which it is a part; null for an island. */
  island: number | null;
}

export interface CategoryColumn {
  name: string;
  type: "category";
  categories: string[];
  /** Category of each object, NO_CATEGORY where it has none. */
  codes: Uint16Array;
}

export interface NumberColumn {
  name: string;
  type: "number";
  /** Ends of the colour scale; values beyond them take the colour of the end. */
  low: number;
  high: number;
  values: Float32Array | Float64Array;
}

/** Texts, or pictures as data URIs; "" where an object has none. */
interface TextColumn {
  name: string;
  type: "text" | "image";
  values: string[];
}

export type Column = CategoryColumn | NumberColumn | TextColumn;

export const NO_CATEGORY = 65535;

/** Whether a map weight reaches a threshold; it comes rounded to 16 bits. */
export function lives(weight: number, threshold: number): boolean {
  return weight >= threshold - 1 / 131070;
}

/** A feature of additive clustering: a weight and the objects that have it. */
export interface Feature {
  name: string;
  weight: number;
  members: Uint32Array;
}

/** The senses of all objects, which are maps, and the observed associates of each. */
export interface Observed {
  /** The associates of object i: offsets[i] to offsets[i + 1], the strongest first. */
  offsets: Uint32Array;
  partners: Uint32Array;
  /** Parts of all that was observed of the object. */
  shares: Float32Array;
  /** The map on which each is close to the object; the number of maps where it is close on none. */
  maps: Uint32Array;
  senses: {
    /** The senses of object i: offsets[i] to offsets[i + 1], the largest share first. */
    offsets: Uint32Array;
    maps: Uint32Array;
    /** The parts of the object's associations that belong to the maps. */
    shares: Float32Array;
  };
}

export interface Atlas {
  title: string;
  /** Description, source, credit and date; "" if they are missing. */
  description: string;
  source: string;
  credit: string;
  date: string;
  method: string;
  noun: [string, string];
  examples: number[];
  labels: string[];
  /** Whether the labels of each kind only number its objects. */
  numbered: readonly boolean[];
  nObjects: number;
  nMaps: number;
  nComponents: number;
  model: Model;
  /** The names of the kinds of object, the last one for the columns; null for a single kind. */
  kinds: string[] | null;
  /** Where the objects of each kind start, and where the last ones end. */
  starts: Uint32Array;
  /** How many objects are not of the last kind. */
  nRows: number;
  maps: AtlasMap[];
  /** Numbers of the maps, similar ones side by side. */
  mapOrder: number[];
  /** Where it is known what objects recall. */
  observed: Observed | null;
  columns: Column[];
  features: Feature[];
  color: string | null;
  size: string | null;
  minWeight: number;
}

/** The number of an object's kind, 0 where all are of one kind. */
function kindNumber({ starts }: Atlas, object: number): number {
  return starts.findIndex((start) => start > object) - 1;
}

/** The name of an object's kind; null where all are of one kind. */
export function kindOf(atlas: Atlas, object: number): string | null {
  return atlas.kinds?.[kindNumber(atlas, object)] ?? null;
}

/** Whether an object of several kinds has no name of its own, but a number. */
export function isUnnamed(atlas: Atlas, object: number): boolean {
  return atlas.kinds !== null && atlas.numbered[kindNumber(atlas, object)];
}
