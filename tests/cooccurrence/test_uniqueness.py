"""Local uniqueness of CODE: the Hessian by finite differences, and flat directions."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.linalg import eigh

from count_samples import planted, smooth_table
from manymaps import CODE, Counts, DataWarning, ParameterError
from manymaps.cooccurrence.shared import shared_tables
from manymaps.cooccurrence.uniqueness import Curvature
from manymaps.model.parameters import Parameters

FORMS = [{}, {"given": "columns"}, {"normalization": "joint"}, {"marginals": False}]


def problem(form):
    """The cost of three tables with a penalty, its curvature, and points of its sets."""
    tables = shared_tables(planted((60, 80, 40), sizes={"author": 4, "document": 5, "word": 6})[1])
    estimator = CODE(tolerance=0, penalty=0.3, **form)
    nonempty, cost = estimator._prepared_tables(tables)
    sizes = nonempty.sizes[:: -1 if form.get("given") == "columns" else 1]
    points = np.random.default_rng(0).normal(0, 0.6, (sum(sizes), 2))
    return cost, Curvature(cost, sizes, 2), points


@pytest.mark.parametrize("form", FORMS)
def test_cost_gradient_and_hessian(form):
    """The cost and the gradient of the fit, and the Hessian by differences of the gradient."""
    cost, curvature, points = problem(form)
    parts = np.split(points[None], np.cumsum(curvature.sizes)[:-1], axis=1)
    found = cost.evaluate(Parameters(tuple(parts), tuple(part[:, :, 0] * 0 for part in parts)))
    _, gradient = curvature.evaluate(points)
    expected = np.concatenate([part[0] for part in found.gradient.positions])
    np.testing.assert_allclose(gradient, expected, atol=2e-5 * np.abs(expected).max())
    motion = np.random.default_rng(1).normal(size=points.shape)
    step = 1e-5
    up, down = (curvature.evaluate(points + sign * step * motion) for sign in (1, -1))
    assert (up[0] - down[0]) / (2 * step) == pytest.approx((gradient * motion).sum(), rel=1e-7)
    np.testing.assert_allclose(
        curvature.product(points, motion), (up[1] - down[1]) / (2 * step), atol=1e-6
    )


def test_similarities_within_a_kind_are_part_of_the_hessian():
    rng = np.random.default_rng(0)
    table, within = Counts(smooth_table(5, 6)), rng.random((5, 5))
    estimator = CODE(random_state=0, tolerance=0, row_weight=0.7)
    cost = estimator._objective(table, table, within, None)
    curvature = Curvature(cost, (5, 6), 2)
    points, motion = rng.normal(0, 0.6, (2, 11, 2))
    up, down = (curvature.evaluate(points + sign * 1e-5 * motion)[1] for sign in (1, -1))
    expected = (up - down) / 2e-5
    np.testing.assert_allclose(curvature.product(points, motion), expected, atol=1e-6)
    fit = estimator.fit(table, row_similarities=within)
    found = fit.uniqueness()
    assert found.is_unique
    # Eigenvalues are per unit of mass.
    points = np.concatenate([fit.row_embedding_, fit.column_embedding_])
    hessian = [curvature.product(points, v.reshape(11, 2)).ravel() for v in np.eye(22)]
    masses = np.diag(np.repeat(curvature.masses, 2))
    expected = eigh(hessian, masses, eigvals_only=True)
    np.testing.assert_allclose(found.eigenvalues, expected[: len(found.eigenvalues)], atol=1e-3)


@pytest.mark.parametrize("form", FORMS[:3])
def test_a_fit_of_enough_objects_is_unique_up_to_isometries(form):
    fit = CODE(penalty=0, random_state=0, **form).fit(smooth_table())
    found = fit.uniqueness(n_eigenvalues=5)
    assert found.is_unique
    assert found.is_minimum
    assert (found.n_zero, found.n_isometries, found.n_affine) == (3, 3, 0)
    assert found.eigenvalues.shape == (5,)
    assert found.eigenvalues[3] > 1e-4 > 1e-8 > np.abs(found.eigenvalues[:3]).max()
    assert not found.displacements.any()
    for change in {"slope": 0.1}, {"eigenvalues": found.eigenvalues - 1}:
        assert not replace(found, **change).is_unique


@pytest.mark.parametrize(("d", "n_isometries"), [(1, 1), (2, 3), (3, 6)])
def test_isometries_are_translations_and_rotations(d, n_isometries):
    """Under a size penalty, only the rotations are flat."""
    table = smooth_table(14, 16)
    free = CODE(d, penalty=0, random_state=0).fit(table).uniqueness()
    assert (free.n_isometries, free.n_zero) == (n_isometries, n_isometries)
    held = CODE(d, random_state=0).fit(table).uniqueness()
    assert held.n_isometries == held.n_zero == d * (d - 1) // 2


@pytest.mark.parametrize(
    ("given", "n_chosen", "n_affine"),
    [("rows", 4, 2), ("rows", 5, 1), ("columns", 5, 1), ("rows", 6, 0)],
)
def test_chosen_points_on_a_conic_leave_the_conditional_model_free(given, n_chosen, n_affine):
    """A conic has 6 - n free coefficients through n points, and any of them is an invariance."""
    table = smooth_table(12, n_chosen)
    table = table if given == "rows" else table.T
    fit = CODE(penalty=0, random_state=0, given=given, tolerance=0).fit(table)
    found = fit.uniqueness()
    assert found.n_affine == n_affine == found.n_zero - 3
    assert found.n_unexplained == 0
    assert found.is_unique == (n_affine == 0)
    joint = CODE(random_state=0, normalization="joint", penalty=0.001).fit(table).uniqueness()
    assert joint.n_zero == joint.n_isometries


def test_the_conic_is_an_invariance_of_the_likelihood():
    """The transformation A of the columns and A^(-T) of the rows, at a finite distance."""
    rng = np.random.default_rng(0)
    rows, columns = rng.normal(size=(12, 2)), rng.normal(size=(5, 2))
    x, y = columns.T
    design = np.column_stack([x * x, x * y, y * y, x, y, -np.ones(5)])
    a, b, c, e, f, _ = np.linalg.svd(design)[2][-1] * 0.3
    matrix = np.linalg.cholesky(np.eye(2) + np.array([[a, b / 2], [b / 2, c]])).T
    # |A psi|^2 - |psi|^2 = -(e, f) . psi + constant, which a translation of the rows cancels.
    shift = np.linalg.solve(matrix.T, -np.array([e, f])) / 2
    others = rows @ np.linalg.inv(matrix) + shift

    def choices(rows, columns):
        q = np.exp(-((rows[:, None] - columns) ** 2).sum(axis=2))
        return q / q.sum(axis=1, keepdims=True)

    moved = columns @ matrix.T
    np.testing.assert_allclose(choices(others, moved), choices(rows, columns), atol=1e-12)
    assert np.abs(np.linalg.norm(moved - moved[0]) - np.linalg.norm(columns - columns[0])) > 0.01


def test_groups_without_counts_between_them_are_not_unique():
    blocks = np.kron(np.eye(2), np.ones((6, 7))) * smooth_table(12, 14)
    with pytest.warns(DataWarning, match="2 groups"):
        fit = CODE(penalty=0, random_state=0).fit(blocks)
    found = fit.uniqueness()
    # Each group has its own isometries, which are not affine motions of all rows.
    assert (found.n_zero, found.n_isometries) == (6, 3)
    assert found.n_unexplained == 3
    assert not found.is_unique
    assert (found.displacements > 0.01).all()
    assert CODE(random_state=0).fit(blocks).uniqueness().is_unique


def test_a_third_kind_in_a_cycle_of_tables_determines_the_positions():
    """The words choose nothing and are on a conic; the documents between them are not."""
    sizes = {"author": 9, "document": 8, "word": 5}
    tables = [
        Counts(table.values.toarray() + 1, table.row_labels, table.column_labels, table.kinds)
        for table in planted((900, 900, 900), sizes=sizes)[1]
    ]
    star = CODE(random_state=0, penalty=0).fit(tables[:2]).uniqueness()
    assert (star.n_zero, star.n_isometries, star.n_affine) == (4, 3, 1)
    cycle = CODE(random_state=0, penalty=0).fit(tables).uniqueness()
    assert (cycle.n_zero, cycle.n_affine, cycle.is_unique) == (3, 0, True)
    turned = CODE(random_state=0, penalty=0, given="columns").fit(tables)
    found = turned.uniqueness()
    assert found.is_unique
    assert found.displacements.shape == (turned.atlas_.n_objects,)


def test_iterations_find_the_eigenvalues_of_the_whole_hessian(monkeypatch):
    fit, free = (CODE(random_state=0, penalty=p).fit(smooth_table(25, 5)) for p in (0.01, 0))
    whole = fit.uniqueness(n_eigenvalues=6)
    monkeypatch.setattr("manymaps.cooccurrence.uniqueness._DENSE", 10)
    some = fit.uniqueness(n_eigenvalues=6)
    np.testing.assert_allclose(some.eigenvalues, whole.eigenvalues, atol=1e-7)
    assert some.n_zero == whole.n_zero == 1
    # Repeated eigenvalues are all found, also if fewer are requested.
    for n in (1, 4):
        assert free.uniqueness(n_eigenvalues=n).n_zero == 4
    monkeypatch.setattr("manymaps.cooccurrence.uniqueness._BLOCK", 2)
    assert free.uniqueness(n_eigenvalues=1).n_zero == 4


def test_fits_that_are_not_supported_are_refused():
    fit = CODE(n_maps=2, random_state=0, max_iter=3).fit(smooth_table())
    with pytest.raises(ParameterError, match="one map without pins"):
        fit.uniqueness()
    with pytest.raises(ParameterError, match="n_eigenvalues"):
        CODE(random_state=0, max_iter=3).fit(smooth_table()).uniqueness(n_eigenvalues=0)
