r"""Readers for word vectors in text with or without a header, and in word2vec's binary format.

    word2vec, fastText .vec    "n d", then n lines of a word and d numbers
    GloVe                      lines of a word and d numbers, no header
    word2vec binary            "n d\n", then n times: word, one space, d little-endian float32,
                               with or without an end of line after them

(T. Mikolov et al., https://code.google.com/archive/p/word2vec; J. Pennington et al.,
https://nlp.stanford.edu/projects/glove.) Files, which may be compressed, are read in one pass. The
numbers are stored in a single float32 array of shape (n, d) that grows in place.

A word consists of all bytes before the numbers. In text files, words may contain spaces (". . ." in
GloVe's 840B vocabulary), so the last d fields of a line are its numbers. A surplus field is an
error if it is a decimal number, or an integer before another number. Bytes that are not UTF-8
(word2vec cuts words inside a character) are replaced by U+FFFD and counted.
"""

from __future__ import annotations

import mmap
import re
from collections.abc import Collection, Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from statistics import multimode
from typing import BinaryIO

import numpy as np

from manymaps.data.tables import is_number
from manymaps.data.vectors import VectorRows
from manymaps.errors import DataError, setting
from manymaps.io.packing import is_packed, unpacked
from manymaps.labels import plural, shown

# No file has more rows than 18 digits can count, and Python does not convert thousands of digits.
HEADER = re.compile(rb"[ \t]*(\d{1,18})[ \t]+(\d{1,18})[ \t\r]*\n?")
DECIMAL = re.compile(rb"[+-]?(\d+\.\d*|\.\d+|\d+(?=[eE]))([eE][+-]?\d+)?")
CONTROL = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f]")
# Number of lines from which the number of values is determined if there is no header.
HEAD_LINES = 30
# Number of values that are parsed together in a text file (1 MiB of float32).
BLOCK_NUMBERS = 2**18
LONGEST_WORD = 2**16
LARGEST = float(np.finfo(np.float32).max)


def read_text_vectors(
    path: Path, *, header: bool | None = None, words: Collection[str] | None = None
) -> VectorRows:
    """Read vectors from a text file with a word and its numbers on each line.

    Parameters
    ----------
    path : Path
        File to read, which may be compressed with gzip, bzip2 or xz.
    header : bool, optional
        Whether the first line contains the number of rows and the number of values per row. By
        default, the first line is a header if it consists of two integers.
    words : collection of str, optional
        Words whose rows are parsed. By default, all rows are parsed.

    Raises
    ------
    DataError
        If the header does not match the rows, if a line has a different number of values, or if a
        value is not a finite number. The message contains the line and the word.
    """
    source = str(path)
    with unpacked(path) as file:
        lines = _numbered_lines(file, source)
        line, first = next(lines, (1, b""))
        if not first:
            raise DataError(f"{source} is empty; expected a word and its numbers on each line")
        match = HEADER.fullmatch(first) if header is not False else None
        if header and not match:
            raise DataError(
                f"{source}, line {line} is {_text(first)!r}; word2vec's text starts with the "
                f"numbers of rows and of values per row (use {setting('format', 'glove')} for a "
                "text without this line)"
            )
        n, width = _declared(match, source) if match else (None, None)
        if not match:
            lines = chain([(line, first)], lines)
        head = list(islice(lines, HEAD_LINES))
        rows = _TextRows(source, _width(head, width, source), is_declared=match is not None)
        lines, n_read = chain(head, lines), 0
        while block := list(islice(lines, max(1, BLOCK_NUMBERS // rows.width))):
            rows.parse(block, words)
            n_read += len(block)
    if n not in (None, n_read):
        raise DataError(
            f"{source}, line {line}: the header declares {n:,} rows, but the file contains "
            f"{n_read:,}; fetch the file again, correct the header, or delete it and use "
            f"{setting('format', 'glove')}"
        )
    return rows.finished(n_read)


def read_binary_vectors(path: Path, *, words: Collection[str] | None = None) -> VectorRows:
    """Read vectors from a file in word2vec's binary format.

    Parameters
    ----------
    path : Path
        File to read, which may be compressed with gzip, bzip2 or xz.
    words : collection of str, optional
        Words whose rows are read. By default, all rows are read.

    Raises
    ------
    DataError
        If the header does not match the rows, if the file ends within a row, or if a word is not
        text. `Vectors` checks the values.
    """
    source = str(path)
    with unpacked(path) as file:
        start = file.readline(64)
        match = HEADER.fullmatch(start)
        if not match:
            raise DataError(
                f"{source} does not start with the numbers of rows and of values per row, as "
                "binary files of word2vec do; check the format"
            )
        n, width = _declared(match, source)
        # A memory map can be searched like bytes without loading the file into memory.
        data = (
            start + file.read()
            if is_packed(path)
            else mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        )
    rows, size = _Rows(source, width), 4 * width
    at, label = len(start), ""
    for row in range(n):
        end = data.find(b" ", at, at + LONGEST_WORD)
        word = data[at:end].lstrip(b"\n") if end >= 0 else b""
        last = f"after {shown(label)}" if row else "before the first word"
        label = word.decode("utf-8", errors="replace")
        if not word or b"\n" in word or (CONTROL.search(word) and "\ufffd" in label):
            first = data[at : at + 60].lstrip(b"\n")
            if not first:
                raise DataError(
                    f"{source} ends {last}: it contains {row:,} rows, but its header declares "
                    f"{n:,}; fetch it again"
                )
            raise DataError(
                f"{source}: row {row + 1:,} of {n:,}, {last}, starts with {first[:20]!r} and not "
                f"with a word; is the dimension {width:,} in the header wrong, or the file cut?"
            )
        at = end + 1
        if len(data) < at + size:
            raise DataError(
                f"{source} ends within the vector of {shown(label)}, row {row + 1:,} of {n:,}: it "
                f"has {len(data) - at:,} of {size:,} bytes. Is the file cut short, or the "
                f"dimension {width:,} in the header wrong?"
            )
        if words is None or label in words:
            rows.count_replaced(word, label)
            rows.append([label], np.frombuffer(data, "<f4", width, at))
        at += size
    n_left = len(data[at:].strip(b"\n"))
    if n_left:
        raise DataError(
            f"{source} contains {n_left:,} further bytes (up to {n_left // (size + 2):,} rows) "
            f"after {shown(label)}, the last of the {n:,} rows of {width:,} values that its header "
            "declares; correct the header"
        )
    return rows.finished(n)


def is_word_line(line: bytes, width: int | None = None) -> bool:
    """Return whether a line is a word and `width` numbers (or by default at least three).

    >>> is_word_line(b". . . 0.1 0.2 -0.3"), is_word_line(b"tie knot 0.5")
    (True, False)
    """
    fields = line.split()
    n_numbers = _count_numbers(fields)
    if width is not None:
        return len(fields) > width and n_numbers >= width
    return n_numbers >= 3 and line.count(b"\t") < 2


def _count_numbers(fields: Sequence[bytes]) -> int:
    """Count the numbers at the end of fields, the first of which is the word."""
    count = 0
    for cell in reversed(fields[1:]):
        if not is_number(cell.decode("latin-1")):
            break
        count += 1
    return count


class _Rows:
    """Words, and their numbers in a single array that grows in place."""

    def __init__(self, source: str, width: int):
        self.source, self.width = source, width
        self.labels: list[str] = []
        self.replaced: list[str] = []
        self.values = np.empty((0, width), dtype=np.float32)

    def append(self, labels: Sequence[str], block: np.ndarray) -> None:
        """Append rows."""
        start = len(self.labels)
        stop = start + len(labels)
        if stop > len(self.values):
            # The array grows by an eighth, so that it is seldom moved. There are no views of the
            # array yet.
            self.values.resize((stop + stop // 8, self.width), refcheck=False)
        self.values[start:stop] = block
        self.labels.extend(labels)

    def count_replaced(self, word: bytes, label: str) -> None:
        """Record a label in which bytes were replaced."""
        if "\ufffd" in label and label.encode("utf-8") != word:
            self.replaced.append(label)

    def finished(self, n_read: int) -> VectorRows:
        """Return the rows without unused space."""
        self.values.resize((len(self.labels), self.width), refcheck=False)
        notes: tuple[str, ...] = ()
        if self.replaced:
            notes = (
                f"invalid UTF-8 in {plural('word', len(self.replaced))} became U+FFFD, first in "
                f"{shown(self.replaced[0])}",
            )
        return VectorRows(self.labels, self.values, n_read, notes)


class _TextRows(_Rows):
    """Rows that are parsed from lines with a word and its numbers."""

    def __init__(self, source: str, width: int, *, is_declared: bool):
        super().__init__(source, width)
        self.expected = "the header declares" if is_declared else "most of the first lines have"

    def parse(self, block: Sequence[tuple[int, bytes]], words: Collection[str] | None) -> None:
        """Parse and append numbered lines, or only the lines of specified words."""
        numbers: list[int] = []
        labels: list[str] = []
        texts: list[bytes] = []
        for number, line in block:
            word, text = self._split(number, line)
            label = word.decode("utf-8", errors="replace")
            if words is None or label in words:
                self.count_replaced(word, label)
                numbers.append(number)
                labels.append(label)
                texts.append(text)
        if not labels:
            return
        values = np.empty((0, 0))
        try:
            cells = [text.decode("ascii") for text in texts]
            with np.errstate(over="ignore"):
                values = np.loadtxt(cells, dtype=np.float32, comments=None, ndmin=2)
        except ValueError:
            pass  # the error of the cell is raised below
        if values.shape != (len(texts), self.width) or not np.isfinite(values).all():
            raise self._error(numbers, labels, texts)
        self.append(labels, values)

    def _split(self, number: int, line: bytes) -> tuple[bytes, bytes]:
        """Split a line into its word and the rest."""
        if line.find(b" ", 0, LONGEST_WORD) < 0 and line.find(b"\t", 0, LONGEST_WORD) < 0:
            raise DataError(
                f"{self.source}, line {number} starts with a word of more than {LONGEST_WORD:,} "
                "bytes; expected a word and its numbers"
            )
        if line[:1].isspace():
            raise DataError(
                f"{self.source}, line {number} starts with a space; expected a word and "
                f"{self.width:,} numbers"
            )
        if line.count(b" ") == self.width and b"\t" not in line:
            word, _, text = line.partition(b" ")
            return word, text
        fields = line.rsplit(None, self.width)
        first, *middle = fields[0].split()
        whole = len(fields) > 1 and fields[1].isdigit()
        surplus = sum(
            DECIMAL.fullmatch(cell) is not None or (whole and cell.isdigit()) for cell in middle
        )
        if len(fields) <= self.width or surplus:
            raise self._width_error(number, _text(first), len(fields) - 1 + surplus)
        return fields[0], b" ".join(fields[1:])

    def _error(
        self, numbers: Sequence[int], labels: Sequence[str], texts: Sequence[bytes]
    ) -> DataError:
        """Return an error with the line, word and position of the first invalid cell."""
        for number, label, text in zip(numbers, labels, texts, strict=True):
            fields = [field.decode("utf-8", errors="replace") for field in text.split()]
            if len(fields) != self.width:
                return self._width_error(number, label[:60], len(fields))
            for column, cell in enumerate(fields, start=1):
                is_plain = is_number(cell) and "_" not in cell
                if not is_plain or abs(float(cell)) > LARGEST:
                    return DataError(
                        f"{self.source}, line {number} ({shown(label)}): value {column} of "
                        f"{self.width:,} is {shown(cell)}; vectors need finite numbers within the "
                        "range of float32, with a point as decimal sign"
                    )
        return DataError(
            f"{self.source}: the numbers of lines {numbers[0]} to {numbers[-1]} cannot be read; "
            "expected decimal numbers with single spaces between them"
        )

    def _width_error(self, number: int, word: str, count: int) -> DataError:
        return DataError(
            f"{self.source}, line {number} ({word!r}) has {count:,} values, but {self.expected} "
            f"{self.width:,}; is the line cut short, or joined to another?"
        )


def _numbered_lines(stream: BinaryIO, source: str) -> Iterator[tuple[int, bytes]]:
    """Yield the number of each nonblank line and the line without trailing white space."""
    for number, line in enumerate(stream, start=1):
        if number == 1:
            if line[:2] in (b"\xff\xfe", b"\xfe\xff"):
                raise DataError(f"{source} is UTF-16; save the file as UTF-8")
            line = line.removeprefix(b"\xef\xbb\xbf")
        if b"\x00" in line:
            raise DataError(
                f"{source}, line {number} is not text (it contains zero bytes); use "
                f"{setting('format', 'word2vec-binary')} for word2vec's binary form"
            )
        line = line.rstrip()
        if line:
            yield number, line


def _declared(header: re.Match[bytes], source: str) -> tuple[int, int]:
    """Return the number of rows and the number of values per row from a header."""
    n, width = int(header[1]), int(header[2])
    if n < 1 or width < 1:
        raise DataError(
            f"{source}, line 1: the header declares {n:,} rows of {width:,} values; expected at "
            "least one of each"
        )
    return n, width


def _width(head: Sequence[tuple[int, bytes]], declared: int | None, source: str) -> int:
    """Return the number of values per line, as declared or as in most of the first lines."""
    fields = [line.split() for _, line in head]
    usual = min(multimode(len(cells) - 1 for cells in fields), default=0)
    if declared is None:
        if usual < 1:
            raise DataError(
                f"{source}, line {head[0][0]} is {_text(head[0][1])!r}; expected a word and its "
                "numbers, separated by spaces"
            )
        return usual
    # A word with spaces increases the number of fields in a line, but not the number of values.
    if fields and declared not in (usual, min(multimode(map(_count_numbers, fields)))):
        raise DataError(
            f"{source}, line 1: the header declares {declared:,} values per row, but the rows have "
            f"{usual:,} (line {head[0][0]}, {_text(fields[0][0])!r}, has {len(fields[0]) - 1:,}); "
            f"correct the header, or delete it and use {setting('format', 'glove')}"
        )
    return declared


def _text(word: bytes) -> str:
    """Decode bytes to a text of limited length for an error message."""
    return word.decode("utf-8", errors="replace")[:60]
