"""Positive and negative map of dissimilarities (Laub & Mueller 2004, JMLR 5, 801-818).

    B = -1/2 J D^2 J = sum_k lambda_k v_k v_k',      J = 1 - 11'/n
    positive map  y_ik = sqrt( lambda_k) v_ik        for the largest eigenvalues
    negative map  y_ik = sqrt(-lambda_k) v_ik        for the most negative eigenvalues

Dissimilarities that are not distances in a Euclidean space have negative eigenvalues, which
classical scaling discards as noise. Laub and Mueller show that they can contain features of their
own. With all axes, D_ij^2 = |y_i+ - y_j+|^2 - |y_i- - y_j-|^2.

Shapes: dissimilarities (n, n), maps (2, n, n_components), proportions (2, n).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from manymaps.atlas.atlas import Atlas
from manymaps.checks import check_choice, check_magnitude, check_whole
from manymaps.clustering.problem import KINDS, similarities_from
from manymaps.compute.scaling import centred_products, scaled_axes
from manymaps.errors import DataError
from manymaps.model.choice import MULTIPLE_MAPS_T_SNE

# For more objects, only the required eigenvectors are computed, which is then faster.
_MOST_DENSE = 1000
# Eigenvalues below this proportion of the largest eigenvalue are treated as 0, as in `diagnose`.
_NEGLIGIBLE = 1e-10


def signed_maps(
    values: Any,
    labels: Sequence[str] | None = None,
    *,
    n_components: int = 2,
    kind: str = "similarity",
) -> Atlas:
    """Embed similarities in a positive and a negative map (Laub & Mueller 2004).

    Parameters
    ----------
    values : array or data frame of shape (n, n), Associations or Judgements
        Similarities or dissimilarities of all pairs. The diagonal is ignored, and both directions
        of a pair are averaged.
    labels : sequence of str, length n, optional
        Labels of the objects. The default is the labels of `values`, or "0", "1", ...
    n_components : int, default 2
        Number of dimensions of each map, less than n.
    kind : {"similarity", "dissimilarity"}, default "similarity"
        Type of the values. Similarities s are converted to dissimilarities max(s) - s.

    Returns
    -------
    Atlas
        Atlas with the positive map 0 and the negative map 1, and the method "signed". The
        proportion of an object in a map is its squared distance from the centre of that map,
        divided by the sum over both maps. Positions are in units of the dissimilarities, so the
        similarities that the atlas computes from them are not fitted to the data.

    Raises
    ------
    DataError
        If the values are invalid, pairs are missing, or all values are equal.
    ParameterError
        If `n_components` or `kind` is invalid.

    See Also
    --------
    diagnose, similarity_map, MultipleMapsTSNE

    References
    ----------
    J. Laub and K.-R. Mueller, Feature discovery in non-metric pairwise data, Journal of Machine
    Learning Research 5 (2004), 801-818.

    Examples
    --------
    >>> import numpy as np
    >>> from manymaps import signed_maps
    >>> D = np.array([[0, 1.0, 1.0], [1.0, 0, 4.0], [1.0, 4.0, 0]])
    >>> atlas = signed_maps(D, ["tie", "knot", "suit"], n_components=1, kind="dissimilarity")
    >>> atlas.maps[1].ravel().round(3).tolist()
    [1.155, -0.577, -0.577]
    """
    check_choice("kind", kind, KINDS)
    data = similarities_from(values, kind=kind, labels=labels)
    n = data.n_objects
    check_whole("n_components", n_components, most=n - 1, why=", less than the number of objects")
    missing = np.argwhere(~data.observed & ~np.eye(n, dtype=bool))
    if len(missing):
        i, j = missing[0]
        raise DataError(
            f"the pair {data.labels[i]!r}, {data.labels[j]!r} has no value; a decomposition "
            "requires the values of all pairs"
        )
    if data.is_constant:
        raise DataError("all values are equal, so the maps would be arbitrary")
    largest = data.largest if kind == "dissimilarity" else data.pair_values.max()
    distances = largest - data.values
    np.fill_diagonal(distances, 0.0)
    check_magnitude(distances, "the dissimilarities")
    products = centred_products(distances**2)
    maps = np.stack([
        scaled_axes(products, n_components, np.ones(n) + np.arange(n) / n, sign=sign,
                    most_dense=_MOST_DENSE)
        for sign in (1.0, -1.0)
    ])  # fmt: skip
    lengths = (maps**2).sum(axis=1)
    maps = np.where(lengths[:, None] > _NEGLIGIBLE * lengths.max(), maps, 0.0)
    # The sign of an eigenvector is arbitrary. The object with the largest coordinate is positive.
    tops = np.take_along_axis(maps, np.abs(maps).argmax(axis=1)[:, None], axis=1)
    maps *= np.where(tops < 0, -1.0, 1.0)
    squares = (maps**2).sum(axis=2)
    total = squares.sum(axis=0)
    positive = np.divide(squares[0], total, out=np.ones(n), where=total > 0)
    proportions = np.stack([positive, 1 - positive])
    return Atlas(data.labels, maps, proportions, MULTIPLE_MAPS_T_SNE, method="signed")
