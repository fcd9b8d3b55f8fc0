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

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from manymaps.prediction.held_out import Predictor

# These numbers limit the memory requirement. A target of 5,000 objects needs 8 MB.
_ROWS_AT_ONCE = 512
_TARGETS_AT_ONCE = 10


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
    >>> targets = SoftTarget(p, Even(), 0.8).samples(np.random.default_rng(0))
    >>> next(targets).toarray()[0].round(3).tolist()
    [0.0, 0.4, 0.2, 0.2, 0.2]
    """

    p: sparse.csr_array
    teacher: Predictor
    share: float
    n_largest: int = 100
    n_drawn: int = 30

    def samples(self, generator: np.random.Generator) -> Iterator[sparse.csr_array]:
        """Yield targets without end, each with a new sample of the small entries."""
        n = self.p.shape[0]
        blocks = np.split(np.arange(n), np.arange(_ROWS_AT_ONCE, n, _ROWS_AT_ONCE))
        while True:
            # Computing q takes longer than sampling, so the teacher computes it once for several
            # targets.
            starts = generator.random((_TARGETS_AT_ONCE, n))
            soft = [self._soft(rows, starts[:, rows]) for rows in blocks]
            for parts in zip(*soft, strict=True):
                target = (1 - self.share) * self.p + self.share * sparse.vstack(parts, format="csr")
                target.sort_indices()
                yield target

    def _soft(self, rows: np.ndarray, starts: np.ndarray) -> list[sparse.csr_array]:
        """Return rows of q, with small entries sampled from each row of starts."""
        q = self.teacher.probabilities(rows)
        if q.shape[1] <= self.n_largest + self.n_drawn:
            return [sparse.csr_array(q)] * len(starts)
        largest = np.argpartition(-q, self.n_largest, axis=1)[:, : self.n_largest]
        values = np.take_along_axis(q, largest, axis=1)
        np.put_along_axis(q, largest, 0.0, axis=1)
        rest = q.sum(axis=1, keepdims=True) / self.n_drawn
        values = np.hstack([values, np.repeat(rest, self.n_drawn, axis=1)])
        indptr = np.arange(len(rows) + 1) * values.shape[1]
        sampled = []
        for drawn in _systematic_samples(q, self.n_drawn, starts):
            entries = values.ravel(), np.hstack([largest, drawn]).ravel(), indptr
            target = sparse.csr_array(entries, q.shape, copy=True)
            target.sum_duplicates()
            target.eliminate_zeros()
            sampled.append(target)
        return sampled


def _systematic_samples(q: np.ndarray, n_drawn: int, starts: np.ndarray) -> Iterator[np.ndarray]:
    """Draw columns in proportion to the values of each row, shape (len(q), n_drawn) per sample."""
    sums = np.cumsum(q, axis=1)
    sums /= np.where(sums[:, -1:] > 0, sums[:, -1:], 1.0)
    # A single search handles all rows because offsets separate their ranges.
    row = np.arange(len(q))[:, None]
    ranges = (sums + 2.0 * row).ravel()
    for start in starts:
        steps = (np.arange(n_drawn) + start[:, None]) / n_drawn
        indices = np.searchsorted(ranges, (steps + 2.0 * row).ravel()).reshape(len(q), n_drawn)
        yield np.minimum(indices - q.shape[1] * row, q.shape[1] - 1)
