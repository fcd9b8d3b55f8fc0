"""Perplexity: every row reaches the one that was asked for, where it exists."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

import reference
from manymaps.compute.bandwidth import conditional_probabilities, row_entropies
from manymaps.compute.threads import share_out


def probabilities_of(squared_distances, perplexity):
    n, k = squared_distances.shape
    result = np.empty(n * k)
    log_perplexity = np.log(np.broadcast_to(np.asarray(perplexity, dtype=float), n))
    starts = np.arange(0, n * k + 1, k)
    share_out(
        conditional_probabilities, n, squared_distances.ravel(), starts, log_perplexity.copy(),
        result,
    )  # fmt: skip
    return result.reshape(n, k)


def random_distances(seed, n=30, k=25, d=3, scale=1.0):
    rng = np.random.default_rng(seed)
    return scale**2 * cdist(rng.normal(size=(n, d)), rng.normal(size=(k, d)), "sqeuclidean")


@pytest.mark.parametrize("perplexity", [1.01, 2, 7.5, 20, 24.9])
@pytest.mark.parametrize("scale", [1e-6, 1, 1e6])
def test_entropy_is_reached(perplexity, scale):
    p = probabilities_of(random_distances(0, scale=scale), perplexity)
    np.testing.assert_allclose(p.sum(axis=1), 1, rtol=1e-12)
    np.testing.assert_allclose(reference.entropy(p), np.log(perplexity), atol=1e-5)


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), perplexity=st.floats(1.5, 20))
def test_rows_are_gaussian(seed, perplexity):
    """log p falls in a straight line with the squared distance, with one slope in a row."""
    d2 = random_distances(seed)
    p = probabilities_of(d2, perplexity)
    for distances, row in zip(d2, p, strict=True):
        seen = row > 1e-12
        slope, intercept = np.polyfit(distances[seen], np.log(row[seen]), 1)
        assert slope < 0
        fitted = slope * distances[seen] + intercept
        np.testing.assert_allclose(np.log(row[seen]), fitted, atol=1e-6)


def test_a_shift_of_all_distances_changes_nothing():
    d2 = random_distances(2)
    np.testing.assert_allclose(
        probabilities_of(d2, 5), probabilities_of(d2 + 1e4, 5), rtol=1e-5, atol=1e-9
    )


def test_ties_keep_equal_shares():
    """Five nearest neighbours at one distance: no bandwidth gives a perplexity of 2."""
    d2 = np.array([[1.0] * 5 + [9.0] * 3])
    p = probabilities_of(d2, 2)[0]
    np.testing.assert_allclose(p, [0.2] * 5 + [0.0] * 3, atol=1e-9)


def test_all_at_one_distance():
    np.testing.assert_allclose(probabilities_of(np.full((2, 4), 3.0), 2.5), 0.25)
    np.testing.assert_allclose(probabilities_of(np.zeros((2, 4)), 2.5), 0.25)


def test_perplexity_of_all_neighbours_is_uniform():
    np.testing.assert_allclose(probabilities_of(random_distances(3), 25), 1 / 25, atol=5e-4)


def test_each_row_reaches_a_perplexity_of_its_own():
    wanted = np.linspace(1.5, 24, 30)
    p = probabilities_of(random_distances(5), wanted)
    np.testing.assert_allclose(reference.entropy(p), np.log(wanted), atol=1e-5)


def test_rows_of_different_lengths():
    d2 = random_distances(6, n=4)
    lengths = np.array([25, 0, 7, 12])
    starts = np.concatenate([[0], np.cumsum(lengths)])
    flat = np.concatenate([row[:length] for row, length in zip(d2, lengths, strict=True)])
    found = np.empty(flat.size)
    share_out(conditional_probabilities, 4, flat, starts, np.full(4, np.log(5)), found)
    for i, length in enumerate(lengths):
        if length:
            truth = probabilities_of(d2[[i], :length], 5)[0]
            np.testing.assert_array_equal(found[starts[i] : starts[i + 1]], truth)


def test_perplexity_1_is_the_nearest_alone():
    d2 = random_distances(7)
    p = probabilities_of(d2, 1)
    np.testing.assert_array_equal(p.argmax(axis=1), d2.argmin(axis=1))
    np.testing.assert_array_equal(p.max(axis=1), 1)


@pytest.mark.parametrize("perplexity", [1.001, 3, 9.999])
def test_rows_that_are_hard_to_search(perplexity):
    """A far outlier, a near tie, and distances over twenty orders of magnitude."""
    d2 = np.array(
        [
            [1.0, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.7, 1.8, 1e12],
            [0.0, 1e-12, 1, 1, 1, 1, 1, 1, 1, 1],
            np.logspace(-10, 10, 10),
        ]
    )
    p = probabilities_of(d2, perplexity)
    np.testing.assert_allclose(reference.entropy(p), np.log(perplexity), atol=1e-5)


def test_the_same_bits_wherever_the_arrays_are_in_memory():
    """A loop must not depend on how near the array that it fills is to an array that it reads."""
    numbers, memory = np.random.default_rng(10).uniform(0.5, 1.5, 40), np.empty(200)
    for length in range(1, 41):
        d2 = numbers[:length].copy()
        row = [0, 1, d2, np.array([0, length]), np.log([max(1, 0.3 * length)]), np.empty(length)]
        conditional_probabilities(*row)
        apart, read = row[5], memory[80 : 80 + length]
        read[:] = d2
        row[2] = read
        for gap in range(-40, 41):
            first = 80 + gap + (length if gap >= 0 else -length)
            row[5] = memory[first : first + length]
            conditional_probabilities(*row)
            np.testing.assert_array_equal(row[5], apart, f"{length} pairs, gap {gap}")


@pytest.mark.parametrize("beta", [0.0, 0.3, 50.0])
def test_entropies_at_one_bandwidth(beta):
    d2 = random_distances(9)
    p = np.exp(-beta * (d2 - d2.min(axis=1, keepdims=True)))
    found = np.full(31, -1.0)
    starts = np.append(np.arange(0, 751, 25), 750)
    share_out(row_entropies, 31, d2.ravel(), starts, beta, found)
    truth = reference.entropy(p / p.sum(axis=1, keepdims=True))
    np.testing.assert_allclose(found, np.append(truth, 0), atol=1e-12)
