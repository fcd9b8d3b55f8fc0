"""Gaussian similarities of new objects in both directions, and refinement among landmarks."""

import numpy as np
import pytest

from manymaps import TSNE, Refinement, nearest_neighbors
from manymaps.maps.bandwidths import reverse_bandwidths


def test_each_bandwidth_has_the_perplexity_and_gives_the_reverse_probability():
    rng = np.random.default_rng(0)
    known, new = rng.normal(size=(40, 3)), rng.normal(size=(5, 3))
    bandwidths = reverse_bandwidths(known, np.array([4.0, 9.0]), "euclidean")
    near = nearest_neighbors(known, 27).distances.astype(float) ** 2
    p = np.exp(-bandwidths.beta[..., None] * near)
    sums = p.sum(axis=-1)
    p /= sums[..., None]
    perplexities = np.exp(-(p * np.log(p)).sum(axis=-1))
    np.testing.assert_allclose(perplexities.T, np.tile([4, 9], (40, 1)), rtol=1e-4)
    squared = ((new[:, None] - known) ** 2).sum(axis=2)
    expected = np.exp(-bandwidths.beta[:, None] * squared) / sums[:, None]
    indices = np.tile(np.arange(40), (5, 1))
    np.testing.assert_allclose(
        bandwidths.reverse(indices, squared), np.minimum(expected, 1).mean(axis=0), rtol=1e-4
    )


def test_more_duplicates_than_the_perplexity():
    known = np.repeat([[0.0], [1.0]], [8, 4], axis=0)
    bandwidths = reverse_bandwidths(known, np.array([3.0]), "euclidean")
    indices = np.array([[0, 8]])
    at, off = (bandwidths.reverse(indices, np.array([d2])) for d2 in ([0.0, 1.0], [0.1, 0.4]))
    np.testing.assert_allclose(at[0], [1 / 7, 0], atol=1e-3)
    assert off[0, 0] == 0


def kept(points, places, k=10):
    near = [nearest_neighbors(x, k).indices for x in (points, places)]
    return np.mean([np.isin(*rows).mean() for rows in zip(*near, strict=True)])


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1])
def test_landmarks_keep_more_neighbors_than_their_own_positions(seed):
    rng = np.random.default_rng(seed)
    points = rng.normal(0, 2, (20, 6))[rng.integers(20, size=3000)] + rng.normal(size=(3000, 6))
    fit = TSNE(random_state=seed).fit(points[:300])
    few, many = (fit.transform(points, refine=Refinement(landmarks=flag)) for flag in (False, True))
    nearest = nearest_neighbors(points[:300], 1, queries=points).indices[:, 0]
    at_landmarks = fit.embedding_[nearest] + rng.normal(0, 1e-4, (3000, 2))
    assert kept(points, many) > max(kept(points, few), kept(points, at_landmarks))
    assert kept(points, many, 100) > kept(points, at_landmarks, 100)
