"""Find the most similar objects in fitted maps.

    v_ij = sum_m pi_i^m pi_j^m K(|y_i^m - y_j^m|^2)

Arrays: maps (n_maps, n_components, n) in units of the kernel width and proportions (n_maps, n) in
float64; `partners` (n_rows, count) and `values` of the same shape, strongest first. Kernels are
integer codes of `manymaps.compute.similarity`.
"""

from __future__ import annotations

import numpy as np

from manymaps.compute.jit import compiled, inlined
from manymaps.compute.similarity import GAUSSIAN

__all__ = ["strongest_choices"]

# Objects have weight in few of the maps. If a map with a smaller proportion is skipped, a
# similarity changes by less than this value, because the other proportion and the kernel are at
# most 1.
_NEGLIGIBLE = 1e-5


@inlined
def _add_map(points, proportions, i, kind, distances, similarities):
    """Add the contribution of one map to the similarities of object i."""
    distances[:] = 0.0
    for axis in range(points.shape[0]):
        own = points[axis, i]
        for j in range(distances.size):
            distances[j] += (points[axis, j] - own) * (points[axis, j] - own)
    own = proportions[i]
    if kind == GAUSSIAN:
        for j in range(distances.size):
            similarities[j] += own * proportions[j] * np.exp(-distances[j])
    else:
        for j in range(distances.size):
            similarities[j] += own * proportions[j] * (1.0 / (1.0 + distances[j]))


@compiled
def strongest_choices(first, last, maps, proportions, kind, rows, partners, values):
    """Fill the most similar objects (tied objects in index order), or -1 if there are no more.

    Maps in which an object has a proportion below 1e-5 are skipped. Similarities are float64. An
    object whose similarities all underflow has no choices.
    """
    count = partners.shape[1]
    for r in range(first, last):
        i = rows[r]
        similarities, distances = np.zeros(proportions.shape[1]), np.zeros(proportions.shape[1])
        for m in range(proportions.shape[0]):
            if proportions[m, i] >= _NEGLIGIBLE:
                _add_map(maps[m], proportions[m], i, kind, distances, similarities)
        similarities[i] = 0.0
        partners[r] = -1
        values[r] = 0.0
        for j in range(similarities.size):
            value = similarities[j]
            if value > values[r, count - 1]:
                place = count - 1
                while place > 0 and value > values[r, place - 1]:
                    values[r, place] = values[r, place - 1]
                    partners[r, place] = partners[r, place - 1]
                    place -= 1
                values[r, place], partners[r, place] = value, j
