"""The two levels of senses in stability, intervals and comparisons, with little or no data."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

import manymaps as mm
from manymaps.analysis.stability import stability
from manymaps.atlas.associations import strongest_associations
from manymaps.errors import DataError, ParameterError
from manymaps.model import MULTIPLE_MAPS_T_SNE

N = 60


@pytest.fixture(scope="module")
def atlas():
    """Words of overlapping fields, in which some meanings consist of several fine groups."""
    rng = np.random.default_rng(0)
    fields = np.eye(6)[np.arange(N) % 6].astype(bool) | (rng.random((N, 6)) < 0.06)
    together = (fields.astype(int) @ fields.T.astype(int)) > 0
    table = rng.random((N, N)) ** 4 * together * (rng.random((N, N)) < 0.5)
    np.fill_diagonal(table, 0)
    return mm.Atlas(
        [f"w{i}" for i in range(N)],
        rng.normal(size=(3, N, 2)),
        rng.dirichlet(np.full(3, 0.4), size=N).T,
        MULTIPLE_MAPS_T_SNE,
        associations=strongest_associations(sparse.csr_array(table)),
    )


def listed(atlas, level):
    """The number of senses of each word with a share of at least 5 %, without maps alone."""
    senses = [atlas.senses(label, level=level, min_weight=1) for label in atlas.labels]
    return [sum(sense.share > 0 for sense in of_word) for of_word in senses]


@pytest.mark.parametrize("level", ["meaning", "fine"])
def test_stability_compares_the_senses_of_the_level(atlas, level):
    found = stability([atlas, atlas.renumbered([1, 2, 0])], level=level)
    assert found.sense_level == level
    assert np.diff(found.senses[0].offsets).tolist() == listed(atlas, level)


@pytest.mark.parametrize("level", ["meaning", "fine"])
def test_intervals_contain_the_shares_of_the_level(atlas, level):
    norms = mm.Associations(atlas.labels, atlas.associations)
    found = mm.intervals(norms, atlas, sense_level=level, n_responses=500)
    assert found.ambiguities["n_senses"].tolist() == listed(atlas, level)
    for sense in atlas.senses("w3", level=level, min_weight=1):
        if sense.share:
            interval = found.share("w3", sense.neighbors[0].label)
            assert interval.value == pytest.approx(sense.share, abs=1e-6)


def test_a_comparison_tests_the_senses_of_the_level(atlas):
    norms = mm.Associations(atlas.labels, atlas.associations, n_responses=np.full(N, 80))
    groups = {"young": mm.resampled(norms, 0), "old": mm.resampled(norms, 1)}
    coarse, fine = (
        mm.compare(groups, responses="keep", level=level) for level in ("meaning", "fine")
    )
    assert (coarse.level, fine.level) == ("meaning", "fine")
    sizes = [np.diff(found.senses.offsets) for found in (coarse, fine)]
    assert sizes[0].sum() < sizes[1].sum()
    # The test of a word does not depend on its senses.
    np.testing.assert_array_equal(coarse.effect, fine.effect)
    np.testing.assert_array_equal(coarse.divergence, fine.divergence)
    for word in fine.words:
        meanings = [set(sense.members) for sense in coarse.senses_of(word, N)]
        groups_of_word = [set(sense.members) for sense in fine.senses_of(word, N)]
        # Each fine group is a part of a meaning, except in a meaning that is not listed.
        for group in groups_of_word:
            assert sum(bool(group & meaning) for meaning in meanings) <= 1


def test_the_levels_differ_in_these_data(atlas):
    assert sum(listed(atlas, "meaning")) < sum(listed(atlas, "fine"))


def test_unknown_levels(atlas):
    norms = mm.Associations(atlas.labels, atlas.associations)
    other = replace(norms, strengths=norms.strengths[::-1][:, ::-1])
    calls = {
        "level": [
            lambda: stability([atlas, atlas], level="coarse"),
            lambda: mm.compare({"a": norms, "b": other}, level="coarse"),
        ],
        "sense_level": [lambda: mm.intervals(norms, atlas, sense_level="coarse")],
    }
    for name, tries in calls.items():
        for call in tries:
            with pytest.raises(ParameterError, match=f"{name}='coarse' is not one of"):
                call()


LEVELS = pytest.mark.parametrize("level", ["meaning", "fine"])


def scarce(associations=True):
    """Word a has three associates, b and e have one, and f has none."""
    table = np.zeros((6, 6))
    table[0, 1:4] = 0.5, 0.3, 0.2
    table[1, 0] = table[4, 3] = 1
    table[2, :2] = table[3, [0, 4]] = 0.5
    rng = np.random.default_rng(0)
    return mm.Atlas(
        "abcdef", rng.normal(size=(2, 6, 2)), rng.dirichlet([1, 1], 6).T, MULTIPLE_MAPS_T_SNE,
        associations=sparse.csr_array(table) if associations else None,
    )  # fmt: skip


def counted(atlas):
    counts = np.rint(40 * atlas.associations.toarray())
    return mm.Associations(atlas.labels, sparse.csr_array(counts))


@LEVELS
def test_words_with_one_associate_or_none(level):
    atlas = scarce()
    found = mm.intervals(counted(atlas), atlas, words=["b", "f"], sense_level=level)
    assert found.ambiguities["n_responses"].tolist() == [40, 0]
    assert found.share("b", "a").value == 1
    assert found.ambiguity("b").value == 1
    # The senses of a word without associates are maps, whose responses are unknown.
    assert found.ambiguity("f") is None
    assert np.isnan(found.ambiguities["low"][1])
    recurrence = stability([atlas, replace(atlas)], level=level)
    assert recurrence.recurrence("b") == recurrence.recurrence("f") == 1
    n_maps = len(atlas.senses("f", level=level))
    assert np.diff(recurrence.senses[0].offsets)[[1, 5]].tolist() == [1, n_maps]


@LEVELS
def test_comparisons_of_words_with_one_associate_or_none(level):
    norms = counted(scarce())
    other = norms.strengths.toarray()
    other[1] = [10, 0, 30, 0, 0, 0]
    found = mm.compare(
        {"young": norms, "old": replace(norms, strengths=sparse.csr_array(other))}, level=level
    )
    assert found.words == ("a", "b", "c", "d", "e")
    assert len(found.senses_of("e")) == 1
    # Only one response was possible, so the effect of the word is exactly 0.
    assert (found.effect[4], found.changes[4]) == (0, "no change shown")
    assert found.changes[1] != "no change shown"


@LEVELS
def test_an_atlas_without_associations(level):
    atlas = scarce(associations=False)
    with pytest.raises(DataError):
        mm.intervals(counted(scarce()), atlas, sense_level=level)
    found = stability([atlas, replace(atlas)], level=level)
    assert found.observed.recurrence == 1
    assert len(found.senses[0].maps) == sum(
        len(atlas.senses(label, level=level)) for label in atlas.labels
    )


@pytest.mark.parametrize(
    "data", [mm.Counts(np.eye(4) + 1), mm.Vectors("abcd", np.eye(4)), np.eye(4)]
)
def test_counts_and_vectors_are_not_responses(data):
    expected = f"has type {type(data).__name__}; expected Associations or Trials"
    for call in (
        lambda: mm.intervals(data, scarce()),
        lambda: mm.compare({"young": data, "old": data}),
        lambda: mm.resampled(data),
    ):
        with pytest.raises(DataError, match=expected):
            call()
