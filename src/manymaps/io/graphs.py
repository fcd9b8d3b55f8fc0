"""Conversion of graphs to pairs, from GraphML files, space-separated edge lists or memory.

    GraphML          `networkx.read_graphml`
    edge lists       source target weight per line, as networkx and igraph (ncol) write them
    in memory        networkx and igraph, recognized by their interfaces

A directed edge becomes a pair from its source to its target, and an undirected edge becomes a pair
in both directions. Repeated edges are merged later, like repeated pairs. The weight is the
attribute named by the user, then "weight", then an attribute with a common name for strengths. An
edge without this attribute has weight 1.

The label of a node in a file is the attribute "label", "name" or "word", in which igraph, Gephi and
yEd store names. If the attribute is incomplete or not unique, the node id is used as the label.
"""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import ParseError

from manymaps.data.frames import cell_label
from manymaps.errors import DataError, not_installed
from manymaps.io.columns import STRENGTH, folded
from manymaps.io.packing import unpacked
from manymaps.io.pairs import Pairs
from manymaps.io.tables import cells_of
from manymaps.labels import listed, repeated_label, shown

WEIGHTS = ("weight", *STRENGTH)
NAMES = ("label", "name", "word")
SPACED = (".edgelist", ".ncol")
NO_WEIGHTS = "no weights: every edge counts one"
ENCODINGS = ("utf-8", "utf-16-le", "utf-16-be")
# networkx raises these errors for missing or invalid values, keys and elements.
CONVERSION_ERRORS = (ValueError, LookupError, AttributeError, TypeError)
_WRITTEN_WEIGHT = re.compile(rb"""['"]weight['"]\s*:\s*([^,}\s]+)""")

Ends = list[tuple[str, str]]
Parts = tuple[list[str], Ends, list[Any] | None]


def is_graph(data: Any) -> bool:
    """Return whether an object in memory is a networkx or igraph graph."""
    return _is_igraph(data) or all(hasattr(data, x) for x in ("nodes", "edges", "is_directed"))


def _is_igraph(data: Any) -> bool:
    return all(hasattr(data, name) for name in ("vs", "es", "get_edgelist", "is_directed"))


def graph_pairs(graph: Any, attribute: str | None) -> Pairs:
    """Convert a graph in memory to pairs, with weights from an edge attribute.

    Raises
    ------
    DataError
        If no edge has the attribute, or if two nodes have the same label.
    """
    if _is_igraph(graph):
        parts = _igraph_parts(graph, attribute)
    else:
        parts = _networkx_parts(graph, attribute, {node: cell_label(node) for node in graph.nodes})
    repeated = repeated_label(parts[0])
    if repeated is not None:
        raise DataError(
            f"the graph has two nodes with the label {repeated[0]!r}; labels must be unique"
        )
    return _pairs(parts, graph, "the graph")


def _pairs(parts: Parts, graph: Any, source: str, notes: tuple[str, ...] = ()) -> Pairs:
    """Convert each edge to a pair, and each undirected edge to a pair in both directions."""
    nodes, ends, weights = parts
    directed = bool(graph.is_directed())
    values = [1.0] * len(ends) if weights is None else weights
    if not directed:
        reversible = [k for k, (a, b) in enumerate(ends) if a != b]  # a self-loop is a single pair
        values = values + [values[k] for k in reversible]
        ends = ends + [ends[k][::-1] for k in reversible]
    columns = [[end[side] for end in ends] for side in (0, 1)]
    return Pairs(
        cells_of(columns, values, lambda k: f"{source}, edge {ends[k][0]!r} - {ends[k][1]!r}"),
        source,
        objects=() if directed else tuple(nodes),
        similarities=not directed,
        notes=notes if weights is not None else (*notes, NO_WEIGHTS),
    )


def _networkx_parts(graph: Any, attribute: str | None, labels: Mapping[Any, str]) -> Parts:
    """Return the node labels, the ends of each edge, and the weights if there are any."""
    edges = list(graph.edges(data=True))
    defaults = graph.graph.get("edge_default", {})  # of a GraphML file
    name = _weight_name({str(key) for _, _, edge in edges for key in edge} | {*defaults}, attribute)
    ends = [(labels[a], labels[b]) for a, b, _ in edges]
    default = defaults.get(name, 1.0)
    weights = None if name is None else [edge.get(name, default) for _, _, edge in edges]
    return [labels[node] for node in graph.nodes], ends, weights


def _igraph_parts(graph: Any, attribute: str | None) -> Parts:
    attributes = {folded(name): name for name in graph.vs.attributes()}
    column = next((attributes[x] for x in ("name", "label", "word") if x in attributes), None)
    nodes = list(map(cell_label, range(graph.vcount()) if column is None else graph.vs[column]))
    name = _weight_name(set(graph.es.attributes()), attribute)
    ends = [(nodes[a], nodes[b]) for a, b in graph.get_edgelist()]
    weights = None if name is None else [1.0 if w is None else w for w in graph.es[name]]
    return nodes, ends, weights


def _weight_name(names: set[str], attribute: str | None) -> str | None:
    """Return the name of the edge attribute with the weights, or None if edges are unweighted."""
    if attribute is None:
        return next((name for a in WEIGHTS for name in sorted(names) if folded(name) == a), None)
    if attribute not in names:
        raise DataError(
            f"no edge of the graph has an attribute {attribute!r}; edges have "
            f"{listed(sorted(names))}"
        )
    return attribute


def is_spaced(suffix: str, format: str | None) -> bool:
    """Return whether a text file is an edge list with cells separated by spaces."""
    return format == "edgelist" or (format is None and suffix in SPACED)


def with_tabs(data: bytes) -> bytes:
    """Replace spaces in an edge list by tabs and remove comments, preserving line numbers.

    Attributes in the notation of networkx, such as {'weight': 2.0}, are replaced by the weight. If
    only some edges have weights, the others have weight 1.

    >>> with_tabs(b"# nodes: 3\\ntie  knot 0.5\\ntie suit {'weight': 2.0}\\n")
    b'\\ntie\\tknot\\t0.5\\ntie\\tsuit\\t2.0\\n'
    """
    rows = [_edge_cells(line) for line in data.splitlines()]
    if any(len(cells) > 2 for cells in rows):
        rows = [[*cells, b"1"] if len(cells) == 2 else cells for cells in rows]
    return b"\n".join(b"\t".join(cells) for cells in rows) + b"\n"


def _edge_cells(line: bytes) -> list[bytes]:
    cells = [] if line.startswith((b"#", b"%")) else line.split(None, 2)
    if len(cells) < 3:
        return cells
    if cells[2].startswith(b"{"):
        return [*cells[:2], *_WRITTEN_WEIGHT.findall(cells[2])[:1]]
    return [*cells[:2], *cells[2].split()]


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
    labels, notes = _labels(graph)
    return _pairs(_networkx_parts(graph, attribute, labels), graph, str(path), notes)


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


def _labels(graph: Any) -> tuple[dict[Any, str], tuple[str, ...]]:
    """Return the label of each node, and notes on attributes that cannot be labels."""
    notes: tuple[str, ...] = ()
    nodes = dict(graph.nodes(data=True))
    for name in NAMES:
        labels = {
            node: cell_label(next((v for key, v in data.items() if folded(key) == name), None))
            for node, data in nodes.items()
        }
        n_missing = sum(not label for label in labels.values())
        if n_missing == len(labels):
            continue
        if n_missing:
            fault = f"{n_missing:,} of {len(labels):,} nodes lack it"
        elif (repeated := repeated_label(list(labels.values()))) is not None:
            fault = f"{shown(repeated[0])} occurs twice"
        else:
            return labels, notes
        notes = (f"labels are the ids of nodes, not the attribute {name!r}: {fault}",)
    return {node: cell_label(node) for node in nodes}, notes
