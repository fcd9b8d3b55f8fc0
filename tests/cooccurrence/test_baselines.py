"""The methods to compare with, against dense textbook formulas."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse import csgraph
from scipy.spatial.distance import cdist
from sklearn import config_context

from manymaps.cooccurrence import baselines
from manymaps.cooccurrence.baselines import (
    CountEmbedding,
    classical_scaling,
    isomap,
    latent_semantic_analysis,
    normalize_counts,
    singular_value_embedding,
)
from manymaps.errors import DataError, DataWarning, ParameterError


@pytest.fixture(scope="module")
def counts() -> np.ndarray:
    """60 documents of 90 words with three groups of each."""
    rng = np.random.default_rng(0)
    means = 0.3 + 2.0 * np.kron(np.eye(3), np.ones((20, 30)))
    table = rng.poisson(means)
    table[:, 0] += 1
    return table


def squares(points: np.ndarray) -> np.ndarray:
    return cdist(points, points, "sqeuclidean")


def scaled(distances: np.ndarray, k: int) -> np.ndarray:
    """Classical scaling as Torgerson wrote it."""
    n = len(distances)
    centre = np.eye(n) - 1 / n
    values, axes = np.linalg.eigh(-centre @ distances**2 @ centre / 2)
    return axes[:, ::-1][:, :k] * np.sqrt(values[::-1][:k])


def tf_idf(counts: np.ndarray) -> np.ndarray:
    n = len(counts)
    weighted = counts * (1 + np.log((1 + n) / (1 + (counts > 0).sum(axis=0))))
    return weighted / np.linalg.norm(weighted, axis=1, keepdims=True)


def test_normalizations(counts: np.ndarray) -> None:
    """Each against its formula; empty rows stay empty, and the input stays as it is."""
    before = counts.copy()
    given = sparse.csr_array(counts)
    assert (normalize_counts(given, "none").toarray() == counts).all()
    shares = normalize_counts(given, "document").toarray()
    np.testing.assert_allclose(shares, counts / counts.sum(axis=1, keepdims=True))
    np.testing.assert_allclose(normalize_counts(given, "tf-idf").toarray(), tf_idf(counts))
    assert (given.toarray() == before).all()
    for name in baselines.NORMALIZATIONS:
        empty = normalize_counts(np.vstack([counts, 0 * counts[:1]]), name)
        assert empty[[-1]].nnz == 0
        assert np.isfinite(empty.data).all()
    with pytest.raises(ParameterError, match="'tfidf' is not one of none, document, tf-idf"):
        normalize_counts(counts, "tfidf")


def test_singular_values(counts: np.ndarray) -> None:
    """U s and V s, of counts, of their logarithms and of tf-idf."""
    for table, found in (
        (counts, singular_value_embedding(counts, 3)),
        (np.log1p(counts), singular_value_embedding(counts, 3, log=True)),
        (tf_idf(counts), latent_semantic_analysis(counts, 3)),
    ):
        u, s, vt = np.linalg.svd(table, full_matrices=False)
        assert found.columns is not None
        np.testing.assert_allclose(np.abs(found.rows), np.abs(u * s)[:, :3], atol=1e-8)
        np.testing.assert_allclose(np.abs(found.columns), np.abs(vt.T * s)[:, :3], atol=1e-8)
        approximation = (u[:, :3] * s[:3]) @ vt[:3]
        np.testing.assert_allclose((found.rows / s[:3]) @ found.columns.T, approximation, atol=1e-8)


def test_scaling_by_distances(counts: np.ndarray) -> None:
    """Principal components are classical scaling of Euclidean distances, without the table."""
    found = classical_scaling(sparse.csr_array(counts), 3)
    expected = scaled(np.sqrt(squares(counts.astype(float))), 3)
    np.testing.assert_allclose(squares(found.rows), squares(expected), atol=1e-7)
    assert found.columns is None


@pytest.mark.parametrize("n_rows", [20, 60])
def test_scaling_by_dot_products(counts: np.ndarray, n_rows: int) -> None:
    """Of 1 - cosine, decomposed at once and by products."""
    part = counts[:n_rows].astype(float)
    found = classical_scaling(part, 2, by="dot products")
    unit = part / np.linalg.norm(part, axis=1, keepdims=True)
    np.testing.assert_allclose(
        squares(found.rows), squares(scaled(1 - unit @ unit.T, 2)), atol=1e-9
    )


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_isomap(counts: np.ndarray, metric: str) -> None:
    """Shortest ways along the neighbour graph."""
    points = counts * np.linspace(1, 2, 90)
    found = isomap(sparse.csr_array(points), 2, n_neighbors=40, metric=metric)
    distances = cdist(points, points, metric)
    np.fill_diagonal(distances, np.inf)
    graph = np.where(distances <= np.sort(distances, axis=1)[:, [39]], distances, np.inf)
    ways = csgraph.shortest_path(np.where(np.isinf(graph), 0, graph), directed=False)
    np.testing.assert_allclose(squares(found.rows), squares(scaled(ways, 2)), atol=1e-7)


def test_isomap_in_parts() -> None:
    """A graph in parts is joined, with one warning that says so."""
    points = np.array([[0, 1], [0, 2], [0, 3], [90, 1], [90, 2], [90, 3]])
    with pytest.warns(DataWarning, match="has 2 components") as caught:
        rows = isomap(points, 1, n_neighbors=2).rows
    assert len(caught) == 1
    assert np.ptp(rows[:3]) < 5 < abs(rows[0, 0] - rows[3, 0])


def all_methods(counts: np.ndarray, n_neighbors: int = 40) -> list[CountEmbedding]:
    return [
        singular_value_embedding(counts), classical_scaling(counts),
        classical_scaling(counts, by="dot products"), isomap(counts, n_neighbors=n_neighbors),
    ]  # fmt: skip


def test_repeats(counts: np.ndarray) -> None:
    """The same bits every time, though Isomap draws from NumPy's global state; groups part."""
    one = all_methods(counts)
    for a, b in zip(one, all_methods(counts), strict=True):
        np.testing.assert_array_equal(a.rows, b.rows)
        centres = [a.rows[i : i + 20].mean(axis=0) for i in (0, 20, 40)]
        spread = max(a.rows[i : i + 20].std(axis=0).max() for i in (0, 20, 40))
        assert min(np.linalg.norm(centres[0] - c) for c in centres[1:]) > spread


def test_alike_rows_do_not_fail() -> None:
    """Pairs of documents that are the same, and rows that are multiples of one another."""
    twice = np.repeat(np.random.default_rng(0).poisson(2, (20, 9)) + 1, 2, axis=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        for found in (*all_methods(twice, 1), *all_methods(twice[:20], 5)):
            assert np.isfinite(found.rows).all()
    multiples = np.outer(np.arange(1, 41), [3, 1, 2])
    flat = classical_scaling(multiples, by="dot products").rows
    np.testing.assert_allclose(flat, 0, atol=1e-7)


def test_refusals(counts: np.ndarray, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is wrong, and what to do."""
    for bad in (0, 60):
        with pytest.raises(ParameterError, match="must be a whole number from 1 to 59"):
            singular_value_embedding(counts, bad)
    with pytest.raises(ParameterError, match="not one of distances, dot products"):
        classical_scaling(counts, by="cosine")
    with pytest.raises(ParameterError, match="not one of euclidean, cosine"):
        isomap(counts, metric="l1")
    with pytest.raises(ParameterError, match="n_neighbors=60 must be"):
        isomap(counts, n_neighbors=60)
    with pytest.raises(DataError, match="row 1 is empty"):
        classical_scaling([[1, 2, 1], [0, 0, 0], [2, 1, 3]], by="dot products")
    with pytest.raises(DataError, match="the count in row 0, column 1 is -1"):
        singular_value_embedding([[0, -1], [1, 1]], 1)
    for method in (classical_scaling, isomap):
        with pytest.raises(DataError, match="all rows of the table are equal"):
            method(np.ones((40, 5)))
    with pytest.raises(DataError, match="no counts"):
        singular_value_embedding(np.zeros((40, 5)))
    monkeypatch.setattr(baselines, "_MOST_ROWS", 50)
    with pytest.raises(
        ParameterError, match="isomap requires a table of all pairs of rows, too lar"
    ):
        isomap(counts)
    with pytest.raises(
        ParameterError, match=r"\(at most 50\); use fewer rows, or use singular_value"
    ):
        classical_scaling(counts, by="dot products")
    classical_scaling(counts)


@pytest.mark.parametrize(
    "method", [singular_value_embedding, latent_semantic_analysis, classical_scaling]
)
def test_the_output_set_for_scikit_learn_changes_nothing(counts: np.ndarray, method) -> None:
    plain = method(counts)
    with config_context(transform_output="pandas"):
        found = method(counts)
    assert isinstance(found.rows, np.ndarray)
    np.testing.assert_array_equal(found.rows, plain.rows)
