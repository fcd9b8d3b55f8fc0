"""Readers that convert files of triplets to `Triplets`.

    0 1 2            indices of objects from 0, the odd one last, as SPoSE and VICE publish them:
    0,1,3            text with blanks, tabs, commas or semicolons, with a header or without
    an array (n, 3)  NPY, or NPZ with one such array
    tie,knot,suit    labels of the objects in place of indices

A table of integers with shape (n, 3) could also contain vectors of three features, or numbered cues
and responses with counts. Unless a format is specified, a table is read as triplets only if it
meets four conditions. It has at least 100 rows, no row contains a number twice, all numbers up to
the largest occur, and at least half of the numbers occur in each column. In features, counts and
colours, numbers are repeated sooner (see `looks_like_triplets`).
"""

from __future__ import annotations

import io
import os
import re
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import numpy as np

from manymaps.archive.arrays import read_npy
from manymaps.archive.door import reader
from manymaps.checks import check_choice
from manymaps.data.associations import ReadReport
from manymaps.data.triplets import KINDS, Triplets
from manymaps.errors import DataError, ParameterError
from manymaps.io.columns import aliases, folded
from manymaps.io.files import array_heads, read_arrays, sampled
from manymaps.io.kinds import asked_format
from manymaps.io.matrices import read_labels
from manymaps.io.tables import (
    LabelCodes,
    Layout,
    Table,
    TextTable,
    is_number,
    known_number,
    read_text,
    table_passes,
)
from manymaps.labels import label_places, shown

TRIPLET_FORMATS = ("triplets", "npy", "npz", "csv", "tsv")
ODD = aliases("odd oddone oddoneout farther further negative third object3 item3 word3 k c")
_EXPECTED = "three objects on each line, the odd one last"
_LAYOUT = Layout(_EXPECTED, f"Expected {_EXPECTED}", lambda table: table.width == 3, is_spaced=bool)
# With fewer rows, three columns of numbers without repetition may well be other data.
_FEWEST_ROWS = 100


@reader("triplets")
def read_triplets(
    path: str | os.PathLike[str],
    *,
    kind: str | None = None,
    labels: Sequence[str] | str | os.PathLike[str] | None = None,
    format: str | None = None,
) -> Triplets:
    """Read participants' choices among three objects.

    Parameters
    ----------
    path : path
        NPY or NPZ file with an integer array of shape (n, 3), or text file (also gzipped) with
        three indices or labels on each line.
    kind : {"odd", "closer"}, optional
        Meaning of the order. With "odd", the default, the last object is the odd one out. With
        "closer", the first object is closer to the second than to the last.
    labels : path or sequence of str, optional
        Labels of the objects in the order of their indices, or a file with one label per line.
    format : str, optional
        One of "triplets", "npy", "npz", "csv" or "tsv". "triplets:closer" also sets `kind`. By
        default, the format is inferred from the content.

    Returns
    -------
    Triplets
        Triplets with the labels of the objects.

    Raises
    ------
    DataError
        If there are not three columns, if there are no triplets, or if a triplet contains an object
        twice. If an index is negative, is not an integer or has no label, or if a label is unknown.
        The message contains the line of a text or the row of an array (from 0).
    ParameterError
        If the kind or format is unknown.
    FileNotFoundError
        If the file does not exist.

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
        kinds = " or ".join(f"'triplets:{each}'" for each in KINDS)
        raise ParameterError(f"must be {kinds}", name="format", value=format)
    kind = kind or key or KINDS[0]
    check_choice("kind", kind, KINDS)
    sample = sampled(path)
    source = str(sample)
    object_labels = None if labels is None else read_labels(labels)
    stored = sample.container(_EXPECTED)
    if stored in ("npy", "npz"):
        return Triplets(_array(sample.path, stored), object_labels, kind, ReadReport(source))
    if stored is not None:
        raise DataError(
            f"{source} is a file of the format {stored}; expected {_EXPECTED}, or an array (n, 3)"
        )
    table = read_text(sample, _LAYOUT, format)
    if _header_of_numbers(table) is None:
        return _of_labels(table, object_labels, kind)
    try:
        return Triplets(_numbers(table), object_labels, kind, ReadReport(source))
    except DataError as error:
        # In an error message, the line of the file replaces the row of the array.
        row = re.match(rf"{re.escape(source)}, row (\d+)", str(error))
        if row is None:
            raise
        cells = table.read(range(3), header=bool(_header_of_numbers(table)))
        raise DataError(cells.where(int(row[1])) + str(error)[row.end() :]) from error


@reader("triplets")
def looks_like_triplets(path: str | os.PathLike[str], format: str | None = None) -> bool:
    """Return whether a file contains triplets of indices, by the conditions of this module.

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
    # If the file cannot be read, the reader that is selected later reports the error.
    with suppress(DataError):
        stored = sample.container(_EXPECTED)
        if stored in ("npy", "npz"):
            heads = list(array_heads(sample.path, stored).values())
            is_whole = len(heads) == 1 and heads[0].dtype.kind in "iu"
            is_table = is_whole and len(heads[0].shape) == 2 and heads[0].shape[1] == 3
            return is_table and _are_surely_triplets(_array(sample.path, stored))
    return table_passes(sample, _LAYOUT, None, _has_indices)


def _has_indices(table: Table) -> bool:
    if not isinstance(table, TextTable) or table.width != 3 or _header_of_numbers(table) is None:
        return False
    return _are_surely_triplets(_numbers(table))


def _are_surely_triplets(values: np.ndarray) -> bool:
    """Return whether rows of three integers are almost certainly triplets."""
    if len(values) < _FEWEST_ROWS or not (values == np.rint(values)).all():
        return False
    if values.min() < 0 or values.max() >= 3 * len(values):
        return False
    a, b, c = values.T
    if ((a == b) | (a == c) | (b == c)).any():
        return False
    n = int(values.max()) + 1
    occurs = np.array([np.bincount(x.astype(np.int64), minlength=n) > 0 for x in (a, b, c)])
    return bool(occurs.any(axis=0).all() and (2 * occurs.sum(axis=1) >= n).all())


def _array(file: Path, kind: str) -> np.ndarray:
    """Return the only array in a file that has three columns."""
    if kind == "npy":
        return np.asarray(read_npy(file))
    heads = array_heads(file, kind)
    tables = [name for name, head in heads.items() if len(head.shape) == 2 and head.shape[1] == 3]
    if len(tables) != 1:
        raise DataError(
            f"{file} contains {len(tables)} arrays of three columns among {len(heads)} arrays; "
            "save only the triplets, as an array (n, 3)"
        )
    return read_arrays(file, tables)[tables[0]]


def _header_of_numbers(table: TextTable) -> bool | None:
    """Return whether there is a header above rows of numbers; None if rows contain labels."""
    numeric = [all(map(is_number, row)) for row in table.head[:2]]
    return not numeric[0] if any(numeric) else None


def _numbers(table: TextTable) -> np.ndarray:
    """Read the numbers in a text table, shape (n, 3)."""
    _check_width(table)
    header = bool(_header_of_numbers(table))
    # loadtxt is fast but rejects numbers such as 1.0 and truncated rows, neither of which occurs in
    # published triplet files.
    with suppress(ValueError):
        return np.loadtxt(
            io.BytesIO(table.data),
            np.int64,
            comments=None,
            delimiter=None if table.delimiter == " " else table.delimiter,
            skiprows=table.first_line if header else 0,
            ndmin=2,
        )
    cells = table.read(range(3), header=header)
    values = np.column_stack(
        [np.array([known_number(x) for x in c.texts], float)[c.codes] for c in cells.columns]
    )
    bad = np.argwhere(~np.isfinite(values))
    if len(bad):
        k, c = bad[0]
        column = cells.columns[c]
        raise DataError(
            f"{cells.where(k)}: got {shown(column.texts[column.codes[k]])}; expected three indices "
            "of objects on each line"
        )
    # `Triplets` reports invalid numbers. Numbers beyond 2**53 would be cast to arbitrary values.
    is_whole = (np.abs(values) < 2**53) & (values == np.rint(values))
    return values.astype(np.int64) if is_whole.all() else values


def _check_width(table: TextTable) -> None:
    if table.width != 3:
        raise DataError(
            f"{table.source}, line {table.first_line}: got {table.width} columns "
            f"({shown(', '.join(table.head[0]))}); expected {_EXPECTED}"
        )


def _of_labels(table: TextTable, object_labels: Sequence[str] | None, kind: str) -> Triplets:
    """Convert triplets of labels, which are numbered by the user's list or by first appearance."""
    _check_width(table)
    title = table.head[0][2]
    cells = table.read(range(3), header=folded(title) in ODD and title not in (object_labels or ()))
    if not len(cells):
        raise DataError(f"{table.source} contains no triplet; expected {_EXPECTED}")
    cells.check_named()
    codes = LabelCodes()
    columns = [codes.of(column.texts, len(column.texts))[column.codes] for column in cells.columns]
    a, b, c = columns
    repeated = np.flatnonzero((a == b) | (a == c) | (b == c))
    if repeated.size:
        k = int(repeated[0])
        raise DataError(
            f"{cells.where(k)}: duplicate object in the triplet {cells.labels(k)}; a triplet "
            "contains three different objects"
        )
    values = np.column_stack(columns)
    labels = list(codes)
    if object_labels is None:
        order = np.argsort(np.unique(values, return_index=True)[1])
        index, object_labels = np.argsort(order), [labels[code] for code in order.tolist()]
    else:
        index = np.array(label_places(labels, object_labels))
        unknown = np.argwhere(index[values] < 0)
        if len(unknown):
            k, column = unknown[0]
            raise DataError(
                f"{cells.where(k)}: {shown(labels[values[k, column]])} is not one of the "
                f"{len(object_labels):,} labels"
            )
    return Triplets(index[values], object_labels, kind, ReadReport(table.source))
