"""Insertion of many new rows in blocks, with memory that does not depend on the number of rows.

Rows are inserted independently of each other. The blocks therefore affect only the memory and the
order of the work, and not the result, apart from the choice among equal landmarks. Blocks are tasks
(`manymaps.compute.tasks`), which joblib's active backend distributes over processes or a cluster.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence, Set
from contextlib import closing
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from manymaps.affinity.distances import check_finite
from manymaps.atlas.atlas import Atlas
from manymaps.compute.tasks import finished, is_spread
from manymaps.compute.threads import one_blas_thread
from manymaps.maps.insertion import DEFAULT_NEIGHBORS, Refinement, insert, prepared
from manymaps.maps.new_objects import Matrix
from manymaps.progress import work

# Rows per block. With 1,000 landmarks and 30 features, the allocated memory peaks at 48 MiB.
_ROWS = 4096
# Number of blocks that are in memory and sent to workers together. It is a multiple of the usual
# numbers of workers on one machine. Not tuned.
_SENT = 16

# Positions, proportions and mask of dissimilar rows, as in `Insertion`.
Inserted: TypeAlias = tuple[np.ndarray, np.ndarray, np.ndarray]


@dataclass(frozen=True)
class RowBlocks:
    """Rows of a table, which are read block by block.

    Parameters
    ----------
    rows : array or sparse array of shape (k, n_features)
        The table, which may be a memory-mapped file.
    read : function, optional
        Function that validates and converts a block.
    size : int
        Number of rows per block.
    """

    rows: Matrix
    read: Callable[[Matrix], Matrix] | None = None
    size: int = _ROWS

    def __len__(self) -> int:
        return -(-int(self.rows.shape[0]) // self.size)

    def __getitem__(self, k: int) -> Matrix:
        block = self.rows[self.numbers(k)]
        return block if self.read is None else self.read(block)

    def __iter__(self) -> Iterator[Matrix]:
        return map(self.__getitem__, range(len(self)))

    def numbers(self, k: int) -> slice:
        """Indices of the rows of a block."""
        return slice(k * self.size, (k + 1) * self.size)

    def check_finite(self, chosen: np.ndarray) -> None:
        """Raise an error that names the first cell with NaN or infinity in some rows.

        Parameters
        ----------
        chosen : ndarray of bool, shape (k,)
            Mask of the rows to check.
        """
        for k, block in enumerate(self):
            rows = np.flatnonzero(chosen[self.numbers(k)])
            check_finite(block[rows], numbers=k * self.size + rows)


def insert_blocks(
    atlas: Atlas,
    blocks: RowBlocks,
    chosen: np.ndarray,
    settings: Mapping[str, Any],
    n_rows: int,
) -> Generator[tuple[np.ndarray, Inserted], None, None]:
    """Insert some of the rows, and yield the result of each block when it ends.

    Parameters
    ----------
    atlas : Atlas
        The atlas, which stays unchanged.
    blocks : RowBlocks
        The new rows.
    chosen : ndarray of bool, shape (k,)
        Mask of the rows to insert.
    settings : mapping
        Further arguments of `insert`.
    n_rows : int
        Number of rows that are inserted in all, which determines the search for their neighbours.

    Yields
    ------
    numbers : ndarray of int
        Indices of the inserted rows.
    inserted : tuple of ndarray
        Positions (n_maps, b, n_components), proportions (n_maps, b) and mask (b,) of dissimilar
        rows, for the b inserted rows of a block.
    """
    if not chosen.any():
        return
    if atlas.model.normalization == "joint":
        _ = atlas.log_whole  # computed here once, and not by every worker
    if settings["refine"]:
        refine = Refinement() if settings["refine"] is True else settings["refine"]
        k = settings.get("n_neighbors", DEFAULT_NEIGHBORS)
        refine = prepared(atlas, settings.get("vectors"), refine, n_rows, k)
        settings = {**settings, "refine": refine}
    taken = frozenset(atlas.labels)
    used = [k for k in range(len(blocks)) if chosen[blocks.numbers(k)].any()]
    n_sent = _SENT if is_spread() else 1
    with work("block of rows", total=len(used)) as at:
        at(0)
        for first in range(0, len(used), n_sent):
            parts, tasks = [], []
            for k in used[first : first + n_sent]:
                rows = np.flatnonzero(chosen[blocks.numbers(k)])
                parts.append(k * blocks.size + rows)
                tasks.append((atlas, blocks[k][rows], _free_labels(parts[-1], taken), settings))
            with closing(_run(tasks)) as running:
                for done, (k, inserted) in enumerate(running, first + 1):
                    yield parts[k], inserted
                    at(done)


def _run(tasks: Sequence[tuple[Any, ...]]) -> Generator[tuple[int, Inserted], None, None]:
    """Run several tasks on workers. A single task runs here, because workers take time to start."""
    if len(tasks) > 1:
        yield from finished(_inserted, tasks)
        return
    with one_blas_thread():
        inserted = _inserted(*tasks[0])
    yield 0, inserted


def _inserted(
    atlas: Atlas, rows: Matrix, labels: Sequence[str], settings: Mapping[str, Any]
) -> Inserted:
    found = insert(atlas, rows, labels=labels, **settings)
    return found.maps, found.proportions, found.dissimilar


def _free_labels(rows: np.ndarray, taken: Set[str]) -> list[str]:
    """Create unused labels for new rows from their indices."""
    labels = []
    for row in rows:
        label = f"new {row}"
        while label in taken:
            label += "'"
        labels.append(label)
    return labels
