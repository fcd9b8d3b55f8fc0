"""One cost out of several: it is the sum of its parts, and so is its gradient."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from manymaps.errors import DataError
from manymaps.model.choice import CODE, SNE
from manymaps.model.combined import CombinedObjective, Term, within_kind_target
from manymaps.model.objective import Objective
from manymaps.model.parameters import Parameters
from manymaps.model.target import count_target


def combined(between, columns, weight=1.0):
    rows, within = np.arange(9), np.arange(7)
    term = Term((0, 1), (rows, within), 1.0, between)
    return CombinedObjective((term,), (Term((1,), (within,), weight, columns),))


def parts(seed=0):
    rng = np.random.default_rng(seed)
    between = Objective(count_target(rng.poisson(3.0, (9, 7)) + 1.0), CODE, tolerance=0)
    whole = np.ones(7, bool)
    columns = Objective(within_kind_target("x", rng.random((7, 7)), whole), SNE, tolerance=0)
    point = Parameters(
        (rng.normal(size=(1, 9, 2)), rng.normal(size=(1, 7, 2))),
        (np.zeros((1, 9)), np.zeros((1, 7))),
    )
    return between, columns, point


@pytest.mark.parametrize("weight", [0.5, 3.0])
def test_cost_and_gradient_are_sums(weight):
    between, columns, point = parts()
    whole = combined(between, columns, weight).evaluate(point)
    alone = between.evaluate(point)
    inside = columns.evaluate(Parameters(point.positions[1:], point.weights[1:]))
    assert whole.cost == pytest.approx(alone.cost + weight * inside.cost)
    assert whole.kl == alone.kl
    np.testing.assert_array_equal(whole.gradient.positions[0], alone.gradient.positions[0])
    np.testing.assert_allclose(
        whole.gradient.positions[1],
        alone.gradient.positions[1] + weight * inside.gradient.positions[0],
        rtol=1e-5,
    )


def test_its_fingerprint_is_of_all_data():
    between, columns, _ = parts()
    other = parts(seed=1)[1]
    names = {
        between.fingerprint,
        combined(between, columns).fingerprint,
        combined(between, other).fingerprint,
    }
    assert len(names) == 3


def test_similarities_of_the_fitted_alone():
    table = np.arange(16.0).reshape(4, 4)
    target = within_kind_target("row_similarities", table, np.array([True, False, True, True]))
    assert target.values.shape == (3, 3)
    assert target.values.toarray()[0].tolist() == pytest.approx([0, 2 / 5, 3 / 5])
    with pytest.raises(DataError, match=r"row_similarities has shape \(4, 4\)"):
        within_kind_target("row_similarities", table, np.ones(3, bool))
    with pytest.raises(DataError, match="negative or not finite"):
        within_kind_target("row_similarities", -table, np.ones(4, bool))
    empty = sparse.csr_array((np.r_[1.0, 0.0], ([0, 1], [1, 0])), shape=(2, 2))
    assert within_kind_target("x", empty, np.ones(2, bool)).values.sum() > 0


def test_what_a_fit_asks_of_it_is_that_of_the_pairs_between_the_kinds():
    between, columns, _ = parts()
    whole = combined(between, columns)
    assert whole.target is between.target
    assert whole.model is between.model


def test_a_single_table_is_the_objective_itself():
    between, _, point = parts()
    term = Term((0, 1), (np.arange(9), np.arange(7)), 1.0, between)
    one = CombinedObjective((term,), penalty=0.3).evaluate(point)
    other = replace(between, penalty=0.3).evaluate(point)
    assert (one.cost, one.kl) == (other.cost, other.kl)
    np.testing.assert_array_equal(one.gradient.pack(), other.gradient.pack())
