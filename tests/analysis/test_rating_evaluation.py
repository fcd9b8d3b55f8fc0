"""Ratings of pairs beside an atlas: correlations, their intervals, and who knows which pairs."""

from dataclasses import replace

import numpy as np
import pandas
import pytest
from scipy.stats import spearmanr

import manymaps as mm
from manymaps.analysis.rating_evaluation import relatedness
from manymaps.atlas.associations import strongest_associations
from manymaps.model import MULTIPLE_MAPS_T_SNE, T_SNE, UNI_SNE

N = 12
LABELS = [f"w{i}" for i in range(N)]


def atlas() -> mm.Atlas:
    rng = np.random.default_rng(0)
    maps = rng.normal(size=(2, N, 2))
    share = rng.random(N)
    return mm.Atlas(LABELS, maps, np.stack([share, 1 - share]), MULTIPLE_MAPS_T_SNE)


def ratings(noise: float = 0.0) -> mm.Ratings:
    a, b = np.triu_indices(N, 1)
    values = relatedness(atlas(), a, b) + noise * np.random.default_rng(1).normal(size=len(a))
    return mm.Ratings([LABELS[i] for i in a], [LABELS[i].upper() for i in b], values)


def norms(n: int = N) -> mm.Associations:
    table = np.random.default_rng(2).random((n, n))
    np.fill_diagonal(table, 0)
    return mm.Associations(LABELS[:n], table / table.sum(axis=1, keepdims=True))


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


def test_correlations_and_intervals():
    rated = ratings(noise=1.0)
    found = mm.evaluate(atlas(), rated, norms=norms())
    a, b = np.triu_indices(N, 1)
    truth = relatedness(atlas(), a, b)
    own = found.pearson["atlas"]
    assert own.value == pytest.approx(np.corrcoef(truth, rated.values)[0, 1])
    assert found.spearman["atlas"].value == pytest.approx(spearmanr(truth, rated.values)[0])
    assert own.low < own.value < own.high
    assert (found.n_pairs, found.n_known, found.n_compared) == (66, 66, 66)
    strengths = norms().strengths.toarray()
    strength = (strengths[a, b] + strengths[b, a]) / 2
    assert found.pearson["strength"].value == pytest.approx(
        np.corrcoef(strength, rated.values)[0, 1]
    )
    gain = found.pearson_gain["strength"]
    assert gain.value == pytest.approx(own.value - found.pearson["strength"].value)
    assert gain.low > 0
    assert set(found.pearson) == {"atlas", "strength", "ppmi_cosine", "katz_walk"}
    assert found.alone is None


def test_a_measure_gains_nothing_over_itself():
    vectors = mm.Vectors(LABELS, np.random.default_rng(3).normal(size=(N, 3)))
    first = mm.evaluate(atlas(), ratings(3.0), vectors=vectors)
    same = mm.Ratings(*(ratings().first, ratings().second, first.predicted["atlas"]))
    found = mm.evaluate(atlas(), same, vectors=vectors)
    assert found.pearson["atlas"] == pytest.approx((1, 1, 1))
    assert found.spearman["atlas"] == pytest.approx((1, 1, 1))
    assert found.pearson_gain["vectors"].low > 0


def test_vectors_that_are_given_or_kept():
    vectors = mm.Vectors(LABELS, np.random.default_rng(3).normal(size=(N, 3)))
    found = mm.evaluate(atlas(), ratings(3.0), vectors=vectors)
    kept = replace(atlas(), vectors=vectors.values)
    twice = mm.evaluate(kept, ratings(3.0))
    assert found.spearman["vectors"] == twice.spearman["vectors"]
    a, b = np.triu_indices(N, 1)
    unit = vectors.values / np.linalg.norm(vectors.values, axis=1, keepdims=True)
    assert found.predicted["vectors"] == pytest.approx((unit[a] * unit[b]).sum(axis=1), abs=1e-6)


def test_unknown_words_are_told_and_pairs_that_others_lack_not_compared():
    rated = ratings()
    more = mm.Ratings([*rated.first, "hat", "hat"], [*rated.second, "w0", "cap"],
                      [*rated.values, 3, 4])  # fmt: skip
    found = mm.evaluate(atlas(), more, norms=norms(8))
    assert (found.n_pairs, found.n_known, found.n_compared) == (68, 66, 28)
    assert found.unknown == ("hat", "cap")
    assert found.coverage == pytest.approx(66 / 68)
    assert found.alone is not None
    assert found.alone[0].value == pytest.approx(1)
    frame = found.to_frame("pandas")
    assert len(frame) == 66
    assert np.isnan(frame["strength"]).sum() == 38
    record = found.record()
    assert record["kl_divergence"] is None
    assert record["pearson"] == pytest.approx(1)


def test_associations_of_the_atlas_serve_where_they_are_whole():
    table = norms().strengths
    whole = replace(atlas(), associations=strongest_associations(table))
    found = mm.evaluate(whole, ratings())
    given = mm.evaluate(atlas(), ratings(), norms=norms())
    for name in ("strength", "ppmi_cosine", "katz_walk"):
        assert found.spearman[name].value == pytest.approx(given.spearman[name].value, abs=1e-3)
    cut = replace(atlas(), associations=strongest_associations(table, 3))
    found = mm.evaluate(cut, ratings())
    assert set(found.pearson) == {"atlas"}
    assert "norms=..." in found.notes[0]


def test_two_kinds_of_object_are_refused():
    model = replace(MULTIPLE_MAPS_T_SNE, given="rows")
    two = replace(atlas(), model=model, kinds=["row"] * 5 + ["column"] * (N - 5))
    with pytest.raises(mm.DataError, match="bipartite"):
        relatedness(two, [0], [1])


def test_a_faint_similarity_is_not_lost():
    """Below what a number can hold, logs still rank."""
    far = np.array([[[0.0], [1.0], [40.0], [80.0]]])
    model = replace(MULTIPLE_MAPS_T_SNE, kernel="gaussian")
    made = mm.Atlas(list("abcd"), far, np.ones((1, 4)), model)
    near, middle, last = relatedness(made, [0, 0, 0], [1, 2, 3])
    assert near > middle > last


def test_raw_trials_serve_as_norms():
    people = np.random.default_rng(4).integers(N, size=(300, 2))
    frame = {"cue": [LABELS[i] for i in people[:, 0]], "R1": [LABELS[i] for i in people[:, 1]]}
    trials = mm.trials_from(pandas.DataFrame(frame))
    found = mm.evaluate(atlas(), ratings(), norms=trials)
    given = mm.evaluate(atlas(), ratings(), norms=trials.associations())
    assert found.spearman == given.spearman
    assert "katz_walk" in found.spearman


@pytest.mark.parametrize(
    ("first", "second", "values", "message"),
    [
        (["hat"], ["cap"], [1], r"contains both words of 0 of 1 pairs.*at least 3"),
        (LABELS[:4], LABELS[4:8], [3.0] * 4, r"all 4 pairs of arrays .* are rated 3; correlations"),
        (LABELS[:2], LABELS[4:6], [1.0, 2.0], r"2 of 2 pairs of arrays; at least 3 pairs are nee"),
    ],
)
def test_ratings_that_cannot_be_correlated(first, second, values, message):
    with pytest.raises(mm.DataError, match=message):
        mm.evaluate(atlas(), mm.Ratings(first, second, values))


def test_ratings_of_any_size_correlate_alike():
    plain = mm.evaluate(atlas(), ratings(0.5))
    values = ratings(0.5).values
    huge = mm.Ratings(ratings().first, ratings().second, values / np.abs(values).max() * 1e308)
    found = mm.evaluate(atlas(), huge)
    assert found.pearson["atlas"].value == pytest.approx(plain.pearson["atlas"].value)
    assert found.pearson["atlas"].low == pytest.approx(plain.pearson["atlas"].low)


@pytest.mark.parametrize("data", [None, 3])
def test_what_are_no_ratings_is_told(data):
    with pytest.raises(mm.DataError, match="ratings cannot be made from an object of type"):
        mm.ratings_from(data)
    with pytest.raises(mm.DataError, match="ratings must be numbers"):
        mm.Ratings(["tie"], ["knot"], ["much"])
