"""Maps as charts, each of which shows one neighbourhood of a high-dimensional space.

    pi_i^m ~ exp(sharpness cos(x_i, c_m)),                       sum_m pi_i^m = 1
    y_i^m  = (x_i - mean_m) V_m / s_m

The x_i are unit vectors and the c_m are their cluster centres by spherical k-means. The mean, the
principal axes V_m and the standard deviation s_m along the longest axis are weighted by (pi_i^m)^2
(`manymaps.affinity.network`). The proportions therefore indicate the neighbourhoods of an
object. The objects in the neighbourhood of a map differ most along the axes of this map. The model
is a mixture of local linear models, as in Roweis, Saul & Hinton (2002), "Global coordination of
local linear models", and Brand (2003), "Charting a manifold".

Shapes: x (n, k), positions (n_maps, n, n_components), proportions (n_maps, n).
"""

from __future__ import annotations

import numpy as np

from manymaps.affinity.network import principal_places, spherical_centres
from manymaps.compute.threads import one_blas_thread
from manymaps.model.parameters import log_softmin

# With values of 3, 6 and 10, the errors differ by at most 0.004.
_SHARPNESS = 6.0


def local_charts(
    directions: np.ndarray, n_maps: int, n_components: int, generator: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Compute positions and log proportions of maps that are charts of unit vectors.

    Parameters
    ----------
    directions : ndarray of shape (n, k)
        Rows of length 1, or of length 0 for objects without data. Objects without data are at the
        centre of every map, with equal proportions.
    n_maps : int
        Number of maps, at most n.
    n_components : int
        Number of dimensions of each map. Coordinates in dimensions beyond k are 0.
    generator : Generator
        Random generator for the initial centres of k-means.

    Returns
    -------
    positions : ndarray of shape (n_maps, n, n_components)
        Coordinates of the objects in each map.
    log_pi : ndarray of shape (n_maps, n)
        Natural logarithms of the proportions.

    Examples
    --------
    >>> angles = np.array([0.0, 0.1, 0.2, 3.0, 3.1, 3.2])
    >>> x = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    >>> positions, log_pi = local_charts(x, 2, 1, np.random.default_rng(0))
    >>> nearest = log_pi.argmax(axis=0)
    >>> bool(nearest[0] == nearest[1] == nearest[2] != nearest[3]), positions.shape
    (True, (2, 6, 1))
    """
    with one_blas_thread():
        centres = spherical_centres(directions, n_maps, generator)
        log_pi = log_softmin(-_SHARPNESS * (directions @ centres.T).T)
        places = [principal_places(directions, np.exp(2 * row), n_components) for row in log_pi]
    return np.array(places), log_pi
