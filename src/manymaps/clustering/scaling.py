"""A plain map of similarities by metric scaling, for what is drawn over a map.

    stress = sum_{i<j} (max s - s_ij - |y_i - y_j|)^2

over the pairs whose similarity is known. Any other pair has the distance that the map itself gives
it, anew after every few steps, so that it adds nothing to the stress there and each step brings
down that of the known pairs; at first it has the mean of those. SMACOF (de Leeuw 1977, Applications
of convex analysis to multidimensional scaling) brings it down from the positions of classical
scaling (Torgerson 1952), so that the result needs no seed. The axes are turned to the principal
ones.

Shapes: similarities (n, n), positions (n, 2).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse
from scipy.spatial.distance import cdist

from manymaps.atlas.atlas import Atlas
from manymaps.checks import check_magnitude, first_cell
from manymaps.clustering.problem import table_of
from manymaps.compute.scaling import centred_products, scaled_axes
from manymaps.data.associations import Associations
from manymaps.data.frame_labels import labelled_values
from manymaps.data.trials import as_associations
from manymaps.data.vectors import checked_table
from manymaps.errors import DataError
from manymaps.model.choice import T_SNE

__all__ = ["similarity_map"]

# Unknown distances are taken from the points after every few steps, until the points rest.
_ROUNDS, _STEPS, _STILL = 500, 5, 1e-5


def similarity_map(values: Any, labels: Sequence[str] | None = None) -> Atlas:
    """A map of similarities by metric scaling, for drawing on.

    Parameters
    ----------
    values : array or frame of shape (n, n), Associations or Judgements
        Similarities, of judgements their average; the diagonal is not read, and a pair that is NaN
        (unknown) does not count. One that is known in one direction has that similarity.
    labels : sequence of str, length n, optional
        Otherwise those of the frame or associations, or "0", "1", ...

    Returns
    -------
    Atlas
        One map of two dimensions, by the method "mds".

    Raises
    ------
    DataError
        For fewer than three objects, or a table that is not square.

    See Also
    --------
    plot_features, AdditiveClustering

    Examples
    --------
    >>> import numpy as np
    >>> from manymaps import similarity_map
    >>> atlas = similarity_map(np.array([[0, 9, 1], [9, 0, 1], [1, 1, 0]]), ["a", "b", "c"])
    >>> a, b, c = atlas.maps[0]
    >>> bool(np.hypot(*(a - b)) < np.hypot(*(a - c)))
    True
    """
    own: Sequence[str] | None
    values = as_associations(values)
    if isinstance(values, Associations):
        own, values = values.labels, table_of(values)
    else:
        own, values = labelled_values(values, square=True)
    values = checked_table(values, "the similarities")
    table = values.toarray() if sparse.issparse(values) else np.array(values)
    table = table.astype(np.float64)
    n = len(table)
    labels = labels if labels is not None else own or [str(i) for i in range(n)]
    if table.shape != (n, n) or n < 3:
        raise DataError(
            f"the similarities have the shape {table.shape}; a map needs a square table of at "
            "least three objects"
        )
    cell = first_cell(table, np.isinf)
    if cell is not None:
        raise DataError(
            f"the similarity in row {cell.row}, column {cell.column} is infinite; similarities are "
            "finite, or NaN where missing"
        )
    check_magnitude(np.nan_to_num(table), "the similarities")
    table = np.where(np.isnan(table), table.T, table)
    np.fill_diagonal(table, np.nan)
    unknown = np.isnan(table) & ~np.eye(n, dtype=bool)
    if np.isnan(table).all():
        raise DataError("none of the similarities is known; there is nothing to map")
    table = np.where(np.isnan(table), np.nanmean(table), table)
    table = (table + table.T) / 2
    distances = table[~(unknown | np.eye(n, dtype=bool))].max() - table
    np.fill_diagonal(distances, 0.0)
    if not distances.any():
        distances = 1 - np.eye(n)  # all are alike, and as far from one another
    start = scaled_axes(centred_products(distances**2), 2, np.ones(n), most_dense=n)[:, ::-1]
    start = start + 1e-6 * np.random.default_rng(0).normal(size=start.shape) * distances.max()
    points = _scaled(distances, unknown, start)
    points = points - points.mean(axis=0)
    _, _, turned = np.linalg.svd(points, full_matrices=False)
    return Atlas(labels, (points @ turned.T)[None], np.ones((1, n)), T_SNE, method="mds")


def _scaled(distances: np.ndarray, unknown: np.ndarray, start: np.ndarray) -> np.ndarray:
    """Positions by SMACOF, which sees the map's own distances where none is known."""
    from sklearn.manifold import smacof

    how = {"n_init": 1, "normalized_stress": False}
    if not unknown.any():
        points, _ = smacof(distances, init=start, **how)
        return np.asarray(points)
    for _ in range(_ROUNDS):
        points, _ = smacof(distances, init=start, max_iter=_STEPS, **how)
        if np.abs(points - start).max() <= _STILL * np.abs(points).max():
            break
        start, distances = points, np.where(unknown, cdist(points, points), distances)
    return np.asarray(points)
