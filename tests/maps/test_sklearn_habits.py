"""What scikit-learn's users count on in a t-SNE, asked of ours, and where we differ on purpose.

The cases are those of scikit-learn's own tests of t-SNE that concern what a user sees.
"""

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn import config_context
from sklearn.base import clone
from sklearn.manifold import trustworthiness
from sklearn.neighbors import NearestNeighbors, kneighbors_graph

import manymaps as mm
from manymaps.affinity import GlobalGaussian, LocalPerplexity, nearest_neighbors
from manymaps.optimizers import LBFGS

FORMATS = ["coo", "csc", "csr", "dok", "lil"]
SINGLE = [mm.SNE, mm.SymmetricSNE, mm.UniSNE, mm.TSNE]
MANY = [mm.AspectMaps, mm.MultipleMapsSNE, mm.MultipleMapsTSNE]

pytestmark = pytest.mark.filterwarnings("ignore::scipy.sparse.SparseEfficiencyWarning")


def points(n=50, width=3, seed=0):
    return np.random.default_rng(seed).normal(size=(n, width))


def fitted(X, **settings):
    return mm.TSNE(**{"perplexity": 5, "max_iter": 60, "random_state": 0, **settings}).fit(X)


class TestNeighbours:
    @pytest.mark.parametrize("tolerance", [0.0, 5e-3])
    @pytest.mark.parametrize("init", ["random", "pca"])
    def test_are_kept(self, init, tolerance):
        X = points(width=2)
        places = fitted(X, perplexity=15, init=init, tolerance=tolerance, max_iter=700).embedding_
        assert trustworthiness(X, places, n_neighbors=1) > 0.85

    def test_of_distances_are_kept(self):
        D = cdist(points(80, 2), points(80, 2), "sqeuclidean")
        settings = {"metric": "precomputed", "perplexity": 2, "max_iter": 500}
        places = fitted(D, early_exaggeration=2, **settings).embedding_
        assert trustworthiness(D, places, n_neighbors=1, metric="precomputed") > 0.95

    def test_of_a_grid_stand_evenly(self):
        X = np.stack(np.meshgrid(np.linspace(0, 1, 10), np.linspace(0, 1, 10)), -1).reshape(-1, 2)
        places = fitted(X, perplexity=50, init="random", max_iter=500).embedding_
        near = NearestNeighbors(n_neighbors=1).fit(places).kneighbors()[0].ravel()
        assert near.min() > 0.1
        assert near.min() / near.mean() > 0.5
        assert near.max() / near.mean() < 2


class TestDistances:
    """`metric="precomputed"`: a table, dense or sparse in any format."""

    @pytest.mark.parametrize("form", FORMATS)
    @pytest.mark.parametrize("duplicates", [False, True])
    @pytest.mark.parametrize(
        "settings",
        [
            {"init": "random"}, {"init": "mds"},
            {"affinity": GlobalGaussian(5)}, {"affinity": LocalPerplexity(5)},
        ],
        ids=str,
    )  # fmt: skip
    def test_a_sparse_table_of_all_pairs_is_the_dense_one(self, form, duplicates, settings):
        X = points(40)
        X[7] = X[3] if duplicates else X[7]
        table = kneighbors_graph(X, 40, mode="distance", include_self=True)
        assert table.nnz == 40 * 40
        settings = {"metric": "precomputed", "max_iter": 30, **settings}
        expected = fitted(table.toarray(), **settings).embedding_
        np.testing.assert_array_equal(fitted(table.asformat(form), **settings).embedding_, expected)

    @pytest.mark.parametrize("form", FORMATS)
    def test_pairs_that_are_not_stored_are_no_neighbours(self, form):
        X = points(40)
        table = kneighbors_graph(X, 15, mode="distance")
        settings = {"metric": "precomputed", "max_iter": 30}
        expected = fitted(nearest_neighbors(X, 15), max_iter=30).embedding_
        given = table.asformat(form)
        np.testing.assert_allclose(fitted(given, **settings).embedding_, expected, atol=1e-3)

    def test_what_is_no_table_of_distances(self):
        with pytest.raises(mm.DataError):
            fitted([[0.0], [1.0]], metric="precomputed", perplexity=1)
        with pytest.raises(mm.DataError, match="bsr format; pass a csr_array"):
            fitted(sparse.csr_array(cdist(points(40), points(40))).tobsr(), metric="precomputed")


class TestIterations:
    @pytest.mark.parametrize("max_iter", [1, 37])
    @pytest.mark.parametrize("optimizer", [None, LBFGS()])
    def test_as_many_as_the_callback_saw(self, max_iter, optimizer):
        seen = []
        fit = fitted(
            points(), max_iter=max_iter, optimizer=optimizer,
            callback=lambda iteration, cost, atlas: seen.append(iteration),
        )  # fmt: skip
        assert seen == list(range(1, max_iter + 1))
        assert fit.n_iter_ == max_iter
        assert fit.history_["iteration"][-1] == max_iter

    def test_more_of_them_lower_the_divergence(self):
        X = np.vstack([points(40, seed=k) + 6 * k for k in range(3)])
        left = [fitted(X, init="random", max_iter=m).kl_divergence_ for m in (30, 120, 750)]
        assert left[0] > left[1] > left[2]

    @pytest.mark.parametrize(
        ("settings", "values"),
        [
            ({}, ((0, 12.0), (250, 1.0))),
            ({"early_exaggeration_iter": 0}, ((0, 1.0),)),
            ({"early_exaggeration_iter": 400}, ((0, 12.0), (400, 1.0))),
            ({"late_exaggeration": 4}, ((0, 12.0), (250, 1.0), (500, 4))),
            ({"late_exaggeration": 4, "early_exaggeration_iter": 600}, ((0, 12.0), (600, 4))),
            ({"late_exaggeration": 4, "max_iter": 2}, ((0, 1.0),)),
        ],
    )
    def test_early_exaggeration_has_the_requested_length(self, settings, values):
        optimizer = mm.TSNE(**settings)._default_optimizer(50)
        assert optimizer.exaggeration.points == values

    def test_all_functions_of_a_list_are_called(self):
        seen = []

        def last(iteration, *_):
            seen.append(iteration)

        fit = fitted(points(), callback=[lambda iteration, *_: iteration == 3, last], max_iter=9)
        assert (seen, fit.n_iter_) == ([1, 2, 3], 3)


class TestPlaces:
    @pytest.mark.filterwarnings("ignore:.*cannot have a perplexity")
    @pytest.mark.filterwarnings("ignore:in init, all objects have the same coordinate")
    @pytest.mark.parametrize("metric", ["euclidean", "precomputed"])
    def test_of_equal_objects_that_start_together_are_separated(self, metric):
        X = np.zeros((30, 30)) if metric == "precomputed" else np.ones((30, 4))
        fit = fitted(X, metric=metric, init=np.zeros((30, 2)))
        assert np.isfinite(fit.embedding_).all()
        assert len(np.unique(fit.embedding_, axis=0)) == 30


class TestPerplexity:
    @pytest.mark.parametrize("perplexity", [20, 30, 19.5, [5, 20]])
    @pytest.mark.parametrize("estimator", SINGLE + MANY)
    def test_of_all_objects_is_refused(self, estimator, perplexity):
        X = points(20)
        D = cdist(X, X)
        settings = {"perplexity": perplexity} | ({"n_maps": 2} if estimator in MANY else {})
        graph = nearest_neighbors(X, 19)
        for data, metric in (
            (X, "euclidean"), (sparse.csr_array(X), "euclidean"), (X, "cityblock"),
            (D, "precomputed"), (sparse.csr_array(D), "precomputed"), (graph, "euclidean"),
            ((graph.indices, graph.distances), "euclidean"),
        ):  # fmt: skip
            with pytest.raises(mm.ParameterError) as caught:
                estimator(metric=metric, **settings).fit(data)
            assert caught.value.name == "perplexity"


def outputs():
    """Estimators and what they are fitted to, of every start that there is."""
    X = points(20)
    table = np.exp(-cdist(X, X))
    quick = {"max_iter": 5, "random_state": 0}
    for init in ("auto", "random", "pca", "mds"):
        yield mm.TSNE(perplexity=4, init=init, **quick), X
    for estimator in (mm.SNE, mm.SymmetricSNE, mm.UniSNE):
        yield estimator(perplexity=4, **quick), X
    for estimator in MANY:
        yield estimator(n_maps=2, perplexity=4, **quick), X
    yield mm.TSNE(affinity="precomputed", **quick), table
    yield mm.MultipleMapsTSNE(n_maps=2, affinity="precomputed", **quick), table
    yield mm.CODE(**quick), np.random.default_rng(0).poisson(3, size=(12, 6)) + 1.0
    yield mm.AdditiveClustering(2, n_init=1, random_state=0), table


class TestOutput:
    """Frames where they are asked of one estimator, or of all of scikit-learn."""

    @pytest.mark.parametrize("kind", ["pandas", "polars"])
    @pytest.mark.parametrize("everywhere", [False, True])
    def test_is_a_frame(self, kind, everywhere):
        library = pytest.importorskip(kind)
        # What all of scikit-learn is told reaches each in the same way.
        for made, X in list(outputs())[:: 4 if everywhere else 1]:
            plain = clone(made).fit_transform(X)
            estimator = clone(made) if everywhere else clone(made).set_output(transform=kind)
            labels = [f"w{i}" for i in range(len(X))]
            square = X.shape[0] == X.shape[1]
            names = labels if square else [f"c{i}" for i in range(X.shape[1])]
            given = [X, library.DataFrame(X)]
            if kind == "pandas":
                given += [library.DataFrame(X, index=labels, columns=names)]
            # Who asks for frames makes no difference to what is given.
            if isinstance(made, mm.CODE) or (type(made) is mm.TSNE and made.init == "auto"):
                given += [sparse.csr_array(X), sparse.csc_matrix(X)]
            for data in given:
                with config_context(transform_output=kind if everywhere else None):
                    found = clone(estimator).fit(data)
                    frames = found.transform(data), clone(estimator).fit_transform(data)
                for frame in frames:
                    assert isinstance(frame, library.DataFrame)
                    assert list(frame.columns) == list(found.get_feature_names_out())
                    assert frame.shape == plain.shape
                    if isinstance(data, np.ndarray):
                        np.testing.assert_allclose(frame.to_numpy(), plain, atol=1e-4)
                if kind == "pandas" and hasattr(data, "index"):
                    assert list(frames[0].index) == list(data.index)
