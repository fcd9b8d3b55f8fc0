"""What kind of vectors a file holds, and whether it holds vectors at all.

A kind is told by the file's first bytes, its name and its first lines. The command line takes one
file for many purposes, so vectors must be told from what `manymaps.io.associations` reads:

    two columns of words, or a usual header of cue and response     pairs
    as many rows as columns, with the same labels                   a square table of similarities
    one column of words and numbers, or lists of numbers            vectors
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from itertools import islice
from pathlib import Path

from manymaps.errors import DataError, ParameterError
from manymaps.io.files import (
    SPARSE_PARTS,
    array_heads,
    first_bytes,
    open_parquet,
    read_arrays,
    stored_format,
    suffix_of,
    unpacked,
)
from manymaps.io.tables import HEAD_ROWS, ColumnNames, has_pair_header, looks_like_matrix
from manymaps.io.vector_tables import TableColumns, find_text_columns, open_vector_table
from manymaps.io.word2vec import CONTROL, HEAD_LINES, HEADER, is_word_line

__all__ = [
    "FORMATS",
    "TABLES",
    "TEXTS",
    "asked_format",
    "kind_of",
    "looks_like_vectors",
]

TEXTS = {"word2vec": True, "fasttext": True, "glove": False}
TABLES = {"csv": (",", ";"), "tsv": ("\t",), "table": ("\t", ",", ";", "|")}
FORMATS = (*TEXTS, "word2vec-binary", "npy", "npz", "csv", "tsv", "parquet", "h5ad")
KEYED = ("npz", "parquet", "h5ad")
SHARED = ("csv", "tsv", "npy", "npz", "parquet")
SAMPLE = 2**20


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
        return name in FORMATS
    if key:
        return True
    file = Path(path)
    try:
        kind = name or kind_of(file)
        if kind in ("npy", "npz"):
            return _array_is_wide(file, kind)
        if kind == "parquet":
            return _parquet_has_vectors(file)
        return kind not in TABLES or _table_has_vectors(file, TABLES[kind])
    except DataError:
        # The reader of associations says what is wrong, as it does for any file.
        return False


def asked_format(format: str | None) -> tuple[str | None, str | None]:
    """The format that the user names, and the table behind the colon."""
    if format is None:
        return None, None
    name, colon, key = format.partition(":")
    if name not in FORMATS or (colon and (name not in KEYED or not key)):
        raise ParameterError(
            f"format={format!r} is not one of {', '.join(map(repr, FORMATS))}, nor such as "
            "'npz:NAME', 'h5ad:NAME' or 'parquet:NAME'; leave it out to find it by the file's "
            "name and content"
        )
    return name, key or None


def kind_of(path: Path) -> str:
    """The format of a file: by its first bytes, its name and its first lines."""
    sample = first_bytes(path, "vectors", SAMPLE)
    stored = stored_format(path, sample)
    if stored == "mtx":
        raise DataError(
            f"{path} is a MatrixMarket file, from which no vectors are read; save its matrix as "
            "NPY or by scipy.sparse.save_npz"
        )
    if stored is not None:
        return stored
    suffix = suffix_of(path)
    lines = sample.removeprefix(b"\xef\xbb\xbf").split(b"\n")[: HEAD_LINES + 1]
    if len(sample) == SAMPLE and len(lines) > 1:
        lines.pop()  # it may be cut
    lines = [line for line in lines if line.strip()]
    header = HEADER.fullmatch(lines[0])
    if header:
        second = lines[1] if len(lines) > 1 else b""
        if CONTROL.search(sample) and not is_word_line(second, int(header[2])):
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


def _array_is_wide(path: Path, kind: str) -> bool:
    """Whether an array file holds a table that is not square."""
    heads = array_heads(path, kind)
    if set(heads) >= SPARSE_PARTS:
        shapes = [tuple(read_arrays(path, ["shape"])["shape"])]
    else:
        shapes = [shape for shape, _ in heads.values() if len(shape) == 2]
    return bool(shapes) and all(shape[0] != shape[1] for shape in shapes)


def _parquet_has_vectors(path: Path) -> bool:
    """Whether a Parquet file has a column of lists, or one of labels and several of numbers."""
    try:
        with open_parquet(path) as file:
            schema = file.schema_arrow
    except ImportError:
        return False  # the reader of associations names the extra
    import pyarrow

    if has_pair_header(schema.names, ColumnNames()):
        return False
    if any(pyarrow.types.is_nested(kind) for kind in schema.types):
        return True
    numbers = [pyarrow.types.is_integer(k) or pyarrow.types.is_floating(k) for k in schema.types]
    texts = len(numbers) - sum(numbers)
    return sum(numbers) >= (2 if texts == 1 else 4 if texts == 0 else 5)


def _table_has_vectors(path: Path, delimiters: Sequence[str]) -> bool:
    """Whether the first rows of a text table are a label and numbers, and not of a square table."""
    with unpacked(path) as file:
        data = b"".join(islice(file.stream, HEAD_ROWS + 1))
    table = open_vector_table(data, str(path), delimiters)
    head = table.head()
    if has_pair_header(head[0], ColumnNames()):
        return False
    columns = find_text_columns(table, head)
    texts = len(columns.left_out) + (columns.label is not None)
    numbers = len(columns.numbers)
    if _is_square(path, head, columns):
        return False
    return numbers >= (2 if texts == 1 else 4 if texts == 0 else 5 if columns.header else 1000)


def _is_square(path: Path, head: Sequence[Sequence[str]], columns: TableColumns) -> bool:
    """Whether rows and columns have the same labels; without labels, as many rows as columns."""
    if columns.header or columns.label is not None:
        rows = {cells[0] for cells in head[1:]}
        return looks_like_matrix(head) and 2 * len(rows & set(head[0])) >= len(rows)
    with unpacked(path) as file:
        return sum(1 for line in file.stream if line.strip()) == len(columns.names)
