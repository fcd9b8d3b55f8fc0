"""Random objectives beside their dense reference, for the tests of costs and gradients."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pytest
from scipy import sparse
from scipy.special import xlogy

import reference
from manymaps.model.objective import Objective
from manymaps.model.parameters import Parameters
from manymaps.model.target import conditional_target, count_target, joint_target

PENALTY = 0.05


@dataclass(frozen=True)
class Problem:
    """An objective, a point, and the same for the reference."""

    objective: Objective
    parameters: Parameters

    @cached_property
    def evaluation(self):
        return self.objective.evaluate(self.parameters)

    @property
    def n_sets(self):
        return len(self.parameters.positions)

    def reference_cost(self, arrays):
        o = self.objective
        log_a, log_b = (
            0.0 if factor is None else np.log(factor)
            for factor in (o.row_factors, o.column_factors)
        )
        sides = list(zip(arrays[: self.n_sets], arrays[self.n_sets :], strict=True))
        joint = o.model.normalization == "joint"
        p = o.target.values.toarray()
        log_a = log_a if joint else 0.0
        cost = reference.cost(p, o.model, sides, o.penalty, log_a, log_b)
        weights = o.target.row_totals
        if weights is not None:  # of rows that sum to their weights
            cost -= xlogy(weights, weights).sum()
        return cost

    def assert_right(self, accuracy=1e-5):
        """Cost, and the slope along a random direction of each array and of all together."""
        at = tuple(array.astype(float) for array in self.parameters.arrays)
        cost = self.reference_cost(at)
        assert self.evaluation.cost == pytest.approx(cost, rel=1e-5, abs=1e-5)
        rng = np.random.default_rng(0)
        directions = [rng.normal(size=array.shape) for array in at]
        still = [np.zeros_like(array) for array in at]
        gradient = self.evaluation.gradient.arrays
        for k in range(len(at) + 1):
            along = tuple(
                u if k in (j, len(at)) else zero
                for j, (u, zero) in enumerate(zip(directions, still, strict=True))
            )
            slope = sum((g * u).sum() for g, u in zip(gradient, along, strict=True))
            length = sum((g**2).sum() for g, u in zip(gradient, along, strict=True) if u.any())
            expected = reference.numeric_slope(self.reference_cost, at, along)
            assert slope == pytest.approx(expected, abs=accuracy * 3 * (float(length) ** 0.5 + 1))


def problem(
    model, n_maps=1, d=2, two_sets=False, factors=False, seed=0, n=9, spread=None, penalty=PENALTY
):
    """A random one with a few pairs, an object that recalls nothing and one that nobody recalls."""
    rng = np.random.default_rng(seed)
    k = n - 2 if two_sets else n
    strengths = rng.random((n, k)) * (rng.random((n, k)) < 0.4)
    strengths[2] = 0
    strengths[:, 4] = 0
    make = conditional_target if model.normalization == "conditional" else joint_target
    table = sparse.csr_array(strengths)
    target = count_target(table, model.normalization) if two_sets else make(table)
    spread = spread or (1.0 if d < 10 else 0.3)
    sizes = (n, k) if two_sets else (n,)
    parameters = Parameters(
        tuple((spread * rng.normal(size=(n_maps, m, d))).astype(np.float32) for m in sizes),
        tuple(rng.normal(size=(n_maps, m)).astype(np.float32) for m in sizes),
    )
    rows, columns = (rng.random(n) + 0.5, rng.random(k) + 0.5) if factors else (None, None)
    return Problem(Objective(target, model, penalty, 0.0, rows, columns), parameters)


def similarities_of_maps(n, n_maps=2, spread=1.5, seed=0):
    """Similarities that maps with Cauchy kernels have made."""
    rng = np.random.default_rng(seed)
    y, pi = rng.normal(0, spread, (n_maps, n, 2)), rng.dirichlet(np.full(n_maps, 0.4), n).T
    distances = ((y[:, :, None] - y[:, None]) ** 2).sum(axis=-1)
    similarities = (pi[:, :, None] * pi[:, None] / (1 + distances)).sum(axis=0)
    np.fill_diagonal(similarities, 0)
    return similarities
