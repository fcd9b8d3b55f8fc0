/** The senses of objects, and the objects nearest to an object in a map. */
import { type Atlas, type AtlasMap, lives } from "./atlas.ts";
import { Strongest } from "./elements.ts";
import { entryOf, mapsOf } from "./entries.ts";
import { recalledBy, sensesOf } from "./observed.ts";

/** A map with a part of the associations of an object, or in which it has weight. */
export interface Sense {
  map: number;
  entry: number;
  weight: number;
  /** The part of the associations; null if no associations of the object are known. */
  share: number | null;
  /** The first of the neighbours, which name it. */
  name: number[];
  /** The associates that are close on the map, the strongest first, or the nearest objects there. */
  neighbors: number[];
}

const NAMED = 3;

interface Options {
  nNeighbors: number;
  minWeight: number;
  /** Whether neighbours are of the object's own kind, if there are two. */
  sameKind?: boolean;
}

/** The senses of an object by their shares, or its maps by their weights, of which one is listed. */
export function senses(atlas: Atlas, object: number, options: Options): Sense[] {
  const { nNeighbors, minWeight, sameKind = false } = options;
  const sense = (map: AtlasMap, share: number | null, neighbors: number[]): Sense => {
    const entry = entryOf(map, object);
    const name = neighbors.slice(0, NAMED);
    return { map: map.number, entry, weight: map.weights[entry], share, name, neighbors };
  };
  const associates = recalledBy(atlas, object);
  if (associates.length > 0) {
    return sensesOf(atlas, object).map(({ map, share }) => {
      const close = associates.filter((other) => other.map === map).slice(0, nNeighbors);
      return sense(
        atlas.maps[map],
        share,
        close.map((other) => other.object),
      );
    });
  }
  return mapsOf(atlas, object)
    .filter(({ weight }, rank) => rank === 0 || lives(weight, minWeight))
    .map(({ map }) => {
      const at = atlas.maps[map];
      return sense(at, null, nearest(atlas, at, entryOf(at, object), nNeighbors, sameKind));
    });
}

/** Neighbours of an object on a map that count as close to it. */
const MOST_CLOSE = 30;

/** The map, among those of the senses of an object, on which another one is close; null without any. */
export function sharedMap(atlas: Atlas, object: number, other: number): number | null {
  const options = { nNeighbors: MOST_CLOSE, minWeight: atlas.minWeight };
  const own = senses(atlas, object, options);
  const theirs = senses(atlas, other, options).filter(({ neighbors }) =>
    neighbors.includes(object),
  );
  const found =
    own.find(({ neighbors }) => neighbors.includes(other)) ??
    own.find(({ map }) => theirs.some((sense) => sense.map === map));
  return found?.map ?? null;
}

/** The nearest objects j of an entry i, ranked with the packed charges c_j by
 *
 *     log c_j + log K(|y_i - y_j|^2 / width^2),   K(d2) = (1 + d2 / a)^-a  or  exp(-d2)
 */
function nearest(
  { model, nComponents: d, kinds, nRows }: Atlas,
  { objects, charges, coordinates }: AtlasMap,
  entry: number,
  count: number,
  sameKind: boolean,
): number[] {
  const { kernel } = model;
  const a = typeof kernel === "number" ? (kernel + 1) / 2 : 1;
  const isRow = objects[entry] < nRows;
  const strongest = new Strongest(count, Number.NEGATIVE_INFINITY);
  for (let e = 0; e < objects.length; e++) {
    if (e === entry || (kinds && (objects[e] < nRows === isRow) !== sameKind)) continue;
    let squared = 0;
    for (let c = 0; c < d; c++)
      squared += (coordinates[e * d + c] - coordinates[entry * d + c]) ** 2;
    squared /= model.kernelWidth ** 2;
    const decay = kernel === "gaussian" ? squared : a * Math.log1p(squared / a);
    strongest.offer(objects[e], charges[e] - decay);
  }
  return strongest.found.map(({ object }) => object);
}
