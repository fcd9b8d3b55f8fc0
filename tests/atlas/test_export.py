"""Tables and graphs for other programs."""

import csv
from dataclasses import replace

import networkx as nx
import numpy as np
import pandas as pd
import pytest

from manymaps.atlas.atlas import Atlas
from manymaps.atlas.export import export_atlas, write_columns
from manymaps.errors import ParameterError
from manymaps.model.choice import CODE, MULTIPLE_MAPS_SNE, MULTIPLE_MAPS_T_SNE

LABELS = ["tie", 'knot, "tight"', "a\x00b"]


@pytest.fixture
def atlas() -> Atlas:
    maps = np.array([[[0.0, 0], [0.1, 0], [9, 9]], [[0, 0], [9, 9], [0.1, 0]]])
    proportions = np.array([[0.5, 1, 0], [0.5, 0, 1]])
    metadata = {"n": np.array([1, 2, 3]), "odd": np.array([True, False, True])}
    return Atlas(LABELS, maps, proportions, MULTIPLE_MAPS_T_SNE, metadata=metadata)


def rows_of(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_tables_hold_every_object_in_every_map(atlas, tmp_path):
    named = replace(atlas, metadata={"weight": np.array([7, 8, 9])})
    export_atlas(named, tmp_path / "a.csv")
    rows = rows_of(tmp_path / "a.csv")
    assert [row["label"] for row in rows] == [label for label in LABELS for _ in range(2)]
    assert [float(row["x"]) for row in rows] == [0, 0, 0.1, 9, 9, 0.1]
    assert [row["metadata_weight"] for row in rows] == ["7", "7", "8", "8", "9", "9"]
    export_atlas(atlas, tmp_path / "a.parquet")
    written = pd.read_parquet(tmp_path / "a.parquet")
    pd.testing.assert_frame_equal(
        written.drop(columns="weight"), atlas.to_frame(), check_dtype=False
    )
    shares = np.concatenate([atlas.shares(label).sum(axis=1) for label in LABELS])
    np.testing.assert_allclose(written["weight"], shares, atol=1e-6)


def test_maps_that_give_little_of_the_recall_can_be_left_out(atlas, tmp_path):
    atlas = replace(atlas, proportions=np.array([[0.999, 0.99, 0.5], [0.001, 0.01, 0.5]]))
    shares = np.array([atlas.shares(label).sum(axis=1) for label in LABELS])
    for least in (0.0, 0.05, 0.5, 1.0):
        left_out = export_atlas(atlas, tmp_path / "a.csv", min_weight=least)
        rows = {(row["label"], int(row["map"])) for row in rows_of(tmp_path / "a.csv")}
        best = shares == shares.max(axis=1, keepdims=True)
        kept = np.argwhere((shares >= least) | best)
        assert rows == {(LABELS[i], m) for i, m in kept}
        assert left_out == 6 - len(rows)
    assert left_out == 3


def by_definition(atlas: Atlas, count: int) -> dict[tuple[str, str], tuple[float, int]]:
    """Each object's strongest others, with q_ij and the map of the largest share, one by one."""
    edges = {}
    for i, label in enumerate(atlas.labels):
        shares = atlas.shares(label)
        similarities = shares.sum(axis=0)
        for j in np.argsort(-similarities, kind="stable")[:count]:
            if similarities[j] > 0:
                edges[f"n{i}", f"n{j}"] = (similarities[j], int(shares[:, j].argmax()))
    return edges


@pytest.mark.parametrize("kind", ["cauchy", "gaussian", "factors", "joint", "two kinds"])
def test_edges_are_those_of_the_model(kind, tmp_path):
    rng = np.random.default_rng(0)
    maps = rng.normal(size=(4, 300, 2))
    proportions = rng.dirichlet([0.3] * 4, size=300).T.astype(np.float32).astype(np.float64)
    model, others = {
        "cauchy": (MULTIPLE_MAPS_T_SNE, {}),
        "gaussian": (MULTIPLE_MAPS_SNE, {}),
        "factors": (replace(MULTIPLE_MAPS_T_SNE, kernel=2.0), {}),
        "joint": (replace(MULTIPLE_MAPS_T_SNE, normalization="joint"), {}),
        "two kinds": (CODE, {"kinds": ("site",) * 100 + ("bird",) * 200}),
    }[kind]
    if kind in ("factors", "two kinds"):
        others["factors"] = rng.uniform(0.3, 3, 300)
    atlas = Atlas([f"w{i}" for i in range(300)], maps, proportions, model, **others)
    export_atlas(atlas, tmp_path / "a.graphml", n_neighbors=5)
    graph, expected = nx.read_graphml(tmp_path / "a.graphml"), by_definition(atlas, 5)
    assert set(graph.edges) == set(expected)
    for ends, (weight, best) in expected.items():
        assert graph.edges[ends]["weight"] == pytest.approx(weight, rel=1e-4)
        assert graph.edges[ends]["map"] == best


def test_edges_of_who_is_far_from_all(tmp_path):
    """Where the similarities themselves are too small for a number, their logarithms are not."""
    maps = np.array([[[0.0, 0], [1, 0], [60, 0], [0, 1]]])
    atlas = Atlas(["a", "b", "far", "d"], maps, np.ones((1, 4)), MULTIPLE_MAPS_SNE)
    export_atlas(atlas, tmp_path / "a.graphml", n_neighbors=1)
    graph = nx.read_graphml(tmp_path / "a.graphml")
    assert graph.edges["n2", "n1"]["weight"] == pytest.approx(1)


def test_nodes_have_labels_places_and_metadata(atlas, tmp_path):
    export_atlas(atlas, tmp_path / "a.graphml", n_neighbors=1)
    graph = nx.read_graphml(tmp_path / "a.graphml")
    assert set(graph.edges) == {("n0", "n1"), ("n1", "n0"), ("n2", "n0")}
    assert graph.nodes["n1"]["label"] == LABELS[1]
    last = graph.nodes["n2"]
    assert last["label"] == "a\N{REPLACEMENT CHARACTER}b"
    assert (last["map"], last["x"], last["proportion"], last["odd"]) == (1, 0.1, 1, True)


def test_refusals(atlas, tmp_path):
    for call in (
        lambda: export_atlas(atlas, tmp_path / "a.xlsx"),
        lambda: export_atlas(atlas, tmp_path / "a.csv", min_weight=1.5),
        lambda: write_columns({"label": np.array(["tie"])}, tmp_path / "a.graphml"),
    ):
        with pytest.raises(ParameterError):
            call()
    assert not list(tmp_path.iterdir())
