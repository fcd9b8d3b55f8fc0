"""MatrixMarket files -> tables, every line checked before its numbers are used.

    %%MatrixMarket matrix coordinate real symmetric      format, field, symmetry
    % remarks
    3 3 2                                                rows, columns, entries
    2 1 0.5                                              row, column (from 1), value
    3 1 0.25

    %%MatrixMarket matrix array real general             all values, column by column
    2 2
    1
    ...

(R. Boisvert, R. Pozo & K. Remington 1996, The Matrix Market exchange formats, NISTIR 5935.) Of a
symmetric table a pair is written once and stands for both, of a skew-symmetric one with the other
sign.

`scipy.io.mmread` is not used: damaged lines make its compiled reader write beside its arrays, and
end the process. What is read here is a block of lines at a time: numpy parses the numbers, and they
are taken where each line has as many as it must. What the size line promises is compared with what
the lines hold before anything of that size is made.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np
from scipy import sparse

from manymaps.archive.door import MOST_LABELS
from manymaps.data.count_values import sparse_rows
from manymaps.errors import DataError
from manymaps.io.files import unpacked

__all__ = ["read_market"]

FORMATS = ("coordinate", "array")
FIELDS = ("real", "double", "integer", "unsigned-integer", "pattern")
# What stands at (j, i) where a symmetric table holds 1 at (i, j).
MIRRORED = {"general": 0.0, "symmetric": 1.0, "skew-symmetric": -1.0}
BLOCK_BYTES = 2**22
# No index has more digits, and a line of two of them and a number is far shorter.
MOST_DIGITS = 18
LONGEST_LINE = 2**10
BLANKS = np.zeros(256, dtype=bool)
BLANKS[list(b" \t\r\n\v\f")] = True
NEWLINE = ord("\n")


@dataclass(frozen=True)
class _Head:
    """What the lines above the numbers say; `last` is the size line's own number."""

    dense: bool
    pattern: bool
    mirrored: float
    shape: tuple[int, int]
    n_lines: int
    last: int

    @property
    def width(self) -> int:
        """How many numbers a line holds."""
        return 1 if self.dense else 2 if self.pattern else 3


def read_market(path: Path) -> sparse.csr_array:
    """The table of a MatrixMarket file of real numbers, packed or not.

    Raises
    ------
    DataError
        Where it is none: the message names the line. Where it promises more rows, columns or
        entries than its lines hold, or more than `MOST_LABELS` rows or columns.
    """
    source = str(path)
    with unpacked(path) as file:
        head = _read_head(file.stream, source)
        values, *places = _body(file.stream, head, source)
    if head.dense:
        return _dense(values, head)
    rows, columns = places
    if head.mirrored:
        off = rows != columns
        values = np.concatenate((values, head.mirrored * values[off]))
        rows, columns = np.concatenate((rows, columns[off])), np.concatenate((columns, rows[off]))
    return sparse.csr_array(sparse.coo_array((values, (rows, columns)), shape=head.shape))


def _dense(values: np.ndarray, head: _Head) -> sparse.csr_array:
    """The table of all values, column by column, or of those on and below its diagonal."""
    n, n_columns = head.shape
    if not head.mirrored:
        return sparse_rows(values.reshape(n_columns, n).T)
    table, start = np.zeros((n, n)), 0
    first = int(head.mirrored < 0)
    for j in range(n):
        column = values[start : start + n - j - first]
        table[j, j + first :] = head.mirrored * column
        table[j + first :, j] = column
        start += column.size
    return sparse_rows(table)


def _read_head(stream: BinaryIO, source: str) -> _Head:
    """The banner and the size line."""
    banner = stream.readline(LONGEST_LINE).decode("latin-1").lower().split()
    known = len(banner) == 5 and banner[0] in ("%%matrixmarket", "%matrixmarket")
    if not known or banner[1] != "matrix" or banner[2] not in FORMATS:
        raise DataError(
            f"{source}, line 1 is {' '.join(banner)[:60]!r}; a MatrixMarket file starts with such "
            "as '%%MatrixMarket matrix coordinate real general'. Is it cut short, or of another "
            "format?"
        )
    dense, field, symmetry = banner[2] == "array", banner[3], banner[4]
    if field not in FIELDS or symmetry not in MIRRORED or (dense and field == "pattern"):
        raise DataError(
            f"{source}, line 1: the table is {field!r} and {symmetry!r}; those that are read are "
            f"{', '.join(FIELDS)} and {', '.join(MIRRORED)}"
        )
    for number in range(2, 2**20):
        line = stream.readline(BLOCK_BYTES)
        if line and (not line.strip() or line.startswith(b"%")):
            continue
        sizes = line.split()
        if len(sizes) != (2 if dense else 3) or not all(
            size.isdigit() and len(size) <= MOST_DIGITS for size in sizes
        ):
            raise DataError(
                f"{source}, line {number} is {_shown(line)}; expected the numbers of rows and "
                f"columns{'' if dense else ' and entries'}. Is the file cut short?"
            )
        n_rows, n_columns, *n_entries = map(int, sizes)
        _check_shape((n_rows, n_columns), MIRRORED[symmetry], f"{source}, line {number}")
        n = _n_values(n_rows, n_columns, MIRRORED[symmetry]) if dense else n_entries[0]
        return _Head(dense, field == "pattern", MIRRORED[symmetry], (n_rows, n_columns), n, number)
    raise DataError(f"{source} has a million lines of remarks and no sizes; take the remarks out")


def _check_shape(shape: tuple[int, int], mirrored: float, where: str) -> None:
    """Refuse empty tables, those with too many rows or columns, and sides that must be equal."""
    if 0 in shape or max(shape) > MOST_LABELS:
        raise DataError(
            f"{where}: the table has {shape[0]:,} rows and {shape[1]:,} columns; what is read has "
            f"at least one of each, and at most {MOST_LABELS:,}"
        )
    if mirrored and shape[0] != shape[1]:
        raise DataError(
            f"{where}: the table is symmetric, and has {shape[0]:,} rows and {shape[1]:,} columns; "
            "write 'general' into the first line, or mend the sizes"
        )


def _n_values(n_rows: int, n_columns: int, mirrored: float) -> int:
    """How many values a table holds that writes each of them."""
    if not mirrored:
        return n_rows * n_columns
    return n_rows * (n_rows + (1 if mirrored > 0 else -1)) // 2


def _body(stream: BinaryIO, head: _Head, source: str) -> list[np.ndarray]:
    """Of all lines below the sizes the values, and of entries the rows and columns from 0."""
    parts = [_columns(np.empty((0, head.width)), head)]
    n_read, line = 0, head.last + 1
    for block in _line_blocks(stream, source, line):
        parts.append(_columns(_parsed(block, head, source, line), head))
        n_read += parts[-1][0].size
        if n_read > head.n_lines:
            break
        line += block.count(b"\n")
    if n_read != head.n_lines:
        held = "more" if n_read > head.n_lines else f"{n_read:,}"
        raise DataError(
            f"{source}, line {head.last}: the file promises {head.n_lines:,} "
            f"{'values' if head.dense else 'entries'}, and holds {held}; is it cut short, or "
            "edited? Mend the sizes"
        )
    return [np.concatenate(each) for each in zip(*parts, strict=True)]


def _columns(numbers: np.ndarray, head: _Head) -> list[np.ndarray]:
    """The numbers of some lines as values, and as rows and columns from 0."""
    if head.dense:
        return [numbers[:, 0]]
    values = np.ones(len(numbers)) if head.pattern else numbers[:, 2].copy()
    return [values, *(numbers[:, c].astype(np.int32) - np.int32(1) for c in (0, 1))]


def _line_blocks(stream: BinaryIO, source: str, line: int) -> Iterator[bytes]:
    """Stretches of whole lines, the last one ended like the others."""
    rest = b""
    while piece := stream.read(BLOCK_BYTES):
        cut = piece.rfind(b"\n") + 1
        if not cut and piece.strip():
            raise DataError(f"{source}, line {line} or one below it is far too long")
        block, rest = rest + piece[:cut], piece[cut:]
        line += block.count(b"\n")
        yield block
    if rest.strip():
        yield rest + b"\n"


def _parsed(block: bytes, head: _Head, source: str, first: int) -> np.ndarray:
    """The numbers of some lines, of shape (n, width); a line that has others is named.

    Numbers that numpy splits where no blank stands, such as 1.5.2, are more than there are words.
    """
    letters = np.frombuffer(block, dtype=np.uint8)
    blank = BLANKS[letters]
    starts = np.flatnonzero(~blank & np.concatenate(([True], blank[:-1])))
    per_line = np.diff(np.searchsorted(starts, np.flatnonzero(letters == NEWLINE)), prepend=0)
    if ((per_line == head.width) | (per_line == 0)).all():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            numbers = _numbers(block)
        if numbers is not None and numbers.size == starts.size:
            table = numbers.reshape(-1, head.width)
            if not _is_bad(table, head).any():
                return table
    return _line_by_line(block, head, source, first)


def _numbers(block: bytes) -> np.ndarray | None:
    """All numbers of a text, as far as numpy can read on; None where it reads nothing."""
    try:
        return np.fromstring(block, dtype=np.float64, sep=" ")
    except ValueError:
        return None


def _is_bad(table: np.ndarray, head: _Head) -> np.ndarray:
    """Which lines name no cell of the table."""
    if head.dense:
        return np.zeros(len(table), dtype=bool)
    places = table[:, :2]
    inside = (places >= 1) & (places <= head.shape) & (places == np.floor(places))
    return ~inside.all(axis=1)


def _line_by_line(block: bytes, head: _Head, source: str, first: int) -> np.ndarray:
    """The numbers of some lines of which one is a remark, or cannot be read and is refused."""
    found = []
    for number, line in enumerate(block.split(b"\n"), first):
        words = line.split()
        if not words or words[0].startswith(b"%"):
            continue
        try:
            row = [float(word.decode("ascii")) for word in words if b"_" not in word]
        except ValueError:
            row = []
        if len(words) != head.width or len(row) != head.width:
            wanted = ("a number", "a row and a column", "a row, a column and a number")
            raise DataError(
                f"{source}, line {number} is {_shown(line)}; expected {wanted[head.width - 1]}"
            )
        if _is_bad(np.array([row]), head)[0]:
            raise DataError(
                f"{source}, line {number} is {_shown(line)}: there is no such cell in a table of "
                f"{head.shape[0]:,} rows and {head.shape[1]:,} columns (counted from 1)"
            )
        found.append(row)
    return np.array(found, dtype=np.float64).reshape(-1, head.width)


def _shown(line: bytes) -> str:
    """A line for a message, cut where it is long."""
    text = line.strip().decode("utf-8", "replace")
    return repr(text if len(text) <= 60 else f"{text[:59]}…")
