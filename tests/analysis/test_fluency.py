"""Networks of fluency lists (SNAFU, a slow reference, known categories), and their cleaning."""

import hashlib
from dataclasses import replace
from itertools import pairwise
from math import comb

import numpy as np
import pytest
from scipy import sparse

from manymaps import (
    Associations,
    CleanedLists,
    DataError,
    MultipleMapsTSNE,
    ParameterError,
    Trials,
    clean_fluency,
    compare,
    fluency_network,
    fluency_trials,
    intervals,
    network_statistics,
    resampled,
)
from manymaps.data.associations import ReadReport
from manymaps.datasets import make_fluency_lists


def lists_of(*lists, cues=("animals",), **more):
    """Return fluency lists from texts of words."""
    rows = [text.split(",") for text in lists]
    words = list(dict.fromkeys(word for row in rows for word in row))
    given = np.full((len(rows), max(map(len, rows))), -1)
    for k, row in enumerate(rows):
        given[k, : len(row)] = [words.index(word) for word in row]
    people = [f"p{k}" for k in range(len(rows))]
    return Trials(cues, words, [0] * len(rows), given, np.arange(len(rows)), people, **more)


def links(network):
    """Return the linked pairs of words with their strengths."""
    cells = network.strengths.tocoo()
    return {
        tuple(sorted((network.labels[i], network.labels[j]))): value
        for i, j, value in zip(cells.row, cells.col, cells.data, strict=True)
    }


@pytest.fixture(scope="module")
def generated():
    return make_fluency_lists(60, 8, 8, n_shared=6, length=18, random_state=7).lists


# SNAFU 2.1.2 (pysnafu on PyPI), communityNetwork, naiveRandomWalk and smallworld, on these lists
# written as its CSV. The digest is that of all links, so that each link is the same. SemNeT's CN
# and NRW find the same numbers of links at alpha 0.05: 103, 120 and 529.
@pytest.mark.parametrize(
    ("settings", "n_links", "digest", "statistics"),
    [
        ({}, 120, "ebfed4825028f7f7", (0.333333, 4.288462, 40, 2.994068)),
        ({"window": 3, "alpha": 0.01}, 75, "6ad72e18f759107c", (0.2, 2.745455, 11, 1.128853)),
        ({"window": 1}, 103, "eaab4dc9275bbe89", (0.198413, 4.757259, 42, 2.113742)),
        ({"alpha": 1, "min_lists": 1}, 940, "624ea5b5dd4316ed", (0.533651, 1.613665, 70, 1.112888)),
        ({"network": "walk"}, 529, "8cf6b03d0ffe2cc8", None),
    ],
)
def test_networks_and_statistics_are_those_of_snafu(
    generated, settings, n_links, digest, statistics
):
    network = fluency_network(generated, **settings)
    text = "\n".join(" ".join(pair) for pair in sorted(links(network)))
    assert hashlib.sha256(text.encode()).hexdigest()[:16] == digest
    found = network_statistics(network)
    assert found["n_links"] == n_links
    if statistics is not None:
        names = ("clustering", "path_length", "n_connected", "small_worldness")
        assert [found[name] for name in names] == pytest.approx(statistics, abs=1e-6)


def test_window_links_are_those_of_the_formula_by_hand(generated):
    lists = [[w for w in row if w >= 0] for row in generated.given.tolist()]
    window, alpha, n = 3, 0.05, len(lists)
    length = np.mean([len(row) for row in lists])
    close = 2 / (length * (length - 1)) * (window * length - window * (window + 1) / 2)
    expected = {}
    for i, one in enumerate(generated.answers):
        for j in range(i):
            both = [row for row in lists if i in row and j in row]
            k = sum(abs(row.index(i) - row.index(j)) <= window for row in both)
            rates = [sum(word in row for row in lists) / n for word in (i, j)]
            p = close * rates[0] * rates[1]
            tail = sum(comb(n, m) * p**m * (1 - p) ** (n - m) for m in range(k, n + 1))
            if k >= 2 and tail < alpha / 2:
                expected[tuple(sorted((one, generated.answers[j])))] = k
    assert links(fluency_network(generated, window=window, rows="keep")) == expected


def test_a_window_beyond_the_list_contains_all_other_words(generated):
    short = replace(generated, given=generated.given[:, :4])
    last, beyond = (links(fluency_network(short, window=w, alpha=0.5)) for w in (3, 9))
    assert last == beyond


def test_statistics_of_two_triangles_joined_by_a_link():
    lists = lists_of("cat,dog,cow,cat", "cow,emu", "emu,ant,fly", "fly,emu", "cow,cat", "pig,hen")
    found = network_statistics(fluency_network(lists, "walk"))
    assert (found["n_words"], found["n_links"], found["n_connected"]) == (8, 8, 6)
    assert (found["mean_degree"], found["n_communities"]) == (14 / 6, 2)
    assert found["modularity"] == pytest.approx(2 * (3 / 7 - 1 / 4))


# The sums of SemNeT's functions `cosine` and `similarity(method = "cor")`, after `resp2bin` and
# `finalize`, on these lists with one list per row (R 4.2.2, AlexChristensen/SemNeT).
@pytest.mark.parametrize(
    ("name", "n_links", "total"),
    [("pearson", 956, 140.6755154928), ("cosine", 2126, 551.4818990317)],
)
def test_presence_is_that_of_semnet(generated, name, n_links, total):
    strengths = fluency_network(generated, name, rows="keep").strengths
    assert np.count_nonzero(strengths.data > 1e-12) == 2 * n_links
    assert strengths.sum() / 2 == pytest.approx(total, rel=1e-10)


def test_presence_is_correlated_over_lists(generated):
    present = np.zeros((generated.n_trials, len(generated.answers)))
    for k, row in enumerate(generated.given):
        present[k, row[row >= 0]] = 1
    norms = np.linalg.norm(present, axis=0)
    tables = {
        "pearson": np.corrcoef(present.T),
        "cosine": present.T @ present / np.outer(norms, norms),
    }
    for name, table in tables.items():
        found = links(fluency_network(generated, name, rows="keep", min_lists=1))
        assert found == {
            tuple(sorted((one, generated.answers[j]))): pytest.approx(table[i, j])
            for i, one in enumerate(generated.answers)
            for j in range(i)
            if table[i, j] > 1e-12
        }


def test_words_of_few_lists_and_repetitions_do_not_count():
    lists = lists_of("cat,dog,cat,cow", "dog,cat,emu", "cow,ant,cat")
    assert links(fluency_network(lists, "walk", rows="keep")) == {
        ("cat", "dog"): 2, ("cow", "dog"): 1, ("cat", "emu"): 1, ("ant", "cow"): 1,
        ("ant", "cat"): 1,
    }  # fmt: skip
    assert set(fluency_network(lists, "cosine").labels) == {"cat", "dog", "cow"}
    # "cat" is in all lists and has no correlation.
    assert (
        "cat"
        not in fluency_network(lists_of("cat,dog,cow", "cat,dog,cow", "cat"), "pearson").labels
    )


def test_neighbours_are_trials_of_the_participants():
    lists = lists_of("cat,dog,cow", "emu,cat", columns={"group": np.array(["old", "young"])})
    trials = fluency_trials(lists, window=1)
    answers = [(trials.participants[p], trials.cues[c], trials.answers[a]) for p, c, a in
               zip(trials.participant, trials.cue, trials.given[:, 0], strict=True)]  # fmt: skip
    pairs = [(who, *pair) for who, row in (("p0", "cat dog cow"), ("p1", "emu cat"))
             for pair in pairwise(row.split())]  # fmt: skip
    assert sorted(answers) == sorted(pairs + [(who, two, one) for who, one, two in pairs])
    assert trials.groups("group")["young"].n_trials == 2
    assert intervals(trials).unit == "participants"
    assert resampled(trials, 0).n_participants == 2
    assert resampled(lists, 0).n_trials == 2


def test_groups_that_list_words_in_another_order_differ():
    old = lists_of(*["cat,dog,emu,cow"] * 12)
    young = lists_of(*["cat,cow,dog,emu"] * 12)
    groups = {"old": fluency_trials(old, 1), "young": fluency_trials(young, 1)}
    found = compare(groups, shared_people="distinct", n_permutations=999)
    assert {word for word, changed in zip(found.words, found.changed, strict=True) if changed} == {
        "cat", "dog", "emu", "cow"
    }  # fmt: skip


def purity(lists, memberships):
    """Return the share of each word's five nearest words that are in one of its categories."""
    network = fluency_network(lists, alpha=1)
    atlas = MultipleMapsTSNE(n_maps=3, max_iter=150, random_state=0).fit(network).atlas_
    same = memberships.astype(int) @ memberships.T > 0
    places = np.array([lists.answers.index(label) for label in atlas.labels])
    near = atlas.choices.strongest(np.arange(len(places)), 5)
    return same[places[:, None], places[near]].mean(), same[places]


def test_maps_of_a_network_recover_the_categories():
    data = make_fluency_lists(50, 5, 8, n_shared=4, length=16, random_state=0)
    recovered, same = purity(data.lists, data.memberships)
    # The most frequent words, used as the neighbours of all words.
    frequent = np.bincount(data.lists.given[data.lists.given >= 0]).argsort()[::-1][:5]
    by_frequency = same[:, frequent].mean()
    # The same words in random lists, each with the same length and without repetitions.
    rng = np.random.default_rng(0)
    mixed = rng.permutation(data.lists.given.ravel()).reshape(data.lists.given.shape)
    shuffled = Trials(data.lists.cues, data.lists.answers, data.lists.cue, mixed)
    assert recovered > 0.8
    assert by_frequency < 0.4
    assert purity(shuffled, data.memberships)[0] < 0.4


def test_cleaning_lists_everything_that_it_changes():
    lists = lists_of(
        "cat,girafe,Cat,cat,?",
        "polar bear,dogs,goat,dog,foxes",
        "cat",
        "n/a",
        "polarbear,fox,cat,emu,dogs",
        report=ReadReport("lists.csv", 19, 0, {"no answer": 1}),
    )
    accepted = ["Cat", "dog", "dogs", "fox", "foxes", "polar bear", "giraffe", "emu", "boat"]
    cleaned = clean_fluency(lists, accepted=accepted, corrections={"PolarBear": "polar bear"})
    table = cleaned.findings
    rows = list(zip(*(table[name].tolist() for name in table), strict=True))
    assert rows == [
        ("correction", "p4", 5, 1, "polarbear", "polar bear", "replaced"),
        ("missing answer", "p0", 1, 5, "?", "", "dropped"),
        ("missing answer", "p3", 4, 1, "n/a", "", "dropped"),
        ("intrusion", "p0", 1, 2, "girafe", "giraffe", "dropped"),
        ("intrusion", "p1", 2, 3, "goat", "", "dropped"),
        ("repetition", "p0", 1, 4, "cat", "", "dropped"),
        ("short list", "p3", 4, 0, "", "", "dropped"),
    ]
    assert cleaned.counts()["repetition"] == 1
    kept = [[cleaned.lists.answers[w] for w in row if w >= 0] for row in cleaned.lists.given]
    assert kept == [["cat", "Cat"], ["polar bear", "dogs", "dog", "foxes"], ["cat"],
                    ["polar bear", "fox", "cat", "emu", "dogs"]]  # fmt: skip
    variants = list(
        zip(*(cleaned.variants[name].tolist() for name in cleaned.variants), strict=True)
    )
    assert variants == [
        ("cat", 3, "Cat", 1, "case or spaces"),
        ("dogs", 2, "dog", 1, "plural"),
        ("fox", 1, "foxes", 1, "plural"),
    ]
    assert cleaned.lists.report.dropped == {"no answer": 1, "empty list": 1}
    again = clean_fluency(clean_fluency(lists_of("cat,cat")).lists, fold=True).lists
    assert again.given.tolist() == [[0, -1]]
    assert cleaned.to_frame("pandas").shape == (7, 7)


def test_cleaning_merges_case_and_drops_short_lists_only_on_request():
    lists = lists_of("cat,Cat,dog", "cat,Polar  bear", "cow,?")
    cleaned = clean_fluency(lists, fold=True, missing=None, min_words=2)
    assert cleaned.lists.answers == ("cat", "dog", "polar bear", "cow", "?")
    assert cleaned.counts()["repetition"] == 1
    assert isinstance(cleaned, CleanedLists)
    short = clean_fluency(lists, min_words=2)
    assert short.lists.participant.tolist() == [0, 1]
    assert short.findings["action"].tolist() == ["dropped", "dropped"]
    # A list with less than a third of the median number of words is reported.
    kept = clean_fluency(lists_of("t-rex,pony,cat,dog", "t rex,ponies,cat,dog", "cat"))
    assert kept.findings["action"].tolist() == ["kept"]
    assert kept.variants["difference"].tolist() == ["case or spaces", "plural"]


def test_lists_of_several_categories_and_empty_networks_are_refused():
    two = Trials(["animals", "fruits"], ["cat", "fig"], [0, 1], [[0], [1]])
    for function in (fluency_network, fluency_trials, clean_fluency):
        with pytest.raises(DataError, match=r"2 categories .* select one"):
            function(two)
    with pytest.raises(DataError, match="expected Trials"):
        fluency_network(Associations(["a", "b"], sparse.csr_array([[0, 1], [1, 0]])))
    with pytest.raises(DataError, match="no two words are linked in 2 lists"):
        fluency_network(lists_of("cat,dog", "cow,emu"))
    with pytest.raises(DataError, match="no two words are linked in 2 lists"):
        fluency_network(lists_of("cat", "dog"))
    with pytest.raises(DataError, match="no two words are linked; expected a network"):
        network_statistics(Associations(["a", "b"], sparse.csr_array((2, 2))))
    with pytest.raises(DataError, match="no list has two different words"):
        fluency_trials(lists_of("cat", "dog"))
    with pytest.raises(DataError, match="none of 1 lists has 3 or more words"):
        clean_fluency(lists_of("cat,dog"), min_words=3)
    with pytest.raises(ParameterError, match="network='cooccurrence' is not one of window"):
        fluency_network(lists_of("cat,dog"), "cooccurrence")


def test_generated_lists_are_censored_walks_over_the_categories():
    data = make_fluency_lists(30, 3, 5, n_shared=2, length=10, switch=0, random_state=1)
    assert data.memberships.sum(axis=1).tolist() == [1] * 15 + [2] * 2
    for row in data.lists.given:
        words = row[row >= 0]
        assert len(set(words)) == len(words)
    # Without switches, a walk leaves its category through a shared word only.
    pure = make_fluency_lists(20, 3, 5, length=4, switch=0, random_state=1)
    rows = [{word // 5 for word in row if word >= 0} for row in pure.lists.given.tolist()]
    assert all(len(categories) == 1 for categories in rows)
    assert make_fluency_lists(2, 28, 2, random_state=0).lists.answers[-1] == "ab2"
    with pytest.raises(ParameterError, match="n_categories=1"):
        make_fluency_lists(2, 1, n_shared=1)
