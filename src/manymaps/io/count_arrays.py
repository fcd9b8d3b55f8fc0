"""Readers for count tables in NPZ, NPY and MatrixMarket files, with labels inside or next to them.

An NPZ file contains the table `counts` or the output of scipy.sparse.save_npz, and possibly the
labels `row_labels` and `column_labels`.

The labels of `X.npy` or `X.mtx` are read from files in the same folder with one label per line.
These files are `X.rows.txt` and `X.columns.txt`, or for `P_matrix.mtx`, `P_barcodes.tsv` and
`P_features.tsv` (or `P_genes.tsv`). The prefix P_ is optional, and the files may be compressed with
gzip. The shape of the matrix determines whether cells are rows or columns. A matrix of genes by
cells, which is the output of sequencers, is not transposed.
"""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from manymaps.archive.arrays import read_npy
from manymaps.archive.door import reading
from manymaps.data.count_values import as_csr
from manymaps.errors import DataError
from manymaps.io.count_tables import CountParts
from manymaps.io.files import read_labelled_npz, stem_of
from manymaps.io.market import read_market
from manymaps.io.matrices import file_beside, read_labels
from manymaps.io.tables import check_places
from manymaps.labels import repeated_label

# Suffixes of label files.
SUFFIXES = (".txt", ".tsv")
LABEL_KEYS = ("row_labels", "column_labels")


def read_npz_counts(path: Path) -> CountParts:
    """Read counts from an NPZ file that another program wrote.

    Raises
    ------
    DataError
        If the file contains no table of counts, or if an array contains Python objects.
    """
    values, rows, columns = read_labelled_npz(path, "counts", labels=LABEL_KEYS)
    sides = {"rows": rows, "columns": columns}
    notes = tuple(f"{side} are numbered from 0" for side, given in sides.items() if given is None)
    return CountParts(as_csr(values, str(path)), rows, columns, notes=notes)


def read_matrix_counts(path: Path, kind: str) -> CountParts:
    """Read counts from an NPY or MatrixMarket file, and labels from files in its folder.

    Raises
    ------
    DataError
        If the file cannot be read, or if the number of labels does not match the table.
    """
    values = as_csr(read_npy(path), str(path)) if kind == "npy" else read_market(path)
    stem = stem_of(path, ".mtx", ".npy")
    files = {
        side: file_beside(path, [f"{stem}.{side}{suffix}" for suffix in SUFFIXES])
        for side in ("rows", "columns")
    }
    if any(files.values()):
        labels = [
            None if file is None else _listed_labels(file, n, side)
            for (side, file), n in zip(files.items(), values.shape, strict=True)
        ]
        notes = tuple(f"{s} labelled by {file.name}" for s, file in files.items() if file)
        return CountParts(values, labels[0], labels[1], notes=notes)
    prefix = stem[: -len("matrix")] if stem.endswith("matrix") else f"{stem}_"
    cells, genes = (
        file_beside(path, [f"{prefix}{name}{suffix}" for name in names for suffix in SUFFIXES])
        for names in (("barcodes",), ("features", "genes"))
    )
    if cells is None or genes is None:
        return CountParts(values, notes=("no files of labels: numbered from 0",))
    return _cells_and_genes(path, values, cells, genes)


def _listed_labels(path: Path, n: int, side: str) -> list[str]:
    """Read n labels from a file with one label per line."""
    labels = read_labels(path)
    if len(labels) != n:
        raise DataError(
            f"{path} contains {len(labels):,} labels, but the table has {n:,} {side}; expected one "
            "label per line for each"
        )
    check_places(str(path), labels, "line", range(1, len(labels) + 1))
    return labels


def _cells_and_genes(path: Path, values: sparse.csr_array, cells: Path, genes: Path) -> CountParts:
    """Label a table of cells and genes, using its shape to determine which of these are rows."""
    barcodes, features = _fields(cells)["id"], _fields(genes)
    shape = (len(features["id"]), len(barcodes))
    if values.shape not in (shape, shape[::-1]):
        raise DataError(
            f"{path} has {values.shape[0]:,} rows and {values.shape[1]:,} columns, but "
            f"{genes.name} has {shape[0]:,} lines and {cells.name} has {shape[1]:,}; use files of "
            "the same table"
        )
    check_places(str(cells), barcodes, "line", range(1, len(barcodes) + 1))
    names = features.get("name", features["id"])
    # Several genes may have the same name, but their identifiers differ.
    if repeated_label(names) is not None or "" in names:
        names = features["id"]
        check_places(str(genes), names, "line", range(1, len(names) + 1))
    metadata = {name: np.array(column) for name, column in features.items() if column is not names}
    notes = (f"genes labelled by {genes.name}, cells by {cells.name}",)
    if values.shape == shape:
        return CountParts(values, names, barcodes, ("gene", "cell"), metadata, notes=notes)
    return CountParts(
        values, barcodes, names, ("cell", "gene"), column_metadata=metadata, notes=notes
    )


def _fields(path: Path) -> dict[str, list[str]]:
    """Read the columns of a list of genes or cells (identifier, name and type)."""
    import pandas as pd

    options: dict[str, Any] = {"dtype": str, "na_filter": False, "quoting": csv.QUOTE_NONE}
    with reading(path, "a list of genes or cells"):
        frame = pd.read_csv(path, sep="\t", header=None, **options)
    columns = zip(("id", "name", "type"), frame, strict=False)
    return {field: frame[column].str.strip().tolist() for field, column in columns}
