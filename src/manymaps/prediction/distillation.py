"""Distillation: many small maps learn what a larger model makes of the training part.

    t_ij = (1 - share) p_ij + share q_teacher(j|i)

(Hinton, Vinyals & Dean 2015, "Distilling the knowledge in a neural network".) p is sparse: of pairs
that the norms might hold and do not, it says nothing, and maps of few dimensions and many
proportions fit it by heart. A teacher that has met the training part alone says how likely each of
them is, and its soft target leaves nothing to learn by heart.

A row of q is dense. Its largest entries are kept, and what they leave is stood for by objects drawn
anew each time in proportion to it (systematic sampling), so that the expectation of t is as above.

Shapes: p and t (n, n) sparse.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy import sparse

__all__ = ["SoftTarget"]

# Rows of 512 cues to all objects: bounds memory.
_ROWS_AT_ONCE = 512


class Teacher(Protocol):
    """What gives q(j|i)."""

    def probabilities(self, rows: np.ndarray) -> np.ndarray:
        """q(j|i) of cues, shape (len(rows), n)."""


@dataclass(frozen=True, eq=False)
class SoftTarget:
    """A training part mixed with what a teacher gives.

    Parameters
    ----------
    p : csr_array of shape (n, n)
    teacher : Teacher
        Fitted to p alone.
    share : float in (0, 1]
        The teacher's part of the target.
    n_largest, n_drawn : int
        Entries of each row of q that are kept, and objects that stand for the others.

    Examples
    --------
    >>> class Even:
    ...     def probabilities(self, rows):
    ...         return (1 - np.eye(5)[rows]) / 4
    >>> p = sparse.csr_array(np.eye(5, k=1))
    >>> SoftTarget(p, Even(), 0.8).draw(np.random.default_rng(0)).toarray()[0].round(3).tolist()
    [0.0, 0.4, 0.2, 0.2, 0.2]
    """

    p: sparse.csr_array
    teacher: Teacher
    share: float
    n_largest: int = 100
    n_drawn: int = 30

    def draw(self, generator: np.random.Generator) -> sparse.csr_array:
        """The target with a new sample of the small entries."""
        n = self.p.shape[0]
        blocks = [
            self._soft(np.arange(first, min(first + _ROWS_AT_ONCE, n)), generator)
            for first in range(0, n, _ROWS_AT_ONCE)
        ]
        soft = sparse.vstack(blocks, format="csr")
        target = sparse.csr_array((1 - self.share) * self.p + self.share * soft)
        target.sort_indices()
        return target

    def _soft(self, rows: np.ndarray, generator: np.random.Generator) -> sparse.csr_array:
        """Rows of q with their small entries sampled."""
        q = self.teacher.probabilities(rows)
        n = q.shape[1]
        if n <= self.n_largest + self.n_drawn:
            return sparse.csr_array(q)
        largest = np.argpartition(-q, self.n_largest, axis=1)[:, : self.n_largest]
        kept = np.take_along_axis(q, largest, axis=1)
        np.put_along_axis(q, largest, 0.0, axis=1)
        rest = q.sum(axis=1)
        drawn = _systematic_sample(q, self.n_drawn, generator)
        values = np.hstack([kept, np.repeat(rest[:, None] / self.n_drawn, self.n_drawn, axis=1)])
        at = np.repeat(np.arange(len(rows)), values.shape[1])
        columns = np.hstack([largest, drawn]).ravel()
        found = sparse.coo_array((values.ravel(), (at, columns)), shape=q.shape).tocsr()
        found.eliminate_zeros()
        return found


def _systematic_sample(
    values: np.ndarray, n_drawn: int, generator: np.random.Generator
) -> np.ndarray:
    """Columns drawn in proportion to the values of each row, (len(values), n_drawn)."""
    n_rows, n = values.shape
    sums = np.cumsum(values, axis=1)
    sums /= np.where(sums[:, -1:] > 0, sums[:, -1:], 1.0)
    steps = (np.arange(n_drawn) + generator.random((n_rows, 1))) / n_drawn
    # One search serves all rows: those after the first lie beyond it by whole numbers.
    offsets = 2.0 * np.arange(n_rows)[:, None]
    found = np.searchsorted((sums + offsets).ravel(), (steps + offsets).ravel())
    return np.minimum(found.reshape(n_rows, n_drawn) - n * np.arange(n_rows)[:, None], n - 1)
