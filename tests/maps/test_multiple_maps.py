"""The multiple-map estimators: what they find, what a fit leaves, and bad input."""

import numpy as np
import pytest
from scipy import sparse

import manymaps as mm
import reference
from manymaps.affinity import GaussianAffinity, NeighborSearch
from manymaps.atlas.atlas import Atlas
from manymaps.errors import DataError, ParameterError

ESTIMATORS = [mm.MultipleMapsTSNE, mm.MultipleMapsSNE, mm.AspectMaps]
EACH = pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: e.__name__)

WORDS = ("tie", "knot", "rope", "tuxedo", "suit")


def two_senses(kind=mm.Associations):
    table = np.zeros((5, 5))
    for i, j in [(0, 1), (0, 2), (1, 2), (0, 3), (0, 4), (3, 4)]:
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


@pytest.mark.parametrize("normalization", ["conditional", "joint"])
def test_the_best_of_a_few_starts_has_tie_in_two_maps(normalization):
    """Tie belongs to two groups of words that have nothing else in common."""
    groups = (("knot", "rope", "noose", "bow"), ("tuxedo", "suit", "shirt", "dress"))
    table = np.ones((9, 9)) - np.eye(9)
    table[1:5, 5:] = table[5:, 1:5] = 0
    norms = mm.Associations(("tie", *groups[0], *groups[1]), sparse.csr_array(table))
    settings = {"X": norms, "normalization": normalization, "max_iter": 400}
    best = min(
        (fitted(random_state=seed, **settings) for seed in range(6)),
        key=lambda fit: fit.kl_divergence_,
    )
    assert best.kl_divergence_ < 0.05 < 0.1 < fitted(n_maps=1, **settings).kl_divergence_
    senses = best.atlas_.senses("tie", n_neighbors=4)
    neighbors = [{n.label for n in sense.neighbors} for sense in senses]
    assert sorted(neighbors, key=sorted) == sorted(map(set, groups), key=sorted)
    assert [sense.proportion for sense in senses] == pytest.approx([0.5, 0.5], abs=0.1)
    for word in groups[0] + groups[1]:
        assert len(best.atlas_.senses(word)) == 1


@EACH
def test_the_metric_is_that_of_the_neighbourhoods(estimator):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(40, 6)) * rng.uniform(1, 20, (40, 1))
    units = x / np.linalg.norm(x, axis=1, keepdims=True)
    distances = np.maximum(1 - units @ units.T, 0)
    np.fill_diagonal(distances, 0)
    rows = GaussianAffinity(5).similarities(x, metric="cosine").toarray()
    settings = {"max_iter": 30, "perplexity": 5, "affinity": "auto"}
    by_name = fitted(estimator, x, **settings, metric="cosine")
    given = fitted(estimator, distances, **settings, metric="precomputed")
    ready = fitted(estimator, rows, max_iter=30)
    for fit in (given, ready):
        np.testing.assert_allclose(fit.maps_, by_name.maps_, rtol=1e-2, atol=1e-3)
    assert abs(fitted(estimator, x, **settings).maps_ - by_name.maps_).max() > 0.01
    columns = by_name.maps_.transpose(1, 0, 2).reshape(40, -1)
    np.testing.assert_array_equal(by_name.transform(x), columns)
    assert by_name.get_feature_names_out()[3] == f"{estimator.__name__.lower()}3"


@EACH
@pytest.mark.parametrize("normalization", ["conditional", "joint"])
def test_kl_and_similarities_are_those_of_the_maps(estimator, normalization):
    fit = fitted(estimator, normalization=normalization, kernel_width=1.5)
    atlas = fit.atlas_
    side = atlas.maps.astype(float), -np.log(atlas.proportions.astype(float))
    log_v = reference.log_similarity(atlas.model.kernel, side, side, 1.5)
    log_q = reference.log_choice(log_v, normalization)
    table = two_senses(np.ndarray)
    rows = table / table.sum(axis=1, keepdims=True)
    p = rows if normalization == "conditional" else (rows + rows.T) / 10
    kl = reference.kl(p, log_q) / (5 if normalization == "conditional" else 1)
    assert fit.kl_divergence_ == pytest.approx(kl, rel=1e-4, abs=1e-6)
    for i, word in enumerate(WORDS):
        np.testing.assert_allclose(atlas.similarities(word), np.exp(log_q[i]), rtol=1e-4, atol=1e-9)


MODELS = [
    (mm.MultipleMapsTSNE, "cauchy", "mm-tsne"), (mm.MultipleMapsSNE, "gaussian", "mm-sne"),
    (mm.AspectMaps, "gaussian", "aspect-maps"),
]  # fmt: skip


@pytest.mark.parametrize(("estimator", "kernel", "method"), MODELS)
def test_the_models(estimator, kernel, method):
    atlas = fitted(estimator, max_iter=1).atlas_
    assert (atlas.model.kernel, atlas.method, atlas.model.mixing) == (kernel, method, "learned")


def test_sparse_and_dense_tables_and_associations_have_the_same_maps():
    table = two_senses(np.ndarray)
    for X in (table, sparse.csr_array(table), sparse.csc_array(table)):
        np.testing.assert_array_equal(fitted(X=X).maps_, fitted().maps_)


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


FAISS = {"affinity": "auto", "metric": "canberra", "neighbors": NeighborSearch("faiss", 0.5)}
REFUSED_SETTINGS = [
    ("init", {"init": "pca"}), ("n_init", {"init": np.zeros((2, 8, 2)), "n_init": 2}),
    ("n_init", {"n_init": 0}), ("n_maps", {"n_maps": 9}), ("marginals", {"marginals": "auto"}),
    ("marginals", {"marginals": True, "normalization": "joint"}),
    (None, {**FAISS, "perplexity": 1}),
    (None, {"init": np.zeros((2, 4, 2))}), (None, {"init": np.full((2, 8, 2), np.nan)}),
    (None, {"init": np.full((2, 8, 2), 1e30)}),
]  # fmt: skip


@pytest.mark.parametrize(("name", "settings"), REFUSED_SETTINGS)
def test_refused_settings(name, settings):
    with pytest.raises(ParameterError) as caught:
        fitted(X=ring(), **settings)
    assert type(caught.value) is ParameterError  # before the fit, which would diverge
    assert caught.value.name == name


def ring_with(value):
    table = ring()
    table[3, 5] = value
    return table


DISTANCES = {"metric": "precomputed", "affinity": "auto", "perplexity": 1}
REFUSED_DATA = [
    (r"row 3.*'3'.*column 5.*'5'", ring_with(-0.5), {}),
    (r"row 3.*'3'.*column 5.*'5'", sparse.csr_array(ring_with(-0.5)), {}),
    ("row 3", ring_with(np.inf), {}),
    ("row 3, column 5", sparse.csr_array(ring_with(np.nan)), DISTANCES),
    ("square", ring()[:, :7], {}),
    ("nothing", np.eye(4), {}),
    ("no known similarity", np.full((4, 4), np.nan), {}),
]


@pytest.mark.parametrize(("message", "X", "settings"), REFUSED_DATA)
def test_refused_data(message, X, settings):
    with pytest.raises(DataError, match=message):
        fitted(X=X, **settings)


class TestOrdinaryInput:
    @EACH
    def test_self_pairs_count_for_nothing(self, estimator):
        plain, with_self = (
            fitted(estimator, X=table, max_iter=20) for table in (ring(), ring() + 5 * np.eye(8))
        )
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
        tiny, plain = (fitted(X=scale * ring(), max_iter=20).maps_ for scale in (1e-300, 1))
        np.testing.assert_allclose(tiny, plain)


def some_words(n=40, seed=0):
    """Associations in which a few words are responses to many cues, and the last to none."""
    rng = np.random.default_rng(seed)
    table = rng.random((n, n)) * (rng.random((n, n)) < np.linspace(0.5, 0.02, n))
    np.fill_diagonal(table, 0)
    table[np.arange(n), (np.arange(n) + 1) % n] += 0.1
    table[:, -1] = 0
    return mm.Associations([f"word {i}" for i in range(n)], sparse.csr_array(table))


class TestMarginals:
    @EACH
    def test_factors_are_the_response_shares(self, estimator):
        norms = some_words()
        rows = norms.strengths.toarray() / norms.strengths.sum(axis=1)[:, None]
        sums = rows.sum(axis=0)
        sums = np.maximum(sums, np.median(sums[sums > 0]) / 10)
        atlas = fitted(estimator, X=norms, marginals=True, max_iter=1).atlas_
        np.testing.assert_allclose(atlas.factors, sums / sums.mean(), rtol=1e-12)
        assert atlas.factors[-1] == atlas.factors.min() > 0
        assert atlas.parameters["marginals"] is True

    def test_equal_shares_change_nothing(self):
        """All objects of a ring are equally often a response, so all factors are 1."""
        plain, shared = (fitted(X=ring(), marginals=value).maps_ for value in (False, True))
        np.testing.assert_allclose(shared, plain, atol=1e-3)

    def test_many_objects_keep_their_own_factors(self):
        """Above 2,000 objects, the fit reorders the objects."""
        n = 2_100
        rng = np.random.default_rng(0)
        rows, columns = np.repeat(np.arange(n), 4), rng.integers(0, 60, 4 * n)
        other = rows != columns
        table = sparse.csr_array((np.ones(other.sum()), (rows[other], columns[other])), (n, n))
        norms = mm.Associations([str(i) for i in range(n)], table)
        fit = fitted(X=norms, max_iter=3, marginals=True)
        assert fit.atlas_.factors[:60].min() > fit.atlas_.factors[60:].max()
        p = (table / table.sum(axis=1)[:, None]).tocoo()
        q = fit.atlas_.choices.row_shares(p.row, p.col)
        kl = (p.data * np.log(p.data / q)).sum() / n
        assert fit.kl_divergence_ == pytest.approx(kl, rel=1e-4)

    @pytest.mark.parametrize("refine", [False, True])
    def test_inserted_words_have_the_median(self, refine):
        atlas = fitted(X=some_words(), marginals=True).atlas_
        grown = mm.insert(atlas, {"new": {"word 3": 2.0, "word 9": 1.0}}, refine=refine).atlas
        np.testing.assert_array_equal(grown.factors, [*atlas.factors, np.median(atlas.factors)])
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
