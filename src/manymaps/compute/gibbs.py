"""Sample memberships of additive clusters, and collect the sums for fitting the weights.

    s_ij = sum_k w_k f_ik f_jk + noise of variance sigma^2,   i < j
    log odds of f_ik = 1 / (2 sigma^2) sum_j m_ij f_jk w_k (2 r_ij - w_k)

r_ij is the residual without cluster k, and m_ij states whether the pair is observed (Tenenbaum
1996, sec. 2). Clusters are visited in turn. The part that a cluster explains is added back to the
residuals. While its members change, only sum_j f_jk r_ij and sum_j f_jk m_ij are updated. A flip
therefore costs O(n), and a sweep costs O(n^2 K).

The fit of the weights requires only sums over the pairs. For binary memberships, these sums follow
from the sizes of intersections, without a table of pairs:

    A_kl = sum_i<j m_ij f_ik f_jk f_il f_jl = c (c - 1) / 2 less the unobserved,  c = |k and l|
    b_k  = sum_i<j s_ij f_ik f_jk

For the mean over samples, A_kl uses the products of the means of f_ik f_jk and f_il f_jl if k
differs from l (Tenenbaum 1996, footnote 3).

Term 0 is the constant (f = 1 for all objects), and the clusters follow.

Arrays: values (n, n) and mask (n, n) are symmetric, with 0 on the diagonal and at unobserved pairs.
The mask contains 0 and 1. odd (p, 2) lists the unobserved pairs if `complete` is true, and the
observed pairs otherwise. The other arrays are features (terms, n), weights (terms,), gram (terms,
terms), which is A, and right (terms,), which is b.
"""

from __future__ import annotations

import numpy as np

from manymaps.compute.jit import compiled, inlined

__all__ = ["gibbs_expectations", "moments", "residuals"]


@compiled
def residuals(values, mask, features, weights, result):
    """Fill s_ij - sum_k w_k f_ik f_jk, with 0 for unobserved pairs."""
    n = values.shape[0]
    for i in range(n):
        for j in range(n):
            result[i, j] = values[i, j]
        for k in range(weights.size):
            scale = weights[k] * features[k, i]
            if scale != 0:
                for j in range(n):
                    result[i, j] -= scale * features[k, j] * mask[i, j]


@inlined
def _shift(residual, mask, members, weight):
    """Add the part that a cluster explains to the residuals, or subtract it by a negated weight."""
    for i in range(members.size):
        scale = weight * members[i]
        if scale != 0:
            for j in range(members.size):
                residual[i, j] += scale * members[j] * mask[i, j]


@inlined
def _totals(residual, mask, members, pulls, sizes):
    """Fill pulls_i = sum_j f_j r_ij and sizes_i = sum_j f_j m_ij."""
    pulls[:] = 0.0
    sizes[:] = 0.0
    for j in range(members.size):
        if members[j] != 0:
            for i in range(members.size):
                pulls[i] += members[j] * residual[j, i]
                sizes[i] += members[j] * mask[j, i]


@inlined
def _change(residual, mask, members, i, new, pulls, sizes):
    """Change one membership, and update the sums over the residuals without its cluster."""
    step = new - members[i]
    for j in range(members.size):
        pulls[j] += step * residual[i, j]
        sizes[j] += step * mask[i, j]
    members[i] = new


@inlined
def _sweep(residual, mask, features, weights, precision, uniforms):
    """Visit every membership once, and draw it using uniforms (terms - 1, n)."""
    n = features.shape[1]
    pulls, sizes = np.empty(n), np.empty(n)
    for k in range(1, weights.size):
        members, weight = features[k], weights[k]
        _shift(residual, mask, members, weight)
        _totals(residual, mask, members, pulls, sizes)
        for i in range(n):
            field = precision * weight * (2 * pulls[i] - weight * sizes[i])
            new = 1.0 if uniforms[k - 1, i] < 1 / (1 + np.exp(-field)) else 0.0
            if new != members[i]:
                _change(residual, mask, members, i, new, pulls, sizes)
        _shift(residual, mask, members, -weight)


@compiled
def moments(values, odd, complete, features, gram, right):
    """Add A and b of binary features to `gram` and `right`."""
    terms, n = features.shape
    for k in range(terms):
        for other in range(k, terms):
            size = 0.0
            for i in range(n):
                size += features[k, i] * features[other, i]
            total = size * (size - 1) / 2 if complete else 0.0
            sign = -1.0 if complete else 1.0
            for p in range(odd.shape[0]):
                i, j = odd[p, 0], odd[p, 1]
                total += (
                    sign * features[k, i] * features[k, j] * features[other, i] * features[other, j]
                )
            gram[k, other] += total
            if other != k:
                gram[other, k] += total
        total = 0.0
        for i in range(n):
            if features[k, i] != 0:
                row = 0.0
                for j in range(n):
                    row += values[i, j] * features[k, j]
                total += features[k, i] * row
        right[k] += total / 2


@inlined
def _add_pairs(features, together):
    """Add f_ik f_jk to together (terms, n, n)."""
    terms, n = features.shape
    for k in range(terms):
        for i in range(n):
            if features[k, i] != 0:
                for j in range(n):
                    together[k, i, j] += features[k, j] * features[k, i]


@inlined
def _approximate(values, mask, together, gram, right):
    """Compute A and b, with m_ijk m_ijl in place of m_ijkl if k differs from l."""
    terms, n, _ = together.shape
    for k in range(terms):
        for other in range(k, terms):
            total = 0.0
            for i in range(n):
                for j in range(i):
                    second = together[other, i, j] if other != k else 1.0
                    total += together[k, i, j] * second * mask[i, j]
            gram[k, other] = gram[other, k] = total
        total = 0.0
        for i in range(n):
            for j in range(i):
                total += together[k, i, j] * values[i, j]
        right[k] = total


@compiled
def gibbs_expectations(
    values, mask, features, weights, precisions, n_recorded, uniforms, gram, right, shares
):
    """Sweep at each precision in turn, and fill A, b and P(f = 1) with means of the last samples.

    The shapes are precisions (sweeps,), uniforms (sweeps, terms - 1, n) and shares (terms, n).
    `features` initially contains the start, and finally the last sample.
    """
    terms, n = features.shape
    residual = np.empty((n, n))
    residuals(values, mask, features, weights, residual)
    together = np.zeros((terms, n, n))
    shares[:] = 0.0
    for t in range(precisions.size):
        _sweep(residual, mask, features, weights, precisions[t], uniforms[t])
        if t >= precisions.size - n_recorded:
            shares += features
            _add_pairs(features, together)
    shares /= n_recorded
    _approximate(values, mask, together / n_recorded, gram, right)
