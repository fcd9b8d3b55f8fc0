"""Edges of networkx graphs, and of GraphML files, as a data frame.

A directed edge becomes a pair from its source to its target, and an undirected edge becomes a pair
in both directions. The weight is the attribute named by the user, then "weight", then an attribute
with a usual name of strengths. An edge without this attribute has weight 1.

The label of a node in a file is the attribute "label", "name" or "word". If the attribute is
incomplete or not unique, the node id is used as the label.
"""

from __future__ import annotations

import io
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

from manymaps.archive.door import reading
from manymaps.checks import check_labels
from manymaps.data.tables import cell_label
from manymaps.errors import DataError, not_installed
from manymaps.io.columns import folded
from manymaps.io.files import read_bytes
from manymaps.io.frames import described

if TYPE_CHECKING:
    import pandas as pd

NAMES = ("label", "name", "word")


def is_graph(data: Any) -> bool:
    """Return whether an object in memory is a networkx graph."""
    return all(hasattr(data, name) for name in ("nodes", "edges", "is_directed"))


def edges_of(graph: Any) -> pd.DataFrame:
    """Return two columns of labels and a column for each attribute of the edges.

    Raises
    ------
    DataError
        If two nodes have the same label.
    """
    import networkx

    labels = {node: cell_label(node) for node in graph.nodes}
    source = graph.graph.get("source", "the graph")
    check_labels(list(labels.values()), len(labels), "node", source=source)
    both_ways = graph if graph.is_directed() else graph.to_directed()
    # Attributes have other names.
    frame = networkx.to_pandas_edgelist(both_ways, source=" cue", target=" response")
    for end in (0, 1):
        frame.isetitem(end, frame.iloc[:, end].map(labels))
    defaults = dict.fromkeys(frame, 1) | graph.graph.get("edge_default", {})
    frame = frame.fillna(defaults)
    return described(frame, source, objects=() if graph.is_directed() else tuple(labels.values()))


def read_graphml(path: Path) -> Any:
    """Read a GraphML file as a graph of networkx, whose nodes are labels.

    Raises
    ------
    DataError
        If networkx cannot read the file, or if the file contains a DOCTYPE or no edges.
    ImportError
        If networkx is not installed.
    """
    try:
        import networkx
    except ImportError as error:
        raise ImportError(not_installed(f"reading {path}", "networkx")) from error
    data = read_bytes(path, "a graph")
    # networkx parses the file with ElementTree, which does not open other files but expands
    # entities to any size.
    if b"<!DOCTYPE" in data.replace(b"\x00", b""):
        raise DataError(
            f"{path} declares a document type (DOCTYPE), which GraphML does not need; remove it"
        )
    with reading(path, "GraphML"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # ports and keys without a type do not affect pairs
        graph = networkx.read_graphml(io.BytesIO(data))
    if not graph.number_of_edges():
        raise DataError(f"{path} has no edges; expected a graph with edges, which become pairs")
    graph.graph["source"] = str(path)
    return networkx.relabel_nodes(graph, _labels(graph))


def _labels(graph: Any) -> dict[Any, str]:
    """Return the labels of the nodes, which are empty if no attribute contains unique labels."""
    attributes = {folded(key): key for _, node in graph.nodes(data=True) for key in node}
    for name in NAMES:
        labels = {n: cell_label(x) for n, x in graph.nodes(data=attributes.get(name, name))}
        if all(labels.values()) and len(set(labels.values())) == len(labels):
            return labels
    return {}
