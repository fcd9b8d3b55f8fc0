"""Permutation tests: divergences by their definition, p-values against every possible deal."""

from itertools import permutations

import numpy as np
import pytest

from manymaps.analysis.permutations import observed_divergences, permutation_tests
from manymaps.compute.threads import share_out, threads
from reference import weighted_divergence

UNITS, ANSWERS, SENSES = 7, 5, 2


def logs_to(n):
    k = np.arange(n + 1.0)
    return np.where(k > 0, k * np.log(np.maximum(k, 1)), 0.0)


def words(n_words=6, n_groups=2, seed=0, n_units=UNITS):
    """Words of some units with one to three answers each, and two senses a word.

    One answer belongs to no sense, and one is outside the atlas.
    """
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 4, n_words * n_units)
    groups = rng.integers(n_groups, size=n_words * n_units)
    return {
        "groups": groups,
        "units": np.arange(n_words + 1) * n_units,
        "given": np.concatenate([[0], np.cumsum(sizes)]),
        "answers": rng.integers(ANSWERS, size=sizes.sum()),
        "kinds": np.arange(n_words + 1) * ANSWERS,
        "senses": np.tile([1, 2, -1, 0, 2], n_words),
        "tests": np.arange(n_words + 1) * (1 + SENSES),
    }


def tables(data, w, groups):
    """The counts of answers, and of answers in each sense and elsewhere in the atlas."""
    n_groups = data["groups"].max() + 1
    counts = np.zeros((n_groups, ANSWERS), int)
    first = data["units"][w]
    for u, group in enumerate(groups):
        for r in range(data["given"][first + u], data["given"][first + u + 1]):
            counts[group, data["answers"][r]] += 1
    senses = data["senses"][data["kinds"][w] : data["kinds"][w + 1]]
    inside = counts[:, senses >= 0].sum(axis=1)
    held = [counts[:, senses == s].sum(axis=1) for s in range(1, 1 + SENSES)]
    return [counts, *(np.stack([one, inside - one], axis=1) for one in held)]


def own_groups(data, w):
    return data["groups"][data["units"][w] : data["units"][w + 1]]


def observed(data, n_groups=2):
    found = np.zeros(data["tests"][-1])
    n_words = len(data["units"]) - 1
    share_out(observed_divergences, n_words, *data.values(), n_groups, logs_to(100), found)
    return found


def drawn(data, most, *, n_groups=2, hits=10**9, seed=0, at_once=100, least=1, before=None):
    n = data["tests"][-1]
    reached, draws, means = before or (np.zeros(n, int), np.zeros(n, int), np.zeros(n))
    for start in range(0, len(data["units"]) - 1, at_once):
        chosen = np.arange(len(data["units"]) - 1)[start : start + at_once]
        share_out(
            permutation_tests, len(chosen), chosen, *data.values(), n_groups, logs_to(100), seed,
            hits, least, most, reached, draws, means,
        )  # fmt: skip
    return reached, draws, means


@pytest.mark.parametrize("n_groups", [2, 3])
def test_divergences_are_those_of_the_definition(n_groups):
    data = words(n_groups=n_groups)
    found = observed(data, n_groups).reshape(-1, 1 + SENSES)
    for w, values in enumerate(found):
        expected = [weighted_divergence(one) for one in tables(data, w, own_groups(data, w))]
        np.testing.assert_allclose(values, expected, atol=1e-12)


@pytest.mark.parametrize("n_groups", [2, 3])
def test_draws_reach_the_observed_as_often_as_all_deals_do(n_groups):
    data = words(n_groups=n_groups)
    most = 20_000
    reached, draws, means = drawn(data, most, n_groups=n_groups, least=most)
    assert (draws == most).all()
    shares, means = (values.reshape(-1, 1 + SENSES) for values in (reached / most, means))
    for w in range(len(data["units"]) - 1):
        own = own_groups(data, w)
        target = [weighted_divergence(one) for one in tables(data, w, own)]
        deals = np.array([
            [weighted_divergence(one) for one in tables(data, w, deal)]
            for deal in sorted(set(permutations(own.tolist())))
        ])  # fmt: skip
        exact = (deals >= np.array(target) - 1e-9).mean(axis=0)
        np.testing.assert_allclose(shares[w], exact, atol=0.016)  # 4.5 standard errors
        np.testing.assert_allclose(means[w], deals.mean(axis=0), atol=0.006)


def test_draws_end_when_the_observed_is_reached_often_enough():
    data = words()
    reached, draws, _ = drawn(data, 5_000, hits=20)
    rare = drawn(data, 5_000)[0] < 20
    assert (reached[~rare] == 20).all()
    assert (draws[~rare] < 5_000).any()
    assert (draws[rare] == 5_000).all()


def test_draws_go_on_where_they_were_and_depend_on_the_word_alone():
    data = words()
    whole = drawn(data, 3_000, hits=20, seed=3)
    with threads(1):
        np.testing.assert_array_equal(whole, drawn(data, 3_000, hits=20, seed=3, at_once=2))
    assert not np.array_equal(whole[1], drawn(data, 3_000, hits=20, seed=4)[1])
    first = tuple(values.copy() for values in drawn(data, 100, seed=3))
    means = first[2].copy()
    later = drawn(data, 3_000, seed=3, before=first)
    assert (later[1] == 3_000).all()
    np.testing.assert_array_equal(later[2], means)
    np.testing.assert_allclose(later[0] / 3_000, drawn(data, 3_000)[0] / 3_000, atol=0.05)
