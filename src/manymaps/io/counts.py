"""Count tables as people have them -> `Counts`.

    edges                    text: a row, a column and perhaps a count on each line
    matrix                   text: a table with labels in its first row and column
    csv, tsv, parquet        either of them
    npz, npy, mtx            arrays, with labels inside or beside them
    h5ad                     annotated data matrices

The format is found by the first bytes, the name and the content of a file.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from manymaps.archive import Schema, ValuePart
from manymaps.archive.archives import read_declared
from manymaps.archive.arrays import csr_from, two_lengths
from manymaps.archive.door import reader, reject_wide
from manymaps.data.associations import ReadReport
from manymaps.data.count_values import as_csr, blocks, texts_of
from manymaps.data.counts import (
    COLUMN_METADATA,
    COUNTS,
    ROW_METADATA,
    VERSION_KEY,
    Counts,
    empty_notes,
)
from manymaps.errors import DataError, ParameterError, setting
from manymaps.io.annotated import open_annotated
from manymaps.io.columns import WantedColumns
from manymaps.io.count_arrays import read_matrix_counts, read_npz_counts
from manymaps.io.count_tables import (
    LAYOUT,
    CountParts,
    annotated_counts,
    frame_counts,
    read_table_counts,
)
from manymaps.io.files import array_heads, read_arrays, sampled
from manymaps.io.kinds import COUNT_FORMATS, COUNT_TEXTS, asked_format
from manymaps.io.tables import parquet_table, read_text

__all__ = ["assembled", "counts_from", "read_counts"]

_WHOLE = ValuePart((int,), "a number", least=0)
_REPORT = Schema(
    "report", 1, "`ReadReport` in a file of counts",
    values={
        "source": ValuePart((str,), "what was read"),
        "n_read": _WHOLE,
        "merged": _WHOLE,
        "dropped": ValuePart((dict,), "left out, by reason", each=_WHOLE),
        "notes": ValuePart((list,), "what else to say", each=ValuePart((str,), "a note")),
    },
)  # fmt: skip


@reader("counts")
def read_counts(
    path: str | os.PathLike[str],
    *,
    format: str | None = None,
    rows: str | None = None,
    columns: str | None = None,
    count: str | None = None,
) -> Counts:
    """Read a table of counts between two kinds of object.

    Long lists (`document,word,count`) and tables with one column per feature, as CSV, TSV or
    Parquet; NPZ (of `Counts.save`, of `scipy.sparse.save_npz`, or with the parts of a CSR array
    and labels under usual names), NPY, MatrixMarket and .h5ad. All but NPZ, Parquet and .h5ad may
    be packed by gzip, bzip2 or xz. Text is UTF-8 (or UTF-16 with its mark).

    Parameters
    ----------
    path : path
        Labels of a table `X.npy` or `X.mtx` are read from `X.rows.txt` and `X.columns.txt` beside
        it, one a line, or from `barcodes.tsv` and `features.tsv`; without, they are numbers.
    format : {"edges", "matrix", "csv", "tsv", "parquet", "npz", "npy", "mtx", "h5ad"}, optional
        Overrides what the name and the content of the file say: "edges" is a long list, "matrix"
        a table in text. "h5ad:NAME" reads a layer instead of X.
    rows, columns, count : str, optional
        The columns of a long list. Without them the usual names are found: documents, sites,
        samples, users, cells for the rows; words, species, taxa, items, genes for the columns,
        whichever stands first; count, abundance, n, frequency. Without a column of counts every
        line counts one. Repeated pairs are added up.

    Returns
    -------
    Counts
        Rows and columns without counts are kept; its `report` says what was read, merged and left
        out, and what was taken for what.

    Raises
    ------
    DataError
        Where the file cannot be used; the message names file, line or row, label and value.
    ParameterError
        Where an option has an unknown value or does not go with the file.
    FileNotFoundError
        Where there is no such file.
    ImportError
        Where Parquet is read without pyarrow, or .h5ad without anndata.

    See Also
    --------
    counts_from, count_texts, Counts

    Notes
    -----
    A file names at most 10 million rows and as many columns; a line of a text has at most 16 MiB
    and a cell 131,072 characters.

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
    kind = asked or sample.container(LAYOUT.expected) or "text"
    if wanted.any_given and (kind not in (*COUNT_TEXTS, "parquet") or kind == "matrix"):
        raise ParameterError(
            f"{setting('rows')}, {setting('columns')} and {setting('count')} apply to a long list, "
            f"and {source} is read as {kind}"
        )
    if kind in COUNT_TEXTS:
        layout = kind if kind in ("edges", "matrix") else None
        table = read_text(sample, LAYOUT, asked)
        return assembled(read_table_counts(table, wanted, layout=layout), source)
    if kind == "graphml":
        raise DataError(f"{source} is XML; graphs are read as associations, not as counts")
    if kind == "parquet":
        return assembled(read_table_counts(parquet_table(sample), wanted), source)
    if kind == "h5ad":
        with open_annotated(file) as data:
            parts = annotated_counts(data, key, source)
        return assembled(parts, source)
    if kind == "npz":
        heads = array_heads(file, "npz")
        if VERSION_KEY in heads:
            return _saved(file)
        return assembled(read_npz_counts(file, heads), source)
    return assembled(read_matrix_counts(file, kind), source)


def _saved(path: Path) -> Counts:
    """Counts as `Counts.save` wrote them."""
    arrays = read_arrays(path, [VERSION_KEY])
    version = arrays[VERSION_KEY]
    if version.shape or version.dtype.kind not in "iu":
        raise DataError(f"{path}: this file of counts does not say its version; it is damaged")
    if version > COUNTS.version:
        raise DataError(
            f"{path}: written by a newer manymaps (format {version}, this one reads up to "
            f"{COUNTS.version}); upgrade manymaps"
        )
    arrays = read_declared(path, COUNTS)
    shape = two_lengths(arrays["shape"], str(path))
    reject_wide(path, shape)
    values = csr_from(arrays, shape, str(path))
    try:
        first, second = texts_of(arrays["kinds"])
        told = json.loads(str(arrays["report"]))
        if not isinstance(told, dict):
            raise ValueError("its report is no mapping")
        _REPORT.check(told, {})
        report = ReadReport(
            str(path), told["n_read"], told["merged"], told["dropped"], tuple(told["notes"])
        )
        labels = [texts_of(arrays[name]) for name in ("row_labels", "column_labels")]
        metadata = [
            {n.removeprefix(start): array for n, array in arrays.items() if n.startswith(start)}
            for start in (ROW_METADATA, COLUMN_METADATA)
        ]
        return Counts(
            values, labels[0], labels[1], (first, second), metadata[0], metadata[1], report
        )
    except (RecursionError, TypeError, ValueError) as error:
        raise DataError(f"{path}: this file of counts is damaged: {error}") from error


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
    """Counts from an object in memory, by its own interface.

    Parameters
    ----------
    X : object
        An array, dense or sparse, of shape (n_rows, n_columns); a pandas, polars or pyarrow frame;
        AnnData (its X, with obs and var as metadata); or `Counts`.
        A frame with columns of two kinds and perhaps one of counts (`document, word, count`) is
        a long list: repeated pairs are added up. Any other is a table with one column per
        feature, its labels in the first column of text or in the index of pandas; further columns
        of text become metadata.
    row_labels, column_labels : sequence of str, optional
        For an array, or in place of those that X has; `row_labels` may also name the column of
        labels of a frame.
    kinds : pair of str, optional
        What rows and columns are, in place of what X says.
    rows, columns, count : str, optional
        The columns of a long list.

    Returns
    -------
    Counts
        A CSR array of float64 is shared, not copied.

    Raises
    ------
    DataError
        Where the object holds no counts; the message names the row, the column and the value.
    ParameterError
        Where an option does not go with the object.

    See Also
    --------
    read_counts, Counts

    Examples
    --------
    >>> import pandas as pd
    >>> from manymaps import counts_from
    >>> pass
    >>> frame = pd.DataFrame({"word": ["tie", "knot"], "document": ["a", "a"], "n": [2, 1]})
    >>> counts = counts_from(frame)
    >>> counts.kinds, counts.row_labels, counts.column_labels
    (('document', 'word'), ('a',), ('tie', 'knot'))
    """
    wanted = WantedColumns(rows, columns, count)
    array = sparse.issparse(X) or isinstance(X, np.ndarray | list | tuple)
    owned = isinstance(X, Counts) or hasattr(X, "obs_names")
    if wanted.any_given and (array or owned):
        raise ParameterError(
            f"rows, columns and count apply to data frames; {type(X).__name__} has none of them"
        )
    if isinstance(row_labels, str) and (array or owned):
        raise ParameterError(
            f"row_labels={row_labels!r} names a column of a data frame; give one label per row"
        )
    if isinstance(X, Counts):
        given = {"row_labels": row_labels, "column_labels": column_labels, "kinds": kinds}
        changes: dict[str, Any] = {name: v for name, v in given.items() if v is not None}
        return replace(X, **changes) if changes else X
    if array:
        parts, source = CountParts(as_csr(X, "the array")), "the array"
    elif hasattr(X, "obs_names"):
        source = "the AnnData object"
        parts = annotated_counts(X, None, source)
    else:
        source = "the frame"
        label = row_labels if isinstance(row_labels, str) else None
        parts = frame_counts(X, source, wanted, label_column=label)
    if row_labels is not None and not isinstance(row_labels, str):
        parts = replace(parts, row_labels=row_labels)
    if column_labels is not None:
        parts = replace(parts, column_labels=column_labels)
    return assembled(parts if kinds is None else replace(parts, kinds=kinds), source)


def assembled(parts: CountParts, source: str) -> Counts:
    """`Counts` of what a reader found, with a report that says what deserves saying.

    Raises
    ------
    DataError
        As `Counts`, and where no count is above 0.
    """
    counts = Counts(
        parts.values, parts.row_labels, parts.column_labels, parts.kinds,
        parts.row_metadata, parts.column_metadata, ReadReport(source),
    )  # fmt: skip
    if not counts.n_pairs:
        raise DataError(f"{source} holds no count above 0")
    n_read, merged, dropped = parts.n_read, parts.merged, dict(parts.dropped)
    if n_read is None:
        # Counts are not negative, so that only zeros sum to zero.
        n_read = int(parts.values.nnz) if sparse.issparse(parts.values) else counts.n_pairs
        zeros = n_read - sum(int(np.count_nonzero(b)) for b in blocks(parts.values.data))
        merged = n_read - zeros - counts.n_pairs
        if zeros:
            dropped["zero count"] = zeros
    notes = [*parts.notes, *empty_notes(counts, "kept")]
    if counts.n_fractional:
        notes.append(
            f"{counts.n_fractional:,} of {counts.n_pairs:,} counts are not whole numbers "
            f"(the smallest count is {counts.values.data.min():g}); they are used as weights"
        )
    report = ReadReport(source, n_read, merged, dropped, tuple(notes))
    object.__setattr__(counts, "report", report)
    return counts
