"""Export of an atlas as a table or a graph, for other programs.

    .csv, .parquet   one row per object and map (`Atlas.to_frame`), with the map weight; rows
                     with a small weight can be omitted. In CSV, a text that a spreadsheet would
                     execute is preceded by an apostrophe
    .graphml         one node per object, and one edge from each to its k most similar objects

An edge i -> j has two attributes: the weight sum_m q_ij^m, which is the model's similarity without
the background, and the map that contributes most to this weight. The attributes of a node are its
largest proportion, the map with this proportion, and its position in that map.
"""

from __future__ import annotations

import io
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from pathlib import Path
from xml.etree.ElementTree import Element, SubElement, tostring

import numpy as np

from manymaps.archive import written_whole
from manymaps.atlas.data import AtlasData
from manymaps.atlas.probabilities import Choices, strongest_of
from manymaps.checks import check_number
from manymaps.data.csv_cells import write_csv
from manymaps.data.frames import as_frame, axis_names, long_columns
from manymaps.errors import ParameterError, not_installed
from manymaps.progress import work

# Probabilities from 256 objects to all others are computed at a time, to limit memory use.
_ROWS_AT_ONCE = 256
# Types of GraphML by the kind of a NumPy type.
_XML_TYPES = {"i": "long", "u": "long", "f": "double", "b": "boolean"}

NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def export_atlas(
    atlas: AtlasData,
    path: str | os.PathLike[str],
    *,
    n_neighbors: int = 10,
    min_weight: float = 0.0,
) -> int:
    """Write an atlas to a CSV, Parquet or GraphML file, depending on the suffix.

    Parameters
    ----------
    atlas : Atlas
        The atlas.
    path : path
        The file. Its suffix must be .csv, .parquet or .graphml. A partial file is never left
        behind.
    n_neighbors : int
        Number of edges from each object (graphs only).
    min_weight : float in [0, 1]
        Minimum map weight of a row. Rows with a smaller weight are omitted, except for the row with
        an object's largest weight (tables only).

    Returns
    -------
    int
        Number of rows that were omitted from a table.

    Raises
    ------
    ParameterError
        If the suffix is not supported, or `min_weight` is out of range.
    ImportError
        If Parquet is written without pyarrow.
    OSError
        If the file cannot be written.
    """
    suffix = Path(path).suffix.lower()
    if suffix not in (".csv", ".parquet", ".graphml"):
        raise ParameterError(f"{path}: the name must end in .csv, .parquet or .graphml")
    check_number("min_weight", min_weight, least=0, most=1)
    with written_whole(path) as temporary:
        if suffix == ".graphml":
            _write_graph(atlas, temporary, n_neighbors)
            return 0
        weights = atlas.choices.map_weights
        columns = long_columns(
            atlas.labels, atlas.maps, atlas.proportions, atlas.columns,
            {"weight": weights.astype(np.float32)},
        )  # fmt: skip
        is_written = (weights >= np.minimum(min_weight, weights.max(axis=0))).T.ravel()
        _write_table({name: values[is_written] for name, values in columns.items()}, temporary)
        return int(np.count_nonzero(~is_written))


def write_columns(columns: Mapping[str, np.ndarray], path: str | os.PathLike[str]) -> None:
    """Write named columns to a CSV or Parquet file, depending on the suffix.

    Parameters
    ----------
    columns : mapping of str to ndarray
        The columns by name, all of the same length.
    path : path
        The file. Its suffix must be .csv or .parquet. A partial file is never left behind.

    Raises
    ------
    ParameterError
        If the suffix is not supported.
    ImportError
        If Parquet is written without pyarrow.
    OSError
        If the file cannot be written.
    """
    if Path(path).suffix.lower() not in (".csv", ".parquet"):
        raise ParameterError(f"{path}: the name must end in .csv or .parquet")
    with written_whole(path) as temporary:
        _write_table(columns, temporary)


def columns_as_csv(columns: Mapping[str, np.ndarray]) -> str:
    """Format named columns as the text of a CSV file.

    >>> print(columns_as_csv({"word": np.array(["tie", "knot, bow"]), "map": np.array([3, 1])}))
    word,map
    tie,3
    "knot, bow",1
    <BLANKLINE>
    """
    text = io.StringIO(newline="")
    write_csv(text, _rows(columns))
    return text.getvalue()


def _rows(columns: Mapping[str, np.ndarray]) -> Iterator[Iterable[object]]:
    """Yield the column names, then the values row by row."""
    return chain([columns], zip(*columns.values(), strict=True))


def _write_table(columns: Mapping[str, np.ndarray], path: Path) -> None:
    if path.suffix.lower() == ".csv":
        with path.open("w", encoding="utf-8", newline="") as file:
            write_csv(file, _rows(columns))
        return
    try:
        from pyarrow import parquet
    except ImportError as error:
        raise ImportError(not_installed("writing Parquet", "pyarrow", ", or export CSV")) from error
    parquet.write_table(as_frame(columns, "pyarrow"), path)


def _write_graph(atlas: AtlasData, path: Path, n_neighbors: int) -> None:
    """Write the graph as GraphML, element by element, so that it does not have to fit in memory."""
    nodes = _node_columns(atlas)
    keys = [
        ("node", name, _XML_TYPES.get(values.dtype.kind, "string"))
        for name, values in nodes.items()
    ]
    keys += [("edge", "weight", "double"), ("edge", "map", "int")]
    with path.open("wb") as file:
        file.write(b'<?xml version="1.0" encoding="utf-8"?>\n')
        file.write(b'<graphml xmlns="http://graphml.graphdrawing.org/xmlns">')
        for kind, name, type_ in keys:
            identity = {"id": f"{kind}_{name}", "for": kind}
            file.write(_element("key", {**identity, "attr.name": name, "attr.type": type_}))
        file.write(b'<graph edgedefault="directed">')
        for i in range(atlas.n_objects):
            data = {f"node_{name}": values[i] for name, values in nodes.items()}
            file.write(_element("node", {"id": f"n{i}"}, data))
        for i, j, weight, best in _edges(atlas, n_neighbors):
            ends = {"source": f"n{i}", "target": f"n{j}"}
            file.write(_element("edge", ends, {"edge_weight": weight, "edge_map": best}))
        file.write(b"</graph></graphml>")


def _edges(atlas: AtlasData, count: int) -> Iterator[tuple[int, int, float, int]]:
    """Yield i, j, q_ij and the map that contributes most, for the strongest choices of each i."""
    choices, n = atlas.choices, atlas.n_objects
    with work("object", total=n) as at:
        for start in range(0, n, _ROWS_AT_ONCE):
            rows = np.arange(start, min(start + _ROWS_AT_ONCE, n))
            at(start)
            # Choices in a bipartite atlas also contain factors, which the compiled sums do not
            # include.
            if atlas.kinds is None:
                neighbors = choices.strongest(rows, count)
                yield from _edges_of_sums(choices, rows, neighbors)
                rows = rows[neighbors[:, 0] < 0]
            for i in rows.tolist():
                shares = choices.shares(i)
                similarities = shares.sum(axis=0)
                for j in strongest_of(similarities, count).tolist():
                    yield i, j, float(similarities[j]), int(shares[:, j].argmax())


def _edges_of_sums(
    choices: Choices, rows: np.ndarray, found: np.ndarray
) -> Iterator[tuple[int, int, float, int]]:
    """Yield the edges of rows whose strongest choices are known (atlases with one kind only)."""
    at, place = np.nonzero(found >= 0)
    sources, targets = rows[at], found[at, place]
    whole = choices.log_whole if choices.is_joint else choices.log_normalizers[sources]
    weights = np.exp(np.log(choices.pair_similarities(sources, targets)) - whole)
    best = choices.votes(sources, targets).argmax(axis=1)
    yield from zip(sources.tolist(), targets.tolist(), weights.tolist(), best.tolist(), strict=True)


def _node_columns(atlas: AtlasData) -> dict[str, np.ndarray]:
    best = atlas.proportions.argmax(axis=0)
    everyone = np.arange(atlas.n_objects)
    points = atlas.maps[best, everyone]
    columns = {
        "label": np.asarray(atlas.labels, dtype=object),
        "map": best,
        "proportion": atlas.proportions[best, everyone],
    }
    columns |= dict(zip(axis_names(atlas.n_components), points.T, strict=True))
    for name, values in atlas.columns.items():
        columns[name if name not in columns else f"metadata_{name}"] = np.asarray(values)
    return columns


def _element(
    tag: str, attributes: Mapping[str, str], data: Mapping[str, object] | None = None
) -> bytes:
    """Build a key, node or edge with its values."""
    element = Element(tag, {name: _legal(text) for name, text in attributes.items()})
    for key, value in (data or {}).items():
        text = str(value).lower() if isinstance(value, bool | np.bool_) else str(value)
        SubElement(element, "data", key=_legal(key)).text = _legal(text)
    written: bytes = tostring(element, encoding="utf-8")
    return written


def _legal(text: str) -> str:
    # XML forbids a few control characters, even escaped.
    return NOT_IN_XML.sub("\N{REPLACEMENT CHARACTER}", text)
