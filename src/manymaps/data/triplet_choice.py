"""Choice model for triplets, which estimates the similarity of every pair from a few judgements.

    u_ij = x_i . x_j + b_i + b_j                                utility of choosing the pair i, j
    P(i, j | i, j, k) = exp u_ij / (exp u_ij + exp u_ik + exp u_jk)         odd one out (k is odd)
    P(j | i; j, k)    = exp u_ij / (exp u_ij + exp u_ik)                    i is closer to j

This is Luce's choice rule with low-dimensional utilities, as in SPoSE (Zheng, Pereira, Baker &
Hebart 2019, ICLR; Hebart, Zheng, Pereira & Baker 2020, Nature Human Behaviour 4, 1173-1185). SPoSE
has sparse, nonnegative dimensions that can be interpreted, whereas this model only estimates the
similarities of unobserved pairs. The result is the expected proportion of choices over many
judgements,

    s_ij = mean over k of P(i, j | i, j, k),      or (P(j | i; j, k) + P(i | j; i, k)) / 2

Among a few hundred objects, most pairs were judged together only a few times or never, so the order
of their counts is mostly random. `benchmarks/triplets.py` compares counts and expectations on
simulated triplets.

The negative log-likelihood plus (penalty / 2) (|x|^2 + |b|^2) is minimized by Adam (Kingma & Ba
2015) on samples of the triplets, with a learning rate that decreases to 0. The penalty determines
the number of dimensions that are used. A dimension is used if its contribution to the sums over
triplets exceeds the penalty. The contribution of chance effects grows with the square root of the
number of triplets per object, so the default penalty is

    penalty = sqrt(n / n_objects)

On simulated themes with 5 to 640 triplets per object, the accuracy on other triplets differs by at
most 0.008 between 0.75 and 1.25 times this value. No constant performs equally well for few and
many triplets.

Shapes: triplets (n, 3) with the chosen pair first, x (n_objects, n_components), b (n_objects,).
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from scipy import sparse

from manymaps.progress import work

# The penalty determines how many components are used, so additional components only take time.
MOST_COMPONENTS = 30
# The rate decreases to 0 over the second half, so that the result does not depend on the last
# samples. Not tuned.
_STEPS = 1500
# Adam (Kingma & Ba 2015) with a memory of 100 steps for squares (0.99) instead of 1,000, because
# the fit has 1,500. Not tuned.
_RATE, _MEMORY, _MEMORY_OF_SQUARES, _LEAST = 0.05, 0.9, 0.99, 1e-8
# Triplets per step: a twentieth of all triplets, within these limits.
_FEWEST, _MOST = 500, 20_000
# Expectations are means over third objects. 300 of them give a standard error of at most 0.03.
_THIRD_OBJECTS = 300
# Each block requires 32 MiB of float64.
_CELLS = 1 << 22

Note = Callable[[float], None]


def options_of(kind: str) -> tuple[tuple[int, int], ...]:
    """Return the pairs of columns that are the options of a triplet, with the chosen pair first.

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
    """Fit the choice model and return the utilities of all pairs.

    Parameters
    ----------
    triplets : array of int, shape (n, 3)
        Indices of the objects, with the chosen pair first.
    n_objects : int
        Number of objects.
    kind : {"odd", "closer"}
        Type of the triplets.
    penalty : float, optional
        Penalty on the parameters, at least 0. The default is sqrt(n / n_objects), where n_objects
        counts only objects in triplets.
    seed : int, default 0
        Seed of the fit.

    Returns
    -------
    ndarray of shape (n_objects, n_objects)
        Symmetric utilities.

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
    with work("learning choices", total=_STEPS) as show_step:
        parameters = _descended(triplets, n_objects, kind, penalty, rng, show_step)
    return _utilities(parameters)


def expected_proportions(utilities: np.ndarray, kind: str, *, seed: int = 0) -> np.ndarray:
    """Compute the expected proportion of choices of each pair, (n, n), with a diagonal of 0.

    Expectations are means over third objects, which are all other objects or a sample of 300.

    Examples
    --------
    >>> expected_proportions(np.zeros((4, 4)), "odd").round(2)[0].tolist()
    [0.0, 0.33, 0.33, 0.33]
    """
    n = len(utilities)
    third_objects = np.arange(n)
    if n > _THIRD_OBJECTS:
        third_objects = np.random.default_rng(seed).choice(n, _THIRD_OBJECTS, replace=False)
    proportions = np.zeros((n, n))
    step = max(1, _CELLS // (n * len(third_objects)))
    with work("expecting choices", total=n) as show_object:
        for start in range(0, n, step):
            i = np.arange(start, min(start + step, n))
            with np.errstate(over="ignore"):
                # (i, j, k): exponential of the utility of another pair of the triplet minus that of
                # pair i, j.
                of_first = np.exp(utilities[i][:, None, third_objects] - utilities[i][:, :, None])
                of_second = np.exp(utilities[None, :, third_objects] - utilities[i][:, :, None])
            if kind == "odd":
                chosen = 1 / (1 + of_first + of_second)
            else:
                chosen = (1 / (1 + of_first) + 1 / (1 + of_second)) / 2
            third = (third_objects != i[:, None])[:, None, :] & (
                third_objects != np.arange(n)[:, None]
            )[None]
            proportions[i] = (chosen * third).sum(axis=2) / np.maximum(third.sum(axis=2), 1)
            show_object(i[-1] + 1)
    np.fill_diagonal(proportions, 0)
    return proportions


def _utilities(parameters: np.ndarray) -> np.ndarray:
    x, b = parameters[:, :-1], parameters[:, -1]
    return np.asarray(x @ x.T + b + b[:, None])


def _luce(utilities: np.ndarray) -> np.ndarray:
    weights = np.exp(utilities - utilities.max(axis=1, keepdims=True))
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def _descended(
    triplets: np.ndarray,
    n_objects: int,
    kind: str,
    penalty: float,
    rng: np.random.Generator,
    show_step: Note,
) -> np.ndarray:
    """Run all steps of Adam, and return x with b in the last column."""
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
        # This scales the gradient per object, so that the learning rate does not depend on the
        # number of objects.
        gradient = (gradient * (n / size) + penalty * parameters) * (n_objects / n)
        mean += (1 - _MEMORY) * (gradient - mean)
        square += (1 - _MEMORY_OF_SQUARES) * (gradient**2 - square)
        rate = _RATE * min(1.0, 2 * (1 - step / _STEPS))
        scale = np.sqrt(square / (1 - _MEMORY_OF_SQUARES**step)) + _LEAST
        parameters -= rate * mean / (1 - _MEMORY**step) / scale
        show_step(step)
    return parameters


def _gradient(parameters: np.ndarray, triplets: np.ndarray, kind: str) -> np.ndarray:
    """Return the gradient of the negative log-likelihood, with the shape of `parameters`."""
    objects = [parameters[triplets[:, c]] for c in range(3)]
    options = options_of(kind)
    utilities = [
        (objects[a][:, :-1] * objects[b][:, :-1]).sum(axis=1)
        + objects[a][:, -1]
        + objects[b][:, -1]
        for a, b in options
    ]
    slopes = _luce(np.stack(utilities, axis=1))
    slopes[:, 0] -= 1
    parts = [np.zeros_like(object_parameters) for object_parameters in objects]
    for k, (a, b) in enumerate(options):
        slope = slopes[:, k : k + 1]
        for target, source in ((a, b), (b, a)):
            parts[target][:, :-1] += slope * objects[source][:, :-1]
            parts[target][:, -1:] += slope
    owners = triplets.T.ravel()
    ones = (np.ones(len(owners)), owners, np.arange(len(owners) + 1))
    sums = sparse.csr_array(ones, shape=(len(owners), len(parameters)))
    return np.asarray(sums.T @ np.concatenate(parts))
