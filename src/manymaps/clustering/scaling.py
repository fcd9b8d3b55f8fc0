"""Two-dimensional map of similarities by metric scaling, as a background for drawing clusters.

    stress = sum_{i<j} (max s - s_ij - |y_i - y_j|)^2

The sum is over pairs with known similarity. Unknown distances start at the mean of the known
distances. After every few steps, the current distances in the map replace them, so they do not
contribute to the stress. Each step therefore reduces the stress of the known pairs. The algorithm
is SMACOF (de Leeuw 1977, Applications of convex analysis to multidimensional scaling). It starts
from classical scaling (Torgerson 1952), so the result does not depend on a seed. The axes are
rotated to the principal axes.

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

# Unknown distances are updated from the positions after every few steps, until the positions change
# by less than this tolerance.
_ROUNDS, _STEPS, _STILL = 500, 5, 1e-5


def similarity_map(values: Any, labels: Sequence[str] | None = None) -> Atlas:
    """Embed similarities in a two-dimensional map by metric scaling.

    Parameters
    ----------
    values : array or data frame of shape (n, n), Associations or Judgements
        Similarities, with NaN for unknown pairs. The diagonal is ignored. Judgements are averaged
        over judges. If only one direction of a pair is known, its similarity is used.
    labels : sequence of str, length n, optional
        Labels of the objects. The default is the labels of `values`, or "0", "1", ...

    Returns
    -------
    Atlas
        Atlas of one two-dimensional map, with the method "mds".

    Raises
    ------
    DataError
        If there are fewer than three objects, if the table is not square, or if no similarity is
        known.

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
    table_labels: Sequence[str] | None
    values = as_associations(values)
    if isinstance(values, Associations):
        table_labels, values = values.labels, table_of(values)
    else:
        table_labels, values = labelled_values(values, square=True)
    values = checked_table(values, "the similarities")
    table = values.toarray() if sparse.issparse(values) else np.array(values)
    table = table.astype(np.float64)
    n = len(table)
    labels = labels if labels is not None else table_labels or [str(i) for i in range(n)]
    if table.shape != (n, n) or n < 3:
        raise DataError(
            f"the similarities have shape {table.shape}; expected a square table of at "
            "least three objects"
        )
    cell = first_cell(table, np.isinf)
    if cell is not None:
        raise DataError(
            f"the similarity in row {cell.row}, column {cell.column} is infinite; expected finite "
            "values, or NaN if missing"
        )
    check_magnitude(np.nan_to_num(table), "the similarities")
    table = np.where(np.isnan(table), table.T, table)
    np.fill_diagonal(table, np.nan)
    unknown = np.isnan(table) & ~np.eye(n, dtype=bool)
    if np.isnan(table).all():
        raise DataError(
            "all similarities are unknown (NaN); a map requires at least one known pair"
        )
    table = np.where(np.isnan(table), np.nanmean(table), table)
    table = (table + table.T) / 2
    distances = table[~(unknown | np.eye(n, dtype=bool))].max() - table
    np.fill_diagonal(distances, 0.0)
    if not distances.any():
        distances = 1 - np.eye(n)  # equal similarities correspond to equal distances
    start = scaled_axes(centred_products(distances**2), 2, np.ones(n), most_dense=n)[:, ::-1]
    start = start + 1e-6 * np.random.default_rng(0).normal(size=start.shape) * distances.max()
    points = _scaled(distances, unknown, start)
    points = points - points.mean(axis=0)
    _, _, turned = np.linalg.svd(points, full_matrices=False)
    return Atlas(labels, (points @ turned.T)[None], np.ones((1, n)), T_SNE, method="mds")


def _scaled(distances: np.ndarray, unknown: np.ndarray, start: np.ndarray) -> np.ndarray:
    """Compute positions by SMACOF, with map distances in place of unknown distances."""
    from sklearn.manifold import smacof

    options = {"n_init": 1, "normalized_stress": False}
    if not unknown.any():
        points, _ = smacof(distances, init=start, **options)
        return np.asarray(points)
    for _ in range(_ROUNDS):
        points, _ = smacof(distances, init=start, max_iter=_STEPS, **options)
        if np.abs(points - start).max() <= _STILL * np.abs(points).max():
            break
        start, distances = points, np.where(unknown, cdist(points, points), distances)
    return np.asarray(points)
