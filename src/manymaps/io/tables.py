"""Common interface for reading columns of text tables, Parquet files and data frames.

    read_table(sample, layout)    -> TextTable or FrameTable, by the content of the file
    frame_table(frame, source)    -> FrameTable of a data frame, or of columns by name

    table.head             the names of the columns and the first rows, as texts
    table.read(...)        columns of labels as codes, perhaps a column of numbers, and their lines
    table.wide(...)        a column of labels, and a column for each coordinate or feature

    tie,knot,.6                0   0   .6
    tie,suit,.4        ->      0   1   .4      0 tie, 1 knot      0 knot, 1 suit
    knot,tie,.6                1   2   .6      ...

A label column needs four bytes per cell and one text per distinct cell. Cells are read as written,
without surrounding white space. NA, NULL and TRUE are words.

Python's csv module splits the text. Including the coding of labels, it takes 1.7 s for 300,000
trials (pyarrow 0.8 s, polars 1.1 s, pandas 1.0 to 1.9 s). It needs half to three quarters of the
memory of these libraries, because it reads block by block. In contrast to them, this module accepts
quotation marks after a comma and a space, rows that end early and lines of mark-up. It also reports
the line of an error.
"""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import accumulate, islice
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from scipy import sparse

from manymaps.data.frames import cell_label, eager_frame
from manymaps.errors import DataError
from manymaps.io.files import Sample, read_bytes, suffix_of, to_utf8
from manymaps.io.parquet import open_parquet
from manymaps.labels import repeated_label

# Cells that represent a missing number, in upper or lower case.
MISSING = ("", "na", "nan", ".")
DELIMITERS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
HEAD_ROWS = 30
# Number of cells in a block of wide rows (2 MiB of numbers).
BLOCK_NUMBERS = 2**18
# Number of rows that are coded in a batch. Batches of this size are freed before Python searches
# them for reference cycles. With larger batches, this search takes a third of the total time.
BATCH_ROWS = 256
# Maximum size of the number cache, so that a column of unrounded numbers does not fill the memory.
MOST_KNOWN = 2**12
# Number of bytes on which delimiters are compared, so that the whole file is split only once.
HEAD_BYTES = 2**20

# The USF free-association norms were published as text within a plain web page.
MARKUP = re.compile(r"\s*(</?\w+>\s*)+")
LINE_END = re.compile("\r\n|\r|\n")
UNDECODED = re.compile("[\udc80-\udcff]")


class LabelCodes(dict[Any, int]):
    """Mapping of labels to codes, in the order in which labels are first requested.

    >>> codes = LabelCodes()
    >>> [codes[label] for label in ("tie", "knot", "tie")]
    [0, 1, 0]
    """

    def __missing__(self, label: Any) -> int:
        code = self[label] = len(self)
        return code

    def of(self, labels: Iterable[Any], count: int) -> np.ndarray:
        """Return the codes of `count` labels, shape (count,)."""
        return np.fromiter(map(self.__getitem__, labels), dtype=np.int32, count=count)

    def column(self, codes: np.ndarray, name: Callable[[Any], str]) -> CodedColumn:
        """Return a column with these codes, merging labels that have the same name."""
        names = LabelCodes()
        code_of = names.of(map(name, self), len(self))
        is_same = len(names) == len(self)
        return CodedColumn(list(names), codes if is_same or not codes.size else code_of[codes])


@dataclass(frozen=True)
class CodedColumn:
    """Column of n cells.

    Attributes
    ----------
    texts : list of str
        Distinct cells without surrounding white space, in the order of their first appearance.
    codes : ndarray of int, shape (n,)
        Index of each row's cell in `texts`.
    """

    texts: list[str]
    codes: np.ndarray

    def take(self, rows: np.ndarray) -> CodedColumn:
        """Return a copy with the selected rows."""
        return CodedColumn(self.texts, self.codes[rows])

    def cells(self) -> list[str]:
        """Return the cell of each row."""
        return [self.texts[code] for code in self.codes.tolist()]

    def mask(self, is_true: Callable[[str], object]) -> np.ndarray:
        """Apply a test to the text of each row, and return a mask of shape (n,)."""
        return np.array([bool(is_true(text)) for text in self.texts], bool)[self.codes]


@dataclass(frozen=True)
class NumberRule:
    """Rule for numbers in a table, with their name, a test for invalid numbers and the range."""

    what: str
    is_bad: Callable[[np.ndarray], np.ndarray]
    wanted: str


def _is_not_amount(values: np.ndarray) -> np.ndarray:
    return ~(np.isfinite(values) & (values >= 0))


_RULES = (
    NumberRule("count", _is_not_amount, "counts must be finite numbers of at least 0"),
    NumberRule("strength", _is_not_amount, "strengths must be finite numbers of at least 0"),
    NumberRule(
        "group size",
        lambda values: ~(np.isfinite(values) & (values >= 1) & (values == np.floor(values))),
        "group sizes must be whole numbers of at least 1",
    ),
    # A missing similarity or rating is NaN.
    NumberRule("similarity", np.isinf, "similarities must be finite numbers, or empty if missing"),
    NumberRule("rating", np.isinf, "ratings must be finite numbers, or empty if missing"),
)
RULE_OF = {rule.what: rule for rule in _RULES}


@dataclass(frozen=True)
class Cells:
    """Selected columns of a table.

    Attributes
    ----------
    columns : list of CodedColumn
    numbers : ndarray of shape (n,), or None
        Numbers as converted by `known_number`, or None if no numeric column is read.
    where : callable
        Function that maps a row (from 0) to its position in the source, for error messages.
    written : callable
        Function that maps a row to its number as written, for error messages. Without a numeric
        column, it returns 1.
    n_headers : int
        Number of lines that were omitted because they repeat the header, as in concatenated files.
    """

    columns: list[CodedColumn]
    numbers: np.ndarray | None
    where: Callable[[int], str]
    written: Callable[[int], Any]
    n_headers: int = 0

    def __len__(self) -> int:
        return self.columns[0].codes.size

    def labels(self, k: int) -> str:
        """Return the labels of row k for error messages."""
        return " - ".join(repr(column.texts[column.codes[k]][:60]) for column in self.columns)

    @cached_property
    def unnamed(self) -> np.ndarray:
        """Mask of the rows with a missing label, shape (n,)."""
        return np.logical_or.reduce([column.mask("".__eq__) for column in self.columns])

    def check_named(self) -> None:
        """Raise a DataError if a row has a missing label."""
        if self.unnamed.any():
            where = self.where(int(np.argmax(self.unnamed)))
            raise DataError(f"{where}: a label is empty; fill it in")

    def checked(self, rule: NumberRule) -> np.ndarray:
        """Return the numbers, or 1 without a numeric column, rejecting invalid numbers.

        Rows with a missing label may contain any number.
        """
        values = np.ones(len(self)) if self.numbers is None else self.numbers
        bad = np.flatnonzero(rule.is_bad(values))
        bad = bad[~self.unnamed[bad]] if bad.size else bad
        if bad.size:
            k = int(bad[0])
            raise DataError(
                f"{self.where(k)}: the {rule.what} of {self.labels(k)} is "
                f"{shown_cell(self.written(k))}; {rule.wanted}"
            )
        return values


class WideRows(NamedTuple):
    """Rows of a table with one column per coordinate or feature.

    Attributes
    ----------
    labels : list of str
    lines : list of int
        Line of each row, counted from 1.
    values : sparse array of float64, or ndarray of float32; shape (n_rows, n_columns)
    texts : list of list of str
        Cells of each additional text column.
    n_read : int
        Number of rows in the table, including those that are not returned.
    """

    labels: list[str]
    lines: list[int]
    values: Any
    texts: list[list[str]]
    n_read: int


@dataclass(frozen=True)
class TextTable:
    """Text file with its delimiter.

    Attributes
    ----------
    source : str
        The file, for messages.
    data : bytes
        Text in UTF-8, possibly with invalid bytes in columns that are not read.
    delimiter : str
    quoted : bool
        Whether a double quote at the start of a cell begins a quoted cell.
    """

    source: str
    data: bytes
    delimiter: str
    quoted: bool = True

    def _reader(self) -> Any:
        """Return a csv.reader of all rows."""
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
        """Yield each nonblank row as its line number (from 1) and its stripped cells."""
        for line, row in numbered_rows(self._reader(), self.source):
            cells = [cell.strip() for cell in row]
            if self.delimiter == " " and len(cells) > 1 and not cells[-1]:
                cells.pop()  # a space at the end of a line
            if _is_row(cells):
                yield line, cells

    @cached_property
    def head(self) -> list[list[str]]:
        """First rows, for detecting the contents of the table, with numbers in Python's notation.

        If a row cannot be split, only the rows before it are included. Reading the table then
        raises the error.
        """
        rows: list[list[str]] = []
        with suppress(DataError):
            for _, cells in islice(self.rows(), HEAD_ROWS):
                rows.append([self._plain_number(cell) for cell in cells])
        # R omits the name of the row-name column, but each line may also end with a delimiter.
        body = rows[1:]
        is_wider = len(body) > 1 and all(len(row) == len(rows[0]) + 1 for row in body)
        if is_wider and any(row[-1] for row in body):
            rows[0] = ["", *rows[0]]
        return rows

    @cached_property
    def _first(self) -> tuple[int, list[str]]:
        """Line number and stripped cells of the first row."""
        return next(self.rows())

    @property
    def first_line(self) -> int:
        """Line number of the first row."""
        return self._first[0]

    @property
    def is_cornerless(self) -> bool:
        """Whether the name of the first column is missing in the header, as in files from R."""
        return bool(self.head) and self.width > len(self._first[1])

    @property
    def names(self) -> list[str]:
        """Stripped cells of the first row, with an empty first cell added if it is missing."""
        return ["", *self._first[1]] if self.is_cornerless else self._first[1]

    @property
    def width(self) -> int:
        """Number of columns."""
        return len(self.head[0])

    @cached_property
    def numeric(self) -> list[bool]:
        """Whether each column contains mostly numbers below the first row."""
        rows = [cells for cells in self.head[1:] if len(cells) == self.width] or self.head[:1]
        counts = [sum(map(is_number, column)) for column in zip(*rows, strict=True)]
        return [2 * count > len(rows) for count in counts]

    def _plain_number(self, cell: str) -> str:
        """Convert a number to Python's notation, in which decimal commas become points."""
        if self.delimiter == ";" and "." not in cell and cell.count(",") == 1:
            plain = cell.replace(",", ".")
            return plain if is_number(plain) else cell
        return cell

    def check_decoded(self, line: int, *cells: str) -> None:
        """Raise a DataError if a cell contains bytes that are not UTF-8."""
        for cell in cells:
            if stray := UNDECODED.search(cell):
                raise DataError(
                    f"{self.source}, line {line}: byte 0x{ord(stray.group()) - 0xDC00:02X} in "
                    f"{_encoded(cell)[:60]!r} is not UTF-8; save the file as UTF-8, for instance "
                    "with 'iconv -f WINDOWS-1252 -t UTF-8 OLD > NEW', or as CSV UTF-8 in Excel"
                )

    def batches(
        self, header: bool, needed: int | None = None
    ) -> Iterator[tuple[Sequence[int], list[list[str]]]]:
        """Yield the line numbers and rows below the header in batches, padding rows to full width.

        Parameters
        ----------
        header : bool
            Whether the first row is a header.
        needed : int, optional
            Minimum number of cells in each row. By default, all cells are required. Missing cells
            after the required cells are empty. Cells beyond the width of the first row must be
            empty.

        Raises
        ------
        DataError
            If a row has a different number of cells.
        """
        width, needed = self.width, self.width if needed is None else needed
        reader = self._reader()
        if header:
            next((row for row in reader if _is_row(row)), None)
        size = max(1, min(BATCH_ROWS, BLOCK_NUMBERS // width))
        lines: Sequence[int]
        while True:
            first = reader.line_num + 1
            try:
                rows = list(islice(reader, size))
            except csv.Error:
                # Reading row by row raises the error with its line number.
                for _ in numbered_rows(self._reader(), self.source):
                    continue
                raise
            if not rows:
                return
            lines = range(first, first + len(rows))
            if reader.line_num != lines[-1]:  # a quoted cell extends over several lines
                sizes = (1 + sum(len(LINE_END.findall(cell)) for cell in row) for row in rows[:-1])
                lines = list(accumulate(sizes, initial=first))
            if width == 1 or set(map(len, rows)) != {width}:
                filled = [at for at in zip(lines, rows, strict=True) if _is_row(at[1])]
                lines = [line for line, _ in filled]
                rows = [self._fitted(line, row, needed) for line, row in filled]
            if rows:
                yield lines, rows

    def _fitted(self, line: int, row: list[str], needed: int) -> list[str]:
        """Return a row padded or truncated to full width."""
        width = self.width
        if len(row) < needed or any(map(str.strip, row[width:])):
            raise DataError(
                f"{self.source}, line {line} has {len(row):,} cells where the first row has "
                f"{width - self.is_cornerless:,}; check that the row is complete, put words that "
                "contain a delimiter in quotation marks, and remove lines above the header"
            )
        return [*row[:width], *[""] * (width - len(row))]

    def _repeated_header(self) -> list[str] | None:
        """Header as written if it may be repeated according to a search of the bytes, or None."""
        row = next(row for row in self._reader() if _is_row(row))
        return None if self.data.count(_encoded(row[0])) == 1 else row

    def read(
        self,
        labels: Sequence[int],
        number: int | None = None,
        *,
        header: bool = True,
        needed: int | None = None,
        decoded: int | None = None,
    ) -> Cells:
        """Read label columns and an optional numeric column.

        Parameters
        ----------
        labels : sequence of int
            Indices of the label columns.
        number : int, optional
            Index of the numeric column. If it is specified, lines that repeat the header are
            omitted.
        header, needed
            See `batches`.
        decoded : int, optional
            Number of label columns that must be valid UTF-8. By default, all must be valid.

        Raises
        ------
        DataError
            If a row has a different number of cells, or if a label is not UTF-8.
        """
        codes = [LabelCodes() for _ in labels]
        parts: list[list[np.ndarray]] = [[np.empty(0, np.int32)] for _ in labels]
        numbers, lines = [np.empty(0)], [np.empty(0, np.int64)]
        first = self._repeated_header() if header and number is not None else None
        n_headers = 0
        for at, rows in self.batches(header, needed):
            if first is not None and first in rows:
                at = [line for line, row in zip(at, rows, strict=True) if row != first]
                n_headers += len(rows) - len(at)
                rows = [row for row in rows if row != first]
            if not rows:
                continue
            cells = list(zip(*rows, strict=True))
            for of, part, c in zip(codes, parts, labels, strict=True):
                part.append(of.of(cells[c], len(rows)))
            if number is not None:
                numbers.append(self.numbers(cells[number]))
            lines.append(np.arange(at[0], at[-1] + 1) if isinstance(at, range) else np.array(at))
        joined = map(np.concatenate, parts)
        columns = [of.column(each, str.strip) for of, each in zip(codes, joined, strict=True)]
        line_of = np.concatenate(lines)
        if not self.data.isascii():
            self._check_columns(columns[:decoded], line_of)
        return Cells(
            columns,
            None if number is None else np.concatenate(numbers),
            lambda k: f"{self.source}, line {line_of[k]}",
            lambda k: 1 if number is None else self._cell(int(line_of[k]), number),
            n_headers,
        )

    def numbers(self, cells: Sequence[str]) -> np.ndarray:
        """Convert cells to numbers (see `known_number`)."""
        cache = self._number_of
        # Counts, ratings and rounded strengths are often repeated, so each distinct cell is
        # converted once.
        with suppress(KeyError):
            return np.fromiter(map(cache.__getitem__, cells), np.float64, len(cells))
        plain: Sequence[str] = cells
        if self.delimiter == ";":
            plain = [self._plain_number(cell.strip()) for cell in cells]
        try:
            values = np.array(list(map(float, plain)))
            is_plain = "_" not in "".join(plain)  # Python reads 1_000 as a number
        except ValueError:
            is_plain = False
        if not is_plain:
            values = np.array([known_number(cell) for cell in plain])
        if len(cache) < MOST_KNOWN:
            cache.update(zip(cells, values.tolist(), strict=True))
        return values

    @cached_property
    def _number_of(self) -> dict[str, float]:
        """Cache of the numbers in cells."""
        return {}

    def wide(
        self,
        columns: Sequence[int],
        label: int | None,
        rule: NumberRule,
        *,
        header: bool,
        words: Collection[str] | None = None,
        texts: Sequence[int] = (),
        dense: bool = False,
    ) -> WideRows:
        """Read a table with one column per coordinate or feature, omitting empty rows.

        Parameters
        ----------
        columns : sequence of int
            Indices of the numeric columns.
        label : int, optional
            Index of the label column. By default, rows are numbered from 0.
        rule : NumberRule
            Rule for allowed numbers.
        header : bool
            Whether the first row is a header. Lines that repeat the header are omitted.
        words : collection of str, optional
            Labels of the rows to read. By default, all rows are read.
        texts : sequence of int
            Additional columns to read as texts.
        dense : bool
            Whether to return a dense float32 array instead of a sparse float64 array.

        Raises
        ------
        DataError
            If a row has a different number of cells, if a label is not UTF-8, or if a number
            violates the rule. The message contains the line and the column.
        """
        first = self._repeated_header() if header else None
        kind = partial(np.asarray, dtype=np.float32) if dense else sparse.csr_array
        blocks = [kind(np.empty((0, len(columns))))]
        rows = WideRows([], [], None, [[] for _ in texts], 0)
        n_read = 0
        for lines, batch in self.batches(header):
            block = []
            for line, row in zip(lines, batch, strict=True):
                if row == first or not any(map(str.strip, row)):
                    continue
                name = str(n_read) if label is None else row[label].strip()
                n_read += 1
                if words is None or name in words:
                    self.check_decoded(line, name)
                    block.append(row)
                    rows.labels.append(name)
                    rows.lines.append(line)
            values = np.empty((len(block), len(columns)))
            for row, numbers in zip(block, values, strict=True):
                numbers[:] = self.numbers([row[c] for c in columns])
            bad = np.argwhere(rule.is_bad(values))
            if len(bad):
                k, c = bad[0, 0], columns[bad[0, 1]]
                at = len(rows.labels) - len(block) + k
                column = f"column {c + 1}" + (f" ({self.names[c][:60]!r})" if header else "")
                raise DataError(
                    f"{self.source}, line {rows.lines[at]} ({rows.labels[at][:60]!r}), {column}: "
                    f"the {rule.what} is {shown_cell(block[k][c])}; {rule.wanted}"
                )
            blocks.append(kind(values))
            for cells, c in zip(rows.texts, texts, strict=True):
                cells += [row[c].strip() for row in block]
        values = np.concatenate(blocks) if dense else sparse.vstack(blocks, format="csr")
        return rows._replace(values=values, n_read=n_read)

    def _cell(self, line: int, column: int) -> str:
        """Return a cell by its line number and column."""
        cells = next(cells for at, cells in self.rows() if at == line)
        return cells[column] if column < len(cells) else ""

    def _check_columns(self, columns: Sequence[CodedColumn], lines: np.ndarray) -> None:
        """Raise a DataError for the first line with bytes that are not UTF-8."""
        masks = [column.mask(UNDECODED.search) for column in columns]
        strays = [(int(np.argmax(mask)), c) for c, mask in enumerate(masks) if mask.any()]
        for k, c in sorted(strays)[:1]:
            self.check_decoded(int(lines[k]), columns[c].texts[columns[c].codes[k]])


def _is_row(cells: Sequence[str]) -> bool:
    """Return whether a line contains anything except spaces and mark-up."""
    return len(cells) > 1 or bool(cells and cells[0].strip() and not MARKUP.fullmatch(cells[0]))


def _encoded(cell: str) -> bytes:
    return cell.encode("utf-8", "surrogateescape")


def numbered_rows(
    reader: Any, source: str, rows: Iterator[list[str]] | None = None
) -> Iterator[tuple[int, list[str]]]:
    """Yield rows of a csv.reader with the line number on which each row starts."""
    start = 1
    try:
        for row in reader if rows is None else rows:
            line, start = start, reader.line_num + 1
            yield line, row
    except csv.Error as error:
        raise DataError(
            f"{source}, line {start}: the row that starts here cannot be split into cells "
            f"({error}); close every quotation mark, and write a quotation mark within a word "
            'twice: "5"" nail"'
        ) from error


class FrameTable:
    """Data frame from any library that narwhals supports, or lists by name.

    Attributes
    ----------
    source : str
        Description of the data frame or file for error messages.
    names : list of str
    series : mapping of str to narwhals.Series or list
    head : list of list of str
        Column names, followed by the first rows as texts.
    """

    is_cornerless = False

    def __init__(self, series: Mapping[str, Any], source: str):
        self.source = source
        self.series = series
        self.names = list(series)
        first = [list(map(cell_label, list(column[:HEAD_ROWS]))) for column in series.values()]
        self.head = [self.names, *map(list, zip(*first, strict=True))]

    @property
    def nested(self) -> list[str]:
        """Names of the columns that contain lists."""
        return [name for name, column in self.series.items() if _has_lists(column)]

    @property
    def numeric(self) -> list[bool]:
        """Whether each column is numeric, by its type or (for lists) by its first cells."""
        import narwhals as nw

        return [
            any(is_number(row[c]) for row in self.head[1:])
            if isinstance(column, list)
            else column.dtype.is_numeric() or column.dtype == nw.Boolean
            for c, column in enumerate(self.series.values())
        ]

    def __len__(self) -> int:
        return len(next(iter(self.series.values()), ()))

    def cells(self, column: int) -> list[Any]:
        """Return the cells of a column in their original types."""
        series = self.series[self.names[column]]
        return series if isinstance(series, list) else list(series.to_list())

    def read(self, labels: Sequence[int], number: int | None = None, **_: Any) -> Cells:
        """Read label columns and an optional numeric column.

        Raises
        ------
        DataError
            If a label column contains lists.
        """
        nested = self.nested
        for name in (self.names[c] for c in labels if self.names[c] in nested):
            raise DataError(
                f"{self.source}: the column {name[:60]!r} contains lists; labels must be texts or "
                "numbers"
            )
        # NaN is not equal to itself, so each NaN cell would become a different label.
        columns = [[None if cell != cell else cell for cell in self.cells(c)] for c in labels]
        numbers = None if number is None else self.cells(number)
        return cells_of(columns, numbers, lambda k: f"{self.source}, row {k}")


def cells_of(
    columns: Sequence[Sequence[Any]], numbers: Sequence[Any] | None, where: Callable[[int], str]
) -> Cells:
    """Create `Cells` from label columns and an optional numeric column in memory."""
    coded = []
    for cells in columns:
        codes = LabelCodes()
        coded.append(codes.column(codes.of(cells, len(cells)), cell_label))
    if numbers is None:
        return Cells(coded, None, where, lambda k: 1)
    values = np.array(list(map(known_number, numbers)), np.float64)
    return Cells(coded, values, where, numbers.__getitem__)


def _has_lists(series: Any) -> bool:
    """Return whether a column contains lists or arrays, for which pandas does not have a type."""
    import narwhals as nw

    if isinstance(series, list):
        return False
    if series.dtype == nw.Object and len(series):
        return isinstance(series[0], list | tuple | np.ndarray)
    return bool(series.dtype.is_nested())


Table: TypeAlias = TextTable | FrameTable


def frame_table(frame: Any, source: str, refused: str = "{} is not a data frame") -> FrameTable:
    """Wrap a data frame as a table, with the message `refused` for objects of other types."""
    table = eager_frame(frame, refused)
    # pandas columns may have integer names.
    return FrameTable({str(name): table.get_column(name) for name in table.columns}, source)


def columns_table(data: Any, refused: str = "{} is not a data frame") -> FrameTable:
    """Wrap a data frame, or a mapping of names to lists of equal length, as a table."""
    if not isinstance(data, Mapping):
        return frame_table(data, "the frame", refused)
    columns = {str(name): list(values) for name, values in data.items()}
    if len(set(map(len, columns.values()))) != 1:
        raise DataError("the frame: got no columns, or columns of different lengths")
    return FrameTable(columns, "the frame")


def parquet_table(sample: Sample, *, head: bool = False) -> FrameTable:
    """Read a Parquet file, or only its first rows, as a table."""
    if head:
        return frame_table(sample.parquet, str(sample))
    with open_parquet(sample.path) as file:
        return frame_table(file.read(), str(sample))


def is_number(cell: str) -> bool:
    """Return whether a cell is a number in digits, which excludes the words NAN and INFINITY.

    >>> is_number("-1e3"), is_number(".5"), is_number("NAN"), is_number("")
    (True, True, False, False)
    """
    try:
        float(cell)
    except ValueError:
        return False
    return any(character.isdigit() for character in cell)


def as_number(value: Any) -> float:
    """Convert a value to a number, or NaN if it is not a number (including Python's 1_000).

    >>> as_number("3"), as_number("1_000"), as_number(None)
    (3.0, nan, nan)
    """
    if isinstance(value, str) and "_" in value:
        return math.nan
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return math.nan


def known_number(value: Any) -> float:
    """Convert a value to a number, NaN if it is missing (`MISSING`), or infinity otherwise.

    >>> known_number("3"), known_number("NA"), known_number(None), known_number("much")
    (3.0, nan, nan, inf)
    """
    number = as_number(value)
    if number == number or value is None or str(value).strip().lower() in MISSING:
        return number
    return number if isinstance(value, float) else math.inf


@dataclass(frozen=True)
class Layout:
    """Table layout of a kind of data.

    Attributes
    ----------
    expected : str
        Expected contents, for error messages.
    advice : str
        Advice at the end of the error message for a text that no delimiter splits.
    known : callable
        Function that returns whether a table, split at a candidate delimiter, has a supported
        layout.
    is_spaced : bool
        Whether to split a text at spaces if its first line has no delimiter.
    prepared : callable
        Function that removes comments and similar lines from a text.
    """

    expected: str
    advice: str
    known: Callable[[TextTable], bool] = lambda table: False
    is_spaced: bool = False
    prepared: Callable[[bytes], bytes] = lambda data: data


def _is_parquet(sample: Sample, layout: Layout, format: str | None) -> bool:
    """Return whether a file is Parquet rather than text, by its content or specified format."""
    stored = sample.container(layout.expected)
    if stored not in (None, "parquet") and format is None:
        raise DataError(f"{sample} is a file of the format {stored}; expected {layout.expected}")
    return format == "parquet" or (stored == "parquet" and format not in ("csv", "tsv"))


def read_table(sample: Sample, layout: Layout, format: str | None = None) -> Table:
    """Open a Parquet or text file as a table.

    Raises
    ------
    DataError
        If the file is empty or has another format, or if `read_text` raises it.
    """
    if _is_parquet(sample, layout, format):
        return parquet_table(sample)
    return read_text(sample, layout, format)


def table_passes(
    sample: Sample, layout: Layout, format: str | None, test: Callable[[Table], bool]
) -> bool:
    """Return whether the first rows of a file are a table that passes a test.

    The result is false if the rows cannot be read. The reader that is selected later reports the
    error.
    """
    try:
        if _is_parquet(sample, layout, format):
            return test(parquet_table(sample, head=True))
        return test(read_text(sample, layout, format, head=True))
    except (DataError, ImportError):
        return False


def read_text(
    sample: Sample, layout: Layout, format: str | None = None, *, head: bool = False
) -> TextTable:
    """Open a text table, or its first rows, with the delimiter that best fits the first rows.

    Delimiters are ranked by whether the layout is known, whether all rows below the first have the
    same width, the number of columns, and the order of `_delimiters`.

    Raises
    ------
    DataError
        If there is only one column, or if the first row cannot be split because of quotation marks.
    """
    source, delimiters = str(sample), _delimiters(sample.path, format)
    data = sample.lines if head else read_bytes(sample, layout.expected)
    clean = layout.prepared(_checked_text(data, source))
    if layout.is_spaced:
        first = next((x for x in clean.splitlines() if x.strip() and not x.startswith(b"#")), b"")
        if b" " in first.strip() and not any(mark.encode() in first for mark in DELIMITERS):
            table = TextTable(source, clean, " ", quoted=False)
            next(table.rows(), None)  # raises an error if the first row cannot be split
            return table
    start = clean if len(clean) <= HEAD_BYTES else clean[: clean.rfind(b"\n", 0, HEAD_BYTES) + 1]
    best, best_score = None, (-1, -1, 1)
    for delimiter in delimiters:
        table = _without_false_quotes(TextTable(source, start or clean, delimiter))
        widths = [len(cells) for cells in table.head]
        if max(widths, default=0) > 1:
            # The first row may have one cell less, because R omits the first cell of the header.
            score = (int(layout.known(table)), int(len(set(widths[1:])) <= 1), max(widths))
            if score > best_score:
                best, best_score = delimiter, score
    if best is None:
        first_cell = next(TextTable(source, clean, delimiters[0]).rows(), (1, [""]))[1][0]
        tried = ", ".join(DELIMITERS[delimiter] for delimiter in delimiters)
        raise DataError(
            f"{source} has only one column when split at {tried}; its first row is "
            f"{first_cell[:60]!r}. {layout.advice}"
        )
    return _without_false_quotes(TextTable(source, clean, best))


def open_headed_table(data: bytes, source: str) -> TextTable:
    """Open a text table with the delimiter of its header, allowing a single column."""
    clean = _checked_text(data, source)
    header = clean.lstrip(b"\r\n").split(b"\n", 1)[0].decode(errors="replace")
    table = _without_false_quotes(TextTable(source, clean, header_delimiter(header, "\t")))
    next(table.rows(), None)  # raises an error if the header cannot be split
    return table


def _checked_text(data: bytes, source: str) -> bytes:
    """Convert a text to UTF-8."""
    clean = to_utf8(data, source)
    # This removes Excel's first line with the delimiter, but not its line end, so that line numbers
    # do not change.
    return re.sub(rb"\Asep=[^\r\n](?=\r|\n)", b"", clean)


def _without_false_quotes(table: TextTable) -> TextTable:
    """Treat quotation marks as part of words in tab-separated files that do not use quoting."""
    if table.delimiter == "\t" and b'"' in table.data:
        try:
            for _ in numbered_rows(table._reader(), table.source):
                pass
        except DataError:
            return replace(table, quoted=False)
    return table


def header_delimiter(header: str, otherwise: str) -> str:
    """Return the delimiter that gives the most header cells, or the one rarest in names if tied."""
    best = max("\t,;|", key=header.count)
    return best if best in header else otherwise


def _delimiters(path: Path, format: str | None) -> tuple[str, ...]:
    """Return the delimiters to try in a text file, in order of likelihood."""
    if format == "csv":
        return (",", ";")
    if format == "tsv":
        return ("\t",)
    return (",", ";", "\t", "|") if suffix_of(path) == ".csv" else ("\t", ",", ";", "|")


def check_places(
    source: str, labels: Sequence[str], place: str, places: Sequence[int], hint: str = ""
) -> None:
    """Raise a DataError with the line or column of an empty or repeated label.

    >>> check_places("a.csv", ["tie", "tie"], "line", [2, 5])
    Traceback (most recent call last):
    manymaps.errors.DataError: a.csv: duplicate label 'tie' in lines 2 and 5; labels must be unique
    """
    if "" in labels:
        at = places[list(labels).index("")]
        raise DataError(f"{source}, {place} {at} has an empty label; give it a name")
    repeated = repeated_label(labels)
    if repeated is not None:
        label, first, second = repeated
        raise DataError(
            f"{source}: duplicate label {label[:60]!r} in {place}s {places[first]} and "
            f"{places[second]}; labels must be unique{hint}"
        )


def shown_cell(value: Any) -> str:
    """Format a cell that is not a valid number for an error message.

    >>> shown_cell(""), shown_cell("0,5")
    ('missing', "'0,5' (write decimals with a point)")
    """
    text = "" if value is None else str(value).strip()
    hint = " (write decimals with a point)" if "," in text else ""
    written = repr(text[:60]) if isinstance(value, str) else text[:60]
    return f"{written}{hint}" if text else "missing"
