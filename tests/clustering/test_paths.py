"""The choice of the number of clusters: its measures and its suggestion."""

import numpy as np
import pytest
from scipy.spatial.distance import squareform

from manymaps.clustering import paths
from manymaps.clustering.additive import AdditiveClustering
from manymaps.clustering.paths import cluster_path
from manymaps.clustering.problem import hidden_sets, similarities_from
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
    return cluster_path(values, [1, 2, 3, 4, 3], estimator=QUICK, n_repeats=2, random_state=0)


def test_measures_are_those_of_the_fits(path, values):
    assert path.n_clusters.tolist() == [1, 2, 3, 4]
    lengths = path.description_length
    for k, fitted, vaf, length in zip(
        path.n_clusters, path.estimators, path.vaf, lengths, strict=True
    ):
        left = ((values - fitted.predict())[np.triu_indices(12, 1)] ** 2).mean()
        assert vaf == fitted.variance_accounted_for_
        expected = 66 * np.log(left) + (k + 1) * np.log(66) + 2 * 12 * k * np.log(2)
        assert length == pytest.approx(expected)
    assert (np.diff(path.vaf) >= 0).all()


def test_the_suggestion_is_the_truth(path):
    assert path.suggestion == 3
    assert path.held_out_error.shape == (4,)
    assert path.held_out_error[0] > path.held_out_error[2]
    assert "suggested: 3" in str(path)
    assert path.to_frame().loc[3, "recurs"] == path.recurrence[2].min()
    assert [len(one) for one in path.recurrence] == [1, 2, 3, 4]
    assert path.recurrence[2].min() >= 0.9 > path.recurrence[3].min()
    assert [len(one.solutions_) for one in path.estimators] == [4, 5, 5, 4]
    assert path.estimators[2].get_params()["n_init"] == 3


def test_criteria_that_are_not_computed(values):
    path = cluster_path(values, [1, 2, 3], estimator=QUICK, held_out=None, n_bootstraps=None)
    assert path.suggestion == 3
    assert path.fewest_by_held_out is path.held_out_error is path.recurrence is None
    assert list(path.to_frame().columns) == ["vaf", "length"]


def test_errors_of_dissimilarities_have_their_own_unit(values):
    estimator = AdditiveClustering(kind="dissimilarity", n_init=3, random_state=0)
    one = cluster_path(values, [3], estimator=QUICK, n_repeats=1, random_state=4)
    two = cluster_path(1 - values, [3], estimator=estimator, n_repeats=1, random_state=4)
    np.testing.assert_allclose(two.held_out_error, one.held_out_error, rtol=1e-6)


FEATURES = {
    "brother father grandfather grandson nephew son uncle": 0.25,
    "aunt daughter granddaughter grandmother mother niece sister": 0.25,
    "brother sister father mother son daughter": 0.4,
    "granddaughter grandfather grandmother grandson": 0.5,
    "aunt uncle nephew niece cousin": 0.45,
}


def kinship(seed: int, noise: float) -> np.ndarray:
    """Similarities of kinship terms by five features."""
    words = sorted({word for one in FEATURES for word in one.split()})
    members = np.array([[word in one.split() for word in words] for one in FEATURES], float)
    error = np.triu(np.random.default_rng(seed).normal(0, noise, (15, 15)), 1)
    values = (members.T * list(FEATURES.values())) @ members + 0.15 + error + error.T
    np.fill_diagonal(values, np.nan)
    return values


@pytest.mark.parametrize(("seed", "noise"), [(0, 0.05), (1, 0.05), (2, 0.03)])
def test_the_true_number_is_suggested_and_not_the_end_of_the_range(seed, noise):
    path = cluster_path(kinship(seed, noise), range(3, 8), n_repeats=2, random_state=seed)
    assert path.suggestion == 5


def test_the_path_finds_what_long_annealings_find():
    values = kinship(0, 0.08)
    path = cluster_path(values, [2, 4, 5], held_out=None, n_bootstraps=None, random_state=0)
    long = [
        AdditiveClustering(k, n_init=3, random_state=0).fit(values).variance_accounted_for_
        for k in (2, 4, 5)
    ]
    assert path.n_clusters.tolist() == [1, 2, 4, 5]
    assert (path.vaf[1:] > np.array(long) - 1e-3).all()


def test_standard_errors_are_over_hidden_pairs():
    squares = np.array([[1.0, 4.0, 9.0], [1.0, 1.0, 4.0]])
    error, standard_error, fewest = paths._compared(squares)
    np.testing.assert_allclose(error, np.sqrt([14 / 3, 2]))
    spread = squares.std(axis=1, ddof=1) / np.sqrt(3)
    np.testing.assert_allclose(standard_error, spread / 2 / error)
    assert fewest == 1
    assert paths._compared(np.array([[1.0, 4.0, 9.0], [2.0, 1.0, 8.0]]))[2] == 0


def test_each_pair_is_hidden_before_any_is_hidden_twice(values):
    data = similarities_from(values)
    sets = hidden_sets(data, 0.1, 12, np.random.RandomState(0))
    times = np.cumsum([mask.astype(int) for mask in sets], axis=0)
    upper = np.triu_indices(12, 1)
    for so_far in times:
        assert np.ptp(so_far[upper]) <= 1


@pytest.mark.parametrize(
    ("recurs", "suggestion"),
    [
        ([1, 0.9, 0.04, 1], 2), ([1, 0.9, 0.5, 1], 3), ([0.2, 0.4, 0.3, 1], 3), (None, 3),
    ],
)  # fmt: skip
def test_the_suggestion_is_the_largest_number_whose_clusters_all_recur(recurs, suggestion):
    counts = np.arange(1, 5)
    length = np.array([9.0, 5, 1, 1]) + 0.2 * counts
    recurrence = None if recurs is None else [np.array([1.0, one]) for one in recurs]
    assert counts[paths._suggested(length, recurrence)] == suggestion


@pytest.mark.parametrize("draw", ["normal", "uniform"])
def test_noise_has_no_structure(draw):
    for seed in range(3):
        values = getattr(np.random.default_rng(seed), draw)(size=45)
        table = squareform(values)
        np.fill_diagonal(table, np.nan)
        path = cluster_path(table, [2, 3], estimator=QUICK, held_out=None, n_bootstraps=None)
        assert path.n_clusters.tolist() == [1, 2, 3]
        assert (path.suggestion, path.has_structure) == (0, False)
        assert "no structure found" in str(path)
        left = ((values - values.mean()) ** 2).mean()
        assert path.constant_length == pytest.approx(45 * np.log(left) + np.log(45))
        assert path.constant_length < path.description_length.min()


def test_extreme_values_are_not_structure():
    suggestions = []
    for seed in range(20):
        values = squareform(np.random.default_rng([seed, 8]).exponential(size=28))
        np.fill_diagonal(values, np.nan)
        path = cluster_path(
            values, [1, 2], estimator=QUICK, held_out=None, n_bootstraps=None, random_state=seed
        )
        shorter = path.description_length.min() < path.constant_length
        suggestions.append((shorter, path.has_structure))
    by_length, found = np.sum(suggestions, axis=0)
    assert by_length >= 5
    assert found <= 2


def test_one_cluster_is_a_candidate_of_every_range():
    members = np.arange(10) < 4
    noise = np.random.default_rng(0).normal(0, 0.05, (10, 10))
    values = np.outer(members, members) + noise + noise.T
    assert (
        cluster_path(values, [2, 3], estimator=QUICK, held_out=None, n_bootstraps=None).suggestion
        == 1
    )


@pytest.mark.parametrize("constant", ["nonnegative", False])
def test_the_length_without_clusters_is_that_of_the_constant(constant):
    values = np.random.default_rng(0).normal(-1, 0.1, 28)
    estimator = AdditiveClustering(constant=constant, n_init=1, random_state=0)
    path = cluster_path(
        squareform(values), [1], estimator=estimator, held_out=None, n_bootstraps=None
    )
    expected = 28 * np.log((values**2).mean()) + (constant is not False) * np.log(28)
    assert path.constant_length == pytest.approx(expected)


def test_refusals(values):
    hidden = [[1, 0.1, np.nan], [0.1, 1, 0.4], [np.nan, 0.4, 1]]
    for table, settings, words in (
        (values, {"n_clusters": [2.5]}, "n_clusters=2.5"),
        (values, {"n_clusters": [0]}, "n_clusters=0"),
        (values, {"n_clusters": [2, 5000]}, "exceeds the"),
        (values, {"held_out": 0.7}, "held_out"),
        (values, {"n_repeats": 0}, "n_repeats"),
        (hidden, {"n_clusters": [1]}, "hiding any pair would"),
    ):
        with pytest.raises(ParameterError, match=words):
            cluster_path(table, **{"n_clusters": [2], "estimator": QUICK, **settings})
