"""Sweeps and moments of additive clustering against their sums written out."""

from itertools import product

import numpy as np
import pytest

from manymaps.compute.gibbs import (
    enumerate_expectations,
    gibbs_expectations,
    mean_field_expectations,
    moments,
    residuals,
)


def data(n, k, seed=0, missing=0.0):
    rng = np.random.default_rng(seed)
    mask = np.triu(rng.random((n, n)) >= missing, 1).astype(float)
    mask += mask.T
    values = rng.normal(size=(n, n)) * 0.5
    values = (values + values.T) * mask
    weights = np.concatenate([[-0.2], rng.uniform(0.2, 1.0, k)])
    log_odds = np.concatenate([[0.0], rng.normal(size=k)])
    complete = missing < 0.5
    odd = np.argwhere(np.triu(mask == 0 if complete else mask == 1, 1)).copy()
    return values, mask, odd, complete, weights, log_odds


def slow_residuals(values, mask, features, weights):
    return values - mask * np.einsum("k,ki,kj->ij", weights, features, features)


def slow_moments(values, mask, features):
    """A and b by the list of pairs; probabilities count as themselves when squared."""
    i, j = np.nonzero(np.triu(mask))
    both = features[:, i] * features[:, j]
    gram = both @ both.T
    np.fill_diagonal(gram, both.sum(axis=1))
    return gram, both @ values[i, j]


def slow_sweep(values, mask, features, weights, log_odds, precision, uniforms=None):
    """One sweep, each membership by the residuals without its cluster."""
    for k in range(1, len(weights)):
        for i in range(features.shape[1]):
            others = np.delete(np.arange(len(weights)), k)
            rest = slow_residuals(values, mask, features[others], weights[others])[i]
            terms = mask[i] * features[k] * weights[k] * (2 * rest - weights[k])
            chance = 1 / (1 + np.exp(-(log_odds[k] + precision * terms.sum())))
            features[k, i] = chance if uniforms is None else uniforms[k - 1, i] < chance


def all_states(values, mask, weights, log_odds, precision, n):
    """Every membership with its share of the posterior, and the log of the sum."""
    k = len(weights) - 1
    states, logs = [], []
    for bits in product([0.0, 1.0], repeat=n * k):
        features = np.vstack([np.ones(n), np.reshape(bits, (k, n))])
        squares = (slow_residuals(values, mask, features, weights) ** 2).sum() / 2
        states.append(features)
        logs.append(
            log_odds @ (features.sum(axis=1) * (np.arange(k + 1) > 0)) - precision * squares
        )
    top = max(logs)
    total = np.exp(np.array(logs) - top).sum()
    return states, np.exp(np.array(logs) - top) / total, top + np.log(total)


def room(k, n):
    return np.zeros((k + 1, k + 1)), np.zeros(k + 1), np.zeros((k + 1, n))


@pytest.mark.parametrize("missing", [0.0, 0.2, 0.8])
@pytest.mark.parametrize("soft", [False, True])
def test_residuals_and_moments_equal_their_sums(missing, soft):
    values, mask, odd, complete, weights, _ = data(9, 4, 1, missing)
    rng = np.random.default_rng(2)
    features = rng.random((5, 9))
    if not soft:
        features = features.round()
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
@pytest.mark.parametrize("exact", [True, False])
def test_the_sampler_equals_its_slow_twin_draw_for_draw(missing, exact):
    values, mask, odd, complete, weights, log_odds = data(7, 3, 3, missing)
    rng = np.random.default_rng(4)
    start = np.vstack([np.ones(7), rng.random((3, 7)) < 0.5]).astype(float)
    precisions, uniforms = np.geomspace(0.1, 3, 12), rng.random((12, 3, 7))
    features = start.copy()
    gram, right, shares = room(3, 7)
    gibbs_expectations(
        values, mask, odd, complete, features, weights, log_odds, 1,
        precisions, 5, exact, uniforms, gram, right, shares,
    )  # fmt: skip
    slow, samples = start.copy(), []
    for precision, draws in zip(precisions, uniforms, strict=True):
        slow_sweep(values, mask, slow, weights, log_odds, precision, draws)
        samples.append(slow.copy())
    np.testing.assert_array_equal(features, slow)
    np.testing.assert_allclose(shares, np.mean(samples[-5:], axis=0))
    each = [slow_moments(values, mask, sample) for sample in samples[-5:]]
    np.testing.assert_allclose(right, np.mean([r for _, r in each], axis=0), atol=1e-12)
    if exact:
        np.testing.assert_allclose(gram, np.mean([g for g, _ in each], axis=0), atol=1e-12)
    else:
        i, j = np.nonzero(np.triu(mask))
        together = np.mean([s[:, i] * s[:, j] for s in samples[-5:]], axis=0)
        expected = together @ together.T
        np.fill_diagonal(expected, together.sum(axis=1))
        np.testing.assert_allclose(gram, expected, atol=1e-12)


@pytest.mark.parametrize(("n", "k"), [(3, 1), (4, 2), (3, 3), (5, 2)])
def test_enumeration_equals_the_list_of_all_memberships(n, k):
    values, mask, odd, complete, weights, log_odds = data(n, k, 5)
    states, shares, log_total = all_states(values, mask, weights, log_odds, 0.8, n)
    gram, right, means = room(k, n)
    features = np.ones((k + 1, n))
    found = enumerate_expectations(
        values, mask, odd, complete, features, weights, log_odds, 1, 0.8, gram, right, means
    )
    assert found == pytest.approx(log_total, rel=1e-12)
    np.testing.assert_allclose(means, np.tensordot(shares, states, 1), atol=1e-12)
    each = [slow_moments(values, mask, state) for state in states]
    np.testing.assert_allclose(gram, np.tensordot(shares, [g for g, _ in each], 1), atol=1e-10)
    np.testing.assert_allclose(right, np.tensordot(shares, [r for _, r in each], 1), atol=1e-10)


@pytest.mark.parametrize("missing", [0.0, 0.25])
@pytest.mark.parametrize(("n", "k"), [(3, 1), (4, 2), (5, 2), (5, 3)])
def test_the_sampler_has_the_marginals_of_enumeration(n, k, missing):
    values, mask, odd, complete, weights, log_odds = data(n, k, 6, missing)
    precision, recorded, blocks = 0.7, 4000, 12
    exact_gram, exact_right, exact = room(k, n)
    enumerate_expectations(
        values, mask, odd, complete, np.ones((k + 1, n)), weights, log_odds, 1, precision,
        exact_gram, exact_right, exact,
    )  # fmt: skip
    rng = np.random.default_rng(7)
    features = np.vstack([np.ones(n), rng.random((k, n)) < 0.5]).astype(float)
    found = []
    for _ in range(blocks):
        gram, right, shares = room(k, n)
        gibbs_expectations(
            values, mask, odd, complete, features, weights, log_odds, 1,
            np.full(recorded + 50, precision), recorded, True,
            rng.random((recorded + 50, k, n)), gram, right, shares,
        )  # fmt: skip
        found.append(np.concatenate([shares.ravel(), gram.ravel(), right]))
    means, truth = (
        np.mean(found, axis=0),
        np.concatenate([exact.ravel(), exact_gram.ravel(), exact_right]),
    )
    error = np.std(found, axis=0, ddof=1) / np.sqrt(blocks)
    # Student's t with 11 degrees of freedom is within 6 but for one in 10,000.
    assert (np.abs(means - truth) <= 6 * error + 1e-9).all()


def test_mean_field_ends_at_its_fixed_point():
    values, mask, odd, complete, weights, log_odds = data(8, 3, 8, 0.2)
    rng = np.random.default_rng(9)
    features = np.vstack([np.ones(8), rng.random((3, 8))])
    slow = features.copy()
    precisions = np.geomspace(0.1, 1.0, 40)
    gram, right, _ = room(3, 8)
    change = mean_field_expectations(
        values, mask, odd, complete, features, weights, log_odds, 1, precisions, 1e-12, gram, right
    )
    assert change < 1e-12
    for t in range(150):
        slow_sweep(values, mask, slow, weights, log_odds, precisions[min(t, 39)])
    np.testing.assert_allclose(features, slow, atol=1e-9)
    expected = slow_moments(values, mask, features)
    np.testing.assert_allclose(gram, expected[0], atol=1e-12)
    np.testing.assert_allclose(right, expected[1], atol=1e-12)
