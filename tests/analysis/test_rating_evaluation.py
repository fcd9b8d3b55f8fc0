"""Ratings of pairs and an atlas: the correlation, its interval, and unknown words."""

from dataclasses import replace

import numpy as np
import pandas
import pytest
from scipy.stats import spearmanr

import manymaps as mm
from manymaps.analysis.rating_evaluation import relatedness
from manymaps.model import MULTIPLE_MAPS_T_SNE, T_SNE, UNI_SNE

N = 12
LABELS = [f"w{i}" for i in range(N)]


def atlas() -> mm.Atlas:
    rng = np.random.default_rng(0)
    maps = rng.normal(size=(2, N, 2))
    share = rng.random(N)
    return mm.Atlas(LABELS, maps, np.stack([share, 1 - share]), MULTIPLE_MAPS_T_SNE)


def rated_pairs(first, second, values) -> pandas.DataFrame:
    return mm.ratings_from({"word1": first, "word2": second, "rating": values})


def ratings(noise: float = 0.0) -> pandas.DataFrame:
    a, b = np.triu_indices(N, 1)
    values = relatedness(atlas(), a, b) + noise * np.random.default_rng(1).normal(size=len(a))
    return rated_pairs([LABELS[i] for i in a], [LABELS[i].upper() for i in b], values)


@pytest.mark.parametrize("model", [None, MULTIPLE_MAPS_T_SNE, T_SNE, UNI_SNE])
def test_relatedness_is_the_mean_log_of_both_choices(model):
    """For two maps, and for one map under several models."""
    made = atlas()
    if model is not None:
        made = mm.Atlas(LABELS, made.maps[:1], np.ones((1, N)), model)
    a, b = np.triu_indices(N, 1)
    q = np.array([made.similarities(label) for label in LABELS])
    expected = (np.log(q[a, b]) + np.log(q[b, a])) / 2
    assert relatedness(made, a, b) == pytest.approx(expected, abs=1e-4)


def test_objects_that_share_no_map_have_the_least():
    apart = np.array(atlas().proportions)
    apart[:, 0], apart[:, 1] = (1, 0), (0, 1)
    found = relatedness(replace(atlas(), proportions=apart), [0, 0, 1], [1, 2, 2])
    assert np.isfinite(found).all()
    assert found[0] == found.min()


def test_correlation_and_interval():
    rated = ratings(noise=1.0)
    found = mm.evaluate(atlas(), rated)
    truth = relatedness(atlas(), *np.triu_indices(N, 1))
    assert found.spearman == pytest.approx(spearmanr(truth, rated["rating"])[0])
    low, high = found.spearman_interval
    assert low < found.spearman < high
    assert (found.n_pairs, found.n_known) == (66, 66)
    relations = found.to_frame().relatedness
    np.testing.assert_allclose(relations, truth)
    same = mm.evaluate(atlas(), rated_pairs(rated["word1"], rated["word2"], relations))
    assert (same.spearman, *same.spearman_interval) == pytest.approx((1, 1, 1))


def test_unknown_words_are_told():
    rated = ratings()
    more = rated_pairs([*rated["word1"], "hat", "hat"], [*rated["word2"], "w0", "cap"],
                      [*rated["rating"], 3, 4])  # fmt: skip
    found = mm.evaluate(atlas(), more)
    assert (found.n_pairs, found.n_known) == (68, 66)
    assert found.unknown == ["hat", "cap"]
    assert found.coverage == pytest.approx(66 / 68)
    assert len(found.to_frame()) == 66
    assert found["spearman"] == pytest.approx(1)


def test_a_faint_similarity_is_not_lost():
    """Below what a number can hold, logs still rank."""
    far = np.array([[[0.0], [1.0], [40.0], [80.0]]])
    model = replace(MULTIPLE_MAPS_T_SNE, kernel="gaussian")
    made = mm.Atlas(list("abcd"), far, np.ones((1, 4)), model)
    near, middle, last = relatedness(made, [0, 0, 0], [1, 2, 3])
    assert near > middle > last


TWO_KINDS = {
    "model": replace(MULTIPLE_MAPS_T_SNE, given="rows"),
    "kinds": ["row"] * 5 + ["column"] * 7,
}
REFUSALS = [
    (["hat"], ["cap"], [1], {}), (LABELS[:4], LABELS[4:8], [3.0] * 4, {}),
    (LABELS[:2], LABELS[4:6], [1.0, 2.0], {}), (["tie"], ["knot"], ["much"], {}),
    (LABELS[:3], LABELS[4:7], [1.0, 2.0, 4.0], TWO_KINDS),
]  # fmt: skip


@pytest.mark.parametrize(("first", "second", "values", "change"), REFUSALS)
def test_refusals(first, second, values, change):
    with pytest.raises(mm.DataError):
        mm.evaluate(replace(atlas(), **change), rated_pairs(first, second, values))
