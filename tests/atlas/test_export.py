"""Tables and graphs for other programs."""

import csv

import networkx as nx
import numpy as np
import polars as pl
import pytest

from manymaps.atlas.atlas import Atlas
from manymaps.atlas.export import export_atlas, write_columns
from manymaps.errors import ParameterError
from manymaps.model.choice import MULTIPLE_MAPS_T_SNE

LABELS = ["tie", 'knot, "tight"', "a\x00b"]


@pytest.fixture
def atlas() -> Atlas:
    maps = np.array([[[0.0, 0], [0.1, 0], [9, 9]], [[0, 0], [9, 9], [0.1, 0]]])
    proportions = np.array([[0.5, 1, 0], [0.5, 0, 1]])
    metadata = {"n": np.array([1, 2, 3]), "odd": np.array([True, False, True])}
    return Atlas(LABELS, maps, proportions, MULTIPLE_MAPS_T_SNE, metadata=metadata)


def test_csv_holds_every_object_in_every_map(atlas, tmp_path):
    export_atlas(atlas, tmp_path / "a.csv")
    with (tmp_path / "a.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["label"] for row in rows] == [label for label in LABELS for _ in range(2)]
    assert [float(row["x"]) for row in rows] == [0, 0, 0.1, 9, 9, 0.1]
    assert rows[0]["n"] == "1"


def test_parquet_holds_the_frame(atlas, tmp_path):
    export_atlas(atlas, tmp_path / "a.parquet")
    assert pl.read_parquet(tmp_path / "a.parquet").equals(atlas.to_frame("polars"))


def test_graph_holds_the_strongest_similarities(atlas, tmp_path):
    export_atlas(atlas, tmp_path / "a.graphml", n_neighbors=1)
    graph = nx.read_graphml(tmp_path / "a.graphml")
    assert graph.is_directed()
    assert graph.nodes["n1"]["label"] == LABELS[1]
    assert graph.nodes["n2"]["label"] == "a\N{REPLACEMENT CHARACTER}b"
    assert graph.nodes["n2"]["map"] == 1
    assert graph.nodes["n2"]["odd"] is True
    assert set(graph.edges) == {("n0", "n1"), ("n1", "n0"), ("n2", "n0")}
    edge = graph.edges["n2", "n0"]
    assert edge["map"] == 1
    assert edge["weight"] == pytest.approx(atlas.similarity(LABELS[2], "tie"))


def test_other_suffix_is_refused(atlas, tmp_path):
    with pytest.raises(ParameterError, match=r"\.csv, \.parquet or \.graphml"):
        export_atlas(atlas, tmp_path / "a.xlsx")
    with pytest.raises(ParameterError, match=r"must end in \.csv or \.parquet"):
        write_columns({"label": np.array(["tie"])}, tmp_path / "a.graphml")
    assert not list(tmp_path.iterdir())
