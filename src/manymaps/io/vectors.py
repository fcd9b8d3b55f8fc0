"""Readers that convert vectors in files and in memory to `Vectors`.

    word2vec, glove, fasttext     text: a word and its numbers on each line
    word2vec-binary               word2vec's .bin
    npy, npz                      arrays, with labels next to them or inside
    csv, tsv, parquet             tables with a column of labels
    h5ad                          annotated data matrices

`manymaps.io.kinds` detects the format of a file.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from manymaps.archive.arrays import read_npy
from manymaps.data.associations import ReadReport
from manymaps.data.counts import Counts
from manymaps.data.vectors import VectorRows, Vectors, as_float32, checked_table, choose_rows
from manymaps.errors import DataError, ParameterError, setting
from manymaps.io.annotated import open_annotated
from manymaps.io.files import read_labelled_npz, sampled, stem_of
from manymaps.io.frames import read_frame
from manymaps.io.kinds import TABLES, VECTOR_FORMATS, WORD_LINES, asked_format, vector_format
from manymaps.io.matrices import file_beside, read_labels
from manymaps.io.saved_counts import read_saved_counts
from manymaps.io.vector_tables import EXPECTED, annotated_rows, frame_rows
from manymaps.io.word2vec import read_binary_vectors, read_text_vectors
from manymaps.labels import plural, shown

KEYED = ("npz", "h5ad", "parquet")
LABEL_SUFFIXES = (".labels", ".labels.txt", ".words", ".words.txt")


def read_vectors(
    path: str | os.PathLike[str],
    *,
    format: str | None = None,
    labels: Sequence[str] | str | os.PathLike[str] | None = None,
    words: Iterable[str] | str | os.PathLike[str] | None = None,
) -> Vectors:
    """Read vectors from a file.

    The supported formats are word2vec text and binary, GloVe, fastText .vec, NPY (memory-mapped),
    NPZ, CSV, TSV, Parquet and .h5ad. Text and word2vec binary files may be compressed with gzip,
    bzip2 or xz. Words are read as written, and repeated words are numbered.

    Parameters
    ----------
    path : path
        File to read.
    format : str, optional
        One of "word2vec", "fasttext" (text with a header line), "glove" (without one),
        "word2vec-binary", "npy", "npz", "csv", "tsv", "parquet" and "h5ad". By default, the format
        is inferred from the name and content of the file. The name of a table inside the file may
        follow after a colon: "npz:glove", "h5ad:X_pca" (in obsm), "h5ad:X", "parquet:embedding"
        (a column of lists). The default table of an .h5ad file is X if there are at most 50
        variables or no X_pca, and X_pca otherwise.
    labels : path or sequence of str, optional
        Labels of an array or a table, or a file with one label per line. For a table, it may also
        be the name of the label column. By default, the labels of an array are read from a file
        with the same stem and the suffix .labels, .labels.txt, .words or .words.txt. If there is no
        such file, the labels are "0", "1", ...
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
    sample = sampled(path)
    asked, key = asked_format(format, VECTOR_FORMATS, KEYED)
    wanted, notes = _wanted(words)
    kind = asked or vector_format(sample)
    if kind in ("mtx", "graphml", "biom"):
        raise DataError(
            f"{sample} is a file of the format {kind}, which cannot contain vectors; save a "
            "table of vectors as NPY or by scipy.sparse.save_npz, or read a graph as associations"
        )
    source, column = str(path), None
    if labels is not None:
        if kind not in (*TABLES, "parquet", "npy", "npz"):
            raise ParameterError(
                f"{setting('labels')} applies to arrays and tables; {source} ({kind}) contains "
                "its labels"
            )
        is_name = isinstance(labels, str) and not Path(labels).is_file()
        if is_name and kind in (*TABLES, "parquet"):
            labels, column = None, str(labels)
        else:
            labels = read_labels(labels)
    file = sample.path
    # Rows of a table cannot be selected before they receive the labels from another file.
    words = wanted if labels is None else None
    if kind in ("npy", "npz"):
        rows = _array_rows(file, kind, key)
        if labels is None and rows.labels is None:
            labels, source, more = _labels_beside(file, kind)
            notes = (*more, *notes)
    elif kind in (*TABLES, "parquet"):
        frame = read_frame(file, EXPECTED, typed=True)
        rows = frame_rows(frame, label_column=column, list_column=key)
    elif kind == "h5ad":
        with open_annotated(file) as data:
            rows = annotated_rows(data, key, source, words=words)
    elif kind == "word2vec-binary":
        rows = read_binary_vectors(file, words=words)
    else:
        rows = read_text_vectors(file, header=WORD_LINES[asked] if asked else None, words=words)
    return _assembled(rows, source, labels, wanted, notes, str(path))


def vectors_from(data: Any, *, labels: Sequence[str] | str | None = None) -> Vectors:
    """Convert an object in memory to vectors.

    Parameters
    ----------
    data : object
        Object to convert. It may be gensim's KeyedVectors or a gensim model with the attribute
        `wv`, AnnData (with the default table of `read_vectors`), `Counts` (their rows), or a
        mapping of words to vectors. A pair (labels, array), a dense or sparse array, or a pandas,
        polars or pyarrow frame with labels in a column or in the index is also accepted. `Vectors`
        are returned unchanged.
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
    is_annotated, is_keyed = hasattr(data, "obs_names"), hasattr(data, "index_to_key")
    if labels is not None and (
        is_annotated or is_keyed or isinstance(data, Vectors | Counts | Mapping | tuple)
    ):
        raise ParameterError(
            f"{setting('labels')} applies to arrays and frames; {type(data).__name__} has its own"
        )
    column = labels if isinstance(labels, str) else None
    where, source = "the array", "arrays"
    if isinstance(data, Vectors):
        return data
    if isinstance(data, Counts):
        rows, source = _count_rows(data), data.report.source
    elif is_keyed:
        rows, source = VectorRows([str(k) for k in data.index_to_key], data.vectors), "KeyedVectors"
    elif is_annotated:
        rows, source = annotated_rows(data, None, "the AnnData object"), "AnnData"
    elif isinstance(data, Mapping):
        rows, source = _mapping_rows(data), "a mapping"
    elif isinstance(data, tuple):
        if len(data) != 2:
            raise DataError(f"a tuple of {len(data)} is not (labels, array); pass two parts")
        rows = VectorRows([str(label) for label in data[0]], data[1])
    elif sparse.issparse(data) or isinstance(data, np.ndarray | list):
        rows, column = VectorRows(None, data), None
    else:
        source = getattr(data, "attrs", {}).get("source", "a frame")
        where = "the frame"
        rows = frame_rows(data, label_column=column)
    names = None if labels is None or column is not None else [str(label) for label in labels]
    return _assembled(rows, where, names, None, (), source)


def _wanted(
    words: Iterable[str] | str | os.PathLike[str] | None,
) -> tuple[dict[str, None] | None, tuple[str, ...]]:
    """Return the words to read in order without repetitions, and a note if some were repeated."""
    if words is None:
        return None, ()
    if isinstance(words, str | os.PathLike):
        words = read_labels(words, "one word per line")
    listed_words = [str(word) for word in words]
    wanted = dict.fromkeys(listed_words)
    if not wanted:
        raise ParameterError("words is empty; pass at least one word, or omit it to read all")
    n_repeated = len(listed_words) - len(wanted)
    return wanted, (f"the list repeats {plural('word', n_repeated)}",) if n_repeated else ()


def _assembled(
    rows: VectorRows,
    source: str,
    labels: Sequence[str] | None,
    wanted: dict[str, None] | None,
    notes: tuple[str, ...],
    reported: str,
) -> Vectors:
    """Create `Vectors` from all rows, or from the rows of some words in the order of the words.

    `labels` replace the labels of the rows. If there are no labels, rows are numbered.
    """
    if wanted is not None and rows.labels == []:
        choose_rows([], wanted, reported)  # raises, as there are no words to read
    values = checked_table(rows.values, source)
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
        chosen, missing = choose_rows(names, wanted, reported)
        names, values = [names[row] for row in chosen], values[chosen]
        notes += missing
        dropped = {"not in the list of words": n_read - len(chosen)}
    report = ReadReport(reported, n_read, 0, dropped, rows.notes + notes)
    return Vectors(names, as_float32(values, reported), report)


def _array_rows(path: Path, kind: str, key: str | None) -> VectorRows:
    """Read the rows of an NPY or NPZ file, with the labels that it contains."""
    if kind == "npy":
        return VectorRows(None, read_npy(path))
    counts = read_saved_counts(path) if key is None else None
    if counts is not None:
        return _count_rows(counts)
    values, labels = read_labelled_npz(path, "vectors", key=key)
    return VectorRows(labels, values)


def _count_rows(counts: Counts) -> VectorRows:
    return VectorRows(list(counts.row_labels or ()), counts.values)


def _labels_beside(path: Path, kind: str) -> tuple[list[str] | None, str, tuple[str, ...]]:
    """Read labels from a file with the same stem, and return them with the source and a note."""
    stem = stem_of(path, f".{kind}")
    file = file_beside(path, [stem + suffix for suffix in LABEL_SUFFIXES])
    if file is None:
        return None, str(path), ()
    note = f"labels from {file.name}"
    return read_labels(file), f"{path}, with {note}", (note,)


def _mapping_rows(data: Mapping[Any, Any]) -> VectorRows:
    """Convert a mapping of words to vectors to rows."""
    vectors = {str(word): np.asarray(vector) for word, vector in data.items()}
    if not vectors:
        raise DataError("the mapping of words to vectors is empty")
    first = next(iter(vectors.values())).shape
    for word, vector in vectors.items():
        if vector.shape != first or len(first) != 1:
            raise DataError(
                f"the vector of {shown(word)} has shape {vector.shape}, and the first {first}; "
                "pass one row of numbers per word, all of one length"
            )
    return VectorRows(list(vectors), np.stack(list(vectors.values())))
