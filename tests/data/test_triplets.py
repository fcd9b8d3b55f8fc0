"""Triplets: what they may be, their counts, ceiling and folds, and similarities made of them."""

from collections import Counter

import numpy as np
import pytest

import manymaps as mm
from manymaps.analysis.triplet_evaluation import choice_accuracy
from manymaps.data import triplet_choice
from manymaps.data.triplet_choice import choice_utilities, expected_proportions

N = 12


def utilities(n: int = N, n_groups: int = 3) -> np.ndarray:
    """Objects in groups, those of a group far more alike than others."""
    group = np.arange(n) % n_groups
    return 3.0 * (group[:, None] == group)


def draw(count: int, kind: str = "odd", seed: int = 0, u: np.ndarray | None = None) -> mm.Triplets:
    """Choices by Luce's rule."""
    rng = np.random.default_rng(seed)
    u = utilities() if u is None else u
    sets = np.argsort(rng.random((count, len(u))), axis=1)[:, :3]
    i, j, k = sets.T
    if kind == "closer":
        swap = rng.random(count) > 1 / (1 + np.exp(u[i, k] - u[i, j]))
        sets[swap] = sets[swap][:, [0, 2, 1]]
        return mm.Triplets(sets, [str(x) for x in range(len(u))], kind)
    weights = np.exp(np.stack([u[j, k], u[i, k], u[i, j]], axis=1))
    weights /= weights.sum(axis=1, keepdims=True)
    odd = (weights.cumsum(axis=1) < rng.random((count, 1))).sum(axis=1).clip(max=2)
    order = np.array([[1, 2, 0], [0, 2, 1], [0, 1, 2]])[odd]
    return mm.Triplets(np.take_along_axis(sets, order, axis=1), [str(x) for x in range(len(u))])


@pytest.mark.parametrize(
    ("values", "labels", "message"),
    [
        ([[0, 1, 2], [0, 1, 1]], None, r"row 1: duplicate object in the triplet .*0, 1, 1"),
        ([[0, 1, 2], [0, -1, 1]], None, "row 1: the object -1 is negative"),
        (
            [[0, 1, 2], [0, 1, 3]],
            list("abc"),
            "row 1: the object 3 exceeds the number of labels, 3",
        ),
        ([[0, 1, 2.5]], None, r"row 0: 2.5 is not a valid object index"),
        ([[0, 1, np.nan]], None, "row 0: nan is not a valid"),
        ([[0, 1]], None, r"shape \(1, 2\)"),
        (np.empty((0, 3), int), None, "at least one row"),
        ([["a", "b", "c"]], None, "must contain object indices"),
        ([[0, 1, 2]], ["a", "b", "b"], "duplicate label 'b'"),
        ([[0, 1, 2**40]], None, "expected at most"),
        (np.array([[0, 1, 2**63]], np.uint64), None, "expected at most"),
        ([[0.0, 1, 1e300]], None, "row 0: 1e\\+300 is not a valid"),
    ],
)
def test_what_is_none_is_refused_with_its_row(values, labels, message):
    with pytest.raises(mm.DataError, match=message):
        mm.Triplets(np.array(values), labels)
    assert mm.Triplets(np.array([[0.0, 1.0, 2.0]])).values.dtype == np.int32


def test_unknown_kinds_and_estimates():
    with pytest.raises(mm.ParameterError, match="kind='even' is not one of odd, closer"):
        mm.Triplets([[0, 1, 2]], kind="even")
    with pytest.raises(mm.ParameterError, match="estimate='guess'"):
        draw(20).associations("guess")
    with pytest.raises(mm.ParameterError, match="penalty=-1"):
        draw(20).associations(penalty=-1)


@pytest.mark.parametrize("kind", ["odd", "closer"])
def test_counts_are_those_of_a_plain_loop(kind):
    triplets = draw(200, kind)
    chosen, asked = np.zeros((N, N)), np.zeros((N, N))
    for i, j, k in triplets.values.tolist():
        pairs = [(i, j), (i, k), (j, k)] if kind == "odd" else [(i, j), (i, k)]
        for a, b in pairs:
            asked[a, b] += 1
            asked[b, a] += 1
        chosen[i, j] += 1
        chosen[j, i] += 1
    found = triplets.counts()
    assert np.array_equal(found[0].toarray(), chosen)
    assert np.array_equal(found[1].toarray(), asked)
    made = triplets.associations("proportions")
    known = asked > 0
    assert made.strengths.toarray()[known] == pytest.approx((chosen / np.maximum(asked, 1))[known])
    missing = np.zeros((N, N)) if made.missing is None else made.missing.toarray()
    assert np.array_equal(missing.astype(bool), ~known & ~np.eye(N, dtype=bool))
    assert made.is_symmetric


def test_an_object_that_nobody_saw_has_no_similarity():
    triplets = mm.Triplets([[0, 1, 2], [0, 2, 1], [1, 2, 0]], list("abcd"))
    for estimate in ("proportions", "choices"):
        made = triplets.associations(estimate)
        assert made.strengths.toarray()[3].sum() == 0
        assert made.n_missing == 0
        assert made.labels == tuple("abcd")
        assert "3 triplets" in made.report.notes[-1]


@pytest.mark.parametrize("kind", ["odd", "closer"])
def test_ceiling_is_that_of_a_plain_loop(kind):
    rng = np.random.default_rng(3)
    triplets = draw(400, kind, u=utilities(5, 2))
    shuffled = triplets.values.copy()
    if kind == "odd":  # the pair that was chosen has no order
        swap = rng.random(len(shuffled)) < 0.5
        shuffled[swap] = shuffled[swap][:, [1, 0, 2]]
    answers: dict[tuple, list[int]] = {}
    for i, j, k in shuffled.tolist():
        key = (frozenset((i, j, k)),) if kind == "odd" else (i, frozenset((j, k)))
        answers.setdefault(key, []).append(k)
    majority = others = total = 0.0
    for given in answers.values():
        if len(given) < 2:
            continue
        total += len(given)
        majority += max(Counter(given).values())
        for k, one in enumerate(given):
            rest = Counter(given[:k] + given[k + 1 :])
            best = [x for x, n in rest.items() if n == max(rest.values())]
            others += (one in best) / len(best)
    found = mm.Triplets(shuffled, triplets.labels, kind).noise_ceiling()
    assert found.majority == pytest.approx(majority / total)
    assert found.others == pytest.approx(others / total)
    assert found.n_answers == total
    assert found.n_repeated == sum(len(given) > 1 for given in answers.values())


def test_no_ceiling_without_repeats():
    assert mm.Triplets([[0, 1, 2], [0, 1, 3]]).noise_ceiling() is None
    closer = mm.Triplets([[0, 1, 2], [1, 0, 2]], kind="closer")
    assert closer.noise_ceiling() is None


def test_no_question_is_on_both_sides():
    triplets = draw(300, u=utilities(6, 2))
    known, held_out = triplets.split(0.25, random_state=1)
    assert len(known) + len(held_out) == 300
    sets = [{frozenset(row) for row in part.values.tolist()} for part in (known, held_out)]
    assert not sets[0] & sets[1]
    assert len(sets[1]) == round(0.25 * len(sets[0] | sets[1]))
    with pytest.raises(mm.DataError, match="too few to hold out"):
        mm.Triplets([[0, 1, 2]]).split(0.5)


@pytest.mark.parametrize("kind", ["odd", "closer"])
def test_gradient_is_that_of_differences(kind):
    rng = np.random.default_rng(0)
    found, asked = rng.normal(size=(N, 4)), draw(40, kind).values

    def loss(at: np.ndarray) -> float:
        pairs, utilities = triplet_choice.options_of(kind), triplet_choice._utilities(at)
        of_options = [utilities[asked[:, a], asked[:, b]] for a, b in pairs]
        p = triplet_choice._luce(np.stack(of_options, axis=1))
        return -float(np.log(p[:, 0]).sum())

    gradient = triplet_choice._gradient(found, asked, kind)
    for place in [(0, 0), (3, 2), (5, 3), (11, 1)]:
        step = np.zeros_like(found)
        step[place] = 1e-6
        slope = (loss(found + step) - loss(found - step)) / 2e-6
        assert gradient[place] == pytest.approx(slope, rel=1e-5, abs=1e-6)


@pytest.mark.parametrize("kind", ["odd", "closer"])
def test_expected_proportions_are_those_of_a_plain_loop(kind):
    u = np.random.default_rng(0).normal(size=(6, 6))
    u = u + u.T
    found = expected_proportions(u, kind)
    v = np.exp(u)
    for i, j in ((0, 1), (2, 5), (5, 2)):
        others = [k for k in range(6) if k not in (i, j)]
        if kind == "odd":
            some = [v[i, j] / (v[i, j] + v[i, k] + v[j, k]) for k in others]
        else:
            some = [(v[i, j] / (v[i, j] + v[i, k]) + v[i, j] / (v[i, j] + v[j, k])) / 2
                    for k in others]  # fmt: skip
        assert found[i, j] == pytest.approx(np.mean(some))
    assert not found.diagonal().any()


def test_third_objects_are_sampled_where_they_are_many(monkeypatch):
    u = utilities(30, 3)
    whole = expected_proportions(u, "odd")
    monkeypatch.setattr(triplet_choice, "_THIRD_OBJECTS", 15)
    sampled = expected_proportions(u, "odd", seed=1)
    assert np.abs(sampled - whole).max() < 0.2
    assert np.corrcoef(sampled.ravel(), whole.ravel())[0, 1] > 0.98


@pytest.mark.parametrize("kind", ["odd", "closer"])
def test_the_model_finds_what_counts_do_not(monkeypatch, kind):
    """Planted groups: a pair that was never asked together is known by its groups."""
    monkeypatch.setattr(triplet_choice, "_STEPS", 300)
    u = utilities(30, 5)
    triplets, test = draw(600, kind, u=u), draw(4000, kind, seed=9, u=u)
    found = choice_utilities(triplets.values, 30, kind, penalty=3.0)
    counts = [table.toarray() for table in triplets.counts()]
    shown = np.divide(*counts, out=np.full((30, 30), triplets.chance), where=counts[1] > 0)

    def accuracy(table: np.ndarray) -> float:
        return float(choice_accuracy(test, lambda i, j: table[i, j]).mean())

    assert accuracy(found) > accuracy(shown) + 0.02
    assert accuracy(found) > accuracy(u) - 0.06
    again = choice_utilities(triplets.values, 30, kind, penalty=3.0)
    assert np.array_equal(found, again)


@pytest.mark.parametrize("count", [200, 3000])
def test_the_usual_penalty_does_for_few_and_many(monkeypatch, count):
    """Others are chosen as well as under the better of two, of which each is wrong for one."""
    monkeypatch.setattr(triplet_choice, "_STEPS", 300)
    u = utilities(20, 4)
    triplets, test = draw(count, u=u), draw(4000, seed=9, u=u)

    def accuracy(penalty: float | None) -> float:
        found = choice_utilities(triplets.values, 20, "odd", penalty=penalty)
        return float(choice_accuracy(test, lambda i, j: found[i, j]).mean())

    assert accuracy(None) > max(accuracy(0.3), accuracy(12.0)) - 0.02


def test_too_many_objects_for_a_table():
    labels = [str(i) for i in range(10_001)]
    with pytest.raises(mm.DataError, match=r"10,001 objects are too many.*estimate by proportions"):
        mm.Triplets([[0, 1, 2]], labels).associations()
