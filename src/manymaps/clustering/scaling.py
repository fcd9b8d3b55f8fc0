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
from scipy.spatial.distance import cdist

from manymaps.atlas.atlas import Atlas
from manymaps.checks import check_magnitude
from manymaps.clustering.problem import similarities_from
from manymaps.compute.scaling import centred_products, scaled_axes
from manymaps.errors import DataError
from manymaps.model.choice import T_SNE

# Unknown distances are updated from the positions after every few steps, until the positions change
# by less than this tolerance.
_ROUNDS, _STEPS, _STILL = 500, 5, 1e-5


def similarity_map(values: Any, labels: Sequence[str] | None = None) -> Atlas:
    """Embed similarities in a two-dimensional map by metric scaling.

    Parameters
    ----------
    values : array or data frame of shape (n, n), or Associations
        Similarities, with NaN for unknown pairs. The diagonal is ignored.
    labels : sequence of str, length n, optional
        Labels of the objects. The default is the labels of `values`, or "0", "1", ...

    Returns
    -------
    Atlas
        Atlas of one two-dimensional map, with the method "mds".

    Raises
    ------
    DataError
        If there are fewer than three objects, if the table is not square, or if no similarity of an
        object is known.

    Warns
    -----
    DataWarning
        If the table is not symmetric; the mean of both directions is used.

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
    # The conversion max - value between similarities and dissimilarities is its own inverse.
    data = similarities_from(values, kind="dissimilarity", labels=labels)
    n = data.n_objects
    if n < 3:
        raise DataError(f"a map requires similarities of at least three objects, got {n}")
    check_magnitude(data.values, "the similarities")
    unknown = ~(data.observed | np.eye(n, dtype=bool))
    distances = np.where(unknown, data.pair_values.mean(), data.values)
    if not distances.any():
        distances = 1 - np.eye(n)  # equal similarities correspond to equal distances
    start = scaled_axes(centred_products(distances**2), 2, np.ones(n), most_dense=n)[:, ::-1]
    start = start + 1e-6 * np.random.default_rng(0).normal(size=start.shape) * distances.max()
    points = _scaled(distances, unknown, start)
    points = points - points.mean(axis=0)
    _, _, turned = np.linalg.svd(points, full_matrices=False)
    return Atlas(data.labels, (points @ turned.T)[None], np.ones((1, n)), T_SNE, method="mds")


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
