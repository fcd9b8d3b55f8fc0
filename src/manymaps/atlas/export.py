"""An atlas as a table or a graph, for other programs.

    .csv, .parquet   one row per object and map (`Atlas.to_frame`), with the share of the object's
                     recall that the map gives; rows of little recall can be left out. In CSV a
                     text that a spreadsheet would run has an apostrophe first
    .graphml         a node per object, an edge from each to its k most similar objects

An edge i -> j has the weight sum_m q_ij^m, the model's similarity without the background, and the
map that contributes most to it. A node has its largest proportion, that map, and its point there.
"""

from __future__ import annotations

import io
import os
import re
from collections.abc import Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import TextIO
from xml.sax.saxutils import XMLGenerator
from xml.sax.xmlreader import AttributesImpl

import numpy as np

from manymaps.archive import written_whole
from manymaps.atlas.atlas import Atlas
from manymaps.atlas.probabilities import Choices, strongest_of
from manymaps.checks import check_number
from manymaps.data.csv_cells import write_csv
from manymaps.data.frames import as_frame, long_columns
from manymaps.errors import ParameterError
from manymaps.progress import work

__all__ = ["columns_as_csv", "export_atlas", "write_columns"]

_ROWS_AT_ONCE = 256

NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def export_atlas(
    atlas: Atlas,
    path: str | os.PathLike[str],
    *,
    n_neighbors: int = 10,
    min_recall: float = 0.0,
) -> int:
    """Write an atlas as CSV, Parquet or GraphML, by the suffix; whole or not at all.

    Parameters
    ----------
    atlas : Atlas
    path : path
        Ends in .csv, .parquet or .graphml.
    n_neighbors : int
        Edges from each object of a graph.
    min_recall : float in [0, 1]
        Of a table: leave out the rows of maps that give less of what an object recalls in the
        model, but for the one that gives most.

    Returns
    -------
    int
        How many rows of a table were left out.

    Raises
    ------
    ParameterError
        For another suffix, or a recall out of its range.
    ImportError
        Where Parquet is written without pyarrow.
    OSError
        Where the place cannot be written.
    """
    suffix = Path(path).suffix.lower()
    if suffix not in (".csv", ".parquet", ".graphml"):
        raise ParameterError(f"{path}: the name must end in .csv, .parquet or .graphml")
    check_number("min_recall", min_recall, least=0, most=1)
    with written_whole(path) as temporary:
        if suffix == ".graphml":
            _write_graph(atlas, temporary, n_neighbors)
            return 0
        recall = atlas.choices.map_shares
        columns = long_columns(
            atlas.labels, atlas.maps, atlas.proportions, atlas.columns,
            {"recall": recall.astype(np.float32)},
        )  # fmt: skip
        kept = (recall >= np.minimum(min_recall, recall.max(axis=0))).T.ravel()
        _write_table({name: values[kept] for name, values in columns.items()}, temporary)
        return int(np.count_nonzero(~kept))


def write_columns(columns: Mapping[str, np.ndarray], path: str | os.PathLike[str]) -> None:
    """Write columns by name as CSV or Parquet, by the suffix; whole or not at all.

    Raises
    ------
    ParameterError
        For another suffix.
    ImportError
        Where Parquet is written without pyarrow.
    OSError
        Where the place cannot be written.
    """
    if Path(path).suffix.lower() not in (".csv", ".parquet"):
        raise ParameterError(f"{path}: the name must end in .csv or .parquet")
    with written_whole(path) as temporary:
        _write_table(columns, temporary)


def columns_as_csv(columns: Mapping[str, np.ndarray]) -> str:
    """Columns by name as the text of a CSV file.

    >>> print(columns_as_csv({"word": np.array(["tie", "knot, bow"]), "map": np.array([3, 1])}))
    word,map
    tie,3
    "knot, bow",1
    <BLANKLINE>
    """
    text = io.StringIO(newline="")
    _csv_into(text, columns)
    return text.getvalue()


def _write_table(columns: Mapping[str, np.ndarray], path: Path) -> None:
    if path.suffix.lower() == ".csv":
        _write_csv(columns, path)
    else:
        _write_parquet(columns, path)


def _write_csv(columns: Mapping[str, np.ndarray], path: Path) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        _csv_into(file, columns)


def _csv_into(file: TextIO, columns: Mapping[str, np.ndarray]) -> None:
    write_csv(file, chain([columns], zip(*columns.values(), strict=True)))


def _write_parquet(columns: Mapping[str, np.ndarray], path: Path) -> None:
    try:
        from pyarrow import parquet
    except ImportError as error:
        raise ImportError(
            "writing Parquet needs pyarrow: pip install 'manymaps[parquet]', or export CSV"
        ) from error
    parquet.write_table(as_frame(columns, "pyarrow"), path)


def _write_graph(atlas: Atlas, path: Path, n_neighbors: int) -> None:
    """The graph as GraphML, written as it is found."""
    nodes = _node_columns(atlas)
    with path.open("wb") as file:
        xml = XMLGenerator(file, "utf-8", short_empty_elements=True)
        xml.startDocument()
        _start(xml, "graphml", xmlns="http://graphml.graphdrawing.org/xmlns")
        for name, values in nodes.items():
            _declare(xml, "node", name, _xml_type(values))
        _declare(xml, "edge", "weight", "double")
        _declare(xml, "edge", "map", "int")
        _start(xml, "graph", edgedefault="directed")
        for i in range(atlas.n_objects):
            data = {f"node_{name}": values[i] for name, values in nodes.items()}
            _element(xml, "node", {"id": f"n{i}"}, data)
        for i, j, weight, best in _edges(atlas, n_neighbors):
            ends = {"source": f"n{i}", "target": f"n{j}"}
            _element(xml, "edge", ends, {"edge_weight": weight, "edge_map": best})
        xml.endElement("graph")
        xml.endElement("graphml")
        xml.endDocument()


def _edges(atlas: Atlas, count: int) -> Iterator[tuple[int, int, float, int]]:
    """i, j, q_ij and the map that gives most of it, of the objects that each i chooses most."""
    choices, n = atlas.choices, atlas.n_objects
    with work("object", total=n) as at:
        for start in range(0, n, _ROWS_AT_ONCE):
            rows = np.arange(start, min(start + _ROWS_AT_ONCE, n))
            at(start)
            # Between two kinds of object a choice has factors too, which compiled sums know not of.
            if atlas.kinds is None:
                found = choices.strongest(rows, count)
                yield from _edges_of_sums(choices, rows, found)
                rows = rows[found[:, 0] < 0]
            for i in rows.tolist():
                yield from _edges_of_shares(choices.shares(i), i, count)


def _edges_of_sums(
    choices: Choices, rows: np.ndarray, found: np.ndarray
) -> Iterator[tuple[int, int, float, int]]:
    """Those of one kind of object, of whom each row has found its strongest."""
    at, place = np.nonzero(found >= 0)
    sources, targets = rows[at], found[at, place]
    whole = choices.log_whole if choices.is_joint else choices.log_normalizers[sources]
    weights = np.exp(np.log(choices.pair_similarities(sources, targets)) - whole)
    best = choices.votes(sources, targets).argmax(axis=1)
    yield from zip(sources.tolist(), targets.tolist(), weights.tolist(), best.tolist(), strict=True)


def _edges_of_shares(
    shares: np.ndarray, i: int, count: int
) -> Iterator[tuple[int, int, float, int]]:
    """Those of one object, from what each map gives to its choices, (n_maps, n)."""
    similarities = shares.sum(axis=0)
    for j in strongest_of(similarities, count).tolist():
        yield i, j, float(similarities[j]), int(shares[:, j].argmax())


def _node_columns(atlas: Atlas) -> dict[str, np.ndarray]:
    best = atlas.proportions.argmax(axis=0)
    everyone = np.arange(atlas.n_objects)
    points = atlas.maps[best, everyone]
    axes = "xyz" if atlas.n_components <= 3 else [f"x{c}" for c in range(atlas.n_components)]
    columns = {
        "label": np.asarray(atlas.labels, dtype=object),
        "map": best,
        "proportion": atlas.proportions[best, everyone],
    }
    columns |= {axes[c]: points[:, c] for c in range(atlas.n_components)}
    for name, values in atlas.columns.items():
        columns[name if name not in columns else f"metadata_{name}"] = np.asarray(values)
    return columns


def _xml_type(values: np.ndarray) -> str:
    return {"i": "long", "u": "long", "f": "double", "b": "boolean"}.get(
        values.dtype.kind, "string"
    )


def _declare(xml: XMLGenerator, kind: str, name: str, type_: str) -> None:
    named = {"attr.name": _legal(name), "attr.type": type_}
    _start(xml, "key", id=_legal(f"{kind}_{name}"), **{"for": kind}, **named)
    xml.endElement("key")


def _element(
    xml: XMLGenerator, name: str, attributes: Mapping[str, str], data: Mapping[str, object]
) -> None:
    """A node or an edge with its values."""
    _start(xml, name, **attributes)
    for key, value in data.items():
        _start(xml, "data", key=_legal(key))
        text = str(value).lower() if isinstance(value, bool | np.bool_) else str(value)
        xml.characters(_legal(text))
        xml.endElement("data")
    xml.endElement(name)


def _start(xml: XMLGenerator, name: str, **attributes: str) -> None:
    xml.startElement(name, AttributesImpl(attributes))


def _legal(text: str) -> str:
    # A few control characters have no place in XML, not even escaped.
    return NOT_IN_XML.sub("\N{REPLACEMENT CHARACTER}", text)
