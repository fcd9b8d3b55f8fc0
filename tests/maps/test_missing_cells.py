"""Tables of judgements with empty cells: what was not judged neither attracts nor repels."""

import numpy as np
import pytest
from scipy import sparse

import manymaps as mm
import reference
from manymaps.errors import DataError
from manymaps.model.target import conditional_target, joint_target
from objective_samples import similarities_of_maps

MANY = (mm.MultipleMapsTSNE, mm.MultipleMapsSNE, mm.AspectMaps)
EACH = pytest.mark.parametrize(
    "kind", [*MANY, mm.TSNE, mm.SNE, mm.SymmetricSNE, mm.UniSNE], ids=lambda kind: kind.__name__
)


def hidden_pairs(n=20, seed=10):
    hidden = np.triu(np.random.default_rng(seed).random((n, n)) < 0.2, 1)
    return hidden | hidden.T


def with_gaps(n=20, seed=0):
    return np.where(hidden_pairs(n, seed + 10), np.nan, table(n, seed))


def table(n=20, seed=0):
    return similarities_of_maps(n, seed=seed)


def estimator(kind=mm.MultipleMapsTSNE, **settings):
    usual = {"n_maps": 2} if kind in MANY else {}
    return kind(
        **{"affinity": "precomputed", "random_state": 0, "max_iter": 150, **usual, **settings}
    )


def chosen(fit):
    return np.array([fit.atlas_.similarities(label) for label in fit.atlas_.labels])


@EACH
def test_the_divergence_is_that_of_the_judged_pairs(kind):
    fit = estimator(kind).fit(with_gaps())
    atlas, observed = fit.atlas_, ~hidden_pairs()
    model, joint = atlas.model, atlas.model.normalization == "joint"
    make = joint_target if joint else conditional_target
    p = make(sparse.csr_array(np.nan_to_num(with_gaps())), observed=observed).values.toarray()
    side = atlas.maps.astype(float), -np.log(atlas.proportions.astype(float))
    np.fill_diagonal(observed, False)
    cost = reference.observed_cost(p, observed, model, side)
    assert fit.kl_divergence_ == pytest.approx(cost / 20, rel=1e-4)
    # The atlas says how likely any pair is, judged or not.
    q = chosen(fit)
    assert (q.sum() if joint else q.sum(axis=1).mean()) == pytest.approx(1, rel=1e-3)
    assert fit.restarts_[0].kl_divergence == fit.kl_divergence_


@pytest.mark.parametrize("normalization", ["conditional", "joint"])
def test_hidden_cells_come_back(normalization):
    """A fifth is hidden: what a fit says of it is right by far more than with zeros or means."""
    found = {"judged": [], "zero": [], "mean": []}
    for seed in (0, 1):
        whole, hidden, gaps = table(40, seed), hidden_pairs(40, seed + 10), with_gaps(40, seed)
        mean = np.nanmean(gaps[~np.eye(40, dtype=bool)])
        rows = whole / whole.sum(axis=1, keepdims=True)
        truth = rows if normalization == "conditional" else (rows + rows.T) / 80
        filled = {"zero": np.nan_to_num(gaps), "mean": np.nan_to_num(gaps, nan=mean)}
        for name, data in {"judged": gaps, **filled}.items():
            settings = {"normalization": normalization, "penalty": 0, "max_iter": 400}
            fit = estimator(n_init=3, **settings).fit(data)
            found[name].append(np.corrcoef(chosen(fit)[hidden], truth[hidden])[0, 1])
    assert min(found["judged"]) > 0.8
    assert max(found["zero"]) < 0.75
    assert (np.array(found["judged"]) > np.array(found["mean"]) + 0.1).all()


def test_every_form_of_the_table_is_one():
    gaps, hidden = with_gaps(), hidden_pairs()
    known = sparse.csr_array(np.nan_to_num(gaps))
    norms = mm.Associations([str(i) for i in range(20)], known, missing=hidden)
    half = np.where(np.tri(20, dtype=bool), gaps, np.nan)
    with_diagonal = gaps.copy()
    np.fill_diagonal(with_diagonal, np.nan)
    plain = estimator().fit(gaps)
    for other in (half, with_diagonal, sparse.csr_array(gaps)):
        np.testing.assert_array_equal(estimator().fit(other).maps_, plain.maps_)
    rows = sparse.csr_array(known / known.sum(axis=1)[:, None])
    full = mm.Associations(norms.labels, rows, missing=hidden)
    np.testing.assert_allclose(estimator().fit(full).maps_, plain.maps_, rtol=1e-3, atol=1e-4)


def test_fitted_rows_are_known_and_new_ones_need_all_similarities():
    fit = estimator().fit(with_gaps())
    places = fit.maps_.transpose(1, 0, 2).reshape(20, -1)
    np.testing.assert_array_equal(fit.transform(with_gaps()), places)
    np.testing.assert_array_equal(fit.transform(with_gaps()[[3, 1]]), places[[3, 1]])
    fresh = table(20, 1)[:2]
    assert np.isfinite(fit.transform(fresh)).all()
    fresh[1, 4] = np.nan
    with pytest.raises(DataError, match="row 1, column 4 is NaN"):
        fit.transform(fresh)
    gaps = with_gaps()
    gaps[5], gaps[:, 5] = np.nan, np.nan  # judged with no other
    with pytest.raises(DataError, match="'5'"):
        estimator().fit(gaps)


@pytest.mark.parametrize("normalization", ["conditional", "joint"])
def test_evaluation_measures_the_divergence_of_the_fit(normalization):
    rows = np.nan_to_num(with_gaps())
    rows = sparse.csr_array(rows / rows.sum(axis=1)[:, None])
    norms = mm.Associations([f"w{i}" for i in range(20)], rows, missing=hidden_pairs())
    fit = estimator(normalization=normalization).fit(norms)
    found = mm.evaluate(fit.atlas_, norms)
    assert found.kl_divergence == pytest.approx(fit.kl_divergence_, rel=1e-4)


def test_additive_clustering_leaves_them_out():
    gaps = with_gaps()
    np.fill_diagonal(gaps, np.nan)
    known = sparse.csr_array(np.nan_to_num(gaps))
    norms = mm.Associations([f"w{i}" for i in range(20)], known, missing=hidden_pairs())
    by_norms, by_array = (
        mm.AdditiveClustering(2, n_init=2, random_state=0).fit(data) for data in (norms, gaps)
    )
    np.testing.assert_array_equal(by_norms.memberships_, by_array.memberships_)
