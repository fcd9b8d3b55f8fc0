"""Sweeps and moments of additive clustering against their sums written out."""

from itertools import product

import numpy as np
import pytest

from manymaps.compute.gibbs import gibbs_expectations, moments, residuals


def data(n, k, seed=0, missing=0.0):
    rng = np.random.default_rng(seed)
    mask = np.triu(rng.random((n, n)) >= missing, 1).astype(float)
    mask += mask.T
    values = rng.normal(size=(n, n)) * 0.5
    values = (values + values.T) * mask
    weights = np.concatenate([[-0.2], rng.uniform(0.2, 1.0, k)])
    complete = missing < 0.5
    odd = np.argwhere(np.triu(mask == 0 if complete else mask == 1, 1)).copy()
    return values, mask, odd, complete, weights


def slow_residuals(values, mask, features, weights):
    return values - mask * np.einsum("k,ki,kj->ij", weights, features, features)


def slow_moments(values, mask, features):
    """A and b by the list of pairs."""
    i, j = np.nonzero(np.triu(mask))
    both = features[:, i] * features[:, j]
    return both @ both.T, both @ values[i, j]


def slow_sweep(values, mask, features, weights, precision, uniforms):
    """One sweep, each membership by the residuals without its cluster."""
    for k in range(1, len(weights)):
        for i in range(features.shape[1]):
            others = np.delete(np.arange(len(weights)), k)
            rest = slow_residuals(values, mask, features[others], weights[others])[i]
            terms = mask[i] * features[k] * weights[k] * (2 * rest - weights[k])
            features[k, i] = uniforms[k - 1, i] < 1 / (1 + np.exp(-precision * terms.sum()))


def approximate_moments(values, mask, samples):
    """A and b of footnote 3, by the list of pairs."""
    i, j = np.nonzero(np.triu(mask))
    together = np.mean([s[:, i] * s[:, j] for s in samples], axis=0)
    gram = together @ together.T
    np.fill_diagonal(gram, together.sum(axis=1))
    return gram, together @ values[i, j]


def exact_marginals(values, mask, weights, precision, n):
    """P(f_ik = 1) and P(f_ik f_jk = 1), (K + 1, n, n), by the list of all memberships."""
    k = len(weights) - 1
    logs, pairs = [], []
    for bits in product([0.0, 1.0], repeat=n * k):
        features = np.vstack([np.ones(n), np.reshape(bits, (k, n))])
        squares = (slow_residuals(values, mask, features, weights) ** 2).sum() / 2
        logs.append(-precision * squares)
        pairs.append(features[:, :, None] * features[:, None, :])
    shares = np.exp(np.array(logs) - max(logs))
    together = np.tensordot(shares / shares.sum(), pairs, 1)
    return np.diagonal(together, axis1=1, axis2=2), together


def room(k, n):
    return np.zeros((k + 1, k + 1)), np.zeros(k + 1), np.zeros((k + 1, n))


@pytest.mark.parametrize("missing", [0.0, 0.2, 0.8])
def test_residuals_and_moments_equal_their_sums(missing):
    values, mask, odd, complete, weights = data(9, 4, 1, missing)
    features = np.random.default_rng(2).random((5, 9)).round()
    features[0] = 1
    result = np.empty((9, 9))
    residuals(values, mask, features, weights, result)
    np.testing.assert_allclose(result, slow_residuals(values, mask, features, weights), atol=1e-12)
    gram, right, _ = room(4, 9)
    moments(values, odd, complete, features, gram, right)
    slow_gram, slow_right = slow_moments(values, mask, features)
    np.testing.assert_allclose(gram, slow_gram, atol=1e-12)
    np.testing.assert_allclose(right, slow_right, atol=1e-12)


@pytest.mark.parametrize("missing", [0.0, 0.3, 0.8])
def test_the_sampler_equals_its_slow_twin_draw_for_draw(missing):
    values, mask, _, _, weights = data(7, 3, 3, missing)
    rng = np.random.default_rng(4)
    start = np.vstack([np.ones(7), rng.random((3, 7)) < 0.5]).astype(float)
    precisions, uniforms = np.geomspace(0.1, 3, 12), rng.random((12, 3, 7))
    features = start.copy()
    gram, right, shares = room(3, 7)
    gibbs_expectations(
        values, mask, features, weights, precisions, 5, uniforms, gram, right, shares
    )
    slow, samples = start.copy(), []
    for precision, draws in zip(precisions, uniforms, strict=True):
        slow_sweep(values, mask, slow, weights, precision, draws)
        samples.append(slow.copy())
    np.testing.assert_array_equal(features, slow)
    np.testing.assert_allclose(shares, np.mean(samples[-5:], axis=0))
    slow_gram, slow_right = approximate_moments(values, mask, samples[-5:])
    np.testing.assert_allclose(right, slow_right, atol=1e-12)
    np.testing.assert_allclose(gram, slow_gram, atol=1e-12)


@pytest.mark.parametrize("missing", [0.0, 0.25])
@pytest.mark.parametrize(("n", "k"), [(3, 1), (4, 2), (5, 2), (4, 3)])
def test_the_sampler_has_the_marginals_of_all_memberships(n, k, missing):
    values, mask, _, _, weights = data(n, k, 6, missing)
    precision, recorded, blocks = 0.7, 4000, 12
    shares, together = exact_marginals(values, mask, weights, precision, n)
    i, j = np.nonzero(np.triu(mask))
    truth = np.concatenate([shares.ravel(), together[:, i, j] @ values[i, j]])
    rng = np.random.default_rng(7)
    features = np.vstack([np.ones(n), rng.random((k, n)) < 0.5]).astype(float)
    found = []
    for _ in range(blocks):
        gram, right, means = room(k, n)
        gibbs_expectations(
            values, mask, features, weights, np.full(recorded + 50, precision), recorded,
            rng.random((recorded + 50, k, n)), gram, right, means,
        )  # fmt: skip
        found.append(np.concatenate([means.ravel(), right]))
    error = np.std(found, axis=0, ddof=1) / np.sqrt(blocks)
    # Student's t with 11 degrees of freedom is within 6 but for one in 10,000.
    assert (np.abs(np.mean(found, axis=0) - truth) <= 6 * error + 1e-9).all()
