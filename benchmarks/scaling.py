"""Time per iteration against objects and against maps, and how many exact pairs a second.

    python benchmarks/scaling.py [--objects 1000 10000 100000 1000000] [--maps 1 3 10 30 100]

Synthetic associations: each object has 15 associates among its 60 neighbours in a hidden line of
topics. The time is that of iterations 60 to 80 of a usual fit. The slope is that of log time
against log size; 1 is linear.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from scipy import sparse

import manymaps as mm
from manymaps.compute import field

ASSOCIATES, REACH = 15, 60
FIRST, LAST = 60, 80


def synthetic(n: int, seed: int = 0) -> mm.Associations:
    """n objects with 15 associates each."""
    generator = np.random.default_rng(seed)
    offsets = np.concatenate([np.arange(-REACH // 2, 0), np.arange(1, REACH // 2 + 1)])
    columns = (
        np.arange(n)[:, None] + generator.permuted(np.tile(offsets, (n, 1)), axis=1)[:, :ASSOCIATES]
    ) % n
    order = generator.permutation(n)
    rows = np.repeat(np.arange(n), ASSOCIATES)
    values = generator.random(n * ASSOCIATES) + 0.1
    table = sparse.csr_array((values, (order[rows], order[columns.ravel()])), shape=(n, n))
    return mm.Associations([str(i) for i in range(n)], table)


def milliseconds(associations: mm.Associations, n_maps: int) -> float:
    """Milliseconds per iteration."""
    marks = []

    def watch(iteration: int, cost: float, atlas: object) -> bool:
        if iteration in (FIRST, LAST):
            marks.append(time.perf_counter())
        return iteration == LAST

    estimator = mm.MultipleMapsTSNE(n_maps, random_state=0, callback=watch)
    estimator.fit(associations)
    return (marks[1] - marks[0]) / (LAST - FIRST) * 1e3


def slope(sizes: list[int], times: list[float]) -> float:
    """Slope of log time against log size."""
    return float(np.polyfit(np.log(sizes), np.log(times), 1)[0])


def pairs_per_second(kernel: str, n: int = 5000) -> float:
    """Billions of exact pairs a second, the best of ten."""
    generator = np.random.default_rng(0)
    points = generator.normal(0, 3, (2, n)).astype(np.float32)
    offsets, charges = np.array([0, n]), np.zeros(n, np.float32)
    best = np.inf
    for _ in range(11):
        start = time.perf_counter()
        field(points, offsets, points, offsets, charges, np.arange(n), kernel, 0.0, "exact")
        best = min(best, time.perf_counter() - start)
    return n * n / best / 1e9


def main() -> None:
    """Print the two tables and the two rates."""
    parser = argparse.ArgumentParser(description="Measure how the cost of an iteration grows.")
    parser.add_argument(
        "--objects", type=int, nargs="+", default=[1000, 10_000, 100_000, 1_000_000], metavar="N"
    )
    parser.add_argument("--maps", type=int, nargs="+", default=[1, 3, 10, 30, 100], metavar="M")
    arguments = parser.parse_args()
    for kernel in ("cauchy", "gaussian"):
        print(f"exact sums, {kernel}: {pairs_per_second(kernel):.1f} billion pairs a second")
    milliseconds(synthetic(500), 2)
    print("\nobjects (5 maps)  ms per iteration  us per object")
    times = []
    for n in arguments.objects:
        times.append(milliseconds(synthetic(n), 5))
        print(f"{n:16d}  {times[-1]:16.1f}  {times[-1] / n * 1e3:13.2f}", flush=True)
    print(f"slope {slope(arguments.objects, times):.2f}")
    print("\nmaps (5,000 objects)  ms per iteration  ms per map")
    times, words = [], synthetic(5000)
    for n_maps in arguments.maps:
        times.append(milliseconds(words, n_maps))
        print(f"{n_maps:20d}  {times[-1]:16.1f}  {times[-1] / n_maps:10.2f}", flush=True)
    print(f"slope {slope(arguments.maps, times):.2f}")


if __name__ == "__main__":
    main()
