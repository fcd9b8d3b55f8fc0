"""Distillation: many small maps learn from the predictions of a larger model.

    t_ij = (1 - share) p_ij + share q_teacher(j|i)

(Hinton, Vinyals & Dean 2015, "Distilling the knowledge in a neural network".) The training part p
is sparse. It contains no information about pairs that are plausible but absent from the norms. Maps
with few dimensions and many proportions overfit such data. A teacher fitted to the training part
estimates the probability of each absent pair, and the resulting soft target reduces overfitting.

Because a row of q is dense, only its largest entries are stored. The remaining mass is assigned to
objects that are drawn for each target in proportion to q (systematic sampling). The expectation of
t therefore equals the formula above.

Shapes: p and t (n, n) sparse.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from manymaps.prediction.held_out import Predictor

# Blocks of 512 cues by all objects limit the memory requirement.
_ROWS_AT_ONCE = 512


@dataclass(frozen=True, eq=False)
class SoftTarget:
    """Mixture of a training part and the predictions of a teacher.

    Parameters
    ----------
    p : csr_array of shape (n, n)
        Training part.
    teacher : Predictor
        Model fitted only to p.
    share : float
        Weight of the teacher in the target, greater than 0 and at most 1.
    n_largest : int, default 100
        Number of largest entries of each row of q that are stored.
    n_drawn : int, default 30
        Number of objects drawn to represent the remaining entries of each row.

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
    teacher: Predictor
    share: float
    n_largest: int = 100
    n_drawn: int = 30

    def draw(self, generator: np.random.Generator) -> sparse.csr_array:
        """Return the target with a new sample of the small entries."""
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
        """Return rows of q with sampled small entries."""
        q = self.teacher.probabilities(rows)
        n = q.shape[1]
        if n <= self.n_largest + self.n_drawn:
            return sparse.csr_array(q)
        largest = np.argpartition(-q, self.n_largest, axis=1)[:, : self.n_largest]
        largest_values = np.take_along_axis(q, largest, axis=1)
        np.put_along_axis(q, largest, 0.0, axis=1)
        rest = q.sum(axis=1)
        drawn = _systematic_sample(q, self.n_drawn, generator)
        values = np.hstack(
            [largest_values, np.repeat(rest[:, None] / self.n_drawn, self.n_drawn, axis=1)]
        )
        row_indices = np.repeat(np.arange(len(rows)), values.shape[1])
        columns = np.hstack([largest, drawn]).ravel()
        sampled = sparse.coo_array((values.ravel(), (row_indices, columns)), shape=q.shape).tocsr()
        sampled.eliminate_zeros()
        return sampled


def _systematic_sample(
    values: np.ndarray, n_drawn: int, generator: np.random.Generator
) -> np.ndarray:
    """Draw columns in proportion to the values of each row, shape (len(values), n_drawn)."""
    n_rows, n = values.shape
    sums = np.cumsum(values, axis=1)
    sums /= np.where(sums[:, -1:] > 0, sums[:, -1:], 1.0)
    steps = (np.arange(n_drawn) + generator.random((n_rows, 1))) / n_drawn
    # A single search handles all rows because offsets separate their ranges.
    offsets = 2.0 * np.arange(n_rows)[:, None]
    indices = np.searchsorted((sums + offsets).ravel(), (steps + offsets).ravel())
    return np.minimum(indices.reshape(n_rows, n_drawn) - n * np.arange(n_rows)[:, None], n - 1)
