"""The compiled search in cells against a search in NumPy."""

from itertools import pairwise

import numpy as np
import pytest

from manymaps.compute.probing import fill_blocks, probe_cells
from manymaps.compute.threads import share_out


def made(d, n=400, n_cells=20, seed=0):
    """Points in cells of very different sizes, one of which contains copies of one point."""
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(n, d)).astype(np.float32)
    points[:30] = points[0]
    starts = np.concatenate([[0], np.sort(rng.choice(np.arange(1, n), n_cells - 1, False)), [n]])
    numbers = rng.permutation(n).astype(np.int32)
    blocks = np.empty(n * d, np.float32)
    share_out(fill_blocks, n_cells, points[numbers], starts, blocks)
    cells = [points[numbers[a:b]] for a, b in pairwise(starts)]
    centres = np.array([cell.mean(axis=0) for cell in cells])
    apart = np.linalg.norm(centres[:, None] - centres, axis=2)
    near = np.argsort(apart, axis=1)[:, :15].astype(np.int32)
    return points, numbers, starts, blocks, centres, near


def slow(points, numbers, starts, centres, near, n_probes, queries, cells, among, k):
    """Find the neighbours of each query, sorted by distance and number."""
    rows = []
    for q, (query, cell) in enumerate(zip(queries, cells, strict=True)):
        away = np.sum((centres[near[cell]].astype(float) - query) ** 2, axis=1)
        probed = near[cell][np.argsort(away)[:n_probes]]
        some = np.concatenate([numbers[starts[c] : starts[c + 1]] for c in probed])
        some = some[some != q] if among else some
        squares = np.sum((points[some].astype(float) - query) ** 2, axis=1)
        order = np.lexsort((some, squares))[:k]
        rows.append((some[order], squares[order]))
    return rows


@pytest.mark.parametrize("d", [1, 3, 50])
@pytest.mark.parametrize("k", [1, 12, 60])
@pytest.mark.parametrize("among", [True, False])
def test_equals_numpy(d, k, among):
    points, numbers, starts, blocks, centres, near = made(d)
    rng = np.random.default_rng(1)
    queries = points if among else rng.normal(size=(300, d)).astype(np.float32)
    cells = rng.integers(3, size=len(queries))  # hundreds of queries in each of three cells
    asked = np.argsort(cells, kind="stable").astype(np.int32)
    offsets = np.searchsorted(cells[asked], np.arange(len(starts)))
    indices = np.full((len(queries), k), -7, np.int32)
    squares = np.full((len(queries), k), -7, np.float32)
    share_out(
        probe_cells, len(starts) - 1, blocks, numbers, starts, centres, near, 4, queries, asked,
        offsets, among, indices, squares,
    )  # fmt: skip
    expected = slow(points, numbers, starts, centres, near, 4, queries, cells, among, k)
    short = 0
    for row, values, query, (some, exact) in zip(indices, squares, queries, expected, strict=True):
        short += len(some) < k
        np.testing.assert_array_equal(row[len(some) :], -1)
        np.testing.assert_allclose(values[: len(some)], exact, rtol=1e-5)
        found = row[: len(some)]
        assert len(set(found)) == len(found)
        assert set(found) <= set(numbers)
        own = np.sum((points[found].astype(float) - query) ** 2, axis=1)
        np.testing.assert_allclose(own, exact, rtol=1e-5)  # rounding may exchange near ties
        # Copies are at exactly equal distances, of which those with the lowest indices are found.
        np.testing.assert_array_equal(found[found < 30], some[some < 30])
    assert k < 60 or short > 0


def test_blocks_equal_numpy():
    points, numbers, starts, blocks, _, _ = made(7)
    for start, end in pairwise(starts):
        own = points[numbers[start:end]]
        np.testing.assert_array_equal(blocks[start * 7 : end * 7].reshape(7, -1), own.T)
