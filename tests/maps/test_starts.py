"""Where a single map starts, where the data are far off or all alike."""

import numpy as np
import pytest
from scipy import sparse
from threadpoolctl import threadpool_limits

from manymaps import TSNE, DataError, DataWarning
from manymaps.maps.starts import separated, start_positions


def started(start, data, n_components=2, metric="euclidean"):
    generator, n = np.random.default_rng(0), data.shape[0]
    return start_positions(start, data, n, n_components, metric=metric, generator=generator)


@pytest.mark.parametrize("n_features", [6, 1200])
def test_components_of_float32_far_from_zero(n_features):
    rng = np.random.default_rng(1)
    x = rng.normal(size=(100, n_features)) * 0.01
    x[:, 0] += np.linspace(-1, 1, 100)
    far = (x + 1e4).astype(np.float32)
    before = far.copy()
    y = started("pca", far)
    assert abs(np.corrcoef(y[:, 0], x[:, 0])[0, 1]) > 0.99
    np.testing.assert_array_equal(far, before)
    near = started("pca", x)
    assert abs(np.corrcoef(y[:, 0], near[:, 0])[0, 1]) > 0.99


def test_the_same_bits_at_any_number_of_blas_threads():
    rows, results = np.random.default_rng(2).normal(size=(40, 1000)), []
    for n_threads in (1, 2):
        with threadpool_limits(n_threads, user_api="blas"):
            results.append(started("pca", rows))
    np.testing.assert_array_equal(*results)


@pytest.mark.parametrize("value", [0.0, 0.1, 1.0])
@pytest.mark.parametrize("start", ["pca", "mds"])
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array, np.float32])
def test_equal_rows_start_at_random(start, container, value):
    y = started(start, container(np.full((20, 5), value)))
    assert y.shape == (20, 2)
    assert 3e-4 < y.std(axis=0).min() <= y.std(axis=0).max() < 3e-3
    assert started("mds", np.zeros((20, 20)), metric="precomputed").std(axis=0).min() > 3e-4


@pytest.mark.parametrize("name", ["pca", "mds", "random"])
@pytest.mark.parametrize("scale", [1e-150, 1.0, 2.0**300, 1e150])
def test_the_unit_of_the_data_is_no_part_of_a_start(name, scale):
    points = np.random.default_rng(4).normal(size=(9, 3))
    plain, scaled = (
        TSNE(perplexity=2, init=name, max_iter=1, random_state=0).fit(x).embedding_
        for x in (points, points * scale)
    )
    np.testing.assert_allclose(scaled, plain, rtol=1e-4, atol=1e-7)


@pytest.mark.parametrize("name", ["pca", "mds", "random"])
@pytest.mark.parametrize("points", [[[0.0, 1], [1, 1]], [[1.0, 1], [1, 1]], [[1e100], [-1e100]]])
def test_two_points_have_a_start(name, points):
    fit = TSNE(perplexity=1, init=name, max_iter=5, random_state=0).fit(np.array(points))
    assert np.isfinite(fit.embedding_).all()
    assert fit.kl_divergence_ == pytest.approx(0, abs=1e-6)


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
@pytest.mark.parametrize("cell", [1e300, -1e160])
def test_points_that_cannot_be_squared_are_refused(metric, cell):
    points = np.random.default_rng(4).normal(size=(9, 3))
    points[2, 1] = cell
    with pytest.raises(
        DataError, match=f"the largest absolute value of X is {abs(cell):g}".replace("+", r"\+")
    ):
        TSNE(perplexity=2, metric=metric, max_iter=5).fit(points)


def test_objects_that_coincide_in_an_array_are_separated():
    X = np.random.default_rng(0).normal(size=(80, 4))
    X[:5] = 0
    start = np.zeros((80, 2))
    start[5:] = np.random.default_rng(1).normal(size=(75, 2))
    fit = TSNE(init=start, perplexity=8, max_iter=60, random_state=0).fit(X)
    assert len(np.unique(fit.embedding_, axis=0)) == 80


@pytest.mark.parametrize("start", [np.zeros((80, 2)), np.c_[np.arange(80.0), np.ones(80)]])
def test_an_array_without_spread_on_an_axis_gets_noise_and_a_warning(start):
    X = np.random.default_rng(0).normal(size=(80, 4))
    with pytest.warns(DataWarning, match="same coordinate on . of 2 axes") as found:
        fit = TSNE(init=start, perplexity=8, random_state=0).fit(X)
    assert found[0].filename == __file__
    usual = TSNE(perplexity=8, random_state=0).fit(X)
    assert fit.embedding_.std(axis=0).min() > 0.1 * usual.embedding_.std(axis=0).min()
    assert fit.kl_divergence_ < 1.1 * usual.kl_divergence_


def test_an_array_without_coincident_objects_is_taken_as_it_is():
    positions = np.random.default_rng(0).normal(size=(2, 9, 2))
    positions[0, 3] = positions[0, 4]  # in one map only
    assert separated(positions, np.random.default_rng(0)) is positions
