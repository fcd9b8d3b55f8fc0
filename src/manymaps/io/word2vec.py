r"""Word vectors row by row: text with or without a header, and word2vec's binary form.

    word2vec, fastText .vec    "n d", then n lines of a word and d numbers
    GloVe                      lines of a word and d numbers, no header
    word2vec binary            "n d\n", then n times: word, one space, d little-endian float32,
                               with or without an end of line behind them

(T. Mikolov et al., https://code.google.com/archive/p/word2vec; J. Pennington et al.,
https://nlp.stanford.edu/projects/glove.) Files are read in one pass, packed or not; the numbers go
into one array of (n, d) float32 that grows in place.

Words are bytes up to the numbers. In a text they may hold spaces (". . ." in GloVe's 840B
vocabulary), so the last d fields of a line are its numbers; a surplus field that is written as a
decimal number (or as a whole one, where the next number is whole too) is taken for a number too
many, not for part of a word. Bytes that are not UTF-8
(word2vec cuts words inside a character) are replaced by U+FFFD and counted.
"""

from __future__ import annotations

import mmap
import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import BinaryIO

import numpy as np

from manymaps.archive.door import MOST_LABELS
from manymaps.data.vectors import VectorRows
from manymaps.errors import DataError, setting
from manymaps.io.files import unpacked
from manymaps.io.tables import LONGEST_LINE, is_number
from manymaps.labels import shown

__all__ = [
    "HEADER", "MOST_DIGITS", "counted_values", "is_word_line", "read_binary_vectors",
    "read_text_vectors",
]  # fmt: skip

HEADER = re.compile(rb"[ \t]*(\d+)[ \t]+(\d+)[ \t\r]*\n?")
DECIMAL = re.compile(rb"[+-]?(\d+\.\d*|\.\d+|\d+(?=[eE]))([eE][+-]?\d+)?")
CONTROL = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f]")
HEAD_LINES = 30
# Numbers of text are parsed this many at a time.
BLOCK_NUMBERS = 2**18
LONGEST_WORD = 2**16
# No file has more rows; Python refuses to read thousands of digits as a number.
MOST_DIGITS = 18
LARGEST = float(np.finfo(np.float32).max)


def read_text_vectors(
    path: Path, *, header: bool | None = None, words: Collection[str] | None = None
) -> VectorRows:
    """Vectors from a text of one word and its numbers a line.

    Parameters
    ----------
    path : Path
        Packed by gzip, bzip2 or xz, or not.
    header : bool, optional
        Whether the first line says how many rows and numbers there are; by default it does where
        it holds two whole numbers and nothing else.
    words : collection of str, optional
        Only the rows of these words are parsed and kept.

    Raises
    ------
    DataError
        Where the header does not fit the rows, a line has another number of values, or a value
        is not a finite number; the message names the line and the word.
    """
    source = str(path)
    with unpacked(path) as file:
        lines = _numbered_lines(file.stream, source)
        promised = None
        first = next(lines, None)
        if first is None:
            raise DataError(f"{source} is empty; expected a word and its numbers on each line")
        match = HEADER.fullmatch(first[1]) if header is not False else None
        if match:
            promised = _promised(match, source)
        elif header:
            raise DataError(
                f"{source}, line {first[0]} is {_text(first[1])!r}; word2vec's text starts with "
                "the numbers of rows and of values a row (format='glove' reads it without them)"
            )
        else:
            lines = chain([first], lines)
        head = list(islice(lines, HEAD_LINES))
        width = _width(head, promised, source)
        size = path.stat().st_size * (4 if file.packed else 1)
        rows = _Buffer(
            source, width, min(promised[0] if promised else size, size // (2 * width) + 1)
        )
        parser = _TextRows(source, width, "the header" if promised else "most of the first lines")
        n_read = parser.fill(rows, chain(head, lines), words)
    if promised and n_read != promised[0]:
        raise DataError(
            f"{source}, line {first[0]}: the header says {promised[0]:,} rows, and the file holds "
            f"{n_read:,}; is it cut short, or edited? Mend the header, or take it out and read "
            f"the file with {setting('format', 'glove')}"
        )
    return rows.read(n_read)


def read_binary_vectors(path: Path, *, words: Collection[str] | None = None) -> VectorRows:
    """Vectors from word2vec's binary form.

    Parameters
    ----------
    path : Path
        Packed by gzip, bzip2 or xz, or not.
    words : collection of str, optional
        Only the rows of these words are kept.

    Raises
    ------
    DataError
        Where the header does not fit the rows, the file ends within a row, or a word is no text.
        Values are checked by `Vectors`.
    """
    source = str(path)
    with unpacked(path) as file:
        start = file.stream.readline(64)
        match = HEADER.fullmatch(start)
        if not match:
            raise DataError(
                f"{source} does not start with the numbers of rows and of values per row, as "
                "word2vec's binary files do"
            )
        n, width = _promised(match, source)
        # A map of the file is searched like bytes, and takes no memory.
        data = (
            start + file.stream.read()
            if file.packed
            else mmap.mmap(file.stream.fileno(), 0, access=mmap.ACCESS_READ)
        )
    size = 4 * width
    if size > len(data):
        raise DataError(
            f"{source}: the header says {width:,} values a row, {size:,} bytes, and the file has "
            f"{len(data):,} in all; is it cut short, or of another format?"
        )
    rows = _Buffer(source, width, min(n, len(data) // size))
    at, label = len(start), ""
    for row in range(n):
        end = data.find(b" ", at, at + LONGEST_WORD)
        word = data[at:end].lstrip(b"\n") if end >= 0 else b""
        if not word or b"\n" in word or _is_noise(word):
            raise _no_word(source, data[at : at + 60].lstrip(b"\n"), label, row, n, width)
        label, at = rows.decode(word), end + 1
        if len(data) < at + size:
            raise DataError(
                f"{source} ends within the vector of {shown(label)}, row {row + 1:,} of the {n:,} "
                f"that its header says: {len(data) - at:,} of {size:,} bytes are there. Is the "
                f"file cut short, or the header's dimension {width:,} wrong?"
            )
        if words is None or label in words:
            rows.note_replaced(word, label)
            rows.append([label], np.frombuffer(data, "<f4", width, at))
        at += size
    rest = len(data[at:].strip(b"\n"))
    if rest:
        raise DataError(
            f"{source} goes on for {rest:,} bytes (up to {rest // (size + 2):,} rows) after "
            f"{shown(label)}, the last of the {n:,} rows of {width:,} values that its header says; "
            "one of the two numbers is wrong"
        )
    return rows.read(n)


def _no_word(source: str, start: bytes, last: str, row: int, n: int, width: int) -> DataError:
    """The error for a row of the binary form that does not start with a word."""
    reached = f"after {shown(last)}" if row else "before its first word"
    if not start:
        return DataError(
            f"{source} ends {reached}: it holds {row:,} rows, and its header says {n:,}; is it cut "
            "short?"
        )
    return DataError(
        f"{source}: row {row + 1:,} of {n:,}, {reached}, does not start with a word (it starts "
        f"with {start[:20]!r}); is the header's dimension {width:,} wrong, or the file cut short?"
    )


def is_word_line(line: bytes, width: int | None = None) -> bool:
    """Whether a line is a word and its numbers, at least three where `width` does not say.

    >>> is_word_line(b". . . 0.1 0.2 -0.3"), is_word_line(b"tie knot 0.5")
    (True, False)
    """
    fields = line.split()
    numeric = counted_values(fields)
    if width is not None:
        return len(fields) > width and numeric >= width
    return numeric >= 3 and line.count(b"\t") < 2


def counted_values(fields: Sequence[bytes]) -> int:
    """How many fields at the end are numbers, leaving one for the word."""
    count = 0
    for cell in reversed(fields[1:]):
        if not is_number(cell.decode("latin-1")):
            break
        count += 1
    return count


@dataclass
class _Buffer:
    """Rows of numbers in one array that grows in place, and their words."""

    source: str
    width: int
    capacity: int
    labels: list[str] = field(default_factory=list)
    replaced: int = 0
    first_replaced: str = ""
    values: np.ndarray = field(init=False)

    def __post_init__(self) -> None:
        self.values = np.empty((max(self.capacity, 1), self.width), dtype=np.float32)

    def append(self, labels: Sequence[str], block: np.ndarray) -> None:
        """Add some rows."""
        start = len(self.labels)
        needed = start + len(labels)
        if needed > MOST_LABELS:
            raise DataError(
                f"{self.source} has more than {MOST_LABELS:,} words; name those that you need as "
                f"{setting('words')}"
            )
        if needed > len(self.values):
            # No view of the array exists yet, so the memory may move.
            self.values.resize((needed + needed // 4, self.width), refcheck=False)
        self.values[start:needed] = block
        self.labels.extend(labels)

    def decode(self, word: bytes) -> str:
        """A word as text, with what is not UTF-8 replaced."""
        return word.decode("utf-8", errors="replace")

    def note_replaced(self, word: bytes, label: str) -> None:
        """Count a kept word in which bytes were replaced."""
        if "\ufffd" in label and label.encode("utf-8") != word:
            self.replaced += 1
            self.first_replaced = self.first_replaced or label

    def read(self, n_read: int) -> VectorRows:
        """What was gathered, without the spare room."""
        self.values.resize((len(self.labels), self.width), refcheck=False)
        notes: tuple[str, ...] = ()
        if self.replaced:
            notes = (
                f"{self.replaced:,} words are not UTF-8; the bytes in question became U+FFFD, "
                f"first in {shown(self.first_replaced)}",
            )
        return VectorRows(self.labels, self.values, n_read, notes)


@dataclass(frozen=True)
class _TextRows:
    """Splits and parses lines of a word and its numbers."""

    source: str
    width: int
    width_from: str

    def fill(
        self,
        rows: _Buffer,
        lines: Iterator[tuple[int, bytes]],
        words: Collection[str] | None,
    ) -> int:
        """Add the rows that are wanted to a buffer; returns how many lines there were."""
        step = max(1, BLOCK_NUMBERS // self.width)
        numbers: list[int] = []
        labels: list[str] = []
        cells: list[bytes] = []
        n_read = 0
        for number, line in lines:
            n_read += 1
            word, values = self.split(number, line)
            label = rows.decode(word)
            if words is not None and label not in words:
                continue
            rows.note_replaced(word, label)
            numbers.append(number)
            labels.append(label)
            cells.append(values)
            if len(cells) == step:
                rows.append(labels, self.parse(numbers, labels, cells))
                numbers, labels, cells = [], [], []
        if cells:
            rows.append(labels, self.parse(numbers, labels, cells))
        return n_read

    def split(self, number: int, line: bytes) -> tuple[bytes, bytes]:
        """The word of a line and the rest."""
        if line.find(b" ", 0, LONGEST_WORD) < 0 and line.find(b"\t", 0, LONGEST_WORD) < 0:
            raise DataError(
                f"{self.source}, line {number} starts with a word of more than {LONGEST_WORD:,} "
                "bytes; expected a word, and then its numbers"
            )
        if line[:1].isspace():
            raise DataError(
                f"{self.source}, line {number} starts with a space; expected a word, and then "
                f"{self.width:,} numbers"
            )
        if line.count(b" ") == self.width and b"\t" not in line:
            word, _, values = line.partition(b" ")
            return word, values
        fields = line.rsplit(None, self.width)
        first, *middle = fields[0].split()
        whole = len(fields) > 1 and fields[1].isdigit()
        surplus = sum(
            DECIMAL.fullmatch(cell) is not None or (whole and cell.isdigit()) for cell in middle
        )
        if len(fields) <= self.width or surplus:
            self._refuse_width(number, first, len(fields) - 1 + surplus)
        return fields[0], b" ".join(fields[1:])

    def parse(
        self, numbers: Sequence[int], labels: Sequence[str], cells: Sequence[bytes]
    ) -> np.ndarray:
        """The numbers of some lines; a cell that is none is named by line, word and position."""
        block: np.ndarray = np.empty((0, 0))
        try:
            texts = [cell.decode("ascii") for cell in cells]
            with np.errstate(over="ignore"):
                block = np.loadtxt(texts, dtype=np.float32, comments=None, ndmin=2)
        except ValueError:
            pass  # the loop below finds the cell
        if block.shape == (len(cells), self.width) and np.isfinite(block).all():
            return block
        for number, label, text in zip(numbers, labels, cells, strict=True):
            fields = text.split()
            if len(fields) != self.width:
                self._refuse_width(number, label.encode(), len(fields))
            for column, cell in enumerate(fields):
                written = cell.decode("utf-8", errors="replace")
                plain = is_number(written) and "_" not in written
                if not plain or abs(float(written)) > LARGEST:
                    raise DataError(
                        f"{self.source}, line {number} ({shown(label)}): value {column + 1} of "
                        f"{self.width:,} is {shown(written)}; vectors need finite numbers within "
                        "the range of float32, with a point as decimal sign"
                    )
        raise DataError(
            f"{self.source}: the numbers of lines {numbers[0]} to {numbers[-1]} cannot be read; "
            "expected decimal numbers with single spaces between"
        )

    def _refuse_width(self, number: int, word: bytes, found: int) -> None:
        raise DataError(
            f"{self.source}, line {number} ({_text(word)!r}) has {found:,} values where "
            f"{self.width_from} say{'s' if self.width_from == 'the header' else ''} "
            f"{self.width:,}; is the line cut short, or joined to another?"
        )


def _numbered_lines(stream: BinaryIO, source: str) -> Iterator[tuple[int, bytes]]:
    """Each line that is not blank, without white space at its end, with its number."""
    for number, line in enumerate(iter(partial(stream.readline, LONGEST_LINE + 1), b""), start=1):
        if len(line) > LONGEST_LINE:
            raise DataError(
                f"{source}, line {number} is longer than {LONGEST_LINE:,} bytes, the most that a "
                "word and its numbers may take; is an end of line lost?"
            )
        if number == 1:
            if line[:2] in (b"\xff\xfe", b"\xfe\xff"):
                raise DataError(f"{source} is UTF-16; save the file as UTF-8")
            line = line.removeprefix(b"\xef\xbb\xbf")
        if b"\x00" in line:
            raise DataError(
                f"{source}, line {number} is not text (it holds zero bytes); if this is "
                f"word2vec's binary form, read it with {setting('format', 'word2vec-binary')}"
            )
        line = line.rstrip()
        if line:
            yield number, line


def _promised(header: re.Match[bytes], source: str) -> tuple[int, int]:
    """The numbers of rows and of values a row that a header says."""
    digits = max(len(header[1]), len(header[2]))
    if digits > MOST_DIGITS:
        raise DataError(
            f"{source}, line 1: the header says a number of {digits:,} digits; expected the "
            "numbers of rows and of values a row"
        )
    n, width = int(header[1]), int(header[2])
    if n < 1 or width < 1:
        raise DataError(
            f"{source}, line 1: the header says {n:,} rows of {width:,} values; there is nothing "
            "to read"
        )
    return n, width


def _width(head: Sequence[tuple[int, bytes]], promised: tuple[int, int] | None, source: str) -> int:
    """How many numbers a line has: as the header says, else as most of the first lines have."""
    if not head:
        n, width = promised or (0, 0)
        raise DataError(
            f"{source}, line 1: the header says {n:,} rows of {width:,} values, and the file "
            "holds 0 rows"
        )
    split = [line.split() for _, line in head]
    usual = _most_common([len(fields) - 1 for fields in split])
    if promised is None:
        if usual < 1:
            raise DataError(
                f"{source}, line {head[0][0]} is {_text(head[0][1])!r}; expected a word and its "
                "numbers, split by spaces"
            )
        return usual
    width = promised[1]
    if width != usual and width != _most_common([counted_values(fields) for fields in split]):
        raise DataError(
            f"{source}, line 1: the header says {width:,} values a row, and the rows have "
            f"{usual:,} (line {head[0][0]}, {_text(split[0][0])!r}, has {len(split[0]) - 1:,}); "
            f"mend the header, or take it out and read the file with {setting('format', 'glove')}"
        )
    return width


def _most_common(counts: Sequence[int]) -> int:
    """The most frequent number, of equally frequent ones the smallest."""
    return min(Counter(counts).items(), key=lambda pair: (-pair[1], pair[0]))[0]


def _text(word: bytes) -> str:
    """Bytes for a message, as text and not too long."""
    return word.decode("utf-8", errors="replace")[:60]


def _is_noise(word: bytes) -> bool:
    """Whether bytes are numbers rather than a word: control characters and invalid UTF-8."""
    if not CONTROL.search(word):
        return False
    try:
        word.decode("utf-8")
    except UnicodeDecodeError:
        return True
    return False
