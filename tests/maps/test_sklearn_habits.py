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
from sklearn.utils.estimator_checks import (
    check_no_attributes_set_in_init,
    check_parameters_default_constructible,
    parametrize_with_checks,
)

import manymaps as mm
from manymaps.affinity import GlobalGaussian, LocalPerplexity, nearest_neighbors
from manymaps.optimizers import LBFGS

SINGLE = [mm.SNE, mm.SymmetricSNE, mm.UniSNE, mm.TSNE]
MANY = [mm.AspectMaps, mm.MultipleMapsSNE, mm.MultipleMapsTSNE]

pytestmark = pytest.mark.filterwarnings("ignore::scipy.sparse.SparseEfficiencyWarning")


def points(n=50, width=3, seed=0):
    return np.random.default_rng(seed).normal(size=(n, width))


def fitted(X, **settings):
    return mm.TSNE(**{"perplexity": 5, "max_iter": 60, "random_state": 0, **settings}).fit(X)


# Some of the checks fit rows of zeros. The other estimators differ only in their models.
@parametrize_with_checks(
    [
        mm.TSNE(perplexity=2, max_iter=20, random_state=0),
        mm.MultipleMapsTSNE(n_maps=2, perplexity=2, max_iter=6, random_state=0),
    ]
)
@pytest.mark.filterwarnings("ignore:.* cannot have a perplexity:UserWarning")
def test_contract(estimator, check):
    check(estimator)


@pytest.mark.parametrize("estimator", SINGLE + MANY)
def test_constructors(estimator):
    check_parameters_default_constructible(estimator.__name__, estimator())
    check_no_attributes_set_in_init(estimator.__name__, estimator())


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


# Tables of distances, dense or sparse in any format, with duplicates.
TABLES = [
    *((form, {"init": "random"}) for form in ("coo", "csc", "csr", "dok", "lil")),
    ("csr", {"init": "mds"}), ("csr", {"affinity": GlobalGaussian(5)}),
    ("csr", {"affinity": LocalPerplexity(5)}),
]  # fmt: skip


class TestDistances:
    @pytest.mark.parametrize(("form", "settings"), TABLES)
    def test_a_sparse_table_of_all_pairs_is_the_dense_one(self, form, settings):
        X = points(40)
        X[7] = X[3]
        table = kneighbors_graph(X, 40, mode="distance", include_self=True)
        assert table.nnz == 40 * 40
        settings = {"metric": "precomputed", "max_iter": 30, **settings}
        expected = fitted(table.toarray(), **settings).embedding_
        np.testing.assert_array_equal(fitted(table.asformat(form), **settings).embedding_, expected)

    def test_pairs_that_are_not_stored_are_no_neighbours(self):
        X = points(40)
        table = kneighbors_graph(X, 15, mode="distance")
        expected = fitted(nearest_neighbors(X, 15), max_iter=30).embedding_
        found = fitted(table, metric="precomputed", max_iter=30).embedding_
        np.testing.assert_allclose(found, expected, atol=1e-3)

    def test_what_is_no_table_of_distances(self):
        table = sparse.csr_array(cdist(points(40), points(40)))
        for X in ([[0.0], [1.0]], table.tobsr()):
            with pytest.raises(mm.DataError):
                fitted(X, metric="precomputed", perplexity=1)


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
            ({"max_iter": 90}, ((0, 12.0), (30, 1.0))),
            ({"late_exaggeration": 4, "max_iter": 1000}, ((0, 12.0), (250, 1.0), (750, 4.0))),
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


@pytest.mark.parametrize("perplexity", [20, 19.5, [5, 20]])
@pytest.mark.parametrize("estimator", [mm.TSNE, mm.MultipleMapsTSNE])
def test_a_perplexity_of_all_objects_is_refused(estimator, perplexity):
    X = points(20)
    D = cdist(X, X)
    graph = nearest_neighbors(X, 19)
    for data, metric in (
        (X, "euclidean"), (sparse.csr_array(X), "euclidean"), (X, "cityblock"),
        (D, "precomputed"), (sparse.csr_array(D), "precomputed"), (graph, "euclidean"),
        ((graph.indices, graph.distances), "euclidean"),
    ):  # fmt: skip
        with pytest.raises(mm.ParameterError) as caught:
            estimator(metric=metric, perplexity=perplexity).fit(data)
        assert caught.value.name == "perplexity"


TABLE = np.exp(-cdist(points(20), points(20)))


@pytest.mark.parametrize("kind", ["pandas", "polars"])
@pytest.mark.parametrize(
    ("estimator", "X"),
    [
        (mm.TSNE(perplexity=4, max_iter=5, random_state=0), points(20)),
        (mm.MultipleMapsTSNE(2, affinity="precomputed", max_iter=5, random_state=0), TABLE),
        (mm.CODE(max_iter=5, random_state=0), np.eye(12, 6) + 1),
    ],
    ids=str,
)
def test_transform_returns_a_frame_where_one_is_asked_for(estimator, X, kind):
    library = pytest.importorskip(kind)
    plain = clone(estimator).fit_transform(X)
    asked = clone(estimator).set_output(transform=kind)
    labels = [f"w{i}" for i in range(len(X))]
    if kind == "pandas":
        columns = labels if X.shape[0] == X.shape[1] else [f"c{i}" for i in range(X.shape[1])]
        data = library.DataFrame(X, index=labels, columns=columns)
        assert list(asked.fit_transform(data).index) == labels
    with config_context(transform_output=kind):
        everywhere = clone(estimator).fit_transform(X)
    for frame in (everywhere, asked.fit_transform(X), asked.transform(X)):
        assert isinstance(frame, library.DataFrame)
        assert list(frame.columns) == list(asked.get_feature_names_out())
        np.testing.assert_allclose(frame.to_numpy(), plain, atol=1e-4)
