"""Solvers of additive clustering: one interface, one objective.

    s_ij = sum_k w_k f_ik f_jk + c + noise,   f binary, w >= 0          (Shepard & Arabie 1979)
    objective = log p(s | F, w, c, sigma^2) + log p(F), sigma^2 = S / N at its maximum

with S the squares left over N observed pairs: with a uniform prior, the variance accounted for.

solver         E-step                                     source
GibbsEM        samples, annealed within and between       Tenenbaum 1996, sec. 2
Annealing      samples, the weights at their best         (no E-step)
MeanFieldEM    independent probabilities, a fixed point   the same, sec. 4
ExactEM        all 2^(nK) memberships, nK at most 20      the oracle of the two
Enumeration    none: all sets of clusters, refitted       the oracle of all

The M-step is the same for all: w = argmin w'Aw - 2b'w by non-negative least squares, the constant
as cluster 0. The variance falls from that of the data by `cooling` from one EM iteration to the
next, and within an E-step from `anneal_from` times the iteration's variance down to it.

`Polish` then moves from the memberships of the last iteration to better ones: single flips, then
whole clusters found anew, all weights re-fitted, until nothing helps.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from itertools import combinations, combinations_with_replacement
from math import comb
from typing import Any

import numpy as np

from manymaps.checks import check_choice, check_number, check_whole
from manymaps.clustering.problem import Problem
from manymaps.compute.cluster_moves import (
    anneal,
    best_members,
    fit_weights,
    flip_until_none_helps,
    objective,
)
from manymaps.compute.gibbs import (
    enumerate_expectations,
    gibbs_expectations,
    mean_field_expectations,
    residuals,
)
from manymaps.compute.nonnegative import nonnegative_weights
from manymaps.errors import ParameterError, setting

__all__ = [
    "Annealing", "Cooling", "Enumeration", "ExactEM", "Expectations", "GibbsEM", "MeanFieldEM",
    "Polish", "Solution", "Solver", "improved", "membership_probabilities", "refitted", "solve",
]  # fmt: skip

# A million sets of clusters, each with least squares of its own.
_MOST_BITS = 20
# 4,096 memberships at each iteration of EM.
_MOST_EXACT_BITS = 12
# A perfect fit would have a variance of 0, under which every flip is impossible.
_LEAST_VARIANCE = 1e-10
# For more objects a new cluster grows from seeds in place of a search through all subsets.
_EXHAUSTIVE = 12
# Memberships (objects times clusters) up to which clusters are found again, one or two at a time;
# each such search refits all weights. Trades time for a better optimum; not tuned.
_GROWN = 6000
# New clusters grow from the objects with the largest residuals; not tuned.
_MOST_SEEDS = 32
# The same for two at a time.
_PAIRED = 400
# Ctrl-C and progress are looked at between calls of compiled code.
_SWEEPS_AT_A_TIME = 100


@dataclass(frozen=True)
class Cooling:
    """The noise variance of each EM iteration, in units of the data's variance.

        variance = max(last, first * factor^iteration)

    >>> cooling = Cooling(first=1.0, factor=0.5, last=0.2)
    >>> cooling(0), cooling(2), cooling(9)
    (1.0, 0.25, 0.2)
    """

    first: float = 1.0
    factor: float = 0.9
    last: float = 3e-3

    def __post_init__(self) -> None:
        if not (0 < self.last <= self.first and 0 < self.factor <= 1 and np.isfinite(self.first)):
            raise ParameterError(
                f"{self!r}: the variance must fall from `first` to `last`, both above 0, by a "
                "factor above 0 and at most 1"
            )

    def __call__(self, iteration: int) -> float:
        return max(self.last, self.first * self.factor**iteration)

    @property
    def settled_at(self) -> int:
        """The first iteration from which the value no longer changes."""
        if self.factor == 1:
            return 0
        return max(0, int(np.ceil(np.log(self.last / self.first) / np.log(self.factor) - 1e-9)))


@dataclass(eq=False)
class Expectations:
    """What an E-step leaves: A, b, the mean memberships, and where the next one starts.

    Shapes: gram (terms, terms), right (terms,), shares and features (terms, n).
    """

    gram: np.ndarray
    right: np.ndarray
    shares: np.ndarray
    features: np.ndarray
    log_likelihood: float = np.nan

    @classmethod
    def empty(cls, features: np.ndarray) -> Expectations:
        """Room for the expectations of these terms."""
        terms = len(features)
        return cls(np.zeros((terms, terms)), np.zeros(terms), np.zeros_like(features), features)


@dataclass(frozen=True, eq=False)
class Solution:
    """Memberships and weights, in the units and the order of the problem.

    Attributes
    ----------
    features : ndarray of shape (terms, n)
        The constant, the observed features, then the clusters; 0 or 1.
    weights : ndarray of shape (terms,)
    left : float
        Squares left.
    objective : float
        The log posterior but for a constant; -inf where nothing varies.
    n_iter : int
    converged : bool
    history : dict of str to ndarray
        "variance" (the schedule's) and "vaf" (of the memberships above one half) by iteration, or
        by a hundred sweeps of an annealing.
    """

    features: np.ndarray
    weights: np.ndarray
    left: float
    objective: float
    n_iter: int = 0
    converged: bool = True
    history: dict[str, np.ndarray] = field(default_factory=dict)


def _bounds(problem: Problem) -> tuple[float, float, float, float]:
    base, tie = problem.prior.coefficients
    return problem.squares, float(problem.n_pairs), base, tie


def refitted(problem: Problem, features: np.ndarray, **run: Any) -> Solution:
    """The solution of given memberships (terms, n), with the best weights for them."""
    terms = len(features)
    weights, gram, right = np.zeros(terms), np.zeros((terms, terms)), np.zeros(terms)
    if problem.squares == 0:
        return Solution(features, weights, 0.0, -np.inf, **run)
    left = fit_weights(
        problem.values, problem.odd, problem.complete, features, problem.status,
        problem.squares, gram, right, weights,
    )  # fmt: skip
    value = objective(left, features, weights, problem.first, _bounds(problem))
    return Solution(features, weights, max(0.0, left), value, **run)


class Solver(ABC):
    """Finds memberships and weights of a problem."""

    @abstractmethod
    def solve(self, problem: Problem, generator: np.random.Generator) -> Solution:
        """A solution, from a random start where the method needs one."""


@dataclass(frozen=True)
class _EM(Solver):
    """The loop that all EM solvers share; a subclass gives the E-step."""

    cooling: Cooling = Cooling()
    max_iter: int = 100

    def __post_init__(self) -> None:
        check_whole("max_iter", self.max_iter)

    @abstractmethod
    def expect(
        self,
        problem: Problem,
        start: np.ndarray,
        weights: np.ndarray,
        variance: float,
        generator: np.random.Generator,
    ) -> Expectations:
        """The E-step from the memberships `start` (terms, n) at these weights."""

    def start(self, problem: Problem, generator: np.random.Generator) -> np.ndarray:
        """Memberships to start from, (terms, n): a coin of the prior's for each."""
        return np.vstack([problem.fixed, _coins(problem, generator)])

    def solve(self, problem: Problem, generator: np.random.Generator) -> Solution:
        """EM from a random start until the schedule has settled and the memberships stay."""
        features = self.start(problem, generator)
        if problem.variance == 0 or problem.n_clusters == 0:
            return refitted(problem, features.round())
        weights = refitted(problem, features.round()).weights
        # Clusters that fit a random start by nothing would have no say in the first sweep.
        even = np.sqrt(problem.variance) / problem.n_clusters
        weights[problem.first :] = np.maximum(weights[problem.first :], even)
        history: dict[str, list[float]] = {"variance": [], "vaf": []}
        before, converged = features.round(), False
        for iteration in range(self.max_iter):
            variance = self.cooling(iteration) * problem.variance
            found = self.expect(problem, features, weights, variance, generator)
            features = found.features
            nonnegative_weights(found.gram, found.right, problem.squares, problem.status, weights)
            now = (found.shares > 0.5).astype(np.float64)
            history["variance"].append(variance * problem.scale**2)
            vaf = 1 - refitted(problem, now).left / (problem.n_pairs * problem.variance)
            history["vaf"].append(vaf)
            certain = np.abs(found.shares - now)[weights > 0].max(initial=0.0) < 0.01
            same = np.array_equal(now[weights > 0], before[weights > 0])
            before = now
            if same and certain and iteration >= min(self.cooling.settled_at, self.max_iter - 1):
                converged = True
                break
        return refitted(
            problem, before, n_iter=iteration + 1, converged=converged,
            history={name: np.array(values) for name, values in history.items()},
        )  # fmt: skip


@dataclass(frozen=True)
class GibbsEM(_EM):
    """EM by Gibbs sampling with two-level annealing (Tenenbaum 1996, sec. 2).

    Parameters
    ----------
    cooling : Cooling
        The variance of each iteration.
    max_iter : int
        EM iterations at most.
    anneal_from : float
        How many times the iteration's variance an E-step starts at, at least 1.
    n_annealed, n_recorded : int
        Sweeps on the way down, and sweeps at the iteration's variance whose mean is taken.
    moments : {"exact", "approximate"}
        Four-way moments m_ijkl as recorded, or m_ijk m_ijl for k other than l (the paper's
        footnote 3), which takes a table of (terms, n, n).
    """

    anneal_from: float = 8.0
    n_annealed: int = 10
    n_recorded: int = 10
    moments: str = "exact"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_number("anneal_from", self.anneal_from, least=1)
        check_whole("n_annealed", self.n_annealed, 0)
        check_whole("n_recorded", self.n_recorded)
        check_choice("moments", self.moments, ("exact", "approximate"))

    def expect(
        self,
        problem: Problem,
        start: np.ndarray,
        weights: np.ndarray,
        variance: float,
        generator: np.random.Generator,
    ) -> Expectations:
        """Sample memberships, from hot to the given variance."""
        found = Expectations.empty(start.copy())
        variances = np.concatenate([
            variance * np.geomspace(self.anneal_from, 1, self.n_annealed, endpoint=False),
            np.full(self.n_recorded, variance),
        ])  # fmt: skip
        shape = (len(variances), problem.n_clusters, problem.n_objects)
        gibbs_expectations(
            problem.values, problem.mask, problem.odd, problem.complete,
            found.features, weights, _log_odds(problem, weights), problem.first,
            1 / (2 * variances), self.n_recorded, self.moments == "exact",
            generator.random(shape), found.gram, found.right, found.shares,
        )  # fmt: skip
        return found


@dataclass(frozen=True)
class MeanFieldEM(_EM):
    """EM with independent memberships: a deterministic fixed point from a random start.

    Parameters
    ----------
    cooling : Cooling
    max_iter : int
    anneal_from : float
    n_annealed : int
        Sweeps on the way down; then up to ten times as many until no probability changes by more
        than `tolerance`.
    tolerance : float
    """

    anneal_from: float = 8.0
    n_annealed: int = 10
    tolerance: float = 1e-4

    def start(self, problem: Problem, generator: np.random.Generator) -> np.ndarray:
        """Probabilities about one half, (terms, n)."""
        shares = generator.uniform(0.25, 0.75, (problem.n_clusters, problem.n_objects))
        return np.vstack([problem.fixed, shares])

    def expect(
        self,
        problem: Problem,
        start: np.ndarray,
        weights: np.ndarray,
        variance: float,
        generator: np.random.Generator,
    ) -> Expectations:
        """Iterate the probabilities to their fixed point."""
        found = Expectations.empty(start.copy())
        variances = variance * np.geomspace(self.anneal_from, 1, max(1, self.n_annealed) + 1)
        mean_field_expectations(
            problem.values, problem.mask, problem.odd, problem.complete,
            found.features, weights, _log_odds(problem, weights), problem.first,
            1 / (2 * variances), self.tolerance, found.gram, found.right,
        )  # fmt: skip
        found.shares = found.features.copy()
        return found


@dataclass(frozen=True)
class ExactEM(_EM):
    """EM with the expectations over all 2^(nK) memberships, while nK is at most 20."""

    def expect(
        self,
        problem: Problem,
        start: np.ndarray,
        weights: np.ndarray,
        variance: float,
        generator: np.random.Generator,
    ) -> Expectations:
        """Sum over all memberships; the log likelihood of the weights comes with it."""
        check_enumerable(problem)
        found = Expectations.empty(start.copy())
        odds = _log_odds(problem, weights)
        log_total = enumerate_expectations(
            problem.values, problem.mask, problem.odd, problem.complete,
            found.features, weights, odds, problem.first, 1 / (2 * variance),
            found.gram, found.right, found.shares,
        )  # fmt: skip
        normalizer = problem.n_objects * np.log1p(np.exp(odds[problem.first :])).sum()
        noise = 0.5 * problem.n_pairs * np.log(2 * np.pi * variance)
        found.log_likelihood = log_total - normalizer - noise
        return found


@dataclass(frozen=True)
class Annealing(Solver):
    """Simulated annealing of the memberships, with the weights at their best for each.

    Where EM samples memberships for weights as they stand, here every flip is judged with its
    cluster's weight and the others' re-fitted (a rank-one update): one long run finds what many
    runs of EM find.

    Parameters
    ----------
    first, last : float
        The variance at the first and the last sweep, in units of the data's.
    n_sweeps : int
    """

    first: float = 0.2
    last: float = 3e-3
    n_sweeps: int = 3000

    def __post_init__(self) -> None:
        if not 0 < self.last <= self.first or self.n_sweeps < 1:
            raise ParameterError(
                f"{self!r}: the variance must fall from `first` to `last`, above 0, over at least "
                "one sweep"
            )

    def solve(self, problem: Problem, generator: np.random.Generator) -> Solution:
        """Anneal from random memberships."""
        shape = (problem.n_clusters, problem.n_objects)
        features = np.vstack([problem.fixed, _coins(problem, generator)])
        if problem.variance == 0 or problem.n_clusters == 0:
            return refitted(problem, features)
        terms = len(features)
        gram, right, weights = np.zeros((terms, terms)), np.zeros(terms), np.zeros(terms)
        variances = problem.variance * np.geomspace(self.first, self.last, self.n_sweeps)
        history: dict[str, list[float]] = {"variance": [], "vaf": []}
        for part in np.array_split(variances, -(-self.n_sweeps // _SWEEPS_AT_A_TIME)):
            anneal(
                problem.values, problem.mask, problem.odd, problem.complete, features,
                problem.status, problem.first, _bounds(problem), 1 / (2 * part),
                generator.random((len(part), *shape)), gram, right, weights,
            )  # fmt: skip
            history["variance"].append(part[-1] * problem.scale**2)
            history["vaf"].append(1 - refitted(problem, features).left / problem.squares)
        recorded = {name: np.array(values) for name, values in history.items()}
        return refitted(problem, features, n_iter=self.n_sweeps, history=recorded)


@dataclass(frozen=True)
class Enumeration(Solver):
    """The best of all sets of clusters, each with its weights fitted, while nK is at most 20."""

    def solve(self, problem: Problem, generator: np.random.Generator) -> Solution:
        """The global maximum of the objective."""
        check_enumerable(problem)
        n, count = problem.n_objects, problem.n_clusters
        codes = (np.arange(1 << n)[:, None] >> np.arange(n)) & 1
        best: Solution | None = None
        for chosen in combinations_with_replacement(range(1 << n), count):
            features = np.vstack([problem.fixed, codes[list(chosen)].astype(np.float64)])
            found = refitted(problem, features)
            if best is None or found.objective > best.objective + 1e-9:
                best = found
        assert best is not None
        return best


def check_enumerable(problem: Problem) -> None:
    """Refuse what has too many memberships to be enumerated."""
    bits = problem.n_objects * problem.n_clusters
    if bits > _MOST_BITS:
        raise ParameterError(
            f"{problem.n_objects} objects and {problem.n_clusters} clusters have 2^{bits} "
            f"memberships; enumeration takes at most 2^{_MOST_BITS}: use "
            f"{setting('solver', 'gibbs')}"
        )


def _coins(problem: Problem, generator: np.random.Generator) -> np.ndarray:
    share = 1 / (1 + np.exp(-problem.prior.coefficients[0]))
    return generator.random((problem.n_clusters, problem.n_objects)) < share


def _log_odds(problem: Problem, weights: np.ndarray) -> np.ndarray:
    odds = np.zeros(len(weights))
    odds[problem.first :] = problem.prior.log_odds(weights[problem.first :])
    return odds


@dataclass(frozen=True)
class Polish:
    """Deterministic moves from a solution to better ones, all weights re-fitted at each.

    Parameters
    ----------
    clusters : int
        How many clusters are taken out at a time and found anew, 0 to 2: 0 flips single
        memberships only. Clusters are found among all sets of objects while n is at most 12, and
        by growing sets from the 32 objects of the largest residuals beyond that. Two at a time are
        tried while n * K is at most 400, one while it is at most 6,000. Beyond that the solution is
        compared with one that is built from nothing, cluster by cluster, and the better is kept.
    """

    clusters: int = 2

    def __post_init__(self) -> None:
        check_whole("clusters", self.clusters, 0, 2)

    def improve(self, problem: Problem, start: Solution) -> Solution:
        """The solution from which no move helps."""
        if problem.variance == 0 or problem.n_clusters == 0:
            return start
        state = _flipped(problem, start.features)
        size = problem.n_objects * problem.n_clusters
        possible = 2 if size <= _PAIRED else 1 if size <= _GROWN else 0
        for depth in range(1, 1 + min(self.clusters, possible, problem.n_clusters)):
            state = self._exchange(problem, state, depth)
        if self.clusters and not possible:
            state = max(state, self._build(problem), key=lambda found: found.objective)
        return refitted(
            problem, state.features, n_iter=start.n_iter, converged=start.converged,
            history=start.history,
        )  # fmt: skip

    def _build(self, problem: Problem) -> Solution:
        """Clusters found one after another, each for those before it, then flips."""
        features = np.vstack([problem.fixed, np.zeros((problem.n_clusters, problem.n_objects))])
        for k in range(problem.first, len(features)):
            _grow(problem, features, k)
        return _flipped(problem, features)

    def _exchange(self, problem: Problem, state: Solution, depth: int) -> Solution:
        """Find so many clusters anew at a time, until no choice of them helps."""
        places = range(problem.first, problem.first + problem.n_clusters)
        choices = [c for d in range(1, depth + 1) for c in combinations(places, d)]
        idle, at = 0, 0
        while idle < len(choices):
            features = state.features.copy()
            for k in choices[at]:
                features[k] = 0.0
            for k in choices[at]:
                _grow(problem, features, k)
            found = _flipped(problem, features)
            if found.objective > state.objective + 1e-7:
                state, idle = found, 0
            else:
                idle += 1
            at = (at + 1) % len(choices)
        return state


def _flipped(problem: Problem, features: np.ndarray) -> Solution:
    features = features.copy()
    terms = len(features)
    weights, gram, right = np.zeros(terms), np.zeros((terms, terms)), np.zeros(terms)
    left = flip_until_none_helps(
        problem.values, problem.mask, problem.odd, problem.complete, features, problem.status,
        problem.first, _bounds(problem), gram, right, weights,
    )  # fmt: skip
    return Solution(
        features, weights, left, objective(left, features, weights, problem.first, _bounds(problem))
    )


def _grow(problem: Problem, features: np.ndarray, k: int) -> None:
    """Replace cluster k by the best one for the others."""
    terms, n = features.shape
    weights, gram, right = np.zeros(terms), np.zeros((terms, terms)), np.zeros(terms)
    bounds = _bounds(problem)
    fit_weights(
        problem.values, problem.odd, problem.complete, features, problem.status,
        bounds[0], gram, right, weights,
    )  # fmt: skip
    seeds = np.arange(0)
    if n > _EXHAUSTIVE:
        residual = np.empty((n, n))
        residuals(problem.values, problem.mask, features, weights, residual)
        unexplained = (np.maximum(residual, 0) ** 2).sum(axis=1)
        seeds = np.argsort(-unexplained, kind="stable")[:_MOST_SEEDS]
    best_members(
        problem.values, problem.mask, problem.odd, problem.complete, features, problem.status,
        bounds, gram, right, k, seeds,
    )  # fmt: skip


def solve(
    problem: Problem, solver: Solver, polish: Polish | None, seed: np.random.SeedSequence
) -> Solution:
    """One run: the solver from its random start, then the polish."""
    found = solver.solve(problem, np.random.default_rng(seed))
    return polish.improve(problem, found) if polish is not None else found


def improved(problem: Problem, members: np.ndarray, polish: Polish | None) -> Solution:
    """The solution that the polish reaches from given memberships (n, k), made as many as wanted.

    Missing clusters are found for those before them, one after another; of superfluous ones those
    go whose loss costs least.
    """
    features = np.vstack([problem.fixed, np.ascontiguousarray(members[problem.order].T)])
    for n_left in range(members.shape[1] - 1, problem.n_clusters - 1, -1):
        smaller = problem.of_clusters(n_left)
        without = [
            refitted(smaller, np.delete(features, k, axis=0))
            for k in range(problem.first, len(features))
        ]
        features = max(without, key=lambda found: found.objective).features
    for k in range(len(features), problem.first + problem.n_clusters):
        features = np.vstack([features, np.zeros(problem.n_objects)])
        _grow(problem, features, k)
    found = refitted(problem, features)
    return polish.improve(problem, found) if polish is not None else found


def membership_probabilities(
    problem: Problem, solution: Solution, seed: np.random.SeedSequence
) -> np.ndarray:
    """P(f = 1) of each cluster's members (terms, n) at the fitted weights and residual variance.

    Exact while n K is at most 12; otherwise the share of Gibbs samples, started at the solution.
    """
    if problem.variance == 0 or problem.n_clusters == 0:
        return solution.features.copy()
    variance = max(solution.left / problem.n_pairs, _LEAST_VARIANCE * problem.variance)
    generator = np.random.default_rng(seed)
    solver: _EM
    if problem.n_objects * problem.n_clusters <= _MOST_EXACT_BITS:
        solver = ExactEM()
    else:
        solver = GibbsEM(n_annealed=0, n_recorded=50, anneal_from=1.0)
    return solver.expect(problem, solution.features, solution.weights, variance, generator).shares


def n_distinct_clusters(n_objects: int) -> int:
    """How many clusters of two objects or more there are."""
    return sum(comb(n_objects, size) for size in range(2, n_objects + 1))
