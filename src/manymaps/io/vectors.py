"""Readers that convert vectors in files and in memory to `Vectors`.

    word2vec, GloVe, fastText     text or word2vec's .bin (see `manymaps.io.word2vec`)
    npy, npz, h5ad                arrays, annotated data matrices
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

from manymaps.archive.arrays import read_npy
from manymaps.data.associations import ReadReport
from manymaps.data.clean import read_saved_counts
from manymaps.data.counts import Counts
from manymaps.data.frames import index_labels
from manymaps.data.tables import cell_label, names_of, place, source_of
from manymaps.data.vectors import VectorRows, Vectors, as_float32, checked_table, choose_rows
from manymaps.errors import DataError, ParameterError, setting
from manymaps.io.annotated import open_annotated, table_of, usual_table
from manymaps.io.columns import (
    HEAD_ROWS,
    LABELS,
    NumberRule,
    checked_frame,
    find,
    folded,
    has_lists,
    is_text,
    labels_of,
    numbers_of,
    numeric_columns,
)
from manymaps.io.files import CONTAINERS, read_labelled_npz, read_labels, suffix_of
from manymaps.io.frames import read_frame
from manymaps.io.word2vec import read_binary_vectors, read_text_vectors, word_format
from manymaps.labels import listed, plural

if TYPE_CHECKING:
    import pandas as pd

EXPECTED = "vectors, with a label and its numbers in each row"
DATE = re.compile(r"\d{4}-\d\d?-\d\d?([ T]\d\d:.*)?|\d\d?[./]\d\d?[./]\d{2,4}")
_NO_FRAME = (
    "vectors cannot be made from an object of type {}; pass a data frame, gensim's KeyedVectors, "
    "AnnData, a mapping of words to vectors, or an array"
)


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
    file, source, column = Path(path), str(path), None
    wanted = None
    if words is not None:
        words = read_labels(words) if isinstance(words, str | os.PathLike) else words
        wanted = dict.fromkeys(map(str, words))
        if not wanted:
            raise ParameterError("words is empty; pass at least one word, or omit it to read all")
    suffix = suffix_of(file)
    form = None if suffix in CONTAINERS else word_format(file)
    if labels is not None and (form or suffix == ".h5ad"):
        raise ParameterError(
            f"{setting('labels')} applies to arrays and tables; {path} contains its labels"
        )
    if isinstance(labels, str) and suffix not in READERS and not Path(labels).is_file():
        labels, column = None, labels
    if form:
        read = read_text_vectors if form == "text" else read_binary_vectors
        rows = read(file, words=wanted)
    elif suffix in READERS:
        rows = READERS[suffix](file)
    else:
        rows = _frame_rows(checked_frame(read_frame(path, EXPECTED)), column)
    return _assembled(rows, source, None if labels is None else read_labels(labels), wanted)


def vectors_from(data: Any, *, labels: Sequence[str] | str | None = None) -> Vectors:
    """Convert an object in memory to vectors.

    Parameters
    ----------
    data : object
        Object to convert. It may be gensim's KeyedVectors or a gensim model with the attribute
        `wv`, AnnData (the table of `read_vectors`), `Counts` (their rows), or a mapping of words to
        vectors. A dense or sparse array, or a pandas, polars or pyarrow frame with labels in a
        column or in the index is also accepted. `Vectors` are returned unchanged.
    labels : sequence of str, or str, optional
        Labels of an array or a frame, or the name of the frame's label column.

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
    if isinstance(data, Vectors):
        return data
    labelled = _labelled_rows(data)
    if labelled is not None and labels is not None:
        raise ParameterError(
            f"{setting('labels')} applies to arrays and frames; {type(data).__name__} has its own"
        )
    if labelled is not None:
        return _assembled(*labelled)
    column = labels if isinstance(labels, str) else None
    names = None if labels is None or column is not None else list(map(str, labels))
    if sparse.issparse(data) or isinstance(data, np.ndarray | list):
        return _assembled(VectorRows(None, data), "arrays", names)
    frame = checked_frame(data, _NO_FRAME)
    return _assembled(_frame_rows(frame, column), source_of(frame), names)


def _labelled_rows(data: Any) -> tuple[VectorRows, str] | None:
    """Return the rows of an object with labels and its name, or None for any other object."""
    if isinstance(data, Counts):
        return VectorRows(list(data.row_labels or ()), data.values), data.report.source
    if hasattr(data, "index_to_key"):
        return VectorRows(list(map(str, data.index_to_key)), data.vectors), "KeyedVectors"
    if hasattr(data, "obs_names"):
        return _annotated_rows(data, "the AnnData object"), "AnnData"
    if isinstance(data, Mapping):
        return VectorRows(list(map(str, data)), list(map(np.asarray, data.values()))), "a mapping"
    return None


def _assembled(
    rows: VectorRows,
    source: str,
    labels: Sequence[str] | None = None,
    wanted: dict[str, None] | None = None,
) -> Vectors:
    """Create `Vectors` from all rows, or from the rows of some words in the order of the words.

    `labels` replace the labels of the rows. If there are no labels, rows are numbered.
    """
    if wanted is not None and rows.labels == []:
        choose_rows([], wanted, source)  # raises, as there are no words to read
    values, notes = checked_table(rows.values, source), rows.notes
    n = values.shape[0]
    names = rows.labels if labels is None else labels
    names = list(map(str, range(n))) if names is None else names
    if len(names) != n:
        raise DataError(
            f"{source}: there are {len(names):,} labels for {n:,} vectors; pass one label per "
            "vector"
        )
    n_read = n if rows.n_read is None else rows.n_read
    dropped: dict[str, int] = {}
    if wanted is not None:
        chosen, missing = choose_rows(names, wanted, source)
        names, values = [names[row] for row in chosen], values[chosen]
        notes += missing
        dropped = {"not in the list of words": n_read - len(chosen)}
    report = ReadReport(source, n_read, 0, dropped, notes)
    return Vectors(names, as_float32(values, source), report)


def _npy_rows(path: Path) -> VectorRows:
    return VectorRows(None, read_npy(path))


def _npz_rows(path: Path) -> VectorRows:
    """Read the array `vectors` with its labels, or the rows of counts."""
    counts = read_saved_counts(path)
    if counts is not None:
        return VectorRows(list(counts.row_labels or ()), counts.values)
    values, labels = read_labelled_npz(path, "vectors")
    return VectorRows(labels, values)


def _h5ad_rows(path: Path) -> VectorRows:
    with open_annotated(path) as data:
        return _annotated_rows(data, str(path))


def _annotated_rows(data: Any, source: str) -> VectorRows:
    """Return the vectors in the usual table of an AnnData object, which a note names."""
    name = usual_table(data)
    values = table_of(data, name, source)
    what = plural("variable" if name == "X" else "component", values.shape[1])
    return VectorRows([str(x) for x in data.obs_names], values, notes=(f"uses {name}, {what}",))


READERS = {".npy": _npy_rows, ".npz": _npz_rows, ".h5ad": _h5ad_rows}


def _frame_rows(frame: pd.DataFrame, label_column: str | None) -> VectorRows:
    """Return the vectors in a table, whose labels are its index or a column."""
    names, numeric, source = names_of(frame), numeric_columns(frame), source_of(frame)
    if not len(frame):
        raise DataError(f"{source} has a header and no rows")
    texts = [c for c, is_numeric in enumerate(numeric) if not is_numeric]
    for name in (names[c] for c in texts if has_lists(frame, c)):
        raise DataError(
            f"{source}: the column {name!r} contains lists; pass numpy.stack(frame[{name!r}]) with "
            "labels"
        )
    usual = [c for key in LABELS for c, name in enumerate(names) if folded(name) == key]
    label = find(frame, "labels", label_column)
    labels = None if is_text(frame) else index_labels(frame)
    # An index of numbers may only count the rows of a larger frame.
    if label is None and (labels is None or frame.index.dtype.kind in "iu"):
        label = next(iter([*(c for c in usual if c in texts), *texts, *usual]), None)
    if label is not None:
        labels = labels_of(frame, label).cells()
        if "" in labels:
            where = place(frame, labels.index(""))
            raise DataError(f"{where}: the label is missing; give each row a name")
    # A row number or a class next to the words is not a coordinate.
    numbers = [c for c, is_numeric in enumerate(numeric) if is_numeric and c not in (label, *usual)]
    if not numbers:
        raise DataError(
            f"{source} has no column of numbers in addition to its labels; its columns are "
            f"{listed(names)}"
        )
    others = [c for c in range(len(names)) if c not in (label, *numbers)]
    _refuse_dates(frame, others)
    values = numbers_of(frame, numbers, _RULE, [] if label is None else [label])
    notes = (f"columns left out: {listed([names[c] for c in others])}",) if others else ()
    return VectorRows(labels, values, notes=(*notes, *frame.attrs.get("notes", ())))


def _beyond_float32(values: np.ndarray) -> np.ndarray:
    """Return a mask of the numbers that are not finite in float32."""
    with np.errstate(over="ignore"):
        return ~np.isfinite(values.astype(np.float32))


_RULE = NumberRule(
    "value", _beyond_float32, "vectors need finite numbers within the range of float32"
)


def _refuse_dates(frame: pd.DataFrame, columns: Sequence[int]) -> None:
    """Raise a DataError if a column contains dates, which are not coordinates."""
    for c in columns:
        cells = list(filter(None, map(cell_label, frame.iloc[:HEAD_ROWS, c])))
        is_date = frame.dtypes.iloc[c].kind in "mM" or all(map(DATE.fullmatch, cells))
        if cells and is_date:
            raise DataError(
                f"{source_of(frame)}: the column {names_of(frame)[c]!r} contains dates such as "
                f"{cells[0]!r}; convert them to numbers, or remove the column"
            )
