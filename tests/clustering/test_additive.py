"""The estimator of additive clustering: what it reads, recovers, leaves alone and refuses."""

import csv

import numpy as np
import pandas as pd
import polars as pl
import pytest
from joblib import parallel_config
from scipy import sparse
from sklearn.utils.estimator_checks import parametrize_with_checks

from manymaps.clustering.additive import AdditiveClustering, _assigned, _descend
from manymaps.clustering.solvers import Annealing, GibbsEM, Polish
from manymaps.data.associations import Associations
from manymaps.errors import DataError, DataWarning, ParameterError

QUICK = {"n_init": 2, "random_state": 0}


# Some of the checks fit rows of equal numbers, or a linear kernel of centred rows.
EQUAL_NUMBERS = pytest.mark.filterwarnings("ignore::manymaps.errors.DataWarning")


@parametrize_with_checks([AdditiveClustering(2, n_init=1, random_state=0)])
@EQUAL_NUMBERS
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def overlapping(n=10, k=3, noise=0.0, seed=0):
    rng = np.random.default_rng(seed)
    members = rng.random((n, k)) < 0.5
    weights = np.linspace(0.6, 0.2, k)
    error = rng.normal(0, noise, (n, n))
    values = (members * weights) @ members.T + 0.15 + np.triu(error, 1) + np.triu(error, 1).T
    np.fill_diagonal(values, np.nan)
    return values, members, weights


def matrix(folder, name):
    with (folder / "similarity" / name).open(newline="") as file:
        rows = list(csv.reader(file))
    values = np.array([[float(cell) for cell in row[1:]] for row in rows[1:]])
    np.fill_diagonal(values, np.nan)
    return values, rows[0][1:]


def test_settings_of_tenenbaum_1996():
    """Sections of J. B. Tenenbaum, Learning the structure of similarity, NIPS 8, 1996."""
    paper = AdditiveClustering.tenenbaum_1996(7)
    solver = paper.solver
    assert paper.n_clusters == 7
    assert isinstance(solver, GibbsEM)
    assert 20 <= solver.n_annealed <= 200  # section 3
    assert 10 <= solver.n_recorded <= 100  # section 3
    assert 100 <= solver.max_iter <= 200  # section 3
    variances = [solver.cooling(i) for i in range(solver.max_iter)]
    assert (np.diff(variances) < 0).all()  # section 2: the variance decreases in each iteration
    assert variances[-1] < 1.2 * solver.cooling.last
    assert solver.anneal_from > 1  # section 2: and within each E-step
    assert paper.constant == "nonnegative"  # section 2: the constant is the weight of a cluster
    assert paper.n_init == 5  # section 3.2
    assert paper.polish is False  # the paper has no search after EM
    assert AdditiveClustering.tenenbaum_1996().n_clusters == 8  # sections 3.1 to 3.3


class TestStarts:
    """Memberships that a fit sets out from."""

    def test_the_truth_is_kept(self):
        values, members, _ = overlapping()
        found = AdditiveClustering(3, init=members, n_init=0).fit(values)
        np.testing.assert_array_equal(found.memberships_, members)
        assert found.solutions_.shape == (1,)

    def test_missing_clusters_are_grown_and_superfluous_ones_left_out(self):
        values, members, _ = overlapping()
        for start in (members[:, :1], np.hstack([members, ~members])):
            found = AdditiveClustering(3, init=start, n_init=0).fit(values)
            np.testing.assert_array_equal(found.memberships_, members)
        plain = AdditiveClustering(2, init=members, n_init=0, polish=False).fit(values)
        np.testing.assert_array_equal(plain.memberships_, members[:, :2])

    def test_several_starts_stand_beside_the_random_ones(self):
        values, members, _ = overlapping(noise=0.05)
        found = AdditiveClustering(2, init=[members, members[:, :2]], n_init=3, random_state=0)
        assert found.fit(values).solutions_.shape == (5,)
        given = AdditiveClustering(2, init=members[:, :2], n_init=0).fit(values)
        assert found.variance_accounted_for_ >= given.variance_accounted_for_


class TestRecovery:
    @pytest.mark.parametrize("constant", ["free", "nonnegative"])
    @pytest.mark.parametrize("solver", ["gibbs", "annealing"])
    def test_clusters_without_noise_come_back_exactly(self, solver, constant):
        values, members, weights = overlapping()
        found = AdditiveClustering(
            3, solver=solver, constant=constant, n_init=5, random_state=0
        ).fit(values)
        np.testing.assert_array_equal(found.memberships_, members)
        np.testing.assert_allclose(found.weights_, weights, atol=1e-9)
        assert found.constant_ == pytest.approx(0.15)
        assert found.variance_accounted_for_ == pytest.approx(1)
        off = ~np.eye(10, dtype=bool)
        np.testing.assert_allclose(found.predict()[off], values[off], atol=1e-9)
        assert found.solutions_.max() == pytest.approx(1)
        assert found.membership_probabilities_.shape == (10, 3)

    def test_missing_pairs_are_predicted(self):
        values, members, _ = overlapping(12)
        gaps = values.copy()
        for i, j in [(0, 1), (3, 8), (5, 6), (2, 11)]:
            gaps[i, j] = gaps[j, i] = np.nan
        found = AdditiveClustering(3, n_init=5, random_state=0).fit(gaps)
        np.testing.assert_array_equal(found.memberships_, members)
        np.testing.assert_allclose(found.predict()[[0, 3], [1, 8]], values[[0, 3], [1, 8]])

    @pytest.mark.slow
    def test_integers(self, data_folder):
        values, labels = matrix(data_folder, "numbers10_similarity.csv")
        found = AdditiveClustering(8, random_state=0).fit(values, labels=labels)
        assert found.variance_accounted_for_ >= 0.9085
        assert np.ptp(found.solutions_) > 0

    @pytest.mark.slow
    def test_consonants_have_the_nasals(self, data_folder):
        values, labels = matrix(data_folder, "phonemes16_confusion.csv")
        found = AdditiveClustering(8, random_state=0).fit(values, labels=labels)
        assert found.variance_accounted_for_ >= 0.915
        assert ("m", "n") in [cluster.members for cluster in found.clusters_]

    def test_measures_belong_to_the_clusters(self):
        values, _, _ = overlapping(11, 3, 0.2, seed=3)
        found = AdditiveClustering(2, **QUICK).fit(values)
        pairs = np.triu_indices(11, 1)
        left = ((values - found.predict())[pairs] ** 2).sum()
        n_pairs = len(pairs[0])
        assert found.residual_variance_ == pytest.approx(left / n_pairs)
        expected = 1 - left / ((values[pairs] - values[pairs].mean()) ** 2).sum()
        assert found.variance_accounted_for_ == pytest.approx(expected)
        assert found.solutions_.max() == pytest.approx(expected)
        variance = left / n_pairs
        logs = -0.5 * (
            np.log(2 * np.pi * variance) + (values - found.predict())[pairs] ** 2 / variance
        )
        assert found.log_likelihood_ == pytest.approx(logs.sum())
        assert (np.diff(found.weights_) <= 0).all()
        em = AdditiveClustering(2, solver="gibbs", n_init=2, random_state=0).fit(values)
        assert len(em.history_["vaf"]) == em.n_iter_


class TestInvariance:
    @pytest.mark.parametrize("solver", [GibbsEM(), Annealing(n_sweeps=100)])
    def test_order_of_objects(self, solver):
        values, _, _ = overlapping(9, 3, 0.3, seed=4)
        order = np.random.default_rng(1).permutation(9)
        settings = {"solver": solver, "polish": False, **QUICK}
        one = AdditiveClustering(3, **settings).fit(values)
        other = AdditiveClustering(3, **settings).fit(values[np.ix_(order, order)])
        np.testing.assert_array_equal(other.memberships_, one.memberships_[order])
        np.testing.assert_allclose(other.weights_, one.weights_, rtol=1e-12)
        np.testing.assert_allclose(other.solutions_, one.solutions_, rtol=1e-9)

    @pytest.mark.parametrize(
        ("constant", "scale", "shift"),
        [
            ("free", 1e-90, 0.0), ("free", 1e-6, 0.0), ("free", 37.0, -5.0), ("free", 1e90, 0.0),
            ("nonnegative", 1e4, 0.0), (False, 0.3, 0.0),
        ],
    )  # fmt: skip
    def test_scale_and_shift(self, constant, scale, shift):
        values, _, _ = overlapping(9, 3, 0.3, seed=5)
        one = AdditiveClustering(3, constant=constant, **QUICK).fit(values)
        other = AdditiveClustering(3, constant=constant, **QUICK).fit(scale * values + shift)
        np.testing.assert_array_equal(other.memberships_, one.memberships_)
        np.testing.assert_allclose(other.weights_, scale * one.weights_, rtol=1e-9)
        assert other.constant_ == pytest.approx(scale * one.constant_ + shift, abs=1e-9 * scale)
        assert other.variance_accounted_for_ == pytest.approx(one.variance_accounted_for_)

    def test_dissimilarities_are_the_other_way_round(self):
        values, _, _ = overlapping(9, 3, 0.1, seed=6)
        one = AdditiveClustering(3, **QUICK).fit(values)
        other = AdditiveClustering(3, kind="dissimilarity", **QUICK).fit(2 - values)
        np.testing.assert_array_equal(other.memberships_, one.memberships_)
        np.testing.assert_allclose(other.predict(), 2 - one.predict(), atol=1e-9)
        new = values[:1, :] + 0.01
        np.testing.assert_array_equal(other.transform(2 - new), one.transform(new))

    @pytest.mark.slow
    def test_jobs_and_backends(self):
        values, _, _ = overlapping(9, 3, 0.3, seed=7)
        one = AdditiveClustering(3, n_init=4, random_state=3).fit(values)
        two = AdditiveClustering(3, n_init=4, random_state=3, n_jobs=2).fit(values)
        with parallel_config("loky"):
            three = AdditiveClustering(3, n_init=4, random_state=3, n_jobs=2).fit(values)
        for other in (two, three):
            np.testing.assert_array_equal(other.solutions_, one.solutions_)
            np.testing.assert_array_equal(other.memberships_, one.memberships_)
            np.testing.assert_array_equal(
                other.membership_probabilities_, one.membership_probabilities_
            )

    def test_more_starts_never_do_worse(self):
        values, _, _ = overlapping(12, 5, 0.3, seed=8)
        few = AdditiveClustering(4, n_init=2, polish=False, random_state=0).fit(values)
        many = AdditiveClustering(4, n_init=8, polish=False, random_state=0).fit(values)
        np.testing.assert_array_equal(many.solutions_[:2], few.solutions_)
        assert many.variance_accounted_for_ >= few.variance_accounted_for_ - 1e-12


class TestForms:
    def test_labels_of_associations_and_frames(self):
        values, _, _ = overlapping(8, 2, 0.1, seed=9)
        names = list("abcdefgh")
        associations = Associations(names, sparse.csr_array(np.maximum(np.nan_to_num(values), 0)))
        expected = AdditiveClustering(2, **QUICK).fit(values, labels=names)
        for X in (associations, pd.DataFrame(values, names, names), pl.DataFrame(values, names)):
            found = AdditiveClustering(2, **QUICK).fit(X)
            np.testing.assert_array_equal(found.memberships_, expected.memberships_)
            assert [c.members for c in found.clusters_] == [c.members for c in expected.clusters_]

    def test_asymmetry_is_averaged_and_said_or_refused(self):
        values, _, _ = overlapping(7, 2)
        crooked = values.copy()
        crooked[1, 4] += 0.2
        with pytest.warns(DataWarning, match=r"'1'.*'4'"):
            found = AdditiveClustering(2, **QUICK).fit(crooked)
        values[1, 4] = values[4, 1] = values[1, 4] + 0.1
        even = AdditiveClustering(2, **QUICK).fit(values)
        np.testing.assert_allclose(found.weights_, even.weights_)
        one_way = Associations(list("abc"), sparse.csr_array([[0, 1, 0], [0, 0, 1], [0.5, 0, 0]]))
        with pytest.warns(DataWarning, match="mean of both"):
            AdditiveClustering(1, **QUICK).fit(one_way)

    def test_a_value_on_one_side_stands_for_both(self):
        values, members, _ = overlapping(10)
        values[2, 5] = np.nan
        with pytest.warns(DataWarning, match="not symmetric"):
            found = AdditiveClustering(3, n_init=5, random_state=0).fit(values)
        np.testing.assert_array_equal(found.memberships_, members)


class TestNewObjects:
    def test_fitted_rows_keep_their_memberships(self):
        values, members, _ = overlapping()
        found = AdditiveClustering(3, n_init=5, random_state=0).fit(values)
        np.testing.assert_array_equal(found.transform(values), members)

    def test_a_twin_gets_the_memberships_of_its_twin(self):
        values, members, weights = overlapping()
        found = AdditiveClustering(3, n_init=5, random_state=0).fit(values)
        rows = (members * weights) @ members.T + 0.15
        np.testing.assert_array_equal(found.transform(rows), members)
        np.testing.assert_allclose(found.predict(rows), rows, atol=1e-9)
        rows[:, [1, 4]] = np.nan
        np.testing.assert_array_equal(found.transform(rows)[[0, 7]], members[[0, 7]])

    def test_greedy_placement_reaches_the_exact_one(self, monkeypatch):
        rng = np.random.default_rng(0)
        design = (rng.random((30, 6)) < 0.4) * rng.uniform(0.2, 0.6, 6)
        rows = (rng.random((20, 6)) < 0.5) @ design.T + rng.normal(0, 0.01, (20, 30))
        exact = np.array([_assigned(design, row) for row in rows])
        monkeypatch.setattr("manymaps.clustering.additive._MOST_EXACT", 0)
        greedy = np.array([_assigned(design, row) for row in rows])
        np.testing.assert_array_equal(greedy, exact)

    def test_descent_stops_where_no_flip_helps(self):
        rng = np.random.default_rng(1)
        design = rng.random((10, 7))
        gram, right = design.T @ design, design.T @ rng.random(10)
        code = _descend(gram, right, np.zeros(7, int))
        cost = code @ gram @ code - 2 * code @ right
        for k in range(7):
            other = code.copy()
            other[k] = 1 - other[k]
            assert other @ gram @ other - 2 * other @ right >= cost - 1e-9


class TestBadInput:
    def test_distances_given_as_similarities(self):
        values = overlapping(6)[0]
        distances = 2 - values
        np.fill_diagonal(distances, 0)
        with pytest.warns(DataWarning, match="as in distances"):
            AdditiveClustering(2, **QUICK).fit(distances)
        AdditiveClustering(2, kind="dissimilarity", **QUICK).fit(distances)

    def test_polish_objects_are_taken(self):
        values = overlapping(8, 3, 0.2)[0]
        flips = AdditiveClustering(3, polish=Polish(0), **QUICK).fit(values)
        plain = AdditiveClustering(3, polish=False, **QUICK).fit(values)
        assert (flips.solutions_ >= plain.solutions_ - 1e-9).all()


class TestEdges:
    """What rounding, scale and form of the input must not change."""

    @pytest.mark.parametrize("constant", ["free", "nonnegative", False])
    @pytest.mark.parametrize("value", [0.1, 0.7, 1e9 + 0.1])
    def test_equal_similarities_leave_nothing_to_explain(self, value, constant):
        fit = AdditiveClustering(2, constant=constant, n_init=1, random_state=0)
        with pytest.warns(DataWarning, match="all 21 similarities are equal"):
            fit.fit(np.full((7, 7), value))
        assert fit.variance_accounted_for_ == 1
        assert fit.solutions_.tolist() == [1]
        assert fit.residual_variance_ <= value**2 * (1 + 1e-9)
        if constant == "free":
            assert fit.constant_ == pytest.approx(value)
            assert fit.weights_.tolist() == [0, 0]


VALUES = overlapping(6)[0]
NAMES = list("abcdef")
CROOKED = VALUES + np.triu(np.ones((6, 6)), 1) * [0, 0.2, 0, 0, 0, 0]
REFUSALS = [
    (VALUES, {"init": np.ones((9, 2))}, {}, DataError, r"init has shape \(9, 2\)"),
    (VALUES, {"init": np.full((6, 2), 0.5)}, {}, DataError, "init 0 of object 0 is 0.5"),
    (VALUES, {"n_init": 0}, {}, ParameterError, "n_init=0"),
    (VALUES, {"n_clusters": 0}, {}, ParameterError, "n_clusters=0"),
    (overlapping(4)[0], {"n_clusters": 12}, {}, ParameterError, "11 distinct clusters"),
    (CROOKED, {"strict": True}, {}, DataError, "not symmetric"),
    ([[1.0]], {}, {}, DataError, "1 sample"),
    (np.ones((3, 4)), {}, {}, DataError, "3 rows and 4 columns"),
    ([[1, np.inf], [np.inf, 1]], {}, {}, DataError, "infinite"),
    (VALUES * 1e200, {}, {}, DataError, "scale the similarities"),
    (VALUES * 1e-200, {}, {}, DataError, "scale the similarities"),
    (np.where(np.add.outer(np.eye(6)[2], np.eye(6)[2]), np.nan, VALUES), {}, {}, DataError, "'2'"),
    (VALUES, {}, {"labels": list("abacde")}, DataError, r"'a' .objects 0 and 2"),
    (VALUES, {}, {"labels": list("abc")}, DataError, "3 labels for 6 objects"),
    (pd.DataFrame(VALUES, NAMES, list("abdcef")), {}, {}, DataError, r"row 2.*'c'.*column 2.*'d'"),
]


def test_refusals():
    for X, settings, more, error, words in REFUSALS:
        with pytest.raises(error, match=words):
            AdditiveClustering(**{"n_clusters": 2, **settings}).fit(X, **more)
