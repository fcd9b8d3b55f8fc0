"""The search by cells: what k-means cannot part, and how many are probed."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from manymaps.affinity import cells
from manymaps.affinity.cells import cells_of
from manymaps.affinity.neighbors import NeighborSearch, nearest_neighbors


def clouds(n, d=8, seed=0):
    rng = np.random.default_rng(seed)
    centres = 3 * rng.normal(size=(20, d))
    return (centres[rng.integers(20, size=n)] + rng.normal(size=(n, d))).astype(np.float32)


def probed(points, k, n_probes, queries=None):
    parts = cells_of(points, 0, 1)
    asked = points if queries is None else queries
    return parts.probe(asked, queries is None, k, n_probes, parts.around(n_probes))


@pytest.fixture
def small(monkeypatch):
    """Cells of few points, three levels deep."""
    monkeypatch.setattr(cells, "_POINTS_PER_CELL", 16)
    monkeypatch.setattr(cells, "_BRANCHES", 6)


def test_every_point_is_in_one_cell_of_bounded_size(small):
    points = clouds(3000)
    points[:500] = points[0]
    parts = cells_of(points, 0, 1)
    assert sorted(parts.numbers) == list(range(3000))
    assert parts.sizes.sum() == 3000
    assert parts.sizes.min() >= 1
    assert parts.sizes.max() <= 32
    np.testing.assert_array_equal(parts.points, points[parts.numbers])
    own = parts.points[parts.starts[7] : parts.starts[8]]
    np.testing.assert_allclose(parts.centres[7], own.mean(axis=0), rtol=1e-5)
    assert (parts.of_point[parts.numbers[parts.starts[7] : parts.starts[8]]] == 7).all()


def test_with_all_cells_probed_the_search_is_exact(small):
    points, queries = clouds(900), clouds(40, seed=1)
    for asked in (None, queries):
        distances = cdist(points if asked is None else asked, points, "sqeuclidean")
        if asked is None:
            np.fill_diagonal(distances, np.inf)
        indices, squares = probed(points, 12, 900, asked)
        np.testing.assert_allclose(squares, np.sort(distances, axis=1)[:, :12], rtol=1e-5)
        np.testing.assert_allclose(
            np.take_along_axis(distances, indices.astype(int), axis=1), squares, rtol=1e-5
        )


def test_squares_come_from_differences():
    """Tens of points 1e-5 apart, in cells of about 1."""
    rng = np.random.default_rng(0)
    points = np.repeat(rng.random((300, 3)), 10, axis=0) + 1e-5 * rng.random((3000, 3))
    points = points.astype(np.float32)
    _, squares = probed(points, 9, 30)
    exact = np.sort(cdist(points, points, "sqeuclidean"), axis=1)[:, 1:10]
    np.testing.assert_allclose(squares, exact, rtol=1e-3)


def test_data_without_cells_are_searched_exactly():
    """In 100 dimensions of noise a fifth of the points is next to nothing of the neighbours."""
    points = np.random.default_rng(0).normal(size=(2500, 100)).astype(np.float32)
    graph = nearest_neighbors(points, 10, search=NeighborSearch("faiss", 0.98))
    assert graph.recall == 1
    np.testing.assert_allclose(
        graph.distances, np.sort(cdist(points, points), axis=1)[:, 1:11], rtol=1e-5
    )


@pytest.mark.parametrize("many", [10, 2_000])
@pytest.mark.parametrize(("per_probe", "listed"), [(6, 64), (3, 0), (1, 0)])
def test_cells_are_counted_as_they_are_searched(small, monkeypatch, many, per_probe, listed):
    """A neighbour is found if fewer cells than are probed come before its cell.

    If as many cells are listed as probed, a few more are found, because cells that are not listed
    are skipped.
    """
    monkeypatch.setattr(cells, "_MANY_CELLS", many)
    monkeypatch.setattr(cells, "_MORE_CELLS", listed)
    monkeypatch.setattr(cells, "_CELLS_PER_PROBE", per_probe)
    points = clouds(900)
    truth, _ = probed(points, 10, 900)
    parts = cells_of(points, 0, 1)
    before = parts.probes_before(points, truth)
    for n_probes in (1, 2):
        indices, _ = parts.probe(points, True, 10, n_probes, parts.around(n_probes))
        there = np.array([np.isin(a, b) for a, b in zip(truth, indices, strict=True)])
        promised = before < n_probes
        assert there[promised].mean() > 0.999
        assert (promised == there).mean() > (0.999 if per_probe > 1 else 0.95)
        assert 0.2 < there.mean() < 0.99


def test_a_point_in_a_distant_cell_is_searched_where_it_belongs(monkeypatch):
    """A cell of leftover points has no neighbours of its points among the cells next to it."""
    monkeypatch.setattr(cells, "_MORE_CELLS", 0)
    rng = np.random.default_rng(0)
    places = np.repeat(20 * rng.normal(size=(40, 10)), 100, axis=0)
    points = (places + rng.normal(size=places.shape)).astype(np.float32)
    parts = cells_of(points, 0, 1)
    # Move ten points of different groups to one cell.
    leftover, numbers = 100 * np.arange(0, 40, 4), parts.numbers
    rest = numbers[~np.isin(numbers, leftover)]
    kept = np.concatenate([[0], np.cumsum(~np.isin(numbers, leftover))])
    starts = np.concatenate([kept[parts.starts], [len(points)]])
    order = np.concatenate([rest, leftover]).astype(np.int32)
    centres = np.array([points[order[a:b]].mean(axis=0) for a, b in pairwise(starts)])
    moved = cells.Cells(points[order], order, starts, centres)
    indices, _ = moved.probe(points, True, 20, 3, moved.around(3))
    assert (indices[leftover] // 100 == leftover[:, None] // 100).mean() > 0.95
