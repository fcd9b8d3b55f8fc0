"""Known labels in `fit`: what they take out, and what is refused."""

import numpy as np
import pytest
from scipy import sparse

import manymaps as mm
from manymaps.errors import DataError, ParameterError
from manymaps.maps.known_labels import label_groups

RNG = np.random.default_rng(0)
LABELS, GROUPS = RNG.integers(2, size=120), RNG.integers(3, size=120)
X = RNG.normal(0, 0.3, (120, 6))
X[:, 0] += 20 * LABELS
X[:, 1:4] += 4 * np.eye(3)[GROUPS]
NAMES = np.array(["old", "new"], dtype=object)[LABELS]
FIT = {"perplexity": 15, "max_iter": 300, "random_state": 0}


def share(positions, labels, among=None):
    """Share of the ten nearest neighbours with the same label."""
    squares = ((positions[:, None] - positions) ** 2).sum(axis=2)
    squares[np.eye(len(labels), dtype=bool) if among is None else among] = np.inf
    near = np.argsort(squares, axis=1)[:, :10]
    return (labels[near] == labels[:, None]).mean()


@pytest.fixture(scope="module")
def fit():
    return mm.TSNE(**FIT).fit(X, condition=NAMES)


def test_a_planted_factor_is_taken_out(fit):
    plain = mm.TSNE(**FIT).fit(X).embedding_
    same = LABELS[:, None] == LABELS
    assert share(plain, LABELS) == 1
    assert share(plain, GROUPS, same) < 0.8
    assert share(fit.embedding_, LABELS) < 0.7
    assert share(fit.embedding_, GROUPS) > 0.95
    assert share(fit.embedding_, GROUPS, same) > 0.95


def test_the_atlas_stores_labels_and_strength(fit, tmp_path):
    fit.atlas_.save(tmp_path / "a.atlas")
    atlas = mm.load_atlas(tmp_path / "a.atlas")
    assert atlas.metadata["condition"].tolist() == NAMES.tolist()
    assert atlas.parameters["condition_strength"] == 0.7
    # Probabilities are those of the maps themselves, without factors of labels.
    assert np.isfinite(atlas.log_normalizer)
    assert fit.transform(X[:3]).shape == (3, 2)


def test_equal_labels_of_other_types_give_the_same_fit(fit):
    again = mm.TSNE(**FIT).fit(X, condition=(LABELS == 0).tolist())
    assert np.array_equal(again.maps_, fit.maps_)
    tables = mm.TSNE(metric="precomputed", init="random", **FIT), mm.TSNE(init="random", **FIT)
    distances = np.linalg.norm(X[:, None] - X, axis=2)
    by_table, by_rows = (
        one.fit(rows, condition=NAMES) for one, rows in zip(tables, (distances, X), strict=True)
    )
    assert by_table.kl_divergence_ == pytest.approx(by_rows.kl_divergence_, rel=0.02)


def test_missing_labels_belong_to_no_group():
    expected = [0, -1, 1, -1, 0, -1]
    assert label_groups(["a", None, "b", float("nan"), "a", ""]).tolist() == expected
    assert label_groups(np.array([1, np.nan, 2, np.nan, 1, np.nan])).tolist() == expected
    pandas = pytest.importorskip("pandas")
    series = pandas.Series(["a", pandas.NA, "b", None, "a", ""], dtype="string")
    assert label_groups(series).tolist() == expected
    some = np.where(np.arange(120) % 4 == 0, None, NAMES)
    fitted = mm.TSNE(**FIT).fit(X, condition=some)
    assert share(fitted.embedding_, LABELS) < 0.95


def test_an_order_of_objects_does_not_matter():
    """More than 2,000 objects are reordered, with their labels."""
    n = 2100
    rows = np.random.default_rng(1).normal(size=(n, 3))
    labels = np.arange(n) % 3
    start = rows[:, :2].copy()
    settings = {"max_iter": 5, "random_state": 0, "perplexity": 10, "tolerance": 1e-4}
    whole = mm.TSNE(init=start, **settings).fit(rows, condition=labels)
    back = mm.TSNE(init=start[::-1], **settings).fit(rows[::-1], condition=labels[::-1])
    assert np.abs(whole.maps_ - back.maps_[:, ::-1]).max() < 1e-3 * np.abs(whole.maps_).max()


@pytest.mark.parametrize(
    "make", [mm.MultipleMapsTSNE, mm.MultipleMapsSNE], ids=lambda m: m.__name__
)
def test_several_maps_and_neighbours(make):
    graph = mm.nearest_neighbors(X, 45)
    settings = {"n_maps": 2, "perplexity": 15, "max_iter": 20, "random_state": 0}
    plain = make(**settings).fit(graph)
    fitted = make(**settings).fit(graph, condition=NAMES, condition_strength=0.8)
    assert not np.array_equal(plain.maps_, fitted.maps_)
    assert np.isfinite(fitted.kl_divergence_)


def test_a_checkpoint_belongs_to_its_labels(tmp_path):
    path = tmp_path / "a.state"
    estimator = mm.TSNE(**FIT | {"max_iter": 5})
    whole = estimator.fit(X, condition=NAMES, checkpoint=path)
    same = estimator.fit(X, condition=NAMES, resume=path)
    assert np.array_equal(whole.maps_, same.maps_)
    with pytest.raises(DataError, match="other data"):
        estimator.fit(X, condition=GROUPS, resume=path)


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (NAMES[:9], "condition has 9 labels for 120 objects; expected one label for each"),
        (["a"] * 120, "condition contains one label, 'a'; expected at least two"),
        ([None] * 120, "condition contains no labels"),
        (range(120), "condition contains a different label for each object"),
        (np.zeros((120, 2)), r"condition has shape \(120, 2\)"),
        (np.arange(120) % 50, "condition has 50 labels, but the perplexity is 15"),
    ],
    ids=["short", "one", "none", "each", "table", "many"],
)
def test_labels_that_cannot_be_used(labels, message):
    with pytest.raises(ParameterError, match=message):
        mm.TSNE(**FIT).fit(X, condition=labels)


def gaps():
    similarities = np.exp(-((X[:, None] - X) ** 2).sum(axis=2))
    similarities[0, 1] = similarities[1, 0] = np.nan
    return similarities


@pytest.mark.parametrize(
    ("estimator", "options", "message"),
    [
        (mm.UniSNE(), {}, "a background; use background=0"),
        (mm.MultipleMapsTSNE(2, divergence="inverse"), {}, "divergence='inverse'"),
        (mm.TSNE(affinity="precomputed"), {"X": gaps()}, "missing similarities"),
    ],
    ids=["background", "inverse", "weights", "missing"],
)
def test_fits_that_do_not_support_labels(estimator, options, message):
    with pytest.raises(ParameterError, match=f"condition cannot be combined with {message}"):
        estimator.fit(**{"X": X, "condition": NAMES} | options)
    with pytest.raises(ParameterError, match="condition_strength=1 must be"):
        mm.TSNE().fit(X, condition=NAMES, condition_strength=1)


def test_sparse_rows_and_scales():
    rows = sparse.csr_array(np.where(abs(X) > 1, X, 0))
    fitted = mm.TSNE(**FIT | {"perplexity": (5, 20), "max_iter": 20}).fit(rows, condition=NAMES)
    assert np.isfinite(fitted.kl_divergence_)
