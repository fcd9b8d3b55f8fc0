"""Captions of maps: typical words, one of each group, as the formula says."""

from dataclasses import replace

import numpy as np
import pytest

from atlas_samples import random_atlas
from manymaps.atlas import captions
from manymaps.atlas.atlas import Atlas
from manymaps.atlas.captions import caption
from manymaps.errors import ParameterError
from manymaps.model import CODE
from manymaps.model.choice import MULTIPLE_MAPS_SNE, MULTIPLE_MAPS_T_SNE, T_SNE


def cover(atlas, m, shown, chosen):
    """F_m(C) as the module writes it, sum by sum."""
    total = 0.0
    for i in shown:
        best = 0.0
        for j in chosen:
            squares = sum(atlas.proportions[k, j] ** 2 for k in range(atlas.n_maps))
            typical = atlas.proportions[m, j] ** 2 / squares
            d2 = sum((atlas.maps[m, i] - atlas.maps[m, j]) ** 2) / atlas.model.kernel_width**2
            kernel = np.exp(-d2) if atlas.model.kernel == "gaussian" else 1 / (1 + d2)
            best = max(best, typical * kernel)
        factor = 1.0 if atlas.factors is None else atlas.factors[i]
        total += factor * atlas.proportions[m, i] ** 2 * best
    return total


@pytest.mark.parametrize("model", [MULTIPLE_MAPS_T_SNE, replace(MULTIPLE_MAPS_SNE, kernel_width=2)])
@pytest.mark.parametrize("seed", range(4))
def test_each_word_is_the_one_that_adds_most_cover(model, seed):
    atlas = random_atlas(model, seed=seed, spread=2)
    shown = np.array([0, 2, 3, 4, 6, 7, 8, 10, 11, 13])
    for m in range(atlas.n_maps):
        chosen = caption(atlas, m, shown, n_words=3)
        assert len(set(chosen)) == 3
        for k in range(3):
            values = {j: cover(atlas, m, shown, [*chosen[:k], j]) for j in shown}
            assert values[chosen[k]] == pytest.approx(max(values.values()), rel=1e-9)


def test_each_group_of_a_map_has_a_word():
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(4), [30, 20, 10, 5])
    points = rng.normal(scale=0.3, size=(1, 65, 2))
    points[0] += 20 * np.array([[0, 0], [1, 0], [0, 1], [1, 1]])[groups]
    atlas = Atlas([str(group) for group in groups], points, np.ones((1, 65)), T_SNE)
    assert atlas.captions(4) == [("0", "1", "2", "3")]
    assert atlas.captions(2) == [("0", "1")]


def test_a_word_of_all_maps_names_none():
    # All stand in one place. "be" is as large in map 0 as others are, but in map 1 too.
    proportions = np.array([[0.5, 0.5, 0.5, 0.5, 0.0], [0.5, 0.25, 0.25, 0.25, 1.0],
                            [0.0, 0.25, 0.25, 0.25, 0.0]])  # fmt: skip
    points = np.zeros((3, 5, 2))
    atlas = Atlas(["be", "tie", "knot", "rope", "do"], points, proportions, MULTIPLE_MAPS_T_SNE)
    assert [words[0] for words in atlas.captions(1)] == ["tie", "do", "tie"]


def test_the_order_of_objects_and_maps_does_not_matter():
    atlas, rng = random_atlas(n=40), np.random.default_rng(0)
    maps = rng.permutation(3)
    turned = atlas.subset(rng.permutation(40)).renumbered(maps)
    assert turned.captions() == [atlas.captions()[m] for m in maps]


def test_those_below_the_threshold_are_not_named_and_have_no_say():
    atlas = random_atlas(n=30)
    for m, words in enumerate(atlas.captions(30)):
        assert all(atlas.proportions[m, atlas.index(word)] >= 0.1 for word in words)
    alone = Atlas(["a", "b"], np.zeros((20, 2, 1)), np.full((20, 2), 0.05), MULTIPLE_MAPS_T_SNE)
    assert alone.captions(1) == [("a",)] * 20
    one = Atlas(["a"], np.zeros((2, 1, 2)), np.array([[1.0], [0.0]]), MULTIPLE_MAPS_T_SNE)
    assert one.captions() == [("a",), ()]
    with pytest.raises(ParameterError):
        one.captions(0)


def test_of_two_kinds_the_columns_are_named_that_lie_among_the_rows():
    kinds = ["document"] * 3 + ["word"] * 4
    points = np.array([[[5.0], [5.2], [-5.0], [5.1], [0.0], [-4.0], [-5.1]]])
    factors = np.array([1.0, 1, 1.5, 0.1, 0.6, 0.2, 0.01])
    labels = ["tie", "d1", "d2", "rope", "knot", "tie", "suit"]
    atlas = Atlas(labels, points, np.ones((1, 7)), CODE, kinds=kinds, factors=factors)
    assert atlas.captions(3) == [("rope", "suit")]  # what lies farther off adds nothing
    words = ~atlas.choices.is_row
    chosen = caption(atlas, 0, np.arange(7), n_words=2, words=words)
    values = {j: cover(atlas, 0, range(3), [chosen[0], j]) for j in range(3, 7)}
    assert values[chosen[1]] == max(values.values())
    # Where no rows are shown, the columns stand for themselves.
    assert caption(atlas, 0, np.arange(3, 7), n_words=1, words=words) == [4]


def test_of_many_objects_some_stand_for_all_and_those_of_largest_proportions_are_candidates(
    monkeypatch,
):
    rng = np.random.default_rng(0)
    groups = np.arange(3000) % 3
    points = rng.normal(scale=0.5, size=(1, 3000, 2)) + 30 * groups[:, None]
    atlas = Atlas([str(group) for group in groups], points, np.ones((1, 3000)), T_SNE)
    monkeypatch.setattr(captions, "MOST_MEMBERS", 200)
    monkeypatch.setattr(captions, "MOST_CANDIDATES", 50)
    assert sorted(atlas.captions(3)[0]) == ["0", "1", "2"]
    monkeypatch.setattr(captions, "MOST_CANDIDATES", 4)
    few = random_atlas(n=30)
    for m in range(3):
        largest = np.argsort(-few.proportions[m])[:4]
        assert set(caption(few, m, np.arange(30), n_words=9)) <= set(largest.tolist())


class TestCategories:
    """Labels that only count more than 40 objects give way to categories that stand out."""

    @staticmethod
    def counted(n=60, **parts):
        rng = np.random.default_rng(0)
        held = np.full((3, n), 0.1)
        kinds = np.arange(n) % 6
        for m in range(3):
            held[m, kinds // 2 == m] = 0.8
        return Atlas(list(map(str, range(n))), rng.normal(size=(3, n, 2)), held,
                     MULTIPLE_MAPS_T_SNE, metadata={**parts, "digit": kinds})  # fmt: skip

    def test_the_categories_that_stand_out_name_a_map(self):
        atlas = self.counted()
        assert [set(words) for words in atlas.captions()] == [
            {"digit 0", "1"}, {"digit 2", "3"}, {"digit 4", "5"},
        ]  # fmt: skip
        named = np.array(["ox", "cow"] * 3)[atlas.metadata["digit"]]
        worded = atlas.add_metadata(named, name="animal")
        assert worded.captions() == atlas.captions()
        shown = np.arange(60)
        assert captions.title_words(worded, 0, shown, column="animal") == []
        of_half = np.array(["ox", "", "cow", "cow", "cow", "cow"])[atlas.metadata["digit"]]
        worded = atlas.add_metadata(of_half, name="animal")
        assert captions.title_words(worded, 0, shown, column="animal") == ["ox"]

    def test_by_the_formula(self):
        atlas = random_atlas(n=48, n_maps=4, seed=1)
        kinds = np.random.default_rng(1).integers(0, 5, 48)
        atlas = replace(atlas, labels=list(map(str, range(48))), metadata={"kind": kinds})
        shown = np.flatnonzero(atlas.proportions[2] > 0.1)
        squares = atlas.proportions**2
        score = {}
        for c in range(5):
            here = squares[2, [i for i in shown if kinds[i] == c]].sum()
            everywhere = squares[:, kinds == c].sum()
            part, usual = here / squares[2, shown].sum(), everywhere / squares.sum()
            if part >= 0.1 and part > usual:
                score[str(c)] = here**2 / everywhere
        best = sorted(score, key=lambda c: -score[c])
        found = captions.title_words(atlas, 2, shown, n_words=5)
        assert found == [f"kind {best[0]}", *best[1:]]

    def test_without_categories_there_are_no_words_and_few_or_other_labels_stay(self):
        atlas = self.counted()
        for values in (np.arange(60) / 7, np.arange(60), np.arange(60) % 2 == 0, np.zeros(60, int)):
            assert replace(atlas, metadata={"n": values}).captions() == [(), (), ()]
        worded = replace(atlas, labels=[f"{'xyz'[i % 3]}{i}" for i in range(60)])
        for labelled in (self.counted(n=40), worded):
            assert {word for words in labelled.captions() for word in words} <= set(labelled.labels)
