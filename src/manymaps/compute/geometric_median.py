"""Compute the weighted geometric median of many lists of points, in any number of dimensions.

    median_i = argmin_y  sum_j w_ij |x_j - y|

by Weiszfeld's iteration with the step of Vardi & Zhang (2000, PNAS 97, 1423-1426) at data points:

    y <- y + max(0, 1 - eta / |R|) R / sum_j (w_ij / |x_j - y|)
    R  = sum_j w_ij (x_j - y) / |x_j - y|

The sums are over the points x_j != y, and eta is the total weight of the points at y. A data point
with |R| < eta is the median. The iteration tests each data point that becomes the nearest point. A
median at a data point is therefore found exactly, rather than only approximated.

Arrays: points (n, d) float64, lists as CSR (indptr, indices, weights), medians (k, d) float64.
"""

from __future__ import annotations

import numpy as np

from manymaps.compute.jit import compiled, inlined

__all__ = ["geometric_medians"]

_STEPS = 2000
_ACCURACY = 1e-10
_SAME = 1e-12


@inlined
def _pull(points, indices, weights, y, same, pull):
    """Fill `pull` with R; return the weight at y, the sum of w / distance and the nearest index."""
    pull[:] = 0.0
    at_y, stiffness, nearest, least = 0.0, 0.0, -1, np.inf
    for k in range(indices.size):
        if weights[k] > 0.0:
            d2 = 0.0
            for axis in range(y.size):
                d2 += (points[indices[k], axis] - y[axis]) ** 2
            distance = np.sqrt(d2)
            if distance < least:
                least, nearest = distance, k
            # Points this close are treated as points at y, where the pull is not defined.
            if distance <= same:
                at_y += weights[k]
            else:
                part = weights[k] / distance
                stiffness += part
                for axis in range(y.size):
                    pull[axis] += part * (points[indices[k], axis] - y[axis])
    return at_y, stiffness, nearest


@inlined
def _length(vector):
    total = 0.0
    for axis in range(vector.size):
        total += vector[axis] * vector[axis]
    return np.sqrt(total)


@inlined
def _mean(points, indices, weights, y):
    """Fill y with the weighted mean, and return the largest distance from it."""
    total = weights.sum()
    y[:] = 0.0
    for k in range(indices.size):
        for axis in range(y.size):
            y[axis] += weights[k] / total * points[indices[k], axis]
    radius = 0.0
    for k in range(indices.size):
        if weights[k] > 0.0:
            d2 = 0.0
            for axis in range(y.size):
                d2 += (points[indices[k], axis] - y[axis]) ** 2
            radius = max(radius, d2)
    return np.sqrt(radius)


@inlined
def _median(points, indices, weights, y, pull):
    """Fill y with one median."""
    scale = _mean(points, indices, weights, y)
    tested = -1
    for _ in range(_STEPS):
        at_y, stiffness, nearest = _pull(points, indices, weights, y, _SAME * scale, pull)
        force = _length(pull)
        if stiffness == 0.0 or force <= at_y:
            return
        step = (1.0 - at_y / force) / stiffness
        for axis in range(y.size):
            y[axis] += step * pull[axis]
        if step * force <= _ACCURACY * scale:
            return
        if nearest != tested:
            tested = nearest
            corner = points[indices[nearest]]
            at_corner, _, _ = _pull(points, indices, weights, corner, _SAME * scale, pull)
            if _length(pull) < at_corner * (1.0 - 1e-9):
                y[:] = corner
                return


@compiled
def geometric_medians(first, last, points, indptr, indices, weights, medians):
    """Fill medians first to last for nonnegative weights, with NaN for lists without weight."""
    pull = np.empty(medians.shape[1], np.float64)
    for i in range(first, last):
        start, stop = indptr[i], indptr[i + 1]
        _median(points, indices[start:stop], weights[start:stop], medians[i], pull)
