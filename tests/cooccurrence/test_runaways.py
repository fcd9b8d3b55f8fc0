"""Rows whose best place lies at infinity: against an optimizer that goes there."""

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import minimize

from manymaps.cooccurrence.runaways import count_groups, runaway_rows


def best_place(columns, share):
    """Where a float64 optimizer takes a row, as far as it goes."""

    def cost(point):
        d2 = ((point - columns) ** 2).sum(axis=1)
        weights = np.exp(-(d2 - d2.min()))
        slope = 2 * (weights @ columns) / weights.sum() - 2 * share @ columns
        return share @ d2 - d2.min() + np.log(weights.mean()), slope

    start = columns[share > 0].mean(axis=0)
    return minimize(cost, start, jac=True, options={"gtol": 1e-9, "maxiter": 10_000}).x


@pytest.mark.parametrize("d", [1, 2, 3, 5])
def test_they_are_the_rows_that_go_farthest(d):
    rng = np.random.default_rng(d)
    columns = rng.normal(0, 1, (40, d))
    values = rng.random((60, 40)) * (rng.random((60, 40)) < 0.05)
    values[:, 0] += values.sum(axis=1) == 0
    shares = values / values.sum(axis=1, keepdims=True)
    places = np.array([best_place(columns, share) for share in shares])
    found = runaway_rows(places, columns, sparse.csr_array(values))
    far = np.linalg.norm(places, axis=1)
    others = np.setdiff1d(np.arange(60), found)
    assert 0 < len(found) < 60
    assert far[found].min() > 2.5
    # One that is not found has a place that the optimizer reached.
    for i in others:
        assert np.abs(best_place(columns, shares[i]) - places[i]).max() < 1e-3
    assert np.median(far[found]) > 2 * np.median(far[others])


def test_points_on_a_line_have_a_rim():
    columns = np.column_stack([np.arange(5.0), np.zeros(5)])
    rows = np.array([[9.0, 0.0], [2.0, 0.0]])
    chosen = sparse.csr_array([[0, 0, 0, 0, 1], [1, 0, 0, 0, 1]])
    assert runaway_rows(rows, columns, chosen).tolist() == [0]


def test_groups_are_counted():
    assert count_groups(sparse.csr_array(np.kron(np.eye(3), np.ones((2, 4))))) == 3
    assert count_groups(sparse.csr_array(np.ones((2, 4)))) == 1
