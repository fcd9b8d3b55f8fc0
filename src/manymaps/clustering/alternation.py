"""Additive clustering by hard alternation, the baseline of Tenenbaum (1996).

ADCLUS (Shepard & Arabie 1979) and MAPCLUS (Arabie & Carroll 1980) alternate two steps. Both steps
decrease the residual sum of squares S:

    S = sum_i<j m_ij (s_ij - sum_k w_k f_ik f_jk - c)^2

    memberships   f_ik = 1 if w_k (2 sum_j f_jk r_ij - w_k sum_j f_jk m_ij) > 0, weights fixed
    weights       w, c = argmin S, w >= 0, memberships fixed

r_ij is the residual without cluster k. The memberships are binary throughout, without expectations
or annealing, so that the result is a local minimum near the start. A cluster whose weight becomes 0
remains unused. The prior of the memberships is not used.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from manymaps.checks import check_whole
from manymaps.clustering.problem import Problem
from manymaps.clustering.solvers import Solution, Solver, random_memberships, refitted


@dataclass(frozen=True)
class HardAlternation(Solver):
    """Alternation of binary memberships and least-squares weights, from a random start.

    Parameters
    ----------
    max_iter : int, default 100
        Maximum number of alternations, at least 1.

    See Also
    --------
    manymaps.AdditiveClustering

    References
    ----------
    Shepard & Arabie (1979), Psychological Review 86, 87-123. Arabie & Carroll (1980), Psychometrika
    45, 211-235.

    Examples
    --------
    >>> from manymaps import AdditiveClustering, load_integers
    >>> model = AdditiveClustering(8, solver=HardAlternation(), polish=False, random_state=0)
    >>> bool(model.fit(load_integers()).variance_accounted_for_ < 0.95)
    True
    """

    max_iter: int = 100

    def __post_init__(self) -> None:
        check_whole("max_iter", self.max_iter)

    def solve(self, problem: Problem, generator: np.random.Generator) -> Solution:
        """Alternate from random memberships until they do not change."""
        features = np.vstack([problem.fixed, random_memberships(problem, generator)])
        solution = refitted(problem, features)
        if problem.variance == 0 or problem.n_clusters == 0:
            return solution
        weights = solution.weights.copy()
        # As in the EM solvers, no cluster starts with zero weight, at which it would remain.
        even = np.sqrt(problem.variance) / problem.n_clusters
        weights[problem.first :] = np.maximum(weights[problem.first :], even)
        explained: list[float] = []
        for _ in range(self.max_iter):
            before = features.copy()
            _flip(problem, features, weights)
            solution = refitted(problem, features)
            weights = solution.weights
            explained.append(1 - solution.left / (problem.n_pairs * problem.variance))
            if converged := np.array_equal(features, before):
                break
        return refitted(
            problem, features, n_iter=len(explained), converged=converged,
            history={"vaf": np.array(explained)},
        )  # fmt: skip


def _flip(problem: Problem, features: np.ndarray, weights: np.ndarray) -> None:
    """Visit every membership once, and change it if that decreases S at fixed weights."""
    mask = problem.mask
    residual = problem.values - mask * ((features.T * weights) @ features)
    for k in range(problem.first, len(weights)):
        members, weight = features[k], weights[k]
        residual += weight * mask * np.outer(members, members)
        pulls, sizes = residual @ members, mask @ members
        for i in range(problem.n_objects):
            gain = weight * (2 * pulls[i] - weight * sizes[i])
            if gain * (1 - 2 * members[i]) > 0:
                step = 1 - 2 * members[i]
                pulls += step * residual[i]
                sizes += step * mask[i]
                members[i] += step
        residual -= weight * mask * np.outer(members, members)
