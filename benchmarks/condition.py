"""Maps without a known factor, next to maps of data whose labels were centred.

    python benchmarks/condition.py [--seeds 5] [--strengths 0 0.5 0.7 0.9]

Each data set has a known factor (the label) and another factor that the map should show.

    planted     600 points in 20 dimensions: 3 labels and 4 other groups on different axes
    cells       700 blood cells of 10 types (pbmc68k_reduced of scanpy, 50 principal components) in
                two batches, one of which was shifted by 15 units in a random direction

In the variants "mixed", the proportions of the other groups depend on the label. In the variant
"uneven", the shift of a batch also differs by the type of the cell, by a third of its length.

For each fit, a line lists averages over seeds of three shares of the ten nearest neighbours in the
map: those with the same label (chance in parentheses), those with the same other group, and those
of another label with the same other group. "Neighbours only" is a strength of 0. In "factors only",
the neighbours are those of the plain fit, as in conditional t-SNE (Kang et al. 2021).

Requires scanpy for the cells.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

import manymaps as mm

NEIGHBORS = 10
SHIFT = 15.0


class Data(NamedTuple):
    """Rows with the known label and the other group of each row."""

    rows: np.ndarray
    labels: np.ndarray
    groups: np.ndarray


def planted(rng: np.random.Generator, mixed: bool) -> Data:
    """Draw points with two factors on different axes."""
    labels = rng.integers(3, size=600)
    shares = rng.dirichlet(np.ones(4), 3) if mixed else np.full((3, 4), 0.25)
    groups = np.array([rng.choice(4, p=shares[label]) for label in labels])
    rows = rng.normal(0, 0.5, (600, 20))
    rows[:, :5] += rng.normal(0, 6 / 5**0.5, (3, 5))[labels]
    rows[:, 5:10] += rng.normal(0, 3 / 5**0.5, (4, 5))[groups]
    return Data(rows, labels, groups)


def cells(rng: np.random.Generator, mixed: bool, uneven: bool) -> Data:
    """Divide blood cells into two batches and shift one of them."""
    import scanpy

    adata = scanpy.datasets.pbmc68k_reduced()
    groups = np.unique(np.asarray(adata.obs["bulk_labels"].astype(str)), return_inverse=True)[1]
    rows = adata.obsm["X_pca"].astype(np.float64)
    shares = rng.choice([0.15, 0.85], 10) if mixed else np.full(10, 0.5)
    labels = (rng.random(len(rows)) < shares[groups]).astype(int)
    shifts = np.tile(directions(rng, 1, rows.shape[1]), (10, 1))
    if uneven:
        shifts = shifts + directions(rng, 10, rows.shape[1]) / 3
    rows[labels == 1] += SHIFT * shifts[groups[labels == 1]]
    return Data(rows, labels, groups)


def directions(rng: np.random.Generator, n: int, d: int) -> np.ndarray:
    """Draw unit vectors."""
    vectors = rng.normal(size=(n, d))
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def centred(data: Data) -> np.ndarray:
    """Subtract the mean of each label."""
    means = np.array(
        [data.rows[data.labels == label].mean(axis=0) for label in np.unique(data.labels)]
    )
    return data.rows - means[data.labels]


def shares(positions: np.ndarray, data: Data) -> list[float]:
    """Measure the three shares of the nearest neighbours."""
    squares = ((positions[:, None] - positions) ** 2).sum(axis=2)
    np.fill_diagonal(squares, np.inf)
    near = np.argsort(squares, axis=1)[:, :NEIGHBORS]
    same = data.labels[:, None] == data.labels
    across = np.argsort(np.where(same, np.inf, squares), axis=1)[:, :NEIGHBORS]
    labels, groups = data.labels, data.groups
    return [
        float((labels[near] == labels[:, None]).mean()),
        float((groups[near] == groups[:, None]).mean()),
        float((groups[across] == groups[:, None]).mean()),
    ]


def fits(data: Data, seed: int, strengths: list[float]) -> Iterator[tuple[str, np.ndarray]]:
    """Yield the name and the positions of each fit."""

    def fitted(rows: object, strength: float | None = None) -> np.ndarray:
        known = {} if strength is None else {"condition": data.labels}
        if strength is not None:
            known["condition_strength"] = strength
        return mm.TSNE(random_state=seed).fit(rows, **known).embedding_

    yield "t-SNE", fitted(data.rows)
    yield "labels centred", fitted(centred(data))
    yield "factors only, 0.9", fitted(mm.nearest_neighbors(data.rows, 90), 0.9)
    for strength in strengths:
        name = f"condition, {strength:g}" if strength else "neighbours only"
        yield name, fitted(data.rows, strength)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--strengths", type=float, nargs="+", default=[0, 0.5, 0.7, 0.9])
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    sources: dict[str, Callable[[np.random.Generator], Data]] = {
        "planted": lambda rng: planted(rng, mixed=False),
        "planted, mixed": lambda rng: planted(rng, mixed=True),
        "cells": lambda rng: cells(rng, mixed=False, uneven=False),
        "cells, mixed": lambda rng: cells(rng, mixed=True, uneven=False),
        "cells, mixed, uneven": lambda rng: cells(rng, mixed=True, uneven=True),
    }
    print("| data | fit | same label (chance) | same group | same group, other labels |")
    print("|---|---|---|---|---|")
    for name, source in sources.items():
        table: dict[str, list[list[float]]] = {}
        chance = []
        for seed in range(asked.seeds):
            data = source(np.random.default_rng(seed))
            chance.append(((np.bincount(data.labels) / len(data.labels)) ** 2).sum())
            for fit, positions in fits(data, seed, asked.strengths):
                table.setdefault(fit, []).append(shares(positions, data))
        for fit, values in table.items():
            label, group, across = np.mean(values, axis=0)
            print(
                f"| {name} | {fit} | {label:.2f} ({np.mean(chance):.2f}) | {group:.2f} "
                f"| {across:.2f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
