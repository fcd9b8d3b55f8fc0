"""Slow twins in float64 NumPy: the truth for compiled functions. The model is `model/dense.py`."""

from itertools import combinations

import numpy as np
from scipy.optimize import brentq

from manymaps.model import dense

KERNELS = ("gaussian", "cauchy")
#: The same and a kernel that only files contain, the degrees of freedom of Student's kernel.
STORED_KERNELS = (*KERNELS, 4.0)


def log_kernel_of(kernel, d2):
    """log K of squared distances."""
    if kernel == "gaussian":
        return -d2
    a = 1.0 if kernel == "cauchy" else (kernel + 1) / 2
    return -a * np.log1p(d2 / a)


def relative_slope(kernel, d2):
    """-d log K / d d2 of squared distances."""
    return np.ones_like(d2) if kernel == "gaussian" else 1 / (1 + d2)


def log_kernel(kernel, left, right):
    """log K between all points of left (.., n, d) and right (.., k, d)."""
    d2 = ((left[..., :, None, :] - right[..., None, :, :]) ** 2).sum(axis=-1)
    return log_kernel_of(kernel, d2)


def log_sum(logs, axis=None):
    """log sum exp."""
    return np.logaddexp.reduce(logs, axis=axis)


def field(targets, sources, log_charges, skip, kernel):
    """log potential and (force / potential) of points (n, d) by the sum over all sources."""
    logs = log_kernel(kernel, targets, sources) + log_charges
    rows = np.flatnonzero(skip >= 0)
    logs[rows, skip[rows]] = -np.inf
    log_potential = log_sum(logs, axis=1)
    with np.errstate(invalid="ignore"):
        share = np.nan_to_num(np.exp(logs - log_potential[:, None]))
    difference = targets[:, None] - sources
    slope = share * relative_slope(kernel, (difference**2).sum(-1))
    return log_potential, -2 * np.einsum("ij,ijk->ik", slope, difference)


def log_proportions(weights):
    """log pi from w, over the first axis."""
    return -weights - log_sum(-weights, axis=0)


def log_similarity(kernel, rows, columns, width=1.0, log_a=0.0, log_b=0.0, same=True):
    """log v_ij for (positions, weights) of rows and columns; self pairs at -inf."""
    factors = np.reshape(log_a, (-1, 1)) + np.reshape(log_b, (1, -1))
    log_v = dense.log_v(kernel, rows, columns, width, factors)
    if same:
        np.fill_diagonal(log_v, -np.inf)
    return log_v


def log_choice(log_v, normalization, background=0.0):
    """log q_ij from log v_ij."""
    return dense.log_q(log_v, normalization == "joint", background)


kl = dense.divergence


def cost(p, model, sides, penalty=0.0, log_a=0.0, log_b=0.0):
    """The objective of `manymaps.model.objective` for dense p."""
    factors = np.reshape(log_a, (-1, 1)) + np.reshape(log_b, (1, -1))
    return dense.cost(p, model, sides, penalty, factors)


def observed_cost(p, observed, model, side, penalty=0.0):
    """The objective of `manymaps.model.dense`: choices among the judged pairs alone."""
    log_v = log_similarity(model.kernel, side, side, model.kernel_width)
    log_v = np.where(observed, log_v, -np.inf)
    joint = model.normalization == "joint"
    divergence = 0.0
    for i, j in zip(*np.nonzero(p), strict=True):
        rows = slice(None) if joint else slice(i, i + 1)
        q = (1 - model.background) * np.exp(log_v[i, j] - log_sum(log_v[rows].ravel()))
        q += model.background / observed[rows].sum()
        divergence += p[i, j] * np.log(p[i, j] / q)
    scale = (p.sum(axis=1) > 0).sum() if joint else 1
    return scale * divergence + penalty / 2 * (side[0] ** 2).sum()


def entropy(p):
    """- sum p log p of each row."""
    return -np.where(p > 0, p * np.log(np.where(p > 0, p, 1)), 0).sum(axis=-1)


def perplexity_rows(d2, perplexity):
    """exp(-beta_i d2) with the beta_i that gives each row its perplexity, by a root search."""

    def row(distances, beta):
        p = np.exp(-beta * (distances - distances.min()))
        return p / p.sum()

    def excess(log_beta, distances):
        return entropy(row(distances, np.exp(log_beta))) - np.log(perplexity)

    return np.array([row(d, np.exp(brentq(excess, -20, 20, args=(d,)))) for d in d2])


def numeric_slope(function, at, along, step=1e-5):
    """Slope of a function of a tuple of arrays along a tuple of directions."""
    up, down = (
        function(tuple(x + sign * step * u for x, u in zip(at, along, strict=True)))
        for sign in (1, -1)
    )
    return (up - down) / (2 * step)


def attraction(p, kernel, positions, log_pi, chooser, chosen, background=0.0, n_choices=1):
    """Pull, share, row mass and row cost of `manymaps.compute.attraction` for one set."""
    logs = log_kernel(kernel, positions, positions) + log_pi[:, :, None] + log_pi[:, None, :]
    log_s = log_sum(logs, axis=0)
    log_model = log_s + chooser[:, None] + chosen
    log_q = log_model
    if background:
        log_model = np.log1p(-background) + log_model
        log_q = np.logaddexp(log_model, np.log(background / n_choices))
    kept = p * np.exp(log_model - log_q)
    part = (kept + kept.T) * np.exp(logs - log_s)
    difference = positions[:, :, None] - positions[:, None]
    slope = part * relative_slope(kernel, (difference**2).sum(axis=-1))
    pull = 2 * np.einsum("mij,mijk->mik", slope, difference)
    return pull, part.sum(axis=2), kept.sum(axis=1), -(p * log_q).sum(axis=1)


def code_log_likelihood(
    counts, rows, columns, row_pi=None, column_pi=None, *,
    normalization="conditional", given="rows", marginals=True,
):  # fmt: skip
    """Mean log-likelihood of a count under CODE (Globerson et al. 2004), in one map or in many."""
    p = counts / counts.sum()
    rows, columns = (np.reshape(part, (-1, *part.shape[-2:])) for part in (rows, columns))
    v = np.zeros_like(p)
    for m in range(len(rows)):
        d2 = ((rows[m][:, None] - columns[m]) ** 2).sum(axis=-1)
        pi = 1.0 if row_pi is None else np.outer(row_pi[m], column_pi[m])
        v += pi * np.exp(-d2)
    if marginals:
        v = v * np.outer(p.sum(axis=1), p.sum(axis=0))
    if normalization == "joint":
        q = v / v.sum()
    else:
        q = v / v.sum(axis=1 if given == "rows" else 0, keepdims=True)
    return float((p * np.log(q)).sum())


def modularity(weights, labels, resolution=1.0):
    """sum_c W_c / W - gamma (K_c / W)^2 of symmetric weights."""
    whole, degrees = weights.sum(), weights.sum(axis=1)
    members = [labels == c for c in np.unique(labels)]
    return sum(
        weights[np.ix_(c, c)].sum() / whole - resolution * (degrees[c].sum() / whole) ** 2
        for c in members
    )


def communities(weights, resolution=1.0):
    """Best merges, then passes of moves of which the best state is kept, each by its modularity."""

    def numbered(labels):
        numbers = {}
        return np.array([numbers.setdefault(c, len(numbers)) for c in labels.tolist()])

    labels = np.arange(len(weights))
    tied = np.flatnonzero(weights.sum(axis=1))
    if len(tied) < len(labels):
        if len(tied):
            labels[tied] = tied[communities(weights[np.ix_(tied, tied)], resolution)]
        return numbered(labels)

    def value(labels):
        return modularity(weights, labels, resolution)

    def merged(labels):
        while True:
            pairs = combinations(np.unique(labels), 2)
            unions = [np.where(labels == d, c, labels) for c, d in pairs]
            best = max(unions, key=value, default=labels)
            if value(best) <= value(labels) + 1e-11:
                return labels
            labels = best

    def moved(labels):
        states, fixed = [labels], set()
        while len(fixed) < len(labels):
            now = states[-1]
            places = {*now.tolist(), next(c for c in range(len(now) + 1) if c not in now)}
            free = [a for a in range(len(now)) if a not in fixed]
            moves = [(a, c) for a in free for c in places if c != now[a]]
            after = [np.where(np.arange(len(now)) == a, c, now) for a, c in moves]
            best = max(range(len(moves)), key=lambda t: value(after[t]))
            fixed.add(moves[best][0])
            states.append(after[best])
        best = max(states, key=value)
        return moved(best) if value(best) > value(labels) + 1e-11 else labels

    while True:
        labels = merged(labels)
        before, labels = labels, moved(labels)
        if value(labels) <= value(before) + 1e-11:
            break
    return numbered(labels)


def weighted_divergence(counts):
    """Jensen-Shannon divergence in nats of the rows' distributions, weighted by their sums.

    The entropy of all rows together less the mean of theirs, of counts (n_groups, n_answers).
    """

    def entropy(row):
        shares = row[row > 0] / row.sum()
        return -np.sum(shares * np.log(shares))

    counts = np.asarray(counts, dtype=np.float64)
    weights = counts.sum(axis=1) / counts.sum()
    return entropy(counts.sum(axis=0)) - sum(
        w * entropy(row) for w, row in zip(weights, counts, strict=True) if w > 0
    )


def agreement(near, seen):
    """Compute sum_k |N_k & N'_k| / k for two lists of objects, nearest first."""
    depth = min(len(near), len(seen))
    return sum(len({*near[:k]} & {*seen[:k]}) / k for k in range(1, depth + 1))
