"""The inverse divergence in dense float64 NumPy: the truth for its compiled sums.

C = scale sum_ij q_ij log(q_ij / p~_ij) + the size penalty,    p~ = (1 - s) p + s / pairs
"""

import numpy as np

import reference


def smoothed(p, normalization, smoothing):
    """p~ of one set of objects, the diagonal at 0; rows that say nothing are smooth alone."""
    n = len(p)
    off = 1 - np.eye(n)
    if normalization == "joint":
        return (1 - smoothing) * p + smoothing * off / (n * (n - 1))
    mass = p.sum(axis=1, keepdims=True)
    rows = np.divide(p, mass, out=np.zeros_like(p), where=mass > 0)
    return (1 - smoothing) * rows + smoothing * off / (n - 1)


def divergence(p, log_q, normalization, smoothing, exaggeration=1.0):
    """sum q log q - exaggeration sum q log p~, over the rows of a conditional P with mass."""
    off = ~np.eye(len(p), dtype=bool)
    if normalization == "conditional":
        off &= p.sum(axis=1, keepdims=True) > 0
    log_p = np.log(smoothed(p, normalization, smoothing)[off])
    q = np.exp(log_q[off])
    with np.errstate(invalid="ignore"):
        terms = np.where(q > 0, q * (log_q[off] - exaggeration * log_p), 0.0)
    return terms.sum()


def cost(p, model, positions, weights, smoothing, penalty=0.0, exaggeration=1.0):
    """The objective of `manymaps.model.inverse` for dense p."""
    side = (positions, weights)
    log_v = reference.log_similarity(model.kernel, side, side, model.kernel_width)
    log_q = reference.log_choice(log_v, model.normalization)
    scale = (p.sum(axis=1) > 0).sum() if model.normalization == "joint" else 1
    value = scale * divergence(p, log_q, model.normalization, smoothing, exaggeration)
    return value + penalty / 2 * (positions**2).sum()


def row_sums(positions, log_pi, log_p, kernel):
    """log Z, mean log v and mean log p~ of each row, self pairs left out."""
    logs = reference.log_kernel(kernel, positions, positions)
    log_v = reference.log_sum(logs + log_pi[:, :, None] + log_pi[:, None, :], axis=0)
    np.fill_diagonal(log_v, -np.inf)
    log_z = reference.log_sum(log_v, axis=1)
    q = np.exp(log_v - log_z[:, None])
    finite = np.where(q > 0, log_v, 0.0)
    return log_z, (q * finite).sum(axis=1), (q * log_p).sum(axis=1)


def slopes(positions, log_pi, log_p, kernel, counts, exaggeration=1.0):
    """dC / d log pi, dC / dy and the shares of every object in every map, by plain sums."""
    n = positions.shape[1]
    logs = reference.log_kernel(kernel, positions, positions)
    logs = logs + log_pi[:, :, None] + log_pi[:, None, :]
    log_v = reference.log_sum(logs, axis=0)
    np.fill_diagonal(log_v, -np.inf)
    log_z, mean_log_v, mean_log_p = row_sums(positions, log_pi, log_p, kernel)
    level = (mean_log_v - exaggeration * mean_log_p)[:, None]
    off = ~np.eye(n, dtype=bool)
    q = np.exp(log_v - log_z[:, None]) * counts[:, None]
    g = np.zeros_like(q)
    g[off] = (q * (np.where(off, log_v, 0) - exaggeration * log_p - level))[off]
    part = np.exp(logs - np.where(off, log_v, 0)) * off
    both = (g + g.T) * part
    difference = positions[:, :, None] - positions[:, None]
    slope = both * reference.relative_slope(kernel, (difference**2).sum(axis=-1))
    pull = -2 * np.einsum("mij,mijk->mik", slope, difference)
    return both.sum(axis=2), pull, ((q + q.T) * part).sum(axis=2)
