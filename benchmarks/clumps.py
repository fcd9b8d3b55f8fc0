"""Coincident points: the error of the field in clumps, and t-SNE of data with identical rows.

    python benchmarks/clumps.py field [--points 6000] [--seeds 0 1 2] [--shares 0.25 0.5]
    python benchmarks/clumps.py map [--points 6000] [--seeds 0] [--shares 0 0.1 0.5 0.9]

`field` compares the grid with exact sums on maps of which a share of the points lies within a width
of one another ("none": no such points). Errors are the root mean square over all points relative to
that of the exact forces; momentum is the length of the sum of all forces relative to the sum of
their lengths. Both should be below the tolerance of 0.005.

`map` fits t-SNE (1,000 iterations) to normal data with a share of identical rows, by the grid and
by exact sums, and prints KL and the number of distinct positions of the identical rows.
"""

from __future__ import annotations

import argparse
import warnings
from itertools import product

import numpy as np

from manymaps import TSNE
from manymaps.compute import field
from manymaps.errors import DataWarning

TOLERANCE = 5e-3
WIDTHS = (None, 0.0, 1e-3, 1e-2, 1e-1)


def scattered(n: int, d: int, width: float | None, share: float, seed: int) -> np.ndarray:
    """Draw points (d, n), a share of them within `width` of one another, in any order."""
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(n, d)) * {1: n / 60, 2: np.sqrt(n) / 6, 3: np.cbrt(n) / 8}[d]
    if width is not None:
        members = rng.permutation(n)[: int(share * n)]
        points[members] = rng.normal(size=d) + width * rng.uniform(-0.5, 0.5, (len(members), d))
    return np.ascontiguousarray(points.T, np.float32)


def errors(points: np.ndarray, kernel: str) -> tuple[float, float]:
    """Compute the error of the grid's forces and their net momentum."""
    n = points.shape[1]
    offsets, charges = np.array([0, n]), np.zeros(n, np.float32)
    place = points, offsets, points, offsets, charges, np.arange(n), kernel, TOLERANCE
    exact, fast = (
        force * np.exp(scale) for _, force, scale in (field(*place, e) for e in ("exact", "fft"))
    )
    error = np.sqrt(((fast - exact) ** 2).mean() / (exact**2).mean())
    return error, np.linalg.norm(fast.sum(axis=1)) / np.linalg.norm(exact, axis=0).sum()


def compare_fields(n: int, seeds: list[int], shares: list[float]) -> None:
    print("dimensions  kernel    share  width   error     momentum  (largest of the seeds)")
    for d, kernel, share, width in product((1, 2, 3), ("gaussian", "cauchy"), shares, WIDTHS):
        rows = [errors(scattered(n, d, width, share, seed), kernel) for seed in seeds]
        error, momentum = np.max(rows, axis=0)
        name = "none" if width is None else f"{width:g}"
        print(f"{d:<11} {kernel:<9} {share:<6g} {name:<7} {error:<9.5f} {momentum:.5f}")


def compare_maps(n: int, seeds: list[int], shares: list[float]) -> None:
    print("share  seed  KL, grid  KL, exact  difference  distinct, grid  distinct, exact")
    for share in shares:
        for seed in seeds:
            X = np.random.default_rng(seed).normal(size=(n, 6))
            copies = int(share * n)
            X[:copies] = 0
            fits = [
                TSNE(random_state=seed, max_iter=1000, tolerance=tolerance).fit(X)
                for tolerance in (TOLERANCE, 0)
            ]
            grid, exact = (fit.kl_divergence_ for fit in fits)
            distinct = [len(np.unique(fit.embedding_[:copies], axis=0)) for fit in fits]
            print(
                f"{share:<6g} {seed:<5} {grid:<9.4f} {exact:<10.4f} {grid / exact - 1:<+11.2%} "
                f"{distinct[0]:<15} {distinct[1]}"
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("what", choices=["field", "map"])
    parser.add_argument("--points", type=int, default=6000)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--shares", type=float, nargs="+", default=[0, 0.1, 0.5, 0.9])
    asked = parser.parse_args()
    warnings.simplefilter("ignore", DataWarning)  # identical rows have no perplexity of 30
    if asked.what == "field":
        compare_fields(asked.points, asked.seeds, asked.shares)
    else:
        compare_maps(asked.points, asked.seeds, asked.shares)


if __name__ == "__main__":
    main()
