"""Compute the attraction in a single map, in which proportions are 1 and most sums cancel.

    v_ij = K(|y_i - y_j|^2),    r_ij = v_ij / (v_ij + rest)

For every object i of one side and each object j of a stored pair (i, j),

    pull_i  = 2 sum_j weight_ij r_ij (-d log K / d d2) (y_i - y_j)  = dC / d y_i
    mass    = sum_ij weight_ij r_ij
    cost_i  = - sum_j p_ij log(v_ij + rest)

with weight_ij = p_ij + p_ji. Without background, rest is 0, r is 1, and factors a_i, b_j and
normalizers do not affect the pull. With a background, rest = background / (1 - background) Z /
n_pairs. Under a joint normalization without factors, rest is one number. `compute.attraction`
handles all other cases.

If rest is 0, the pulls of a Gaussian kernel are linear, 2 sum_j weight_ij (y_i - y_j). The cost is
then a quadratic form that does not require another pass over the pairs: sum_i cost_i = sum_i y_i .
pull_i / 2.

Arrays: own (n, d) and others (n_others, d) positions; pairs as CSR. Sums of a row are float32.
"""

from __future__ import annotations

import numpy as np

from manymaps.compute.jit import compiled, inlined
from manymaps.compute.similarity import GAUSSIAN, exp32, log32
from manymaps.compute.threads import share_out

__all__ = ["linear_pulls", "plane_words", "single_map_attraction", "single_map_cost"]

_LANES = 8
_ZERO = np.float32(0.0)
_ONE = np.float32(1.0)
_TWO = np.float32(2.0)
_HALF_WORD = np.uint64(32)


def plane_words(points: np.ndarray) -> np.ndarray:
    """Return x and y of float32 points (n, d) as words (n,) of 64 bits, and no words if d is 1.

    One gather instruction loads both coordinates of a point from a word. The attraction in a map of
    20,000 points took 1.4 ms, and 1.9 ms with separate coordinates.
    """
    return np.ascontiguousarray(points[:, : 2 * (points.shape[1] > 1)]).reshape(-1).view(np.uint64)


@inlined
def _similarity(d2, kind):
    return exp32(-d2) if kind == GAUSSIAN else _ONE / (_ONE + d2)


@inlined
def _pull_and_mass(d2, weight, kind, rest):
    """Return weight r (-d log K / d d2) and weight r of one pair."""
    mass = weight
    if rest > _ZERO:
        similarity = _similarity(d2, kind)
        mass = weight * similarity / (similarity + rest)
    return (mass if kind == GAUSSIAN else mass / (_ONE + d2)), mass


@compiled
def single_map_attraction(
    first, last, axes, chunks, indptr, indices, weights, own, others, words, kind, rest, pull, mass
):
    """Fill pull (n, d) and mass (n,), with `axes` (0,) * d and row boundaries in `chunks`.

    `words` contains the others as `plane_words`, which are used in two and three dimensions.
    """
    # The number of axes is constant in the compiled loop.
    is_plane, is_deep = len(axes) == 2, len(axes) == 3
    for c in range(first, last):
        force = np.empty(len(axes), np.float32)
        for i in range(chunks[c], chunks[c + 1]):
            partners = indices[indptr[i] : indptr[i + 1]]
            weight = weights[indptr[i] : indptr[i + 1]]
            total = _ZERO
            force[:] = _ZERO
            if is_plane or is_deep:
                # Sums in scalars remain in vector registers, whereas sums in an array do not.
                f_x, f_y, f_z = _ZERO, _ZERO, _ZERO
                x, y, z = own[i, 0], own[i, 1], own[i, 2] if is_deep else _ZERO
                for k in range(partners.size):
                    # On a little-endian processor, the lower half is x. In a function of its own,
                    # LLVM would load each half separately.
                    word = words[partners[k]]
                    d_x = x - np.uint32(word).view(np.float32)
                    d_y = y - np.uint32(word >> _HALF_WORD).view(np.float32)
                    d_z = z - others[partners[k], 2] if is_deep else _ZERO
                    d2 = d_x * d_x + d_y * d_y + d_z * d_z
                    slope, part = _pull_and_mass(d2, weight[k], kind, rest)
                    f_x += slope * d_x
                    f_y += slope * d_y
                    f_z += slope * d_z
                    total += part
                force[0], force[1] = f_x, f_y
                if is_deep:
                    force[2] = f_z
            else:
                for k in range(partners.size):
                    j = partners[k]
                    d2 = _ZERO
                    for axis in range(len(axes)):
                        difference = own[i, axis] - others[j, axis]
                        d2 += difference * difference
                    slope, part = _pull_and_mass(d2, weight[k], kind, rest)
                    for axis in range(len(axes)):
                        force[axis] += slope * (own[i, axis] - others[j, axis])
                    total += part
            for axis in range(len(axes)):
                pull[i, axis] = _TWO * force[axis]
            mass[i] = total


@compiled
def single_map_cost(
    first, last, axes, chunks, indptr, indices, forward, own, others, kind, rest, cost
):
    """Fill cost (n,) with - sum_j p_ij log(v_ij + rest)."""
    for c in range(first, last):
        for i in range(chunks[c], chunks[c + 1]):
            partners = indices[indptr[i] : indptr[i + 1]]
            p = forward[indptr[i] : indptr[i + 1]]
            total = _ZERO
            for k in range(partners.size):
                j = partners[k]
                d2 = _ZERO
                for axis in range(len(axes)):
                    difference = own[i, axis] - others[j, axis]
                    d2 += difference * difference
                if rest > _ZERO:
                    total -= p[k] * log32(_similarity(d2, kind) + rest)
                else:
                    total += p[k] * (d2 if kind == GAUSSIAN else log32(_ONE + d2))
            cost[i] = total


@compiled
def _sum_differences(first, last, chunks, indptr, indices, weights, own, others, sums, mass):
    for c in range(first, last):
        line = np.empty(own.shape[1], np.float32)
        for i in range(chunks[c], chunks[c + 1]):
            position, total = own[i], _ZERO
            for k in range(line.size):
                line[k] = _ZERO
            for e in range(indptr[i], indptr[i + 1]):
                weight, other = weights[e], others[indices[e]]
                total += weight
                for k in range(line.size):
                    line[k] += weight * (position[k] - other[k])
            for k in range(sums.shape[1]):
                sums[i, k] = _TWO * line[k]
            mass[i] = total


def linear_pulls(
    chunks: np.ndarray,
    indptr: np.ndarray,
    indices: np.ndarray,
    weights: np.ndarray,
    own: np.ndarray,
    others: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Compute pull (n, d) and mass (n,) of a Gaussian kernel with rest 0, for any d.

    One compiled loop serves all dimensions, because axes are padded to whole registers.
    """
    n, d = own.shape
    spare = (0, 0), (0, -d % _LANES)
    pull, mass = np.empty((n, d), np.float32), np.empty(n, np.float32)
    filled = (np.pad(points, spare) for points in (own, others))
    share_out(
        _sum_differences, len(chunks) - 1, chunks, indptr, indices, weights, *filled, pull, mass
    )
    return pull, mass
