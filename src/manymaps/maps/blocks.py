"""Insertion of many new rows in blocks, which limits the memory.

Rows are inserted independently of each other, so the blocks do not affect the result.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Set
from dataclasses import dataclass
from typing import Any

import numpy as np

from manymaps.affinity.distances import check_finite
from manymaps.atlas.atlas import Atlas
from manymaps.compute.threads import one_blas_thread
from manymaps.maps.insertion import insert
from manymaps.maps.new_objects import Matrix
from manymaps.progress import work

# Rows per block. With 1,000 objects in the atlas and 30 features, the allocated memory peaks at
# 48 MiB.
_ROWS = 4096


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
    atlas: Atlas, blocks: RowBlocks, chosen: np.ndarray, settings: Mapping[str, Any]
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Insert some of the rows, and yield the positions of each block.

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

    Yields
    ------
    numbers : ndarray of int
        Indices of the inserted rows.
    positions : ndarray of shape (n_maps, b, n_components)
        Positions of the b inserted rows of a block.
    """
    taken = frozenset(atlas.labels)
    used = [k for k in range(len(blocks)) if chosen[blocks.numbers(k)].any()]
    with work("block of rows", total=len(used)) as at:
        for done, k in enumerate(used):
            at(done)
            rows = np.flatnonzero(chosen[blocks.numbers(k)])
            numbers = k * blocks.size + rows
            with one_blas_thread():
                found = insert(
                    atlas, blocks[k][rows], labels=_free_labels(numbers, taken), **settings
                )
            yield numbers, found.maps


def _free_labels(rows: np.ndarray, taken: Set[str]) -> list[str]:
    """Create unused labels for new rows from their indices."""
    labels = []
    for row in rows:
        label = f"new {row}"
        while label in taken:
            label += "'"
        labels.append(label)
    return labels
