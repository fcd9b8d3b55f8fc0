"""Active entries: the (map, object) pairs that take part in an evaluation.

An entry is an object on a map. In a fit of many maps, most proportions are soon close to 0. Only
the entries with a proportion, or that explain some pairs of their object, are then evaluated.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np


@dataclass(frozen=True)
class Entries:
    """Active (map, object) pairs of one set of objects, created from a mask (n_maps, n)."""

    mask: np.ndarray

    @cached_property
    def offsets(self) -> np.ndarray:
        """Index of the first entry of each map, shape (n_maps + 1,)."""
        return np.concatenate([[0], np.cumsum(self.mask.sum(axis=1))]).astype(np.int64)

    @cached_property
    def objects(self) -> np.ndarray:
        """Object of each entry, sorted by map."""
        return np.ascontiguousarray(np.nonzero(self.mask)[1])

    @cached_property
    def places(self) -> np.ndarray:
        """Index of each entry among all (map, object) pairs, m n + i."""
        return np.flatnonzero(self.mask)

    @cached_property
    def by_object(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """CSR arrays that list the maps of each object and the corresponding entries."""
        indptr = np.concatenate([[0], np.cumsum(self.mask.sum(axis=0))]).astype(np.int64)
        maps = np.ascontiguousarray(np.nonzero(self.mask.T)[1])
        numbers = np.zeros(self.mask.shape, np.int64)
        numbers[self.mask] = np.arange(len(self.objects))
        return indptr, maps, numbers.T[self.mask.T]
