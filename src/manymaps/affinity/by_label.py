"""Similarities with neighbours among the objects of every known label.

If objects with different labels are far apart, no object has nearest neighbours with another label.
The similarities then contain no information about which of these objects correspond. Here, every
object has neighbours within each label, similar to the revised conditional t-SNE of Heiter et al.
(2023), which searches within the label and across labels separately:

    p_j|i = sum_l  pi_l  p_j|i,l,        pi_l = proportion of the objects with label l

The Gaussian neighbourhood p_j|i,l of object i consists of objects with label l. Its perplexity is
pi_l times the whole perplexity, but at least 1. The label of a neighbour is therefore independent
of the object. Objects without a known label are one additional set.

References: E. Heiter, B. Kang, R. Seurinck and J. Lijffijt, Revised conditional t-SNE: looking
beyond the nearest neighbors, Advances in Intelligent Data Analysis XXI, 2023.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from manymaps.affinity.affinities import (
    NEIGHBORS_PER_PERPLEXITY,
    GaussianAffinity,
    check_perplexity,
)
from manymaps.affinity.distances import Matrix, Metric
from manymaps.affinity.neighbors import NeighborGraph, NeighborSearch, nearest_neighbors
from manymaps.errors import ParameterError

__all__ = ["similarities_by_label"]

# Fits use single precision, in which the square of a smaller probability is 0. Not tuned.
_LEAST = 1e-20


def similarities_by_label(
    affinity: GaussianAffinity,
    data: Matrix,
    groups: np.ndarray,
    *,
    metric: Metric,
    search: NeighborSearch,
    seed: int,
) -> sparse.csr_array:
    """Compute the similarities of objects with neighbours of every label.

    >>> points = np.array([[0.0], [1.0], [9.0], [10.0]])
    >>> how = {"metric": "euclidean", "search": NeighborSearch(), "seed": 0}
    >>> labels = np.array([0, 0, 1, 1])
    >>> similarities_by_label(GaussianAffinity(2), points, labels, **how).toarray().round(2)
    array([[0. , 0.5, 0.5, 0. ],
           [0.5, 0. , 0.5, 0. ],
           [0. , 0.5, 0. , 0.5],
           [0. , 0.5, 0.5, 0. ]])

    Parameters
    ----------
    affinity : GaussianAffinity
        Perplexity and number of neighbours of the whole neighbourhood.
    data : array or sparse array of shape (n, n_features) or (n, n)
        Vectors or, with `metric="precomputed"`, a dense table of distances.
    groups : ndarray of int, shape (n,)
        Number of the label of each object, or -1.
    metric, search, seed
        See `manymaps.affinity.neighbors.nearest_neighbors`.

    Returns
    -------
    csr_array of shape (n, n)
        The similarities p_j|i. A row sums to 1, or to less if some labels have only one object,
        which is not a neighbour of the other objects.

    Raises
    ------
    ParameterError
        If there are more labels than the perplexity, or the perplexity is not valid for n objects.
    """
    n = len(groups)
    perplexities = np.asarray(affinity.perplexity, dtype=np.float64)
    for perplexity in np.unique(perplexities):
        check_perplexity(perplexity, n)
    labels, sizes = np.unique(groups, return_counts=True)
    labels, sizes = labels[sizes > 1], sizes[sizes > 1]
    if len(labels) > perplexities.max():
        raise ParameterError(
            f"condition has {len(labels):,} labels, but the perplexity is {perplexities.max():g}; "
            "every object has neighbours with each label, so use a larger perplexity, merge rare "
            "labels, or fit neighbours or similarities"
        )
    usual = affinity.n_neighbors or NEIGHBORS_PER_PERPLEXITY * perplexities.max()
    total: sparse.csr_array = sparse.csr_array((n, n))
    for label, size in zip(labels, sizes, strict=True):
        k = min(max(1, int(np.ceil(usual * size / n))), int(size) - 1)
        graph = _neighbors_within(data, np.flatnonzero(groups == label), k, metric, search, seed)
        scales = np.clip(perplexities * size / n, 1, k)
        part = GaussianAffinity(scales if scales.ndim else float(scales)).similarities(graph)
        part.data[part.data < _LEAST] = 0
        total = total + part * (size / n)
    total.eliminate_zeros()
    return total


def _neighbors_within(
    data: Matrix,
    members: np.ndarray,
    k: int,
    metric: Metric,
    search: NeighborSearch,
    seed: int,
) -> NeighborGraph:
    """Find the nearest neighbours of all objects among some of them."""
    n = data.shape[0]
    others = np.setdiff1d(np.arange(n), members)
    known, asked = data[members], data[others]
    if isinstance(metric, str) and metric == "precomputed":
        known, asked = known[:, members], asked[:, members]
    indices, distances = np.empty((n, k), np.int64), np.empty((n, k), np.float64)
    for rows, queries in ((members, None), (others, asked)):
        if len(rows):
            graph = nearest_neighbors(
                known, k, metric=metric, queries=queries, search=search, seed=seed
            )
            indices[rows], distances[rows] = members[graph.indices], graph.distances
    return NeighborGraph(indices, distances, "by label", 1.0)
