"""Text files of pairs or cells: delimiter, header, rows.

    bytes -> TextTable (UTF-8, delimiter) -> rows of stripped cells, by line

A table is read row by row, so that a wide matrix never stands in memory as text cells. Cells are
kept as they are written but for surrounding white space: NA, NULL and TRUE are words.
"""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from manymaps.errors import DataError
from manymaps.io.files import suffix_of, to_utf8

__all__ = [
    "LONGEST_LINE",
    "MISSING",
    "SparseRows",
    "TextTable",
    "as_number",
    "delimiters_of",
    "header_delimiter",
    "is_number",
    "known_number",
    "numbered_rows",
    "open_headed_table",
    "open_table",
]

# What a cell without a number holds, in any case.
MISSING = ("", "na", "nan", ".")
DELIMITERS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars", " ": "spaces"}
HEAD_ROWS = 30
LONGEST_LINE = 2**24
BLOCK_NUMBERS = 2**18
# Delimiters are compared by so many bytes.
HEAD_BYTES = 2**20

# The free-association norms were published as text inside a bare web page.
MARKUP = re.compile(r"\s*(</?\w+>\s*)+")
UNDECODED = re.compile("[\udc80-\udcff]")


@dataclass(frozen=True)
class TextTable:
    """A text file that has found its delimiter.

    Attributes
    ----------
    source : str
        The file, for messages.
    data : bytes
        UTF-8, perhaps with stray bytes.
    delimiter : str
    quoted : bool
        Whether a double quote at the start of a cell quotes it.
    """

    source: str
    data: bytes
    delimiter: str
    quoted: bool = True

    def reader(self) -> Any:
        """A csv.reader of the rows as they stand."""
        lines = io.TextIOWrapper(
            io.BytesIO(self.data), encoding="utf-8", errors="surrogateescape", newline=""
        )
        return csv.reader(
            lines,
            delimiter=self.delimiter,
            quoting=csv.QUOTE_MINIMAL if self.quoted else csv.QUOTE_NONE,
            skipinitialspace=True,
            strict=True,
        )

    def rows(self) -> Iterator[tuple[int, list[str]]]:
        """Each row that is not blank, with the line on which it starts (counted from 1)."""
        for line, row in numbered_rows(self.reader(), self.source):
            cells = [cell.strip() for cell in row]
            if self.delimiter == " " and cells and not cells[-1]:
                cells.pop()  # a space at the end of a line
            if len(cells) > 1 or (cells and cells[0] and not MARKUP.fullmatch(cells[0])):
                yield line, cells

    def head(self) -> list[list[str]]:
        """The first rows, for telling what the table holds; numbers as Python writes them.

        They end before a row that cannot be split: who reads on meets the error.
        """
        found: list[list[str]] = []
        with suppress(DataError):
            for _, cells in islice(self.rows(), HEAD_ROWS):
                found.append([self.plain_number(cell) for cell in cells])
        return found

    def plain_number(self, cell: str) -> str:
        """A number as Python writes it: beside semicolons the decimal sign may be a comma."""
        if self.delimiter == ";" and "." not in cell and cell.count(",") == 1:
            return cell.replace(",", ".")
        return cell

    def check_decoded(self, line: int, *cells: str) -> None:
        """Refuse cells with bytes that are not UTF-8."""
        for cell in cells:
            if stray := UNDECODED.search(cell):
                byte = ord(stray.group()) - 0xDC00
                shown = cell.encode("utf-8", "surrogateescape")[:60]
                raise DataError(
                    f"{self.source}, line {line}: byte 0x{byte:02X} in {shown!r} is not UTF-8; "
                    "save the file as UTF-8, for instance with "
                    "'iconv -f WINDOWS-1252 -t UTF-8 OLD > NEW'"
                )


def numbered_rows(
    reader: Any, source: str, rows: Iterator[list[str]] | None = None
) -> Iterator[tuple[int, list[str]]]:
    """The rows of a csv.reader, or those taken from it, with the line on which each starts."""
    start = 1
    try:
        for row in reader if rows is None else rows:
            line, start = start, reader.line_num + 1
            yield line, row
    except csv.Error as error:
        raise DataError(
            f"{source}, line {start}: the row that starts here cannot be split into cells "
            f"({error}); is a quotation mark left open? Write a quotation mark that belongs to a "
            'word twice and put the word in quotation marks: "5"" nail"'
        ) from error


def is_number(cell: str) -> bool:
    """Whether a cell is written in digits; the words NAN and INFINITY are not numbers here.

    >>> is_number("-1e3"), is_number(".5"), is_number("NAN"), is_number("")
    (True, True, False, False)
    """
    try:
        float(cell)
    except ValueError:
        return False
    return any(character.isdigit() for character in cell)


def as_number(value: Any) -> float:
    """A number, or NaN where it is none; Python's own 1_000 is a typing error in data.

    >>> as_number("3"), as_number("1_000"), as_number(None)
    (3.0, nan, nan)
    """
    if isinstance(value, str) and "_" in value:
        return float("nan")
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return float("nan")


def known_number(value: Any) -> float:
    """A number; NaN where there is none (`MISSING`), infinite where something else stands.

    >>> known_number("3"), known_number("NA"), known_number(None), known_number("much")
    (3.0, nan, nan, inf)
    """
    number = as_number(value)
    if number == number or value is None or str(value).strip().lower() in MISSING:
        return number
    return number if isinstance(value, float) else math.inf


def open_table(
    data: bytes,
    source: str,
    delimiters: Sequence[str],
    known: Callable[[list[list[str]]], bool],
    expected: str,
) -> TextTable:
    """A table split at the delimiter under which it makes most sense.

    Rows of a known layout count most, then rows of one width below the first (R leaves out a corner
    of the header), then the number of columns, then the order of `delimiters`.

    Parameters
    ----------
    data : bytes
    source : str
        For messages.
    delimiters : sequence of str
        Those to try.
    known : callable
        Whether the first rows are of a layout that the reader knows.
    expected : str
        What to say of a file that no delimiter splits.

    Raises
    ------
    DataError
        Where there is one column only, or the first row cannot be split for its quotation marks.
    """
    clean = _checked_text(data, source)
    start = clean if len(clean) <= HEAD_BYTES else clean[: clean.rfind(b"\n", 0, HEAD_BYTES) + 1]
    best, best_score = None, (-1, -1, 1)
    for delimiter in delimiters:
        head = without_false_quotes(TextTable(source, start or clean, delimiter)).head()
        widths = [len(cells) for cells in head]
        if max(widths, default=0) > 1:
            score = (int(known(head)), int(len(set(widths[1:])) <= 1), max(widths))
            if score > best_score:
                best, best_score = delimiter, score
    if best is None:
        first = next(TextTable(source, clean, delimiters[0]).rows(), (1, [""]))[1][0]
        tried = ", ".join(DELIMITERS[delimiter] for delimiter in delimiters)
        raise DataError(
            f"{source} has one column only when split at {tried}; its first row is "
            f"{first[:60]!r}. {expected}"
        )
    return without_false_quotes(TextTable(source, clean, best))


def open_headed_table(data: bytes, source: str) -> TextTable:
    """A table split as its header says; it may have a single column."""
    clean = _checked_text(data, source)
    header = clean.lstrip(b"\r\n").split(b"\n", 1)[0].decode(errors="replace")
    return without_false_quotes(TextTable(source, clean, header_delimiter(header, "\t")))


def _checked_text(data: bytes, source: str) -> bytes:
    """A text in UTF-8 of which no line is so long that its cells would fill the memory."""
    clean = to_utf8(data, source)
    start = 0
    while len(clean) - start > LONGEST_LINE:
        stop = start + LONGEST_LINE
        end = max(clean.rfind(b"\n", start, stop), clean.rfind(b"\r", start, stop)) + 1
        if not end:
            line = clean.count(b"\n", 0, start) + 1
            raise DataError(
                f"{source}, line {line} is longer than {LONGEST_LINE:,} bytes, the most that a "
                "line of a table may have; is a quotation mark left open, or an end of line lost?"
            )
        start = end
    # Excel's first line that names the delimiter; the line stays, so that lines keep their numbers.
    return re.sub(rb"\Asep=[^\r\n](?=\r|\n)", b"", clean)


class SparseRows:
    """A table that grows row by row, of which only what is not 0 is kept.

    Parameters
    ----------
    width : int
        Numbers in each row.

    Examples
    --------
    >>> rows = SparseRows(2)
    >>> rows.append(np.array([0.0, 3.0]))
    >>> rows.append(np.array([np.nan, 0.0]))
    >>> rows.table().toarray().tolist()
    [[0.0, 3.0], [nan, 0.0]]
    """

    def __init__(self, width: int):
        self._width = width
        self._pending: list[np.ndarray] = []
        self._data: list[np.ndarray] = [np.empty(0)]
        self._indices: list[np.ndarray] = [np.empty(0, np.int32)]
        self._sizes: list[np.ndarray] = [np.zeros(1, np.int64)]

    def append(self, row: np.ndarray) -> None:
        """Add a row of shape (width,)."""
        self._pending.append(row)
        if len(self._pending) * self._width >= BLOCK_NUMBERS:
            self._pack()

    def table(self) -> sparse.csr_array:
        """All rows so far."""
        self._pack()
        indptr = np.cumsum(np.concatenate(self._sizes))
        parts = (np.concatenate(self._data), np.concatenate(self._indices), indptr)
        return sparse.csr_array(parts, shape=(indptr.size - 1, self._width))

    def _pack(self) -> None:
        if self._pending:
            block = np.array(self._pending)
            rows, columns = np.nonzero(block)
            self._data.append(block[rows, columns])
            self._indices.append(columns.astype(np.int32))
            self._sizes.append(np.bincount(rows, minlength=len(block)))
            self._pending = []


def header_delimiter(header: str, otherwise: str) -> str:
    """The delimiter that splits a header into most cells, of equals the rarest in names."""
    best = max("\t,;|", key=header.count)
    return best if best in header else otherwise


def delimiters_of(path: Path, format: str | None) -> tuple[str, ...]:
    """The delimiters to try in a text, the likeliest first."""
    if format == "csv":
        return (",", ";")
    if format == "tsv":
        return ("\t",)
    return (",", ";", "\t", "|") if suffix_of(path) == ".csv" else ("\t", ",", ";", "|")


def without_false_quotes(table: TextTable) -> TextTable:
    """Files split at tabs are often written without any quoting; then a mark is part of a word."""
    if table.delimiter == "\t" and table.quoted and b'"' in table.data:
        try:
            for _ in table.rows():
                pass
        except DataError:
            return TextTable(table.source, table.data, table.delimiter, quoted=False)
    return table
