"""CODE: the likelihood of its models, recovery of known maps, limits, new rows and bad tables."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import approx_fprime, minimize
from scipy.spatial import procrustes
from sklearn.utils.estimator_checks import parametrize_with_checks

from manymaps import CODE, Counts
from manymaps.errors import DataError, DataWarning, ParameterError
from manymaps.model.choice import CODE as PRESET
from manymaps.model.parameters import Parameters, log_softmin
from manymaps.optimizers import ConjugateGradient, Momentum
from reference import code_log_likelihood

FORMS = [
    {"normalization": "conditional", "given": "rows"},
    {"normalization": "conditional", "given": "columns"},
    {"normalization": "joint"},
]


def smooth_table(n_rows=12, n_columns=15, seed=0):
    """Counts without zeros."""
    return np.random.default_rng(seed).poisson(4, (n_rows, n_columns)) + 1.0


def clustered_table(n_rows=40, n_columns=60, n_groups=4, seed=0):
    """Documents of some groups, which prefer words of their own."""
    rng = np.random.default_rng(seed)
    rows, columns = rng.integers(n_groups, size=n_rows), rng.integers(n_groups, size=n_columns)
    rates = np.where(rows[:, None] == columns, 3.0, 0.4)
    return rng.poisson(rates).astype(float), rows, columns


def sides(fit):
    return fit.row_embedding_.astype(float), fit.column_embedding_.astype(float)


def settings_of(fit):
    return {key: getattr(fit, key) for key in ("normalization", "given", "marginals")}


def objective_of(fit, table):
    """The cost that a fit of this table minimizes."""
    return fit._objective(Counts(table))


def test_settings_of_globerson_2004():
    """Globerson, Chechik, Pereira & Tishby, Euclidean embedding of co-occurrence data, NIPS 17."""
    paper = CODE.globerson_2004()
    assert paper.n_components == 2  # figures 2 to 4
    assert (paper.normalization, paper.given) == ("conditional", "rows")  # eq. 1: p(y|x)
    assert paper.marginals is True  # eq. 1: the factor p(y)
    assert paper.penalty == 0  # section 3: the likelihood alone is maximized
    assert paper.n_maps == 1  # eq. 1
    assert CODE.globerson_2004(3).n_components == 3


@parametrize_with_checks([CODE(max_iter=60)])
@pytest.mark.filterwarnings("ignore:n_components=2 exceeds")
@pytest.mark.filterwarnings("ignore:.*have no counts and are not fitted")
def test_the_contract_of_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks([CODE(max_iter=40, normalization="joint")])
@pytest.mark.filterwarnings("ignore:n_components=2 exceeds")
@pytest.mark.filterwarnings("ignore:.*have no counts and are not fitted")
def test_the_contract_of_the_joint_model(estimator, check):
    check(estimator)


def test_proportions_learn_from_the_start_that_an_atlas_is():
    table = smooth_table()
    atlas = CODE(n_maps=2, random_state=0, max_iter=5).fit(table).atlas_
    steps = Momentum(0.01, hold_weights=0)
    fit = CODE(n_maps=2, random_state=0, max_iter=100, init=atlas, optimizer=steps).fit(table)
    assert np.abs(fit.proportions_ - atlas.proportions).max() > 0.01


@pytest.fixture(scope="module")
def fitted():
    table, _, _ = clustered_table()
    fit = CODE(penalty=0, random_state=0, tolerance=0, max_iter=3000)
    return table + 0.1, fit.fit(table + 0.1)


@pytest.fixture(scope="module")
def counts():
    labels = [f"d{i}" for i in range(40)], [f"w{i}" for i in range(60)]
    return Counts(clustered_table()[0] + 0.1, *labels, kinds=("document", "word"))


@pytest.fixture(scope="module")
def documents(counts):
    return CODE(random_state=0).fit(counts)


class TestLikelihood:
    @pytest.mark.parametrize("form", FORMS)
    @pytest.mark.parametrize("marginals", [True, False])
    def test_it_is_that_of_the_reference(self, form, marginals):
        table = smooth_table()
        fit = CODE(max_iter=30, marginals=marginals, random_state=1, **form).fit(table)
        expected = code_log_likelihood(table, *sides(fit), **settings_of(fit))
        assert fit.log_likelihood_ == pytest.approx(expected, abs=2e-6)
        assert fit.score(table) == pytest.approx(expected, abs=2e-6)

    @pytest.mark.parametrize("form", FORMS)
    @pytest.mark.parametrize("n_components", [1, 2, 3, pytest.param(8, marks=pytest.mark.slow)])
    @pytest.mark.parametrize("n_maps", [1, 3])
    def test_its_gradient_by_finite_differences(self, form, n_components, n_maps):
        """Of the float64 reference, at a random point; with zeros in the table."""
        rng = np.random.default_rng(n_components)
        table = smooth_table() - 1
        table[:, 0] += 1
        given = form.get("given", "rows")
        fit = CODE(n_components, n_maps=n_maps, penalty=0, tolerance=0, **form)
        objective = objective_of(fit, table)
        first, second = (12, 15) if given == "rows" else (15, 12)
        shape = Parameters(
            tuple(rng.normal(0, 0.6, (n_maps, n, n_components)) for n in (first, second)),
            tuple(rng.normal(0, 0.5 * (n_maps > 1), (n_maps, n)) for n in (first, second)),
        )
        scale = first

        def cost(vector):
            point = shape.unpack(vector)
            pi = [np.exp(log_softmin(weights)) for weights in point.weights]
            positions, turn = list(point.positions), slice(None, None, 1 if first == 12 else -1)
            value = code_log_likelihood(table, *positions[turn], *pi[turn], **settings_of(fit))
            return -scale * value

        slope = approx_fprime(shape.pack(), cost, 1e-6)
        if n_maps == 1:
            slope[-27:] = 0
        found = objective.evaluate(shape).gradient.pack()
        np.testing.assert_allclose(found, slope, atol=3e-5 * np.abs(slope).max())

    @pytest.mark.parametrize("form", FORMS)
    @pytest.mark.parametrize("n_components", [1, 2, 3, pytest.param(8, marks=pytest.mark.slow)])
    def test_no_float64_optimizer_finds_more(self, form, n_components):
        table = smooth_table()
        settings = {"penalty": 0, "max_iter": 3000, "tolerance": 0, "random_state": 0}
        fit = CODE(n_components, **settings, **form).fit(table)
        shape = (27, n_components)

        def negative(vector):
            points = vector.reshape(shape)
            return -code_log_likelihood(table, points[:12], points[12:], **settings_of(fit))

        start = np.concatenate(sides(fit)).ravel()
        better = minimize(negative, start, method="L-BFGS-B", options={"maxiter": 30})
        # Sums in float32 end a line search in a flat valley a little early.
        assert fit.log_likelihood_ > -better.fun - 1e-4

    @pytest.mark.parametrize("optimizer", [None, ConjugateGradient()])
    @pytest.mark.parametrize("form", FORMS)
    def test_it_never_falls_along_a_run(self, form, optimizer):
        table, _, _ = clustered_table()
        fit = CODE(random_state=0, optimizer=optimizer, penalty=0.001, **form).fit(table)
        cost = fit.history_["cost"]
        assert len(cost) > 10
        assert (np.diff(cost) <= 1e-6 * np.abs(cost[:-1])).all()

    def test_independent_kinds_need_no_map(self):
        table = np.outer([1, 2, 3, 4], [5, 1, 2, 7, 3.0])
        fit = CODE(penalty=0, random_state=0, init="random").fit(table)
        assert fit.kl_divergence_ == pytest.approx(0, abs=1e-6)
        assert np.ptp(fit.maps_, axis=1).max() < 0.3

    def test_the_same_with_momentum(self):
        table, _, _ = clustered_table()
        smooth = table + 0.2
        line = CODE(random_state=0).fit(smooth)
        steps = CODE(random_state=0, optimizer=Momentum(), max_iter=2000).fit(smooth)
        assert steps.kl_divergence_ == pytest.approx(line.kl_divergence_, rel=0.02)


class TestRecovery:
    @pytest.mark.parametrize("form", FORMS)
    def test_a_known_map_comes_back_up_to_rigid_motion(self, form):
        rng = np.random.default_rng(3)
        rows, columns = rng.normal(0, 0.9, (25, 2)), rng.normal(0, 0.9, (30, 2))
        d2 = ((rows[:, None] - columns) ** 2).sum(-1)
        table = 1e4 * np.exp(-d2)
        settings = {"penalty": 0, "marginals": False, "random_state": 0, "tolerance": 0}
        fit = CODE(n_init=3, max_iter=4000, **settings, **form).fit(table)
        assert fit.kl_divergence_ < 1e-5
        truth, found = np.vstack([rows, columns]), np.vstack(sides(fit))
        assert procrustes(truth, found)[2] < 1e-3

    def test_distances_come_back_in_their_own_unit(self):
        rng = np.random.default_rng(4)
        points = rng.normal(0, 0.7, (40, 2))
        d2 = ((points[:18, None] - points[18:]) ** 2).sum(-1)
        table = np.exp(-d2)
        settings = {"penalty": 0, "marginals": False, "random_state": 0, "tolerance": 0}
        fit = CODE(n_init=3, normalization="joint", **settings).fit(table)
        rows, columns = sides(fit)
        found = ((rows[:, None] - columns) ** 2).sum(-1)
        assert np.abs(found - d2).max() < 0.02

    def test_groups_stand_apart(self):
        table, groups, word_groups = clustered_table()
        rows, columns = sides(CODE(random_state=0).fit(table))
        nearest = np.argmin(((rows[:, None] - columns) ** 2).sum(-1), axis=1)
        assert (word_groups[nearest] == groups).mean() > 0.9


class TestManyMaps:
    def test_two_maps_hold_what_one_cannot(self):
        """A hub word shared by groups that share nothing else, on a line: one map must fail."""
        rng = np.random.default_rng(0)
        groups = np.repeat(np.arange(8), 6)
        table = np.where(groups[:, None] == groups, 8.0, 0.02)
        hub = rng.permutation(48)[:8]
        table[:, hub] = 4
        settings = {"random_state": 0, "penalty": 1e-4, "max_iter": 300}
        one = CODE(1, n_init=3, **settings).fit(table)
        many = CODE(1, n_maps=4, **settings).fit(table)
        assert many.kl_divergence_ < 0.7 * one.kl_divergence_
        assert many.atlas_.n_maps == 4
        assert many.row_embedding_.shape == (48, 4)
        np.testing.assert_allclose(many.proportions_.sum(axis=0), 1, rtol=1e-5)


class TestNewRows:
    def test_fitted_rows_keep_their_places(self, fitted):
        table, fit = fitted
        np.testing.assert_array_equal(fit.transform(table), fit.row_embedding_)

    def test_a_new_row_lands_where_its_likelihood_is_highest(self, fitted):
        table, fit = fitted
        # Twice the counts are another row with the same shares.
        np.testing.assert_allclose(fit.transform(2 * table), fit.row_embedding_, atol=0.02)
        place = fit.transform(table[:1] + table[1:2])[0].astype(float)
        share = (table[0] + table[1]) / (table[0] + table[1]).sum()
        margin = table.sum(axis=0) / table.sum()
        columns = fit.column_embedding_.astype(float)

        def cost(point):
            d2 = ((point - columns) ** 2).sum(axis=1)
            return share @ d2 + np.log(margin @ np.exp(-d2))

        best = minimize(cost, place, method="BFGS")
        assert np.abs(best.x - place).max() < 0.01

    def test_alone_as_together(self, fitted):
        table, fit = fitted
        fresh = table[:4] + table[4:8]
        together = fit.transform(fresh)
        alone = np.vstack([fit.transform(fresh[i : i + 1]) for i in range(4)])
        np.testing.assert_allclose(together, alone, atol=1e-4)

    def test_a_row_without_counts_gets_the_mean_and_a_warning(self, fitted):
        table, fit = fitted
        with pytest.warns(DataWarning, match="row 0"):
            place = fit.transform(np.zeros((1, table.shape[1])))
        mean = np.average(fit.row_embedding_, axis=0, weights=table.sum(axis=1))
        np.testing.assert_allclose(place[0], mean, atol=1e-5)

    @pytest.mark.parametrize("penalty", [0.0, 0.01])
    def test_in_many_maps_short_rows_stay_on_the_map(self, penalty):
        table, _, _ = clustered_table(60)
        fit = CODE(n_maps=5, penalty=penalty, max_iter=150, random_state=0).fit(table + 0.1)
        short = np.random.default_rng(1).multinomial(3, np.full(60, 1 / 60), 200).astype(float)
        # Twice the farthest that anything fitted stands, which is far out without a penalty.
        assert np.abs(fit.transform(short)).max() < max(30, 100 * np.abs(fit.maps_).max())

    def test_labels_are_matched_and_not_places(self, counts, documents):
        fit = documents
        order = np.random.default_rng(0).permutation(60)
        turned = counts.subset(rows=np.arange(40)[::-1], columns=order)
        np.testing.assert_array_equal(fit.transform(turned), fit.row_embedding_[::-1])
        assert fit.score(turned) == pytest.approx(fit.score(counts), abs=1e-6)
        with pytest.warns(DataWarning, match="1 word not in the fitted table, omitted: 'new'"):
            fit.transform(
                Counts(
                    np.hstack([counts.values.toarray(), np.ones((40, 1))]),
                    counts.row_labels, [*counts.column_labels, "new"], counts.kinds,
                )
            )  # fmt: skip
        strange = Counts(counts.values, counts.row_labels, [f"x{j}" for j in range(60)])
        with pytest.raises(DataError):
            fit.transform(strange)

    def test_an_atlas_to_start_from_is_matched_by_label(self, counts, documents):
        fit = documents
        turned = counts.subset(rows=np.arange(40)[::-1], columns=np.arange(60)[::-1])
        again = CODE(init=fit.atlas_, max_iter=1).fit(turned)
        np.testing.assert_allclose(again.row_embedding_[::-1], fit.row_embedding_, atol=0.02)
        with pytest.raises(DataError):
            CODE(init=fit.atlas_).fit(Counts(counts.values, kinds=counts.kinds))

    def test_held_out_counts_are_likelier_than_without_a_map(self):
        rng = np.random.default_rng(0)
        table, _, _ = clustered_table(n_rows=80)
        train = rng.binomial(table.astype(int), 0.7).astype(float)
        test = table - train
        fit = CODE(random_state=0).fit(train + 0.05)
        margin = (train + 0.05).sum(axis=0) / (train + 0.05).sum()
        without_map = (test * np.log(margin)).sum() / test.sum()
        assert fit.score(test) > without_map + 0.1


class TestTables:
    def test_empty_rows_and_columns_are_kept_out_and_reported(self):
        table = smooth_table()
        table[3] = 0
        table[:, [0, 7]] = 0
        with pytest.warns(DataWarning) as told:
            fit = CODE(random_state=0).fit(table)
        text = " ".join(str(w.message) for w in told)
        assert "1 of 12 rows have no counts" in text
        assert "2 of 15 columns have no counts" in text
        assert fit.empty_rows_.tolist() == [3]
        assert fit.empty_columns_.tolist() == [0, 7]
        assert fit.row_embedding_.shape == (12, 2)
        assert np.isfinite(fit.row_embedding_).all()
        assert fit.atlas_.n_objects == 11 + 13
        whole = np.delete(np.delete(table, 3, 0), [0, 7], 1)
        alone = CODE(random_state=0).fit(whole)
        assert fit.log_likelihood_ == pytest.approx(alone.log_likelihood_, abs=1e-6)

    def test_groups_without_common_counts_are_told(self):
        table = np.kron(np.eye(2), np.ones((4, 5)))
        with pytest.warns(DataWarning, match="9 of 18 objects"):
            CODE(penalty=0, random_state=0, max_iter=50).fit(table)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            CODE(random_state=0, max_iter=50).fit(table)

    def test_rows_that_run_away_are_told(self):
        table = smooth_table()
        table[0] = 0
        table[0, 4] = 3
        with pytest.warns(DataWarning, match="'0'"):
            CODE(penalty=0, random_state=0, max_iter=2000).fit(table)
        assert np.abs(CODE(random_state=0).fit(table).maps_).max() < 3

    def test_kinds_that_part_are_told(self):
        table = np.random.default_rng(1).poisson(2.0, (12, 15)).astype(float)
        with pytest.warns(DataWarning, match="27 of 27 objects"):
            CODE(penalty=0, normalization="joint", random_state=0, max_iter=3000).fit(table)

    def test_smooth_counts_are_not(self):
        for seed in range(5):
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                CODE(penalty=0, random_state=0).fit(smooth_table(seed=seed))

    def test_fractional_counts_and_sparse_tables(self):
        table = smooth_table() / 7
        dense = CODE(random_state=0).fit(table)
        thin = CODE(random_state=0).fit(sparse.csc_array(table))
        np.testing.assert_array_equal(dense.row_embedding_, thin.row_embedding_)

    def test_the_order_of_rows_does_not_matter(self):
        table = smooth_table()
        order = np.random.default_rng(0).permutation(12)
        a, b = (CODE(random_state=0, tolerance=0).fit(t) for t in (table, table[order]))
        assert a.log_likelihood_ == pytest.approx(b.log_likelihood_, abs=1e-5)


class TestAtlas:
    def test_it_knows_the_kinds(self, documents):
        atlas = documents.atlas_
        assert atlas.kinds == ("document",) * 40 + ("word",) * 60
        assert {n.label[0] for n in atlas.neighbors("d3")} == {"w"}
        assert {n.label[0] for n in atlas.neighbors("d3", neighbor_kind="document")} == {"d"}
        assert set(atlas.to_frame().kind) == {"document", "word"}

    def test_its_similarities_are_the_models_probabilities(self, documents):
        table = clustered_table()[0] + 0.1
        rows, columns = sides(documents)
        v = (table.sum(axis=0) / table.sum()) * np.exp(
            -((rows[:, None] - columns) ** 2).sum(axis=-1)
        )
        q = v / v.sum(axis=1, keepdims=True)
        assert documents.atlas_.similarity("d3", "w5") == pytest.approx(q[3, 5], rel=1e-4)
        joint = (table.sum(axis=1) / table.sum())[:, None] * q
        bayes = joint[:, 5] / joint[:, 5].sum()
        assert documents.atlas_.similarity("w5", "d3") == pytest.approx(bayes[3], rel=1e-4)

    def test_one_label_in_both_kinds(self):
        words = [f"w{i}" for i in range(12)]
        table = smooth_table(12, 12)
        counts = Counts(table + table.T, words, words, kinds=("word", "context"))
        atlas = CODE(random_state=0).fit(counts).atlas_
        assert atlas.index("w3") == 3
        assert atlas.index("w3", kind="context") == 15
        with pytest.raises(ParameterError, match="one of word, context"):
            atlas.index("w3", kind="document")


def test_more_starts_are_never_worse():
    table, _, _ = clustered_table()
    one = CODE(random_state=0, penalty=0.001).fit(table)
    many = CODE(random_state=0, penalty=0.001, n_init=4).fit(table)
    assert many.history_["cost"][-1] <= one.history_["cost"][-1]


FAR = np.full((12, 2), 1e30), np.zeros((15, 2))
REFUSALS = [
    ({}, [[1, -2], [3, 4]], DataError, "-2"),
    ({}, [[1, np.nan], [3, 4]], DataError, "NaN"),
    ({}, [[0, 0], [0, 0]], DataError, "no count"),
    ({}, [[1, 2, 3]], DataError, "at least two"),
    ({}, [[1], [2]], DataError, "at least two"),
    ({"n_components": 28}, smooth_table(), ParameterError, "n_components=28"),
    ({"n_maps": 13}, smooth_table(), ParameterError, "n_maps"),
    ({"init": FAR}, smooth_table(), ParameterError, "init"),
]


@pytest.mark.filterwarnings("ignore::manymaps.errors.DataWarning")
def test_refusals():
    for settings, table, error, words in REFUSALS:
        with pytest.raises(error, match=words):
            CODE(**settings).fit(np.array(table, float))


def test_dimensions_beyond_the_smaller_side_are_told():
    with pytest.warns(DataWarning, match="n_components=20"):
        CODE(20, random_state=0, max_iter=20).fit(smooth_table())


def test_the_model_of_the_atlas_is_the_preset():
    fit = CODE(random_state=0, normalization="joint").fit(smooth_table())
    assert fit.atlas_.model == replace(PRESET, normalization="joint")
