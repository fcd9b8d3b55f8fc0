"""Closeness of objects on a map.

Object j is close to object i on map m if the map gives it a similarity that is not much smaller
than the largest one:

    v_ij^m >= NEAR max_k v_ik^m

`Atlas.senses`, the page and `manymaps senses` use this definition.

Shapes: log similarities of one object on one map (n,), indices of other objects (k,).
"""

from __future__ import annotations

import numpy as np

# Chosen by eye. With a Cauchy kernel and equal proportions, a close object is at a distance of at
# most 4.4 kernel widths if another object coincides with the object.
NEAR = 0.05


def are_close(logs: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Check which objects are close to an object on a map.

    Parameters
    ----------
    logs : ndarray of shape (n,)
        Logarithms of the object's similarities v_ij^m to all objects, up to a constant. They are
        -inf for the object itself.
    others : ndarray of int, shape (k,)
        Indices of the other objects.

    Returns
    -------
    ndarray of bool, shape (k,)

    Examples
    --------
    >>> are_close(np.log([1.0, 0.5, 0.04]), np.array([1, 2])).tolist()
    [True, False]
    """
    found = np.asarray(logs)[others]
    return np.isfinite(found) & (found >= np.max(logs, initial=-np.inf) + np.log(NEAR))
