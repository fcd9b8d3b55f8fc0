"""Vectors as people have them -> `Vectors`: files of many kinds, and objects in memory.

    word2vec, glove, fasttext     text: a word and its numbers on each line
    word2vec-binary               word2vec's .bin
    npy, npz                      arrays, with labels beside them or inside
    csv, tsv, parquet             tables with a column of labels
    h5ad                          annotated data matrices

`manymaps.io.kinds` finds the kind of a file.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from manymaps.archive.door import reader
from manymaps.data.associations import ReadReport
from manymaps.data.vectors import VectorRows, Vectors, as_float32, checked_table, choose_rows
from manymaps.errors import DataError, ParameterError, setting
from manymaps.io.files import (
    Sample,
    read_labelled_npz,
    read_npy,
    sampled,
    stem_of,
)
from manymaps.io.kinds import (
    TABLES,
    VECTOR_FORMATS,
    WORD_LINES,
    asked_format,
    vector_format,
)
from manymaps.io.matrices import read_labels
from manymaps.io.vector_tables import (
    annotated_rows,
    frame_rows,
    read_annotated,
    read_parquet_vectors,
    read_table_vectors,
)
from manymaps.io.word2vec import read_binary_vectors, read_text_vectors
from manymaps.labels import shown

__all__ = ["read_vectors", "vectors_from"]

KEYED = ("npz", "h5ad", "parquet")
LABEL_SUFFIXES = (".labels", ".labels.txt", ".words", ".words.txt")
WORD_KEYS = ("words", "vocabulary", "vocab", "index_to_key", "names", "labels")
VECTOR_KEYS = ("vectors", "embeddings", "embedding", "values")


@reader("vectors")
def read_vectors(
    path: str | os.PathLike[str],
    *,
    format: str | None = None,
    labels: Sequence[str] | str | os.PathLike[str] | None = None,
    words: Iterable[str] | str | os.PathLike[str] | None = None,
) -> Vectors:
    """Read vectors from a file.

    word2vec text and binary, GloVe, fastText .vec, NPY (memory-mapped), NPZ, CSV, TSV, Parquet and
    .h5ad; texts and word2vec's binary form may be packed by gzip, bzip2 or xz. Words are taken as
    they are written; repeated ones are numbered.

    Parameters
    ----------
    path : path
    format : str, optional
        One of "word2vec", "fasttext" (text with a header line), "glove" (without),
        "word2vec-binary", "npy", "npz", "csv", "tsv", "parquet" and "h5ad", where the file's name
        and content would tell it wrongly. A table inside the file is named behind a colon:
        "npz:glove", "h5ad:X_pca" (in obsm; X by default), "parquet:embedding" (a column of lists).
    labels : path or sequence of str, optional
        For arrays: a file of one label a line, or the labels. By default the file with the same
        stem and the suffix .labels, .labels.txt, .words or .words.txt, if there is one; else
        "0", "1", ... For a table also the name of its column of labels.
    words : path or iterable of str, optional
        Only these words' rows are parsed and kept, in the order of `words`: a file of one word a
        line, or the words. They are compared exactly, with their case. Words that are not found
        stand in the report.

    Returns
    -------
    Vectors
        Its `report` says what was read and what deserves saying.

    Raises
    ------
    DataError
        Where the file cannot be used or holds none of the words; the message names the file and
        the line or row.
    ParameterError
        Where an option has an unknown value or does not go with the file.
    FileNotFoundError
        Where there is no such file.
    ImportError
        Where Parquet is read without pyarrow, or .h5ad without anndata.

    See Also
    --------
    vectors_from, TSNE, Vectors

    Notes
    -----
    At most 10 million words are kept; a line of a text has at most 16 MiB, and a word 65,536
    bytes. No unpacked file under 100 MB takes over 4 GiB to read.

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
    file = sample.path
    asked, key = asked_format(format, VECTOR_FORMATS, KEYED)
    wanted, notes = _wanted(words)
    kind = asked or vector_format(sample)
    if kind in ("npy", "npz"):
        rows = _read_arrays(file, kind, key, labels)
    elif kind in TABLES or kind == "parquet":
        rows = _read_table(sample, kind, key, labels, wanted)
    else:
        if labels is not None:
            raise ParameterError(
                f"{setting('labels')} is for arrays and tables, and {file} ({kind}) has its "
                "own labels"
            )
        if kind == "h5ad":
            rows = read_annotated(file, key, words=wanted)
        elif kind == "word2vec-binary":
            rows = read_binary_vectors(file, words=wanted)
        else:
            rows = read_text_vectors(
                file, header=WORD_LINES[asked] if asked else None, words=wanted
            )
    return _finished(rows, wanted, str(path), notes)


def vectors_from(data: Any, *, labels: Sequence[str] | str | None = None) -> Vectors:
    """Vectors from an object in memory, by its own interface.

    Parameters
    ----------
    data : object
        gensim's KeyedVectors (or a model that has them as `wv`); AnnData (its X); a mapping of
        words to vectors; (labels, array); an array, dense or sparse; a pandas, polars or pyarrow
        frame with a column of labels, or with them as its index; or `Vectors`, returned as they
        are.
    labels : sequence of str, or str, optional
        For an array or a frame: the labels, or the name of the frame's column of labels.

    Returns
    -------
    Vectors
        float32 arrays are shared, not copied.

    Raises
    ------
    DataError
        Where the object holds no vectors, or as in `Vectors`.

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
    own = isinstance(data, Vectors | Mapping | tuple) or hasattr(data, "index_to_key")
    own = own or hasattr(data, "obs_names")
    if own and labels is not None:
        raise ParameterError(
            f"{setting('labels')} is for arrays and frames; {type(data).__name__} has its own"
        )
    if isinstance(data, Vectors):
        return data
    if hasattr(data, "index_to_key"):
        keys = [str(key) for key in data.index_to_key]
        rows = VectorRows(keys, data.vectors, len(keys))
        source = "KeyedVectors"
    elif hasattr(data, "obs_names"):
        rows, source = annotated_rows(data, None, "the AnnData object"), "AnnData"
    elif isinstance(data, Mapping):
        rows, source = _mapping_rows(data), "a mapping"
    elif isinstance(data, tuple):
        if len(data) != 2:
            raise DataError(f"a tuple of {len(data)} is not (labels, array); give two parts")
        rows, source = _array_rows(data[1], data[0], "the array"), "arrays"
    elif sparse.issparse(data) or isinstance(data, np.ndarray | list):
        rows, source = _array_rows(data, labels, "the array"), "arrays"
    else:
        column = labels if isinstance(labels, str) else None
        rows, source = frame_rows(data, "the frame", label_column=column), "a frame"
        if labels is not None and column is None:
            rows = _array_rows(rows.values, labels, "the frame")
    return _finished(rows, None, source, ())


def _wanted(
    words: Iterable[str] | str | os.PathLike[str] | None,
) -> tuple[dict[str, None] | None, tuple[str, ...]]:
    """The words to keep, each once and in order, and a note where some were repeated."""
    if words is None:
        return None, ()
    if isinstance(words, str | os.PathLike):
        given = read_labels(words, "one word a line")
    else:
        given = [str(word) for word in words]
    wanted = dict.fromkeys(given)
    if not wanted:
        raise ParameterError("words is empty; name at least one, or leave it out to read all")
    repeated = len(given) - len(wanted)
    return wanted, (f"{repeated:,} of the words stand twice in the list",) if repeated else ()


def _finished(
    rows: VectorRows, wanted: Collection[str] | None, source: str, notes: tuple[str, ...]
) -> Vectors:
    """`Vectors` of the rows that were read, or of those that are wanted, in their order."""
    labels, values = rows.labels, rows.values
    dropped: dict[str, int] = {}
    if wanted is not None:
        chosen, missing = choose_rows(labels, wanted, source)
        labels, values = [labels[row] for row in chosen], values[chosen]
        notes += missing
        dropped = {"not in the list of words": rows.n_read - len(chosen)}
    report = ReadReport(source, rows.n_read, 0, dropped, rows.notes + notes)
    return Vectors(labels, as_float32(values, source), report)


def _read_table(
    sample: Sample,
    kind: str,
    key: str | None,
    labels: Sequence[str] | str | os.PathLike[str] | None,
    wanted: Collection[str] | None,
) -> VectorRows:
    """Rows of a table; `labels` names its column, or is a file or list that replaces it."""
    column = labels if isinstance(labels, str) and not Path(labels).is_file() else None
    names = None if labels is None or column is not None else read_labels(labels)
    if kind == "parquet":
        rows = read_parquet_vectors(sample, label_column=column, list_column=key)
    else:
        words = wanted if names is None else None
        rows = read_table_vectors(sample, kind, label_column=column, words=words)
    if names is None:
        return rows
    replaced = _array_rows(rows.values, names, str(sample))
    return VectorRows(replaced.labels, rows.values, rows.n_read, rows.notes)


def _read_arrays(
    path: Path,
    kind: str,
    key: str | None,
    labels: Sequence[str] | str | os.PathLike[str] | None,
) -> VectorRows:
    """The rows of an array file, with labels that are given, inside, beside it, or numbers."""
    source = str(path)
    if kind == "npy":
        values, inside = read_npy(path), None
    else:
        values, inside = read_labelled_npz(path, VECTOR_KEYS, WORD_KEYS, key=key)
    if labels is not None:
        return _array_rows(values, read_labels(labels), source)
    if inside is not None:
        return _array_rows(values, inside, source)
    stem = stem_of(path, f".{kind}")
    places = [path.with_name(stem + suffix) for suffix in LABEL_SUFFIXES]
    beside = next((place for place in places if place.is_file()), None)
    if beside is None:
        return _array_rows(values, None, source)
    rows = _array_rows(values, read_labels(beside), f"{source}, with labels from {beside.name}")
    return VectorRows(rows.labels, rows.values, rows.n_read, (f"labels from {beside.name}",))


def _array_rows(values: Any, labels: Any, source: str) -> VectorRows:
    """The rows of an array, of its own type; "0", "1", ... where there are no labels."""
    values = checked_table(values, source)
    n = values.shape[0]
    names = [str(row) for row in range(n)] if labels is None else [str(x) for x in labels]
    if len(names) != n:
        raise DataError(
            f"{source}: there are {len(names):,} labels for {n:,} vectors; give one label per "
            "vector"
        )
    return VectorRows(names, values, n)


def _mapping_rows(data: Mapping[Any, Any]) -> VectorRows:
    """The rows of a mapping of words to vectors."""
    vectors = {str(word): np.asarray(vector) for word, vector in data.items()}
    shapes = {word: vector.shape for word, vector in vectors.items()}
    if not shapes:
        raise DataError("the mapping of words to vectors is empty")
    first = next(iter(shapes.values()))
    for word, shape in shapes.items():
        if shape != first or len(shape) != 1:
            raise DataError(
                f"the vector of {shown(word)} has the shape {shape}, and the first {first}; "
                "vectors need one row of numbers each, all of one length"
            )
    return VectorRows(list(shapes), np.stack(list(vectors.values())), len(shapes))
