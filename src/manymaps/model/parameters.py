"""Positions and mixing weights, their active entries, and the size penalty.

    pi_i^m  = exp(-w_i^m) / sum_m' exp(-w_i^m')        (van der Maaten & Hinton 2009, eq. 7)
    penalty = (strength / 2) sum_m sum_i |y_i^m|^2     (Cook et al. 2007, section 4)

An entry is an object on a map. In a fit of many maps, most proportions are soon close to 0. Only
the entries with a proportion, or that explain some pairs of their object, are then evaluated.

The penalty is added to the cost summed over rows. A given strength therefore causes the same pull
on every object, independently of the number of objects and the normalization.

Shapes: positions (n_maps, n, d), weights w (n_maps, n). There is one pair of these arrays for one
set of objects, and two pairs if rows and columns are different objects.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

# Largest distance of a point from the origin. The limit is needed because squared distances use
# single precision.
FARTHEST = 1e18


def log_softmin(weights: np.ndarray) -> np.ndarray:
    """Compute log pi from the weights w in float64, with the maps on the first axis.

    >>> import numpy as np
    >>> np.exp(log_softmin(np.array([[0.0], [0.0]]))).ravel().tolist()
    [0.5, 0.5]
    """
    # Loops are compiled separately for each memory order of their arrays.
    low = np.negative(weights, dtype=np.float64, order="C")
    low -= low.max(axis=0)
    low -= np.log(np.exp(low).sum(axis=0))
    return low


def weights_from_proportions(proportions: np.ndarray) -> np.ndarray:
    """Return weights w for proportions after raising each proportion to at least 1e-12."""
    return -np.log(np.maximum(np.asarray(proportions, np.float64), 1e-12))


@dataclass(frozen=True)
class Parameters:
    """Positions and weights of one or two sets of objects.

    The same class stores gradients, velocities and masks of fixed values. A gradient may be
    restricted to some entries and then has shapes (n_entries, d) and (n_entries,). In this case,
    `places` lists the entries of each set by their indices m n + i.
    """

    positions: tuple[np.ndarray, ...]
    weights: tuple[np.ndarray, ...]
    places: tuple[np.ndarray, ...] | None = None

    @property
    def arrays(self) -> tuple[np.ndarray, ...]:
        """All arrays, positions first and then weights."""
        return (*self.positions, *self.weights)

    def like(self, arrays: Sequence[np.ndarray]) -> Parameters:
        """Return a copy of the record with other arrays."""
        n = len(self.positions)
        return Parameters(tuple(arrays[:n]), tuple(arrays[n:]), self.places)

    def copy(self, order: np.ndarray | None = None) -> Parameters:
        """Return a deep copy, in which the objects of one set may have another order."""
        if order is None:
            return self.like([array.copy() for array in self.arrays])
        return self.like([np.ascontiguousarray(array[:, order]) for array in self.arrays])

    def pack(self) -> np.ndarray:
        """Return all values as one float64 vector."""
        return np.concatenate([array.ravel() for array in self.arrays]).astype(np.float64)

    def unpack(self, vector: np.ndarray) -> Parameters:
        """Invert `pack`, with the shapes and the precision of this record."""
        arrays, start = [], 0
        for array in self.arrays:
            part = vector[start : start + array.size].reshape(array.shape)
            arrays.append(part.astype(array.dtype))
            start += array.size
        return self.like(arrays)


class Entries:
    """Active (map, object) pairs of one set of objects, created from a mask (n_maps, n).

    Attributes
    ----------
    offsets : ndarray of shape (n_maps + 1,)
        Index of the first entry of each map.
    objects : ndarray of shape (n_entries,)
        Object of each entry, sorted by map.
    places : ndarray of shape (n_entries,)
        Index of each entry among all (map, object) pairs, m n + i.
    by_object : tuple of ndarray
        CSR arrays that list the maps of each object and the corresponding entries.
    """

    def __init__(self, mask: np.ndarray) -> None:
        self.offsets = np.concatenate([[0], np.cumsum(mask.sum(axis=1))]).astype(np.int64)
        self.objects = np.ascontiguousarray(np.nonzero(mask)[1])
        self.places = np.flatnonzero(mask)
        numbers = np.zeros(mask.shape, np.int64)
        numbers[mask] = np.arange(len(self.objects))
        indptr = np.concatenate([[0], np.cumsum(mask.sum(axis=0))]).astype(np.int64)
        maps = np.ascontiguousarray(np.nonzero(mask.T)[1])
        self.by_object = indptr, maps, numbers.T[mask.T]


def size_penalty(positions: np.ndarray, strength: float) -> tuple[float, np.ndarray | float]:
    """Compute the value and the gradient of the penalty.

    >>> import numpy as np
    >>> value, gradient = size_penalty(np.array([[[3.0, 4.0]]]), 0.1)
    >>> round(value, 3), gradient.round(3).tolist()
    (1.25, [[[0.3, 0.4]]])
    """
    if strength == 0:
        return 0.0, 0.0
    flat = positions.ravel()
    value = 0.5 * strength * float(np.einsum("i,i->", flat, flat, dtype=np.float64))
    return value, positions.dtype.type(strength) * positions
