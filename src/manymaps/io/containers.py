"""Files as the objects that readers convert: frames, tables of numbers, graphs and AnnData.

    .csv, .tsv, .parquet, .xlsx, other text    DataFrame (`manymaps.io.frames`)
    word2vec, GloVe, fastText                  Table (`manymaps.io.word2vec`)
    .npy, .npz                                 Table; Counts from `manymaps read`
    .mtx                                       P_matrix.mtx, with the identifiers of cells in
                                               P_barcodes.tsv and of genes in P_features.tsv or
                                               P_genes.tsv, as sequencers write them (the prefix is
                                               optional)
    .biom                                      observations (OTUs, taxa or genes) in rows and
                                               samples in columns
    .h5ad                                      AnnData, whose X stays in the file until it is used
    .graphml                                   networkx graph

`opened` opens a file once. Each reader is `x_from(opened(path))`.
"""

from __future__ import annotations

import csv
import io
import os
import warnings
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from scipy.io import mmread

from manymaps.archive.arrays import open_arrays, read_npy
from manymaps.archive.door import reading
from manymaps.data.clean import read_saved_counts
from manymaps.data.count_values import as_csr
from manymaps.data.frames import as_column, cell_label
from manymaps.errors import DataError
from manymaps.io.annotated import read_annotated
from manymaps.io.columns import folded
from manymaps.io.frames import TABLES, frame_of, read_bytes, read_frame, suffix_of, unpacked
from manymaps.io.word2vec import read_words, word_format
from manymaps.labels import listed, repeated_label

# The array of each kind of data in an NPZ file.
ARRAYS = {"associations": "strengths", "counts": "counts", "vectors": "vectors"}
# Names of the arrays that scipy.sparse.save_npz writes.
SPARSE_PARTS = {"format", "shape", "data"}
NODE_LABELS = ("label", "name", "word")


@dataclass(frozen=True, eq=False)
class Table:
    """Numbers that have not been checked, with labels of their rows and columns.

    Attributes
    ----------
    values : array or sparse array of shape (n_rows, n_columns)
    labels, columns : sequence of str or None
        Labels of the rows and columns.
    source : str
        Name of the file, for messages.
    kind : str or None
        Kind of data, if the format of the file determines it.
    notes : tuple of str
        Notes for the report.
    n_read : int or None
        Number of rows in the file, if `values` contains only some of them.
    kinds : pair of str or None
        Kinds of the rows and columns.
    of_rows, of_columns : mapping of str to ndarray
        Metadata of the rows and columns.
    """

    values: Any
    labels: Sequence[str] | None = None
    columns: Sequence[str] | None = None
    source: str = "the array"
    kind: str | None = None
    notes: tuple[str, ...] = ()
    n_read: int | None = None
    kinds: tuple[str, str] | None = None
    of_rows: Mapping[str, np.ndarray] = field(default_factory=dict)
    of_columns: Mapping[str, np.ndarray] = field(default_factory=dict)


def opened(
    path: str | os.PathLike[str], kind: str | None = None, words: Collection[str] | None = None
) -> Any:
    """Return the contents of a file as a frame, a `Table`, `Counts`, a graph or AnnData.

    Parameters
    ----------
    path : path
        File to open.
    kind : {"associations", "trials", "counts", "vectors", "ratings"}, optional
        Kind of data, which selects an array of an NPZ file. Text of another kind than vectors is
        always a table.
    words : collection of str, optional
        Words to read from a file of word vectors. By default, all are read.

    Raises
    ------
    DataError
        If the file is damaged.
    ImportError
        If a package that reads the file is not installed.
    """
    path = Path(path)
    match suffix_of(path):
        case ".npy":
            return Table(read_npy(path), source=str(path))
        case ".npz":
            return read_saved_counts(path) or _arrays(path, kind)
        case ".mtx":
            return _market(path)
        case ".biom":
            return _biom(path)
        case ".h5ad":
            return read_annotated(path)
        case ".graphml":
            return _graph(path)
        case suffix if suffix in TABLES or kind not in (None, "vectors"):
            return read_frame(path)
    with unpacked(path) as stream:
        form = word_format(stream, suffix)
        stream.seek(0)
        if form is None:
            return frame_of(stream.read(), str(path))
        return Table(**read_words(stream, path, form, words), source=str(path), kind="vectors")


def _arrays(path: Path, kind: str | None) -> Table:
    """Read the array of a kind, or a sparse table, and its labels from an NPZ file."""
    with open_arrays(path) as file:
        usual = list(ARRAYS.values()) if kind is None else [ARRAYS.get(kind, kind)]
        name = next((name for name in usual if name in file.heads), None)
        is_sparse = set(file.heads) >= SPARSE_PARTS
        if name is None and not is_sparse:
            raise DataError(
                f"{path} has no array {' or '.join(map(repr, usual))}; its arrays are "
                f"{listed(list(file.heads))}. Rename the table, or save it by "
                "scipy.sparse.save_npz"
            )
        values = file.table() if is_sparse else file.read(str(name))
        labels: dict[str, list[str]] = {}
        for side in ("labels", "row_labels", "column_labels"):
            array = file.read(side) if side in file.heads else np.empty(0)
            labels[side] = list(map(str, as_column(array.ravel()).tolist()))
    rows = labels["row_labels"] or labels["labels"] or None
    columns = labels["column_labels"] or None
    named = next((kind for kind, array in ARRAYS.items() if array == name and not is_sparse), None)
    return Table(values, rows, columns, str(path), "counts" if labels["row_labels"] else named)


def _market(path: Path) -> Table:
    """Read a MatrixMarket file (NISTIR 5935), and names of cells and genes from its folder."""
    data, source = read_bytes(path), str(path)
    if b"\0" in data:
        raise DataError(f"{path} contains zero bytes; fetch the file again")
    # SciPy terminates the process after an error of a stream, a zero byte, or a last line without
    # its end.
    with reading(path, "MatrixMarket"):
        values = as_csr(mmread(io.BytesIO(data + b"\n"), spmatrix=False), source)
    stem = path.name[: path.name.lower().rindex(".mtx")]
    prefix = stem.removesuffix("matrix") if stem.endswith("matrix") else f"{stem}_"
    cells = _beside(path, prefix, "barcodes")
    genes = _beside(path, prefix, "features", "genes")
    kind = "associations" if values.shape[0] == values.shape[1] else "counts"
    if cells is None or genes is None:
        notes = () if kind == "associations" else ("no files of labels: numbered from 0",)
        return Table(values, source=source, kind=kind, notes=notes)
    barcodes, features = _fields(cells)["id"], _fields(genes)
    shape = (len(features["id"]), len(barcodes))
    if values.shape not in (shape, shape[::-1]):
        raise DataError(
            f"{path} has {values.shape[0]:,} rows and {values.shape[1]:,} columns, but "
            f"{genes.name} has {shape[0]:,} lines and {cells.name} has {shape[1]:,}; use files of "
            "the same table"
        )
    # Several genes may have the same name, but their identifiers differ.
    names = features.get("name", features["id"])
    names = features["id"] if repeated_label(names) or "" in names else names
    others = {name: np.array(column) for name, column in features.items() if column is not names}
    notes = (f"genes labelled by {genes.name}, cells by {cells.name}",)
    parts: dict[str, Any] = {"source": source, "kind": "counts", "notes": notes}
    if values.shape == shape:
        return Table(values, names, barcodes, kinds=("gene", "cell"), of_rows=others, **parts)
    return Table(values, barcodes, names, kinds=("cell", "gene"), of_columns=others, **parts)


def _beside(path: Path, prefix: str, *names: str) -> Path | None:
    """Return the first table of some names next to a file, which may be compressed, or None."""
    files = (path.with_name(f"{prefix}{name}.tsv{end}") for name in names for end in ("", ".gz"))
    return next((file for file in files if file.is_file()), None)


def _fields(path: Path) -> dict[str, list[str]]:
    """Read the columns of a list of genes or cells (identifier, name and type)."""
    import pandas as pd

    options: dict[str, Any] = {"dtype": str, "na_filter": False, "quoting": csv.QUOTE_NONE}
    with reading(path, "a list of genes or cells"):
        frame = pd.read_csv(path, sep="\t", header=None, **options)
    columns = zip(("id", "name", "type"), frame, strict=False)
    return {field: frame[column].str.strip().tolist() for field, column in columns}


def _biom(path: Path) -> Table:
    """Read a BIOM table."""
    with reading(path, ".biom"):
        from biom import load_table

        table = load_table(str(path))
        rows, columns = (list(map(str, table.ids(axis=x))) for x in ("observation", "sample"))
    return Table(table.matrix_data, rows, columns, str(path), "counts", kinds=("otu", "sample"))


def _graph(path: Path) -> Any:
    """Read a GraphML file as a graph of networkx, whose nodes are labels."""
    data = read_bytes(path)
    # networkx parses the file with ElementTree, which does not open other files but expands
    # entities to any size.
    if b"<!DOCTYPE" in data.replace(b"\x00", b""):
        raise DataError(
            f"{path} declares a document type (DOCTYPE), which GraphML does not need; remove it"
        )
    with reading(path, "GraphML"), warnings.catch_warnings():
        import networkx

        warnings.simplefilter("ignore")  # ports and keys without a type do not affect pairs
        graph = networkx.read_graphml(io.BytesIO(data))
    if not graph.number_of_edges():
        raise DataError(f"{path} has no edges; expected a graph with edges, which become pairs")
    graph.graph["source"] = str(path)
    attributes = {folded(key): key for _, node in graph.nodes(data=True) for key in node}
    for name in NODE_LABELS:
        labels = {n: cell_label(x) for n, x in graph.nodes(data=attributes.get(name, name))}
        # Labels must be complete and unique; otherwise, the ids of the nodes remain.
        if all(labels.values()) and len(set(labels.values())) == len(labels):
            return networkx.relabel_nodes(graph, labels)
    return graph
