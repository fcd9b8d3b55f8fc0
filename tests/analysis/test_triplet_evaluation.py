"""How many triplets an atlas foresees, against a plain loop, and what stands beside."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binom
from scipy.stats import t as student

import manymaps as mm
from manymaps.analysis import triplet_evaluation
from manymaps.analysis.triplet_evaluation import choice_accuracy
from manymaps.data.triplets import question_mean
from manymaps.model import MULTIPLE_MAPS_T_SNE

N = 10
LABELS = [f"w{i}" for i in range(N)]


def atlas() -> mm.Atlas:
    rng = np.random.default_rng(0)
    share = rng.random(N)
    maps = rng.normal(size=(2, N, 2))
    return mm.Atlas(LABELS, maps, np.stack([share, 1 - share]), MULTIPLE_MAPS_T_SNE)


def similarity() -> np.ndarray:
    made = atlas()
    gaps = ((made.maps[:, :, None] - made.maps[:, None]) ** 2).sum(axis=3)
    both = made.proportions[:, :, None] * made.proportions[:, None]
    return (both / (1 + gaps)).sum(axis=0)


def triplets(kind: str = "odd", n: int = 400, labels=LABELS) -> mm.Triplets:
    values = np.argsort(np.random.default_rng(1).random((n, N)), axis=1)[:, :3]
    return mm.Triplets(values, labels, kind)


@pytest.mark.parametrize("kind", ["odd", "closer"])
@pytest.mark.parametrize("table", [0, 6000])
def test_accuracy_is_that_of_a_plain_loop(monkeypatch, kind, table):
    monkeypatch.setattr(triplet_evaluation, "_TABLE", table)
    v, hits = similarity(), []
    for i, j, k in triplets(kind).values.tolist():
        others = [v[i, k], v[j, k]] if kind == "odd" else [v[i, k]]
        hits.append(v[i, j] > max(others))
    found = mm.evaluate(atlas(), triplets(kind))
    own = found.accuracy["atlas"]
    assert found.hits["atlas"].tolist() == hits
    assert own.value == pytest.approx(np.mean(hits))
    assert own.low < own.value < own.high
    assert found.chance == (1 / 3 if kind == "odd" else 1 / 2)
    gain = found.gain["counts"]
    assert gain.value == pytest.approx(own.value - found.accuracy["counts"].value)


def answered(n_questions: int, times: int, rng: np.random.Generator) -> mm.Triplets:
    """Questions of their own objects, each with one most probable answer and as many answers."""
    sets = np.arange(3 * n_questions).reshape(-1, 3)
    probable = rng.integers(3, size=(n_questions, 1))
    odd = np.where(rng.random((n_questions, times)) < 0.5, probable,
                   rng.integers(3, size=(n_questions, times))).ravel()  # fmt: skip
    turned = np.array([[1, 2, 0], [2, 0, 1], [0, 1, 2]])[odd]
    return mm.Triplets(np.take_along_axis(np.repeat(sets, times, axis=0), turned, axis=1))


def test_questions_asked_once_have_the_ordinary_interval():
    values = np.random.default_rng(1).integers(2, size=200).astype(float)
    mean, margin = question_mean(values, np.ones(200, int))
    assert mean == values.mean()
    error = values.std(ddof=1) / np.sqrt(200)
    assert margin == pytest.approx(student.ppf(0.975, 199) * error)


def test_margins_are_those_of_a_plain_loop_in_any_order():
    rng = np.random.default_rng(2)
    asked = triplets("closer", 300)
    found = mm.evaluate(atlas(), asked)
    groups: dict[tuple, list[float]] = {}
    for (i, j, k), hit in zip(asked.values.tolist(), found.hits["atlas"], strict=True):
        groups.setdefault((i, frozenset((j, k))), []).append(hit)
    mean = found.hits["atlas"].mean()
    squares = sum((sum(hits) - mean * len(hits)) ** 2 for hits in groups.values())
    count = len(groups)
    assert count < 300
    margin = student.ppf(0.975, count - 1) * np.sqrt(count / (count - 1) * squares) / 300
    own = found.accuracy["atlas"]
    assert (own.low, own.high) == pytest.approx((mean - margin, mean + margin))
    turned = mm.evaluate(atlas(), asked.take(rng.permutation(300)))
    assert turned.accuracy["atlas"] == pytest.approx(own)
    assert turned.ceiling == found.ceiling


def test_coverage_of_repeated_questions():
    """The mean accuracy of always the first option is 1/3; answers alone promise too much."""
    rng = np.random.default_rng(3)
    n_draws, covered = 600, np.zeros(2)
    for _ in range(n_draws):
        asked = answered(60, 10, rng)
        hits = (asked.values[:, 2] % 3 == 0).astype(float)
        mean, margin = question_mean(hits.reshape(60, 10).sum(axis=1), np.full(60, 10))
        alone = 1.96 * hits.std(ddof=1) / np.sqrt(600)
        covered += abs(mean - 1 / 3) <= np.array([margin, alone])
    assert covered[0] >= binom.ppf(0.001, n_draws, 0.95)
    assert covered[1] < 0.8 * n_draws


@pytest.mark.parametrize(("n_questions", "times"), [(60, 2), (60, 10), (20, 100), (300, 3)])
def test_the_ceiling_lies_between_its_bounds(n_questions, times):
    """The most probable answer has 1/2 + 1/6 everywhere."""
    rng = np.random.default_rng(4)
    found = [answered(n_questions, times, rng).noise_ceiling() for _ in range(200)]
    within = sum(one.at_least <= 2 / 3 <= one.at_most for one in found)
    assert within >= binom.ppf(0.001, 200, 0.95)
    assert np.mean([one.others for one in found]) < 2 / 3 < np.mean(
        [one.majority for one in found]) + 0.005  # fmt: skip
    assert all(1 / 3 <= one.at_least <= one.others <= one.at_most <= 1 for one in found)


def test_one_question_bounds_nothing():
    ceiling = mm.Triplets([[0, 1, 2], [0, 1, 2], [2, 1, 0]]).noise_ceiling()
    assert (ceiling.at_least, ceiling.at_most) == (pytest.approx(1 / 3), 1)


def test_ties_count_by_share():
    asked = mm.Triplets([[0, 1, 2], [0, 2, 1], [3, 4, 5]])
    same = choice_accuracy(asked, lambda i, j: np.zeros(len(i)))
    assert same == pytest.approx(np.full(3, 1 / 3))
    two = choice_accuracy(asked, lambda i, j: (np.minimum(i, j) == 0).astype(float))
    assert two == pytest.approx([0.5, 0.5, 1 / 3])


def test_objects_that_share_no_map_are_guessed():
    apart = mm.Atlas(LABELS, np.zeros((N, N, 2)), np.eye(N), MULTIPLE_MAPS_T_SNE)
    assert mm.evaluate(apart, triplets()).accuracy["atlas"].value == pytest.approx(1 / 3)


@pytest.mark.parametrize("table", [0, 6000])
def test_counts_and_popularity_are_of_other_folds(monkeypatch, table):
    """Each question asked over and over with one answer; counts of other folds know nothing."""
    monkeypatch.setattr(triplet_evaluation, "_TABLE", table)
    values = np.argsort(np.random.default_rng(1).random((40, N)), axis=1)[:, :3]
    asked = mm.Triplets(np.repeat(values, 20, axis=0), LABELS)
    found = mm.evaluate(atlas(), asked)
    assert found.accuracy["counts"].value < 0.6
    assert found.ceiling.majority > 0.85
    planted = np.argsort(np.random.default_rng(2).random((3000, N)), axis=1)[:, :3]
    planted = np.sort(planted, axis=1)  # the largest number is always the odd one
    known = mm.evaluate(atlas(), mm.Triplets(planted, LABELS))
    assert known.accuracy["popularity"].value > 0.9
    assert known.accuracy["counts"].value > 0.75


def test_labels_bring_objects_together():
    order = np.random.default_rng(5).permutation(N)
    place = np.argsort(order)
    turned = mm.Triplets(place[triplets().values], [LABELS[i].upper() for i in order])
    assert mm.evaluate(atlas(), turned).hits["atlas"].tolist() == mm.evaluate(
        atlas(), triplets()).hits["atlas"].tolist()  # fmt: skip
    numbered = triplets(labels=None)
    assert mm.evaluate(atlas(), numbered).accuracy == mm.evaluate(atlas(), triplets()).accuracy


def test_unknown_objects_are_left_out_and_told():
    names = [*LABELS[:-1], "hat"]
    found = mm.evaluate(atlas(), triplets(labels=names))
    expected = ~(triplets().values == N - 1).any(axis=1)
    assert (found.n_triplets, found.n_known) == (400, expected.sum())
    assert found.unknown == ("hat",)
    with pytest.raises(mm.DataError, match="none of the 400 triplets"):
        mm.evaluate(atlas(), triplets(labels=[f"x{i}" for i in range(N)]))


def test_vectors_stand_beside():
    values = np.random.default_rng(3).normal(size=(N, 4))
    found = mm.evaluate(atlas(), triplets(), vectors=mm.Vectors(LABELS, values))
    kept = mm.evaluate(replace(atlas(), vectors=values), triplets())
    assert found.hits["vectors"].tolist() == kept.hits["vectors"].tolist()
    unit = values / np.linalg.norm(values, axis=1, keepdims=True)
    cosine = unit @ unit.T
    i, j, k = triplets().values.T
    expected = cosine[i, j] > np.maximum(cosine[i, k], cosine[j, k])
    assert found.hits["vectors"].tolist() == expected.tolist()


def test_record():
    found = mm.evaluate(atlas(), triplets(n=40)).record()
    assert found["kl_divergence"] is None
    assert found["accuracy"] == found["measures"]["atlas"]["accuracy"]["value"]
    assert found["measures"]["atlas"]["gain"] is None
    assert set(found["measures"]) == {"atlas", "popularity", "counts"}


def test_an_atlas_of_two_kinds_is_refused():
    model = replace(MULTIPLE_MAPS_T_SNE, given="rows")
    two = replace(atlas(), model=model, kinds=["row"] * 5 + ["column"] * (N - 5))
    with pytest.raises(mm.DataError, match="bipartite"):
        mm.evaluate(two, triplets())
