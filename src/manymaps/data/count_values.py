"""Checks and conversions for tables of numbers: counts, vectors and square matrices.

Numbers are checked in blocks, so that the check of a large table does not need a second copy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from scipy import sparse

from manymaps.checks import check_labels, first_cell, not_amount
from manymaps.compute.canonical import canonical_rows
from manymaps.data.tables import is_missing
from manymaps.errors import DataError
from manymaps.labels import first_of, numbered_labels, plural, shown

# 32 MiB of float64.
BLOCK_SIZE = 2**22
# An array of texts stores each text in the width of the longest. Above this number of bytes, the
# texts are encoded instead.
LARGEST_TEXT_ARRAY = 2**26


def checked_table(values: Any, source: str) -> np.ndarray | sparse.csr_array:
    """Check that values are a table of real numbers, without converting them.

    The table is dense (memory-mapped or not) or sparse.

    Raises
    ------
    DataError
        If the values are not a table of real numbers, or if the table is empty.
    """
    if not sparse.issparse(values):
        try:
            values = values if isinstance(values, np.memmap) else np.asarray(values)
        except ValueError as error:
            raise DataError(f"{source}: the rows have different lengths ({error})") from error
    if values.dtype.kind not in "buif":
        raise DataError(
            f"{source}: the values are of type {values.dtype}, not real numbers; convert or omit "
            "them"
        )
    if values.ndim != 2:
        raise DataError(
            f"{source}: the values have shape {values.shape}; expected a table, one row per object"
        )
    if 0 in values.shape:
        raise DataError(f"{source}: the table is empty; its shape is {values.shape}")
    return sparse.csr_array(values) if sparse.issparse(values) else values


def as_csr(values: Any, source: str) -> sparse.csr_array:
    """Convert a table to CSR of float64, copying it only if its type or layout differs."""
    table = checked_table(values, source)
    if sparse.issparse(table):
        return sparse.csr_array(table, dtype=np.float64)
    return sparse_rows(table)


def canonical(values: sparse.csr_array) -> sparse.csr_array:
    """Return a sorted table without duplicate entries or explicit zeros.

    The table is copied if it has to be changed, because other objects may refer to its arrays.
    """
    values = canonical_rows(values)
    if any(np.count_nonzero(block) < block.size for block in blocks(values.data)):
        values = values.copy()
        values.eliminate_zeros()
    return values


def reject_cells(
    values: np.ndarray | sparse.csr_array,
    is_wrong: Callable[[np.ndarray], np.ndarray],
    source: str,
    rule: str,
    labels: tuple[Sequence[str] | None, Sequence[str] | None] = (None, None),
    what: str = "value",
) -> None:
    """Raise an error that names the row, column and labels of the first invalid cell."""
    cell = first_cell(values, is_wrong)
    if cell is not None:
        row, column = (
            f"{k}" if names is None else f"{k} ({shown(str(names[k]))})"
            for k, names in zip(cell[:2], labels, strict=True)
        )
        raise DataError(
            f"{source}: the {what} in row {row}, column {column} is {cell.value:g}; {rule}"
        )


def reject_non_counts(
    values: sparse.csr_array,
    source: str,
    labels: tuple[Sequence[str] | None, Sequence[str] | None] = (None, None),
) -> None:
    """Reject negative, missing and infinite counts, and sums that overflow."""
    rule = "counts must be finite and not negative"
    reject_cells(values, not_amount, source, rule, labels, "count")
    with np.errstate(over="ignore"):
        total = sum(float(block.sum()) for block in blocks(values.data))
    if not np.isfinite(total):
        raise DataError(f"{source}: the sum of the counts is too large; divide them by a constant")


def checked_labels(labels: Any, n: int, kind: str, source: str) -> tuple[str, ...]:
    """Check that there is one unique label per object, or number the objects if labels are None."""
    if labels is None:
        return tuple(map(str, range(n)))
    names = tuple(map(str, labels))
    check_labels(names, n, kind, source=source, named=True)
    return names


def numbered(labels: Sequence[str], kind: str) -> tuple[list[str], tuple[str, ...]]:
    """Add numbers to repeated labels, and return the new labels with a note on their number.

    >>> numbered(["tie", "knot", "tie"], "row")
    (['tie', 'knot', 'tie (2)'], ("1 row with a repeated label got a number: 'tie (2)'",))
    """
    names, changed = numbered_labels(labels)
    if not changed:
        return names, ()
    count = plural(kind, len(changed))
    return names, (f"{count} with a repeated label got a number: {first_of(changed)}",)


def checked_metadata(metadata: Mapping[str, Any], n: int, side: str) -> dict[str, np.ndarray]:
    """Convert metadata columns to arrays with n values each."""
    columns = {str(name): metadata_array(values) for name, values in metadata.items()}
    for name, column in columns.items():
        if column.shape != (n,):
            raise DataError(
                f"the {side} metadata {name!r} have shape {column.shape} for {n:,} {side}s; "
                f"pass one value per {side}"
            )
    return columns


def blocks(values: np.ndarray) -> Iterator[np.ndarray]:
    """Yield successive parts of an array."""
    for start in range(0, values.size, BLOCK_SIZE):
        yield values[start : start + BLOCK_SIZE]


def smallest_type(values: np.ndarray, whole: bool) -> np.ndarray:
    """Convert whole numbers to the smallest type that can store them."""
    largest = float(values.max(initial=0))
    if not whole or largest >= 2**53:
        return values
    return values.astype(np.min_scalar_type(int(largest)))


def text_array(texts: Sequence[str]) -> np.ndarray:
    """Return an array of texts, or of zero-separated UTF-8 bytes if a text is very long."""
    if 4 * len(texts) * max(map(len, texts), default=0) <= LARGEST_TEXT_ARRAY:
        return np.array(texts, dtype=str)
    joined = "\0".join(texts).encode("utf-8", "surrogatepass")
    return np.frombuffer(joined, dtype=np.uint8)


def texts_of(array: np.ndarray) -> list[str]:
    """Return the texts of an array, which `text_array` may have encoded.

    Raises
    ------
    DataError
        If the encoded texts are not valid UTF-8.

    Examples
    --------
    >>> texts_of(np.array(["tie", "knot"])), texts_of(np.frombuffer(b"tie\\0knot", np.uint8))
    (['tie', 'knot'], ['tie', 'knot'])
    """
    try:
        if array.dtype == np.uint8:
            return array.tobytes().decode("utf-8", "surrogatepass").split("\0")
        if array.dtype.kind == "S":
            return [text.decode("utf-8") for text in array.ravel().tolist()]
    except UnicodeDecodeError as error:
        raise DataError(f"labels are not UTF-8 ({error}); encode them as UTF-8") from error
    return [str(text) for text in array.ravel().tolist()]


def sparse_rows(values: Any) -> sparse.csr_array:
    """Convert a dense table in memory or in a file to CSR, block by block.

    Parameters
    ----------
    values : array-like of shape (n_rows, n_columns)
        Array, memory-mapped file, HDF5 data set or another object that supports row slices.

    Examples
    --------
    >>> sparse_rows(np.array([[0, 2], [1, 0]])).toarray().tolist()
    [[0.0, 2.0], [1.0, 0.0]]
    """
    step = max(1, BLOCK_SIZE // max(1, values.shape[1]))
    parts = [
        sparse.csr_array(np.asarray(values[start : start + step], dtype=np.float64))
        for start in range(0, values.shape[0], step)
    ]
    return parts[0] if len(parts) == 1 else sparse.csr_array(sparse.vstack(parts, format="csr"))


def metadata_array(values: Any) -> np.ndarray:
    """Convert a metadata column to an array without Python objects, with "" for missing texts.

    >>> metadata_array(["a", None]), metadata_array(np.array([b"a"]))
    (array(['a', ''], dtype='<U1'), array(['a'], dtype='<U1'))
    """
    array = np.asarray(values)
    if array.dtype.kind == "S":
        return np.array([value.decode("utf-8", "replace") for value in array.tolist()], dtype=str)
    if array.dtype.kind in "biufUmM":
        return array
    cells = array.tolist()
    present = [cell for cell in cells if not is_missing(cell)]
    if present and all(isinstance(cell, int | float) for cell in present):
        return np.array([np.nan if is_missing(cell) else cell for cell in cells], dtype=float)
    return np.array(["" if is_missing(cell) else str(cell) for cell in cells])


def count_table(X: Any) -> sparse.csr_array:
    """Check a table of counts and convert it to CSR of float64.

    Parameters ---------- X : array or sparse array of shape (n_rows, n_columns), or an object with
    such `values` The counts.

    Raises
    ------
    DataError
        If X is not a table of numbers, or if a number is negative or non-finite.

    Examples
    --------
    >>> count_table([[0, 2], [1, 0]]).nnz
    2
    """
    table = canonical_rows(as_csr(getattr(X, "values", X), "the counts"))
    reject_non_counts(table, "the counts")
    return table
