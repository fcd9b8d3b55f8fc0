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

from pathlib import Path

import numpy as np
from scipy import sparse

from manymaps.archive.arrays import read_npy
from manymaps.data.count_values import as_csr, texts_of
from manymaps.errors import DataError
from manymaps.io.count_tables import CountParts
from manymaps.io.files import (
    SPARSE_PARTS,
    array_heads,
    read_arrays,
    read_bytes,
    read_sparse,
    split_lines,
    stem_of,
)
from manymaps.io.market import read_market
from manymaps.io.matrices import file_beside, read_labels
from manymaps.io.tables import check_places
from manymaps.labels import listed, repeated_label

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
    heads = array_heads(path, "npz")
    arrays = read_arrays(path, [key for key in ("counts", *LABEL_KEYS) if key in heads])
    if set(heads) >= SPARSE_PARTS:
        values = read_sparse(path)
    elif "counts" in arrays:
        values = as_csr(arrays["counts"], str(path))
    else:
        raise DataError(
            f"{path} has no array 'counts'; its arrays are {listed(list(heads))}. Save the table "
            "with Counts.save or scipy.sparse.save_npz, or pass it to counts_from"
        )
    labels = [texts_of(arrays[key]) if key in arrays else None for key in LABEL_KEYS]
    notes = tuple(
        f"{key.partition('_')[0]}s are numbered from 0" for key in LABEL_KEYS if key not in arrays
    )
    return CountParts(values, labels[0], labels[1], notes=notes)


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
    text = split_lines(read_bytes(path, "one gene or cell per line"), str(path))
    lines = [line.split("\t") for line in text]
    while lines and not lines[-1][0]:
        lines.pop()
    width = len(lines[0])
    for number, cells in enumerate(lines, start=1):
        if len(cells) != width or not cells[0]:
            raise DataError(
                f"{path}, line {number} has {len(cells)} cells, but the first line has {width}; "
                "the first cell must not be empty"
            )
    columns = zip(("id", "name", "type"), zip(*lines, strict=True), strict=False)
    return {key: [cell.strip() for cell in cells] for key, cells in columns}
