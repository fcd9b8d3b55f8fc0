"""The embeddings with which CODE is compared, against dense textbook formulas."""

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse import csgraph
from scipy.spatial.distance import cdist

from lib.baselines import classical_scaling, isomap, normalize_counts, singular_value_embedding
from manymaps.errors import DataWarning


@pytest.fixture(scope="module")
def counts() -> np.ndarray:
    """60 documents of 90 words with three groups of each."""
    table = np.random.default_rng(0).poisson(0.3 + 2.0 * np.kron(np.eye(3), np.ones((20, 30))))
    table[:, 0] += 1
    return table


def squares(points: np.ndarray) -> np.ndarray:
    return cdist(points, points, "sqeuclidean")


def scaled(distances: np.ndarray) -> np.ndarray:
    """Classical scaling as Torgerson wrote it."""
    n = len(distances)
    centre = np.eye(n) - 1 / n
    values, axes = np.linalg.eigh(-centre @ distances**2 @ centre / 2)
    return axes[:, ::-1][:, :2] * np.sqrt(values[::-1][:2])


def tf_idf(counts) -> np.ndarray:
    n = len(counts)
    weighted = counts * (1 + np.log((1 + n) / (1 + (counts > 0).sum(axis=0))))
    return weighted / np.linalg.norm(weighted, axis=1, keepdims=True)


def test_normalizations(counts):
    given = sparse.csr_array(counts)
    assert (normalize_counts(given, "none").toarray() == counts).all()
    shares = normalize_counts(given, "document").toarray()
    np.testing.assert_allclose(shares, counts / counts.sum(axis=1, keepdims=True))
    np.testing.assert_allclose(normalize_counts(given, "tf-idf").toarray(), tf_idf(counts))
    assert (given.toarray() == counts).all()


@pytest.mark.parametrize("log", [False, True])
def test_singular_values(counts, log):
    left, values, _ = np.linalg.svd(np.log1p(counts) if log else counts, full_matrices=False)
    found = singular_value_embedding(sparse.csr_array(counts, dtype=float), log=log)
    np.testing.assert_allclose(np.abs(found), np.abs(left * values)[:, :2], atol=1e-8)


@pytest.mark.parametrize("n_rows", [20, 60])
def test_classical_scaling(counts, n_rows):
    part = counts[:n_rows].astype(float)
    table = sparse.csr_array(part)
    unit = part / np.linalg.norm(part, axis=1, keepdims=True)
    for by, distances in (("distances", cdist(part, part)), ("dot products", 1 - unit @ unit.T)):
        found = classical_scaling(table, by=by)
        np.testing.assert_allclose(squares(found), squares(scaled(distances)), atol=1e-7)


def test_isomap(counts):
    """Shortest ways along the neighbour graph; a graph in parts is joined with a warning."""
    points = counts * np.linspace(1, 2, 90)
    found = isomap(sparse.csr_array(points), n_neighbors=40)
    distances = cdist(points, points)
    np.fill_diagonal(distances, np.inf)
    near = distances <= np.sort(distances, axis=1)[:, [39]]
    ways = csgraph.shortest_path(np.where(near, distances, 0), directed=False)
    np.testing.assert_allclose(squares(found), squares(scaled(ways)), atol=1e-7)
    points = np.array([[0.0, 1], [0, 2], [0, 3], [90, 1], [90, 2], [90, 3]])
    with pytest.warns(DataWarning):
        rows = isomap(sparse.csr_array(points), n_neighbors=2)
    assert np.ptp(rows[:3], axis=0).max() < 5 < np.abs(rows[0] - rows[3]).max()
