"""The data that a map estimator can fit, read into one record.

X                                   labels    in the record
Associations, Trials                X         strengths, which may sum to less than 1 per row
table, affinity="precomputed"       index     strengths, and the table itself
table, metric="precomputed"         index     points: distances (n, n)
Vectors, table                      X, index  points: vectors (n, n_features)
NeighborGraph, pair of arrays       numbers   graph
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from manymaps.affinity.distances import known_distances
from manymaps.affinity.neighbors import NeighborGraph, as_graph
from manymaps.data.associations import Associations, associations_of
from manymaps.data.frame_labels import labelled_values
from manymaps.data.trials import as_associations
from manymaps.data.validation import validated
from manymaps.errors import DataError, setting


@dataclass(frozen=True, kw_only=True)
class Input:
    """Labels of n objects, and their similarities, vectors or distances.

    Attributes
    ----------
    labels : tuple of str
        Labels of the objects.
    strengths : sparse array of shape (n, n), optional
        Similarities.
    observed : ndarray of bool, shape (n, n), optional
        Judged pairs. If it is None, all pairs were judged.
    lacks_mass : bool
        Whether rows that sum to less than 1 lack the rest.
    table : array or sparse array of shape (n, n), optional
        Similarities as they were passed.
    covered : ndarray of shape (n,), optional
        Part of the responses of each word that are objects (`Associations.covered`).
    points : array or sparse array, optional
        Vectors or distances.
    are_distances : bool
        Whether the points are distances.
    graph : NeighborGraph, optional
        Neighbours.
    """

    labels: tuple[str, ...]
    strengths: sparse.csr_array | None = None
    observed: np.ndarray | None = None
    lacks_mass: bool = False
    table: Any = None
    covered: Any = None
    points: Any = None
    are_distances: bool = False
    graph: NeighborGraph | None = None

    @property
    def vectors(self) -> Any:
        """Vectors, or None for other data."""
        return None if self.are_distances else self.points


def read_input(X: Any, estimator: Any) -> Input:
    """Read the data of a fit, and set the number of features of the estimator.

    Parameters
    ----------
    X : Associations, Trials, Vectors, NeighborGraph, pair of arrays, array or frame
        Data.
    estimator : MapEstimator
        Estimator, whose `affinity` and `metric` define what a table contains.

    Returns
    -------
    Input
        Labels and data.

    Raises
    ------
    DataError
        If the data cannot be fitted.
    """
    norms = as_associations(X)
    if isinstance(norms, Associations):
        estimator.n_features_in_ = norms.n_objects
        return Input(
            labels=tuple(norms.labels), strengths=norms.strengths, observed=_judged(norms),
            lacks_mass=True, covered=norms.covered,
        )  # fmt: skip
    graph = as_graph(X)
    if isinstance(graph, NeighborGraph):
        estimator.n_features_in_ = len(graph.indices)
        return Input(labels=tuple(map(str, range(len(graph.indices)))), graph=graph)
    are_similarities = estimator.affinity == "precomputed"
    are_distances = estimator.metric == "precomputed"
    attrs: Any = getattr(X, "attrs", {})
    if "n_absent" in attrs and not (are_similarities or are_distances):
        # A frame of read_similarities.
        raise DataError(
            f"X contains similarities of pairs ({attrs['source']}); use "
            f"{setting('affinity', 'precomputed')}, or pass vectors"
        )
    labels, values = labelled_values(X, square=are_similarities or are_distances)
    if are_distances and not are_similarities:
        values = known_distances(values)
    table = validated(estimator, values, accept_sparse="csr", ensure_min_samples=2)
    labels = labels or tuple(map(str, range(table.shape[0])))
    if (are_similarities or are_distances) and table.shape[0] != table.shape[1]:
        what = "similarities" if are_similarities else "distances"
        raise DataError(
            f"X has {table.shape[0]} rows and {table.shape[1]} columns; a table of {what} must be "
            "square"
        )
    if not are_similarities:
        return Input(labels=labels, points=table, are_distances=are_distances)
    norms = associations_of(labels, table)
    return Input(labels=labels, strengths=norms.strengths, observed=_judged(norms), table=table)


def _judged(norms: Associations) -> np.ndarray | None:
    """Mark the judged pairs (None if all are judged); raise if an object has no judged pair."""
    observed = norms.observed
    if observed is not None:
        alone = np.flatnonzero(~(observed.any(axis=0) | observed.any(axis=1)))
        if len(alone):
            more = f", and the same applies to {len(alone) - 1:,} more" if len(alone) > 1 else ""
            raise DataError(
                f"object {alone[0]} ({norms.labels[alone[0]]!r}) has no known similarity to any "
                f"other object{more}; remove such objects"
            )
    return observed
