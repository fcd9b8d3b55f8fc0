"""Groups compared: planted differences found, none where there are none, and what is refused."""

import re
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse, stats

import manymaps as mm
from manymaps import Associations, compare
from manymaps.data.trials import Trials
from manymaps.errors import DataError, ParameterError
from manymaps.model import MULTIPLE_MAPS_T_SNE

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


def maps_of_senses(labels):
    """Two maps: each word is in both, its associates of a sense only in the map of the sense."""
    x, proportions = np.zeros(len(labels)), np.full((2, len(labels)), 0.5)
    for i, label in enumerate(labels):
        word, sense = re.match(r"\D+(\d+)(?:s(\d))?", label).groups()
        x[i] = 20 * int(word) + (sense is not None) * (i % MEMBERS) / 4
        if sense is not None:
            proportions[:, i] = np.arange(2) == int(sense)
    maps = np.stack([np.stack([x, x], axis=1)] * 2)
    return mm.Atlas(labels, maps, proportions, MULTIPLE_MAPS_T_SNE)


def senses_of(found, word):
    """The senses of a word as records, with the shares in all groups as one tuple."""
    rows = found.senses[found.senses["word"] == word].to_dict("records")
    return [
        SimpleNamespace(
            **row | {"members": tuple(row["members"].split("; "))},
            shares=tuple(row[f"share_{name}"] for name in found.groups),
        )
        for row in rows
    ]


def of_word(found, word):
    return found.words.iloc[found.index(word)]


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
    return compare(groups, atlas=maps_of_senses(first.labels))


def test_planted_changes_are_found_with_their_senses(planted):
    told = set(planted.changed["word"])
    assert told == {"word0", "word1", "word2"}
    change = dict(zip(planted.words["word"], planted.words["change"], strict=True))
    assert change["word2"] == "senses shifted"
    assert "gained" in change["word0"]
    assert "lost" in change["word1"]
    senses = {sense.change: sense for sense in senses_of(planted, "word0")}
    assert {member[:4] for member in senses["gained"].members} == {"w0s1"}
    assert (senses["gained"].map, senses["shrank"].map) == (1, 0)
    assert senses["gained"].shares[0] < 0.05 < senses["gained"].shares[1]
    assert senses["gained"].q <= 0.05
    assert {answer[:4] for answer, _ in planted.answers("word0", "old")} == {"w0s1"}
    assert set(planted.words["word"][:3]) == told
    row = of_word(planted, "word0")
    assert row["more_old"].startswith("w0s1")
    assert row["n_senses"] == len(senses_of(planted, "word0"))


def test_figures_are_those_of_the_counts(planted):
    w = planted.index("WORD1")
    counts = np.stack([table[[w]].toarray()[0] for table in planted.counts])
    shares = counts / counts.sum(axis=1, keepdims=True)
    middle = counts.sum(axis=0) / counts.sum()
    bits = stats.entropy(middle, base=2)
    bits -= (counts.sum(axis=1) / counts.sum()) @ stats.entropy(shares, base=2, axis=1)
    row = planted.words.iloc[w]
    assert row["divergence"] == pytest.approx(bits)
    assert row[["n_young", "n_old"]].tolist() == [100, 100]
    for sense in senses_of(planted, "word1"):
        own = [label.startswith(f"w1s{sense.map}") for label in planted.vocabulary]
        assert sense.shares == pytest.approx(shares[:, own].sum(axis=1))
        assert sense.members == tuple(f"w1s{sense.map}m{m}" for m in range(4))
    assert 0 < row["by_chance"] < row["divergence"]


def test_words_and_senses_are_one_family_of_tests(planted):
    tests = np.concatenate([planted.words.p, planted.senses.p])
    together = np.concatenate([planted.words.q, planted.senses.q])
    np.testing.assert_allclose(together, stats.false_discovery_control(tests))
    least = [
        min([row.q, *(sense.q for sense in senses_of(planted, row.word))])
        for row in planted.words.itertuples()
    ]
    np.testing.assert_array_equal(planted.words["least_q"], least)
    is_changed = planted.words["change"] != "no change shown"
    np.testing.assert_array_equal(is_changed, planted.words["least_q"] <= 0.05)


def test_senses_do_not_bring_a_false_discovery_rate_of_their_own():
    """Without differences a word is shown for any of its tests, so all share one rate.

    Two families at 0.3 show something in 0.44 of 600 such pairs, one family in 0.24.
    """
    norms = mixture([0.6, 0.4], n_words=4)
    norms = replace(norms, n_responses=np.where(np.arange(norms.n_objects) < 4, 100, 9))
    shown, atlas = [], maps_of_senses(norms.labels)
    for seed in range(60):
        groups = {"a": drawn(norms, 2 * seed), "b": drawn(norms, 2 * seed + 1)}
        found = compare(groups, atlas=atlas, alpha=0.3, n_permutations=999, random_state=seed)
        shown.append(not found.changed.empty)
    assert stats.binom.sf(sum(shown) - 1, len(shown), 0.3) > 0.01


def test_without_a_difference_p_values_are_even():
    """Some responses are outside the atlas, so groups differ in how many are inside."""
    norms = mixture([0.6, 0.4], n_words=30)
    inside = [i for i, label in enumerate(norms.labels) if not label.endswith("m1")]
    atlas = maps_of_senses(norms.labels).subset(inside)
    found = [compare({"a": drawn(norms, s), "b": drawn(norms, s + 100)}, atlas=atlas,
                     n_permutations=999, random_state=s) for s in range(4)]  # fmt: skip
    for one in found:
        is_planted = one.words["word"].str.startswith("word")
        assert 30 < one.words["outside"][is_planted].mean() < 90
    p = np.concatenate([one.words["p"] for one in found])
    senses = np.concatenate([one.senses["p"] for one in found])
    for level in (0.01, 0.05, 0.2):
        for values in (p, senses):
            assert stats.binom.sf((values <= level).sum() - 1, len(values), level) > 1e-3
    # Of few different answers p-values are coarse, and so too large rather than too small.
    assert (p <= 0.2).mean() > 0.14
    assert sum((one.words["q"] <= 0.05).sum() for one in found) <= 1


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


def maps_of_people():
    """Two maps with the cues and the answers of one sense each."""
    cues = [f"c{c}" for c in range(20)]
    answers = [f"a{a}" for a in range(120)]
    near = maps_of_senses([*cues, *(f"c{a // 6}s{a // 3 % 2}m{a % 3}" for a in range(120))])
    return replace(near, labels=[*cues, *answers])


def test_people_are_dealt_with_all_their_answers():
    small, of_answers, n, atlas = 0, 0, 0, maps_of_people()
    for seed in range(3):
        parts = people_who_think_of_one_sense(seed).groups("group")
        found = compare(parts, atlas=atlas, n_permutations=999)
        first = of_word(found, "c0")
        assert (found.units, first["units_a"], first["n_a"]) == ("participants", 20, 60)
        small += (found.senses.p <= 0.05).sum()
        n += len(found.senses.p)
        norms = {name: part.associations() for name, part in parts.items()}
        alone = compare(norms, atlas=atlas, n_permutations=999)
        of_answers += (alone.senses.p <= 0.05).sum()
    # Of 120 senses without a difference 6 are expected, and of answers dealt alone some 30.
    assert n == 120
    assert small <= 14
    assert of_answers >= 20
    # The same people in both groups count as different people.
    sittings = {
        "before": people_who_think_of_one_sense(0),
        "after": people_who_think_of_one_sense(1),
    }
    found = compare(sittings, atlas=atlas, n_permutations=99)
    assert of_word(found, "c0")["units_before"] == 40
    assert "count as different participants" in found.notes[0]


def test_three_groups_vary():
    norms = mixture([0.5, 0.5], n_words=6)
    other = mixture([0.5, 0.5], n_words=6, odd=(3,), odd_shares=[0.95, 0.05])
    groups = {"a": drawn(norms, 0), "b": drawn(norms, 1), "c": drawn(other, 2)}
    found = compare(groups, atlas=maps_of_senses(norms.labels))
    assert found.words["word"][0] == "word3"
    assert {sense.change for sense in senses_of(found, "word3")} == {"varies"}
    assert len(senses_of(found, "word3")[0].shares) == 3


def test_words_with_few_responses_in_a_group_are_not_tested():
    norms = mixture([0.5, 0.5], n_words=6)
    few = replace(norms, n_responses=np.where(np.arange(norms.n_objects) < 2, 40, 4))
    groups = {"a": drawn(norms, 0), "few": few}
    found = compare(groups, responses="keep")
    assert sorted(found.words["word"]) == ["word0", "word1"]
    assert "52 of 54 cues have fewer than 10 responses" in " ".join(found.notes)
    with pytest.raises(DataError):
        compare(groups, responses="keep", min_responses=50)


def test_a_sense_is_tested_among_the_answers_in_the_atlas():
    """Counted one by one: an answer outside the atlas, one of a map that is no sense, and others.

    Only the members of word1's sense 0 and of word0's two senses are objects. The atlas has upper
    case, in which labels are matched.
    """
    norms = mixture([0.5, 0.5], 4)
    labels = [label for label in norms.labels
              if label in ("word0", "word1") or label.startswith(("w0", "w1s0"))]  # fmt: skip
    labels.remove("w0s0m0")
    atlas = maps_of_senses(labels)
    atlas = replace(atlas, labels=[label.upper() for label in labels])
    found = compare({"a": drawn(norms, 1), "b": drawn(norms, 2)}, atlas=atlas)
    senses = {word: senses_of(found, word) for word in ("word0", "word1", "word2")}
    assert {sense.map for sense in senses["word0"]} == {0, 1}
    assert [sense.map for sense in senses["word1"]] == [0]
    assert senses["word2"] == []
    assert senses["word1"][0].shares == (1, 1)
    assert senses["word1"][0].p == 1
    assert set(senses["word0"][0].members) <= set(atlas.labels)
    given = np.stack([table[[found.index("word0")]].toarray()[0] for table in found.counts])
    inside = np.array([label.upper() in atlas.labels for label in found.vocabulary])
    for sense in senses["word0"]:
        own = inside & [label.startswith(f"w0s{sense.map}") for label in found.vocabulary]
        expected = given[:, own].sum(axis=1) / given[:, inside].sum(axis=1)
        assert sense.shares == pytest.approx(expected)
        assert sense.shift == pytest.approx(expected[1] - expected[0])
    assert of_word(found, "word0")["outside"] == given[:, ~inside].sum()
    assert of_word(found, "word2")["outside"] == 200
    assert "outside the atlas, and are left out of the shares of senses" in found.notes[-1]


def test_words_are_tested_alike_with_and_without_an_atlas():
    norms = mixture([0.5, 0.5], 4)
    groups = {"a": drawn(norms, 1), "b": drawn(norms, 2)}
    words, senses = compare(groups), compare(groups, atlas=maps_of_senses(norms.labels))
    one, other = (found.words.sort_values("word") for found in (words, senses))
    for name in ("divergence", "by_chance", "effect"):
        np.testing.assert_array_equal(one[name], other[name])
    assert senses_of(words, "word0") == []
    assert words.senses.empty
    assert not {"outside", "n_senses"} & set(words.words)


def test_words_with_one_response_or_none_in_common():
    table = np.zeros((6, 6))
    table[0, 1:4] = 20, 12, 8
    table[1, 0] = table[4, 3] = 40
    other = table.copy()
    other[1] = [10, 0, 30, 0, 0, 0]
    groups = {name: Associations("abcdef", sparse.csr_array(counts))
              for name, counts in (("young", table), ("old", other))}  # fmt: skip
    atlas = mm.Atlas("abcdef", np.zeros((1, 6, 2)), np.ones((1, 6)), MULTIPLE_MAPS_T_SNE)
    found = compare(groups, atlas=atlas)
    assert sorted(found.words["word"]) == ["a", "b", "e"]
    # Only one response was possible, so the effect of the word is exactly 0.
    assert of_word(found, "e")[["effect", "change"]].tolist() == [0, "no change shown"]
    assert of_word(found, "b")["change"] == "changed"
    assert [sense.members for sense in senses_of(found, "e")] == [("d",)]
    assert senses_of(found, "b")[0].shares == (1, 1)


def test_senses_do_not_depend_on_how_answers_are_dealt():
    """The pooled answers are the same, and so are the senses, their maps and their members."""
    norms = mixture([0.6, 0.4], 4)
    a, b = drawn(norms, 1), drawn(norms, 2)
    atlas = maps_of_senses(norms.labels)
    one, other = compare({"a": a, "b": b}, atlas=atlas), compare({"a": b, "b": a}, atlas=atlas)
    one, other = (found.senses.sort_values(["word", "map"]) for found in (one, other))
    assert one[["word", "map", "members"]].to_numpy().tolist() == (
        other[["word", "map", "members"]].to_numpy().tolist()
    )
    np.testing.assert_allclose(one[["share_a", "share_b"]], other[["share_b", "share_a"]])
    np.testing.assert_allclose(one["shift"], -other["shift"])


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


def test_the_atlas_of_all_groups_has_the_results_as_columns(fitted):
    found, swapped = fitted
    # The senses are those of the pooled atlas, by its own associations.
    pooled, word = found.atlas, found.words["word"][found.words["n_senses"].idxmax()]
    own = {sense.map: sense.name for sense in pooled.senses(word)}
    assert {sense.map: sense.members[:3] for sense in senses_of(found, word)} == own
    atlas = found.attach()
    assert set(atlas.metadata) == {"change", "effect", "q"}
    untested = [i for i, label in enumerate(atlas.labels) if label not in set(found.words["word"])]
    assert np.flatnonzero(np.isnan(atlas.metadata["q"])).tolist() == untested
    assert np.flatnonzero(atlas.metadata["change"] == "not tested").tolist() == untested
    assert (atlas.metadata["change"] == "no change shown").sum() >= len(found.words) - 4
    for word in swapped:
        i, row = atlas.index(word), of_word(found, word)
        assert atlas.metadata["change"][i] == row["change"] != "no change shown"
        assert atlas.metadata["q"][i] == pytest.approx(row["least_q"], rel=0.01)
        assert atlas.metadata["effect"][i] == pytest.approx(row["effect"], rel=0.01)


NORMS = mixture([0.5, 0.5], 4)
BOTH = {"a": NORMS, "b": drawn(NORMS, 0)}
OTHERS = replace(NORMS, labels=[f"x{label}" for label in NORMS.labels])
UPPER = replace(NORMS, labels=[label.upper() for label in NORMS.labels])
FEW = replace(NORMS, n_responses=np.full(NORMS.n_objects, 8))
ATLAS = maps_of_senses(NORMS.labels)
STRANGE = replace(ATLAS, labels=[f"x{i}" for i in range(ATLAS.n_objects)])
REFUSALS = [
    *((lambda other=other: compare({"a": NORMS, "b": other}), DataError)
      for other in (OTHERS, UPPER, FEW, NORMS)),
    (lambda: compare(BOTH, atlas=STRANGE), DataError),
    *((lambda option=option: compare(BOTH, **option), ParameterError)
      for option in ({"alpha": 1.0}, {"n_permutations": 3}, {"min_responses": 0},
                     {"min_effect": 1.0})),
    (lambda: compare(BOTH, mm.MultipleMapsTSNE(2), ATLAS), ParameterError),
    (lambda: compare(BOTH).index("nobody"), mm.UnknownLabelError),
    (lambda: compare(BOTH).attach(), ParameterError),
]  # fmt: skip


@pytest.mark.parametrize(("call", "error"), REFUSALS)
def test_refusals(call, error):
    with pytest.raises(error):
        call()
