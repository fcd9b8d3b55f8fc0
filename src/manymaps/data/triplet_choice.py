"""A model of choice for triplets: from few judgements to the similarity of every pair.

    u_ij = x_i . x_j + b_i + b_j                                utility of calling i and j alike
    P(i, j | i, j, k) = exp u_ij / (exp u_ij + exp u_ik + exp u_jk)         odd one out (k is odd)
    P(j | i; j, k)    = exp u_ij / (exp u_ij + exp u_ik)                    i is closer to j

Luce's choice rule with utilities of few dimensions, as in SPoSE (Zheng, Pereira, Baker & Hebart
2019, ICLR; Hebart, Zheng, Pereira & Baker 2020, Nature Human Behaviour 4, 1173-1185), without their
sparse, non-negative dimensions, which are made to be named: here the model only fills gaps. What is
taken from it is the expectation of the proportion that is counted where judgements are many,

    s_ij = mean over k of P(i, j | i, j, k),      or (P(j | i; j, k) + P(i | j; i, k)) / 2

Of a few hundred objects most pairs are asked together a few times or never; counts of these order
them by luck. `benchmarks/triplets.py` compares both on planted triplets.

The negative log-likelihood with (penalty / 2) (|x|^2 + |b|^2) is lowered by Adam (Kingma & Ba 2015)
on samples of the triplets, with a rate that falls to 0. The penalty decides how many of the
dimensions are used: those whose trace in the sums over triplets is larger than it. What chance
makes there grows with the root of the triplets of each object, so that is the usual penalty,

    penalty = sqrt(n / n_objects)

On planted themes, 5 to 640 triplets of each object, accuracy on others differs by at most .008 over
three quarters to one and a quarter of this; no fixed number does as well for few and for many.

Shapes: triplets (n, 3), the chosen pair first; x (n_objects, n_components), b (n_objects,).
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from scipy import sparse

from manymaps.progress import work

__all__ = ["choice_utilities", "expected_proportions", "options_of"]

# The penalty decides how many are used; more only take time.
MOST_COMPONENTS = 30
# The rate falls to 0 over the second half, so that the end does not depend on the last samples. Not
# tuned.
_STEPS = 1500
# Adam (Kingma & Ba 2015); squares are remembered for 100 steps (0.99) in place of 1,000, because
# the fit has 1,500. Not tuned.
_RATE, _MEMORY, _MEMORY_OF_SQUARES, _LEAST = 0.05, 0.9, 0.99, 1e-8
# Triplets per step: a twentieth of all within these limits.
_FEWEST, _MOST = 500, 20_000
# Expectations are means over third objects, of which 300 leave a standard error of at most 0.03.
_THIRD_OBJECTS = 300
# 32 MiB of float64 per block.
_CELLS = 1 << 22

Note = Callable[[float], None]


def options_of(kind: str) -> tuple[tuple[int, int], ...]:
    """The pairs of columns among which a triplet chooses, the chosen one first.

    >>> options_of("odd"), options_of("closer")
    (((0, 1), (0, 2), (1, 2)), ((0, 1), (0, 2)))
    """
    return ((0, 1), (0, 2), (1, 2)) if kind == "odd" else ((0, 1), (0, 2))


def choice_utilities(
    triplets: np.ndarray,
    n_objects: int,
    kind: str,
    *,
    penalty: float | None = None,
    seed: int = 0,
) -> np.ndarray:
    """Utilities of all pairs, symmetric, shape (n_objects, n_objects).

    Parameters
    ----------
    triplets : array of int, shape (n, 3)
    n_objects : int
    kind : {"odd", "closer"}
    penalty : float, optional
        By default sqrt(n / n_objects), of the objects that are in a triplet.
    seed : int

    Examples
    --------
    >>> two_groups = np.array([[0, 1, 2], [0, 1, 3], [2, 3, 0], [2, 3, 1]] * 20)
    >>> u = choice_utilities(two_groups, 4, "odd", penalty=1.0)
    >>> bool(u[0, 1] > u[0, 2] + 1), bool(u[2, 3] > u[1, 3] + 1)
    (True, True)
    """
    rng = np.random.default_rng(seed)
    if penalty is None:
        penalty = math.sqrt(len(triplets) / len(np.unique(triplets)))
    with work("learning choices", total=_STEPS) as at:
        parameters = _descended(triplets, n_objects, kind, penalty, rng, at)
    return _utilities(parameters)


def expected_proportions(utilities: np.ndarray, kind: str, *, seed: int = 0) -> np.ndarray:
    """How often i and j would be found alike, over third objects; (n, n), 0 on the diagonal.

    Third objects are all others, or of more than 300 a sample of so many.

    Examples
    --------
    >>> expected_proportions(np.zeros((4, 4)), "odd").round(2)[0].tolist()
    [0.0, 0.33, 0.33, 0.33]
    """
    n = len(utilities)
    some = np.arange(n)
    if n > _THIRD_OBJECTS:
        some = np.random.default_rng(seed).choice(n, _THIRD_OBJECTS, replace=False)
    proportions = np.zeros((n, n))
    step = max(1, _CELLS // (n * len(some)))
    with work("expecting choices", total=n) as at:
        for start in range(0, n, step):
            i = np.arange(start, min(start + step, n))
            with np.errstate(over="ignore"):
                # (i, j, k): what the others of the triplet have over the pair.
                of_first = np.exp(utilities[i][:, None, some] - utilities[i][:, :, None])
                of_second = np.exp(utilities[None, :, some] - utilities[i][:, :, None])
            if kind == "odd":
                chosen = 1 / (1 + of_first + of_second)
            else:
                chosen = (1 / (1 + of_first) + 1 / (1 + of_second)) / 2
            third = (some != i[:, None])[:, None, :] & (some != np.arange(n)[:, None])[None]
            proportions[i] = (chosen * third).sum(axis=2) / np.maximum(third.sum(axis=2), 1)
            at(i[-1] + 1)
    np.fill_diagonal(proportions, 0)
    return proportions


def _utilities(parameters: np.ndarray) -> np.ndarray:
    x, b = parameters[:, :-1], parameters[:, -1]
    return np.asarray(x @ x.T + b + b[:, None])


def _probabilities(utilities: np.ndarray, triplets: np.ndarray, kind: str) -> np.ndarray:
    """Of each option of each triplet, shape (n, n_options)."""
    options = [utilities[triplets[:, a], triplets[:, b]] for a, b in options_of(kind)]
    return _luce(np.stack(options, axis=1))


def _luce(utilities: np.ndarray) -> np.ndarray:
    weights = np.exp(utilities - utilities.max(axis=1, keepdims=True))
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def _descended(
    triplets: np.ndarray,
    n_objects: int,
    kind: str,
    penalty: float,
    rng: np.random.Generator,
    at: Note,
) -> np.ndarray:
    """Return x and, in the last column, b after all steps of Adam."""
    n = len(triplets)
    n_components = min(MOST_COMPONENTS, n_objects)
    parameters = np.zeros((n_objects, n_components + 1))
    parameters[:, :-1] = rng.normal(size=(n_objects, n_components)) * 0.1
    mean, square = np.zeros_like(parameters), np.zeros_like(parameters)
    size = min(n, max(_FEWEST, min(n // 20, _MOST)))
    order, start = rng.permutation(n), 0
    for step in range(1, _STEPS + 1):
        if start + size > n:
            order, start = rng.permutation(n), 0
        gradient = _gradient(parameters, triplets[order[start : start + size]], kind)
        start += size
        # On the scale of one object, so that the rate does not depend on how many there are.
        gradient = (gradient * (n / size) + penalty * parameters) * (n_objects / n)
        mean += (1 - _MEMORY) * (gradient - mean)
        square += (1 - _MEMORY_OF_SQUARES) * (gradient**2 - square)
        rate = _RATE * min(1.0, 2 * (1 - step / _STEPS))
        whole = np.sqrt(square / (1 - _MEMORY_OF_SQUARES**step)) + _LEAST
        parameters -= rate * mean / (1 - _MEMORY**step) / whole
        at(step)
    return parameters


def _gradient(parameters: np.ndarray, triplets: np.ndarray, kind: str) -> np.ndarray:
    """Of the negative log-likelihood of some triplets, shape of `found`."""
    places = [parameters[triplets[:, c]] for c in range(3)]
    options = options_of(kind)
    utilities = [
        (places[a][:, :-1] * places[b][:, :-1]).sum(axis=1) + places[a][:, -1] + places[b][:, -1]
        for a, b in options
    ]
    slopes = _luce(np.stack(utilities, axis=1))
    slopes[:, 0] -= 1
    parts = [np.zeros_like(place) for place in places]
    for k, (a, b) in enumerate(options):
        slope = slopes[:, k : k + 1]
        for one, other in ((a, b), (b, a)):
            parts[one][:, :-1] += slope * places[other][:, :-1]
            parts[one][:, -1:] += slope
    owners = triplets.T.ravel()
    ones = (np.ones(len(owners)), owners, np.arange(len(owners) + 1))
    sums = sparse.csr_array(ones, shape=(len(owners), len(parameters)))
    return np.asarray(sums.T @ np.concatenate(parts))
