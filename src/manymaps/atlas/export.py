"""An atlas as a table or a graph, for other programs.

    .csv, .parquet   one row per object and map (`Atlas.to_frame`)
    .graphml         a node per object, an edge from each to its k most similar objects

An edge i -> j has the weight sum_m q_ij^m, the model's similarity without the background, and the
map that contributes most to it. A node has its largest proportion, that map, and its point there.
"""

from __future__ import annotations

import csv
import io
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TextIO
from xml.etree import ElementTree

import numpy as np

from manymaps.archive import written_whole
from manymaps.atlas.atlas import Atlas
from manymaps.data.frames import as_frame, long_columns
from manymaps.errors import ParameterError

__all__ = ["columns_as_csv", "export_atlas", "write_columns"]

NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def export_atlas(atlas: Atlas, path: str | os.PathLike[str], *, n_neighbors: int = 10) -> None:
    """Write an atlas as CSV, Parquet or GraphML, by the suffix; whole or not at all.

    Parameters
    ----------
    atlas : Atlas
    path : path
        Ends in .csv, .parquet or .graphml.
    n_neighbors : int
        Edges from each object of a graph.

    Raises
    ------
    ParameterError
        For another suffix.
    ImportError
        Where Parquet is written without pyarrow.
    OSError
        Where the place cannot be written.
    """
    suffix = Path(path).suffix.lower()
    if suffix not in (".csv", ".parquet", ".graphml"):
        raise ParameterError(f"{path}: the name must end in .csv, .parquet or .graphml")
    with written_whole(path) as temporary:
        if suffix == ".graphml":
            _write_graph(atlas, temporary, n_neighbors)
            return
        columns = long_columns(atlas.labels, atlas.maps, atlas.proportions, atlas.columns)
        _write_table(columns, temporary)


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
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*(map(str, values) for values in columns.values()), strict=True))


def _write_parquet(columns: Mapping[str, np.ndarray], path: Path) -> None:
    try:
        from pyarrow import parquet
    except ImportError as error:
        raise ImportError(
            "writing Parquet needs pyarrow: pip install 'manymaps[parquet]', or export CSV"
        ) from error
    parquet.write_table(as_frame(columns, "pyarrow"), path)


def _write_graph(atlas: Atlas, path: Path, n_neighbors: int) -> None:
    root = ElementTree.Element("graphml", xmlns="http://graphml.graphdrawing.org/xmlns")
    nodes = _node_columns(atlas)
    for name, values in nodes.items():
        _declare(root, "node", name, _xml_type(values))
    _declare(root, "edge", "weight", "double")
    _declare(root, "edge", "map", "int")
    graph = ElementTree.SubElement(root, "graph", edgedefault="directed")
    for i in range(atlas.n_objects):
        node = ElementTree.SubElement(graph, "node", id=f"n{i}")
        for name, values in nodes.items():
            _datum(node, f"node_{name}", values[i])
    for i in range(atlas.n_objects):
        shares = atlas.choices.shares(i)
        similarities = shares.sum(axis=0)
        for j in np.argsort(-similarities, kind="stable")[:n_neighbors]:
            if similarities[j] > 0:
                edge = ElementTree.SubElement(graph, "edge", source=f"n{i}", target=f"n{j}")
                _datum(edge, "edge_weight", similarities[j])
                _datum(edge, "edge_map", int(shares[:, j].argmax()))
    ElementTree.ElementTree(root).write(path, encoding="utf-8", xml_declaration=True)


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


def _declare(root: ElementTree.Element, kind: str, name: str, type_: str) -> None:
    attributes = {"for": kind, "attr.name": _legal(name), "attr.type": type_}
    ElementTree.SubElement(root, "key", {"id": _legal(f"{kind}_{name}"), **attributes})


def _datum(parent: ElementTree.Element, key: str, value: object) -> None:
    text = str(value).lower() if isinstance(value, bool | np.bool_) else str(value)
    ElementTree.SubElement(parent, "data", key=_legal(key)).text = _legal(text)


def _legal(text: str) -> str:
    # A few control characters have no place in XML, not even escaped.
    return NOT_IN_XML.sub("\N{REPLACEMENT CHARACTER}", text)
