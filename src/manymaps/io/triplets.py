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
import re
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import numpy as np

from manymaps.archive.door import reader
from manymaps.checks import check_choice
from manymaps.data.associations import ReadReport
from manymaps.data.triplets import KINDS, Triplets
from manymaps.errors import DataError, ParameterError
from manymaps.io.columns import folded
from manymaps.io.files import array_heads, read_arrays, read_npy, sampled
from manymaps.io.kinds import asked_format
from manymaps.io.matrices import read_labels
from manymaps.io.tables import (
    CodedColumn,
    Layout,
    TextTable,
    is_number,
    known_number,
    read_text,
)
from manymaps.labels import label_places, shown

__all__ = ["TRIPLET_FORMATS", "looks_like_triplets", "read_triplets"]

TRIPLET_FORMATS = ("triplets", "npy", "npz", "csv", "tsv")
ODD: tuple[str, ...] = ("odd", "oddone", "oddoneout", "farther", "further", "negative", "third")
ODD += ("object3", "item3", "word3", "k", "c")
_EXPECTED = "three objects on each line, the odd one last"
_LAYOUT = Layout(_EXPECTED, f"Expected {_EXPECTED}", lambda table: table.width == 3, is_spaced=bool)
_FEWEST_ROWS = 100


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
    sample = sampled(path)
    source = str(sample)
    object_labels = None if labels is None else read_labels(labels)
    stored = sample.container(_EXPECTED)
    if stored in ("npy", "npz"):
        return Triplets(_array(sample.path, stored), object_labels, kind, ReadReport(source))
    if stored is not None:
        raise DataError(f"{source} holds no triplets; expected {_EXPECTED}, or an array (n, 3)")
    table = read_text(sample, _LAYOUT, format)
    if _header_of_numbers(table) is None:
        return _of_labels(table, object_labels, kind)
    try:
        return Triplets(_numbers(table), object_labels, kind, ReadReport(source))
    except DataError as error:
        # A message about a row of numbers names its line in place of the row.
        row = re.match(rf"{re.escape(source)}, row (\d+)", str(error))
        if row is None:
            raise
        cells = table.read(range(3), header=bool(_header_of_numbers(table)))
        raise DataError(cells.where(int(row[1])) + str(error)[row.end() :]) from error


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
    sample = sampled(path)
    try:
        kind = sample.container(_EXPECTED)
        if kind in ("npy", "npz"):
            heads = array_heads(sample.path, kind)
            shapes = [h for h in heads.values() if len(h.shape) == 2 and h.shape[1] == 3]
            whole = len(heads) == 1 and len(shapes) == 1 and shapes[0].dtype.kind in "iu"
            return whole and are_surely_triplets(_array(sample.path, kind))
        if kind is not None:
            return False
        table = read_text(sample, _LAYOUT, head=True)
        if _header_of_numbers(table) is None or table.width != 3:
            return False
        return are_surely_triplets(_numbers(table))
    except DataError:
        # The reader that is chosen then reports the fault.
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


def _header_of_numbers(table: TextTable) -> bool | None:
    """Whether there is a header above rows of numbers; None for labels."""
    numeric = [all(map(is_number, row)) for row in table.head[:2]]
    return not numeric[0] if any(numeric) else None


def _numbers(table: TextTable) -> np.ndarray:
    """The numbers of a text, (n, 3)."""
    if table.width != 3:
        raise DataError(f"{table.source} has {table.width} columns; expected {_EXPECTED}")
    header = bool(_header_of_numbers(table))
    with suppress(ValueError):  # such as 1.0 or a row cut short; those of SPoSE are all plain
        return np.loadtxt(
            io.BytesIO(table.data),
            np.int64,
            comments=None,
            delimiter=None if table.delimiter == " " else table.delimiter,
            skiprows=table.first_line if header else 0,
            ndmin=2,
        )
    cells = table.read(range(3), header=header)
    values = np.column_stack([_coded_numbers(column) for column in cells.columns])
    bad = np.argwhere(~np.isfinite(values))
    if len(bad):
        k, c = bad[0]
        column = cells.columns[c]
        raise DataError(
            f"{cells.where(k)} holds {shown(column.texts[column.codes[k]])}; expected three "
            "numbers of objects on each line"
        )
    # `Triplets` refuses the others, and numbers beyond 64 bits would be cast to any value.
    is_whole = (np.abs(values) < 2**53) & (values == np.rint(values))
    return values.astype(np.int64) if is_whole.all() else values


def _coded_numbers(column: CodedColumn) -> np.ndarray:
    """The numbers of a column of texts."""
    return np.array([known_number(text) for text in column.texts], float)[column.codes]


def _of_labels(table: TextTable, given: Sequence[str] | None, kind: str) -> Triplets:
    """Triplets by label: those of the list that is given, else in order of first appearance."""
    source, first = table.source, table.head[0]
    if table.width != 3:
        raise DataError(
            f"{source}, line {table.first_line} holds {shown(', '.join(first))}; expected "
            f"{_EXPECTED}"
        )
    header = folded(first[2]) in ODD and first[2] not in (given or ())
    cells = table.read(range(3), header=header)
    triplets = np.column_stack([np.array(column.cells(), object) for column in cells.columns])
    if not len(triplets):
        raise DataError(f"{source} holds no triplet; expected {_EXPECTED}")
    numbers: dict[str, int] = {}
    if given is not None:
        numbers = {label: k for k, label in reversed(list(enumerate(given)))}
    values = np.empty(triplets.shape, np.int64)
    for k, labels in enumerate(triplets.tolist()):
        if not all(labels):
            raise DataError(
                f"{cells.where(k)} holds {shown(', '.join(labels))}; expected {_EXPECTED}"
            )
        if len(set(labels)) < 3:
            raise DataError(
                f"{cells.where(k)}: duplicate object in the triplet "
                f"{shown(', '.join(labels))}; a triplet contains three different objects"
            )
        for c, label in enumerate(labels):
            if given is not None and label not in numbers:
                (place,) = label_places([label], given)
                if place < 0:
                    raise DataError(
                        f"{cells.where(k)}: {shown(label)} is none of the {len(given):,} labels"
                    )
                numbers[label] = place
            values[k, c] = numbers.setdefault(label, len(numbers))
    return Triplets(values, list(numbers) if given is None else given, kind, ReadReport(source))
