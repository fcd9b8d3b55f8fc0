"""Readers that convert count tables in files and in memory to `Counts`.

    edges                    text: a row, a column and perhaps a count on each line
    matrix                   text: a table with labels in its first row and column
    csv, tsv, parquet        either of them
    npz, npy, mtx            arrays, with labels inside or next to them
    h5ad, biom               annotated data matrices, and OTU tables

The format of a file is inferred from its first bytes, its name and its content.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from manymaps.data.associations import ReadReport
from manymaps.data.count_values import as_csr, blocks
from manymaps.data.counts import Counts, empty_notes
from manymaps.errors import DataError, ParameterError, setting
from manymaps.io.annotated import open_annotated
from manymaps.io.biom import read_biom_counts
from manymaps.io.columns import WantedColumns
from manymaps.io.count_arrays import read_matrix_counts, read_npz_counts
from manymaps.io.count_tables import (
    EXPECTED,
    CountParts,
    annotated_counts,
    frame_counts,
    is_count_header,
    read_table_counts,
)
from manymaps.io.files import sampled
from manymaps.io.kinds import COUNT_FORMATS, COUNT_TEXTS, asked_format
from manymaps.io.saved_counts import read_saved_counts
from manymaps.io.tables import read_table


def read_counts(
    path: str | os.PathLike[str],
    *,
    format: str | None = None,
    rows: str | None = None,
    columns: str | None = None,
    count: str | None = None,
) -> Counts:
    """Read a table of counts from a file.

    A CSV, TSV or Parquet file contains a long list (`document,word,count`) or a table with one
    column per feature. An NPZ file comes from `Counts.save` or `scipy.sparse.save_npz`, or contains
    the array `counts`, and optionally `row_labels` and `column_labels`. NPY, MatrixMarket, .h5ad
    and .biom files are also supported. Text and MatrixMarket files may be compressed (.gz, .bz2,
    .xz or .zip). Text is encoded in UTF-8, in UTF-16 with a byte order mark, or in
    Windows-1252.

    Parameters
    ----------
    path : path
        File to read. Labels of a table `X.npy` or `X.mtx` are read from `X.rows.txt` and
        `X.columns.txt` in its folder, one per line, or from `barcodes.tsv` and `features.tsv`. The
        default labels are "0", "1", ...
    format : {"edges", "matrix", "csv", "tsv", "parquet", "npz", "npy", "mtx", "h5ad", "biom"}, \
    optional
        Format of the file. By default, the name, first bytes and header determine it.
        "edges" is a long list, and "matrix" is a text table with one column per feature. The format
        "h5ad:NAME" reads a layer instead of X.
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
    sample = sampled(path)
    file, source = sample.path, str(path)
    asked, key = asked_format(format, COUNT_FORMATS, ("h5ad",))
    wanted = WantedColumns(rows, columns, count)
    kind = asked or sample.container(EXPECTED) or "text"
    if wanted.any_given and (kind not in (*COUNT_TEXTS, "parquet") or kind == "matrix"):
        raise ParameterError(
            f"{setting('rows')}, {setting('columns')} and {setting('count')} apply to a long list, "
            f"and {source} is read as {kind}"
        )
    if kind in (*COUNT_TEXTS, "parquet"):
        layout = kind if kind in ("edges", "matrix") else None
        table = read_table(
            sample,
            EXPECTED,
            is_header=lambda first: wanted.any_given or is_count_header(first),
            typed=True,
        )
        parts = read_table_counts(table, wanted, layout=layout)
    elif kind == "graphml":
        raise DataError(f"{source} is XML; graphs are read as associations, not as counts")
    elif kind == "h5ad":
        with open_annotated(file) as data:
            parts = annotated_counts(data, key, source)
    elif kind == "biom":
        parts = read_biom_counts(file)
    elif kind == "npz":
        saved = read_saved_counts(file)
        if saved is not None:
            return saved
        parts = read_npz_counts(file)
    else:
        parts = read_matrix_counts(file, kind)
    return _assembled(parts, source)


def counts_from(
    X: Any,
    *,
    row_labels: Sequence[str] | str | None = None,
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
        Labels for an array, or labels that replace the labels of X. For a frame, `row_labels` may
        also be the name of the label column.
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
    wanted = WantedColumns(rows, columns, count)
    is_array = sparse.issparse(X) or isinstance(X, np.ndarray | list | tuple)
    is_frame = not (is_array or isinstance(X, Counts) or hasattr(X, "obs_names"))
    if wanted.any_given and not is_frame:
        raise ParameterError(
            f"rows, columns and count apply to data frames, not to {type(X).__name__}"
        )
    label_column = row_labels if isinstance(row_labels, str) else None
    if label_column is not None and not is_frame:
        raise ParameterError(
            f"row_labels={row_labels!r} is the name of a column, but {type(X).__name__} has no "
            "named columns; pass one label per row"
        )
    options = {"row_labels": row_labels, "column_labels": column_labels, "kinds": kinds}
    changes: dict[str, Any] = {
        name: value
        for name, value in options.items()
        if value is not None and not isinstance(value, str)
    }
    if isinstance(X, Counts):
        return replace(X, **changes) if changes else X
    if is_array:
        source = "the array"
        parts = CountParts(as_csr(X, source))
    elif is_frame:
        source = getattr(X, "attrs", {}).get("source", "the frame")
        parts = frame_counts(X, wanted, label_column=label_column)
    else:
        source = "the AnnData object"
        parts = annotated_counts(X, None, source)
    return _assembled(replace(parts, **changes), source)


def _assembled(parts: CountParts, source: str) -> Counts:
    """Convert the result of a reader to `Counts` with a report.

    Raises
    ------
    DataError
        If `Counts` would raise it, or if all counts are 0.
    """
    counts = Counts(
        parts.values, parts.row_labels, parts.column_labels, parts.kinds,
        parts.row_metadata, parts.column_metadata, ReadReport(source),
    )  # fmt: skip
    if not counts.n_pairs:
        raise DataError(f"{source} contains no count above 0")
    n_read, merged, dropped = parts.n_read, parts.merged, dict(parts.dropped)
    if n_read is None:
        # Counts are nonnegative, so only zeros sum to zero.
        n_read = int(parts.values.nnz)
        zeros = n_read - sum(int(np.count_nonzero(block)) for block in blocks(parts.values.data))
        merged = n_read - zeros - counts.n_pairs
        if zeros:
            dropped["zero count"] = zeros
    notes = [*parts.notes, *empty_notes(counts, "kept")]
    if counts.n_fractional:
        notes.append(
            f"{counts.n_fractional:,} of {counts.n_pairs:,} counts are not whole numbers "
            f"(the smallest count is {counts.values.data.min():g}); they are used as weights"
        )
    # The object is modified in place, so that the values are not checked again.
    report = ReadReport(source, n_read, merged, dropped, tuple(notes))
    object.__setattr__(counts, "report", report)
    return counts
