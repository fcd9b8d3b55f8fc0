"""`transform` in blocks: the same bits as in one call, in bounded memory and on any worker."""

import tracemalloc

import numpy as np
import pandas as pd
import pytest

from manymaps import TSNE
from manymaps.maps import insertion

SIZE = 16


@pytest.fixture(scope="module")
def points() -> np.ndarray:
    rng = np.random.default_rng(0)
    return rng.normal(rng.integers(4, size=(200, 1)), 1, (200, 1000)).astype(np.float32)


@pytest.fixture(scope="module")
def fit(points) -> TSNE:
    return TSNE(perplexity=5, max_iter=20, random_state=0).fit(points[:30])


@pytest.fixture
def stored(points, tmp_path) -> np.memmap:
    np.save(tmp_path / "points.npy", points)
    return np.load(tmp_path / "points.npy", mmap_mode="r")


@pytest.fixture
def small_blocks(monkeypatch) -> None:
    monkeypatch.setattr(insertion, "_ROWS", SIZE)


def test_blocks_and_slices_do_not_change_bits(fit, points, stored, monkeypatch):
    whole = fit.transform(points[:100])
    np.testing.assert_array_equal(whole[:30], fit.embedding_)
    monkeypatch.setattr(insertion, "_ROWS", SIZE)
    np.testing.assert_array_equal(fit.transform(stored[:100]), whole)
    slices = [fit.transform(points[:100][at : at + SIZE]) for at in range(0, 100, SIZE)]
    np.testing.assert_array_equal(np.concatenate(slices), whole)


@pytest.mark.usefixtures("small_blocks")
def test_equal_fitted_rows_keep_their_own_places_in_the_fitted_table_only(points):
    rows = np.repeat(points[:20], 2, axis=0)
    fit = TSNE(perplexity=5, max_iter=20, random_state=0).fit(rows)
    np.testing.assert_array_equal(fit.transform(rows), fit.embedding_)
    twice = fit.transform(np.concatenate([rows, rows]))
    np.testing.assert_array_equal(twice, np.tile(np.repeat(fit.embedding_[::2], 2, axis=0), (2, 1)))


def test_labels_of_the_atlas_may_be_those_of_new_rows(fit, points):
    named = TSNE(perplexity=5, max_iter=20, random_state=0).fit(
        pd.DataFrame(points[:30], index=[f"new {k}" for k in range(10, 40)])
    )
    np.testing.assert_array_equal(named.transform(points[:40]), fit.transform(points[:40]))


@pytest.mark.usefixtures("small_blocks")
def test_memory_does_not_grow_with_the_rows(fit, stored):
    fit.transform(stored[:40])
    peaks = []
    for n in (80, 200):
        tracemalloc.start()
        fit.transform(stored[:n])
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] - peaks[0] < stored[80:].nbytes / 4
