"""Columns of text tables in numbers: each different cell once, and which of them each row has.

    tie,knot,.6                0   0   0
    tie,suit,.4        ->      0   1   1       tie, knot      knot, suit      .6, .4
    knot,tie,.6                1   ...

A list of millions of lines so costs four bytes a cell, and a text for each different cell. Text in
which each line has its cells is split a block at a time, which is several times as fast as to
parse it row by row; and so is text with quotation marks in which each row has its cells.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from typing import Any, TypeAlias

import numpy as np

from manymaps.archive.door import MOST_LABELS
from manymaps.errors import DataError
from manymaps.io.files import LONGEST_LABEL
from manymaps.io.tables import UNDECODED, TextTable, known_number

__all__ = ["CodedColumn", "LabelCodes", "coded_columns", "refuse_undecoded", "row_at"]

# Lines of a list are taken apart this many at a time.
BATCH = 2**15
# So few that they are gone before Python looks through them for cycles, a third of the time.
QUOTED_BATCH = 256
BLOCK_BYTES = 2**22
NEWLINE = ord("\n")
QUOTED_CELL = re.compile(r"""[^"]*|\s*"[^"]*"\s*""")

Layout: TypeAlias = tuple[int, bool]
Rows: TypeAlias = Callable[[], Iterator[tuple[int, list[str]]]]


class LabelCodes(dict[Any, int]):
    """The number of each label, in the order in which they are first asked for.

    >>> codes = LabelCodes()
    >>> [codes[label] for label in ("tie", "knot", "tie")]
    [0, 1, 0]
    """

    def __missing__(self, label: Any) -> int:
        code = self[label] = len(self)
        return code

    def of(self, labels: Iterable[Any], count: int) -> np.ndarray:
        """The codes of `count` labels, of shape (count,)."""
        return np.fromiter(map(self.__getitem__, labels), dtype=np.int32, count=count)

    def merged(self, codes: np.ndarray, name: Callable[[Any], str]) -> tuple[list[str], np.ndarray]:
        """The names of the labels, each once, and `codes` in terms of these."""
        named = list(map(name, self))
        if len(set(named)) == len(named):
            return named, codes
        names = LabelCodes()
        code_of = names.of(named, len(named))
        return list(names), code_of[codes] if len(self) else codes


@dataclass(frozen=True)
class CodedColumn:
    """A column of n cells.

    Attributes
    ----------
    texts : list of str
        The different cells, stripped, in the order in which they first appear.
    codes : ndarray of int, shape (n,)
        Which of them each row has.
    """

    texts: list[str]
    codes: np.ndarray


class _NotPlain(Exception):
    """A text that cannot be split at every delimiter; who parses it reads it, or says why not."""


def coded_columns(
    table: TextTable,
    layout: Layout,
    labels: Sequence[int],
    number: int | None,
    rows: Rows,
) -> tuple[list[CodedColumn], np.ndarray | None]:
    """Columns of labels of a text table, and perhaps one of numbers, below its header.

    Parameters
    ----------
    table : TextTable
    layout : tuple of int and bool
        Cells of the header, or of the first row, and whether that is a header.
    labels : sequence of int
        The columns of labels.
    number : int, optional
        The column of numbers.
    rows : callable
        The parsed rows below the header, with their lines, each with those columns at least; for
        text that cannot be split at once.

    Returns
    -------
    columns : list of CodedColumn
    numbers : ndarray of shape (n,), or None
        As `known_number` reads them.

    Raises
    ------
    DataError
        Where a column has more than `MOST_LABELS` different labels; and as `rows` does.
    """
    width, header = layout
    if _is_plain(table, width, header):
        marked = table.quoted and b'"' in table.data
        batches = _split_columns(table, width, header, marked)
        with suppress(_NotPlain):
            return _coded(batches, labels, number, _unquoted if marked else str.strip, table, True)
    if not _repeats_header(table.data, header):
        with suppress(_NotPlain):
            return _coded(_whole_rows(table, width, header), labels, number, str.strip, table)
    return _coded(_parsed_columns(rows()), labels, number, str.strip, table)


def _coded(
    batches: Iterator[Sequence[Sequence[str]]],
    labels: Sequence[int],
    number: int | None,
    name: Callable[[str], str],
    table: TextTable,
    is_split: bool = False,
) -> tuple[list[CodedColumn], np.ndarray | None]:
    """Some columns of batches of rows."""
    codes = [LabelCodes() for _ in labels]
    parts: list[list[np.ndarray]] = [[np.empty(0, np.int32)] for _ in labels]
    numbers = [np.empty(0)]
    for cells in batches:
        for of, part, c in zip(codes, parts, labels, strict=True):
            part.append(of.of(cells[c], len(cells[c])))
            if len(of) > MOST_LABELS:
                raise DataError(
                    f"{table.source} has more than {MOST_LABELS:,} different labels in one column, "
                    "and no more objects of a kind are read; take out the rare ones"
                )
        if number is not None:
            here = LabelCodes()
            at = here.of(cells[number], len(cells[number]))
            numbers.append(
                np.array([known_number(table.plain_number(name(text))) for text in here])[at]
            )
    columns = []
    if is_split and max((len(label) for of in codes for label in of), default=0) > LONGEST_LABEL:
        raise _NotPlain
    for of in codes:
        columns.append(CodedColumn(*of.merged(np.concatenate(parts.pop(0)), name)))
        of.clear()
    return columns, None if number is None else np.concatenate(numbers)


def _unquoted(cell: str) -> str:
    """A cell without the quotation marks around it."""
    return cell.strip().removeprefix('"').removesuffix('"').strip()


def _split_columns(
    table: TextTable, width: int, header: bool, marked: bool
) -> Iterator[list[list[str]]]:
    """The columns of plain text, a block of lines at a time; cells as they stand in the file.

    A quotation mark in a column that nobody reads may hide a delimiter all the same.
    """
    start = width if header else 0
    for block in _line_blocks(table.data):
        text = block.decode("utf-8", "surrogateescape").removesuffix("\n")
        cells = text.replace("\n", table.delimiter).split(table.delimiter)
        if marked and not all(map(QUOTED_CELL.fullmatch, set(cells))):
            raise _NotPlain
        if len(cells) > start:
            yield [cells[start + c :: width] for c in range(width)]
        start = 0


def _whole_rows(table: TextTable, width: int, header: bool) -> Iterator[list[tuple[str, ...]]]:
    """The columns of quoted text in which each row has its cells, a batch at a time.

    Nothing is done row by row here, which takes a fifth of the time.
    """
    reader = table.reader()
    try:
        if header and len(next(reader, [])) != width:
            raise _NotPlain
        while batch := list(islice(reader, QUOTED_BATCH)):
            if set(map(len, batch)) != {width}:
                raise _NotPlain
            yield list(zip(*batch, strict=True))
    except csv.Error as error:
        raise _NotPlain from error


def _parsed_columns(rows: Iterator[tuple[int, list[str]]]) -> Iterator[list[tuple[str, ...]]]:
    """The columns of rows, a batch at a time; as many as the shortest row has."""
    while batch := list(islice(rows, BATCH)):
        yield list(zip(*[cells for _, cells in batch], strict=False))


def _line_blocks(data: bytes) -> Iterator[bytes]:
    """Stretches of whole lines."""
    start = 0
    while start < len(data):
        end = data.rfind(b"\n", start, start + BLOCK_BYTES) + 1
        end = end or data.find(b"\n", start) + 1 or len(data)
        yield data[start:end]
        start = end


def _is_plain(table: TextTable, width: int, header: bool) -> bool:
    """Whether each line has the same number of cells, and one header stands above all."""
    data = table.data
    if data.count(b"\r") != data.count(b"\r\n"):
        return False
    if _repeats_header(data, header):
        return False
    delimiter = ord(table.delimiter)
    for block in _line_blocks(data):
        letters = np.frombuffer(block if block.endswith(b"\n") else block + b"\n", dtype=np.uint8)
        marks = letters[(letters == delimiter) | (letters == NEWLINE)]
        if marks.size % width:
            return False
        ends = marks.reshape(-1, width) == NEWLINE
        if ends[:, :-1].any() or not ends[:, -1].all():
            return False
    return True


def _repeats_header(data: bytes, header: bool) -> bool:
    """Whether the first line may stand once more, as in files that were joined end to end."""
    return header and data.count(data.partition(b"\n")[0].strip()) > 1


def row_at(rows: Rows, k: int) -> tuple[int, list[str]]:
    """The line and the cells of the k-th row; only who reports an error asks."""
    return next(islice(rows(), k, None))


def refuse_undecoded(table: TextTable, columns: Sequence[CodedColumn], rows: Rows) -> None:
    """Refuse cells with bytes that are not UTF-8, by the line of the first row that has one."""
    if table.data.isascii():
        return
    found = []
    for column in columns:
        stray = np.array([UNDECODED.search(text) is not None for text in column.texts], dtype=bool)
        if stray.any():
            k = int(np.argmax(stray[column.codes]))
            found.append((k, column.texts[column.codes[k]]))
    if found:
        k, text = min(found)
        table.check_decoded(row_at(rows, k)[0], text)
