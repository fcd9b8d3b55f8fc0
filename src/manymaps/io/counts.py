"""Readers that convert count tables in files and in memory to `Counts`.

    document,word,count          a long list; without a column of counts each line counts one
    site,teal,coot,soil          a table with a column per feature; columns without a number become
                                 metadata of the rows
    npz, mtx, biom               a table of numbers (`manymaps.io.containers`)

The column names distinguish the first two layouts. In a long list, observations (documents, sites,
users) become rows of the count table, and features (words, species, goods) become columns,
regardless of the column order in the list. Repeated entries of a pair are added:

    values[i, j] = sum of the numbers of (i, j)             n_read = stored + merged + dropped

A matrix of genes by cells, which is the output of sequencers, is not transposed: its shape
determines whether cells are rows or columns.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from manymaps.data.associations import ReadReport
from manymaps.data.count_values import as_csr
from manymaps.data.counts import FEATURES, OBSERVATIONS, UNKNOWN_KINDS, Counts, empty_notes
from manymaps.data.frames import as_column, index_labels
from manymaps.errors import DataError, ParameterError, setting
from manymaps.io.columns import (
    NAMES,
    checked_frame,
    find,
    is_label_name,
    is_text,
    known_kind,
    labels_of,
    numbered_observations,
    numbers_in,
    numbers_of,
    numeric_columns,
    usual_column,
)
from manymaps.io.containers import Table, opened
from manymaps.labels import listed

if TYPE_CHECKING:
    import pandas as pd


def read_counts(path: str | os.PathLike[str], **options: Any) -> Counts:
    """Read a table of counts from a file.

    The suffix determines the format. A CSV, TSV or Parquet file contains a long list
    (`document,word,count`) or a table with one column per feature. An NPZ file comes from
    `Counts.save` or `scipy.sparse.save_npz`, or contains the array `counts`, and optionally
    `row_labels` and `column_labels`. MatrixMarket and .biom files are also supported. Text and
    MatrixMarket files may be compressed (.gz, .bz2, .xz or .zip). Text is encoded in UTF-8, in
    UTF-16 with a byte order mark, or in Windows-1252.

    Parameters
    ----------
    path : path
        File to read. The labels of `matrix.mtx` are read from `barcodes.tsv` and `features.tsv` (or
        `genes.tsv`) in its folder. The default labels are "0", "1", ...
    **options
        Labels, kinds and names of columns: the keyword parameters of `counts_from`.

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
        If Parquet is read without pyarrow, or .biom without biom-format.

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
    return counts_from(opened(path, "counts"), **options)


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
        Dense or sparse array of shape (n_rows, n_columns), pandas, polars or pyarrow frame, or
        `Counts`. A frame with columns such as `document,
        word, count` is a long list, in which the counts of repeated pairs are added. Any other
        frame is a table with one column per feature. Its labels are in the first text column or in
        the pandas index, and additional text columns become metadata.
    row_labels, column_labels : sequence of str, optional
        Labels for an array, or labels that replace the labels of X.
    kinds : pair of str, optional
        Kinds of the rows and columns, which replace the kinds of X.
    rows, columns, count : str, optional
        Column names of a long list. By default, common names are recognized. Rows are documents,
        sites, samples, users or cells. Columns are words, species, taxa, items or genes. Counts are
        called count, abundance, n or frequency. Without a column of counts, each line has a count
        of 1. The counts of repeated pairs are added.

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
    labels = {"row_labels": row_labels, "column_labels": column_labels, "kinds": kinds}
    changes: dict[str, Any] = {name: value for name, value in labels.items() if value is not None}
    roles = (rows, columns, count)
    if sparse.issparse(X) or isinstance(X, np.ndarray | list | tuple):
        X = Table(X)
    if roles != (None, None, None) and isinstance(X, Table | Counts):
        raise ParameterError(f"{_roles()} apply to a long list, not to a table of numbers")
    if isinstance(X, Counts):
        return replace(X, **changes) if changes else X
    if not isinstance(X, Table):
        X = checked_frame(X, "an array (such as X of AnnData) or a data frame")
        is_long = any(roles) or is_long_header(X.columns)
        X = _long_counts(X, *long_columns(X, *roles)) if is_long else _wide_table(X)
    if isinstance(X, Table):
        values = as_csr(X.values, X.source)
        n_zeros = int(values.nnz - np.count_nonzero(values.data))
        report = ReadReport(
            X.source, values.nnz, 0, {"zero count": n_zeros} if n_zeros else {}, tuple(X.notes)
        )
        of_rows, of_columns, kinds = dict(X.of_rows), dict(X.of_columns), X.kinds or UNKNOWN_KINDS
        X = Counts(values, X.labels, X.columns, kinds, of_rows, of_columns, report)
    return _reported(replace(X, **changes) if changes else X)


def _roles() -> str:
    """Return the parameters that name the columns of a long list, for messages."""
    return f"{setting('rows')}, {setting('columns')} and {setting('count')}"


def _long_counts(frame: pd.DataFrame, row: int, column: int, count: int | None) -> Counts:
    """Sum the entries of each pair in a long list, omitting entries with an empty label."""
    import pandas as pd

    sides, names, source = (row, column), list(frame.columns), frame.attrs["source"]
    labels = [labels_of(frame, c) for c in sides]
    is_named = (labels[0] != "") & (labels[1] != "")
    values = np.ones(len(frame))
    if count is not None:
        values = numbers_of(frame, [count], "count", sides)[:, 0]
    values = values[is_named]
    (rows, of_rows), (columns, of_columns) = (pd.factorize(cells[is_named]) for cells in labels)
    shape = (len(of_rows), len(of_columns))
    summed = sparse.coo_array((values, (rows, columns)), shape=shape).tocsr()
    dropped = {"empty label": len(frame) - len(values), "zero count": int(np.sum(values == 0))}
    dropped = {reason: n for reason, n in dropped.items() if n}
    others = [name for c, name in enumerate(names) if c not in (*sides, count) and name]
    counts = "; every line counts one" if count is None else f", counts {names[count]!r}"
    notes = [f"rows are {names[row]!r}, columns {names[column]!r}{counts}"]
    notes += [f"columns left out: {listed(others)}"] if others else []
    report = ReadReport(source, len(frame), 0, dropped, (*notes, *frame.attrs["notes"]))
    kinds = two_kinds(names[row], names[column])
    return Counts(summed, of_rows.tolist(), of_columns.tolist(), kinds, report=report)


def _wide_table(frame: pd.DataFrame) -> Table:
    """Return the counts of a table with one column per feature."""
    names, numeric = list(frame.columns), numeric_columns(frame)
    source, header = frame.attrs["source"], frame.attrs["header"]
    rows, label = None if is_text(frame) else index_labels(frame), None
    # Integers that remain in the index after rows were selected are labels only if no column
    # contains labels.
    if rows is None or (frame.index.name is None and frame.index.dtype.kind in "iu"):
        label = label_position(names, numeric)
    others = [c for c in range(len(names)) if c != label]
    # A column that contains a number must contain only numbers.
    features = [
        c
        for c in others
        if numeric[c] or np.isfinite(numbers_in(labels_of(frame, c), decimal_commas=True)).any()
    ]
    texts = sorted(set(others).difference(features))
    if not header and (texts or (label is None and len(names) == 3)):
        raise DataError(f"{source} has no header; add one such as document,word,count")
    if not features:
        raise DataError(
            f"{source} has no column of numbers in addition to its labels; its columns are "
            f"{listed(names)}. Name the columns of a long list as {_roles()}"
        )
    at = [] if label is None else [label]
    values = sparse.csr_array(numbers_of(frame, features, "count", at))
    rows = rows if label is None else labels_of(frame, label).tolist()
    columns = [names[c] for c in features] if header else None
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
    notes = [*frame.attrs["notes"], *(note for note, is_true in cases.items() if is_true)]
    metadata = {names[c]: as_column(frame.iloc[:, c].to_numpy()) for c in texts}
    kinds = two_kinds(kind, str(column_kind))
    return Table(values, rows, columns, source, notes=tuple(notes), kinds=kinds, of_rows=metadata)


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
    return replace(counts, report=replace(read, merged=merged, notes=tuple(notes)))


def two_kinds(first: str, second: str) -> tuple[str, str]:
    """Return different kinds for the rows and the columns of a count table from two column names.

    >>> two_kinds("doc_id", "Term"), two_kinds("Haus", "Tier"), two_kinds("doc", "document")
    (('document', 'term'), ('Haus', 'Tier'), ('doc', 'document'))
    """
    written = (first.strip(), second.strip())
    known = (known_kind(first) or written[0], known_kind(second) or written[1])
    # Two names for the same kind, such as "doc" and "document", are used as written.
    for kinds in (known, written):
        if kinds[0] and kinds[1] and kinds[0] != kinds[1]:
            return kinds
    return UNKNOWN_KINDS


def known_pair(names: Sequence[str]) -> tuple[int, int] | None:
    """Return the positions of observations and features if both columns have common names.

    A row that contains a number is data, not a header. If several pairs of columns are possible,
    unambiguous names are preferred, and then the first pair. For example, "author" is ambiguous,
    because an author uses words (an observation) and has readers (a feature).

    >>> known_pair(["word", "doc", "n"]), known_pair(["cue", "response"])
    ((1, 0), None)
    """
    kinds = list(enumerate(map(known_kind, names)))
    observed = [(i, kind) for i, kind in kinds if kind in OBSERVATIONS]
    features = [(j, kind) for j, kind in kinds if kind in FEATURES]
    pairs = [
        ((first in FEATURES) + (second in OBSERVATIONS), i + j, i, j)
        for i, first in observed
        for j, second in features
        if first != second
    ]
    are_numbers = np.isfinite(numbers_in(names))
    return min(pairs)[2:] if pairs and not are_numbers.any() else None


def is_long_header(names: Sequence[str]) -> bool:
    """Return whether a header belongs to a long list of counts rather than to a table.

    Such a header contains names of observations and features, and a usual name of counts or few
    other columns. A header with three columns needs only the name of counts.

    >>> is_long_header(["site", "species", "abundance"]), is_long_header(["site", "oak", "ash"])
    (True, False)
    """
    has_pair, has_count = known_pair(names), usual_column(names, NAMES["number"]) is not None
    return len(names) == 3 and has_count if has_pair is None else has_count or len(names) < 5


def label_position(names: Sequence[str], numeric: Sequence[bool]) -> int | None:
    """Return the column of a table that contains the labels of its rows.

    This is the first text column with a name of observations. Without such a column, the first
    column is used if its name is empty or is a kind of object. Otherwise, the first text column is
    used.

    >>> label_position(["site", "soil", "teal"], [True, False, True])
    0
    >>> label_position(["soil", "site", "teal"], [False, False, True])
    1
    >>> label_position(["teal", "coot"], [True, True]) is None
    True
    """
    texts = [c for c, is_numeric in enumerate(numeric) if not is_numeric]
    observed = [c for c in texts if known_kind(names[c]) in OBSERVATIONS]
    if not observed and is_label_name(names[0]):
        return 0
    return next(iter(observed or texts), None)


def long_columns(
    frame: pd.DataFrame,
    rows: str | None = None,
    columns: str | None = None,
    count: str | None = None,
) -> tuple[int, int, int | None]:
    """Return the columns of rows, columns and counts of a long list, or None without counts.

    Parameters
    ----------
    frame : DataFrame
    rows, columns, count : str, optional
        Names from the user, which must exist. Other columns are found by the kinds of their names,
        or by elimination.

    Raises
    ------
    DataError
        If a column is missing or ambiguous. The message lists the columns of the table.

    Examples
    --------
    >>> import pandas as pd
    >>> long_columns(pd.DataFrame(columns=["word", "doc", "n"]))
    (1, 0, 2)
    """
    names, numeric = list(frame.columns), numeric_columns(frame)
    row = find(frame, "rows", rows)
    column = find(frame, "columns", columns, [row])
    number = find(frame, "count", count, [row, column], usual=NAMES["number"])
    others = [c for c in range(len(names)) if c not in (row, column, number)]
    usual = (FEATURES if column is None else set()) | (OBSERVATIONS if row is None else set())
    kinds = [c for c in others if known_kind(names[c]) in usual]
    if row is None and column is None:
        pair = known_pair([names[c] for c in others])
        kinds = [] if pair is None else [others[c] for c in pair]
    n_unknown = (row is None) + (column is None)
    choices = (kinds, others, [c for c in others if not numeric[c]])
    found = next((list(choice) for choice in choices if len(choice) == n_unknown), None)
    if found is None:
        raise DataError(
            f"{frame.attrs['source']} has no unique columns for the rows and columns of the count "
            f"table; its columns are {listed(names)}. Name them as {_roles()}"
        )
    row = found.pop(0) if row is None else row
    column = found.pop(0) if column is None else column
    spare = [names[c] for c in others if numeric[c] and c not in (row, column)]
    spare = [name for name in spare if known_kind(name) is None]
    if number is None and spare:
        raise DataError(
            f"{frame.attrs['source']} has no column of counts; its columns are {listed(names)}. "
            f"Name one as {setting('count')} (perhaps {spare[0]!r}), or omit columns of numbers to "
            "count every line once"
        )
    return row, column, number
