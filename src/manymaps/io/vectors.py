"""Readers that convert vectors in files and in memory to `Vectors`.

    word2vec, GloVe, fastText     text or word2vec's .bin (`manymaps.io.word2vec`)
    npy, npz, h5ad                arrays, annotated data matrices (`manymaps.io.containers`)
    csv, tsv, parquet, frames     label column | number | number | ...

The user may specify the label column of a table. By default, it is a text column with the name
"word", "label", "name", "token", "term" or "id". If the table has no such column, the first text
column or a numeric column with such a name is used. Rows without labels are numbered from 0. Other
text columns and other columns with these names are omitted and listed in the report.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from manymaps.data.associations import ReadReport
from manymaps.data.counts import Counts
from manymaps.data.frame_labels import is_frame
from manymaps.data.frames import cell_label, index_labels
from manymaps.data.vectors import Vectors, as_float32, checked_table, choose_rows
from manymaps.errors import DataError, ParameterError, setting
from manymaps.io.annotated import table_of, usual_table
from manymaps.io.columns import (
    HEAD_ROWS,
    LABELS,
    checked_frame,
    find,
    folded,
    has_pair_header,
    is_text,
    labels_of,
    numbers_of,
    numeric_columns,
)
from manymaps.io.containers import Table, opened
from manymaps.io.frames import read_labels
from manymaps.labels import listed, plural

if TYPE_CHECKING:
    import pandas as pd

DATE = re.compile(r"\d{4}-\d\d?-\d\d?([ T]\d\d:.*)?|\d\d?[./]\d\d?[./]\d{2,4}")


def read_vectors(
    path: str | os.PathLike[str],
    *,
    labels: Sequence[str] | str | os.PathLike[str] | None = None,
    words: Iterable[str] | str | os.PathLike[str] | None = None,
) -> Vectors:
    """Read vectors from a file.

    The supported formats are word2vec text and binary, GloVe, fastText .vec, NPY (memory-mapped),
    NPZ (the array `vectors` and perhaps `labels`, or from scipy.sparse.save_npz), CSV, TSV, Parquet
    and .h5ad (X_pca if it exists and there are more than 50 variables, or else X). Text and
    word2vec binary files may be compressed (.gz, .bz2, .xz or .zip). Words are read as written, and
    repeated words are numbered.

    Parameters
    ----------
    path : path
        File to read.
    labels : path or sequence of str, optional
        Labels of an array or a table, or a file with one label per line. For a table, it may also
        be the name of the label column. By default, the labels of an array are "0", "1", ...
    words : path or iterable of str, optional
        Words to read, in this order, or a file with one word per line. Words are matched exactly,
        including case. The report lists words that are not in the file. By default, all words are
        read.

    Returns
    -------
    Vectors
        Vectors, with a `report` that describes the source, omitted rows and notes.

    Raises
    ------
    DataError
        If the file cannot be used or does not contain any of the words. The message contains the
        file name and the line or row.
    ParameterError
        If an option has an unknown value or does not apply to the file.
    FileNotFoundError
        If the file does not exist.
    ImportError
        If Parquet is read without pyarrow, or .h5ad without anndata.

    See Also
    --------
    vectors_from, TSNE, Vectors

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from manymaps import read_vectors
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "animals.txt")
    ...     _ = file.write_text("cat .5 .25 1\\nbat .5 0 .75\\nowl 0 0 1\\n")
    ...     vectors = read_vectors(file, words=["owl", "cat"])
    >>> vectors.labels
    ('owl', 'cat')
    >>> vectors.values.tolist()
    [[0.0, 0.0, 1.0], [0.5, 0.25, 1.0]]
    """
    wanted = None if words is None else wanted_words(words)
    return vectors_from(opened(path, "vectors", wanted), labels=labels, words=wanted)


def wanted_words(words: Iterable[str] | str | os.PathLike[str]) -> dict[str, None]:
    """Return distinct words in their order, from a file or in memory."""
    words = read_labels(words) if isinstance(words, str | os.PathLike) else words
    wanted = dict.fromkeys(map(str, words))
    if not wanted:
        raise ParameterError("words is empty; pass at least one word, or omit it to read all")
    return wanted


def vectors_from(
    data: Any,
    *,
    labels: Sequence[str] | str | os.PathLike[str] | None = None,
    words: Iterable[str] | str | os.PathLike[str] | None = None,
) -> Vectors:
    """Convert an object in memory to vectors.

    Parameters
    ----------
    data : object
        Object to convert. It may be gensim's KeyedVectors or a gensim model with the attribute
        `wv`, AnnData (the table of `read_vectors`), `Counts` (their rows), or a mapping of words to
        vectors. A dense or sparse array, or a pandas, polars or pyarrow frame with labels in a
        column or in the index is also accepted. `Vectors` are returned unchanged.
    labels : sequence of str, str or path, optional
        Labels of an array or a frame, the name of the frame's label column, or the path of a file
        with one label per line. By default, the rows of an array are "0", "1", ...
    words : path or iterable of str, optional
        Words to select, in this order, as in `read_vectors`.

    Returns
    -------
    Vectors
        Vectors. Arrays of float32 are shared, not copied.

    Raises
    ------
    DataError
        If the object does not contain vectors, or if `Vectors` would raise it.
    ParameterError
        If labels are passed for an object that already has labels.

    See Also
    --------
    read_vectors, Vectors

    Examples
    --------
    >>> from manymaps import vectors_from
    >>> vectors_from({"tie": [0, 1], "knot": [1, 1]}).labels
    ('tie', 'knot')
    """
    data = getattr(data, "wv", data)
    if isinstance(data, Vectors) and labels is None and words is None:
        return data
    words = None if words is None else wanted_words(words)
    table = _labelled(data)
    if table is not None and labels is not None:
        raise ParameterError(
            f"{setting('labels')} applies to arrays and tables; {table.source} has its own labels"
        )
    # The name of a column of labels is not the name of a file.
    if isinstance(labels, str) and not (is_frame(data) and not Path(labels).is_file()):
        labels = read_labels(labels)
    if table is None and (sparse.issparse(data) or isinstance(data, np.ndarray | list)):
        table = Table(data)
    elif table is None and not isinstance(data, Table):
        frame = checked_frame(data, "an array, a data frame, or a mapping of words to vectors")
        table = _table_in(frame, labels if isinstance(labels, str) else None)
    table = table or data
    source, names, notes = table.source, table.labels, table.notes
    if labels is not None and not isinstance(labels, str):
        names = read_labels(labels)
    if words is not None and names is not None and not names:
        choose_rows([], words, source)  # raises, as there are no words to read
    values = checked_table(table.values, source)
    n = values.shape[0]
    names = list(map(str, range(n))) if names is None else names
    if len(names) != n:
        raise DataError(
            f"{source}: there are {len(names):,} labels for {n:,} vectors; pass one label per "
            "vector"
        )
    n_read = n if table.n_read is None else table.n_read
    dropped: dict[str, int] = {}
    if words is not None:
        chosen, missing = choose_rows(names, words, source)
        names, values = [names[row] for row in chosen], values[chosen]
        notes += missing
        dropped = {"not in the list of words": n_read - len(chosen)}
    report = ReadReport(source, n_read, 0, dropped, notes)
    return Vectors(names, as_float32(values, source), report)


def _labelled(data: Any) -> Table | None:
    """Return the vectors of an object that contains their labels, or None for any other object."""
    if isinstance(data, Vectors):
        return Table(data.values, data.labels, source=data.report.source, notes=data.report.notes)
    if isinstance(data, Counts):
        return Table(data.values, data.row_labels or (), source=data.report.source)
    if isinstance(data, Table) and data.n_read is not None:
        return data
    if hasattr(data, "index_to_key"):
        return Table(data.vectors, list(map(str, data.index_to_key)), source="KeyedVectors")
    if hasattr(data, "obs_names"):
        source = str(getattr(data, "filename", None) or "the AnnData object")
        name = usual_table(data)
        values = table_of(data, name, source)
        what = plural("variable" if name == "X" else "component", values.shape[1])
        names = list(map(str, data.obs_names))
        return Table(values, names, source=source, notes=(f"uses {name}, {what}",))
    if isinstance(data, Mapping):
        values = list(map(np.asarray, data.values()))
        return Table(values, list(map(str, data)), source="a mapping")
    return None


def _table_in(frame: pd.DataFrame, label_column: str | None) -> Table:
    """Return the vectors in a table, whose labels are its index or a column."""
    names, numeric = list(frame.columns), numeric_columns(frame)
    source = frame.attrs["source"]
    texts = [c for c, is_numeric in enumerate(numeric) if not is_numeric]
    usual = [c for key in LABELS for c, name in enumerate(names) if folded(name) == key]
    label = find(frame, "labels", label_column)
    labels = None if is_text(frame) else index_labels(frame)
    # An index of numbers may only count the rows of a larger frame.
    if label is None and (labels is None or frame.index.dtype.kind in "iu"):
        label = next(iter([*(c for c in usual if c in texts), *texts, *usual]), None)
    if label is not None:
        labels = labels_of(frame, label).tolist()
    # A row number or a class next to the words is not a coordinate.
    numbers = [c for c, is_numeric in enumerate(numeric) if is_numeric and c not in (label, *usual)]
    others = [c for c in range(len(names)) if c not in (label, *numbers)]
    _refuse_others(frame, others)
    if not numbers:
        raise DataError(
            f"{source} has no column of numbers in addition to its labels; its columns are "
            f"{listed(names)}"
        )
    if len(numbers) == 1 and has_pair_header(names):
        raise DataError(f"{source} contains associations, not vectors; see `read_associations`")
    values = numbers_of(frame, numbers, "coordinate", [] if label is None else [label])
    notes = (f"columns left out: {listed([names[c] for c in others])}",) if others else ()
    return Table(values, labels, source=source, notes=(*notes, *frame.attrs["notes"]))


def _refuse_others(frame: pd.DataFrame, columns: Sequence[int]) -> None:
    """Raise a DataError if a column contains dates or lists, which cannot be left out silently."""
    for c in columns:
        head = frame.iloc[:HEAD_ROWS, c]
        cells = list(filter(None, map(cell_label, head)))
        is_date = frame.dtypes.iloc[c].kind in "mM" or all(map(DATE.fullmatch, cells))
        has_lists = any(isinstance(cell, list | tuple | np.ndarray) for cell in head)
        if cells and (is_date or has_lists):
            raise DataError(
                f"{frame.attrs['source']}: the column {frame.columns[c]!r} contains "
                f"{'dates' if is_date else 'lists'} such as {cells[0][:60]!r}; convert them to "
                "columns of numbers, or remove the column"
            )
