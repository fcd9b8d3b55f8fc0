r"""Readers for word vectors in text with or without a header, and in word2vec's binary format.

    word2vec, fastText .vec    "n d", then n lines of a word and d numbers
    GloVe                      lines of a word and d numbers, no header
    word2vec binary            "n d\n", then n times: word, one space, d little-endian float32,
                               with or without an end of line after them

(T. Mikolov et al., https://code.google.com/archive/p/word2vec; J. Pennington et al.,
https://nlp.stanford.edu/projects/glove.) Files, which may be compressed, are read in one pass. The
numbers are stored as the bytes of a float32 array of shape (n, d), which grow in place.

A word consists of all bytes before the numbers. In text files, words may contain spaces (". . ." in
GloVe's 840B vocabulary), so the last d fields of a line are its numbers. A surplus field is an
error if it is a decimal number, or an integer before another number. Bytes that are not UTF-8
(word2vec cuts words inside a character) are replaced by U+FFFD and counted.
"""

from __future__ import annotations

import math
import mmap
import re
from collections.abc import Collection, Iterator
from contextlib import suppress
from itertools import chain, islice
from pathlib import Path
from statistics import multimode
from typing import Any, BinaryIO

import numpy as np

from manymaps.errors import DataError
from manymaps.io.columns import LARGEST, known_number
from manymaps.io.frames import PACKERS, UTF8_MARK
from manymaps.labels import plural, shown

# No file has more rows than 18 digits can count, and Python does not convert thousands of digits.
HEADER = re.compile(rb"[ \t]*(\d{1,18})[ \t]+(\d{1,18})[ \t\r]*\n?")
DECIMAL = re.compile(rb"[+-]?(\d+\.\d*|\.\d+|\d+(?=[eE]))([eE][+-]?\d+)?")
CONTROL = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f]")
# Number of lines from which the number of values is determined if there is no header.
HEAD_LINES = 30
HEAD_BYTES = 2**20
LONGEST_WORD = 2**16


def word_format(stream: BinaryIO, suffix: str) -> str | None:
    """Return "text" or "binary" for word vectors, by the first lines, or None for other text."""
    start = b"".join(islice(iter(lambda: stream.readline(HEAD_BYTES), b""), HEAD_LINES + 1))
    start = start.removeprefix(UTF8_MARK)
    lines = [line for line in start.split(b"\n") if line.strip()]
    header = HEADER.fullmatch(lines[0]) if lines else None
    if header:
        # One line of a binary file may look like text, but hardly all lines.
        is_text = len(lines) > 1 and all(is_word_line(line, 1) for line in lines[1:])
        return "text" if is_text or not (suffix == ".bin" or CONTROL.search(start)) else "binary"
    n_spaced = sum(is_word_line(line, 3) and line.count(b"\t") < 2 for line in lines)
    return "text" if suffix in (".vec", ".glove") or 2 * n_spaced >= len(lines) > 0 else None


def is_word_line(line: bytes, width: int) -> bool:
    """Return whether a line is a word and at least `width` numbers.

    >>> is_word_line(b". . . 0.1 0.2 -0.3", 3), is_word_line(b"tie knot 0.5", 2)
    (True, False)
    """
    numbers = line.split()[1:][-width:]
    return len(numbers) == width and all(
        math.isfinite(known_number(cell.decode("latin-1"))) for cell in numbers
    )


def read_words(
    stream: BinaryIO, path: Path, form: str, words: Collection[str] | None = None
) -> dict[str, Any]:
    """Read word vectors in text or in word2vec's binary format.

    Parameters
    ----------
    stream : binary file
        Decompressed file.
    path : Path
        Path of the file.
    form : {"text", "binary"}
        Format of the file (`word_format`).
    words : collection of str, optional
        Words whose rows are read. By default, all rows are read.

    Returns
    -------
    dict
        Values of shape (n, d) with their labels and notes, and the number of rows in the file.

    Raises
    ------
    DataError
        If the header does not match the rows, if a row has a different number of values, if a value
        in text is not a finite number, or if a binary file ends within a row or contains a word
        that is not text. The message contains the line or row, and the word.
    """
    rows = _text_rows if form == "text" else _binary_rows
    n_read, labels, replaced, values = 0, [], [], bytearray()
    for word, label, numbers in rows(stream, path, words):
        n_read += 1
        if numbers is not None:
            labels.append(label)
            values += numbers
            if "\ufffd" in label and label.encode("utf-8") != word:
                replaced.append(label)
    notes: tuple[str, ...] = ()
    if replaced:
        notes = (
            f"invalid UTF-8 in {plural('word', len(replaced))} became U+FFFD, first in "
            f"{shown(replaced[0])}",
        )
    table = np.frombuffer(values, "<f4").reshape(len(labels), -1 if labels else 0)
    return {"values": table, "labels": labels, "notes": notes, "n_read": n_read}


def _text_rows(
    stream: BinaryIO, path: Path, words: Collection[str] | None
) -> Iterator[tuple[bytes, str, Any]]:
    """Yield the word, the label and the numbers of each line, or None for a word not in `words`."""
    source, n, n_read = str(path), None, 0
    lines = _numbered_lines(stream, source)
    head = list(islice(lines, HEAD_LINES + 1))
    header = HEADER.fullmatch(head[0][1]) if head else None
    width = min(multimode(len(line.split()) - 1 for _, line in head), default=0)
    if header:
        n, width = _declared(header, source)
    if width < 1:
        raise DataError(
            f"{source}: expected a word and its numbers on each line, separated by spaces; the "
            f"first line is {shown(head[0][1].decode(errors='replace')) if head else 'missing'}"
        )
    for number, line in chain(head[1:] if header else head, lines):
        n_read, where = n_read + 1, f"{source}, line {number}"
        word, text = _split(line, width, where)
        label = word.decode("utf-8", errors="replace")
        is_wanted = words is None or label in words
        yield word, label, _numbers(text, width, f"{where} ({shown(label)})") if is_wanted else None
    if n not in (None, n_read):
        raise DataError(
            f"{source}, line 1: the header declares {n:,} rows, but the file contains {n_read:,}; "
            "fetch the file again, or correct or delete the header"
        )


def _numbered_lines(stream: BinaryIO, source: str) -> Iterator[tuple[int, bytes]]:
    """Yield the number of each nonblank line and the line without trailing white space."""
    for number, line in enumerate(stream, start=1):
        if b"\x00" in line:
            raise DataError(f"{source}, line {number} contains zero bytes; save the file as UTF-8")
        text = (line.removeprefix(UTF8_MARK) if number == 1 else line).rstrip()
        if text:
            yield number, text


def _numbers(text: bytes, width: int, place: str) -> bytes:
    """Convert the numbers of a line to float32, or name the first that is not a finite number."""
    values = np.empty(0, np.float32)
    # NumPy stops at a cell that is not a number, with a warning or an error.
    with suppress(ValueError, DeprecationWarning), np.errstate(over="ignore"):
        values = np.fromstring(text, "<f4", sep=" ")
    if len(values) == width and np.isfinite(values).all():
        return values.tobytes()
    cells = text.decode("latin-1").split()
    wrong = next((cell for cell in cells if not abs(known_number(cell)) <= LARGEST), cells[0])
    raise DataError(
        f"{place}: the value {shown(wrong)} cannot be read; vectors need finite "
        "numbers within the range of float32, with a point as decimal sign"
    )


def _split(line: bytes, width: int, place: str) -> tuple[bytes, bytes]:
    """Split a line into its word, which may contain spaces, and its numbers."""
    fields = line.rsplit(None, width)
    first, *middle = fields[0].split()
    whole = len(fields) > 1 and fields[1].isdigit()
    surplus = sum(
        DECIMAL.fullmatch(cell) is not None or (whole and cell.isdigit()) for cell in middle
    )
    if len(fields) <= width or surplus or line[:1].isspace():
        raise DataError(
            f"{place} ({shown(first.decode(errors='replace'))}) has {len(fields) - 1 + surplus:,} "
            f"values, but the header or the first lines have {width:,} after a word; is the line "
            "cut short, or joined to another?"
        )
    return fields[0], line[len(fields[0]) :]


def _binary_rows(
    stream: BinaryIO, path: Path, words: Collection[str] | None
) -> Iterator[tuple[bytes, str, Any]]:
    """Yield the word, the label and the bytes of each row, or None for a word not in `words`."""
    source, start = str(path), stream.readline(64)
    match = HEADER.fullmatch(start)
    if not match:
        raise DataError(
            f"{source} does not start with the numbers of rows and of values per row, as binary "
            "files of word2vec do; check the format"
        )
    n, width = _declared(match, source)
    size = 4 * width
    # A memory map can be searched like bytes without loading the file into memory.
    data = (
        start + stream.read()
        if path.suffix.lower() in PACKERS
        else mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)
    )
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
        yield word, label, data[at : at + size] if words is None or label in words else None
        at += size
    n_left = len(data[at:].strip(b"\n"))
    if n_left:
        raise DataError(
            f"{source} contains {n_left:,} further bytes (up to {n_left // (size + 2):,} rows) "
            f"after {shown(label)}, the last of the {n:,} rows of {width:,} values that its header "
            "declares; correct the header"
        )


def _declared(header: re.Match[bytes], source: str) -> tuple[int, int]:
    """Return the number of rows and the number of values per row from a header."""
    n, width = int(header[1]), int(header[2])
    if n < 1 or width < 1:
        raise DataError(
            f"{source}, line 1: the header declares {n:,} rows of {width:,} values; expected at "
            "least one of each"
        )
    return n, width
