"""Positions and mixing weights, and their conversion to one vector.

    pi_i^m = exp(-w_i^m) / sum_m' exp(-w_i^m')         (van der Maaten & Hinton 2009, eq. 7)

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

    @property
    def n_maps(self) -> int:
        """Number of maps."""
        return int(self.positions[0].shape[0])

    @property
    def n_components(self) -> int:
        """Number of dimensions of a map."""
        return int(self.positions[0].shape[2])

    def like(self, arrays: Sequence[np.ndarray]) -> Parameters:
        """Return a copy of the record with other arrays."""
        n = len(self.positions)
        return Parameters(tuple(arrays[:n]), tuple(arrays[n:]), self.places)

    def copy(self) -> Parameters:
        """Return a deep copy."""
        return self.like([array.copy() for array in self.arrays])

    def reordered(self, order: np.ndarray | None) -> Parameters:
        """Return a deep copy with the objects of one set in another order (None: the same)."""
        if order is None:
            return self.copy()
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
