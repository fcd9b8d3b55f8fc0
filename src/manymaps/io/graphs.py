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
from xml.etree.ElementTree import ParseError

from manymaps.data.tables import cell_label
from manymaps.errors import DataError, not_installed
from manymaps.io.columns import STRENGTH, folded
from manymaps.io.packing import unpacked
from manymaps.io.pairs import Pairs
from manymaps.io.tables import cells_of
from manymaps.labels import listed, repeated_label

WEIGHTS = ("weight", *STRENGTH)
NAMES = ("label", "name", "word")
NO_WEIGHTS = "no weights: every edge counts one"
ENCODINGS = ("utf-8", "utf-16-le", "utf-16-be")
# networkx raises these errors for missing or invalid values, keys and elements.
CONVERSION_ERRORS = (ValueError, LookupError, AttributeError, TypeError)


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
    labels = labels or {node: cell_label(node) for node in graph.nodes}
    repeated = repeated_label(list(labels.values()))
    if repeated is not None:
        raise DataError(
            f"{source} has two nodes with the label {repeated[0]!r}; labels must be unique"
        )
    edges = list(graph.edges(data=True))
    defaults = graph.graph.get("edge_default", {})  # of a GraphML file
    names = {str(key) for _, _, edge in edges for key in edge} | {*defaults}
    name = _weight_name(names, attribute, source)
    ends = [(labels[a], labels[b]) for a, b, _ in edges]
    values = [1.0 if name is None else edge.get(name, defaults.get(name, 1.0))
              for _, _, edge in edges]  # fmt: skip
    directed = bool(graph.is_directed())
    if not directed:
        reversible = [k for k, (a, b) in enumerate(ends) if a != b]  # a self-loop is a single pair
        values = values + [values[k] for k in reversible]
        ends = ends + [ends[k][::-1] for k in reversible]
    columns = [[end[side] for end in ends] for side in (0, 1)]
    return Pairs(
        cells_of(columns, values, lambda k: f"{source}, edge {ends[k][0]!r} - {ends[k][1]!r}"),
        source,
        objects=() if directed else tuple(labels.values()),
        similarities=not directed,
        notes=(NO_WEIGHTS,) if name is None else (),
    )


def _weight_name(names: set[str], attribute: str | None, source: str) -> str | None:
    """Return the name of the edge attribute with the weights, or None if edges are unweighted."""
    if attribute is None:
        return next((name for a in WEIGHTS for name in sorted(names) if folded(name) == a), None)
    if attribute not in names:
        raise DataError(
            f"{source}: no edge has an attribute {attribute!r}; edges have {listed(sorted(names))}"
        )
    return attribute


def read_graphml(path: Path, attribute: str | None) -> Pairs:
    """Read the edges of a GraphML file with networkx.

    Raises
    ------
    DataError
        If networkx cannot read the file, or if the file contains a DOCTYPE or no edges.
    ImportError
        If networkx is not installed.
    """
    graph = _parsed(path)
    if not graph.number_of_edges():
        raise DataError(f"{path} has no edges; expected a graph with edges, which become pairs")
    return graph_pairs(graph, attribute, str(path), _labels(graph))


def _parsed(path: Path) -> Any:
    """Parse a GraphML file, rejecting a DOCTYPE because entities could expand to any size."""
    try:
        import networkx
    except ImportError as error:
        raise ImportError(not_installed(f"reading {path}", "networkx")) from error
    with unpacked(path) as file:
        data = file.read()
    # networkx parses the file with ElementTree, which does not open other files but expands
    # entities.
    if any("<!DOCTYPE".encode(encoding) in data for encoding in ENCODINGS):
        raise DataError(
            f"{path} declares a document type (DOCTYPE), which GraphML does not need; remove it"
        )
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # ports and keys without a type do not affect pairs
            return networkx.read_graphml(io.BytesIO(data))
    except (ParseError, networkx.NetworkXException, *CONVERSION_ERRORS) as error:
        raise DataError(
            f"{path} cannot be read as GraphML ({' '.join(str(error).split())[:200]}); check that "
            "it is complete and in this format"
        ) from error


def _labels(graph: Any) -> dict[Any, str] | None:
    """Return the labels of the nodes, or None if no attribute contains unique labels."""
    nodes = dict(graph.nodes(data=True))
    for name in NAMES:
        labels = {
            node: cell_label(next((v for key, v in data.items() if folded(key) == name), None))
            for node, data in nodes.items()
        }
        if all(labels.values()) and repeated_label(list(labels.values())) is None:
            return labels
    return None
