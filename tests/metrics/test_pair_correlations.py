"""Correlations over pairs that share words: deletions by recomputing, limits and coverage."""

import numpy as np
import pytest
from scipy.stats import binom, spearmanr
from scipy.stats import t as student

from manymaps.metrics.pair_correlations import pair_correlation

DISJOINT = np.arange(0, 120, 2), np.arange(1, 121, 2)


def all_pairs(n_words):
    return np.triu_indices(n_words, 1)


def measures(first, second, rng, share=0.5):
    """Two measures of pairs with effects of words, whose true correlation is 0.6."""
    root = np.linalg.cholesky([[1, 0.6], [0.6, 1]])
    words = root @ rng.normal(size=(2, max(first.max(), second.max()) + 1))
    pairs = root @ rng.normal(size=(2, len(first)))
    return np.sqrt(share / 2) * (words[:, first] + words[:, second]) + np.sqrt(1 - share) * pairs


def test_deletions_are_those_of_recomputing():
    """To first order, with ties."""
    first, second = all_pairs(40)
    a, b = measures(first, second, np.random.default_rng(0)).round(1)
    found = pair_correlation(a, b, first, second)
    assert found.value == pytest.approx(spearmanr(a, b)[0])
    left = [(first != word) & (second != word) for word in range(40)]
    left += list(~np.eye(len(a), dtype=bool))
    changes = np.array([spearmanr(a[some], b[some])[0] for some in left]) - found.value
    error = found.deletions - found.value - changes
    assert np.abs(error).max() < 0.1 * np.abs(changes).max()


def test_without_shared_words_it_is_the_jackknife_over_pairs():
    rng = np.random.default_rng(1)
    a, b = rng.normal(size=(2, 60)) + rng.normal(size=60)
    found = pair_correlation(a, b, *DISJOINT)
    without = found.deletions[found.n_words :]
    # Each pair is deleted with its first word, with its second, and as itself.
    assert found.deletions[: found.n_words] == pytest.approx(np.repeat(without, 2))
    centre = np.arctanh(found.value)
    margin = student.ppf(0.975, 59) * np.sqrt(((np.arctanh(without) - centre) ** 2).sum())
    assert found.interval()[1:] == pytest.approx(
        (np.tanh(centre - margin), np.tanh(centre + margin))
    )


def test_the_order_of_pairs_and_of_their_words_changes_nothing():
    rng = np.random.default_rng(2)
    first, second = all_pairs(12)
    a, b = measures(first, second, rng)
    order = rng.permutation(len(a))
    swapped = rng.random(len(a)) < 0.5
    renamed = rng.permutation(50)[np.where(swapped, [second, first], [first, second])]
    expected = pair_correlation(a, b, first, second)
    found = pair_correlation(a[order], b[order], *renamed[:, order])
    assert found.value == pytest.approx(expected.value)
    assert found.interval() == pytest.approx(expected.interval())


def test_limits():
    first, second = all_pairs(6)
    a = np.arange(15.0)
    line = pair_correlation(a, 2 * a + 1, first, second)
    assert line.interval()[1:] == pytest.approx((1, 1))
    assert line.interval().high == 1
    fall = pair_correlation(a, -(a**3), first, second)
    assert fall.interval()[1:] == pytest.approx((-1, -1))
    same = pair_correlation(a, np.full(15, 0.1), first, second)
    assert np.isnan(same.interval()).all()


def test_a_word_of_all_pairs_counts_as_fixed():
    """Nothing is left without it, so that the other words make the interval."""
    rng = np.random.default_rng(3)
    a, b = rng.normal(size=(2, 40)) + rng.normal(size=40)
    star = pair_correlation(a, b, np.zeros(40, int), np.arange(1, 41))
    assert np.isnan(star.deletions[0])
    low, high = star.interval()[1:]
    assert -1 < low < star.value < high < 1


def test_coverage_when_each_word_is_in_many_pairs():
    """Of 600 intervals of 95 % so few miss as chance allows; over pairs it is far more."""
    rng = np.random.default_rng(4)
    n_words, n_draws = 50, 600
    first = np.repeat(np.arange(n_words), 8)
    second = (first + np.tile([1, 2, 4, 7, 11, 16, 19, 23], n_words)) % n_words
    truth = 6 / np.pi * np.arcsin(0.6 / 2)
    covered = np.zeros(2)
    for _ in range(n_draws):
        found = pair_correlation(*measures(first, second, rng), first, second)
        alone = pair_correlation(*measures(first, second, rng), *np.arange(800).reshape(2, 400))
        for k, one in enumerate((found, alone)):
            low, high = one.interval()[1:]
            covered[k] += low <= truth <= high
    assert covered[0] >= binom.ppf(0.001, n_draws, 0.95)
    assert covered[1] < 0.88 * n_draws
