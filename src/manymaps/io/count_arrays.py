"""Readers for counts in sparse arrays, annotated data matrices and BIOM tables.

    npz     from scipy.sparse.save_npz, or the array `counts`, and perhaps the arrays `row_labels`
            and `column_labels`
    mtx     P_matrix.mtx, with the identifiers of cells in P_barcodes.tsv and of genes in
            P_features.tsv or P_genes.tsv, as sequencers write them (the prefix is optional)
    h5ad    X, with obs and var as metadata
    biom    observations (OTUs, taxa or genes) in rows and samples in columns

A matrix of genes by cells, which is the output of sequencers, is not transposed: its shape
determines whether cells are rows or columns.
"""

from __future__ import annotations

import csv
import importlib.util
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from manymaps.archive.door import reading
from manymaps.data.associations import ReadReport
from manymaps.data.count_values import as_csr, metadata_array
from manymaps.data.counts import Counts
from manymaps.errors import DataError, not_installed
from manymaps.io.annotated import open_annotated, table_of
from manymaps.io.columns import check_places, known_kind, two_kinds
from manymaps.io.files import is_packed, read_labelled_npz, read_market
from manymaps.labels import repeated_label


def stored_report(values: sparse.csr_array, source: str, *notes: str) -> ReadReport:
    """Return a report of the stored values of a table, of which zeros are dropped."""
    n_zeros = int(values.nnz - np.count_nonzero(values.data))
    return ReadReport(source, values.nnz, 0, {"zero count": n_zeros} if n_zeros else {}, notes)


def _npz_counts(path: Path) -> Counts:
    """Read counts that SciPy or NumPy wrote."""
    table, rows, columns = read_labelled_npz(path, "counts", ("row_labels", "column_labels"))
    values = as_csr(table, str(path))
    sides = {"rows": rows, "columns": columns}
    notes = [f"{side} are numbered from 0" for side, labels in sides.items() if labels is None]
    return Counts(values, rows, columns, report=stored_report(values, str(path), *notes))


def _market_counts(path: Path) -> Counts:
    """Read a MatrixMarket file, and the names of cells and genes from files in its folder."""
    values, source = read_market(path), str(path)
    stem = (path.stem if is_packed(path) else path.name)[: -len(".mtx")]
    prefix = stem.removesuffix("matrix") if stem.endswith("matrix") else f"{stem}_"
    beside = [_beside(path, f"{prefix}{end}") for end in ("barcodes.tsv", "features.tsv")]
    cells, genes = beside[0], beside[1] or _beside(path, f"{prefix}genes.tsv")
    if cells is None or genes is None:
        note = "no files of labels: numbered from 0"
        return Counts(values, report=stored_report(values, source, note))
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
    is_unique = repeated_label(names) is None and "" not in names
    names = names if is_unique else features["id"]
    for file, labels in ((cells, barcodes), (genes, names)):
        check_places(str(file), labels, "line", range(1, len(labels) + 1))
    others = {name: np.array(column) for name, column in features.items() if column is not names}
    report = stored_report(values, source, f"genes labelled by {genes.name}, cells by {cells.name}")
    if values.shape == shape:
        return Counts(values, names, barcodes, ("gene", "cell"), others, report=report)
    return Counts(values, barcodes, names, ("cell", "gene"), {}, others, report)


def _beside(path: Path, name: str) -> Path | None:
    """Return the file of a name in the folder of another file, which may be compressed, or None."""
    files = (path.with_name(name), path.with_name(f"{name}.gz"))
    return next((file for file in files if file.is_file()), None)


def _fields(path: Path) -> dict[str, list[str]]:
    """Read the columns of a list of genes or cells (identifier, name and type)."""
    import pandas as pd

    options: dict[str, Any] = {"dtype": str, "na_filter": False, "quoting": csv.QUOTE_NONE}
    with reading(path, "a list of genes or cells"):
        frame = pd.read_csv(path, sep="\t", header=None, **options)
    columns = zip(("id", "name", "type"), frame, strict=False)
    return {field: frame[column].str.strip().tolist() for field, column in columns}


def annotated_counts(data: Any, source: str) -> Counts:
    """Return the counts in X of an AnnData object, with obs and var as metadata."""
    values = as_csr(table_of(data, "X", source), source)
    kinds = [known_kind(str(frame.index.name or "")) for frame in (data.obs, data.var)]
    return Counts(
        values,
        list(map(str, data.obs_names)),
        list(map(str, data.var_names)),
        two_kinds(kinds[0] or "observation", kinds[1] or "variable"),
        _columns(data.obs),
        _columns(data.var),
        stored_report(values, source),
    )


def _h5ad_counts(path: Path) -> Counts:
    with open_annotated(path) as data:
        return annotated_counts(data, str(path))


def _biom_counts(path: Path) -> Counts:
    """Read a BIOM table with its metadata, such as the ranks of a taxonomy."""
    if not importlib.util.find_spec("biom"):
        raise ImportError(not_installed(f"reading {path}", "biom-format"))
    from biom import load_table

    with reading(path, ".biom"):
        table = load_table(str(path))
        values = as_csr(table.matrix_data, str(path))
        rows, columns = (
            _columns(table.metadata_to_dataframe(axis)) if table.metadata(axis=axis) else {}
            for axis in ("observation", "sample")
        )
        kinds = (known_kind(str(table.type or "").split(" ")[0]) or "otu", "sample")
        otus, samples = (list(map(str, table.ids(axis=x))) for x in ("observation", "sample"))
    return Counts(values, otus, samples, kinds, rows, columns, stored_report(values, str(path)))


def _columns(frame: Any) -> dict[str, np.ndarray]:
    return {str(name): metadata_array(np.asarray(frame[name])) for name in frame.columns}


READERS: dict[str, Callable[[Path], Counts]] = {
    ".npz": _npz_counts,
    ".mtx": _market_counts,
    ".h5ad": _h5ad_counts,
    ".biom": _biom_counts,
}
