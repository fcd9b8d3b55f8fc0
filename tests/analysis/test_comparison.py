"""Groups compared: planted differences found, none where there are none, and what is refused."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse, stats

import manymaps as mm
from manymaps import Associations, compare
from manymaps.data.trials import Trials
from manymaps.errors import DataError, ParameterError

SENSES, MEMBERS = 2, 4


def mixture(shares, n_words=12, odd=(), odd_shares=None):
    """Proportions of words with two senses of four cues each, which are tied among themselves."""
    n_cues = n_words + n_words * SENSES * MEMBERS
    table = np.zeros((n_cues, n_cues))
    for w in range(n_words):
        own = odd_shares if w in odd else shares
        for s in range(SENSES):
            members = n_words + (w * SENSES + s) * MEMBERS + np.arange(MEMBERS)
            table[w, members] = own[s] * np.array([0.4, 0.3, 0.2, 0.1])
            for i in members:
                table[i, members] = 0.3
                table[i, i], table[i, w] = 0.0, 0.1
    labels = [f"word{w}" for w in range(n_words)]
    labels += [f"w{w}s{s}m{m}" for w in range(n_words) for s in range(SENSES)
               for m in range(MEMBERS)]  # fmt: skip
    return Associations(labels, sparse.csr_array(table), n_responses=np.full(n_cues, 100))


def drawn(norms, seed):
    return mm.resampled(norms, seed)


@pytest.fixture(scope="module")
def planted():
    """Of twelve words one lost a sense, one gained one, one has other shares of both."""
    first = mixture([0.5, 0.5], odd=(0,), odd_shares=[0.97, 0.03])
    second = mixture([0.5, 0.5], odd=(1, 2), odd_shares=[0.97, 0.03])
    shifted = second.strengths.toarray()
    own = mixture([0.5, 0.5], odd=(2,), odd_shares=[0.8, 0.2]).strengths.toarray()
    shifted[2] = own[2]
    second = replace(second, strengths=sparse.csr_array(shifted))
    groups = {"young": drawn(first, 1), "old": drawn(second, 2)}
    return compare(groups, responses="keep")


def test_planted_changes_are_found_with_their_senses(planted):
    told = {planted.words[w] for w in np.flatnonzero(planted.changes != "no change shown")}
    assert told == {"word0", "word1", "word2"}
    change = dict(zip(planted.words, planted.changes, strict=True))
    assert change["word2"] == "senses shifted"
    assert "gained" in change["word0"]
    assert "lost" in change["word1"]
    senses = {sense.change: sense for sense in planted.senses_of("word0")}
    assert {member[:4] for member in senses["gained"].members} == {"w0s1"}
    assert senses["gained"].shares[0] < 0.05 < senses["gained"].shares[1]
    assert senses["gained"].q <= 0.05
    assert {answer[:4] for answer, _ in planted.answers("word0", "old")} == {"w0s1"}
    assert {planted.words[w] for w in planted.order[:3]} == told


def test_figures_are_those_of_the_counts(planted):
    w = planted.index("WORD1")
    counts = np.stack([table[[w]].toarray()[0] for table in planted.counts])
    shares = counts / counts.sum(axis=1, keepdims=True)
    middle = counts.sum(axis=0) / counts.sum()
    bits = stats.entropy(middle, base=2)
    bits -= (counts.sum(axis=1) / counts.sum()) @ stats.entropy(shares, base=2, axis=1)
    assert planted.divergence[w] == pytest.approx(bits)
    lengths = np.linalg.norm(counts, axis=1)
    assert planted.cosine[w] == pytest.approx(counts[0] @ counts[1] / lengths.prod())
    assert planted.n_responses[:, w].tolist() == [100, 100]
    members = planted.senses_of("word1", 99)[0].members
    own = [planted.vocabulary.index(member) for member in members]
    assert planted.senses_of("word1")[0].shares == pytest.approx(shares[:, own].sum(axis=1))
    assert 0 < planted.by_chance[w] < planted.divergence[w]


def test_words_and_senses_are_one_family_of_tests(planted):
    tests = np.concatenate([planted.p, planted.senses.p])
    together = np.concatenate([planted.q, planted.senses.q])
    np.testing.assert_allclose(together, stats.false_discovery_control(tests))
    np.testing.assert_array_equal(planted.changes != "no change shown", planted.least_q <= 0.05)


def test_senses_do_not_bring_a_false_discovery_rate_of_their_own():
    """Without differences a word is shown for any of its tests, so all share one rate.

    Two families at 0.3 show something in 0.44 of 600 such pairs, one family in 0.24.
    """
    norms = mixture([0.6, 0.4], n_words=4)
    norms = replace(norms, n_responses=np.where(np.arange(norms.n_objects) < 4, 100, 9))
    shown = []
    for seed in range(150):
        groups = {"a": drawn(norms, 2 * seed), "b": drawn(norms, 2 * seed + 1)}
        found = compare(groups, responses="keep", alpha=0.3, n_permutations=999, random_state=seed)
        shown.append(bool((found.changes != "no change shown").any()))
    assert stats.binom.sf(sum(shown) - 1, len(shown), 0.3) > 0.01


def test_tables_have_a_row_for_each_word_and_sense(planted):
    table = planted.to_frame("pandas")
    assert list(table.columns) == [
        "word", "change", "effect", "effect_low", "effect_high", "n_young", "n_old", "divergence",
        "by_chance", "p", "q", "least_q", "cosine", "n_senses", "more_young", "more_old",
    ]  # fmt: skip
    own = [min([found.q, *(sense.q for sense in senses)]) for found, senses in (
        (row, planted.senses_of(row.word)) for row in table.itertuples()
    )]  # fmt: skip
    np.testing.assert_array_equal(table["least_q"], own)
    assert len(table) == len(planted.words)
    assert set(table["word"][:3]) == {"word0", "word1", "word2"}
    row = table[table["word"] == "word0"].iloc[0]
    assert row["more_old"].startswith("w0s1")
    assert row["n_senses"] == len(planted.senses_of("word0"))
    senses = planted.sense_frame("pandas")
    assert list(senses.columns) == [
        "word", "sense", "change", "share_young", "share_old", "shift", "shift_low", "shift_high",
        "p", "q", "members",
    ]  # fmt: skip
    assert (senses.groupby("word")["sense"].max() + 1).sum() == len(senses)


def test_without_a_difference_p_values_are_even():
    norms = mixture([0.6, 0.4], n_words=30)
    found = [compare({"a": drawn(norms, s), "b": drawn(norms, s + 100)}, responses="keep",
                     n_permutations=999, random_state=s) for s in range(4)]  # fmt: skip
    p, senses = (np.concatenate([part.p for part in parts])
                 for parts in (found, [one.senses for one in found]))  # fmt: skip
    for level in (0.01, 0.05, 0.2):
        for values in (p, senses):
            assert stats.binom.sf((values <= level).sum() - 1, len(values), level) > 1e-3
    # Of few different answers p-values are coarse, and so too large rather than too small.
    assert (p <= 0.2).mean() > 0.14
    assert sum(int(one.changed.sum()) for one in found) <= 1


def people_who_think_of_one_sense(seed, n_people=40, n_cues=20):
    """Trials in which the answers of a person are those of one sense, in either of two groups.

    A few trials whose cues are the answers tie those of a sense together.
    """
    rng = np.random.default_rng(seed)
    senses = np.arange(n_cues * 2 * 3).reshape(n_cues, 2, 3)
    rows = [(c, senses[c, rng.integers(2)], p) for c in range(n_cues) for p in range(n_people)]
    for sense in senses.reshape(-1, 3):
        for k in range(3):
            others = [*np.delete(sense, k), -1]
            rows += [(n_cues + sense[k], others, p) for p in range(4)]
    cue, given, person = (np.array(part) for part in zip(*rows, strict=True))
    answers = [f"a{a}" for a in range(senses.size)]
    group = np.where(person % 2, "b", "a").astype(object)
    cues = [*(f"c{c}" for c in range(n_cues)), *answers]
    people = [f"p{i}" for i in range(n_people)]
    return Trials(cues, answers, cue, given, person, people, {"group": group})


def test_people_are_dealt_with_all_their_answers():
    small, of_answers, n = 0, 0, 0
    for seed in range(3):
        parts = people_who_think_of_one_sense(seed).groups("group")
        found = compare(parts, n_permutations=999)
        assert (found.units, found.n_units[0, 0], found.n_responses[0, 0]) == (
            "participants", 20, 60
        )  # fmt: skip
        small += (found.senses.p <= 0.05).sum()
        n += len(found.senses.p)
        norms = {name: part.associations() for name, part in parts.items()}
        of_answers += (compare(norms, n_permutations=999).senses.p <= 0.05).sum()
    # Of 120 senses without a difference 6 are expected, and of answers dealt alone some 30.
    assert n == 120
    assert small <= 14
    assert of_answers >= 20


def people_asked_twice(seed, shift, n_people=40, n_cues=60, n_shifted=20):
    """Two sittings of the same people, who each think of the same as before, mostly."""
    rng = np.random.default_rng(seed)
    habit = np.where(rng.random((n_people, n_cues)) < 0.5, 0.85, 0.15)
    cue, person = np.tile(np.arange(n_cues), n_people), np.repeat(np.arange(n_people), n_cues)
    sittings = {}
    for name, more in (("before", 0.0), ("after", shift)):
        chance = np.clip(habit + more * (np.arange(n_cues) < n_shifted), 0, 1)
        given = (rng.random(chance.shape) < chance).astype(int).reshape(-1, 1)
        people, cues = [f"p{i}" for i in range(n_people)], [f"c{c}" for c in range(n_cues)]
        sittings[name] = Trials(cues, ["x", "y"], cue, given, person, people)
    return sittings


def test_people_asked_twice_are_compared_with_themselves():
    small = {"paired": np.zeros(2), "distinct": np.zeros(2)}
    for seed in range(3):
        for kind, counts in small.items():
            found = compare(people_asked_twice(seed, 0.3), responses="keep", shared_people=kind,
                            n_permutations=999)  # fmt: skip
            shifted = np.array([int(word[1:]) < 20 for word in found.words])
            counts += [(found.p[own] <= 0.05).sum() for own in (shifted, ~shifted)]
    # Of 60 shifted words more are seen, and of the 120 others no more than 6 are expected.
    assert small["paired"][0] > 1.3 * small["distinct"][0]
    assert small["paired"][1] <= 12


def test_three_groups_vary():
    norms = mixture([0.5, 0.5], n_words=6)
    other = mixture([0.5, 0.5], n_words=6, odd=(3,), odd_shares=[0.95, 0.05])
    groups = {"a": drawn(norms, 0), "b": drawn(norms, 1), "c": drawn(other, 2)}
    found = compare(groups, responses="keep")
    assert found.words[found.order[0]] == "word3"
    assert {sense.change for sense in found.senses_of("word3")} == {"varies"}
    assert len(found.senses_of("word3")[0].shares) == 3
    assert repr(found).startswith("<Comparison of a, b, c:")


def test_a_group_of_few_is_named_where_it_keeps_words_from_being_tested():
    norms = mixture([0.5, 0.5], n_words=6)
    few = replace(norms, n_responses=np.where(np.arange(norms.n_objects) < 2, 40, 4))
    groups = {"a": drawn(norms, 0), "b": drawn(norms, 1), "few": few}
    found = compare(groups, responses="keep")
    assert "are not tested; without the group 'few', 54 could be tested" in " ".join(found.notes)
    with pytest.raises(DataError, match="'few'"):
        compare(groups, responses="keep", min_responses=50)
    two = compare({name: groups[name] for name in ("a", "few")}, responses="keep")
    assert "without" not in " ".join(two.notes)


def test_what_another_group_was_asked_costs_nobody_answers():
    """A cue of the first group alone is an answer in both, and keeps its place in the senses."""
    first, second = (norms.strengths.toarray() * 100 for norms in [mixture([0.5, 0.5], 4)] * 2)
    second[[4, 5]] = 0  # members of the first sense of word0, who were not asked there
    labels = mixture([0.5, 0.5], 4).labels
    second[0, 4] += 2
    parts = {
        name: Associations(labels, sparse.csr_array(np.rint(table)))
        for name, table in (("a", first), ("b", second))
    }
    found = compare(parts)
    assert not found.changed.any()
    assert "w0s0m0" in found.senses_of("word0")[0].members + found.senses_of("word0")[1].members
    assert "w0s0m0" not in found.words
    assert "2 of 36 cues are not common to all groups" in " ".join(found.notes)


@pytest.fixture(scope="module")
def fitted():
    """Two halves of some words of the word relations, of which one changed its associates."""
    whole = mm.load_word_relations()
    near = np.flatnonzero(np.arange(whole.n_objects) < 300)
    norms = mm.associations_from(
        whole.strengths[near][:, near], labels=[whole.labels[i] for i in near]
    )
    swapped = norms.strengths.tolil()
    rich = np.array([norms.index(word) for word in ("adjustment", "assist")])
    swapped[rich] = norms.strengths[rich[::-1]].tolil()
    swapped.setdiag(0)
    other = replace(norms, strengths=sparse.csr_array(swapped))
    groups = {"young": drawn(norms, 1), "old": drawn(other, 2)}
    estimator = mm.MultipleMapsTSNE(4, max_iter=150, random_state=0)
    found = compare(groups, estimator)
    assert not hasattr(estimator, "atlas_")
    return found, [norms.labels[i] for i in rich]


def test_fits_start_from_one_and_carry_what_was_found(fitted):
    found, swapped = fitted
    young, old = found.atlases()
    assert young.n_maps == old.n_maps == 4
    told = {"change", "effect", "excess", "q", "least_q", "neighbors_kept", "relocated"}
    assert set(young.metadata) == told
    assert np.isnan(young.metadata["q"]).sum() == len(set(young.labels) - set(found.words))
    assert (young.metadata["change"] == "").sum() >= young.n_objects - 4
    table = found.to_frame("pandas").set_index("word")
    for word in swapped:
        assert young.metadata["change"][young.index(word)] == found.changes[found.index(word)]
        assert old.metadata["change"][old.index(word)] not in ("", "no change shown")
        q = found.q[found.index(word)]
        assert old.metadata["q"][old.index(word)] == pytest.approx(q, rel=0.01)
        assert q <= 0.05
        assert table.loc[word, "neighbors_kept"] < table["neighbors_kept"].quantile(0.05)
        assert table.loc[word, "displaced"] > table["displaced"].quantile(0.95)
    moved = table[["neighbors_kept", "relocated"]].dropna().to_numpy()
    assert ((moved >= 0) & (moved <= 1)).all()
    # What the maps share is where they begin: other words hardly move.
    assert table["relocated"].median() < 0.3
    assert table["displaced"].median() < 0.3


def test_what_cannot_be_compared_is_refused():
    norms = mixture([0.5, 0.5], 4)
    other = replace(norms, labels=[f"x{label}" for label in norms.labels])
    with pytest.raises(DataError, match=r"'a'.*'word0'"):
        compare({"a": norms, "b": other})
    upper = replace(norms, labels=[label.upper() for label in norms.labels])
    with pytest.raises(DataError, match="fold=True"):
        compare({"a": norms, "b": upper})
    few = replace(norms, n_responses=np.full(norms.n_objects, 8))
    with pytest.raises(DataError):
        compare({"a": norms, "b": few})
    with pytest.raises(DataError, match=r"'a'.*'b'"):
        compare({"a": norms, "b": norms})
    for name, value in (
        ("alpha", 1.0), ("min_share", 2), ("n_permutations", 3),
        ("min_responses", 0), ("min_effect", 1.0),
    ):  # fmt: skip
        with pytest.raises(ParameterError, match=name):
            compare({"a": norms, "b": few}, **{name: value})
    with pytest.raises(mm.UnknownLabelError):
        compare({"a": norms, "b": drawn(norms, 0)}).index("nobody")
