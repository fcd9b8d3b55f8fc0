"""Reliability of each object's position: explained share and recurring share.

A map always contains a position for each object. The reliability of this position has two aspects:
how well it represents the data, and how well it recurs in other fits.

The *explained share* compares data and model. Let p_ij be the fitted distribution of object i over
the other objects, and let q(j|i) = v_ij / sum_j' v_ij' be the distribution under the maps. Then

    explained_i = sum_j min(p_ij, q(j|i)) / sum_j p_ij          from 0 to 1

is the share of row i of P that the model reproduces: the share of responses that the model would
also have given. If all of P is known, the explained share is one minus the total variation distance
between the two rows. The explained share is bounded and has the same meaning in every row. KL(P_i
|| Q_i) lacks these properties. It grows with the number of associates and is dominated by the few
associates that are far away in the maps. If most pairs have a similarity, as judged similarities
do, the explained share is large for any model. It is then reported next to the share that an even
spread over the n - 1 other objects explains,

    sum_j min(p_ij, 1 / (n - 1)) / sum_j p_ij

The *recurring share* compares fits. Let N_k(i) be the k objects with the largest v_ij in this fit.
Let N_k^f(i) be the same set in fit f, which is fitted from another seed or to resampled data. Then

    recurring_i = mean over f of |N_k(i) & N_k^f(i)| / k

is k / (n - 1) by chance. A position with a small explained share can recur if the maps fail to
represent the same associations in every fit. A position with a large explained share need not recur
if there are two equally deep local minima. The two values are therefore stored in separate columns
and are not multiplied.

Shapes: one value for each object, (n,).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from manymaps.analysis.object_order import in_order_of
from manymaps.atlas.atlas import Atlas
from manymaps.checks import check_whole
from manymaps.data.frames import as_frame
from manymaps.errors import DataError
from manymaps.metrics.measures import ratio
from manymaps.model.target import conditional_target, joint_target

if TYPE_CHECKING:
    import pandas as pd


def reliability(atlas: Atlas, fits: Sequence[Atlas] = (), *, n_neighbors: int = 10) -> pd.DataFrame:
    """Measure how reliable the position of each object is.

    Parameters
    ----------
    atlas : Atlas
        The fit whose positions are measured.
    fits : sequence of Atlas
        Other fits of the same objects, in any order, from other seeds or to resampled data
        (`repeat_fits`). By default, there are no other fits, and only the explained share is
        computed.
    n_neighbors : int, default=10
        Number of nearest neighbours per object for the recurring share, at least 1.

    Returns
    -------
    DataFrame
        One row per object: "label", "kind" (if there are two kinds), "explained",
        "explained_by_even_spread" and, with other fits, "recurring" (by chance, k / (n - 1)). The
        explained share requires that the atlas contains the fitted data. These are the strongest
        associations or the vectors, from which similarities are recomputed. It is NaN if the atlas
        is bipartite, if vectors were omitted from a file, or for an object without data. The even
        spread is NaN if at most half of the pairs have a similarity.

    Raises
    ------
    DataError
        If a fit and the atlas contain different objects.
    ParameterError
        If the number of neighbours is below 1.

    See Also
    --------
    evaluate, repeat_fits

    Examples
    --------
    A map with *tie* next to *knot* only explains half of the associations of *tie*:

    >>> import numpy as np
    >>> from scipy import sparse
    >>> from manymaps import Atlas, reliability
    >>> from manymaps.model import MULTIPLE_MAPS_T_SNE
    >>> recalled = sparse.csr_array([[0, .5, .5], [1, 0, 0], [1, 0, 0]])
    >>> atlas = Atlas(["tie", "knot", "suit"], np.array([[[0.0], [0.1], [900.0]]]),
    ...               np.ones((1, 3)), MULTIPLE_MAPS_T_SNE, associations=recalled)
    >>> reliability(atlas).explained.round(2).tolist()
    [0.5, 1.0, 0.5]
    >>> reliability(atlas, [atlas], n_neighbors=1).recurring.tolist()
    [1.0, 1.0, 1.0]
    """
    check_whole("n_neighbors", n_neighbors)
    fits = list(fits) if isinstance(fits, Iterable) else [fits]
    for fit in (atlas, *fits):
        if not isinstance(fit, Atlas):
            raise DataError(
                f"an object of type {type(fit).__name__} is not an Atlas; pass the atlas_ "
                "of a fit and a list of the atlases of other fits"
            )
    return reliability_with(atlas, in_order_of(atlas, fits), n_neighbors)


def reliability_with(atlas: Atlas, others: Sequence[Atlas], n_neighbors: int) -> pd.DataFrame:
    """Return the `reliability` for fits whose objects are already in the order of the atlas."""
    columns = {"label": np.array(atlas.labels, dtype=object)}
    if atlas.kinds is not None:
        columns["kind"] = np.array(atlas.kinds)
    columns["explained"], columns["explained_by_even_spread"] = _explained(atlas)
    if others:
        near = _nearest(atlas, n_neighbors)
        common = sum(near.multiply(_nearest(other, n_neighbors)).sum(axis=1) for other in others)
        columns["recurring"] = ratio(common, len(others) * near.sum(axis=1))
    return as_frame(columns)


def mean_explained(atlas: Atlas) -> tuple[float, float]:
    """Return the mean shares of the data that the maps and an even spread explain, or NaN."""
    known = [shares[np.isfinite(shares)] for shares in _explained(atlas)]
    explained, spread = (float(shares.mean()) if len(shares) else np.nan for shares in known)
    return explained, spread


def explained_by_even_spread(table: sparse.csr_array) -> np.ndarray:
    """Compute sum_j min(p_ij, 1 / (n - 1)) / sum_j p_ij for each row of a table, shape (n,).

    All values are NaN if at most half of the pairs have a similarity.

    >>> judged = sparse.csr_array([[0, 0.75, 0.25], [0.5, 0, 0.5], [0.5, 0.5, 0]])
    >>> explained_by_even_spread(judged)
    array([0.75, 1.  , 1.  ])
    """
    n = table.shape[0]
    if 2 * table.nnz <= n * (n - 1):
        return np.full(n, np.nan)
    rows = np.repeat(np.arange(n), np.diff(table.indptr))
    p = table.data.astype(np.float64)
    return ratio(np.bincount(rows, np.minimum(p, 1 / (n - 1)), n), np.bincount(rows, p, n))


def _explained(atlas: Atlas) -> tuple[np.ndarray, np.ndarray]:
    """Compute the shares of each row of P that the maps and an even spread explain, (n,) each."""
    n, fitted = atlas.n_objects, _fitted(atlas)
    if fitted is None:
        return np.full(n, np.nan), np.full(n, np.nan)
    rows = np.repeat(np.arange(n), np.diff(fitted.indptr))
    p = fitted.data.astype(np.float64)
    common = np.minimum(p, atlas.choices.row_shares(rows, fitted.indices))
    explained = ratio(np.bincount(rows, common, n), np.bincount(rows, p, n))
    return explained, explained_by_even_spread(fitted)


def _fitted(atlas: Atlas) -> sparse.csr_array | None:
    """Return the fitted rows, if known; their sums are 1, or less if only a part is stored."""
    if atlas.kinds is not None:
        return None
    if atlas.associations is not None:
        return atlas.associations
    metric = atlas.settings.metric
    if atlas.vectors is None or metric is None or metric == "precomputed":
        return None
    try:
        affinity = atlas.settings.similarities_by()
    except DataError:
        # The affinity is user-defined.
        return None
    similarities = affinity.similarities(atlas.vectors, metric=metric)
    if atlas.model.normalization == "joint":
        similarities = joint_target(similarities, average=not affinity.joint).values
    return conditional_target(similarities).values


def _nearest(atlas: Atlas, count: int) -> sparse.csr_array:
    """Return a table with a 1 for each of the `count` objects with the largest v_ij, (n, n)."""
    n = atlas.n_objects
    neighbors = atlas.choices.strongest(np.arange(n), min(count, max(n - 1, 1)))
    rows, ranks = np.nonzero(neighbors >= 0)
    return sparse.csr_array((np.ones(len(rows)), (rows, neighbors[rows, ranks])), shape=(n, n))
