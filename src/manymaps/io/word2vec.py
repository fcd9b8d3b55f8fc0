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
from collections.abc import Collection, Iterator
from contextlib import suppress
from itertools import chain, islice
from pathlib import Path
from statistics import multimode
from typing import BinaryIO, Literal

import numpy as np

from manymaps.data.tables import is_number, known_number
from manymaps.data.vectors import VectorRows
from manymaps.errors import DataError
from manymaps.io.files import UTF8_MARK, is_packed, suffix_of, unpacked
from manymaps.labels import plural, shown

# No file has more rows than 18 digits can count, and Python does not convert thousands of digits.
HEADER = re.compile(rb"[ \t]*(\d{1,18})[ \t]+(\d{1,18})[ \t\r]*\n?")
DECIMAL = re.compile(rb"[+-]?(\d+\.\d*|\.\d+|\d+(?=[eE]))([eE][+-]?\d+)?")
CONTROL = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f]")
# Number of lines from which the number of values is determined if there is no header.
HEAD_LINES = 30
HEAD_BYTES = 2**20
LONGEST_WORD = 2**16
LARGEST = float(np.finfo(np.float32).max)


def word_format(path: Path) -> Literal["text", "binary"] | None:
    """Return the format of word vectors by the first lines, or None for a table or other text."""
    with unpacked(path) as file:
        start = b"".join(islice(iter(lambda: file.readline(HEAD_BYTES), b""), HEAD_LINES + 1))
    start, suffix = start.removeprefix(UTF8_MARK), suffix_of(path)
    lines = [line for line in start.split(b"\n") if line.strip()]
    header = HEADER.fullmatch(lines[0]) if lines else None
    if header:
        width = 1 if suffix == ".bin" else int(header[2])
        is_text = len(lines) > 1 and is_word_line(lines[1], width)
        return "text" if is_text or not (suffix == ".bin" or CONTROL.search(start)) else "binary"
    if suffix in (".vec", ".glove"):
        return "text"
    n_spaced = sum(is_word_line(line, 3) and line.count(b"\t") < 2 for line in lines)
    return "text" if suffix not in (".csv", ".tsv") and 2 * n_spaced >= len(lines) else None


def is_word_line(line: bytes, width: int) -> bool:
    """Return whether a line is a word and at least `width` numbers.

    >>> is_word_line(b". . . 0.1 0.2 -0.3", 3), is_word_line(b"tie knot 0.5", 2)
    (True, False)
    """
    numbers = line.split()[1:][-width:]
    return len(numbers) == width and all(is_number(cell.decode("latin-1")) for cell in numbers)


def read_text_vectors(path: Path, *, words: Collection[str] | None = None) -> VectorRows:
    """Read vectors from a text file with a word and its numbers on each line.

    Parameters
    ----------
    path : Path
        File to read, which may be compressed. The first line is a header if it consists of two
        integers.
    words : collection of str, optional
        Words whose rows are parsed. By default, all rows are parsed.

    Raises
    ------
    DataError
        If the header does not match the rows, if a line has a different number of values, or if a
        value is not a finite number. The message contains the line and the word.
    """
    source, n, n_read = str(path), None, 0
    with unpacked(path) as file:
        lines = _numbered_lines(file, source)
        head = list(islice(lines, HEAD_LINES + 1))
        header = HEADER.fullmatch(head[0][1]) if head else None
        width = min(multimode(len(line.split()) - 1 for _, line in head), default=0)
        if header:
            n, width = _declared(header, source)
        if width < 1:
            raise DataError(
                f"{source}: expected a word and its numbers on each line, separated by spaces; the "
                f"first line is {_text(head[0][1]) if head else ''!r}"
            )
        rows = _Rows(source, width)
        for number, line in chain(head[1:] if header else head, lines):
            n_read, where = n_read + 1, f"{source}, line {number}"
            word, text = _split(line, width, where)
            label = word.decode("utf-8", errors="replace")
            if words is None or label in words:
                rows.append(word, label, _numbers(text, width, f"{where} ({shown(label)})"))
    if n not in (None, n_read):
        raise DataError(
            f"{source}, line 1: the header declares {n:,} rows, but the file contains {n_read:,}; "
            "fetch the file again, or correct or delete the header"
        )
    return rows.finished(n_read)


def _numbered_lines(stream: BinaryIO, source: str) -> Iterator[tuple[int, bytes]]:
    """Yield the number of each nonblank line and the line without trailing white space."""
    for number, line in enumerate(stream, start=1):
        if b"\x00" in line:
            raise DataError(f"{source}, line {number} contains zero bytes; save the file as UTF-8")
        text = (line.removeprefix(UTF8_MARK) if number == 1 else line).rstrip()
        if text:
            yield number, text


def _numbers(text: bytes, width: int, place: str) -> np.ndarray:
    """Parse the numbers of a line, and name the first cell that is not a finite number."""
    values = np.empty(0, np.float32)
    # NumPy stops at a cell that is not a number, with a warning or an error.
    with suppress(ValueError, DeprecationWarning), np.errstate(over="ignore"):
        values = np.fromstring(text, np.float32, sep=" ")
    if len(values) == width and np.isfinite(values).all():
        return values
    cells = text.decode("latin-1").split()
    wrong = next((cell for cell in cells if not abs(known_number(cell)) <= LARGEST), cells[0])
    raise DataError(
        f"{place}: the value {shown(wrong)} cannot be read; vectors need finite "
        "numbers within the range of float32, with a point as decimal sign"
    )


def _split(line: bytes, width: int, place: str) -> tuple[bytes, bytes]:
    """Split a line into its word, which may contain spaces, and its numbers."""
    if line.count(b" ") == width and b"\t" not in line and line[:1] != b" ":
        word, _, text = line.partition(b" ")
        return word, text
    fields = line.rsplit(None, width)
    first, *middle = fields[0].split()
    whole = len(fields) > 1 and fields[1].isdigit()
    surplus = sum(
        DECIMAL.fullmatch(cell) is not None or (whole and cell.isdigit()) for cell in middle
    )
    if len(fields) <= width or surplus or line[:1].isspace():
        raise DataError(
            f"{place} ({_text(first)!r}) has {len(fields) - 1 + surplus:,} values, but the header "
            f"or the first lines have {width:,} after a word; is the line cut short, or joined to "
            "another?"
        )
    return fields[0], b" ".join(fields[1:])


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
            rows.append(word, label, np.frombuffer(data, "<f4", width, at))
        at += size
    n_left = len(data[at:].strip(b"\n"))
    if n_left:
        raise DataError(
            f"{source} contains {n_left:,} further bytes (up to {n_left // (size + 2):,} rows) "
            f"after {shown(label)}, the last of the {n:,} rows of {width:,} values that its header "
            "declares; correct the header"
        )
    return rows.finished(n)


class _Rows:
    """Words, and their numbers in a single array that grows in place."""

    def __init__(self, source: str, width: int):
        self.source, self.width = source, width
        self.labels: list[str] = []
        self.replaced: list[str] = []
        self.values = np.empty((0, width), dtype=np.float32)

    def append(self, word: bytes, label: str, values: np.ndarray) -> None:
        """Append a row, and record a label in which bytes were replaced."""
        n = len(self.labels)
        if n == len(self.values):
            # The array grows by an eighth, so that it is seldom moved. There are no views of the
            # array yet.
            self.values.resize((n + n // 8 + 64, self.width), refcheck=False)
        self.values[n] = values
        self.labels.append(label)
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


def _declared(header: re.Match[bytes], source: str) -> tuple[int, int]:
    """Return the number of rows and the number of values per row from a header."""
    n, width = int(header[1]), int(header[2])
    if n < 1 or width < 1:
        raise DataError(
            f"{source}, line 1: the header declares {n:,} rows of {width:,} values; expected at "
            "least one of each"
        )
    return n, width


def _text(word: bytes) -> str:
    """Decode bytes to a text of limited length for an error message."""
    return word.decode("utf-8", errors="replace")[:60]
