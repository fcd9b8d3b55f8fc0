"""The consensus of several fits, which stores the senses of each object over all fits as arrays.

A sense of an object is a group of its neighbours, with the map that explains most of the group
(`manymaps.atlas.senses`). If an object has no groups, each map in which it has weight is a sense,
with the neighbours of the object in that map. `manymaps.analysis.stability` groups the senses of an
object in several fits by the overlap of their neighbours. Each of the resulting groups is a sense
of the consensus. Some fits may contain it, and others may not.

The senses of object i have the indices from offsets[i] up to, but not including, offsets[i + 1].

Shapes: by_fit (n_senses, n_fits), neighbors and weights (n_senses, n_neighbors), of_map (most
senses of an object in a map, n_maps, n_objects).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import NamedTuple

import numpy as np

from manymaps.errors import DataError


class WeightedNeighbor(NamedTuple):
    """A neighbour in a sense, with its share of the total weight of the neighbours."""

    label: str
    weight: float


@dataclass(frozen=True)
class ConsensusSense:
    """A sense of an object over several fits.

    Attributes
    ----------
    by_fit : tuple of float
        The share of the sense in each fit, from 0 to 1. It is 0 if the fit does not contain the
        sense. The share is the observed share or, if no associations are known, the map weight.
    neighbors : tuple of WeightedNeighbor
        The neighbours, sorted by their mean weight over the fits that contain the sense.
    maps : tuple of int
        The maps that contain this sense, in the atlas to which the consensus belongs.
    held : tuple of bool
        Whether each fit contains the sense, which means that a map of the fit explains the sense.
    """

    by_fit: tuple[float, ...]
    neighbors: tuple[WeightedNeighbor, ...]
    maps: tuple[int, ...]
    held: tuple[bool, ...]

    @property
    def n_fits(self) -> int:
        """Number of fits that contain the sense."""
        return sum(self.held)

    @property
    def share(self) -> float:
        """The mean share of the sense over the fits in which it is not 0."""
        return sum(self.by_fit) / sum(share > 0 for share in self.by_fit)


@dataclass(frozen=True, eq=False)
class Consensus:
    """The senses of all objects over several fits, stored with the atlas of one of them.

    Parameters
    ----------
    offsets : ndarray of int, shape (n_objects + 1,)
        The index of the first sense of each object. The last element is the number of senses. The
        senses of an object are sorted by the number of fits that contain them, in descending order.
    by_fit : ndarray of shape (n_senses, n_fits)
        The share of each sense in each fit. It is 0 if the fit does not contain the sense.
    neighbors : ndarray of int, shape (n_senses, n_neighbors)
        Indices of the neighbours, in descending order of strength. If a sense has fewer neighbours,
        the remaining entries are -1.
    weights : ndarray of shape (n_senses, n_neighbors)
        The weight of each neighbour, from 0 to 1.
    of_map : ndarray of int, shape (n_slots, n_maps, n_objects) or (n_maps, n_objects)
        The senses of each object in each map of the atlas. If there are fewer senses, the remaining
        entries are -1.
    threshold : float
        The minimum overlap at which two senses are considered the same.
    held : ndarray of bool, shape (n_senses, n_fits), optional
        Whether each fit contains each sense. By default, a fit contains the senses with a positive
        share.

    Raises
    ------
    DataError
        If the shapes are inconsistent.

    Examples
    --------
    >>> import numpy as np
    >>> from manymaps.atlas.consensus import Consensus
    >>> found = Consensus(
    ...     offsets=np.array([0, 2, 2, 2]), by_fit=np.array([[0.5, 0.7], [0.5, 0.0]]),
    ...     neighbors=np.array([[1], [2]]), weights=np.ones((2, 1)),
    ...     of_map=np.array([[0, -1, -1], [1, -1, -1]]), threshold=0.5)
    >>> for sense in found.senses(0, ["tie", "knot", "suit"]):
    ...     print(sense.neighbors[0].label, sense.n_fits, sense.share, sense.maps)
    knot 2 0.6 (0,)
    suit 1 0.5 (1,)
    """

    offsets: np.ndarray
    by_fit: np.ndarray
    neighbors: np.ndarray
    weights: np.ndarray
    of_map: np.ndarray
    threshold: float
    held: np.ndarray | None = None

    def __post_init__(self) -> None:
        n_senses = len(self.by_fit)
        object.__setattr__(self, "threshold", float(self.threshold))
        if self.held is None:
            object.__setattr__(self, "held", self.by_fit > 0)
        if self.of_map.ndim == 2:
            object.__setattr__(self, "of_map", self.of_map[None])
        fit = (
            self.by_fit.ndim == self.neighbors.ndim == 2
            and self.of_map.ndim == 3
            and self._held.shape == self.by_fit.shape
            and self.weights.shape == self.neighbors.shape
            and len(self.neighbors) == n_senses
            and self.offsets.shape == (self.n_objects + 1,)
            and (self.offsets[0], self.offsets[-1]) == (0, n_senses)
            and bool((np.diff(self.offsets) >= 0).all())
        )
        if not fit:
            shapes = {part.name: np.shape(getattr(self, part.name)) for part in fields(self)}
            raise DataError(f"the parts of the consensus have incompatible shapes: {shapes}")

    @property
    def n_fits(self) -> int:
        """Number of fits."""
        return int(self.by_fit.shape[1])

    @property
    def n_objects(self) -> int:
        """Number of objects."""
        return int(self.of_map.shape[2])

    def senses(self, i: int, labels: Sequence[str]) -> list[ConsensusSense]:
        """List the senses of object i in descending order of fits; `labels` names all objects."""
        return [self._sense(row, i, labels) for row in range(*self.offsets[i : i + 2].tolist())]

    def n_fits_with(self, map: int, i: int, members: Sequence[int] = ()) -> int | None:
        """Count the fits that contain the sense of object i in this map; None if there is no sense.

        If the map contains several senses, the sense with the largest weight on `members` is used.
        """
        rows = self.of_map[:, map, i]
        rows = rows[rows >= 0]
        if len(rows) == 0:
            return None
        same = np.isin(self.neighbors[rows], np.asarray(members, np.int64))
        row = rows[np.where(same, self.weights[rows], 0).sum(axis=1).argmax()]
        return int(self._held[row].sum())

    @property
    def _held(self) -> np.ndarray:
        assert self.held is not None
        return self.held

    def extended(self, count: int, at: int | None = None) -> Consensus:
        """Add `count` objects without senses before object `at`.

        By default, the new objects follow all others.
        """
        at = self.n_objects if at is None else at
        new = np.full((*self.of_map.shape[:2], count), -1, self.of_map.dtype)
        return replace(
            self,
            offsets=np.insert(self.offsets, at, np.full(count, self.offsets[at])),
            neighbors=self.neighbors + count * (self.neighbors >= at),
            of_map=np.concatenate([self.of_map[..., :at], new, self.of_map[..., at:]], axis=2),
        )

    def arrays(self) -> dict[str, np.ndarray]:
        """Return all arrays by name."""
        return {part.name: np.asarray(getattr(self, part.name)) for part in fields(self)}

    def _sense(self, row: int, i: int, labels: Sequence[str]) -> ConsensusSense:
        near = zip(self.neighbors[row].tolist(), self.weights[row].tolist(), strict=True)
        return ConsensusSense(
            by_fit=tuple(self.by_fit[row].tolist()),
            neighbors=tuple(WeightedNeighbor(labels[j], weight) for j, weight in near if j >= 0),
            maps=tuple(np.flatnonzero((self.of_map[..., i] == row).any(axis=0)).tolist()),
            held=tuple(self._held[row].tolist()),
        )
