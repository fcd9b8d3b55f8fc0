"""Judged similarities as a dense table with labels, which `manymaps.read_similarities` returns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class SimilarityTable:
    """Labels of objects and a table of their similarities.

    Attributes
    ----------
    labels : tuple of str, length n
        Labels of the objects.
    values : ndarray of shape (n, n)
        Similarities, with NaN for unknown values. The diagonal is meaningless.
    source : str
        Name of the file.
    n_absent : int
        Number of pairs that the file does not contain, where both directions are a single pair.
    notes : tuple of str
        Notes on the data, for display to the user.
    """

    labels: tuple[str, ...]
    values: np.ndarray
    source: str
    n_absent: int = 0
    notes: tuple[str, ...] = ()

    @property
    def n_objects(self) -> int:
        """Number of objects."""
        return len(self.labels)

    @property
    def n_pairs(self) -> int:
        """Number of pairs with a known similarity, where both directions are a single pair."""
        return int(np.isfinite(self.values[np.triu_indices(self.n_objects, 1)]).sum())
