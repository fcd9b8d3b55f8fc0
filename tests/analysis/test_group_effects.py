"""Effects between groups: by hand, against pairs counted one by one, and their intervals."""

from itertools import combinations

import numpy as np
import pytest
from scipy import sparse

from manymaps import Associations, Atlas, compare
from manymaps.analysis.group_effects import agreement_effects, sense_shifts
from manymaps.analysis.group_tests import PermutedUnits, PooledSenses
from manymaps.data.responses import grouped_responses
from manymaps.data.trials import Trials
from manymaps.model import MULTIPLE_MAPS_T_SNE


def effects(groups, **options):
    """The effects of all words, without tests."""
    found = grouped_responses(groups, **options)
    words = np.flatnonzero((found.totals() >= 2).all(axis=0))
    figures = agreement_effects(PermutedUnits.of(found, words, None), found.n_groups)
    return [found.labels[i] for i in words], figures


def norms(*rows, n_answers=6):
    """Counts of answers to a word per row; the answers have no rows."""
    n = len(rows) + n_answers
    table = np.zeros((n, n))
    for w, row in enumerate(rows):
        table[w, len(rows) : len(rows) + len(row)] = row
    labels = [f"word{w}" for w in range(len(rows))] + [f"a{a}" for a in range(n_answers)]
    return Associations(labels, sparse.csr_array(table))


def test_effects_by_hand():
    """Words with equal, disjoint and partly equal responses.

    word2: within a (3*2 + 1*0) / (4*3) = 1/2, within b (2*1 + 2*1) / 12 = 1/3, between
    (3*2 + 1*2) / 16 = 1/2; effect 1 - (1/2) / (5/12) = -1/5.
    """
    a = norms([30, 10], [40, 0], [3, 1])
    b = norms([30, 10], [0, 40], [2, 2])
    words, (effect, low, high) = effects({"a": a, "b": b})
    assert words == ["word0", "word1", "word2"]
    assert effect[1] == 1
    assert (low[1], high[1]) == (1, 1)
    assert effect[2] == pytest.approx(-1 / 5)
    assert low[0] == 0 <= high[0] < 0.2
    assert effect[0] == pytest.approx(1 - (1000 / 1600) / ((30 * 29 + 10 * 9) / (40 * 39)))


def test_without_agreement_there_is_no_effect():
    _, (effect, low, high) = effects({"a": norms([1, 1, 1]), "b": norms([0, 1, 1, 1])})
    assert np.isnan([effect[0], low[0], high[0]]).all()


def trials(rng, n_people, shares, name="p"):
    """Two different answers of each person to one cue."""
    given = np.array([rng.choice(len(shares), 2, replace=False, p=shares) for _ in range(n_people)])
    people = [f"{name}{i}" for i in range(n_people)]
    answers = [f"a{a}" for a in range(len(shares))]
    return Trials(["cue"], answers, np.zeros(n_people, int), given, np.arange(n_people), people)


def agreement(one, other, skip_same):
    """The share of equal answers over pairs of two people, counted one by one."""
    pairs = [
        (x == y)
        for i, xs in enumerate(one)
        for j, ys in enumerate(other)
        if not (skip_same and i == j)
        for x in xs
        for y in ys
    ]
    return np.mean(pairs)


def direct(groups):
    within = np.mean([agreement(one, one, True) for one in groups])
    between = [agreement(one, other, False) for one, other in combinations(groups, 2)]
    return 1 - np.mean(between) / within


@pytest.mark.parametrize("n_groups", [2, 3])
def test_effects_and_errors_are_those_of_pairs_counted_one_by_one(n_groups):
    rng = np.random.default_rng(n_groups)
    shares = [rng.dirichlet(np.ones(5)) for _ in range(n_groups)]
    parts = {f"g{g}": trials(rng, 12, shares[g], "pqr"[g]) for g in range(n_groups)}
    _, (effect, low, high) = effects(parts)
    given = [part.given for part in parts.values()]
    assert effect[0] == pytest.approx(direct(given))
    without = []
    for i in range(12):
        rest = [np.delete(one, i, axis=0) for one in given]
        without.append([
            direct([*given[:g], rest[g], *given[g + 1 :]]) for g in range(n_groups)
        ])  # fmt: skip
    error = np.sqrt((11 / 12 * (np.array(without) - np.mean(without, axis=0)) ** 2).sum())
    t = 2.200985  # 97.5 % of Student's t with 11 degrees of freedom
    assert high[0] == pytest.approx(np.clip(effect[0] + t * error, 0, 1))
    assert low[0] == pytest.approx(np.clip(effect[0] - t * error, 0, 1))


@pytest.mark.parametrize("n_responses", [25, 100])
def test_intervals_cover_the_effect_of_the_population(n_responses):
    """600 words with effects from 0 to 1."""
    rng = np.random.default_rng(0)
    n_words, n_answers = 600, 8
    base = rng.dirichlet(np.full(n_answers, 0.5), n_words)
    moved = np.linspace(0, 1, n_words)[:, None]
    other = (1 - moved) * base + moved * np.roll(base, 1, axis=0)
    truth = 1 - 2 * (base * other).sum(axis=1) / ((base**2).sum(axis=1) + (other**2).sum(axis=1))
    groups = {
        name: norms(*(rng.multinomial(n_responses, row) for row in shares), n_answers=n_answers)
        for name, shares in (("a", base), ("b", other))
    }
    _, (effect, low, high) = effects(groups)
    covered = (low <= truth) & (truth <= high)
    assert 0.90 <= covered.mean() <= 0.985
    assert abs(np.mean(effect - truth)) < 0.01


def shifts(groups, outside=()):
    """The shifts of two senses of the first word: answers a0 and a1, and answer a2."""
    found = grouped_responses(groups)
    words = np.array([found.labels.index("word0" if "word0" in found.labels else "cue")])
    answers = [found.labels[a] for a in found.counts()[words].indices]
    senses = {"a0": 1, "a1": 1, "a2": 2} | dict.fromkeys(outside, -1)
    numbers = np.array([senses.get(answer, 0) for answer in answers])
    pooled = PooledSenses(np.array([2]), np.arange(2), ((), ()), numbers)
    return np.stack(sense_shifts(PermutedUnits.of(found, words, pooled)))


def test_shifts_by_hand():
    a, b = norms([30, 10, 20, 40]), norms([10, 10, 60, 0])
    found = shifts({"a": a, "b": b})
    np.testing.assert_allclose(found[0], [20 / 80 - 40 / 100, 60 / 80 - 20 / 100])
    # The variance of a share with one degree less, for 100 and 80 responses.
    error = np.sqrt(0.4 * 0.6 / 99 + 0.25 * 0.75 / 79)
    t = 1.990450  # 97.5 % of Student's t with 79 degrees of freedom
    np.testing.assert_allclose(found[1:, 0], found[0, 0] + np.array([-1, 1]) * t * error, rtol=1e-5)


def test_answers_outside_the_atlas_are_not_counted_in_shifts():
    a, b = norms([30, 10, 20, 40, 7]), norms([10, 10, 60, 0, 90])
    inside = norms([30, 10, 20, 40]), norms([10, 10, 60, 0])
    np.testing.assert_allclose(
        shifts({"a": a, "b": b}, ["a4"]), shifts(dict(zip("ab", inside, strict=True)))
    )
    gone = shifts({"a": a, "b": norms([0, 0, 0, 0, 9])}, ["a4"])
    assert np.isnan(gone).all()


def test_shifts_of_people_with_two_answers_vary_more():
    """Participants whose two answers share a sense are half as many units as responses."""
    table = np.array([30, 30, 40])
    people = {}
    for name, counts in (("a", table), ("b", table[::-1])):
        given = np.repeat([[0, 1], [1, 0], [2, 3]], counts, axis=0)
        ids = [f"{name}{i}" for i in range(len(given))]
        cue = np.zeros(len(given), int)
        people[name] = Trials(
            ["cue"], ["a0", "a1", "a2", "a3"], cue, given, np.arange(len(given)), ids
        )
    of_people = shifts(people)
    responses = shifts({name: part.associations("keep", rows="keep")
                        for name, part in people.items()})  # fmt: skip
    np.testing.assert_allclose(of_people[0], responses[0])
    ratio = (of_people[2] - of_people[1])[0] / (responses[2] - responses[1])[0]
    assert ratio == pytest.approx(np.sqrt(2), rel=0.01)


def test_intervals_of_shifts_cover():
    rng = np.random.default_rng(3)
    covered = []
    for first, second in ((0.4, 0.6), (0.02, 0.2), (0.9, 0.95)):
        for _ in range(300):
            parts = {}
            for name, share in (("a", first), ("b", second)):
                shares = [share / 2, share / 2, (1 - share) / 2, (1 - share) / 2]
                parts[name] = norms(rng.multinomial(40, shares))
            _, low, high = shifts(parts)[:, 0]
            covered.append(low <= second - first <= high)
    assert 0.93 <= np.mean(covered) <= 0.985


def test_intervals_of_listed_words_have_the_level_of_their_selection():
    rng = np.random.default_rng(0)
    shares = rng.dirichlet(np.ones(6), 40)
    others = np.concatenate([shares[[1, 2, 3, 0]], shares[4:]])
    groups = {
        name: norms(*(rng.multinomial(60, row) for row in table))
        for name, table in (("a", shares), ("b", others))
    }
    found = compare(groups, n_permutations=999)
    n_listed = len(found.changed)
    assert 2 <= n_listed <= 6
    data = grouped_responses(groups)
    words = np.flatnonzero((data.totals() >= 10).all(axis=0))
    units = PermutedUnits.of(data, words, None)
    selected = 1 - 0.05 * n_listed / 40
    limits = {level: agreement_effects(units, 2, level)[1:] for level in (0.95, selected)}
    numbers = {data.labels[i]: w for w, i in enumerate(words.tolist())}
    for row in found.words.itertuples():
        level = 0.95 if row.change == "no change shown" else selected
        low, high = (ends[numbers[row.word]] for ends in limits[level])
        assert (row.effect_low, row.effect_high) == (low, high)


def test_order_and_listing_follow_the_lower_limit():
    rng = np.random.default_rng(2)
    shares = np.array([0.5, 0.3, 0.2, 0.0])
    others = np.array([[0.5, 0.3, 0.2, 0], [0.2, 0.3, 0.5, 0], [0, 0.1, 0.1, 0.8]])
    a = norms(*(rng.multinomial(400, shares) for _ in others), n_answers=4)
    b = norms(*(rng.multinomial(400, row) for row in others), n_answers=4)
    # Each answer has a map, and the words are in all maps.
    proportions = np.hstack([np.full((4, 3), 0.25), np.eye(4)])
    atlas = Atlas(a.labels, np.zeros((4, 7, 2)), proportions, MULTIPLE_MAPS_T_SNE)
    found = compare({"a": a, "b": b}, atlas=atlas, n_permutations=999)
    assert found.words["word"][:2].tolist() == ["word2", "word1"]
    assert found.words["change"][1] != "no change shown"
    limit = float(found.words["effect_low"][1])
    some = compare({"a": a, "b": b}, atlas=atlas, n_permutations=999, min_effect=limit + 0.01)
    assert some.changed["word"].tolist() == ["word2"]
    of_word1, of_some = (one.senses[one.senses["word"] == "word1"] for one in (found, some))
    assert set(of_word1["change"]) == {"", "grew", "shrank"}
    assert set(of_some["change"]) == {""}
    np.testing.assert_array_equal(some.words["q"], found.words["q"])
