"""The multiple-map estimators: scikit-learn's contract, bad input, and what they find."""

from typing import ClassVar

import numpy as np
import pytest
from scipy import sparse
from sklearn.utils.estimator_checks import parametrize_with_checks

import manymaps as mm
import reference
from manymaps.affinity import GaussianAffinity, NeighborSearch
from manymaps.atlas.atlas import Atlas
from manymaps.errors import DataError, ParameterError
from manymaps.optimizers import LBFGS

SMALL = {"n_maps": 2, "perplexity": 2, "max_iter": 6, "random_state": 0}
ESTIMATORS = [mm.MultipleMapsTSNE, mm.MultipleMapsSNE, mm.AspectMaps]
EACH = pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: e.__name__)

WORDS = ("tie", "knot", "rope", "tuxedo", "suit")
PAIRS = [(0, 1), (0, 2), (1, 2), (0, 3), (0, 4), (3, 4)]


# Some of the checks fit rows of zeros.
ZEROS = pytest.mark.filterwarnings("ignore:.* cannot have a perplexity:UserWarning")


@parametrize_with_checks([mm.MultipleMapsTSNE(**SMALL)])
@ZEROS
def test_scikit_learn_contract(estimator, check):
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks(
    [
        mm.MultipleMapsSNE(**SMALL, normalization="joint", background=0.1, optimizer=LBFGS()),
        mm.AspectMaps(**SMALL),
    ]
)
@ZEROS
def test_scikit_learn_contract_of_the_family(estimator, check):
    check(estimator)


def two_senses(kind=mm.Associations):
    table = np.zeros((5, 5))
    for i, j in PAIRS:
        table[i, j] = table[j, i] = 1.0
    return mm.Associations(WORDS, sparse.csr_array(table)) if kind is mm.Associations else table


def ring(n=8):
    return np.roll(np.eye(n), 1, axis=1) + np.roll(np.eye(n), -1, axis=1)


def fitted(estimator=mm.MultipleMapsTSNE, X=None, **parameters):
    parameters = {"n_maps": 2, "max_iter": 100, "random_state": 0, **parameters}
    if X is None:
        X = two_senses()
    if not isinstance(X, mm.Associations):
        parameters.setdefault("affinity", "precomputed")
    return estimator(**parameters).fit(X)


class TestSenses:
    """Tie belongs to two groups of words that have nothing else in common."""

    SENSES = (("knot", "rope", "noose", "bow"), ("tuxedo", "suit", "shirt", "dress"))

    def groups(self):
        words = ("tie", *self.SENSES[0], *self.SENSES[1])
        table = np.zeros((9, 9))
        for sense in self.SENSES:
            at = [words.index(word) for word in ("tie", *sense)]
            table[np.ix_(at, at)] = 1 - np.eye(5)
        return mm.Associations(words, sparse.csr_array(table))

    @pytest.mark.parametrize("normalization", ["conditional", "joint"])
    def test_the_best_of_a_few_starts_has_tie_in_two_maps(self, normalization):
        fits = [
            fitted(X=self.groups(), normalization=normalization, max_iter=400, random_state=seed)
            for seed in range(6)
        ]
        best = min(fits, key=lambda fit: fit.kl_divergence_)
        alone = fitted(X=self.groups(), normalization=normalization, max_iter=400, n_maps=1)
        assert best.kl_divergence_ < 0.05 < 0.1 < alone.kl_divergence_
        senses = best.atlas_.senses("tie", n_neighbors=4)
        assert len(senses) == 2
        found = {frozenset(n.label for n in sense.neighbors) for sense in senses}
        assert found == {frozenset(sense) for sense in self.SENSES}
        for sense in senses:
            assert sense.proportion == pytest.approx(0.5, abs=0.1)
        for word in self.SENSES[0] + self.SENSES[1]:
            assert len(best.atlas_.senses(word)) == 1


class TestVectors:
    SETTINGS: ClassVar = {"n_maps": 2, "max_iter": 30, "perplexity": 5, "random_state": 0}

    def vectors(self):
        rng = np.random.default_rng(0)
        return rng.normal(size=(40, 6)) * rng.uniform(1, 20, (40, 1))

    @EACH
    def test_the_metric_is_that_of_the_neighbourhoods(self, estimator):
        x = self.vectors()
        by_name = estimator(metric="cosine", **self.SETTINGS).fit(x)
        units = x / np.linalg.norm(x, axis=1, keepdims=True)
        distances = np.maximum(1 - units @ units.T, 0)
        np.fill_diagonal(distances, 0)
        given = estimator(metric="precomputed", **self.SETTINGS).fit(distances)
        rows = GaussianAffinity(5).similarities(x, metric="cosine").toarray()
        ready = estimator(affinity="precomputed", **self.SETTINGS).fit(rows)
        plain = estimator(**self.SETTINGS).fit(x)
        for fit in (given, ready):
            np.testing.assert_allclose(fit.maps_, by_name.maps_, rtol=1e-2, atol=1e-3)
        assert abs(plain.maps_ - by_name.maps_).max() > 0.01
        np.testing.assert_array_equal(
            by_name.transform(x), by_name.maps_.transpose(1, 0, 2).reshape(40, -1)
        )


class TestWhatAFitLeaves:
    @pytest.mark.parametrize("estimator", ESTIMATORS)
    @pytest.mark.parametrize("normalization", ["conditional", "joint"])
    def test_kl_and_similarities_are_those_of_its_maps(self, estimator, normalization):
        fit = fitted(estimator, normalization=normalization, kernel_width=1.5)
        atlas = fit.atlas_
        y, pi = atlas.maps.astype(float), atlas.proportions.astype(float)
        side = y, -np.log(pi)
        log_b = 0.0 if atlas.factors is None else np.log(atlas.factors)
        log_v = reference.log_similarity(atlas.model.kernel, side, side, 1.5, log_b=log_b)
        log_q = reference.log_choice(log_v, normalization)
        table = two_senses(np.ndarray)
        rows = table / table.sum(axis=1, keepdims=True)
        p = rows if normalization == "conditional" else (rows + rows.T) / 10
        kl = reference.kl(p, log_q) / (5 if normalization == "conditional" else 1)
        assert fit.kl_divergence_ == pytest.approx(kl, rel=1e-4, abs=1e-6)
        for i, word in enumerate(WORDS):
            np.testing.assert_allclose(
                atlas.similarities(word), np.exp(log_q[i]), rtol=1e-4, atol=1e-9
            )

    def test_matrix_of_positions(self):
        X = two_senses(np.ndarray)
        estimator = mm.MultipleMapsTSNE(
            n_maps=2, n_components=3, affinity="precomputed", max_iter=5, random_state=0
        )
        table = estimator.fit_transform(X)
        assert table.shape == (5, 6)
        np.testing.assert_array_equal(table[:, 3:], estimator.maps_[1])
        names = estimator.get_feature_names_out()
        assert len(names) == 6
        assert names[0] == "multiplemapstsne0"


class TestDefaults:
    @pytest.mark.parametrize(
        ("estimator", "kernel", "method"),
        [
            (mm.MultipleMapsTSNE, "cauchy", "mm-tsne"),
            (mm.MultipleMapsSNE, "gaussian", "mm-sne"),
            (mm.AspectMaps, "gaussian", "aspect-maps"),
        ],
    )
    def test_model(self, estimator, kernel, method):
        atlas = fitted(estimator, max_iter=1).atlas_
        assert (atlas.model.kernel, atlas.method) == (kernel, method)
        assert atlas.model.mixing == "learned"


class TestSameBits:
    def test_sparse_dense_and_associations(self):
        table = two_senses(np.ndarray)
        maps = [
            fitted(X=X).maps_
            for X in (two_senses(), table, sparse.csr_array(table), sparse.csc_array(table))
        ]
        for other in maps[1:]:
            np.testing.assert_array_equal(other, maps[0])


class TestStart:
    def test_from_an_atlas(self):
        first = fitted(penalty=0)
        again = fitted(penalty=0, init=first.atlas_, max_iter=1)
        assert again.history_["cost"][0] == pytest.approx(first.history_["cost"][-1], rel=1e-4)

    def test_a_part_of_an_atlas_moves_as_a_copy_of_it_does(self):
        """Choosing objects leaves arrays whose rows are not in a row, of which views are copies."""
        whole = fitted(max_iter=20).atlas_
        part = whole.subset(np.array([1, 0, 2, 3, 4])).subset(np.array([1, 0, 2, 3, 4]))
        assert not part.maps.flags.c_contiguous
        moved, copied = (fitted(init=start, max_iter=20) for start in (part, whole))
        np.testing.assert_array_equal(moved.maps_, copied.maps_)
        assert abs(moved.maps_ - whole.maps).max() > 0

    def test_fixed_mixing_stays_equal_or_as_the_atlas_has_it(self):
        fit = fitted(mixing="fixed")
        np.testing.assert_allclose(fit.proportions_, 0.5)
        uneven = Atlas(WORDS, fit.maps_, np.tile([[0.9], [0.1]], 5), fit.atlas_.model)
        kept = fitted(mixing="fixed", init=uneven, max_iter=5)
        np.testing.assert_allclose(kept.proportions_, uneven.proportions, rtol=1e-6)


def ring_with(value):
    table = ring()
    table[3, 5] = value
    return table


DISTANCES = {"metric": "precomputed", "affinity": "auto", "perplexity": 1}
REFUSALS = [
    (ParameterError, "'pca'", ring(), {"init": "pca"}),
    (ParameterError, "shape", ring(), {"init": np.zeros((2, 4, 2))}),
    (ParameterError, "finite", ring(), {"init": np.full((2, 8, 2), np.nan)}),
    (ParameterError, "n_init", ring(), {"init": np.zeros((2, 8, 2)), "n_init": 2}),
    (ParameterError, "n_init", ring(), {"n_init": 0}),
    (ParameterError, "n_maps=9", ring(), {"n_maps": 9}),
    (ParameterError, "marginals", ring(), {"marginals": True, "normalization": "joint"}),
    (ParameterError, "marginals", ring(), {"marginals": "auto"}),
    (ParameterError, "metric", ring(), {"affinity": "auto", "perplexity": 1, "metric": "canberra",
                                        "neighbors": NeighborSearch("faiss", 0.5)}),
    (DataError, r"row 3.*'3'.*column 5.*'5'", ring_with(-0.5), {}),
    (DataError, r"row 3.*'3'.*column 5.*'5'", sparse.csr_array(ring_with(-0.5)), {}),
    (DataError, "row 3", ring_with(np.inf), {}),
    (DataError, "row 3, column 5", sparse.csr_array(ring_with(np.nan)), DISTANCES),
    (DataError, "square", ring()[:, :7], {}),
    (DataError, "nothing", np.eye(4), {}),
    (DataError, "no known similarity", np.full((4, 4), np.nan), {}),
    (ValueError, "1 sample", np.ones((1, 1)), {"n_maps": 1}),
]  # fmt: skip


@pytest.mark.parametrize(("error", "message", "X", "settings"), REFUSALS)
def test_refusals(error, message, X, settings):
    with pytest.raises(error, match=message):
        fitted(X=X, **settings)


class TestOrdinaryInput:
    @EACH
    def test_self_pairs_count_for_nothing(self, estimator):
        plain = fitted(estimator, X=ring(), max_iter=20)
        with_self = fitted(estimator, X=ring() + 5 * np.eye(8), max_iter=20)
        np.testing.assert_array_equal(plain.maps_, with_self.maps_)

    @EACH
    def test_isolated_objects_and_separate_groups(self, estimator):
        table = sparse.block_diag([ring(5), np.zeros((2, 2)), ring(4)], format="csr")
        fit = fitted(estimator, X=table)
        assert np.isfinite(fit.maps_).all()
        assert np.isfinite(fit.kl_divergence_)

    def test_missing_mass_of_associations_is_kept(self):
        """A row that sums to 0.4 pulls 0.4 times as hard: the fit differs from the full one."""
        table = two_senses(np.ndarray)
        part = mm.Associations(WORDS, sparse.csr_array(0.1 * table))
        full = mm.Associations(WORDS, sparse.csr_array(table / table.sum(axis=1, keepdims=True)))
        assert (fitted(X=part).maps_ != fitted(X=full).maps_).any()

    def test_tiny_similarities(self):
        np.testing.assert_allclose(
            fitted(X=1e-300 * ring(), max_iter=20).maps_, fitted(X=ring(), max_iter=20).maps_
        )


def some_words(n=40, seed=0):
    """Associations in which a few words are responses to many cues."""
    rng = np.random.default_rng(seed)
    table = rng.random((n, n)) * (rng.random((n, n)) < np.linspace(0.5, 0.02, n))
    np.fill_diagonal(table, 0)
    table[np.arange(n), (np.arange(n) + 1) % n] += 0.1
    return mm.Associations([f"word {i}" for i in range(n)], sparse.csr_array(table))


class TestMarginals:
    @pytest.mark.parametrize("estimator", ESTIMATORS)
    def test_factors_are_the_response_shares(self, estimator):
        norms = some_words()
        rows = norms.strengths.toarray() / norms.strengths.sum(axis=1)[:, None]
        sums = np.maximum(rows.sum(axis=0), np.median(rows.sum(axis=0)) / 10)
        atlas = fitted(estimator, X=norms, marginals=True, max_iter=1).atlas_
        np.testing.assert_allclose(atlas.factors, sums / sums.mean(), rtol=1e-12)
        assert atlas.parameters["marginals"] is True

    def test_a_word_that_is_no_response_has_a_small_factor(self):
        table = two_senses(np.ndarray)
        table[:, 4] = 0
        norms = mm.Associations(WORDS, sparse.csr_array(table))
        factors = fitted(X=norms, marginals=True).atlas_.factors
        assert 0 < factors[4] < factors[:4].min()

    def test_equal_shares_change_nothing(self):
        """All objects of a ring are equally often a response, so all factors are 1."""
        plain, shared = (fitted(X=ring(), marginals=value).maps_ for value in (False, True))
        np.testing.assert_allclose(shared, plain, atol=1e-3)

    def test_it_explains_more(self):
        norms = some_words()
        without, shared = (
            fitted(X=norms, n_maps=3, max_iter=300, marginals=value) for value in (False, True)
        )
        assert shared.kl_divergence_ < without.kl_divergence_ - 0.05

    def test_many_objects_keep_their_own_factors(self):
        """Above 2,000 objects, the fit reorders the objects."""
        n = 2_100
        rng = np.random.default_rng(0)
        rows, columns = np.repeat(np.arange(n), 4), rng.integers(0, 60, 4 * n)
        other = rows != columns
        table = sparse.coo_array((np.ones(other.sum()), (rows[other], columns[other])), (n, n))
        norms = mm.Associations([str(i) for i in range(n)], sparse.csr_array(table))
        fit = fitted(X=norms, max_iter=3, marginals=True)
        assert fit.atlas_.factors[:60].min() > fit.atlas_.factors[60:].max()
        i = np.repeat(np.arange(n), np.diff(norms.strengths.indptr))
        p = norms.strengths.data / np.repeat(
            norms.strengths.sum(axis=1), np.diff(norms.strengths.indptr)
        )
        q = fit.atlas_.choices.row_shares(i, norms.strengths.indices)
        kl = (p * np.log(p / q)).sum() / n
        assert fit.kl_divergence_ == pytest.approx(kl, rel=1e-4)

    def test_inserted_words_have_the_median(self):
        atlas = fitted(X=some_words(), marginals=True).atlas_
        for refine in (False, True):
            new = {"new": {"word 3": 2.0, "word 9": 1.0}}
            grown = mm.insert(atlas, new, refine=refine).atlas
            np.testing.assert_array_equal(grown.factors[:-1], atlas.factors)
            assert grown.factors[-1] == np.median(atlas.factors)
            assert grown.similarities("new").sum() == pytest.approx(1)


@pytest.mark.slow
def test_no_object_is_unsupported(data_folder):
    """Places of a tenth or more that explain less than a hundredth of a word's pairs."""
    norms = mm.read_associations(data_folder / "usf" / "usf_free_association.tsv.gz")
    atlas = mm.MultipleMapsTSNE(20, random_state=1, max_iter=300).fit(norms).atlas_
    pairs = norms.strengths.tocoo()
    votes = atlas.choices.votes(pairs.row, pairs.col) * pairs.data[:, None]
    explained = np.zeros((atlas.n_objects, 20))
    np.add.at(explained, pairs.row, votes)
    np.add.at(explained, pairs.col, votes)
    explained /= explained.sum(axis=1, keepdims=True)
    assert ((atlas.proportions.T >= 0.1) & (explained < 0.01)).sum() <= 4
