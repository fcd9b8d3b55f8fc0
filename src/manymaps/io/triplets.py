"""Files of triplets -> Triplets.

    0 1 2            numbers of objects from 0, the odd one last, as SPoSE and VICE publish them:
    0,1,3            text with blanks, tabs, commas or semicolons, with a header or without
    an array (n, 3)  NPY, or NPZ with one such array
    tie,knot,suit    labels of the objects in place of numbers

A table (n, 3) of whole numbers could also be vectors of three features, or cues, responses and
counts by number. It is taken for triplets where nobody says so only if no row of a hundred or more
holds a number twice, all numbers up to the largest occur, and at least half of them in each column:
features, counts and colours repeat themselves sooner (`looks_like_triplets`).
"""

from __future__ import annotations

import io
import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from manymaps.archive.door import reader
from manymaps.checks import check_choice
from manymaps.data.associations import ReadReport
from manymaps.data.triplets import KINDS, Triplets
from manymaps.errors import DataError, ParameterError
from manymaps.io.columns import folded
from manymaps.io.files import (
    array_heads,
    first_bytes,
    read_arrays,
    read_bytes,
    read_npy,
    stored_format,
    to_utf8,
)
from manymaps.io.kinds import asked_format
from manymaps.io.matrices import read_labels
from manymaps.io.tables import delimiters_of, is_number, open_table
from manymaps.labels import label_places, shown

__all__ = ["TRIPLET_FORMATS", "looks_like_triplets", "read_triplets"]

TRIPLET_FORMATS = ("triplets", "npy", "npz", "csv", "tsv")
ODD: tuple[str, ...] = ("odd", "oddone", "oddoneout", "farther", "further", "negative", "third")
ODD += ("object3", "item3", "word3", "k", "c")
_EXPECTED = "three objects on each line, the odd one last"
_FEWEST_ROWS = 100
_HEAD = 2**20
_MARKS = (b"\t", b",", b";")


@reader("triplets")
def read_triplets(
    path: str | os.PathLike[str],
    *,
    kind: str | None = None,
    labels: Sequence[str] | str | os.PathLike[str] | None = None,
    format: str | None = None,
) -> Triplets:
    """Read choices among three objects.

    Parameters
    ----------
    path : path
        An array (n, 3) of whole numbers in NPY or NPZ, or text with three numbers or labels on each
        line, also gzipped (`manymaps.io.triplets`).
    kind : {"odd", "closer"}, optional
        Whether the last of the three is the odd one out, which is the default, or the first is
        closer to the second than to the last.
    labels : path or sequence of str, optional
        Of the objects, by number: a file of one label a line, or the labels.
    format : str, optional
        "triplets", or "triplets:closer" in place of `kind`; else "npy", "npz", "csv" or "tsv".

    Returns
    -------
    Triplets

    Raises
    ------
    DataError
        Where the file cannot be used: other than three columns, a number that is negative, not
        whole or beyond the labels, an object twice in a triplet, an unknown label, or nothing at
        all. The message names the line of a text, the row of an array (from 0).
    ParameterError
        For an unknown kind or format.
    FileNotFoundError
        Where there is no such file.

    See Also
    --------
    evaluate, MultipleMapsTSNE, Triplets

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from manymaps import read_triplets
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "asked.txt")
    ...     _ = file.write_text("0 1 2\\n1 2 0\\n")
    ...     read_triplets(file, labels=["tie", "knot", "suit"]).counts()[0].toarray().tolist()
    [[0, 1, 0], [1, 0, 1], [0, 1, 0]]
    """
    _, key = asked_format(format, TRIPLET_FORMATS, ("triplets",))
    if key is not None and key not in KINDS:
        kinds = " and ".join(f"'triplets:{each}'" for each in KINDS)
        raise ParameterError(f"is none of {kinds}", name="format", value=format)
    kind = kind or key or KINDS[0]
    check_choice("kind", kind, KINDS)
    file, source = Path(path), str(path)
    given = None if labels is None else read_labels(labels)
    report = ReadReport(source)
    stored = stored_format(file, first_bytes(file, _EXPECTED))
    if stored in ("npy", "npz"):
        return Triplets(_array(file, stored), given, kind, report)
    if stored is not None:
        raise DataError(f"{source} holds no triplets; expected {_EXPECTED}, or an array (n, 3)")
    data = to_utf8(read_bytes(file, _EXPECTED), source)
    skipped = _lines_above(data)
    if skipped is None:
        return _of_labels(file, data, given, kind, format)
    values = _numbers(data, skipped, source)
    try:
        return Triplets(values, given, kind, report)
    except DataError as error:
        raise DataError(_by_line(str(error), source, data, skipped)) from error


@reader("triplets")
def looks_like_triplets(path: str | os.PathLike[str], format: str | None = None) -> bool:
    """Whether a file surely holds triplets by number; see the module.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from manymaps.io.triplets import looks_like_triplets
    >>> rng = np.random.default_rng(0)
    >>> asked = np.array([rng.permutation(8)[:3] for _ in range(200)])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "a.npy")
    ...     np.save(file, asked)
    ...     first = looks_like_triplets(file)
    ...     np.save(file, rng.integers(256, size=(2000, 3), dtype=np.uint8))
    ...     first, looks_like_triplets(file)
    (True, False)
    """
    if format is not None:
        return format.partition(":")[0] == "triplets"
    file = Path(path)
    try:
        start = first_bytes(file, _EXPECTED, _HEAD)
        kind = stored_format(file, start)
        if kind in ("npy", "npz"):
            heads = array_heads(file, kind)
            shapes = [h for h in heads.values() if len(h.shape) == 2 and h.shape[1] == 3]
            whole = len(heads) == 1 and len(shapes) == 1 and shapes[0].dtype.kind in "iu"
            return whole and are_surely_triplets(_array(file, kind))
        if kind is not None:
            return False
        data = start if len(start) < _HEAD else start[: start.rfind(b"\n") + 1]
        above = _lines_above(to_utf8(data, str(path)))
        if above is None or len(_cells(_first_lines(data)[above])) != 3:
            return False
        return are_surely_triplets(_numbers(data, above, str(path)))
    except DataError:
        # The reader that is chosen then says what is wrong.
        return False


def are_surely_triplets(values: np.ndarray) -> bool:
    """Whether rows of three whole numbers cannot well be anything else."""
    if values.ndim != 2 or values.shape[1] != 3 or len(values) < _FEWEST_ROWS:
        return False
    if values.dtype.kind == "f" and not bool((values == np.rint(values)).all()):
        return False
    a, b, c = values.T
    if values.min() < 0 or values.max() >= 3 * len(values):
        return False
    if bool(((a == b) | (a == c) | (b == c)).any()):
        return False
    n = int(values.max()) + 1
    occurs = [np.bincount(column.astype(np.int64), minlength=n) > 0 for column in (a, b, c)]
    return bool(np.logical_or.reduce(occurs).all()) and all(2 * x.sum() >= n for x in occurs)


def _array(file: Path, kind: str) -> np.ndarray:
    """The one array of a file."""
    if kind == "npy":
        return np.asarray(read_npy(file))
    heads = array_heads(file, kind)
    tables = [name for name, head in heads.items() if len(head.shape) == 2 and head.shape[1] == 3]
    if len(tables) != 1:
        raise DataError(
            f"{file} holds {len(tables)} arrays of three columns among {len(heads)}; save the "
            "triplets alone, as an array (n, 3)"
        )
    return read_arrays(file, tables)[tables[0]]


def _cells(line: bytes) -> list[bytes]:
    """The cells of a line, split at its delimiter or at blanks."""
    mark = next((mark for mark in _MARKS if mark in line), None)
    return [cell.strip() for cell in line.split(mark)]


def _are_numbers(line: bytes) -> bool:
    return all(is_number(cell.decode(errors="replace")) for cell in _cells(line))


def _lines_above(data: bytes) -> int | None:
    """How many lines stand above the first of numbers, 0 or 1; None where labels are given."""
    lines = enumerate(_first_lines(data)[:2])
    return next((k for k, line in lines if _are_numbers(line)), None)


def _first_lines(data: bytes) -> list[bytes]:
    """The first lines that are not blank."""
    return [line for line in data[:_HEAD].splitlines()[:20] if line.strip()]


def _numbers(data: bytes, skipped: int, source: str) -> np.ndarray:
    """The numbers of a text, (n, 3)."""
    lines = _first_lines(data)
    sample = lines[skipped] if len(lines) > skipped else b""
    mark = next((mark.decode() for mark in _MARKS if mark in sample), None)
    text = io.BytesIO(data)
    for dtype in (np.int64, np.float64):
        text.seek(0)
        try:
            return np.loadtxt(text, dtype, delimiter=mark, skiprows=skipped, ndmin=2)
        except ValueError:
            continue
    line, cells = _first_bad_line(data, skipped)
    raise DataError(
        f"{source}, line {line} holds {shown(cells)}; expected three numbers of objects on each "
        "line"
    )


def _first_bad_line(data: bytes, skipped: int) -> tuple[int, str]:
    """The first line that is not three numbers, with its number from 1."""
    seen = 0
    for number, line in enumerate(data.splitlines(), 1):
        if not line.strip():
            continue
        seen += 1
        if seen > skipped and (len(_cells(line)) != 3 or not _are_numbers(line)):
            return number, line.decode(errors="replace").strip()
    return 1, data[:60].decode(errors="replace")


def _by_line(message: str, source: str, data: bytes, skipped: int) -> str:
    """A message that names a row of numbers, with its line in place of the row."""
    start = f"{source}, row "
    if not message.startswith(start):
        return message
    row, colon, rest = message[len(start) :].partition(":")
    places = [k for k, line in enumerate(data.splitlines(), 1) if line.strip()]
    return f"{source}, line {places[int(row) + skipped]}{colon}{rest}"


def _of_labels(
    file: Path, data: bytes, given: Sequence[str] | None, kind: str, format: str | None
) -> Triplets:
    """Triplets by label: those of the list that is given, else in the order in which they come."""
    source = str(file)
    asked = format if format in ("csv", "tsv") else None
    if not any(mark in data[:_HEAD] for mark in (*_MARKS, b"|")):
        data = b"\n".join(b"\t".join(line.split()) for line in data.splitlines())
    table = open_table(data, source, delimiters_of(file, asked), lambda head: len(head[0]) == 3,
                       f"Expected {_EXPECTED}")  # fmt: skip
    numbers: dict[str, int] = {}
    if given is not None:
        numbers = {label: k for k, label in reversed(list(enumerate(given)))}
    rows: list[tuple[int, ...]] = []
    for line, cells in table.rows():
        if len(cells) != 3 or not all(cells):
            raise DataError(
                f"{source}, line {line} holds {shown(', '.join(cells))}; expected {_EXPECTED}"
            )
        table.check_decoded(line, *cells)
        if not rows and line <= 2 and folded(cells[2]) in ODD and cells[2] not in numbers:
            continue
        if len(set(cells)) < 3:
            raise DataError(
                f"{source}, line {line}: an object stands twice in the triplet "
                f"{shown(', '.join(cells))}; a triplet is of three different objects"
            )
        for cell in cells:
            if given is None:
                numbers.setdefault(cell, len(numbers))
            elif cell not in numbers:
                (place,) = label_places([cell], given)
                if place < 0:
                    raise DataError(
                        f"{source}, line {line}: {shown(cell)} is none of the {len(given):,} labels"
                    )
                numbers[cell] = place
        rows.append(tuple(numbers[cell] for cell in cells))
    if not rows:
        raise DataError(f"{source} holds no triplet; expected {_EXPECTED}")
    labels = given if given is not None else list(numbers)
    return Triplets(np.array(rows), labels, kind, ReadReport(source))
