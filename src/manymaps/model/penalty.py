"""Penalty on the size of the maps (Cook et al. 2007, section 4).

    (strength / 2) sum_m sum_i |y_i^m|^2

The penalty is added to the cost summed over rows. A given strength therefore causes the same pull
on every object, independently of the number of objects and the normalization (see
`manymaps.model.objective`).
"""

from __future__ import annotations

import numpy as np


def size_penalty(positions: np.ndarray, strength: float) -> tuple[float, np.ndarray | float]:
    """Compute the value and the gradient of the penalty.

    >>> import numpy as np
    >>> value, gradient = size_penalty(np.array([[[3.0, 4.0]]]), 0.1)
    >>> round(value, 3), gradient.round(3).tolist()
    (1.25, [[[0.3, 0.4]]])
    """
    if strength == 0:
        return 0.0, 0.0
    flat = positions.ravel()
    value = 0.5 * strength * float(np.einsum("i,i->", flat, flat, dtype=np.float64))
    return value, positions.dtype.type(strength) * positions
