"""Conversion of networkx graphs, and of GraphML files, to pairs.

A directed edge becomes a pair from its source to its target, and an undirected edge becomes a pair
in both directions. Repeated edges are merged later, like repeated pairs. The weight is the
attribute named by the user, then "weight", then an attribute with a common name for strengths. An
edge without this attribute has weight 1.

The label of a node in a file is the attribute "label", "name" or "word". If the attribute is
incomplete or not unique, the node id is used as the label.
"""

from __future__ import annotations

import io
import warnings
from pathlib import Path
from typing import Any

from manymaps.archive.door import reading
from manymaps.checks import check_labels
from manymaps.data.tables import cell_label
from manymaps.errors import DataError, not_installed
from manymaps.io.columns import STRENGTH, Role, find_roles, folded
from manymaps.io.files import read_bytes
from manymaps.io.frames import described
from manymaps.io.pairs import Pairs
from manymaps.io.tables import Table

WEIGHT = Role("strength", "weights", ("weight", *STRENGTH), required=False)
NAMES = ("label", "name", "word")
ENCODINGS = ("utf-8", "utf-16-le", "utf-16-be")


def is_graph(data: Any) -> bool:
    """Return whether an object in memory is a networkx graph."""
    return all(hasattr(data, name) for name in ("nodes", "edges", "is_directed"))


def graph_pairs(
    graph: Any,
    attribute: str | None,
    source: str = "the graph",
    labels: dict[Any, str] | None = None,
) -> Pairs:
    """Convert each edge to a pair, and each undirected edge to a pair in both directions.

    Raises
    ------
    DataError
        If no edge has the attribute, or if two nodes have the same label.
    """
    import networkx

    labels = labels or {node: cell_label(node) for node in graph.nodes}
    check_labels(list(labels.values()), len(labels), "node", source=source)
    directed = graph.is_directed()
    # An undirected edge is directed both ways. Spaces are not names of attributes.
    both_ways = graph if directed else graph.to_directed()
    frame = networkx.to_pandas_edgelist(both_ways, source=" ", target="  ")
    names = list(map(str, frame.columns[2:]))
    (at,) = find_roles(names, (WEIGHT,), {"strength": attribute}, source, what="attribute")
    weight = None if at is None else at + 2
    if weight is not None:
        default = graph.graph.get("edge_default", {}).get(frame.columns[weight], 1)  # of a file
        frame.isetitem(weight, frame.iloc[:, weight].fillna(default))
    for end in (0, 1):
        frame.isetitem(end, frame.iloc[:, end].map(labels))
    return Pairs(
        Table(described(frame, source)).read((0, 1), weight),
        source,
        objects=() if directed else tuple(labels.values()),
        similarities=not directed,
        notes=() if weight else ("no weights: every edge counts one",),
    )


def read_graphml(path: Path, attribute: str | None) -> Pairs:
    """Read the edges of a GraphML file with networkx.

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
    if any("<!DOCTYPE".encode(encoding) in data for encoding in ENCODINGS):
        raise DataError(
            f"{path} declares a document type (DOCTYPE), which GraphML does not need; remove it"
        )
    with reading(path, "GraphML"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # ports and keys without a type do not affect pairs
        graph = networkx.read_graphml(io.BytesIO(data))
    if not graph.number_of_edges():
        raise DataError(f"{path} has no edges; expected a graph with edges, which become pairs")
    return graph_pairs(graph, attribute, str(path), _labels(graph))


def _labels(graph: Any) -> dict[Any, str] | None:
    """Return the labels of the nodes, or None if no attribute contains unique labels."""
    attributes = {folded(key): key for _, node in graph.nodes(data=True) for key in node}
    for name in NAMES:
        labels = {n: cell_label(x) for n, x in graph.nodes(data=attributes.get(name, name))}
        if all(labels.values()) and len(set(labels.values())) == len(labels):
            return labels
    return None
