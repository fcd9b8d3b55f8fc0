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
from typing import Any

import numpy as np

from manymaps.archive.archives import written_whole
from manymaps.atlas.data import AtlasData
from manymaps.atlas.probabilities import Choices, strongest_of
from manymaps.checks import check_number
from manymaps.data.csv_cells import write_csv
from manymaps.data.frames import as_frame, long_columns
from manymaps.errors import ParameterError, not_installed
from manymaps.progress import work

# Probabilities from 256 objects to all others are computed at a time, to limit memory use.
_ROWS_AT_ONCE = 256
# XML forbids a few control characters, even escaped.
_NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


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
        If Parquet is written without pyarrow, or GraphML without networkx.
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
        as_frame(columns).to_parquet(path)
    except ImportError as error:
        raise ImportError(not_installed("writing Parquet", "pyarrow", ", or export CSV")) from error


def _write_graph(atlas: AtlasData, path: Path, n_neighbors: int) -> None:
    try:
        import networkx
    except ImportError as error:
        hint = ", or export CSV"
        raise ImportError(not_installed("writing GraphML", "networkx", hint)) from error
    graph = networkx.DiGraph()
    columns = {name: _graph_values(values) for name, values in _node_columns(atlas).items()}
    for i in range(atlas.n_objects):
        graph.add_node(f"n{i}", **{name: values[i] for name, values in columns.items()})
    for i, j, weight, best in _edges(atlas, n_neighbors):
        graph.add_edge(f"n{i}", f"n{j}", weight=weight, map=best)
    networkx.write_graphml_xml(graph, path)


def _graph_values(values: np.ndarray) -> list[Any]:
    """Return the values of an attribute as numbers, or as text that XML can contain."""
    if values.dtype.kind in "iufb":
        numbers: list[Any] = values.tolist()
        return numbers
    return [_NOT_IN_XML.sub("\N{REPLACEMENT CHARACTER}", str(value)) for value in values]


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
    logs = choices.log_of_pairs(sources, targets) + choices.log_factors[targets]
    weights = np.exp(logs - whole)
    best = choices.votes(sources, targets).argmax(axis=1)
    yield from zip(sources.tolist(), targets.tolist(), weights.tolist(), best.tolist(), strict=True)


def _node_columns(atlas: AtlasData) -> dict[str, np.ndarray]:
    """Return the columns of each object, with its position in the map of its largest proportion."""
    best, everyone = atlas.proportions.argmax(axis=0), np.arange(atlas.n_objects)
    points, proportions = (part[best, everyone][None] for part in (atlas.maps, atlas.proportions))
    return long_columns(atlas.labels, points, proportions, atlas.columns) | {"map": best}
