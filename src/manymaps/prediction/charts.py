"""Maps as charts: each shows a neighbourhood of a space of many dimensions as the plane sees it.

    pi_i^m ~ exp(sharpness cos(x_i, c_m)),                       sum_m pi_i^m = 1
    y_i^m  = (x_i - mean_m) V_m / s_m

with unit vectors x_i, the centres c_m of their spherical k-means, and, under the weights
(pi_i^m)^2, the mean, the principal axes V_m and the longest axis' standard deviation s_m
(`manymaps.affinity.neighborhoods`). So the proportions say in which neighbourhoods an object lies,
and a map's axes are those along which the objects of its own neighbourhood differ: a mixture of
local linear models, as in Roweis, Saul & Hinton (2002), "Global coordination of local linear
models", and Brand (2003), "Charting a manifold".

Shapes: x (n, k); positions (n_maps, n, n_components); proportions (n_maps, n).
"""

from __future__ import annotations

import numpy as np

from manymaps.affinity.neighborhoods import principal_places, spherical_centres
from manymaps.compute.threads import one_blas_thread
from manymaps.model.parameters import log_softmin

__all__ = ["local_charts"]

# 3, 6 and 10 end within .004 of one another.
_SHARPNESS = 6.0


def local_charts(
    directions: np.ndarray, n_maps: int, n_components: int, generator: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Positions and log proportions of maps that are charts of unit vectors.

    Parameters
    ----------
    directions : ndarray of shape (n, k)
        Rows of length 1, or 0 for an object of which nothing is known: it lies in the middle of
        every map, in equal proportions.
    n_maps : int
        At most n.
    n_components : int
        Columns beyond k are 0.
    generator : Generator
        Of the seeds of k-means.

    Returns
    -------
    positions : ndarray of shape (n_maps, n, n_components)
    log_pi : ndarray of shape (n_maps, n)

    Examples
    --------
    >>> angles = np.array([0.0, 0.1, 0.2, 3.0, 3.1, 3.2])
    >>> x = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    >>> positions, log_pi = local_charts(x, 2, 1, np.random.default_rng(0))
    >>> home = log_pi.argmax(axis=0)
    >>> bool(home[0] == home[1] == home[2] != home[3]), positions.shape
    (True, (2, 6, 1))
    """
    with one_blas_thread():
        centres = spherical_centres(directions, n_maps, generator)
        log_pi = log_softmin(-_SHARPNESS * (directions @ centres.T).T)
        positions = np.array(
            [principal_places(directions, np.exp(2 * held), n_components) for held in log_pi]
        )
    return positions, log_pi
