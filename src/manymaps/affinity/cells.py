"""Search for nearest neighbours by cells of nearby points.

Nested k-means splits the points into cells of about 128. The candidates of a query are the points
of the cells nearest to it (`Cells.probe`). The number of cells depends on the required recall.

Points and queries are float32 in the same unit. The neighbours of a cell do not depend on the
number of threads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from manymaps.affinity.search import faiss_module
from manymaps.compute.probing import fill_blocks, probe_cells
from manymaps.compute.threads import share_out

__all__ = ["Cells", "cells_of"]

# Cells of 64 and of 32 points need up to half as many candidates, but are not faster.
_POINTS_PER_CELL = 128
# k-means with thousands of centres at once would take longer than the search; two levels of 256
# make 65,536 cells.
_BRANCHES = 256
# Cells must be compact but need not be optimal. More rounds of k-means take time without improving
# the candidates. Not tuned.
_ROUNDS = 10
# Number of points per centre that faiss samples for k-means, which limits its time. This is the
# default of faiss.
_POINTS_PER_CENTRE = 256
# `probe` looks for the nearest cells of a query among this many cells per probed cell, and a
# constant number, that are nearest to the centre of the query's home cell. On a million points,
# this reduces a recall of 0.952 to 0.947, and three cells per probed cell reduce it to 0.944. More
# cells are then probed (`probes_before`).
_CELLS_PER_PROBE, _MORE_CELLS = 6, 64
# Number of cells above which the cell of a query is searched by cells of the centres, and number of
# these cells that are probed. On a million points, 99.8% of the queries obtain the nearest cell.
_MANY_CELLS, _PROBES_FOR_CELL = 500, 4
# Number of cells that are probed between two reports of progress, which takes seconds. Not tuned.
_PROBED_AT_ONCE = 2_048
# Number of nested splits after which points that k-means cannot separate (such as copies of one
# point) are split by index.
_DEEPEST = 8


@dataclass(frozen=True)
class Cells:
    """Points (n, d), sorted by cell.

    Cell c contains the range starts[c] : starts[c + 1] of `points` and of `numbers`, their indices.
    """

    points: np.ndarray
    numbers: np.ndarray
    starts: np.ndarray
    centres: np.ndarray

    @cached_property
    def blocks(self) -> np.ndarray:
        """Coordinates of the points by cell, as in `manymaps.compute.probing`."""
        blocks = np.empty(self.points.size, np.float32)
        share_out(fill_blocks, len(self.centres), self.points, self.starts, blocks)
        return blocks

    @cached_property
    def above(self) -> Cells:
        """Cells of the centres."""
        return cells_of(self.centres, 0, 1)

    @property
    def sizes(self) -> np.ndarray:
        """Number of points in each cell."""
        return np.diff(self.starts)

    @cached_property
    def of_point(self) -> np.ndarray:
        """Cell of each point, by the index of the point."""
        cells = np.empty(len(self.numbers), np.int64)
        cells[self.numbers] = np.repeat(np.arange(len(self.centres)), self.sizes)
        return cells

    def probes_before(self, queries: np.ndarray, points: np.ndarray) -> np.ndarray:
        """Count the cells that are probed for a query before the cell of a point.

        The queries (m, d) are compared with points that are passed as indices of shape (m, k). The
        result has shape (m, k).
        """
        from scipy.spatial.distance import cdist

        homes = self.centres[self._nearest_cell(queries)]
        before = np.empty(points.shape, np.int64)
        for row, (query, home, some) in enumerate(zip(queries, homes, points, strict=True)):
            cells = self.of_point[some]
            away, from_home = cdist([query, home], self.centres, "sqeuclidean")
            rank = np.searchsorted(np.sort(from_home), from_home[cells])
            # Cells that are far from the home cell are probed only with many others.
            listed = (rank - _MORE_CELLS) // _CELLS_PER_PROBE
            before[row] = np.maximum(np.searchsorted(np.sort(away), away[cells]), listed)
        return before

    def around(self, n_probes: int) -> np.ndarray:
        """List the cells next to each cell, nearest first, among which `n_probes` are probed."""
        width = min(len(self.centres), _CELLS_PER_PROBE * n_probes + _MORE_CELLS)
        return np.asarray(faiss_module().knn(self.centres, self.centres, width)[1].astype(np.int32))

    def probe(
        self,
        queries: np.ndarray,
        own: bool,
        k: int,
        n_probes: int,
        near: np.ndarray,
        note: Callable[[int], object] = lambda done: None,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Find the k nearest points of each query in the `n_probes` cells nearest to it.

        With `own`, the queries are the points, which are not their own neighbours. `near` are the
        cells `around(n_probes)`. The results are the indices (n_queries, k) and squared distances
        (float32), nearest first; neighbours at equal distances are sorted by index. If the cells of
        a query contain fewer than k points, its last indices are -1, at infinite distances.
        """
        n_cells, n_probes = len(self.centres), min(n_probes, near.shape[1])
        numbers = self.numbers.astype(np.int32)
        cells = self._nearest_cell(queries)
        asked = np.argsort(cells, kind="stable").astype(np.int32)
        offsets = np.searchsorted(cells[asked], np.arange(n_cells + 1))
        indices = np.empty((len(queries), k), np.int32)
        squares = np.empty((len(queries), k), np.float32)
        for first in range(0, n_cells, _PROBED_AT_ONCE):
            last = min(n_cells, first + _PROBED_AT_ONCE)
            share_out(
                probe_cells, last - first, self.blocks, numbers, self.starts, self.centres,
                near[first:last], n_probes, queries, asked, offsets[first : last + 1], own,
                indices, squares,
            )  # fmt: skip
            note(int(offsets[last]))
        return indices, squares

    def _nearest_cell(self, queries: np.ndarray) -> np.ndarray:
        """Find the cell whose centre is nearest to each query."""
        # The cells of the points are not used, because k-means in parts may assign a point to a
        # cell that is far from it.
        if len(self.centres) <= _MANY_CELLS:
            return np.asarray(faiss_module().knn(queries, self.centres, 1)[1][:, 0])
        near = self.above.around(_PROBES_FOR_CELL)
        return self.above.probe(queries, False, 1, _PROBES_FOR_CELL, near)[0][:, 0]


def cells_of(points: np.ndarray, seed: int, n_threads: int) -> Cells:
    """Assign points (n, d) to cells of at most twice the target size.

    Points that k-means cannot separate, such as copies of one point, are assigned to cells by
    index.
    """
    whole: list[np.ndarray] = []
    large = [np.arange(len(points))]
    for depth in range(_DEEPEST):
        deal = depth == _DEEPEST - 1
        split = _in_threads(lambda part: _split(points, part, seed), large, n_threads)
        parts = [some for part in (map(_dealt, large) if deal else split) for some in part]
        whole += [part for part in parts if len(part) <= 2 * _POINTS_PER_CELL]
        large = [part for part in parts if len(part) > 2 * _POINTS_PER_CELL]
    numbers = np.concatenate(whole)
    starts = np.concatenate([[0], np.cumsum([len(part) for part in whole])])
    ordered = points[numbers]
    centres = np.add.reduceat(ordered, starts[:-1], axis=0) / np.diff(starts)[:, None]
    return Cells(ordered, numbers, starts, centres.astype(np.float32))


def _split(points: np.ndarray, part: np.ndarray, seed: int) -> list[np.ndarray]:
    """Split points by centroid into cells, or into as many parts as can be computed quickly."""
    n_cells = -(-len(part) // _POINTS_PER_CELL)
    n_parts = n_cells if n_cells <= _BRANCHES else min(_BRANCHES, -(-n_cells // _BRANCHES))
    rows = points if len(part) == len(points) else points[part]
    means = faiss_module().Kmeans(
        points.shape[1],
        n_parts,
        niter=_ROUNDS,
        seed=seed % 2**31,
        min_points_per_centroid=1,
        max_points_per_centroid=_POINTS_PER_CENTRE,
    )
    means.train(rows)
    nearest = means.index.search(rows, 1)[1][:, 0]
    order = np.argsort(nearest, kind="stable")
    ends = np.cumsum(np.bincount(nearest, minlength=n_parts))
    parts = [some for some in np.split(part[order], ends[:-1]) if len(some)]
    return parts if len(parts) > 1 else _dealt(part)


def _dealt(part: np.ndarray) -> list[np.ndarray]:
    return np.array_split(part, -(-len(part) // _POINTS_PER_CELL))


def _in_threads(work: Callable[[Any], Any], tasks: Any, n_threads: int) -> Iterator[Any]:
    """Yield the results of the tasks in order; several tasks run at once."""
    # A single task uses all OpenMP threads.
    if n_threads == 1 or len(tasks) <= 1:
        yield from map(work, tasks)
        return
    # Threads suffice, because faiss releases the interpreter lock during computations.
    alone = faiss_module().omp_set_num_threads
    with ThreadPoolExecutor(n_threads, initializer=alone, initargs=(1,)) as pool:
        yield from pool.map(work, tasks)
