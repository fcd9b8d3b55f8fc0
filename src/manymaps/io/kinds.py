"""Detection of the kind of data in a file: pairs, similarity tables, vectors or counts.

A container format is recognized by its first bytes (see `manymaps.io.files`), and a text format by
the file name and the first lines. Commands that accept several kinds of data test for these kinds
in the following order:

    a cue and answers in their order, or one answer and a participant               trials
    columns of observations and features, or whole numbers under such names         counts
    two columns of words, or a usual header of cue and response                     pairs
    equal numbers of rows and columns, with the same labels                         a square table
    one column of words and numbers, or lists of numbers                            vectors
"""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from itertools import islice
from pathlib import Path

import numpy as np

from manymaps.data.counts import VERSION_KEY
from manymaps.data.tables import as_number, is_number
from manymaps.errors import DataError, ParameterError, setting
from manymaps.io.annotated import first_numbers
from manymaps.io.columns import ColumnNames, folded, has_pair_header, known_kind
from manymaps.io.count_tables import TableHead, head_of, is_count_header
from manymaps.io.files import (
    SPARSE_PARTS,
    Sample,
    array_heads,
    read_arrays,
    sampled,
    suffix_of,
)
from manymaps.io.matrices import looks_like_matrix
from manymaps.io.packing import unpacked
from manymaps.io.tables import Table, head_passes
from manymaps.io.trial_columns import TrialNames, find_trial_columns
from manymaps.io.vector_tables import find_table_columns
from manymaps.io.word2vec import CONTROL, HEAD_LINES, HEADER, MOST_DIGITS, is_word_line

COUNT_FORMATS = ("edges", "matrix", "csv", "tsv", "parquet", "npy", "npz", "mtx", "h5ad", "biom")
PAIR_FORMATS = (*COUNT_FORMATS[:2], "trials", *COUNT_FORMATS[2:-2], "graphml")
COUNT_TEXTS = ("edges", "matrix", "csv", "tsv", "text")
# Text formats with a word and its numbers on each line, and whether the first line contains the
# sizes.
WORD_LINES = {"word2vec": True, "fasttext": True, "glove": False}
TABLES = ("csv", "tsv", "table")
VECTOR_FORMATS = (*WORD_LINES, "word2vec-binary", "npy", "npz", "csv", "tsv", "parquet", "h5ad")
SHARED = ("csv", "tsv", "npy", "npz", "parquet")
# Number of values that are tested for being integers, because a table may be larger than memory.
MOST_NUMBERS = 2**16
# If a table with an empty corner has fewer columns than this, counts cannot be distinguished from
# measurements.
FEWEST_COLUMNS = 3
# Of the cells of sites by species in vegan, 67 % (dune), 57 % (mite) and 42 % (varespec, covers in
# percent) are 0.
FEWEST_ZEROS = 0.4


def asked_format(
    format: str | None, formats: Sequence[str], keyed: Collection[str] = ()
) -> tuple[str | None, str | None]:
    """Split the format named by the user into the format and an optional table name after a colon.

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
            + (f", nor of the form {such}" if such else "")
            + "; omit it to infer the format from the name and the content of the file"
        )
    return name, key or None


def vector_format(sample: Sample) -> str:
    """Infer the format of a vector file from its first bytes, its name and its first lines."""
    stored = sample.container("vectors")
    if stored in ("mtx", "graphml", "biom"):
        raise DataError(
            f"{sample} is a file of the format {stored}, which cannot contain vectors; save a "
            "table of vectors as NPY or by scipy.sparse.save_npz, or read a graph as associations"
        )
    if stored is not None:
        return stored
    suffix = suffix_of(sample.path)
    start = sample.start.removeprefix(b"\xef\xbb\xbf")
    lines = start.split(b"\n")[: HEAD_LINES + 1]
    if not sample.is_whole and len(lines) > 1:
        lines.pop()  # the last line may be incomplete
    lines = [line for line in lines if line.strip()]
    header = HEADER.fullmatch(lines[0]) if lines else None
    if header and len(header[2]) <= MOST_DIGITS:
        second = lines[1] if len(lines) > 1 else b""
        is_binary = CONTROL.search(start) and not is_word_line(second, int(header[2]))
        if is_binary or (suffix == ".bin" and not is_word_line(second, 1)):
            return "word2vec-binary"
        return "word2vec"
    if suffix in (".vec", ".glove"):
        return "glove"
    if suffix in (".csv", ".tsv"):
        return "table"
    n_spaced = sum(is_word_line(line) for line in lines)
    return "glove" if 2 * n_spaced >= len(lines) else "table"


def looks_like_counts(path: str | os.PathLike[str], format: str | None = None) -> bool:
    """Return whether a file contains counts of features rather than associations or vectors.

    A numeric table in a text file contains counts if its first header cell is a kind of object and
    its numbers are integers. If the first header cell is empty, its numbers must be at least 0, at
    least two fifths of them must be 0, and its columns must not be numbered. An array
    file contains counts if `Counts.save` wrote it, if it has an array `counts`, or if the array is
    sparse and not square and contains integers. BIOM files contain counts. Other files do not
    contain counts.

    Parameters
    ----------
    path : path
    format : str, optional
        Format specified by the user. The result follows from the format if only pairs or only
        vectors have this format.

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
    tests = {"npz": _npz_has_counts, "mtx": _market_has_counts, "h5ad": _annotated_has_counts}
    tests["biom"] = lambda path: True
    try:
        kind = name or sample.container() or "text"
        if kind in tests:
            return tests[kind](sample.path)
    except (DataError, ImportError):
        # The reader that is selected later reports the error.
        return False
    if kind not in (*COUNT_TEXTS, "parquet"):
        return False
    return head_passes(sample, lambda table: _has_counts(table, name), is_header=is_count_header)


def looks_like_vectors(path: str | os.PathLike[str], format: str | None = None) -> bool:
    """Return whether a file contains vectors rather than pairs or a square table of similarities.

    The function examines the first lines of the file, or the shapes of its arrays.

    Parameters
    ----------
    path : path
    format : str, optional
        Format specified by the user. The result is true for formats that only vectors have, and
        false for "edges", "matrix" and "mtx". For all other formats, it depends on the content.

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
    try:
        kind = name or vector_format(sample)
        if kind in ("npy", "npz"):
            return _array_is_wide(sample.path, kind)
    except (DataError, ImportError):
        # The reader of associations reports the error, as for any other file.
        return False
    if kind not in (*TABLES, "parquet"):
        return True
    return head_passes(sample, lambda table: _has_vectors(table, sample))


def _shares_labels(rows: Sequence[Sequence[str]]) -> bool:
    """Return whether rows and columns have most labels in common, as in a similarity table."""
    labels = {cells[0] for cells in rows[1:]}
    return looks_like_matrix(rows) and 2 * len(labels & set(rows[0])) >= len(labels)


def _npz_has_counts(path: Path) -> bool:
    """Return whether an NPZ file has array names of counts or a non-square table of integers."""
    heads = array_heads(path, "npz")
    if VERSION_KEY not in heads and set(heads) >= SPARSE_PARTS:
        return heads["data"].dtype.kind in "iu" and _array_is_wide(path, "npz")
    return VERSION_KEY in heads or "counts" in heads


def _market_has_counts(path: Path) -> bool:
    """Return whether a MatrixMarket table is not square, which only the count reader accepts."""
    with unpacked(path) as file:
        lines = (x for x in islice(file, 1000) if x.strip() and not x.startswith(b"%"))
        sizes = next(lines, b"").split()
    return len(sizes) >= 2 and sizes[0] != sizes[1]


def _annotated_has_counts(path: Path) -> bool:
    """Return whether the table of an .h5ad file begins with nonnegative integers."""
    numbers = first_numbers(path, MOST_NUMBERS)
    if numbers is None or numbers.dtype.kind not in "buif" or not numbers.size:
        return False  # if the extra is missing, the reader that is selected later names it
    return bool(np.all(numbers == np.rint(numbers)) and numbers.min() >= 0)


def _has_counts(table: Table, format: str) -> bool:
    """Return whether the first rows are a long list or a wide table of counts."""
    head = head_of(table)
    if not head.header or _has_pairs(table) or any(folded(name) == "cue" for name in head.names):
        return False
    if format == "edges" or head.is_long:
        return head.is_long
    return not _shares_labels(table.head) and _is_count_table(head)


def _has_pairs(table: Table) -> bool:
    """Return whether the first rows contain cues and responses, or cues and answers of trials."""
    first, body = table.head[0], table.head[1:]
    return has_pair_header(first, ColumnNames()) or (
        find_trial_columns(first, body, TrialNames(), table.source) is not None
    )


def _is_count_table(head: TableHead) -> bool:
    """Return whether a table has labels and integers that are probably counts."""
    corner = head.names[0]
    features = [c for c in range(1, len(head.names)) if head.numeric[c]]
    cells = [row[c] for row in head.body if len(row) == len(head.names) for c in features]
    numbers = [as_number(cell) for cell in cells]
    if not cells or not all(number >= 0 for number in numbers):
        return False
    are_integers = all(number.is_integer() for number in numbers)
    # In vector tables, the first header cell has one of these names.
    if known_kind(corner) is not None and folded(corner) not in ("word", "term", "token"):
        return are_integers
    n_numbered = sum(is_number(head.names[c][-1:]) for c in features)
    are_named = len(features) >= FEWEST_COLUMNS and 2 * n_numbered < len(features)
    return not corner and are_named and numbers.count(0) >= FEWEST_ZEROS * len(cells)


def _array_is_wide(path: Path, kind: str) -> bool:
    """Return whether an array file contains a table that is not square."""
    heads = array_heads(path, kind)
    if set(heads) >= SPARSE_PARTS:
        shapes = [tuple(read_arrays(path, ["shape"])["shape"].tolist())]
    else:
        shapes = [head.shape for head in heads.values() if len(head.shape) == 2]
    return bool(shapes) and all(shape[0] != shape[1] for shape in shapes)


def _has_vectors(table: Table, sample: Sample) -> bool:
    """Return whether the first rows have labels with numbers or lists, but not a square table."""
    if _has_pairs(table):
        return False
    if not table.is_text:
        n_numbers = sum(table.numeric)
        n_texts = len(table.names) - n_numbers
        return bool(table.nested) or _are_coordinates(n_numbers, n_texts, 5)
    columns = find_table_columns(table)
    if columns.header or columns.label is not None:
        is_square = _shares_labels(table.head)
    else:
        with unpacked(sample.path) as file:
            is_square = sum(1 for line in file if line.strip()) == len(columns.names)
    n_texts = len(columns.left_out) + (columns.label is not None)
    fewest = 5 if columns.header else 1000
    return not is_square and _are_coordinates(len(columns.numbers), n_texts, fewest)


def _are_coordinates(n_numbers: int, n_texts: int, fewest: int) -> bool:
    """Return whether there are enough numeric columns for coordinates, given the text columns."""
    return n_numbers >= {0: 4, 1: 2}.get(n_texts, fewest)
