"""The choice of the number of clusters: its measures, its suggestion and its reasons."""

import numpy as np
import pytest

from manymaps.clustering.additive import AdditiveClustering
from manymaps.clustering.paths import cluster_path
from manymaps.errors import ParameterError

QUICK = AdditiveClustering(n_init=3, random_state=0)


@pytest.fixture(scope="module")
def values():
    rng = np.random.default_rng(0)
    members = np.zeros((12, 3))
    members[:5, 0] = members[3:9, 1] = members[7:, 2] = 1
    error = np.triu(rng.normal(0, 0.02, (12, 12)), 1)
    values = (members * [0.5, 0.4, 0.3]) @ members.T + 0.2 + error + error.T
    np.fill_diagonal(values, np.nan)
    return values


@pytest.fixture(scope="module")
def path(values):
    return cluster_path(
        values, [1, 2, 3, 4, 3], estimator=QUICK, precision=0.04, n_repeats=2, random_state=0
    )


def test_measures_are_those_of_the_fits(path, values):
    assert path.n_clusters.tolist() == [1, 2, 3, 4]
    n_pairs = 66
    for k, fitted, vaf, bic in zip(
        path.n_clusters, path.estimators, path.vaf, path.bic, strict=True
    ):
        left = ((values - fitted.predict())[np.triu_indices(12, 1)] ** 2).sum()
        assert vaf == fitted.variance_accounted_for_
        assert bic == pytest.approx(left / 0.04**2 + (k + 1) * np.log(n_pairs))
    assert (np.diff(path.vaf) >= 0).all()


def test_the_suggestion_is_the_truth_and_comes_with_reasons(path):
    assert path.suggestion == 3
    assert path.held_out.shape == (4, 2)
    assert path.held_out.mean(axis=1)[0] > path.held_out.mean(axis=1)[2]
    text = str(path)
    assert "suggested: 3" in text
    assert "hidden pairs" in text
    assert any("precision of 0.04" in reason for reason in path.reasons)


def test_an_unknown_precision_is_estimated(values):
    path = cluster_path(values, [1, 2, 3], estimator=QUICK, held_out=None)
    left = np.array([fitted.residual_variance_ for fitted in path.estimators])
    np.testing.assert_allclose(path.bic, 66 * np.log(left) + np.arange(2, 5) * np.log(66))
    assert path.held_out is None
    assert path.suggestion == 3
    assert any("end of the range" in reason for reason in path.reasons)


def test_hidden_pairs_are_the_same_for_a_seed(values):
    one, two = (
        cluster_path(values, [2], estimator=QUICK, n_repeats=1, random_state=4).held_out
        for _ in range(2)
    )
    np.testing.assert_array_equal(one, two)


def test_errors_of_dissimilarities_have_their_own_unit(values):
    estimator = AdditiveClustering(kind="dissimilarity", n_init=3, random_state=0)
    one = cluster_path(values, [3], estimator=QUICK, n_repeats=1, random_state=4)
    two = cluster_path(1 - values, [3], estimator=estimator, n_repeats=1, random_state=4)
    np.testing.assert_allclose(two.held_out, one.held_out, rtol=1e-6)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"n_clusters": []}, "empty"), ({"precision": 0.0}, "precision"),
        ({"held_out": 0.7}, "held_out"), ({"n_repeats": 0}, "n_repeats"),
    ],
)  # fmt: skip
def test_parameters(values, settings, words):
    with pytest.raises(ParameterError, match=words):
        cluster_path(values, **{"n_clusters": [2], **settings})


def test_nothing_to_hide():
    with pytest.raises(ParameterError, match="no pair can be hidden"):
        cluster_path([0.1, np.nan, 0.4], [1], estimator=QUICK)
