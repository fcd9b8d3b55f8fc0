"""How non-metric data are: figures beside slow twins, and what tells kinds of data apart."""

import itertools
import sys
from pathlib import Path
from unittest import mock

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.stats import rankdata

from manymaps.analysis import diagnosis
from manymaps.analysis.diagnosis import diagnose
from manymaps.analysis.nonmetricity import (
    asymmetry,
    intransitivity,
    nearest_neighbor_figures,
    negative_share_of_distances,
    negative_share_of_similarities,
    scaled_similarities,
    strong_links,
)
from manymaps.analysis.record import Record
from manymaps.data.associations import Associations
from manymaps.data.vectors import Vectors
from manymaps.errors import DataError, ParameterError
from manymaps.io.associations import associations_from, read_associations

NO_STRESSES = dict.fromkeys(("stress", "stress_in_four", "stress_by_chance"), 0.5)
NO_FITS = [diagnosis._Fit(1, d, 1.0, 1.0) for d in (2, 4)]
EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def table(n: int, seed: int, filled: float = 0.4, levels: int = 6) -> np.ndarray:
    """Random similarities with many ties, none on the diagonal, and no object without a row."""
    rng = np.random.default_rng(seed)
    values = rng.integers(1, levels, (n, n)) * (rng.random((n, n)) < filled) / 8
    values[np.arange(n), (np.arange(n) + 1) % n] = 0.25
    np.fill_diagonal(values, 0)
    return values


def slow_nearest(S: np.ndarray) -> tuple[float, float]:
    """C and the most shared, as means over all ways to break ties."""
    n = len(S)
    chances = np.zeros((n, n))
    for i in range(n):
        best = np.flatnonzero(S[i] == S[i].max())
        chances[i, best] = 1 / len(best)
    centrality = 0.0
    for j in range(n):
        # The square of a sum of independent chances: every two rows, and each row with itself.
        for a, b in itertools.product(range(n), repeat=2):
            centrality += chances[a, j] if a == b else chances[a, j] * chances[b, j]
    return centrality / n, chances.sum(axis=0).max()


def slow_links(S: np.ndarray, k: int) -> np.ndarray:
    links = np.zeros(S.shape, bool)
    for i, row in enumerate(S):
        listed = sorted(row[row > 0], reverse=True)
        for j in range(len(S)):
            if listed and row[j] >= listed[min(k, len(listed)) - 1]:
                links[i, j] = links[j, i] = True
    return links


def slow_intransitivity(strong: np.ndarray, linked: np.ndarray) -> float:
    ends = [
        (a, c)
        for b in range(len(strong))
        for a, c in itertools.combinations(np.flatnonzero(strong[b]), 2)
    ]
    return sum(not linked[a, c] for a, c in ends) / len(ends)


def slow_reciprocity(S: np.ndarray) -> float:
    """The mean rank of i at its nearest neighbours j; all objects without a value come after."""
    ranks, shares = [], []
    for i in range(len(S)):
        nearest = np.flatnonzero((S[i] == S[i].max()) & (S[i] > 0))
        for j in nearest[S[nearest].any(axis=1)]:
            values = S[j][S[j] > 0]
            places = rankdata(-values)[values == S[j, i]]
            ranks.append(places[0] if len(places) else len(values) + 1.0)
            shares.append(1 / len(nearest))
    return np.average(ranks, weights=shares)


def slow_negative(D: np.ndarray) -> float:
    n = len(D)
    J = np.eye(n) - 1 / n
    values = np.linalg.eigvalsh(-0.5 * J @ (D**2) @ J)
    return -values[values < 0].sum() / np.abs(values).sum()


@pytest.mark.parametrize("seed", range(2))
def test_figures_are_those_of_the_slow_twins(seed):
    S = table(13, seed)
    near = sparse.csr_array(S)
    i, j = np.triu_indices(13, 1)
    unreturned = np.abs(S[i, j] - S[j, i]).sum() / (S[i, j] + S[j, i]).sum()
    assert asymmetry(near) == pytest.approx(unreturned)

    centrality, reciprocity, most_shared, _ = nearest_neighbor_figures(near)
    assert (centrality, most_shared) == pytest.approx(slow_nearest(S))
    assert reciprocity == pytest.approx(slow_reciprocity(S))

    strong, linked = strong_links(near, 2), strong_links(near, 5)
    np.testing.assert_array_equal(strong.toarray(), slow_links(S, 2))
    expected = slow_intransitivity(slow_links(S, 2), slow_links(S, 5))
    assert intransitivity(strong, linked) == pytest.approx(expected)

    W = (S + S.T) / 2
    scaled = scaled_similarities(sparse.csr_array(W))
    largest = W.max(axis=1)
    np.testing.assert_allclose(scaled.toarray(), W / np.sqrt(np.outer(largest, largest)))
    D = np.sqrt(np.maximum(2 * (1 - scaled.toarray()), 0))
    np.fill_diagonal(D, 0)
    assert negative_share_of_similarities(scaled) == pytest.approx(slow_negative(D))


def test_the_negative_part_of_distances_is_that_of_the_slow_twin():
    D = table(12, 0, filled=1.0, levels=9)
    assert negative_share_of_distances(D + D.T) == pytest.approx(slow_negative(D + D.T))


def figures(found: Record) -> np.ndarray:
    return np.array([
        found.asymmetry, found.intransitivity, found.centrality,
        found.max_shared_nearest_neighbor, found.negative_share,
    ])  # fmt: skip


def without_fits():
    return mock.patch.multiple(
        diagnosis, _fits=lambda *_, **__: NO_FITS, _stresses=lambda *_, **__: NO_STRESSES
    )


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 2**20), st.sampled_from([1e-8, 0.3, 1e12, 2.0**-980, 2.0**1000]))
@example(120252, 0.3)  # the mean of two similarities is the largest but for rounding
def test_neither_the_order_nor_the_unit_matters(seed, unit):
    S, order = table(9, seed), np.random.default_rng(seed).permutation(9)
    distances = 0.1 + np.random.default_rng(seed).random((9, 9))
    distances = np.triu(distances, 1) + np.triu(distances, 1).T
    for values, name in ((S, "affinity"), (distances, "metric")):
        with without_fits():
            first = diagnose(values, **{name: "precomputed"})
            second = diagnose(unit * values[np.ix_(order, order)], **{name: "precomputed"})
        np.testing.assert_allclose(figures(second), figures(first), rtol=1e-6, atol=1e-9)


def test_the_three_constructions_need_two_maps_each(monkeypatch):
    monkeypatch.syspath_prepend(EXAMPLES)
    figure1 = __import__("figure1_2009")
    found = {}
    for construction in (figure1.intransitive(), figure1.central(3), figure1.asymmetric()):
        P = figure1.choices(construction.atlas("cauchy"))
        found[construction.name] = diagnose(P, affinity="precomputed", n_jobs=1)
    sys.modules.pop("figure1_2009")
    assert {name: one.suggested_maps for name, one in found.items()} == dict.fromkeys(found, 2)
    for one in found.values():
        assert one.maps[0]["held"] < 0.9
        assert one.maps[1]["held"] > 0.999
        assert one.negative_share > 0.05
    assert found["intransitive"].intransitivity == 1
    assert found["central"].max_shared_nearest_neighbor == 6
    assert found["central"].centrality > 5
    for name in ("intransitive", "asymmetric"):
        assert found[name].max_shared_nearest_neighbor <= 2
    assert found["asymmetric"].intransitivity < 0.2
    assert found["asymmetric"].asymmetry > 0.1


def test_points_in_a_space_need_one_map():
    found = diagnose(np.random.default_rng(0).uniform(size=(200, 2)))
    assert found.suggested_maps == len(found.maps) == 1
    assert found.asymmetry == 0
    assert found.negative_share < 1e-9
    assert found.centrality < 2.5
    assert found.intransitivity < 0.05
    assert found.maps[0]["kept"] > 0.97


def distances(points: np.ndarray) -> np.ndarray:
    return np.linalg.norm(points[:, None] - points, axis=-1)


def judged(similarities: np.ndarray, noise: float, seed: int) -> np.ndarray:
    """With judgements' errors, the same both ways."""
    error = np.triu(np.random.default_rng(seed).normal(0, noise, similarities.shape), 1)
    table = np.clip(similarities + error + error.T, 0.001, None)
    np.fill_diagonal(table, 0)
    return table


def colors(noise: float, seed: int = 0) -> np.ndarray:
    """Fourteen hues round most of a circle, as Ekman (1954) had."""
    angles = np.linspace(0, 5.2, 14)
    circle = np.column_stack([np.cos(angles), np.sin(angles)])
    return judged(np.exp(-1.2 * distances(circle) ** 1.3), noise, seed)


def worlds(n: int, noise: float, seed: int) -> np.ndarray:
    """Two planes, a third of the objects by halves in both."""
    rng = np.random.default_rng(seed)
    shared, rest = n // 3, n - n // 3
    shares = np.zeros((2, n))
    shares[:, :shared] = 0.5
    shares[0, shared : shared + rest // 2] = shares[1, shared + rest // 2 :] = 1
    total = np.zeros((n, n))
    for own in shares:
        total += np.outer(own, own) * np.exp(-1.5 * distances(rng.normal(size=(n, 2))))
    np.fill_diagonal(total, 0)
    return judged(total / total.max(), noise, seed)


@pytest.mark.parametrize(("noise", "stress"), [(0.0, 0.01), (0.05, 0.12)])
def test_a_circle_of_colors_needs_one_map(noise, stress):
    found = diagnose(colors(noise), affinity="precomputed")
    assert found.suggested_maps == 1
    assert (found.serves, found.suggested_dimensions) == ("plane", 2)
    assert found.stress < stress < 0.2 < found.stress_by_chance
    assert (
        found.maps[0]["held"] < 0.95 < found.maps[1]["held"]
    )  # by which two maps were suggested once


def test_a_cloud_of_four_dimensions_needs_dimensions():
    points = np.random.default_rng(0).normal(size=(30, 4)) / np.sqrt(2)
    found = diagnose(judged(np.exp(-distances(points)), 0.02, 0), affinity="precomputed")
    assert (found.serves, found.suggested_maps, found.suggested_dimensions) == ("dimensions", 1, 4)
    assert found.held_in_four > found.maps[0]["held"] + 0.03
    assert found.stress_in_four < found.stress / 2


@pytest.mark.parametrize("noise", [0.0, 0.05])
def test_two_worlds_need_maps(noise):
    found = diagnose(worlds(24, noise, 0), affinity="precomputed")
    assert (found.serves, found.suggested_maps, found.suggested_dimensions) == ("maps", 2, 2)
    assert found.maps[1]["held"] > found.held_in_four + 0.03
    assert found.stress > 0.1


def test_symmetric_values_are_joint_whatever_reading_made_of_their_rows():
    values = np.zeros((15, 15))
    values[:14, :14] = colors(0.03)  # and one that is like no other
    read = associations_from(values)
    assert not read.is_symmetric
    assert read.row_sums is not None
    np.testing.assert_allclose(read.similarities.toarray(), values)
    one = diagnose(read)
    other = diagnose(associations_from(values, rows="keep"))
    np.testing.assert_allclose(figures(one), figures(other), atol=1e-9)
    np.testing.assert_allclose(one.to_frame().held, other.to_frame().held, atol=0.02)
    # What follows is known before a fit.
    with without_fits():
        third = diagnose(values, affinity="precomputed")
        rows = diagnose(np.tril(values) * 2 + np.triu(values), affinity="precomputed")
    for found in (one, other, third):
        assert found.asymmetry == 0
        assert found.normalization == "joint"
        assert found.n_objects == 14
        assert "symmetric, so they were judged jointly" in found.notes[-1]
    assert rows.normalization == "conditional"
    assert rows.asymmetry > 0.1


def test_joint_shares_are_over_all_pairs():
    line = np.array([[[0.0], [1.0], [3.0]]])
    P = np.array([[0, 0.3, 0.1], [0.3, 0, 0.1], [0.1, 0.1, 0]])
    similar = 1 / (1 + distances(line[0]) ** 2)
    np.fill_diagonal(similar, 0)
    held = np.minimum(P, similar / similar.sum()).sum()
    found = diagnosis.shares_of_strength(line, np.ones((1, 3)), sparse.csr_array(P), "joint")
    assert found == pytest.approx((held, 1.0))


@pytest.mark.slow
def test_free_association_is_far_from_metric(data_folder):
    norms = read_associations(data_folder / "usf" / "usf_free_association.tsv.gz")
    found = diagnose(norms)
    assert found.n_objects == 5018
    assert found.asymmetry > 0.7
    assert found.intransitivity > 0.8
    assert found.centrality > 5
    assert found.most_shared == "MONEY"
    assert found.max_shared_nearest_neighbor > 60
    assert found.negative_share > 0.08
    assert found.suggested_maps >= 10
    assert found.maps[0]["kept"] < 0.6 < 0.8 < max(fit["kept"] for fit in found.maps)
    assert found.maps[1]["kept"] > found.kept_in_four + 0.03


def test_the_same_seed_gives_the_same_figures_at_any_number_of_threads(monkeypatch):
    monkeypatch.setattr("manymaps.optimizers.loop._FEW_PAIRS", 0)
    monkeypatch.setattr(diagnosis, "_ITERATIONS", 20)
    data = Associations([str(i) for i in range(130)], sparse.csr_array(table(130, 3, 0.05)))
    assert diagnose(data, n_jobs=1) == diagnose(data, n_jobs=2)


def test_vectors_keep_their_labels_and_many_are_drawn_by_lot(monkeypatch):
    monkeypatch.setattr(diagnosis, "_MOST_DISTANCES", 300)
    rng = np.random.default_rng(0)
    hub = np.vstack([np.zeros((1, 8)), np.eye(8), -np.eye(8)]) + rng.normal(0, 0.01, (17, 8))
    with without_fits():
        found = diagnose(Vectors(["hub", *map(str, range(16))], hub))
        sample = diagnose(rng.normal(size=(320, 2)).astype(np.float32))
    assert (found.most_shared, found.max_shared_nearest_neighbor) == ("hub", 16)
    assert (sample.n_objects, sample.n_pairs) == (300, 300 * 299 // 2)
    assert "a random 300 of 320 objects" in sample.notes[0]


def test_objects_without_similarity_are_left_out():
    S = np.zeros((6, 6))
    S[:3, :3] = [[0, 0.5, 0.5], [1, 0, 0], [1, 0, 0]]
    found = diagnose(S, affinity="precomputed")
    assert found.n_objects == 3
    assert found.normalization == "conditional"
    assert found.notes == ("3 objects without a similarity to another, left out",)


SIMILAR, APART = {"affinity": "precomputed"}, {"metric": "precomputed"}
REFUSALS = [
    (np.zeros((4, 4)), SIMILAR, DataError), (np.eye(4), SIMILAR, DataError),
    ([[0, 1], [1, 0]], SIMILAR, DataError), ([[0.0, 1.0]], {}, DataError),
    (np.ones((4, 4)), SIMILAR, DataError), (1 - np.eye(4), APART, DataError),
    (np.full((4, 4), np.nan), SIMILAR, DataError), (-np.ones((4, 4)), SIMILAR, DataError),
    (np.ones((3, 4)), SIMILAR, DataError), (sparse.csr_array(1 - np.eye(4)), APART, DataError),
    ([[0, 1, 2], [2, 0, 1], [2, 1, 0]], APART, DataError),
    (np.eye(10), {"affinity": "gaussian"}, ParameterError),
    (np.eye(10), {"metric": "no such"}, ParameterError),
]  # fmt: skip


@pytest.mark.parametrize(("data", "options", "error"), REFUSALS)
def test_refusals(data, options, error):
    with pytest.raises(error):
        diagnose(data if sparse.issparse(data) else np.asarray(data, float), **options)
