"""Sense separation against a slow, obvious reference, and its limits."""

from itertools import combinations

import numpy as np
import pytest
from scipy import sparse

from manymaps.errors import DataError, ParameterError
from manymaps.metrics import sense_separation, strongest_recall
from manymaps.metrics.senses import votes, word_separation
from reference import log_proportions, log_similarity


def random_problem(seed=0, n=40, n_maps=5, per_row=12, n_senses=3):
    rng = np.random.default_rng(seed)
    dense = np.zeros((n, n))
    for i in range(n):
        others = rng.choice(np.delete(np.arange(n), i), per_row, replace=False)
        dense[i, others] = rng.random(per_row) + 0.1
    strengths = sparse.csr_array(dense)
    senses = rng.integers(0, n_senses, strengths.nnz)
    maps = rng.normal(size=(n_maps, n, 2))
    proportions = rng.dirichlet(np.ones(n_maps), n).T
    return maps, proportions, strengths, senses


def reference(maps, proportions, strengths, pair_senses, kernel):
    """Score, within and across, pair by pair."""
    scores, withins, acrosses = [], [], []
    for i in range(strengths.shape[0]):
        start, end = strengths.indptr[i : i + 2]
        senses = pair_senses[start:end]
        kept = [s for s in set(senses) if (senses == s).sum() >= 2]
        if len(kept) < 2:
            continue
        pairs = []
        for p in range(start, end):
            if pair_senses[p] in kept:
                j = strengths.indices[p]
                d2 = ((maps[:, i] - maps[:, j]) ** 2).sum(axis=1)
                v = proportions[:, i] * proportions[:, j]
                v = v * (np.exp(-d2) if kernel == "gaussian" else 1 / (1 + d2))
                pairs.append((pair_senses[p], strengths.data[p], v / v.sum()))
        own = {s: int(np.argmax(sum(w * r for sense, w, r in pairs if sense == s))) for s in kept}
        scores.append(np.mean([own[s] != own[t] for s, t in combinations(kept, 2)]))
        agreement = {True: [0.0, 0.0], False: [0.0, 0.0]}
        for (s, w, r), (t, u, q) in combinations(pairs, 2):
            agreement[s == t][0] += w * u * (r @ q)
            agreement[s == t][1] += w * u
        withins.append(agreement[True][0] / agreement[True][1])
        acrosses.append(agreement[False][0] / agreement[False][1])
    return np.mean(scores), np.mean(withins), np.mean(acrosses), len(scores)


@pytest.mark.parametrize("kernel", ["cauchy", "gaussian"])
@pytest.mark.parametrize("seed", [0, 1])
def test_agrees_with_the_reference(kernel, seed):
    problem = random_problem(seed)
    found = sense_separation(*problem, kernel=kernel)
    expected = reference(*problem, kernel)
    np.testing.assert_allclose(
        (found.score, found.within, found.across, found.n_words), expected, rtol=1e-12
    )


@pytest.mark.parametrize("seed", [0, 1])
def test_means_are_taken_over_words(seed):
    """A word's own figures are those of a table that holds no other word's pairs."""
    maps, proportions, strengths, senses = random_problem(seed)
    rows = np.repeat(np.arange(40), np.diff(strengths.indptr))
    shares = votes(maps, proportions, rows, strengths.indices, "cauchy", 1.0)
    found = word_separation(shares, strengths, senses)
    assert found.mean() == sense_separation(maps, proportions, strengths, senses)
    for k, word in enumerate(found.words[:5]):
        lone = strengths.copy()
        lone.data = np.where(rows == word, lone.data, 0)
        expected = sense_separation(maps, proportions, lone, senses)
        assert expected.n_words == 1
        assert (found.score[k], found.within[k], found.across[k]) == pytest.approx(
            (expected.score, expected.within, expected.across)
        )
    some = found.mean(found.words < 20)
    assert some.n_words == (found.words < 20).sum()
    assert some.chance == pytest.approx(found.chance[found.words < 20].mean())


def test_one_map_separates_nothing():
    found = sense_separation(*random_problem(n_maps=1))
    assert (found.score, found.chance, found.standard_error) == (0, 0, 0)
    assert found.contrast == pytest.approx(0)


def test_maps_that_ignore_the_senses_score_chance():
    found = sense_separation(*random_problem(n=300, per_row=20), n_permutations=50)
    assert abs(found.score - found.chance) < 4 * found.standard_error
    assert abs(found.contrast) < 0.01


def test_one_map_per_sense_is_perfect_and_one_per_pair_shows_no_contrast():
    n = 31
    senses = np.arange(n - 1) % 3
    strengths = sparse.csr_array(np.vstack([[0, *[1.0] * (n - 1)], np.zeros((n - 1, n))]))
    found = []
    for n_maps, map_of_pair in ((3, senses), (n - 1, np.arange(n - 1))):
        proportions = np.zeros((n_maps, n))
        proportions[:, 0] = 1 / n_maps
        proportions[map_of_pair, np.arange(1, n)] = 1
        maps = np.zeros((n_maps, n, 2))
        found.append(sense_separation(maps, proportions, strengths, senses))
    perfect, scattered = found
    assert (perfect.score, perfect.within, perfect.across, perfect.n_words) == (1, 1, 0, 1)
    assert perfect.chance < 1
    assert np.isnan(perfect.standard_error)
    assert (scattered.score, scattered.chance, scattered.contrast) == (1, 1, 0)


def test_senses_of_one_pair_and_pairs_of_no_weight_do_not_count():
    maps, proportions, strengths, senses = random_problem()
    strengths.data[1] = 0
    lone = senses.copy()
    lone[0] = 99
    found = sense_separation(maps, proportions, strengths, lone)
    kept = np.ones(len(senses), dtype=bool)
    kept[:2] = False
    rows = np.repeat(np.arange(40), np.diff(strengths.indptr))
    fewer = sparse.csr_array(
        (strengths.data[kept], (rows[kept], strengths.indices[kept])), (40, 40)
    )
    expected = sense_separation(maps, proportions, fewer, senses[kept])
    assert found.score == expected.score
    assert found.within == pytest.approx(expected.within)


def test_the_order_of_objects_does_not_matter():
    maps, proportions, strengths, senses = random_problem()
    order = np.random.default_rng(9).permutation(40)
    numbered = strengths.copy()
    numbered.data = np.arange(1.0, strengths.nnz + 1)
    pairs = sparse.csr_array(numbered[order][:, order])
    pairs.sort_indices()
    at = pairs.data.astype(int) - 1
    pairs.data = strengths.data[at]
    found = sense_separation(maps[:, order], proportions[:, order], pairs, senses[at])
    expected = sense_separation(maps, proportions, strengths, senses)
    assert found.score == pytest.approx(expected.score)
    assert found.within == pytest.approx(expected.within)
    assert found.across == pytest.approx(expected.across)


def test_remote_gaussian_pairs_still_vote():
    maps, proportions, strengths, senses = random_problem()
    near = sense_separation(maps * 100, proportions, strengths, senses, kernel="gaussian")
    assert np.isfinite(near.within)
    wide = sense_separation(
        maps * 100, proportions, strengths, senses, kernel="gaussian", kernel_width=100
    )
    plain = sense_separation(maps, proportions, strengths, senses, kernel="gaussian")
    assert wide.within == pytest.approx(plain.within)


def test_objects_that_share_no_map_do_not_vote():
    maps, proportions, strengths, senses = random_problem(n_maps=2)
    proportions[0], proportions[1] = np.arange(40) % 2, 1 - np.arange(40) % 2
    found = sense_separation(maps, proportions, strengths, senses)
    assert np.isfinite(found.within)
    assert np.isfinite(found.across)


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"pair_senses": np.zeros(3, int)}, DataError, "one sense per pair"),
        ({"maps": np.zeros((5, 7, 2))}, DataError, "do not match"),
        ({"pair_senses": np.zeros(480, int)}, DataError, "nothing to separate"),
        ({"strengths": sparse.csr_array((40, 40)), "pair_senses": np.zeros(0, int)},
         DataError, "nothing to separate"),
        ({"kernel": "box"}, ParameterError, "gaussian, cauchy"),
        ({"kernel_width": 0.0}, ParameterError, "kernel_width"),
        ({"n_permutations": 0}, ParameterError, "n_permutations"),
    ],
)  # fmt: skip
def test_refusals(change, error, words):
    names = ("maps", "proportions", "strengths", "pair_senses")
    arguments = dict(zip(names, random_problem(), strict=True)) | change
    with pytest.raises(error, match=words):
        sense_separation(**arguments)
    _, _, strengths, senses = random_problem()
    with pytest.raises(DataError, match="one row per pair"):
        word_separation(np.ones((3, 2)), strengths, senses)


@pytest.mark.parametrize("kernel", ["gaussian", "cauchy"])
def test_strongest_recall_is_that_of_the_dense_model(kernel):
    rng = np.random.default_rng(3)
    n, k = 40, 5
    maps, weights = rng.normal(0, 1.5, (3, n, 2)), rng.normal(0, 1, (3, n))
    table = rng.random((n, n)) * (rng.random((n, n)) < 0.2)
    np.fill_diagonal(table, 0)
    table[4] = 0
    log_v = log_similarity(kernel, (maps, weights), (maps, weights), width=1.3)
    rows = np.flatnonzero(table.any(axis=1))
    hits = [np.argmax(table[i]) in np.argsort(-log_v[i])[:k] for i in rows]
    found = strongest_recall(
        maps,
        np.exp(log_proportions(weights)),
        sparse.csr_array(table),
        k=k,
        kernel=kernel,
        kernel_width=1.3,
    )
    assert 0 < np.mean(hits) < 1
    assert found == pytest.approx(np.mean(hits))


def test_strongest_recall_needs_an_entry():
    with pytest.raises(DataError, match="no row"):
        strongest_recall(np.zeros((1, 3, 2)), np.ones((1, 3)), sparse.csr_array((3, 3)))
