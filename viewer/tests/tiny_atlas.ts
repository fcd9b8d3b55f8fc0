/** Small atlases for tests. */
import type { Atlas, AtlasMap, Column } from "../src/data/atlas.ts";
import { coloringBy, sizing } from "../src/scene/coloring.ts";
import type { Measure } from "../src/scene/lettering.ts";
import { PAGE_TYPE } from "../src/scene/lettering.ts";
import type { Look } from "../src/scene/scene.ts";

/** Every character is 0.6 em wide. */
export const measure: Measure = (text, { size }) => 0.6 * size * text.length;

interface Parts {
  labels: string[];
  /** x, y of each object, in each of several maps or in one. */
  points: number[] | number[][];
  /** Map weights, 1 by default; objects of weight 0 are not in a map. */
  weights?: number[] | number[][];
  /** Charges, the weights by default. */
  charges?: number[];
  columns?: Column[];
  kinds?: string[];
  nRows?: number;
  /** Where kinds start; two kinds by default. */
  starts?: number[];
}

interface TinyAtlas extends Atlas {
  maps: [AtlasMap, ...AtlasMap[]];
}

const severally = (values: number[] | number[][]) =>
  (Array.isArray(values[0]) ? values : [values]) as number[][];

/** A small atlas; in each of its maps the first object is the most important. */
export function tinyAtlas(parts: Parts): TinyAtlas {
  const { labels, columns = [], kinds = null, nRows = 0 } = parts;
  const n = labels.length;
  const maps = severally(parts.points).map((points, number): AtlasMap => {
    const all = parts.weights ? severally(parts.weights)[number] : labels.map(() => 1);
    const objects = [...labels.keys()].filter((object) => all[object] > 0);
    const weights = Float32Array.from(objects, (object) => all[object]);
    const of = (c: number) => objects.map((object) => points[2 * object + c]);
    const coordinates = Float32Array.from(
      objects.flatMap((i) => [points[2 * i], points[2 * i + 1]]),
    );
    return {
      number,
      objects: Uint32Array.from(objects),
      charges: parts.charges ? Float32Array.from(parts.charges, Math.log) : weights.map(Math.log),
      weights,
      coordinates,
      points: coordinates,
      order: Uint32Array.from(objects.keys()),
      view: [Math.min(...of(0)), Math.min(...of(1)), Math.max(...of(0)), Math.max(...of(1))],
      title: labels.slice(0, 1),
      share: 1,
      regions: [],
      vectors: [],
    };
  });
  return {
    title: "tiny",
    description: "",
    source: "",
    credit: "",
    date: "",
    noun: ["object", "objects"],
    numbered: [false, false],
    method: "multiple maps t-SNE",
    examples: [],
    labels,
    nObjects: n,
    nMaps: maps.length,
    nComponents: 2,
    model: { kernel: "cauchy", kernelWidth: 1 },
    kinds,
    starts: Uint32Array.from(parts.starts ?? (kinds ? [0, nRows, n] : [0, n])),
    nRows,
    maps: maps as TinyAtlas["maps"],
    mapOrder: [...maps.keys()],
    observed: null,
    columns,
    features: [],
    color: null,
    size: null,
    minWeight: 0.1,
  };
}

/** The look that a page begins with, or a change of it. */
export function plainLook(atlas: Atlas, part: Partial<Look> = {}): Look {
  return {
    atlas,
    theme: "light",
    coloring: coloringBy(atlas, null, "light"),
    sizes: sizing(atlas, null),
    threshold: 0.1,
    passed: null,
    type: PAGE_TYPE,
    ...part,
  };
}
