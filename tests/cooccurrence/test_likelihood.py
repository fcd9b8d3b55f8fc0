"""Counts beside a finished atlas: likelihoods and places, by the float64 reference."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import minimize

from manymaps.atlas.atlas import Atlas
from manymaps.cooccurrence.likelihood import mean_log_likelihood, place_rows
from manymaps.errors import DataError
from manymaps.model.choice import CODE
from reference import code_log_likelihood

ROWS, COLUMNS = 6, 8


def random_atlas(n_maps, **changes):
    rng = np.random.default_rng(0)
    n = ROWS + COLUMNS
    factors = np.concatenate([rng.dirichlet(np.ones(ROWS)), rng.dirichlet(np.ones(COLUMNS))])
    mixing = "learned" if n_maps > 1 else "fixed"
    return Atlas(
        [str(i) for i in range(n)],
        rng.normal(0, 0.7, (n_maps, n, 2)),
        rng.dirichlet(np.ones(n_maps), n).T,
        replace(CODE, mixing=mixing, **changes),
        kinds=("site",) * ROWS + ("bird",) * COLUMNS,
        factors=factors,
    )


@pytest.mark.parametrize("n_maps", [1, 3])
@pytest.mark.parametrize(
    "form", [{}, {"given": "columns"}, {"normalization": "joint"}], ids=["rows", "columns", "joint"]
)
def test_the_likelihood_is_that_of_the_atlas(form, n_maps):
    """With the atlas's own factors, which need not be the margins of these counts."""
    atlas = random_atlas(n_maps, **form)
    counts = np.random.default_rng(1).poisson(1.0, (ROWS, COLUMNS)).astype(float)
    counts[0] = 0
    p = counts / counts.sum()
    v = np.exp(-((atlas.maps[:, :ROWS, None] - atlas.maps[:, None, ROWS:]) ** 2).sum(-1))
    pi = atlas.proportions
    v = (pi[:, :ROWS, None] * pi[:, None, ROWS:] * v).sum(axis=0)
    v *= np.outer(atlas.factors[:ROWS], atlas.factors[ROWS:])
    axis = {"given": 0}.get(next(iter(form), ""), 1)
    q = v / (v.sum() if "normalization" in form else v.sum(axis=axis, keepdims=True))
    expected = (p * np.log(q)).sum()
    assert mean_log_likelihood(atlas, sparse.csr_array(counts)) == pytest.approx(expected, abs=1e-5)


def test_a_new_row_stands_at_the_optimum_of_its_own_likelihood():
    atlas = random_atlas(1)
    counts = np.random.default_rng(2).poisson(2.0, (5, COLUMNS)) + 1.0
    positions, proportions = place_rows(atlas, sparse.csr_array(counts))
    columns, b = atlas.maps[0, ROWS:], atlas.factors[ROWS:]
    for row, place in zip(counts, positions[0], strict=True):
        share = row / row.sum()

        def cost(point, share=share):
            d2 = ((point - columns) ** 2).sum(axis=1)
            return share @ d2 + np.log(b @ np.exp(-d2))

        best = minimize(cost, np.zeros(2), method="BFGS", options={"gtol": 1e-8})
        np.testing.assert_allclose(place, best.x, atol=0.02)
        assert cost(place) < best.fun + 1e-5
    np.testing.assert_array_equal(proportions, 1)


def test_in_many_maps_no_move_helps():
    atlas = random_atlas(2)
    counts = np.random.default_rng(3).poisson(2.0, (1, COLUMNS)) + 1.0
    positions, proportions = place_rows(atlas, sparse.csr_array(counts))
    columns, pi = atlas.maps[:, ROWS:], atlas.proportions[:, ROWS:]
    b, share = atlas.factors[ROWS:], counts[0] / counts.sum()

    def cost(vector):
        points, logits = vector[:4].reshape(2, 2), vector[4:]
        own = np.exp(logits) / np.exp(logits).sum()
        d2 = ((points[:, None] - columns) ** 2).sum(-1)
        v = b * (own[:, None] * pi * np.exp(-d2)).sum(axis=0)
        return -share @ np.log(v / v.sum())

    place = np.concatenate([positions[:, 0].ravel(), np.log(proportions[:, 0])])
    better = minimize(cost, place, method="BFGS")
    assert cost(place) < better.fun + 1e-3


def test_new_rows_need_a_count_for_each_column():
    with pytest.raises(DataError, match="expected 8"):
        place_rows(random_atlas(1), sparse.csr_array((3, ROWS)))


def test_the_likelihood_of_the_margins_is_the_reference():
    atlas = random_atlas(1)
    counts = np.random.default_rng(5).poisson(3.0, (ROWS, COLUMNS)) + 1.0
    margins = np.concatenate([counts.sum(axis=1), counts.sum(axis=0)]) / counts.sum()
    expected = code_log_likelihood(counts, atlas.maps[:, :ROWS], atlas.maps[:, ROWS:])
    found = mean_log_likelihood(replace(atlas, factors=margins), sparse.csr_array(counts))
    assert found == pytest.approx(expected, abs=1e-5)
