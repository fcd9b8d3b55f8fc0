import sys
import warnings

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.spatial import procrustes
from scipy.special import logsumexp
from sklearn.base import clone

from manymaps.cooccurrence.code import CODE
from manymaps.cooccurrence.programs import (
    SemidefiniteProgram,
    embedding_of,
    squared_distances,
)
from manymaps.cooccurrence.semidefinite import SemidefiniteCODE, SolverError
from manymaps.data.counts import Counts
from manymaps.errors import DataError, DataWarning, ParameterError

pytest.importorskip("cvxpy")

PROGRAMS = {
    "joint": {"form": "joint"},
    "joint, no marginals": {"form": "joint", "marginals": False},
    "conditional": {"form": "conditional"},
    "conditional, no marginals": {"form": "conditional", "marginals": False},
}


def smoothed(seed=0, shape=(12, 15), d=2):
    """Counts of a planar configuration, with half a count added to each cell."""
    rng = np.random.default_rng(seed)
    rows, columns = rng.normal(size=(shape[0], d)), rng.normal(size=(shape[1], d))
    rates = np.exp(-((rows[:, None] - columns) ** 2).sum(axis=-1))
    return rng.poisson(20 * rates.size * rates / rates.sum()) + 0.5


def distribution(counts):
    return counts / counts.sum()


def log_model(joint, squared, program):
    """log q by the definitions, for the table as it is."""
    rows, columns = np.log(joint.sum(axis=1))[:, None], np.log(joint.sum(axis=0))
    axis = 1 if program["form"] == "conditional" else None
    logs = -squared
    if program.get("marginals", True):
        logs = logs + columns + (rows if axis is None else 0)
    return logs - logsumexp(logs, axis=axis, keepdims=True)


def ascent_cost(flat, joint, program, d, penalty):
    """- log-likelihood + penalty |A|^2 of points A, and its gradient."""
    n_rows, n_columns = joint.shape
    points = flat.reshape(n_rows + n_columns, d)
    rows, columns = points[:n_rows], points[n_rows:]
    squared = ((rows[:, None] - columns) ** 2).sum(axis=-1)
    log_q = log_model(joint, squared, program)
    weights = 1.0
    if program["form"] == "conditional":
        weights = joint.sum(axis=1, keepdims=True)
    slope = joint - weights * np.exp(log_q)
    gradient = np.vstack(
        [
            2 * (slope.sum(axis=1)[:, None] * rows - slope @ columns),
            2 * (slope.sum(axis=0)[:, None] * columns - slope.T @ rows),
        ]
    )
    value = -(joint * log_q).sum() + penalty * (flat @ flat)
    return value, (gradient + 2 * penalty * points).ravel()


def solve(joint, program, trace_penalty=0.0):
    return SemidefiniteProgram(joint, **program).solve(trace_penalty)


def ascend(joint, program, d, penalty=0.0, restarts=1, start=None):
    """The best cost of L-BFGS over positions."""
    rng = np.random.default_rng(1)
    n = sum(joint.shape)
    best = np.inf
    for _ in range(restarts):
        first = rng.normal(size=n * d) * 0.5 if start is None else np.ravel(start)
        found = minimize(
            ascent_cost, first, args=(joint, program, d, penalty), jac=True, method="L-BFGS-B",
            options={"maxiter": 20_000 // restarts, "maxfun": 40_000, "ftol": 1e-12, "gtol": 1e-9},
        )  # fmt: skip
        best = min(best, found.fun)
    return best


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_log_likelihood_is_that_of_the_definitions(name):
    joint = distribution(smoothed(shape=(4, 6)))
    squared = np.random.default_rng(3).random((4, 6)) * 5
    expected = (joint * log_model(joint, squared, PROGRAMS[name])).sum()
    found = SemidefiniteProgram(joint, **PROGRAMS[name]).log_likelihood(squared)
    assert found == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("name", ["joint", "conditional"])
def test_the_full_rank_optimum_is_that_of_the_gradient_form(name):
    joint = distribution(smoothed(seed=5))
    found = solve(joint, PROGRAMS[name])
    assert found.log_likelihood == pytest.approx(-ascend(joint, PROGRAMS[name], 27), abs=1e-5)


@pytest.mark.parametrize("name", PROGRAMS)
def test_at_full_rank_every_program_fits_the_table_exactly(name):
    joint, program = distribution(smoothed(shape=(6, 5))), PROGRAMS[name]
    found = solve(joint, program)
    best = (joint * np.log(joint)).sum()
    if program["form"] == "conditional":
        rows = joint.sum(axis=1)
        best -= (rows * np.log(rows)).sum()
    assert found.log_likelihood == pytest.approx(best, abs=1e-7)
    assert found.marginal_error < 1e-4
    eigenvalues = np.linalg.eigvalsh(found.gram)
    assert eigenvalues[0] > -1e-9
    np.testing.assert_allclose(found.gram.sum(axis=0), 0, atol=1e-9)


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_penalized_optimum_is_that_of_the_gradient_form(name):
    """Here the optimum does not fit the table, so that the objective has something to say."""
    joint, program = distribution(smoothed(seed=2)), PROGRAMS[name]
    found = solve(joint, program, 0.01)
    cost = 0.01 * np.trace(found.gram) - found.log_likelihood
    assert cost == pytest.approx(ascend(joint, program, 27, 0.01), abs=1e-5)


@pytest.mark.parametrize("penalty", [0.0, 0.01])
def test_problem_6_is_the_conditional_model_with_the_entropy_of_the_given(penalty):
    joint = distribution(smoothed(seed=1, shape=(6, 8)))
    found = solve(joint, PROGRAMS["conditional"], penalty)
    rows, columns = joint.sum(axis=1), joint.sum(axis=0)
    squared = squared_distances(found.gram, joint.shape)
    direct = np.log(rows) - logsumexp(np.log(columns) - squared, axis=1)
    np.testing.assert_allclose(found.free_terms, direct, atol=1e-5)
    entropy = -(rows * np.log(rows)).sum()
    constants = (columns * np.log(columns)).sum() + entropy
    objective = (joint * squared).sum() - rows @ found.free_terms
    assert -objective == pytest.approx(found.log_likelihood - constants, abs=1e-6)
    model = columns * np.exp(found.free_terms[:, None] - squared)
    np.testing.assert_allclose(model.sum(axis=1), rows, rtol=1e-4)
    assert found.marginal_error < 1e-4


@pytest.mark.parametrize("name", ["joint", "conditional"])
def test_two_solvers_agree(name):
    joint = distribution(smoothed(seed=3, shape=(7, 6)))
    one, other = (
        solve(joint, PROGRAMS[name] | {"solver": solver}, 0.005) for solver in ("CLARABEL", "SCS")
    )
    assert one.log_likelihood == pytest.approx(other.log_likelihood, abs=1e-5)
    np.testing.assert_allclose(one.gram, other.gram, atol=2e-3 * np.abs(one.gram).max())


def test_a_transposed_table_gives_the_transposed_solution():
    counts = smoothed(seed=6, shape=(5, 6))
    straight = SemidefiniteCODE(trace_penalty=0.01).fit(counts)
    turned = SemidefiniteCODE(trace_penalty=0.01, given="columns").fit(counts.T)
    order = np.concatenate([np.arange(6, 11), np.arange(6)])
    assert turned.log_likelihood_ == pytest.approx(straight.log_likelihood_, abs=1e-5)
    np.testing.assert_allclose(
        turned.gram_[np.ix_(order, order)], straight.gram_, atol=1e-4 * straight.gram_.max()
    )
    np.testing.assert_allclose(turned.row_embedding_, straight.column_embedding_, atol=1e-3)
    assert turned.embedding_log_likelihood_ == pytest.approx(
        straight.embedding_log_likelihood_, abs=1e-5
    )


def test_fixed_marginals_reach_the_optimum_of_a_direct_search():
    """Positions in all dimensions and free terms, optimized by SLSQP under both constraints."""
    joint, penalty = distribution(np.array([[9.0, 5, 1], [6, 9, 2], [1, 2, 9]])), 0.05
    rows, columns = joint.sum(axis=1), joint.sum(axis=0)

    def parts(x):
        points, free = x[:18].reshape(6, 3), x[18:]
        squared = ((points[:3, None] - points[None, 3:]) ** 2).sum(axis=2)
        return points, free, columns * np.exp(free[:, None] - squared), squared

    def cost(x):
        points, free, _, squared = parts(x)
        return (joint * squared).sum() - rows @ free + penalty * (points**2).sum()

    slack = {"type": "ineq", "fun": lambda x: np.concatenate(
        [rows - parts(x)[2].sum(axis=1), columns - parts(x)[2].sum(axis=0)])}  # fmt: skip
    start = np.concatenate([np.random.default_rng(0).normal(0, 0.5, 18), np.log(rows)])
    direct = minimize(
        cost, start, method="SLSQP", constraints=[slack], options={"ftol": 1e-12, "maxiter": 500}
    )
    found = solve(joint, {"fixed_marginals": True}, penalty)
    squared = squared_distances(found.gram, joint.shape)
    objective = (joint * squared).sum() - rows @ found.free_terms
    assert direct.success
    assert objective + penalty * np.trace(found.gram) == pytest.approx(direct.fun, abs=1e-6)
    assert found.marginal_error < 1e-6
    free = solve(joint, {}, penalty)
    model = np.exp(free.free_terms[:, None] - squared_distances(free.gram, joint.shape))
    assert model.sum(axis=0).max() > 1.01  # not fixed


@pytest.mark.slow
@pytest.mark.parametrize("name", ["joint", "conditional"])
def test_code_from_the_end_of_the_path_is_near_the_direct_ascent(name):
    counts = smoothed(seed=0, shape=(10, 8))
    joint, program = distribution(counts), PROGRAMS[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        fit = SemidefiniteCODE(2, form=program["form"], trace_penalty="path").fit(counts)
    penalties, ranks, likelihoods = zip(
        *((step.trace_penalty, step.rank, step.log_likelihood) for step in fit.path_), strict=True
    )
    assert fit.rank_ == 2
    assert max(ranks) > 6
    assert fit.log_likelihood_ == likelihoods[ranks.index(2)]
    assert np.all(np.diff(penalties) > 0)
    assert np.all(np.diff(likelihoods) < 1e-7)
    direct = -ascend(joint, program, 2, restarts=6)
    assert fit.embedding_log_likelihood_ == pytest.approx(fit.log_likelihood_, abs=1e-4)
    start = fit.row_embedding_, fit.column_embedding_
    code = CODE(penalty=0, normalization=program["form"], init=start, tolerance=0)
    with warnings.catch_warnings():
        # Rows and columns drift apart, and the last digits decide whether the fit warns.
        warnings.simplefilter("ignore", DataWarning)
        code.fit(counts)
    assert fit.log_likelihood_ < code.log_likelihood_ <= direct + 1e-4
    assert code.log_likelihood_ == pytest.approx(direct, rel=0.02)


def test_the_path_starts_over_where_nothing_is_to_be_seen():
    """From lambda_max on the optimum is a single point."""
    joint = distribution(smoothed(seed=0, shape=(5, 6)))
    largest = np.linalg.svd(joint - np.outer(joint.sum(axis=1), joint.sum(axis=0)))[1][0]
    below, above = (solve(joint, PROGRAMS["joint"], share * largest) for share in (0.97, 1.01))
    assert np.trace(below.gram) > 1e-3 > 10 * np.trace(above.gram)
    assert above.rank == 0


def test_a_known_configuration_is_recovered():
    """Exact probabilities of points in a plane: the optimum of least trace is planar."""
    rng = np.random.default_rng(0)
    points = rng.normal(size=(18, 2))
    squared = ((points[:8, None] - points[8:]) ** 2).sum(axis=-1)
    table = np.exp(-squared)
    fit = SemidefiniteCODE(2, form="joint", marginals=False).fit(table)
    # The likelihood leaves one number free, which all distances may grow or shrink by.
    best = (distribution(table) * np.log(distribution(table))).sum()
    assert fit.log_likelihood_ == pytest.approx(best, abs=1e-7)
    start = fit.row_embedding_, fit.column_embedding_
    code = CODE(penalty=0, normalization="joint", marginals=False, init=start, tolerance=0)
    code.fit(table)
    found = np.vstack([code.row_embedding_, code.column_embedding_])
    assert procrustes(points, found)[2] < 1e-3


def test_the_embedding_is_that_of_the_gram_matrix():
    fit = SemidefiniteCODE(11, form="joint", trace_penalty=0.01).fit(smoothed(shape=(5, 6)))
    points = np.vstack([fit.row_embedding_, fit.column_embedding_])
    assert points.shape == (11, 11)
    assert np.abs(points[:, fit.rank_ :]).max() < 0.01
    np.testing.assert_allclose(points @ points.T, fit.gram_, atol=1e-4 * fit.gram_.max())
    np.testing.assert_allclose(points.mean(axis=0), 0, atol=1e-6)
    assert np.all(np.diff((points**2).sum(axis=0)) <= 1e-12)
    largest = np.abs(points).argmax(axis=0)
    assert np.all(points[largest, np.arange(11)] >= 0)
    leading = points[:, : fit.rank_]
    assert np.all(np.diff((leading**2).sum(axis=0)) < 0)
    assert np.all(leading.max(axis=0) >= -leading.min(axis=0))
    assert fit.trace_share_ == pytest.approx(1, abs=1e-4)
    assert fit.embedding_log_likelihood_ == pytest.approx(fit.log_likelihood_, abs=1e-5)
    one = clone(fit).set_params(n_components=1).fit(smoothed(shape=(5, 6)))
    np.testing.assert_allclose(one.row_embedding_[:, 0], fit.row_embedding_[:, 0], atol=1e-5)
    assert one.trace_share_ == pytest.approx((points[:, 0] ** 2).sum() / np.trace(fit.gram_))
    assert one.embedding_log_likelihood_ < one.log_likelihood_


def test_an_embedding_of_a_single_point_keeps_all_of_nothing():
    points, share = embedding_of(np.zeros((3, 3)), 2)
    assert not points.any()
    assert share == 1.0


def test_counts_without_a_count_send_the_optimum_to_infinity():
    counts = smoothed(seed=1, shape=(5, 6)) - 0.5
    assert (counts == 0).any()
    with pytest.warns(DataWarning, match=r"cells have no counts.*smooth the counts"):
        fit = SemidefiniteCODE(form="joint").fit(counts)
    joint = distribution(counts)
    best = (joint * np.log(np.where(joint > 0, joint, 1))).sum()
    assert fit.log_likelihood_ == pytest.approx(best, abs=1e-5)
    assert np.isfinite(fit.gram_).all()
    SemidefiniteCODE(form="joint", trace_penalty=0.01).fit(counts)


def test_rows_and_columns_without_counts_are_kept_out():
    counts = np.zeros((4, 5))
    counts[np.ix_([0, 2, 3], [0, 1, 4])] = smoothed(shape=(3, 3))
    table = Counts(counts, list("abcd"), list("uvwxy"), ("site", "bird"))
    estimator = SemidefiniteCODE(2, trace_penalty=0.01)
    with pytest.warns(DataWarning) as caught:
        fit = estimator.fit(table)
    assert [str(x.message) for x in caught] == [
        "1 of 4 sites have no counts and are not fitted: 'b'",
        "2 of 5 birds have no counts and are not fitted: 'w', 'x'",
    ]
    assert fit.empty_rows_.tolist() == [1]
    assert fit.empty_columns_.tolist() == [2, 3]
    whole = clone(estimator).fit(counts[np.ix_([0, 2, 3], [0, 1, 4])])
    np.testing.assert_allclose(fit.row_embedding_[[0, 2, 3]], whole.row_embedding_, atol=1e-6)
    np.testing.assert_allclose(fit.column_embedding_[[0, 1, 4]], whole.column_embedding_, atol=1e-6)
    assert not fit.row_embedding_[1].any()
    assert fit.gram_.shape == (9, 9)
    assert not fit.gram_[[1, 6, 7]].any()
    assert fit.atlas_.labels == ("a", "c", "d", "u", "v", "y")


@pytest.mark.parametrize("form", ["joint", "conditional"])
def test_the_atlas_has_both_kinds_and_the_likelihood(form):
    from manymaps.cooccurrence.likelihood import mean_log_likelihood

    table = Counts(smoothed(shape=(4, 5)), list("abcd"), list("uvwxy"), ("site", "bird"))
    fit = SemidefiniteCODE(2, form=form, given="columns", trace_penalty=0.005).fit(table)
    assert tuple(fit.atlas_.kinds) == ("site",) * 4 + ("bird",) * 5
    assert mean_log_likelihood(fit.atlas_, table.values) == pytest.approx(
        fit.embedding_log_likelihood_, abs=1e-4
    )


@pytest.mark.parametrize("shape", [(1, 4), (4, 1), (2, 2)])
@pytest.mark.parametrize("form", ["conditional", "joint"])
def test_the_smallest_tables(shape, form):
    fit = SemidefiniteCODE(1, form=form, trace_penalty="path").fit(np.arange(1.0, 5).reshape(shape))
    assert np.isfinite(fit.row_embedding_).all()
    assert fit.rank_ <= 1


def test_scs_serves_larger_tables():
    def solvers(n, **options):
        return SemidefiniteProgram(np.ones((n - 1, 1)), **options).solvers

    assert solvers(60) == ("CLARABEL", "SCS")
    assert solvers(61) == ("SCS",)
    assert solvers(10, solver="SCS") == ("SCS",)
    assert solvers(10, options={"max_iter": 9}) == ("CLARABEL",)


TABLE = smoothed(shape=(3, 4))
REFUSALS = [
    ({"form": "both"}, TABLE, ParameterError, "form='both'"),
    ({"given": "cells"}, TABLE, ParameterError, "given='cells'"),
    ({"form": "joint", "fixed_marginals": True}, TABLE, ParameterError, "fixed_marginals=True"),
    ({"n_components": 8}, TABLE, ParameterError, "from 1 to 7, the rows and columns"),
    ({"trace_penalty": float("nan")}, TABLE, ParameterError, "trace_penalty=nan"),
    ({"trace_penalty": "trail"}, TABLE, ParameterError, "'trail'"),
    ({"solver": "MOSEK"}, TABLE, ParameterError, "solver='MOSEK'"),
    ({"solver_options": {"no_such_option": 1}}, TABLE, ParameterError, "solver_options"),
    ({"solver": "CLARABEL", "solver_options": {"max_iter": 2}}, TABLE, SolverError,
     "CLARABEL: .*user_limit.*try the other solver"),
    ({"solver": "SCS", "solver_options": {"max_iters": 3}}, smoothed(shape=(5, 6)), SolverError,
     "SCS: .*inaccurate"),
    ({}, np.array([[1.0, -1.0], [1.0, 1.0]]), DataError, "-1"),
    ({}, np.ones((201, 201)), DataError, r"201 x 201.*fit CODE"),
]  # fmt: skip


def test_refusals(monkeypatch):
    for options, table, error, words in REFUSALS:
        with pytest.raises(error, match=words):
            SemidefiniteCODE(**options).fit(table)
    monkeypatch.setitem(sys.modules, "cvxpy", None)
    with pytest.raises(ParameterError, match="'pip install cvxpy'"):
        SemidefiniteCODE().fit(TABLE)
