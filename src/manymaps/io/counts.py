"""Readers that convert count tables in files and in memory to `Counts`.

    document,word,count          a long list; without a column of counts each line counts one
    site,teal,coot,soil          a table with a column per feature; columns without a number become
                                 metadata of the rows
    npz                          from scipy.sparse.save_npz, or the array `counts`, and perhaps the
                                 arrays `row_labels` and `column_labels`
    mtx                          P_matrix.mtx, with the identifiers of cells in P_barcodes.tsv and
                                 of genes in P_features.tsv or P_genes.tsv, as sequencers write them
                                 (the prefix is optional)
    h5ad                         X, with obs and var as metadata
    biom                         observations (OTUs, taxa or genes) in rows and samples in columns

The column names distinguish the first two layouts (see `manymaps.io.columns`). Repeated entries of
a pair are added:

    values[i, j] = sum of the numbers of (i, j)             n_read = stored + merged + dropped

A matrix of genes by cells, which is the output of sequencers, is not transposed: its shape
determines whether cells are rows or columns.
"""

from __future__ import annotations

import csv
import importlib.util
import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from manymaps.archive.door import reading
from manymaps.data.associations import ReadReport
from manymaps.data.clean import read_saved_counts
from manymaps.data.count_values import as_csr
from manymaps.data.counts import Counts, empty_notes
from manymaps.data.frames import as_column, index_labels
from manymaps.data.tables import Labels, is_number, labels_in, names_of, source_of
from manymaps.errors import DataError, ParameterError, not_installed, setting
from manymaps.io.annotated import open_annotated, table_of
from manymaps.io.columns import (
    RULE_OF,
    check_places,
    checked_frame,
    is_long_header,
    is_text,
    known_kind,
    label_position,
    labels_of,
    long_columns,
    numbered_observations,
    numbers_of,
    numeric_columns,
    two_kinds,
)
from manymaps.io.files import is_packed, read_labelled_npz, read_market, suffix_of
from manymaps.io.frames import read_frame
from manymaps.labels import listed, repeated_label

if TYPE_CHECKING:
    import pandas as pd

EXPECTED = "counts: a long list (document, word, count) or a table"
_NO_FRAME = (
    "counts cannot be made from an object of type {}; pass an array, dense or sparse, a data frame "
    "or AnnData (read_counts reads files)"
)


def read_counts(
    path: str | os.PathLike[str],
    *,
    rows: str | None = None,
    columns: str | None = None,
    count: str | None = None,
) -> Counts:
    """Read a table of counts from a file.

    The suffix determines the format. A CSV, TSV or Parquet file contains a long list
    (`document,word,count`) or a table with one column per feature. An NPZ file comes from
    `Counts.save` or `scipy.sparse.save_npz`, or contains the array `counts`, and optionally
    `row_labels` and `column_labels`. MatrixMarket, .h5ad (X) and .biom files are also
    supported. Text and MatrixMarket files may be compressed (.gz, .bz2, .xz or .zip). Text is
    encoded in UTF-8, in UTF-16 with a byte order mark, or in Windows-1252.

    Parameters
    ----------
    path : path
        File to read. The labels of `matrix.mtx` are read from `barcodes.tsv` and `features.tsv` (or
        `genes.tsv`) in its folder. The default labels are "0", "1", ...
    rows, columns, count : str, optional
        Column names of a long list. By default, common names are recognized. Rows are documents,
        sites, samples, users or cells. Columns are words, species, taxa, items or genes. Counts are
        called count, abundance, n or frequency. Without a column of counts, each line has a count
        of 1. The counts of repeated pairs are added.

    Returns
    -------
    Counts
        Table of counts, including rows and columns without counts. Its `report` lists merged and
        omitted entries and the roles of the columns.

    Raises
    ------
    DataError
        If the file cannot be used. The message contains the file name, the line or row, the label
        and the value.
    ParameterError
        If an option has an unknown value or does not apply to the file.
    FileNotFoundError
        If the file does not exist.
    ImportError
        If Parquet is read without pyarrow, .h5ad without anndata, or .biom without biom-format.

    See Also
    --------
    counts_from, count_texts, Counts

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from manymaps import read_counts
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "birds.csv")
    ...     _ = file.write_text("site,species,n\\nfen,heron,2\\nfen,teal,5\\nlake,teal,9\\n")
    ...     counts = read_counts(file)
    >>> counts
    <Counts of 2 sites x 2 species, 16 in 3 pairs, from ...birds.csv>
    >>> counts.values.toarray().tolist()
    [[2.0, 5.0], [0.0, 9.0]]
    """
    read = READERS.get(suffix_of(Path(path)))
    if read is None:
        frame = read_frame(path, EXPECTED)
        return counts_from(frame, rows=rows, columns=columns, count=count)
    if (rows, columns, count) != (None, None, None):
        raise ParameterError(f"{_roles()} apply to a long list, and {path} is a table")
    return read_saved_counts(Path(path)) or _reported(read(Path(path)))


def counts_from(
    X: Any,
    *,
    row_labels: Sequence[str] | None = None,
    column_labels: Sequence[str] | None = None,
    kinds: tuple[str, str] | None = None,
    rows: str | None = None,
    columns: str | None = None,
    count: str | None = None,
) -> Counts:
    """Convert an object in memory to counts.

    Parameters
    ----------
    X : object
        Dense or sparse array of shape (n_rows, n_columns), pandas, polars or pyarrow frame, AnnData
        (X, with obs and var as metadata), or `Counts`. A frame with columns such as `document,
        word, count` is a long list, in which the counts of repeated pairs are added. Any other
        frame is a table with one column per feature. Its labels are in the first text column or in
        the pandas index, and additional text columns become metadata.
    row_labels, column_labels : sequence of str, optional
        Labels for an array, or labels that replace the labels of X.
    kinds : pair of str, optional
        Kinds of the rows and columns, which replace the kinds of X.
    rows, columns, count : str, optional
        Column names of a long list.

    Returns
    -------
    Counts
        Table of counts. If X is a CSR array of float64, its data are shared, not copied.

    Raises
    ------
    DataError
        If the object does not contain counts. The message contains the row, the column and the
        value.
    ParameterError
        If an option does not apply to the object.

    See Also
    --------
    read_counts, Counts

    Examples
    --------
    >>> import pandas as pd
    >>> from manymaps import counts_from
    >>> frame = pd.DataFrame({"word": ["tie", "knot"], "document": ["a", "a"], "n": [2, 1]})
    >>> counts = counts_from(frame)
    >>> counts.kinds, counts.row_labels, counts.column_labels
    (('document', 'word'), ('a',), ('tie', 'knot'))
    """
    roles = (rows, columns, count)
    labels = {"row_labels": row_labels, "column_labels": column_labels, "kinds": kinds}
    changes: dict[str, Any] = {name: value for name, value in labels.items() if value is not None}
    is_array = sparse.issparse(X) or isinstance(X, np.ndarray | list | tuple)
    if is_array or isinstance(X, Counts) or hasattr(X, "obs_names"):
        if roles != (None, None, None):
            raise ParameterError(f"{_roles()} apply to data frames, not to {type(X).__name__}")
        if isinstance(X, Counts):
            return replace(X, **changes) if changes else X
        if is_array:
            values = as_csr(X, "the array")
            return _reported(Counts(values, report=_stored_report(values, "the array"), **changes))
        counts = _annotated_counts(X, "the AnnData object")
    else:
        counts = _frame_counts(checked_frame(X, _NO_FRAME), roles)
    return _reported(replace(counts, **changes) if changes else counts)


def _roles() -> str:
    """Return the parameters that name the columns of a long list, for messages."""
    return f"{setting('rows')}, {setting('columns')} and {setting('count')}"


def _frame_counts(frame: pd.DataFrame, roles: tuple[str | None, ...]) -> Counts:
    """Read counts from a long list, if its header or the user names its columns, or a table."""
    if not len(frame):
        raise DataError(f"{source_of(frame)} has a header and no rows")
    names, numeric = names_of(frame), numeric_columns(frame)
    if any(roles) or is_long_header(names, numeric):
        return _long_counts(frame, names, *long_columns(frame, numeric, *roles))
    return _wide_counts(frame, names, numeric)


def _long_counts(
    frame: pd.DataFrame, names: list[str], row: int, column: int, count: int | None
) -> Counts:
    """Sum the entries of each pair in a long list, omitting entries with an empty label."""
    sides, values = (row, column), np.ones(len(frame))
    if count is not None:
        values = numbers_of(frame, [count], RULE_OF["count"], sides)[:, 0]
    rows, columns = (labels_of(frame, c) for c in sides)
    named = rows.mask(bool) & columns.mask(bool)
    stored = named & (values != 0)
    pairs = (_places(rows)[stored], _places(columns)[stored])
    row_labels, column_labels = (list(filter(None, side.texts)) for side in (rows, columns))
    shape = (len(row_labels), len(column_labels))
    summed = sparse.coo_array((values[stored], pairs), shape=shape).tocsr()
    dropped = {"empty label": int(np.sum(~named)), "zero count": int(np.sum(named & ~stored))}
    dropped = {reason: n for reason, n in dropped.items() if n}
    others = [name for c, name in enumerate(names) if c not in (*sides, count) and name]
    counts = "; no column of counts: every line counts one"
    counts = counts if count is None else f", counts {names[count]!r}"
    notes = [f"rows are {names[row]!r}, columns {names[column]!r}{counts}"]
    notes += [f"columns left out: {listed(others)}"] if others else []
    notes += frame.attrs.get("notes", ())
    report = ReadReport(source_of(frame), len(frame), dropped=dropped, notes=tuple(notes))
    kinds = two_kinds(names[row], names[column])
    return Counts(summed, row_labels, column_labels, kinds, report=report)


def _places(column: Labels) -> np.ndarray:
    """Return the position of each cell among the labels that are not empty."""
    return (np.cumsum(list(map(bool, column.texts)), dtype=np.intp) - 1)[column.codes]


def _wide_counts(frame: pd.DataFrame, names: list[str], numeric: list[bool]) -> Counts:
    """Read the counts of a table with one column per feature."""
    source, header, dtypes = source_of(frame), frame.attrs.get("header", True), list(frame.dtypes)
    rows, label = None if is_text(frame) else index_labels(frame), None
    # Integers that remain in the index after rows were selected are labels only if no column
    # contains labels.
    if rows is None or (frame.index.name is None and frame.index.dtype.kind in "iu"):
        label = label_position(names, numeric)
    others = [c for c in range(len(names)) if c != label]
    features = [c for c in others if dtypes[c].kind in "biuf" or _has_number(frame.iloc[:, c])]
    texts = sorted(set(others).difference(features))
    if not header and (texts or (label is None and len(names) == 3)):
        raise DataError(f"{source} has no header; add one such as document,word,count")
    if not features:
        raise DataError(
            f"{source} has no column of numbers in addition to its labels; its columns are "
            f"{listed(names)}. Name the columns of a long list as {_roles()}"
        )
    at = [] if label is None else [label]
    values = sparse.csr_array(numbers_of(frame, features, RULE_OF["count"], at))
    rows = rows if label is None else labels_of(frame, label).cells()
    columns = [names[c] for c in features] if header else None
    if is_text(frame):
        check_places(source, columns or (), "column", [c + 1 for c in features])
        hint = " (counts are added up in a long list such as document,word,count)"
        check_places(source, rows or (), "line", frame.index.tolist(), hint)
    name = str(frame.index.name or "") if label is None else names[label]
    kind = known_kind(name) or "row"
    # Tables of sequences list the samples in their columns.
    usual = "sample" if kind in ("otu", "asv") else "column"
    column_kind = frame.columns.name or numbered_observations(columns or []) or usual
    cases = {
        "no column of labels: rows are numbered from 0": rows is None,
        f"labels from the column {name!r}": label is not None and not is_text(frame),
        "no header: columns are numbered from 0": not header,
        f"columns of texts, which become metadata: {listed([names[c] for c in texts])}": texts,
    }
    notes = [*frame.attrs.get("notes", ()), *(note for note, is_true in cases.items() if is_true)]
    metadata = {names[c]: as_column(frame.iloc[:, c].to_numpy()) for c in texts}
    report = _stored_report(values, source, *notes)
    return Counts(values, rows, columns, two_kinds(kind, str(column_kind)), metadata, report=report)


def _has_number(cells: pd.Series) -> bool:
    """Return whether a column contains a number, so that its other cells have to be numbers."""
    return any(is_number(text.replace(",", ".")) for text in labels_in(cells).texts)


def _reported(counts: Counts) -> Counts:
    """Complete the report: merged entries, and notes on fractions and on empty rows and columns."""
    if not counts.n_pairs:
        raise DataError(f"{counts.report.source} contains no count above 0")
    read, notes = counts.report, [*counts.report.notes, *empty_notes(counts, "kept")]
    n_fractional = np.count_nonzero(counts.values.data % 1)
    if n_fractional:
        notes.append(
            f"{n_fractional:,} of {counts.n_pairs:,} counts are not whole numbers "
            f"(the smallest count is {counts.values.data.min():g}); they are used as weights"
        )
    merged = read.n_read - read.n_dropped - counts.n_pairs
    # The object is modified in place, so that the values are not checked again.
    report = replace(read, merged=merged, notes=tuple(notes))
    object.__setattr__(counts, "report", report)
    return counts


def _stored_report(values: sparse.csr_array, source: str, *notes: str) -> ReadReport:
    """Return a report of the stored values of a table, of which zeros are dropped."""
    n_zeros = int(values.nnz - np.count_nonzero(values.data))
    return ReadReport(source, values.nnz, 0, {"zero count": n_zeros} if n_zeros else {}, notes)


def _npz_counts(path: Path) -> Counts:
    """Read counts that SciPy or NumPy wrote."""
    table, rows, columns = read_labelled_npz(path, "counts", ("row_labels", "column_labels"))
    values = as_csr(table, str(path))
    sides = {"rows": rows, "columns": columns}
    notes = [f"{side} are numbered from 0" for side, labels in sides.items() if labels is None]
    return Counts(values, rows, columns, report=_stored_report(values, str(path), *notes))


def _market_counts(path: Path) -> Counts:
    """Read a MatrixMarket file, and the names of cells and genes from files in its folder."""
    values, source = read_market(path), str(path)
    stem = (path.stem if is_packed(path) else path.name)[: -len(".mtx")]
    prefix = stem.removesuffix("matrix") if stem.endswith("matrix") else f"{stem}_"
    beside = [_beside(path, f"{prefix}{end}") for end in ("barcodes.tsv", "features.tsv")]
    cells, genes = beside[0], beside[1] or _beside(path, f"{prefix}genes.tsv")
    if cells is None or genes is None:
        note = "no files of labels: numbered from 0"
        return Counts(values, report=_stored_report(values, source, note))
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
    report = _stored_report(
        values, source, f"genes labelled by {genes.name}, cells by {cells.name}"
    )
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


def _annotated_counts(data: Any, source: str) -> Counts:
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
        _stored_report(values, source),
    )


def _h5ad_counts(path: Path) -> Counts:
    with open_annotated(path) as data:
        return _annotated_counts(data, str(path))


def _biom_counts(path: Path) -> Counts:
    """Read the counts of a BIOM table."""
    if not importlib.util.find_spec("biom"):
        raise ImportError(not_installed(f"reading {path}", "biom-format"))
    from biom import load_table

    with reading(path, ".biom"):
        table = load_table(str(path))
        values = as_csr(table.matrix_data, str(path))
        otus, samples = (list(map(str, table.ids(axis=x))) for x in ("observation", "sample"))
    report = _stored_report(values, str(path))
    return Counts(values, otus, samples, ("otu", "sample"), report=report)


def _columns(frame: Any) -> dict[str, np.ndarray]:
    return {str(name): as_column(np.asarray(frame[name])) for name in frame.columns}


READERS: dict[str, Callable[[Path], Counts]] = {
    ".npz": _npz_counts,
    ".mtx": _market_counts,
    ".h5ad": _h5ad_counts,
    ".biom": _biom_counts,
}
