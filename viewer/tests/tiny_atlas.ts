/** A small atlas of one map for tests of drawing. */
import type { Atlas, AtlasMap, Column } from "../src/data/atlas.ts";
import { coloringBy, sizing } from "../src/scene/coloring.ts";
import type { Measure } from "../src/scene/lettering.ts";
import { PAGE_TYPE } from "../src/scene/lettering.ts";
import type { Look } from "../src/scene/scene.ts";

/** Every character is 0.6 em wide. */
export const measure: Measure = (text, { size }) => 0.6 * size * text.length;

interface Parts {
  labels: string[];
  points: number[];
  proportions?: number[];
  /** The proportions by default. */
  weights?: number[];
  columns?: Column[];
  kinds?: string[];
  nRows?: number;
  /** Where kinds start; two kinds by default. */
  starts?: number[];
}

interface TinyAtlas extends Atlas {
  maps: [AtlasMap];
}

function least(values: Float32Array): number {
  return values.reduce((low, value) => Math.min(low, value), Number.POSITIVE_INFINITY);
}

/** An atlas whose only map has all objects, the first one the most important. */
export function tinyAtlas(parts: Parts): TinyAtlas {
  const { labels, columns = [], kinds = null, nRows = 0 } = parts;
  const n = labels.length;
  const points = Float32Array.from(parts.points);
  const xs = points.filter((_, i) => i % 2 === 0);
  const proportions = Float32Array.from(parts.proportions ?? labels.map(() => 1));
  const ys = points.filter((_, i) => i % 2 === 1);
  const map: AtlasMap = {
    number: 0,
    objects: Uint32Array.from({ length: n }, (_, i) => i),
    proportions,
    weights: Float32Array.from(parts.weights ?? proportions),
    coordinates: points,
    points,
    order: Uint32Array.from({ length: n }, (_, i) => i),
    view: [least(xs), least(ys), -least(xs.map((x) => -x)), -least(ys.map((y) => -y))],
    title: labels.slice(0, 1),
    share: 1,
    regions: [],
    vectors: [],
  };
  return {
    title: "tiny",
    description: "",
    source: "",
    credit: "",
    date: "",
    noun: ["object", "objects"],
    isNumbered: false,
    method: "multiple maps t-SNE",
    examples: [],
    labels,
    nObjects: n,
    nMaps: 1,
    nComponents: 2,
    model: { kernel: "cauchy", kernelWidth: 1 },
    kinds,
    starts: Uint32Array.from(parts.starts ?? (kinds ? [0, nRows, n] : [0, n])),
    nRows,
    logFactors: null,
    maps: [map],
    mapOrder: [0],
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
