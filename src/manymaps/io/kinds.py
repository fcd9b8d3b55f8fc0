"""What a file holds: pairs or a square table of similarities, vectors, or counts of two kinds.

A container is told by its first bytes (`manymaps.io.files`), a text by its name and first lines.
The command line takes one file for many purposes, and asks in this order:

    a cue and answers in their order, or one answer beside a participant            trials
    two columns of two kinds of object, or whole numbers under the names of such    counts
    two columns of words, or a usual header of cue and response                     pairs
    as many rows as columns, with the same labels                                   a square table
    one column of words and numbers, or lists of numbers                            vectors
"""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from itertools import islice
from pathlib import Path

import numpy as np

from manymaps.archive.arrays import two_lengths
from manymaps.archive.door import reader
from manymaps.data.counts import VERSION_KEY
from manymaps.errors import DataError, ParameterError, setting
from manymaps.io.annotated import first_numbers
from manymaps.io.columns import (
    ColumnNames,
    folded,
    has_pair_header,
    known_kind,
)
from manymaps.io.count_arrays import has_sparse_parts
from manymaps.io.count_tables import LAYOUT as COUNTS
from manymaps.io.count_tables import TableHead, head_of
from manymaps.io.files import (
    SPARSE_PARTS,
    Sample,
    array_heads,
    read_arrays,
    sampled,
    suffix_of,
    unpacked,
)
from manymaps.io.graphs import is_spaced
from manymaps.io.matrices import looks_like_matrix
from manymaps.io.tables import FrameTable, Table, is_number, parquet_table, read_text
from manymaps.io.trial_columns import TrialNames, find_trial_columns
from manymaps.io.vector_tables import LAYOUT as VECTORS
from manymaps.io.vector_tables import find_text_columns
from manymaps.io.word2vec import CONTROL, HEAD_LINES, HEADER, MOST_DIGITS, is_word_line

__all__ = [
    "COUNT_FORMATS", "COUNT_TEXTS", "PAIR_FORMATS", "TABLES", "VECTOR_FORMATS", "WORD_LINES",
    "asked_format", "looks_like_counts", "looks_like_vectors", "vector_format",
]  # fmt: skip

COUNT_FORMATS = ("edges", "matrix", "csv", "tsv", "parquet", "npy", "npz", "mtx", "h5ad")
PAIR_FORMATS = (*COUNT_FORMATS[:2], "trials", *COUNT_FORMATS[2:-1], "graphml", "edgelist")
COUNT_TEXTS = ("edges", "matrix", "csv", "tsv", "text")
# Texts of a word and its numbers a line, and whether a line above says how many there are.
WORD_LINES = {"word2vec": True, "fasttext": True, "glove": False}
TABLES = ("csv", "tsv", "table")
VECTOR_FORMATS = (*WORD_LINES, "word2vec-binary", "npy", "npz", "csv", "tsv", "parquet", "h5ad")
SHARED = ("csv", "tsv", "npy", "npz", "parquet")
MOST_NUMBERS = 2**16
# Fewer columns than this under an empty corner are too few to tell counts from measurements.
FEWEST_COLUMNS = 3


def asked_format(
    format: str | None, formats: Sequence[str], keyed: Collection[str] = ()
) -> tuple[str | None, str | None]:
    """The format that a user names, and for some of them the table behind the colon.

    >>> asked_format("h5ad:raw", COUNT_FORMATS, ("h5ad",)), asked_format(None, PAIR_FORMATS)
    (('h5ad', 'raw'), (None, None))
    """
    if format is None:
        return None, None
    name, colon, key = format.partition(":")
    if name not in formats or (colon and (name not in keyed or not key)):
        such = " or ".join(f"'{each}:NAME'" for each in keyed)
        raise ParameterError(
            f"{setting('format', format)} is not one of {', '.join(map(repr, formats))}"
            + (f", nor such as {such}" if such else "")
            + "; leave it out to find it by the file's name and content"
        )
    return name, key or None


def vector_format(sample: Sample) -> str:
    """The format of a file of vectors: by its first bytes, its name and its first lines."""
    path = sample.path
    stored = sample.container("vectors")
    if stored == "mtx":
        raise DataError(
            f"{path} is a MatrixMarket file, from which no vectors are read; save its matrix as "
            "NPY or by scipy.sparse.save_npz"
        )
    if stored == "graphml":
        raise DataError(f"{path} is XML; graphs are read as associations, not as vectors")
    if stored is not None:
        return stored
    suffix = suffix_of(path)
    start = sample.start.removeprefix(b"\xef\xbb\xbf")
    lines = start.split(b"\n")[: HEAD_LINES + 1]
    if not sample.is_whole and len(lines) > 1:
        lines.pop()  # it may be cut
    lines = [line for line in lines if line.strip()]
    header = HEADER.fullmatch(lines[0]) if lines else None
    if header and len(header[2]) <= MOST_DIGITS:
        second = lines[1] if len(lines) > 1 else b""
        if CONTROL.search(start) and not is_word_line(second, int(header[2])):
            return "word2vec-binary"
        if suffix == ".bin" and not is_word_line(second, 1):
            return "word2vec-binary"
        return "word2vec"
    if suffix in (".vec", ".glove"):
        return "glove"
    if suffix in (".csv", ".tsv"):
        return "table"
    spaced = 2 * sum(is_word_line(line) for line in lines) >= len(lines)
    return "glove" if spaced else "table"


@reader("counts")
def looks_like_counts(path: str | os.PathLike[str], format: str | None = None) -> bool:
    """Whether a file holds counts of two kinds rather than associations or vectors.

    Where nothing decides, it does not: a table of numbers in text holds counts where its corner
    names a kind, or where it is of whole numbers, most of them 0, under columns that are not
    numbered; an array where it was saved by `Counts.save`, has a vocabulary, or is sparse, not
    square and of whole numbers.

    Parameters
    ----------
    path : path
    format : str, optional
        As the user names it; formats that hold only pairs or only vectors decide.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from manymaps.io.kinds import looks_like_counts
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     pairs, counts = pathlib.Path(folder, "a.csv"), pathlib.Path(folder, "b.csv")
    ...     _ = pairs.write_text("cue,response,strength\\ntie,knot,.6\\nknot,tie,1\\n")
    ...     _ = counts.write_text("document,word,count\\nd1,tie,2\\nd1,knot,1\\n")
    ...     looks_like_counts(pairs), looks_like_counts(counts)
    (False, True)
    """
    name, _, key = (format or "").partition(":")
    if (name and name not in COUNT_FORMATS) or (key and name != "h5ad"):
        return False
    sample = sampled(path)
    file = sample.path
    try:
        kind = name or sample.container() or "text"
        if kind == "npz":
            return _npz_has_counts(file)
        if kind == "mtx":
            return _market_has_counts(file)
        if kind == "h5ad":
            return _annotated_has_counts(file)
        if kind == "parquet":
            return _table_has_counts(parquet_table(sample, head=True), None)
        if kind not in COUNT_TEXTS:
            return False
        return _table_has_counts(read_text(sample, COUNTS, name or None, head=True), name or None)
    except (DataError, ImportError):
        # The reader that is chosen then says what is wrong.
        return False


@reader("vectors")
def looks_like_vectors(path: str | os.PathLike[str], format: str | None = None) -> bool:
    """Whether a file holds vectors rather than pairs or a square table of similarities.

    Reads its first lines, or what an array's head says of its shape.

    Parameters
    ----------
    path : path
    format : str, optional
        As the user names it: one that only vectors have decides, "edges", "matrix" and "mtx"
        decide otherwise, and those that both have leave it to the content.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from manymaps.io.kinds import looks_like_vectors
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     pairs, table = pathlib.Path(folder, "a.csv"), pathlib.Path(folder, "b.csv")
    ...     _ = pairs.write_text("cue,response,strength\\ntie,knot,.6\\nknot,tie,1\\n")
    ...     _ = table.write_text("word,x,y\\ntie,.6,1\\nknot,.2,0\\n")
    ...     looks_like_vectors(pairs), looks_like_vectors(table)
    (False, True)
    """
    name, _, key = (format or "").partition(":")
    if name and name not in SHARED:
        return name in VECTOR_FORMATS
    if key:
        return True
    sample = sampled(path)
    file = sample.path
    if is_spaced(suffix_of(file), format):
        return False
    try:
        kind = name or vector_format(sample)
        if kind in ("npy", "npz"):
            return _array_is_wide(file, kind)
        if kind == "parquet":
            return _frame_has_vectors(parquet_table(sample, head=True))
        return kind not in TABLES or _text_has_vectors(sample, kind)
    except (DataError, ImportError):
        # The reader of associations says what is wrong, as it does for any file.
        return False


def _shares_labels(rows: Sequence[Sequence[str]]) -> bool:
    """Whether rows and columns share most labels, as those of a table of similarities do."""
    labels = {cells[0] for cells in rows[1:]}
    return looks_like_matrix(rows) and 2 * len(labels & set(rows[0])) >= len(labels)


def _npz_has_counts(path: Path) -> bool:
    """Whether an NPZ file is one of counts, by its names, or sparse, not square and whole."""
    heads = array_heads(path, "npz")
    if VERSION_KEY in heads:
        return True
    if set(heads) >= SPARSE_PARTS:
        if heads["data"].dtype.kind not in "iu":
            return False
        n_rows, n_columns = _stored_shape(path)
        return n_rows != n_columns
    return has_sparse_parts(heads)


def _market_has_counts(path: Path) -> bool:
    """Whether a MatrixMarket file is not square: no other reader takes such a one."""
    with unpacked(path) as file:
        for line in islice(file.stream, 1000):
            if line.strip() and not line.startswith(b"%"):
                sizes = line.split()
                return len(sizes) >= 2 and sizes[0] != sizes[1]
    return False


def _annotated_has_counts(path: Path) -> bool:
    """Whether the table of an .h5ad file begins with whole numbers of at least 0."""
    numbers = first_numbers(path, MOST_NUMBERS)
    if numbers is None:
        return False  # the reader that is chosen names the extra
    whole = numbers.dtype.kind in "buif" and bool(np.all(numbers == np.rint(numbers)))
    return whole and numbers.size > 0 and bool(numbers.min() >= 0)


def _table_has_counts(table: Table, asked: str | None) -> bool:
    """Whether the first rows are those of a long list of two kinds or of a wide table."""
    head = head_of(table)
    if not head.header or _has_pairs(table) or any(folded(name) == "cue" for name in head.names):
        return False
    if asked == "edges" or head.is_long:
        return head.is_long
    return not _shares_labels(table.head) and _is_count_table(head)


def _has_pairs(table: Table) -> bool:
    """Whether the first rows hold a cue and a response, or a cue and the answers of a person."""
    return has_pair_header(table.head[0], ColumnNames()) or (
        find_trial_columns(table.head[0], table.head[1:], TrialNames(), table.source) is not None
    )


def _corner_names_kind(corner: str) -> bool:
    """Whether the name over the labels is a kind; tables of vectors have words there."""
    return known_kind(corner) is not None and folded(corner) not in ("word", "term", "token")


def _is_count_table(head: TableHead) -> bool:
    """Whether a table has labels, and whole numbers that look counted."""
    features = [c for c in range(1, len(head.names)) if head.numeric[c]]
    cells = [row[c] for row in head.body if len(row) == len(head.names) for c in features]
    if not cells or not all(cell.isascii() and cell.isdigit() for cell in cells):
        return False
    if _corner_names_kind(head.names[0]):
        return True
    zeros = sum(not cell.strip("0") for cell in cells)
    numbered = sum(is_number(head.names[c][-1:]) for c in features)
    named = len(features) >= FEWEST_COLUMNS and 2 * numbered < len(features)
    return not head.names[0] and not head.numeric[0] and named and 2 * zeros >= len(cells)


def _array_is_wide(path: Path, kind: str) -> bool:
    """Whether an array file holds a table that is not square."""
    heads = array_heads(path, kind)
    if set(heads) >= SPARSE_PARTS:
        shapes = [_stored_shape(path)]
    else:
        shapes = [head.shape for head in heads.values() if len(head.shape) == 2]
    return bool(shapes) and all(shape[0] != shape[1] for shape in shapes)


def _stored_shape(path: Path) -> tuple[int, ...]:
    """The shape of a table that `scipy.sparse.save_npz` wrote."""
    return two_lengths(read_arrays(path, ["shape"])["shape"], str(path))


def _frame_has_vectors(table: FrameTable) -> bool:
    """Whether a frame has a column of lists, or one of labels and several of numbers."""
    n_numbers = sum(table.numeric)
    are_coordinates = _are_coordinates(n_numbers, len(table.names) - n_numbers, 5)
    return not _has_pairs(table) and (bool(table.nested) or are_coordinates)


def _text_has_vectors(sample: Sample, asked: str | None) -> bool:
    """Whether the first rows of a text table are a label and numbers, and not of a square table."""
    table = read_text(sample, VECTORS, asked, head=True)
    if _has_pairs(table):
        return False
    columns = find_text_columns(table)
    if columns.header or columns.label is not None:
        is_square = _shares_labels(table.head)
    else:
        with unpacked(sample.path) as file:
            is_square = sum(1 for line in file.stream if line.strip()) == len(columns.names)
    texts = len(columns.left_out) + (columns.label is not None)
    fewest = 5 if columns.header else 1000
    return not is_square and _are_coordinates(len(columns.numbers), texts, fewest)


def _are_coordinates(n_numbers: int, n_texts: int, fewest: int) -> bool:
    """Whether columns of numbers are enough for coordinates beside those of text."""
    return n_numbers >= {0: 4, 1: 2}.get(n_texts, fewest)
