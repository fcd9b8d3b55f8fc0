"""Purity and lift against slow loops that break every tie at random."""

import numpy as np
import pytest
from scipy import sparse

from manymaps.errors import DataError, ParameterError
from manymaps.metrics import spaces
from manymaps.metrics.groups import group_lift, group_purity
from manymaps.metrics.spaces import DistanceSpace, MapSpace


def slow_purity(points: np.ndarray, groups: np.ndarray) -> np.ndarray:
    """Shape (n_rows, n_rows - 1), for points without ties."""
    n = len(points)
    shares = np.empty((n, n - 1))
    for i in range(n):
        distances = np.linalg.norm(points - points[i], axis=1)
        others = [j for j in np.argsort(distances, kind="stable") if j != i]
        for k in range(1, n):
            shares[i, k - 1] = np.mean([groups[j] == groups[i] for j in others[:k]])
    return shares


def slow_lift(
    rows: np.ndarray, columns: np.ndarray, groups: np.ndarray, counts: np.ndarray, most: int
) -> np.ndarray:
    """Shape (n_rows, most), for places without ties."""
    lifts = np.empty((len(rows), most))
    for i in range(len(rows)):
        order = np.argsort(np.linalg.norm(columns - rows[i], axis=1))
        mine = counts[groups == groups[i]]
        ratios = [(mine[:, j].sum() / mine.sum()) / (counts[:, j].sum() / counts.sum())
                  for j in order]  # fmt: skip
        lifts[i] = [np.mean(ratios[:n]) for n in range(1, most + 1)]
    return lifts


@pytest.fixture
def embedded() -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """40 rows and 150 columns in the plane, three groups of rows, and counts."""
    rng = np.random.default_rng(3)
    groups = rng.choice(["x", "y", "z"], 40)
    rows, columns = rng.normal(size=(40, 2)), rng.normal(size=(150, 2))
    rows[:, 0] += groups == "x"
    return rows, columns, groups, rng.poisson(1.5, (40, 150))


def test_purity(embedded: tuple[np.ndarray, ...]) -> None:
    """Curve, means and standard error."""
    rows, _, groups, _ = embedded
    found, expected = group_purity(rows, groups), slow_purity(rows, groups)
    assert found.sizes.tolist() == list(range(1, 40))
    np.testing.assert_allclose(found.curve, expected.mean(axis=0))
    np.testing.assert_allclose(found.values, expected.mean(axis=1))
    assert found.mean == pytest.approx(expected.mean())
    assert found.standard_error == pytest.approx(expected.mean(axis=1).std(ddof=1) / 40**0.5)


@pytest.mark.parametrize("most", [1, 20, 99, 150, 500])
def test_lift(embedded: tuple[np.ndarray, ...], most: int) -> None:
    """Few neighbours are selected, many sorted; more than there are is all."""
    rows, columns, groups, counts = embedded
    found = group_lift(np.vstack([rows, columns]), groups, counts, most_neighbors=most)
    expected = slow_lift(rows, columns, groups, counts, min(most, 150))
    assert found.sizes[-1] == min(most, 150)
    np.testing.assert_allclose(found.curve, expected.mean(axis=0))
    np.testing.assert_allclose(found.values, expected.mean(axis=1))


def test_by_blocks(embedded: tuple[np.ndarray, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    """The size of a block changes nothing."""
    rows, columns, groups, counts = embedded
    places = np.vstack([rows, columns])
    whole = group_purity(rows, groups), group_lift(places, groups, counts)
    monkeypatch.setattr(spaces, "_CELLS", 300)
    parts = group_purity(rows, groups), group_lift(places, groups, counts)
    for a, b in zip(whole, parts, strict=True):
        np.testing.assert_allclose(a.curve, b.curve, rtol=1e-12)
        np.testing.assert_array_equal(a.values, b.values)


def test_ties_are_shared() -> None:
    """Points on a coarse grid: what lots give on average, and no order of rows matters."""
    rng = np.random.default_rng(0)
    rows, groups = rng.integers(0, 3, (12, 2)).astype(float), rng.integers(0, 2, 12)
    found = group_purity(rows, groups)
    drawn = [
        slow_purity(rows + 1e-6 * rng.normal(size=rows.shape), groups)[:, [0, 4]].mean(axis=0)
        for _ in range(500)
    ]
    np.testing.assert_allclose(np.mean(drawn, axis=0), found.curve[[0, 4]], atol=0.02)
    order = rng.permutation(12)
    np.testing.assert_allclose(group_purity(rows[order], groups[order]).curve, found.curve)
    columns, counts = rng.integers(0, 3, (30, 2)).astype(float), rng.poisson(2, (12, 30)) + 1
    for most in (5, 25):
        lift = group_lift(np.vstack([rows, columns]), groups, counts, most_neighbors=most)
        other = rng.permutation(30)
        moved = group_lift(
            np.vstack([rows, columns[other]]), groups, counts[:, other], most_neighbors=most
        )
        np.testing.assert_allclose(moved.curve, lift.curve)


def test_all_in_one_place() -> None:
    """An embedding that says nothing has the mean share and, weighted by counts, no lift."""
    groups = np.repeat([0, 1], [10, 30])
    purity = group_purity(np.zeros((40, 2)), groups)
    np.testing.assert_allclose(purity.curve, (10 * 9 + 30 * 29) / 40 / 39)
    counts = np.ones((40, 200))
    lift = group_lift(np.zeros((240, 2)), groups, counts)
    np.testing.assert_allclose(lift.curve, 1)
    assert len(lift.sizes) == 99


def test_many_maps() -> None:
    """Maps with proportions compare by the model's similarity; one map by its positions."""
    rng = np.random.default_rng(0)
    groups, counts = rng.integers(0, 2, 15), rng.poisson(2, (15, 25)) + 1
    maps, weights = rng.normal(size=(3, 40, 2)), rng.dirichlet(np.ones(3), 40).T
    space = MapSpace(maps, weights, kernel="gaussian")
    squared = ((maps[:, :, None] - maps[:, None]) ** 2).sum(axis=-1)
    similarity = (weights[:, :, None] * weights[:, None] * np.exp(-squared)).sum(axis=0)
    table = DistanceSpace(1 / similarity)
    np.testing.assert_allclose(
        group_lift(space, groups, counts).curve, group_lift(table, groups, counts).curve
    )
    documents = MapSpace(maps[:, :15], weights[:, :15], kernel="gaussian")
    expected = group_purity(DistanceSpace(1 / similarity[:15, :15]), groups)
    np.testing.assert_allclose(group_purity(documents, groups).curve, expected.curve)
    one = MapSpace(maps[:1], np.ones((1, 40)), kernel="gaussian")
    np.testing.assert_allclose(
        group_lift(one, groups, counts).values, group_lift(maps[0], groups, counts).values
    )


def test_columns_without_counts(embedded: tuple[np.ndarray, ...]) -> None:
    """They are nobody's neighbours."""
    rows, columns, groups, counts = embedded
    wider = sparse.csr_array(np.hstack([np.zeros((40, 3)), counts]))
    near = np.vstack([rows, rows[:3], columns])
    np.testing.assert_allclose(
        group_lift(near, groups, wider).values,
        group_lift(np.vstack([rows, columns]), groups, counts).values,
    )


def test_refusals(embedded: tuple[np.ndarray, ...]) -> None:
    """What does not fit, in numbers."""
    rows, columns, groups, counts = embedded
    places = np.vstack([rows, columns])
    for call, error, words in (
        (lambda: group_purity(rows, groups[1:]), DataError, "39 groups for 40 rows"),
        (lambda: group_purity(rows[:1], groups[:1]), DataError, "at least two rows"),
        (lambda: group_lift(columns, groups, counts), DataError, None),
        (lambda: group_lift(places, groups, counts, most_neighbors=0), ParameterError,
         "most_neighbors=0"),
        (lambda: group_lift(places, groups, counts * (groups != "x")[:, None]), DataError,
         "a group has no counts"),
    ):  # fmt: skip
        with pytest.raises(error, match=words):
            call()
