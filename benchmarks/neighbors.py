"""Searches for neighbours: the fastest at a recall, and the recall and number that maps need.

    python benchmarks/neighbors.py search [--size 100000] [--recalls 0.9 0.95 0.99]
    python benchmarks/neighbors.py map [--size 60000] [--seeds 0] [--data mnist clusters]

`search` finds 90 neighbours of every point by each method, on points about a hundred centres and on
MNIST in 50 components (`benchmarks/tsne.py`), with the least effort that reaches the recall on 500
points. Searches of other libraries are timed on 20,000 points and scaled to all points.

    effort     number of inverted lists that are probed, or extent of a graph walk (efSearch)
    build      seconds until the index is built; for manymaps, of the whole search
    search     seconds for all points
    recall     as measured on the 500 points

`map` fits t-SNE (750 iterations) to neighbours of lower recall, to fewer of them, and to fewer with
equal weights. KL is that of the map against P of exact neighbours at perplexity 30. "nearest" is
the share of the ten true nearest neighbours of a point that are among its ten nearest in the map.

The benchmark runs on two threads, with MNIST from MANYMAPS_DATA.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from tsne import DIMENSIONS, NEIGHBORS, PERPLEXITY, clusters, mnist

from manymaps.affinity.affinities import GaussianAffinity
from manymaps.affinity.neighbors import NeighborGraph, NeighborSearch, nearest_neighbors
from manymaps.compute.threads import threads

THREADS, SAMPLE, TIMED = 2, 500, 20_000
Search = Callable[[np.ndarray, int], np.ndarray]


def points_of(name: str, size: int) -> np.ndarray:
    """Read or draw shuffled points, float32."""
    points = mnist(size) if name == "mnist" else clusters()
    order = np.random.default_rng(0).permutation(len(points))[:size]
    return np.ascontiguousarray(points[order], np.float32)


# --- which search ---------------------------------------------------------------------------------


def lists(points: np.ndarray, kind: str) -> Search:
    """Search inverted lists of vectors, unchanged, in half precision, in 8 or in 4 bits."""
    import faiss

    n, d = points.shape
    n_lists, flat = int(4 * n**0.5), faiss.IndexFlatL2(d)
    if kind == "flat":
        index = faiss.IndexIVFFlat(flat, d, n_lists)
    elif kind == "fast scan":
        index = faiss.IndexIVFPQFastScan(flat, d, n_lists, d // 2, 4)
    else:
        bits = {"fp16": faiss.ScalarQuantizer.QT_fp16, "8 bit": faiss.ScalarQuantizer.QT_8bit}
        index = faiss.IndexIVFScalarQuantizer(flat, d, n_lists, bits[kind])
    index.cp.min_points_per_centroid, index.cp.max_points_per_centroid = 1, 64
    whole = index
    if kind in ("8 bit", "fast scan"):
        whole = faiss.IndexRefineFlat(index)
        whole.k_factor = 2 if kind == "8 bit" else 6
    whole.train(points)
    whole.add(points)

    def search(rows: np.ndarray, effort: int) -> np.ndarray:
        index.nprobe = effort
        return np.asarray(whole.search(points[rows], NEIGHBORS + 1)[1])

    return search


def graph(points: np.ndarray, kind: str) -> Search:
    """Search a graph that is walked towards the query: HNSW, or NSG from descent."""
    import faiss

    if kind == "HNSW":
        index = faiss.IndexHNSWFlat(DIMENSIONS, 24)
        walked = index.hnsw
    else:
        index = faiss.IndexNSGFlat(DIMENSIONS, 32)
        index.build_type = 1
        walked = index.nsg
    index.add(points)

    def search(rows: np.ndarray, effort: int) -> np.ndarray:
        name = "efSearch" if kind == "HNSW" else "search_L"
        setattr(walked, name, NEIGHBORS + effort)
        return np.asarray(index.search(points[rows], NEIGHBORS + 1)[1])

    return search


METHODS: dict[str, Callable[[np.ndarray], Search]] = {
    "lists": lambda points: lists(points, "flat"),
    "lists, fp16": lambda points: lists(points, "fp16"),
    "lists, 8 bit, refined": lambda points: lists(points, "8 bit"),
    "lists, PQ 4 bit fast scan, refined": lambda points: lists(points, "fast scan"),
    "HNSW": lambda points: graph(points, "HNSW"),
    "NSG": lambda points: graph(points, "NSG"),
}


def shared(found: np.ndarray, truth: np.ndarray) -> float:
    """Compute the share of the true neighbours, by index, that were found."""
    pairs = zip(found, truth, strict=True)
    return float(np.mean([np.isin(right, some).mean() for some, right in pairs]))


def least_effort(search: Search, rows: np.ndarray, truth: np.ndarray, recall: float) -> int:
    """Find the least effort, within a quarter, that reaches the recall; 0 if none does."""
    effort = 1
    while effort < len(truth) * 16:
        if shared(search(rows, effort), truth) >= recall:
            return effort
        effort += -(-effort // 4)
    return 0


def compare_searches(name: str, size: int, recalls: list[float], methods: list[str]) -> None:
    """Print one table."""
    points = points_of(name, size)
    rows = np.sort(np.random.default_rng(1).choice(size, SAMPLE, replace=False))
    truth = nearest_neighbors(
        points, NEIGHBORS + 1, queries=points[rows], search=NeighborSearch("exact")
    ).indices
    timed = np.arange(0, size, max(1, size // TIMED))
    print(f"\n{name}, {size:,} points")
    print(f"{'method':36}{'effort':>7}{'build':>8}{'search':>8}{'recall':>8}")
    for recall in recalls:
        start = time.perf_counter()
        found = nearest_neighbors(points, NEIGHBORS, search=NeighborSearch("faiss", recall))
        took = time.perf_counter() - start
        line(f"manymaps, {recall:g}", None, took, 0.0, found.recall)
    for method in methods:
        start = time.perf_counter()
        search = METHODS[method](points)
        built = time.perf_counter() - start
        for recall in recalls:
            effort = least_effort(search, rows, truth, recall)
            if effort == 0:
                line(f"{method}, {recall:g}", None, built, 0.0, shared(search(rows, 1), truth))
                break
            start = time.perf_counter()
            search(timed, effort)
            took = (time.perf_counter() - start) * size / len(timed)
            line(f"{method}, {recall:g}", effort, built, took, shared(search(rows, effort), truth))


def line(method: str, effort: int | None, built: float, took: float, recall: float) -> None:
    """Print one row."""
    shown = "" if effort is None else effort
    print(f"{method:36}{shown:>7}{built:8.1f}{took:8.1f}{recall:8.3f}", flush=True)


# --- which recall ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Trial:
    """The neighbours to which a map is fitted."""

    name: str
    perplexity: float
    k: int
    recall: float


def trials() -> Iterator[Trial]:
    """Yield trials with lower recall, fewer neighbours, or equal weights."""
    for recall in (0.5, 0.7, 0.8, 0.9, 0.95, 0.99, 1.0):
        yield Trial("recall", PERPLEXITY, NEIGHBORS, recall)
    for perplexity in (15, 5):
        yield Trial("smaller perplexity", perplexity, 3 * perplexity, 0.95)
    for k in (90, 45, 15):
        yield Trial("equal weights", k, k, 0.95)


def compare_maps(name: str, size: int, seeds: list[int], only: list[float]) -> None:
    """Print one table with a row per trial, means over seeds."""
    from manymaps import TSNE
    from manymaps.model import T_SNE
    from manymaps.model.objective import Objective
    from manymaps.model.parameters import Parameters
    from manymaps.model.target import joint_target

    points = points_of(name, size)
    exact = nearest_neighbors(points, NEIGHBORS, search=NeighborSearch("exact"))
    target = joint_target(GaussianAffinity(PERPLEXITY).similarities(exact))
    objective = Objective(target, T_SNE, tolerance=1e-3)
    print(f"\n{name}, {size:,} points")
    print(
        f"{'fitted to':22}{'perplexity':>11}{'k':>4}{'recall':>8}{'seed':>6}{'KL':>9}{'nearest':>9}"
    )
    for trial in trials():
        if only and (trial.name != "recall" or trial.recall not in only):
            continue
        for seed in seeds:
            found = exact
            if trial.recall < 1:
                search = NeighborSearch("faiss", trial.recall)
                found = nearest_neighbors(points, trial.k, search=search, seed=seed)
            affinity = GaussianAffinity(trial.perplexity, n_neighbors=trial.k)
            rows = affinity.similarities(found)
            start = np.asarray(points[:, :2] / points[:, 0].std() * 1e-4, np.float32)
            start = start + np.random.default_rng(seed).normal(0, 1e-5, start.shape)
            fit = TSNE(affinity="precomputed", init=start, random_state=seed, n_jobs=THREADS)
            places = fit.fit(rows).embedding_
            centred = (places - places.mean(axis=0)).astype(np.float32)
            weights = np.zeros((1, size), np.float32)
            kl = objective.evaluate(Parameters((centred[None],), (weights,))).kl
            print(
                f"{trial.name:22}{trial.perplexity:11g}{trial.k:4}{found.recall:8.3f}{seed:6}"
                f"{kl:9.4f}{nearest_kept(places, exact):9.4f}",
                flush=True,
            )


def nearest_kept(places: np.ndarray, exact: NeighborGraph) -> float:
    """Compute the share of the ten nearest neighbours that are near in the map."""
    found = nearest_neighbors(places, 10, search=NeighborSearch("exact"))
    return shared(found.indices, exact.indices[:, :10])


def main() -> None:
    """Read the arguments and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["search", "map"])
    parser.add_argument("--size", type=int)
    parser.add_argument("--data", nargs="+", default=["mnist", "clusters"])
    parser.add_argument("--recalls", nargs="+", type=float, default=[])
    parser.add_argument("--methods", nargs="*", default=list(METHODS))
    parser.add_argument("--seeds", nargs="+", type=int, default=[0])
    given: Any = parser.parse_args()
    for name in given.data:
        with threads(THREADS):
            if given.what == "search":
                recalls = given.recalls or [0.9, 0.95, 0.99]
                compare_searches(name, given.size or 100_000, recalls, given.methods)
            else:
                compare_maps(name, given.size or 60_000, given.seeds, given.recalls)


if __name__ == "__main__":
    main()
