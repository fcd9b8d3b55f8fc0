"""Neighbours that a map of landmarks with inserted points preserves, next to a fit of all points.

    python benchmarks/landmarks.py [--points 20000] [--landmarks 2000] [--queries 2000]
        [--vectors FILE.npy] [--seed 0]

The points are 60 groups of unequal size and spread on a plane of ten dimensions, or rows of an NPY
file in random order. A map of the landmarks is fitted, and `transform` inserts the other points,
with its defaults and with `Refinement(landmarks=True)`. The seconds are processor time. The columns
list the mean share of the 10 (or 100) nearest neighbours in the data that are among the 10 (100)
nearest neighbours in the map. The neighbours are searched among all points. All rows use the same
landmarks and inserted points. If openTSNE is installed, its `transform` inserts the same points
with its defaults, into its own map of the landmarks. The baselines keep the landmarks and move each
inserted point to its nearest landmark, to the mean of its five nearest landmarks, or to a random
position in the range of the map.
"""

from __future__ import annotations

import argparse
import importlib.util
import time

import numpy as np

import manymaps as mm

NEIGHBORS = (10, 100)


def make_points(n: int, seed: int) -> np.ndarray:
    """Draw points around 60 centres on a plane of ten dimensions."""
    rng = np.random.default_rng(seed)
    centers = rng.normal(0, 2, (60, 10))
    spread = rng.uniform(0.5, 1.5, 60)
    group = rng.choice(60, n, p=rng.dirichlet(np.full(60, 2.0)))
    hidden = centers[group] + spread[group, None] * rng.normal(size=(n, 10))
    plane = rng.normal(size=(10, 50)) / np.sqrt(10)
    return (hidden @ plane + rng.normal(0, 0.1, (n, 50))).astype(np.float32)


def neighbors(points: np.ndarray, queries: np.ndarray) -> np.ndarray:
    """List the nearest other points of some points."""
    most, exact = max(NEIGHBORS), mm.NeighborSearch("exact")
    near = mm.nearest_neighbors(points, most + 1, queries=points[queries], search=exact)
    rows = zip(near.indices, queries, strict=True)
    return np.array([row[row != query][:most] for row, query in rows])


def preserved(places: np.ndarray, queries: np.ndarray, expected: np.ndarray) -> list[float]:
    """Compute the mean shares of preserved neighbours, one for each number of neighbours."""
    found = neighbors(places, queries)
    pairs = list(zip(expected, found, strict=True))
    return [
        float(np.mean([np.isin(row[:k], other[:k]).mean() for row, other in pairs]))
        for k in NEIGHBORS
    ]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--points", type=int, default=20_000)
    parser.add_argument("--landmarks", type=int, default=2_000)
    parser.add_argument(
        "--queries", type=int, default=2_000, help="number of points of each kind that are measured"
    )
    parser.add_argument("--vectors", help="NPY file of the points")
    parser.add_argument("--seed", type=int, default=0, help="of the landmarks and of all maps")
    asked = parser.parse_args()
    n, k, seed = asked.points, asked.landmarks, asked.seed
    if asked.vectors:
        points = np.random.default_rng(seed).permutation(np.load(asked.vectors))[:n]
    else:
        points = make_points(n, seed)  # in random order
    mm.TSNE(perplexity=5, max_iter=20).fit(points[:100]).transform(points[100:110])  # compiles
    kinds = [np.arange(min(k, asked.queries)), np.arange(k, min(n, k + asked.queries))]
    expected = [neighbors(points, queries) for queries in kinds]

    def report(name: str, seconds: float | None, places: np.ndarray) -> None:
        pairs = zip(kinds, expected, strict=True)
        shares = [f"{share:.3f}" for pair in pairs for share in preserved(places, *pair)]
        timing = "" if seconds is None else f"{seconds:.1f}"
        print("|", " | ".join([name, timing, *shares]), "|", flush=True)

    kind = [f"{kind}, {size}" for kind in ("landmarks", "inserted") for size in NEIGHBORS]
    print("|", " | ".join(["map", "seconds", *kind]), "|")
    print("|---|---|---|---|---|---|")
    fit = mm.TSNE(random_state=seed).fit(points[:k])
    fitted = fit.embedding_
    for name, refine in ("default", None), ("landmarks", mm.Refinement(landmarks=True)):
        begin = time.process_time()
        inserted = fit.transform(points[k:], refine=refine)
        seconds = time.process_time() - begin
        report(f"{n - k:,} inserted, {name}", seconds, np.concatenate([fitted, inserted]))
    nearest = mm.nearest_neighbors(points[:k], 5, queries=points[k:]).indices
    report("nearest landmark", None, np.concatenate([fitted, fitted[nearest[:, 0]]]))
    mean = fitted[nearest].mean(axis=1)
    report("mean of 5 nearest landmarks", None, np.concatenate([fitted, mean]))
    rng = np.random.default_rng(seed + 1)
    anywhere = rng.uniform(fitted.min(axis=0), fitted.max(axis=0), (n - k, 2))
    report("random position", None, np.concatenate([fitted, anywhere]))
    if importlib.util.find_spec("openTSNE"):
        import openTSNE

        rival = openTSNE.TSNE(n_jobs=2, random_state=seed).fit(points[:k])
        begin = time.process_time()
        inserted = rival.transform(points[k:])
        seconds = time.process_time() - begin
        report(f"{n - k:,} inserted, openTSNE", seconds, np.concatenate([rival, inserted]))
    begin = time.process_time()
    everything = mm.TSNE(random_state=seed).fit(points).embedding_
    report(f"fit of all {n:,}", time.process_time() - begin, everything)


if __name__ == "__main__":
    main()
