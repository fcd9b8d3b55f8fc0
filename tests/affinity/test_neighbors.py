"""Neighbours: the exact ones, a promised recall, and data that cannot have any."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.metrics.pairwise import haversine_distances

from manymaps.affinity import cells, distances, neighbors
from manymaps.affinity import search as search_methods
from manymaps.affinity.distances import check_stored_symmetry, normalized_rows
from manymaps.affinity.neighbors import (
    NeighborGraph,
    NeighborSearch,
    as_graph,
    check_graph,
    distance_rows,
    nearest_neighbors,
)
from manymaps.compute.threads import threads
from manymaps.errors import DataError, DataWarning, ParameterError

EXACT, FAISS = NeighborSearch("exact"), NeighborSearch("faiss")
GIVEN = {"metric": "precomputed"}


def clouds(n, d=8, seed=0, centres=20):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(centres, d))[rng.integers(centres, size=n)] * 3 + rng.normal(
        size=(n, d)
    )


def reference(X, k, metric="euclidean", queries=None):
    """Distances to the k nearest, by sorting all of them."""
    distances = cdist(X if queries is None else queries, X, metric)
    if queries is None:
        np.fill_diagonal(distances, np.inf)
    return np.sort(distances, axis=1)[:, :k], distances


def share(graph, truth):
    pairs = zip(graph.indices, truth.indices, strict=True)
    return np.mean([np.isin(a, b).mean() for a, b in pairs])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    "metric", ["euclidean", "sqeuclidean", "cosine", "correlation", "manhattan", "chebyshev"]
)
@pytest.mark.parametrize("with_queries", [False, True])
def test_exact_neighbors_are_those_of_a_full_sort(metric, dtype, with_queries):
    X = clouds(120).astype(dtype)
    queries = clouds(17, seed=1).astype(dtype) if with_queries else None
    graph = nearest_neighbors(X, 9, metric=metric, queries=queries)
    metric = {"manhattan": "cityblock"}.get(metric, metric)
    nearest, distances = reference(X.astype(float), 9, metric, queries)
    np.testing.assert_allclose(graph.distances, nearest, rtol=2e-5, atol=1e-6)
    found = np.take_along_axis(distances, graph.indices.astype(int), axis=1)
    np.testing.assert_allclose(found, graph.distances, rtol=2e-5, atol=1e-6)
    assert graph.indices.dtype == np.int32
    assert (graph.method, graph.recall) == ("exact", 1.0)


@pytest.mark.parametrize("metric", ["euclidean", "cosine", "correlation", "manhattan"])
def test_sparse_rows_have_the_neighbors_of_dense_ones(metric):
    X = clouds(80) * (np.random.default_rng(2).random((80, 8)) < 0.5)
    X[:, 0] += 1
    dense = nearest_neighbors(X, 5, metric=metric)
    rows = nearest_neighbors(sparse.csr_array(X), 5, metric=metric)
    np.testing.assert_allclose(rows.distances, dense.distances, rtol=1e-6, atol=1e-7)


def test_metrics_of_scipy_and_functions():
    X = clouds(30)
    graph = nearest_neighbors(X, 3, metric=lambda a, b: abs(a[0] - b[0]))
    np.testing.assert_allclose(graph.distances, reference(X[:, :1], 3)[0])
    presence = (X > 0) * 2.0
    graph = nearest_neighbors(presence, 4, metric="jaccard")
    np.testing.assert_allclose(graph.distances, reference(presence > 0, 4, "jaccard")[0])
    places = np.random.default_rng(0).uniform(-1, 1, (30, 2))
    truth = np.sort(haversine_distances(places))[:, 1:4]
    np.testing.assert_allclose(nearest_neighbors(places, 3, metric="haversine").distances, truth)


@pytest.mark.parametrize("method", ["exact", "faiss"])
def test_duplicates_are_neighbors_and_the_object_itself_is_not(method):
    X = clouds(300)
    X[100:140] = X[0]
    graph = nearest_neighbors(X, 20, search=NeighborSearch(method))
    assert not (graph.indices == np.arange(300)[:, None]).any()
    copies = {0, *range(100, 140)}
    for i in copies:
        assert set(graph.indices[i]) <= copies - {i}
        assert (graph.distances[i] == 0).all()
    assert all(len(set(row)) == 20 for row in graph.indices)


@pytest.mark.parametrize("scale", [1e-150, 1e-30, 1e30, 1e150])
def test_the_unit_of_the_data_does_not_matter(scale):
    X = clouds(60)
    graph = nearest_neighbors(X * scale, 5)
    np.testing.assert_allclose(graph.distances / scale, reference(X, 5)[0], rtol=1e-9)


def test_tight_groups_far_apart_keep_their_neighbors():
    """Spread 1e-6 at distances of 1e4: float32 sees only single points."""
    X = clouds(200, centres=4) * 1e-6 + 1e4 * np.arange(200)[:, None] // 50 % 4
    graph = nearest_neighbors(X, 10)
    np.testing.assert_allclose(graph.distances, reference(X, 10)[0], rtol=1e-6)


@pytest.mark.slow
@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), k=st.integers(1, 19))
def test_numbering_does_not_matter(seed, k):
    rng = np.random.default_rng(seed)
    X, order = rng.normal(size=(20, 3)), rng.permutation(20)
    there, here = nearest_neighbors(X[order], k), nearest_neighbors(X, k)
    np.testing.assert_array_equal(order[there.indices], here.indices[order])


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
@pytest.mark.parametrize("recall", [0.6, 0.9, 0.99])
def test_faiss_reaches_the_recall_and_reports_it(metric, recall):
    X = np.random.default_rng(3).normal(size=(4000, 12)).astype(np.float32)
    truth = nearest_neighbors(X, 15, metric=metric, search=EXACT)
    graph = nearest_neighbors(X, 15, metric=metric, search=NeighborSearch("faiss", recall))
    assert graph.method == "faiss"
    assert graph.recall >= recall
    assert share(graph, truth) == pytest.approx(graph.recall, abs=0.02)
    if recall < 0.9:
        assert share(graph, truth) < 0.95
    assert (np.diff(graph.distances, axis=1) >= 0).all()
    same = graph.indices == truth.indices
    np.testing.assert_allclose(graph.distances[same], truth.distances[same], rtol=1e-4)


def test_the_recall_is_that_of_queries_between_the_clusters():
    """The neighbours of a midpoint are spread over more cells than those of a point."""
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(100, 10))
    X = centres[rng.integers(100, size=12_000)] + 0.05 * rng.normal(size=(12_000, 10))
    queries = centres[rng.integers(100, size=(2, 1500))].mean(axis=0)
    truth = nearest_neighbors(X, 20, queries=queries, search=EXACT)
    found = nearest_neighbors(X, 20, queries=queries, search=NeighborSearch("faiss", 0.9))
    assert found.method == "faiss"
    assert 0.9 <= found.recall < 1
    assert share(found, truth) == pytest.approx(found.recall, abs=0.03)


def test_more_cells_are_searched_until_the_recall_is_reached(monkeypatch):
    X = clouds(4000)
    monkeypatch.setattr(search_methods._Sample, "fewest", lambda *_: 1)
    graph = nearest_neighbors(X, 20, search=NeighborSearch("faiss", 0.9))
    assert graph.recall >= 0.9
    assert share(graph, nearest_neighbors(X, 20, search=EXACT)) > 0.88


def test_faiss_takes_sparse_rows_of_few_columns():
    X = clouds(2500)
    X[X < 0] = 0
    X[:, 0] += 1
    graph = nearest_neighbors(sparse.csr_array(X), 10, search=NeighborSearch("faiss", 0.9))
    assert share(graph, nearest_neighbors(X, 10, search=EXACT)) > 0.88


def test_many_neighbors_of_few_points_are_all_found(monkeypatch):
    """The cells that are probed contain fewer points than are asked for."""
    monkeypatch.setattr(cells, "_POINTS_PER_CELL", 8)
    monkeypatch.setattr(search_methods._Sample, "fewest", lambda *_: 2)
    X = clouds(300)
    graph = nearest_neighbors(X, 250, search=NeighborSearch("faiss", 0.2))
    exact = nearest_neighbors(X, 250, search=EXACT)
    np.testing.assert_allclose(graph.distances, exact.distances, rtol=1e-5)
    assert all(len(set(row)) == 250 for row in graph.indices)


def test_the_recall_of_narrow_lists_of_cells_is_reached(monkeypatch):
    """The cells next to the home cell of a query do not contain all that are near the query."""
    monkeypatch.setattr(cells, "_POINTS_PER_CELL", 16)
    monkeypatch.setattr(cells, "_MORE_CELLS", 0)
    X = clouds(4000)
    graph = nearest_neighbors(X, 20, search=NeighborSearch("faiss", 0.9))
    assert 0.9 <= graph.recall < 0.99
    assert share(graph, nearest_neighbors(X, 20, search=EXACT)) > 0.88


def test_the_same_bits_at_any_number_of_threads():
    X = clouds(6000, d=20).astype(np.float32)
    graphs = []
    for n_threads in (1, -1):
        with threads(n_threads):
            graphs += [
                nearest_neighbors(X, 20, search=NeighborSearch(m)) for m in ("faiss", "exact")
            ]
    for graph, other in zip(graphs, graphs[2:], strict=False):
        np.testing.assert_array_equal(graph.indices, other.indices)
        np.testing.assert_array_equal(graph.distances, other.distances)


def test_threads_of_faiss_are_restored():
    import faiss

    before = faiss.omp_get_max_threads()
    with threads(1):
        nearest_neighbors(clouds(300), 3, search=FAISS)
    assert faiss.omp_get_max_threads() == before


def test_auto_is_exact_until_that_is_dear():
    X = clouds(3000, d=4).astype(np.float32)
    assert nearest_neighbors(X, 5).method == "exact"
    many = np.random.default_rng(0).normal(size=(15_000, 4)).astype(np.float32)
    graph = nearest_neighbors(many, 5)
    assert graph.method == "faiss"
    assert graph.recall >= 0.95
    assert nearest_neighbors(X, 5, search=NeighborSearch("faiss", 1.0)).method == "exact"


def test_without_faiss_all_pairs_are_compared_and_the_extra_is_named(monkeypatch):
    monkeypatch.setattr(neighbors, "_EXACT_PRODUCTS", 0)
    monkeypatch.setattr(neighbors, "_FEWEST_TO_APPROXIMATE", 0)
    X = clouds(200)
    assert nearest_neighbors(X, 5).method == "faiss"
    monkeypatch.setattr(search_methods, "has_faiss", lambda: False)
    with pytest.raises(ImportError, match="faiss-cpu"):
        nearest_neighbors(X, 5, search=FAISS)
    with pytest.warns(DataWarning, match="all pairs"):
        graph = nearest_neighbors(X, 5)
    assert graph.method == "exact"
    np.testing.assert_allclose(graph.distances, reference(X, 5)[0])


# ---- distances as given -------------------------------------------------------------------------


def test_square_distances_give_their_nearest():
    X = clouds(60)
    table = cdist(X, X)
    given = nearest_neighbors(table, 7, metric="precomputed")
    np.testing.assert_array_equal(given.indices, nearest_neighbors(X, 7).indices)
    np.testing.assert_allclose(given.distances, reference(X, 7)[0])


def test_distances_of_queries():
    X, queries = clouds(40), clouds(9, seed=2)
    table = cdist(X, X)
    given = nearest_neighbors(table, 4, metric="precomputed", queries=cdist(queries, X))
    np.testing.assert_allclose(given.distances, reference(X, 4, queries=queries)[0])
    with pytest.raises(DataError):
        nearest_neighbors(table, 4, metric="precomputed", queries=cdist(queries, X[1:]))


def test_stored_distances_keep_zeros_and_lose_the_diagonal():
    values, columns = np.array([0.0, 0, 2, 0, 1]), np.array([0, 1, 2, 0, 1])
    rows = sparse.csr_array((values, columns, np.array([0, 3, 4, 5])), shape=(3, 3))
    kept = distance_rows(rows, 1, metric="precomputed")
    assert kept.nnz == 4
    assert nearest_neighbors(rows, 1, metric="precomputed").indices.tolist() == [[1], [0], [1]]
    with pytest.raises(ParameterError, match="row 1"):
        nearest_neighbors(rows, 2, metric="precomputed")


def test_all_pairs_are_the_distances():
    X = clouds(30)
    for metric in ("euclidean", "cosine", "cityblock"):
        np.testing.assert_allclose(
            distance_rows(X, 29, metric=metric).toarray(), cdist(X, X, metric), atol=1e-12
        )


def table_with(row, column, value, both=True):
    table = cdist(clouds(10), clouds(10))
    table[row, column] = value
    if both:
        table[column, row] = value
    return table


def test_rounding_does_not_make_distances_asymmetric():
    table = cdist(clouds(20), clouds(20)).astype(np.float32)
    table[3, 4] *= 1 + 1e-7
    table[5, 5] = 1e-7
    found = nearest_neighbors(table, 3, metric="precomputed")
    exact = nearest_neighbors(cdist(clouds(20), clouds(20)), 3, metric="precomputed")
    np.testing.assert_array_equal(found.indices, exact.indices)


# ---- neighbours as given ------------------------------------------------------------------------


def test_given_neighbors_are_sorted():
    distances = np.array([[3, 1], [2, 1], [2, 3]])
    graph = check_graph(NeighborGraph(np.array([[2, 1], [2, 0], [1, 0]]), distances))
    assert graph.indices.tolist() == [[1, 2], [0, 2], [1, 0]]
    assert graph.distances.tolist() == [[1, 3], [1, 2], [2, 3]]
    again = check_graph(graph)
    assert again.indices is graph.indices
    assert again.distances is graph.distances


def as_libraries_hold_them(graph):
    """The same neighbours by the conventions of other libraries."""
    n = len(graph.indices)
    ours = graph.indices.astype(np.int32), graph.distances
    own = np.arange(n, dtype=np.int64)[:, None]
    with_own = np.hstack([own, graph.indices]), np.hstack([np.zeros((n, 1)), graph.distances])
    return {
        "openTSNE": ours,
        "umap": (*with_own, "its search index"),
        "indices first": (with_own[0].astype(np.int32), with_own[1]),
        "kneighbors": with_own[::-1],
        "kneighbors without queries": ours[::-1],
        "unsorted": tuple(part[:, ::-1] for part in with_own),
    }


@pytest.mark.parametrize("library", as_libraries_hold_them(nearest_neighbors(clouds(9), 2)))
def test_pairs_of_arrays_are_the_graph_that_they_hold(library):
    graph = nearest_neighbors(clouds(40).astype(np.float64), 6)
    read = as_graph(as_libraries_hold_them(graph)[library])
    np.testing.assert_array_equal(read.indices, graph.indices)
    np.testing.assert_array_equal(read.distances, graph.distances)


def test_other_tuples_are_no_neighbours():
    for data in (((1, 2), (3, 4)), (np.ones(2), np.ones(2)), (np.ones((2, 2)),), clouds(5)):
        assert as_graph(data) is data


def test_duplicates_may_crowd_an_object_out_of_its_row():
    indices = np.array([[1, 2, 3], [0, 2, 3], [0, 1, 2], [3, 0, 1]])
    distances = np.array([[0.0, 0, 5], [0, 0, 5], [0, 0, 0], [0, 5, 5]])
    graph = as_graph((indices, distances))
    assert graph.indices.tolist() == [[1, 2], [0, 2], [0, 1], [0, 1]]
    assert graph.distances.tolist() == [[0, 0], [0, 0], [0, 0], [5, 5]]


# ---- what is refused ----------------------------------------------------------------------------


def cloud_with(rows, value, columns=slice(None)):
    X = clouds(30)
    X[rows, columns] = value
    return X


def undefined(a, b):
    """A distance that is not defined from or to the origin."""
    return np.nan if a.any() != b.any() else abs(a - b).sum()


ZEROS = cloud_with([4, 9], 0)
HOLLOW = cloud_with(12, np.nan, 5)
REFUSALS = [
    (DataError, r"row 12.*column 5", HOLLOW, {}),
    (DataError, r"row 12.*column 5", sparse.csr_array(HOLLOW), {}),
    (DataError, r"row 12.*column 5", clouds(30), {"queries": HOLLOW}),
    (DataError, r"row 12.*column 5", cloud_with(12, -np.inf, 5), {}),
    (DataError, "row 4", ZEROS, {"metric": "cosine"}),
    (DataError, "row 4", sparse.csr_array(ZEROS), {"metric": "cosine"}),
    (DataError, "row 7", cloud_with(7, 0.1), {"metric": "correlation"}),
    (DataError, "row 4", ZEROS, {"metric": undefined}),
    (DataError, "row 0 of X|row 4 of X", clouds(30), {"metric": undefined, "queries": ZEROS}),
    (DataError, "row 4", abs(ZEROS), {"metric": "braycurtis"}),
    (DataError, "features", clouds(30), {"queries": clouds(5, d=7)}),
    (DataError, "shape", np.zeros(3), {}),
    (DataError, "shape", np.zeros((3, 0)), {}),
    (DataError, "numbers", [["a", "b"]], {}),
    (DataError, "two", np.ones((1, 3)), {}),
    (ParameterError, "30", clouds(30), {"k": 30}),
    (ParameterError, "0", clouds(30), {"k": 0}),
    (ParameterError, "metric", clouds(30), {"metric": "euclid"}),
    (ParameterError, "metric", clouds(30), {"metric": "mahalanobis"}),
    (ParameterError, "metric", clouds(30), {"metric": "haversine"}),
    (ParameterError, "faiss", clouds(30), {"metric": "manhattan", "search": FAISS}),
    (DataError, r"row 3.*column 4", table_with(3, 4, -1.0), GIVEN),
    (DataError, "row 3", table_with(3, 3, 1.0), GIVEN),
    (DataError, r"row 2.*column 7", table_with(2, 7, 99.0, both=False), GIVEN),
    (DataError, r"row 1, column 5", table_with(5, 1, np.nan), GIVEN),
    (DataError, "square", np.zeros((3, 4)), GIVEN),
    (DataError, r"row 3.*column 4", sparse.csr_array(table_with(3, 4, -1.0)), GIVEN),
    (DataError, "row 3", sparse.csr_array(table_with(3, 3, 1.0)), GIVEN),
    (DataError, "square", sparse.csr_array(np.ones((2, 3))), GIVEN),
]


@pytest.mark.parametrize(("error", "message", "X", "arguments"), REFUSALS)
def test_refusals(error, message, X, arguments):
    with np.errstate(invalid="ignore"), pytest.raises(error, match=message):
        nearest_neighbors(X, **{"k": 2, **arguments})


def test_refusals_of_all_pairs_and_of_searches():
    for error, metric in (
        (DataError, undefined), (DataError, "braycurtis"), (ParameterError, "haversine"),
    ):  # fmt: skip
        with np.errstate(invalid="ignore"), pytest.raises(error):
            distance_rows(abs(ZEROS), 29, metric=metric)
    for options in ({"method": "annoy"}, {"recall": 0}, {"recall": 1.01}):
        with pytest.raises(ParameterError):
            NeighborSearch(**options)


@pytest.mark.parametrize(("row", "indices", "distances"), [
    ("row 1", [[1], [1], [0]], [[0.5], [1.0], [1.0]]),
    ("row 2", [[1, 2], [0, 2], [1, 1]], [[1.0, 2]] * 3),
    ("row 1", [[1], [3], [0]], [[1.0]] * 3),
    ("row 2", [[1], [0], [-1]], [[1.0]] * 3),
    ("row 1", [[1], [0], [0]], [[1.0], [-1], [1]]),
    ("row 0", [[1], [0], [0]], [[np.nan], [1], [1]]),
    ("shape", [[1], [0]], [[1.0, 2]] * 2),
    ("integers", [[1.0], [0.0]], [[1.0]] * 2),
    ("row 2", [[0, 1], [1, 0], [0, 2]], [[0.0, 1], [0, 1], [1, 2]]),
    ("row 1", [[0, 1], [0, 2], [2, 0]], [[0.0, 1], [1, 2], [0, 1]]),
    ("only", [[0], [1]], [[0.0], [0.0]]),
])  # fmt: skip
def test_refused_neighbors(row, indices, distances):
    with pytest.raises(DataError, match=row):
        as_graph((np.array(indices), np.array(distances)))


@pytest.mark.parametrize("scale", [1e-200, 1.0, 1e200])
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
def test_unit_rows(scale, container):
    rows = normalized_rows(container(clouds(20) * scale))
    rows = rows.toarray() if sparse.issparse(rows) else rows
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1)


def test_an_unresolved_approximation_warns():
    X = clouds(2500, d=3).astype(np.float64)
    X = 1e-9 * X + 100.0 * np.random.default_rng(0).integers(0, 10, size=(2500, 3))
    with pytest.warns(DataWarning, match="float32 does not resolve"):
        nearest_neighbors(X, 2, search=NeighborSearch("faiss", 0.1))


# ---- distances that differ by direction ---------------------------------------------------------


def stored_ring(n=12):
    """Each object and the two before it, both ways round."""
    row = np.repeat(np.arange(n), 4)
    column = (row + np.tile([-2, -1, 1, 2], n)) % n
    return sparse.csr_array((1.0 + (row * column % 7), (row, column)), shape=(n, n))


@pytest.mark.parametrize("other", [0.0, 99.0])
def test_stored_distances_that_differ_by_direction_are_refused(other):
    table = stored_ring()
    nearest_neighbors(table, 2, metric="precomputed")
    table[3, 4] = 5.0
    table[4, 3] = other
    for use in (nearest_neighbors, distance_rows):
        with pytest.raises(DataError, match=r"not symmetric: row [34], column [34]"):
            use(table, 2, metric="precomputed")


def test_distances_stored_one_way_only_are_taken():
    one_way = sparse.csr_array(sparse.triu(stored_ring()) + sparse.eye_array(12, k=-11))
    assert distance_rows(one_way, 2, metric="precomputed").nnz == one_way.nnz


def test_given_neighbors_that_differ_by_direction_are_refused():
    graph = nearest_neighbors(clouds(50), 5)
    check_graph(graph)
    check_graph(replace(graph, distances=graph.distances.astype(np.float32)))
    i, j = 10, graph.indices[10, 0]
    back = np.flatnonzero(graph.indices[j] == i)[0]
    distances = graph.distances.copy()
    distances[j, back] += 1
    with pytest.raises(DataError, match=rf"neighbours' distances .* row ({i}|{j}), column"):
        check_graph(replace(graph, distances=distances))


def test_rows_of_many_neighbors_are_sampled(monkeypatch):
    monkeypatch.setattr(distances, "_MOST_TO_COMPARE", 20)
    table = stored_ring()
    table[6, 7] += 1
    with pytest.raises(DataError, match="row 6, column 7"):
        check_stored_symmetry(table)
    check_stored_symmetry(stored_ring())
