"""Solvers of additive clustering with a common interface and objective.

    s_ij = sum_k w_k f_ik f_jk + c + noise,   f binary, w >= 0          (Shepard & Arabie 1979)
    objective = log p(s | F, w, c, sigma^2), sigma^2 = S / N at its maximum

S is the residual sum of squares over N observed pairs. All memberships are equally likely, so
maximizing the objective is equivalent to maximizing the variance accounted for.

`GibbsEM` is the EM algorithm of Tenenbaum (1996, sec. 2). Its E-step samples memberships at fixed
weights. Its M-step computes w = argmin w'Aw - 2b'w by nonnegative least squares, where the constant
is cluster 0. The variance is multiplied by the factor of `cooling` after each EM iteration,
starting from the variance of the data. Within an E-step, it decreases from `anneal_from` times the
variance of the iteration to that variance.

`Annealing` samples memberships as well, but with refitted weights, and has no E-step.

`Polish` then improves the memberships of the last iteration. It first flips single memberships and
then replaces whole clusters. All weights are refitted at each move, until no move improves the
objective.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from itertools import combinations
from math import comb
from typing import Any, ClassVar, NamedTuple

import numpy as np

from manymaps.checks import check_number, check_whole
from manymaps.clustering.problem import Problem
from manymaps.compute.cluster_moves import (
    anneal,
    best_members,
    fit_weights,
    flip_until_none_helps,
    objective,
)
from manymaps.compute.gibbs import gibbs_expectations, residuals
from manymaps.compute.nonnegative import nonnegative_weights
from manymaps.errors import ParameterError

# This limit is needed because a perfect fit would have zero variance, which would make every flip
# impossible.
_LEAST_VARIANCE = 1e-10
# With more objects, a new cluster is grown from seeds instead of by a search over all subsets.
_EXHAUSTIVE = 12
# Maximum number of memberships (objects times clusters) for replacing clusters one at a time. Each
# replacement refits all weights. The limit is a compromise between time and a better optimum, and
# was not tuned.
_GROWN = 6000
# Number of objects with the largest residuals from which new clusters are grown. The value was not
# tuned.
_MOST_SEEDS = 32
# Maximum number of memberships for replacing clusters two at a time.
_PAIRED = 400
# Interrupts and progress are processed between calls of compiled code.
_SWEEPS_AT_A_TIME = 100


@dataclass(frozen=True)
class Cooling:
    """Noise variance of each EM iteration, in units of the variance of the data.

        variance = max(last, first * factor^iteration)

    Parameters
    ----------
    first : float, default 1.0
        Variance of the first iteration, greater than 0.
    factor : float, default 0.9
        Ratio of the variances of successive iterations, greater than 0 and at most 1.
    last : float, default 0.003
        Minimum variance, greater than 0 and at most `first`.

    Examples
    --------
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
                f"{self!r}: the variance must decrease from `first` to `last`, both above 0, by a "
                "factor above 0 and at most 1"
            )

    def __call__(self, iteration: int) -> float:
        return max(self.last, self.first * self.factor**iteration)

    @property
    def settled_at(self) -> int:
        """Iteration from which the variance is constant."""
        if self.factor == 1:
            return 0
        return max(0, int(np.ceil(np.log(self.last / self.first) / np.log(self.factor) - 1e-9)))


class Expectations(NamedTuple):
    """Results of an E-step: A, b, the mean memberships, and the start of the next E-step.

    Shapes: gram (terms, terms), right (terms,), shares and features (terms, n).
    """

    gram: np.ndarray
    right: np.ndarray
    shares: np.ndarray
    features: np.ndarray


@dataclass(frozen=True, eq=False)
class Solution:
    """Memberships and weights in the units and order of the problem.

    Attributes
    ----------
    features : ndarray of shape (terms, n)
        Binary memberships in the constant, followed by the clusters.
    weights : ndarray of shape (terms,)
        Weights of the terms.
    left : float
        Residual sum of squares.
    objective : float
        Log-likelihood up to an additive constant, or -inf if the data do not vary.
    n_iter : int
        Number of EM iterations or annealing sweeps.
    converged : bool
        Whether the solver converged.
    history : dict of str to ndarray
        Noise variance of the schedule ("variance") and variance accounted for ("vaf"), per
        iteration or per 100 annealing sweeps. The latter is computed from the memberships above one
        half.
    """

    features: np.ndarray
    weights: np.ndarray
    left: float
    objective: float
    n_iter: int = 0
    converged: bool = True
    history: dict[str, np.ndarray] = field(default_factory=dict)
    stopped: ClassVar[bool] = False

    @property
    def cost(self) -> float:
        """Negative objective, by which the best of several solutions is selected."""
        return -self.objective


def refitted(problem: Problem, features: np.ndarray, **run: Any) -> Solution:
    """Return the solution with the given memberships (terms, n) and the best weights for them."""
    terms = len(features)
    weights, gram, right = np.zeros(terms), np.zeros((terms, terms)), np.zeros(terms)
    if problem.squares == 0:
        return Solution(features, weights, 0.0, -np.inf, **run)
    left = fit_weights(
        problem.values, problem.odd, problem.complete, features, problem.status,
        problem.squares, gram, right, weights,
    )  # fmt: skip
    value = objective(left, problem.squares, problem.n_pairs)
    return Solution(features, weights, max(0.0, left), value, **run)


class Solver(ABC):
    """Algorithm that estimates the memberships and weights of a problem."""

    @abstractmethod
    def solve(self, problem: Problem, generator: np.random.Generator) -> Solution:
        """Compute a solution, from a random start if the method requires one."""


@dataclass(frozen=True)
class GibbsEM(Solver):
    """EM by Gibbs sampling with two-level annealing (Tenenbaum 1996, sec. 2).

    The default schedule is short, because a search follows by default.
    `AdditiveClustering.tenenbaum_1996` has the long schedule of the paper.

    Parameters
    ----------
    cooling : Cooling, default Cooling()
        Noise variance of each iteration.
    max_iter : int, default 100
        Maximum number of EM iterations.
    anneal_from : float, default 8.0
        Variance at the start of an E-step divided by the variance of the iteration, at least 1.
    n_annealed : int, default 10
        Number of sweeps while the variance decreases, at least 0.
    n_recorded : int, default 10
        Number of sweeps at the variance of the iteration, at least 1. The estimate is the mean over
        these sweeps.

    Notes
    -----
    The means m_ijkl of f_ik f_jk f_il f_jl are approximated by m_ijk m_ijl if k differs from l
    (footnote 3 of the paper). The means m_ijk require a table of shape (terms, n, n).

    Examples
    --------
    >>> from manymaps import AdditiveClustering, load_integers
    >>> model = AdditiveClustering(8, solver=GibbsEM(), random_state=0).fit(load_integers())
    >>> round(model.variance_accounted_for_, 3)
    1.0
    """

    cooling: Cooling = Cooling()
    max_iter: int = 100
    anneal_from: float = 8.0
    n_annealed: int = 10
    n_recorded: int = 10

    def __post_init__(self) -> None:
        check_whole("max_iter", self.max_iter)
        check_number("anneal_from", self.anneal_from, least=1)
        check_whole("n_annealed", self.n_annealed, 0)
        check_whole("n_recorded", self.n_recorded)

    def solve(self, problem: Problem, generator: np.random.Generator) -> Solution:
        """Run EM from a random start until the schedule and the memberships are constant."""
        features = _random_start(problem, generator)
        if problem.variance == 0:
            return refitted(problem, features)
        weights = refitted(problem, features).weights
        # The start is positive because clusters with zero weight would not affect the first sweep.
        even = np.sqrt(problem.variance) / problem.n_clusters
        weights[1:] = np.maximum(weights[1:], even)
        history: dict[str, list[float]] = {"variance": [], "vaf": []}
        before, converged = features, False
        for iteration in range(self.max_iter):
            variance = self.cooling(iteration) * problem.variance
            gram, right, shares, features = self.expect(
                problem, features, weights, variance, generator
            )
            nonnegative_weights(gram, right, problem.squares, problem.status, weights)
            now = (shares > 0.5).astype(np.float64)
            history["variance"].append(variance * problem.scale**2)
            vaf = 1 - refitted(problem, now).left / (problem.n_pairs * problem.variance)
            history["vaf"].append(vaf)
            certain = np.abs(shares - now)[weights > 0].max(initial=0.0) < 0.01
            same = np.array_equal(now[weights > 0], before[weights > 0])
            before = now
            if same and certain and iteration >= min(self.cooling.settled_at, self.max_iter - 1):
                converged = True
                break
        return refitted(
            problem, before, n_iter=iteration + 1, converged=converged,
            history={name: np.array(values) for name, values in history.items()},
        )  # fmt: skip

    def expect(
        self,
        problem: Problem,
        start: np.ndarray,
        weights: np.ndarray,
        variance: float,
        generator: np.random.Generator,
    ) -> Expectations:
        """Sample from `start` (terms, n) while the variance decreases to the given variance."""
        features, terms = start.copy(), len(start)
        gram, right, shares = np.zeros((terms, terms)), np.zeros(terms), np.zeros_like(features)
        variances = np.concatenate([
            variance * np.geomspace(self.anneal_from, 1, self.n_annealed, endpoint=False),
            np.full(self.n_recorded, variance),
        ])  # fmt: skip
        uniforms = generator.random((len(variances), problem.n_clusters, problem.n_objects))
        gibbs_expectations(
            problem.values, problem.mask, features, weights, 1 / (2 * variances),
            self.n_recorded, uniforms, gram, right, shares,
        )  # fmt: skip
        return Expectations(gram, right, shares, features)


@dataclass(frozen=True)
class Annealing(Solver):
    """Simulated annealing of the memberships with refitted weights.

    EM samples memberships with fixed weights. Annealing instead evaluates each flip with refitted
    weights of all clusters, which requires a rank-one update. One long annealing run finds the same
    solutions as many EM runs.

    Parameters
    ----------
    first : float, default 0.2
        Noise variance of the first sweep, in units of the variance of the data.
    last : float, default 0.003
        Noise variance of the last sweep, greater than 0 and at most `first`.
    n_sweeps : int, default 3000
        Number of sweeps, at least 1.
    """

    first: float = 0.2
    last: float = 3e-3
    n_sweeps: int = 3000

    def __post_init__(self) -> None:
        if not 0 < self.last <= self.first or self.n_sweeps < 1:
            raise ParameterError(
                f"{self!r}: the variance must decrease from `first` to `last`, above 0, in at "
                "least one sweep"
            )

    def solve(self, problem: Problem, generator: np.random.Generator) -> Solution:
        """Anneal from random memberships."""
        shape = (problem.n_clusters, problem.n_objects)
        features = _random_start(problem, generator)
        if problem.variance == 0:
            return refitted(problem, features)
        terms = len(features)
        gram, right, weights = np.zeros((terms, terms)), np.zeros(terms), np.zeros(terms)
        variances = problem.variance * np.geomspace(self.first, self.last, self.n_sweeps)
        history: dict[str, list[float]] = {"variance": [], "vaf": []}
        for part in np.array_split(variances, -(-self.n_sweeps // _SWEEPS_AT_A_TIME)):
            anneal(
                problem.values, problem.mask, problem.odd, problem.complete, features,
                problem.status, problem.squares, 1 / (2 * part),
                generator.random((len(part), *shape)), gram, right, weights,
            )  # fmt: skip
            history["variance"].append(part[-1] * problem.scale**2)
            history["vaf"].append(1 - refitted(problem, features).left / problem.squares)
        recorded = {name: np.array(values) for name, values in history.items()}
        return refitted(problem, features, n_iter=self.n_sweeps, history=recorded)


def _random_start(problem: Problem, generator: np.random.Generator) -> np.ndarray:
    """Draw memberships (terms, n), all equally likely, below the row of the constant."""
    n = problem.n_objects
    return np.vstack([np.ones(n), generator.random((problem.n_clusters, n)) < 0.5])


@dataclass(frozen=True)
class Polish:
    """Deterministic local search that refits all weights at each move.

    Parameters
    ----------
    clusters : int, default 2
        Maximum number of clusters to remove and replace at a time, from 0 to 2. If it is 0, only
        single memberships are flipped. Replacement clusters are found by a search over all subsets
        of objects if n is at most 12. Otherwise they are grown from the 32 objects with the largest
        residuals. Pairs of clusters are replaced only if n * K is at most 400, and single clusters
        only if n * K is at most 6,000. In larger problems, a second solution is built cluster by
        cluster, and the better solution is returned.
    """

    clusters: int = 2

    def __post_init__(self) -> None:
        check_whole("clusters", self.clusters, 0, 2)

    def improve(self, problem: Problem, start: Solution) -> Solution:
        """Improve a solution until no move increases the objective."""
        if problem.variance == 0:
            return start
        state = _flipped(problem, start.features)
        size = problem.n_objects * problem.n_clusters
        possible = 2 if size <= _PAIRED else 1 if size <= _GROWN else 0
        for depth in range(1, 1 + min(self.clusters, possible, problem.n_clusters)):
            state = self._exchange(problem, state, depth)
        if self.clusters and not possible:
            state = max(state, self._build(problem), key=lambda solution: solution.objective)
        return refitted(
            problem, state.features, n_iter=start.n_iter, converged=start.converged,
            history=start.history,
        )  # fmt: skip

    def _build(self, problem: Problem) -> Solution:
        """Build clusters one after another from the residuals, then flip memberships."""
        features = np.zeros((1 + problem.n_clusters, problem.n_objects))
        features[0] = 1.0
        for k in range(1, len(features)):
            _grow(problem, features, k)
        return _flipped(problem, features)

    def _exchange(self, problem: Problem, state: Solution, depth: int) -> Solution:
        """Replace up to `depth` clusters at a time until no replacement improves the objective."""
        terms = range(1, 1 + problem.n_clusters)
        choices = [c for d in range(1, depth + 1) for c in combinations(terms, d)]
        idle, i = 0, 0
        while idle < len(choices):
            features = state.features.copy()
            for k in choices[i]:
                features[k] = 0.0
            for k in choices[i]:
                _grow(problem, features, k)
            candidate = _flipped(problem, features)
            if candidate.objective > state.objective + 1e-7:
                state, idle = candidate, 0
            else:
                idle += 1
            i = (i + 1) % len(choices)
        return state


def _flipped(problem: Problem, features: np.ndarray) -> Solution:
    features = features.copy()
    terms = len(features)
    weights, gram, right = np.zeros(terms), np.zeros((terms, terms)), np.zeros(terms)
    left = flip_until_none_helps(
        problem.values, problem.mask, problem.odd, problem.complete, features, problem.status,
        problem.squares, problem.n_pairs, gram, right, weights,
    )  # fmt: skip
    return Solution(features, weights, left, objective(left, problem.squares, problem.n_pairs))


def _grow(problem: Problem, features: np.ndarray, k: int) -> None:
    """Replace cluster k by the best cluster, given the other clusters."""
    terms, n = features.shape
    weights, gram, right = np.zeros(terms), np.zeros((terms, terms)), np.zeros(terms)
    fit_weights(
        problem.values, problem.odd, problem.complete, features, problem.status,
        problem.squares, gram, right, weights,
    )  # fmt: skip
    seeds = np.arange(0)
    if n > _EXHAUSTIVE:
        residual = np.empty((n, n))
        residuals(problem.values, problem.mask, features, weights, residual)
        unexplained = (np.maximum(residual, 0) ** 2).sum(axis=1)
        seeds = np.argsort(-unexplained, kind="stable")[:_MOST_SEEDS]
    best_members(
        problem.values, problem.mask, problem.odd, problem.complete, features, problem.status,
        problem.squares, problem.n_pairs, gram, right, k, seeds,
    )  # fmt: skip


def solve(
    problem: Problem, solver: Solver, polish: Polish | None, seed: np.random.SeedSequence
) -> Solution:
    """Run the solver from its random start, followed by the polish."""
    solution = solver.solve(problem, np.random.default_rng(seed))
    return polish.improve(problem, solution) if polish is not None else solution


def improved(problem: Problem, members: np.ndarray, polish: Polish | None) -> Solution:
    """Polish a solution that starts from memberships (n, k).

    If there are too few clusters, more clusters are grown one after another from the residuals. If
    there are too many clusters, the clusters whose removal costs least are removed.
    """
    features = np.vstack(
        [np.ones(problem.n_objects), np.ascontiguousarray(members[problem.order].T)]
    )
    for n_left in range(members.shape[1] - 1, problem.n_clusters - 1, -1):
        smaller = problem.of_clusters(n_left)
        without = [
            refitted(smaller, np.delete(features, k, axis=0)) for k in range(1, len(features))
        ]
        features = max(without, key=lambda solution: solution.objective).features
    for k in range(len(features), 1 + problem.n_clusters):
        features = np.vstack([features, np.zeros(problem.n_objects)])
        _grow(problem, features, k)
    solution = refitted(problem, features)
    return polish.improve(problem, solution) if polish is not None else solution


def membership_probabilities(
    problem: Problem, solution: Solution, seed: np.random.SeedSequence
) -> np.ndarray:
    """Estimate P(f = 1), shape (terms, n), at the fitted weights and residual variance.

    The probabilities are proportions of Gibbs samples that start at the solution.
    """
    if problem.variance == 0:
        return solution.features.copy()
    variance = max(solution.left / problem.n_pairs, _LEAST_VARIANCE * problem.variance)
    generator = np.random.default_rng(seed)
    solver = GibbsEM(n_annealed=0, n_recorded=50, anneal_from=1.0)
    return solver.expect(problem, solution.features, solution.weights, variance, generator).shares


def n_distinct_clusters(n_objects: int) -> int:
    """Return the number of possible clusters with at least two objects."""
    return sum(comb(n_objects, size) for size in range(2, n_objects + 1))
