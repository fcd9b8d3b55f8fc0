"""Graphs as pairs: GraphML files, lists of edges split by spaces, and graphs in memory.

    GraphML          nodes and edges of one document, streamed; <!ENTITY ...> is refused
    edge lists       source target weight a line, as networkx and igraph (ncol) write them
    in memory        networkx and igraph, known by their interfaces

A directed edge is a pair from its source, an undirected one a pair both ways. Edges that repeat
are merged later, as pairs that repeat are. The weight is the attribute that the user names, else
"weight", else one under a usual name of strengths; an edge without it counts one.

A node of a file is called by its attribute "label", "name" or "word" (igraph, Gephi and yEd keep
names there), where each node has another one, else by its id.
"""

from __future__ import annotations

import re
from array import array
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn
from xml.parsers import expat

import numpy as np

from manymaps.archive.door import MOST_LABELS
from manymaps.data.frames import cell_label
from manymaps.errors import DataError
from manymaps.io.coded_cells import CodedColumn
from manymaps.io.columns import STRENGTH, folded
from manymaps.io.files import LONGEST_LABEL, MOST_PACKED_CELLS, unpacked
from manymaps.io.pairs import Pairs, coded_pairs
from manymaps.io.tables import known_number
from manymaps.labels import listed, repeated_label, shown

__all__ = ["graph_pairs", "is_graph", "is_spaced", "read_graphml", "with_tabs"]

WEIGHTS = ("weight", *STRENGTH)
NAMES = ("label", "name", "word")
SPACED = (".edgelist", ".ncol")
NO_WEIGHTS = "no weights: every edge counts one"
BLOCK = 2**16
CELLS_OF_EDGE = 3
_WRITTEN_WEIGHT = re.compile(rb"""['"]weight['"]\s*:\s*([^,}\s]+)""")


def is_graph(data: Any) -> bool:
    """Whether an object in memory is a graph of networkx or igraph."""
    return _is_networkx(data) or _is_igraph(data)


def _is_networkx(data: Any) -> bool:
    return all(hasattr(data, name) for name in ("nodes", "edges", "is_directed"))


def _is_igraph(data: Any) -> bool:
    return all(hasattr(data, name) for name in ("vs", "es", "get_edgelist", "is_directed"))


def graph_pairs(graph: Any, attribute: str | None) -> Pairs:
    """The edges of a graph in memory; `attribute` is the one that holds their weights.

    Raises
    ------
    DataError
        Where no edge has the attribute, or two nodes have one label.
    """
    if _is_igraph(graph):
        nodes, ends, weights = _igraph_parts(graph, attribute)
    else:
        nodes, ends, weights = _networkx_parts(graph, attribute)
    repeated = Counter(nodes).most_common(1)
    if repeated and repeated[0][1] > 1:
        raise DataError(
            f"the graph has two nodes with the label {repeated[0][0]!r}; labels must differ"
        )
    notes = () if weights is not None else (NO_WEIGHTS,)
    values = [1.0] * len(ends) if weights is None else list(weights)
    directed = bool(graph.is_directed())
    if not directed:
        ends, values = ends + [(b, a) for a, b in ends], values + values
    return coded_pairs(
        [a for a, _ in ends],
        [b for _, b in ends],
        values,
        "the graph",
        lambda k: f"the graph, edge {ends[k][0]!r} - {ends[k][1]!r}",
        objects=() if directed else tuple(nodes),
        similarities=not directed,
        notes=notes,
    )


Ends = list[tuple[str, str]]


def _networkx_parts(graph: Any, attribute: str | None) -> tuple[list[str], Ends, list[Any] | None]:
    """Labels of the nodes, the ends of each edge, and the weights where there are some."""
    edges = list(graph.edges(data=True))
    name = _weights_name({str(key) for _, _, edge in edges for key in edge}, attribute)
    ends = [(cell_label(a), cell_label(b)) for a, b, _ in edges]
    weights = None if name is None else [edge.get(name, 1.0) for _, _, edge in edges]
    return [cell_label(node) for node in graph.nodes], ends, weights


def _igraph_parts(graph: Any, attribute: str | None) -> tuple[list[str], Ends, list[Any] | None]:
    known = {folded(name): name for name in graph.vs.attributes()}
    column = next((known[name] for name in ("name", "label", "word") if name in known), None)
    values = range(graph.vcount()) if column is None else graph.vs[column]
    nodes = [cell_label(value) for value in values]
    name = _weights_name(set(graph.es.attributes()), attribute)
    ends = [(nodes[a], nodes[b]) for a, b in graph.get_edgelist()]
    weights = None if name is None else [1.0 if w is None else w for w in graph.es[name]]
    return nodes, ends, weights


def _weights_name(found: set[str], attribute: str | None) -> str | None:
    """The attribute of the edges that holds their weights; None where there is none."""
    if attribute is None:
        return next((k for a in WEIGHTS for k in sorted(found) if folded(k) == a), None)
    if attribute not in found:
        raise DataError(
            f"no edge of the graph has an attribute {attribute!r}; edges have "
            f"{listed(sorted(found))}"
        )
    return attribute


def is_spaced(suffix: str, format: str | None) -> bool:
    """Whether a text is a list of edges whose cells stand between spaces."""
    return format == "edgelist" or (format is None and suffix in SPACED)


def with_tabs(data: bytes) -> bytes:
    """A list of edges with tabs in place of spaces, on the same lines; comments are left out.

    What networkx writes of an edge, {'weight': 2.0}, becomes its weight; an edge without one has 1
    where others have some.

    >>> with_tabs(b"# nodes: 3\\ntie  knot 0.5\\ntie suit {'weight': 2.0}\\n")
    b'\\ntie\\tknot\\t0.5\\ntie\\tsuit\\t2.0\\n'
    """
    rows = [_cells(line) for line in data.splitlines()]
    if any(len(cells) > 2 for cells in rows):
        rows = [[*cells, b"1"] if len(cells) == 2 else cells for cells in rows]
    return b"\n".join(b"\t".join(cells) for cells in rows) + b"\n"


def _cells(line: bytes) -> list[bytes]:
    if line.startswith((b"#", b"%")):
        return []
    cells = line.split(None, 2)
    if len(cells) > 2:
        attributes = cells[2].startswith(b"{")
        weight = _WRITTEN_WEIGHT.search(cells[2]) if attributes else None
        if attributes:
            cells[2:] = [] if weight is None else [weight[1]]
        else:
            cells[2:] = cells[2].split()
    return cells


def read_graphml(path: Path, attribute: str | None) -> Pairs:
    """The edges of a GraphML file.

    Raises
    ------
    DataError
        Where it is no well-formed GraphML, declares entities, has hyperedges, an edge to a node
        that is not there, a node twice, or no edges; the message names the line.
    """
    source = str(path)
    document = _Document(source, attribute)
    most = max(MOST_PACKED_CELLS, path.stat().st_size) // CELLS_OF_EDGE
    with unpacked(path) as file:
        try:
            while block := file.stream.read(BLOCK):
                document.parser.Parse(block, False)
                if file.packed and document.n_edges > most:
                    raise DataError(
                        f"{source} unpacks to more than {most:,} edges, the most of a packed "
                        "graph; unpack it before it is read"
                    )
            document.parser.Parse(b"", True)
        except expat.ExpatError as error:
            raise DataError(
                f"{source}, line {error.lineno}: this is no well-formed XML "
                f"({expat.ErrorString(error.code)}); is the file cut short?"
            ) from error
    return document.pairs()


class _Document:
    """What a GraphML file says, taken down as the parser meets it."""

    def __init__(self, source: str, attribute: str | None):
        self.source = source
        self._attribute = attribute
        self._depth = 0
        self._place: dict[str, int] = {}  # of each node, by its id
        self._declared = bytearray()
        self._names: dict[str, dict[int, str]] = {}
        self._keys: dict[tuple[str, str], str] = {}  # names of attributes by what has them and key
        self._defaults: dict[tuple[str, str], str] = {}
        self._held: dict[tuple[str, str], dict[int, str] | None] = {}
        self._ends = (array("i"), array("i"))
        self._lines = array("q")
        self._both_ways = bytearray()
        self._weights: dict[str, dict[int, str]] = {}
        self._undirected = [False]
        self._at: tuple[str, int] | None = None  # the node or edge that is open
        self._text: list[str] | None = None
        self._key = ("", "")
        self.parser = expat.ParserCreate(namespace_separator=" ")
        self.parser.buffer_text = True
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._characters
        self.parser.EntityDeclHandler = self._entity
        self.parser.SkippedEntityHandler = self._entity

    @property
    def n_edges(self) -> int:
        """How many edges there were so far."""
        return len(self._lines)

    def _refuse(self, fault: str) -> NoReturn:
        raise DataError(f"{self.source}, line {self.parser.CurrentLineNumber}: {fault}")

    def _entity(self, name: str, *_: Any) -> None:
        self._refuse(
            f"the entity {shown(name)}; GraphML needs none, and what they stand for may be of any "
            "size. Write the text in their place"
        )

    def _start(self, qualified: str, attributes: dict[str, str]) -> None:
        name = qualified.rpartition(" ")[2]
        self._depth += 1
        if self._depth == 1 and name != "graphml":
            self._refuse(f"this is XML of the kind {shown(name)}, not GraphML")
        if name == "edge":
            self._open_edge(attributes)
        elif name == "node":
            self._open_node(attributes)
        elif name == "data":
            self._key, self._text = (self._at[0] if self._at else "", attributes.get("key", "")), []
        elif name == "key":
            self._declare(attributes)
        elif name == "default":
            self._text = []
        elif name == "NodeLabel" and self._at is not None:  # yEd's, within the data of a node
            self._key, self._text = ("node", "label"), []
        elif name == "graph":
            self._undirected.append(attributes.get("edgedefault") == "undirected")
        elif name == "hyperedge":
            self._refuse("a hyperedge joins more than two nodes; pairs alone are read")

    def _declare(self, attributes: dict[str, str]) -> None:
        key, of = attributes.get("id", ""), attributes.get("for", "all")
        name = attributes.get("attr.name", key)
        for kind in ("node", "edge") if of == "all" else (of,):
            self._keys[kind, key] = name
        self._key = ("default " + of, key)

    def _node(self, identity: str) -> int:
        place = self._place.setdefault(identity, len(self._place))
        if place == len(self._declared):
            self._declared.append(0)
            if len(identity) > LONGEST_LABEL:
                self._refuse(f"an id of {len(identity):,} characters, of {LONGEST_LABEL:,} at most")
            if place >= MOST_LABELS:
                self._refuse(f"more than {MOST_LABELS:,} nodes, the most that are read")
        return place

    def _open_node(self, attributes: dict[str, str]) -> None:
        if "id" not in attributes:
            self._refuse("a node without an id")
        place = self._node(attributes["id"])
        if self._declared[place]:
            self._refuse(f"the node {shown(attributes['id'])} stands there twice; ids must differ")
        self._declared[place] = 1
        self._at = ("node", place)

    def _open_edge(self, attributes: dict[str, str]) -> None:
        for end, places in zip(("source", "target"), self._ends, strict=True):
            if end not in attributes:
                self._refuse(f"an edge without a {end}")
            places.append(self._node(attributes[end]))
        directed = attributes.get("directed")
        undirected = self._undirected[-1] if directed is None else directed == "false"
        self._both_ways.append(undirected)
        self._lines.append(self.parser.CurrentLineNumber)
        self._at = ("edge", self.n_edges - 1)

    def _characters(self, text: str) -> None:
        if self._text is not None:
            self._text.append(text)
            if sum(map(len, self._text)) > LONGEST_LABEL:
                self._text = None  # of what so long a text says nothing is read

    def _end(self, qualified: str) -> None:
        name = qualified.rpartition(" ")[2]
        self._depth -= 1
        if name in ("node", "edge"):
            self._at = None
        elif name == "graph":
            self._undirected.pop()
        elif name in ("data", "default", "NodeLabel") and self._text is not None:
            self._take("".join(self._text).strip())
            self._text = None

    def _take(self, text: str) -> None:
        """An attribute of the node or edge that is open, or what is said of those without."""
        of, key = self._key
        if of.startswith("default "):
            for kind in ("node", "edge") if of.endswith(" all") else (of.removeprefix("default "),):
                self._defaults[kind, key] = text
            return
        if self._at is None or not text:
            return
        if (of, key) not in self._held:
            self._held[of, key] = self._where(of, self._keys.get((of, key), key))
        held = self._held[of, key]
        if held is not None:
            held[self._at[1]] = text

    def _where(self, of: str, name: str) -> dict[int, str] | None:
        """Where the texts of an attribute are held; None for one that nobody asks for."""
        if of == "edge" and (name == self._attribute or folded(name) in WEIGHTS):
            return self._weights.setdefault(name, {})
        if of == "node" and folded(name) in NAMES:
            return self._names.setdefault(folded(name), {})
        return None

    def pairs(self) -> Pairs:
        """All edges as pairs."""
        self._check_ends()
        labels, notes = self._labels()
        weights, written = self._values()
        if weights is None:
            notes += (NO_WEIGHTS,)
            weights = np.ones(self.n_edges)
        sources, targets = (np.frombuffer(part, np.int32) for part in self._ends)
        both = np.frombuffer(self._both_ways, np.uint8).astype(bool)
        # A loop is one pair, whichever way one looks at it.
        again = np.flatnonzero(both & (sources != targets))
        edge = np.concatenate([np.arange(self.n_edges), again])
        undirected = bool(both.all())
        return Pairs(
            CodedColumn(labels, np.concatenate([sources, targets[again]])),
            CodedColumn(labels, np.concatenate([targets, sources[again]])),
            weights[edge],
            self.source,
            lambda k: f"{self.source}, line {self._lines[edge[k]]}",
            lambda k: written(int(edge[k])),
            objects=tuple(labels) if undirected else (),
            similarities=undirected,
            notes=notes,
        )

    def _check_ends(self) -> None:
        if not self.n_edges:
            raise DataError(f"{self.source} has no edges; a graph needs some to be read as pairs")
        if all(self._declared):
            return
        identities = list(self._place)
        for k, ends in enumerate(zip(*self._ends, strict=True)):
            for place in ends:
                if not self._declared[place]:
                    raise DataError(
                        f"{self.source}, line {self._lines[k]}: the edge ends at "
                        f"{shown(identities[place])}, and there is no node with that id"
                    )

    def _labels(self) -> tuple[list[str], tuple[str, ...]]:
        """The name of each node, and what to note of names."""
        notes: tuple[str, ...] = ()
        for name in (name for name in NAMES if name in self._names):
            held = self._names[name]
            labels = [held.get(i, "") for i in range(len(self._place))]
            if len(held) < len(labels):
                fault = f"{len(labels) - len(held):,} of {len(labels):,} nodes have none"
            elif (twice := repeated_label(labels)) is not None:
                fault = f"{shown(twice[0])} stands twice"
            else:
                return labels, notes
            notes = (f"nodes are called by their ids, not by their {name!r}: {fault}",)
        return [identity.strip() for identity in self._place], notes

    def _values(self) -> tuple[np.ndarray | None, Callable[[int], str]]:
        """The weight of each edge, and as what it was written."""
        defaults = {
            self._keys.get(key, key[1]): text
            for key, text in self._defaults.items()
            if key[0] == "edge"
        }
        seen = {*self._weights, *defaults}
        if self._attribute is not None:
            seen |= {name for (kind, _), name in self._keys.items() if kind == "edge"}
        found = _weights_name(seen, self._attribute)
        if found is None:
            return None, lambda k: "1"
        held, otherwise = self._weights.get(found, {}), defaults.get(found, "1")
        values = np.full(self.n_edges, known_number(otherwise))
        for k, text in held.items():
            values[k] = known_number(text)
        return values, lambda k: held.get(k, otherwise)
