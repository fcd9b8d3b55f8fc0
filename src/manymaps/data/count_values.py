"""What a table of counts must be: sparse, finite, not negative, with a label for each object.

Numbers are looked at in blocks, so that a check of millions needs no second copy of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from scipy import sparse

from manymaps.checks import check_labels, first_cell, not_amount
from manymaps.compute.canonical import canonical_rows
from manymaps.errors import DataError

__all__ = [
    "as_csr", "blocks", "canonical", "checked_labels", "checked_metadata", "count_table",
    "metadata_array", "refuse_not_counts", "smallest_type", "sparse_rows", "text_array", "texts_of",
]  # fmt: skip

# 32 MiB of float64.
BLOCK_SIZE = 2**22
# An array of texts gives each the room of the longest; beyond this many bytes that is a waste.
LARGEST_TEXT_ARRAY = 2**26


def as_csr(values: Any, source: str) -> sparse.csr_array:
    """A table of float64 in CSR, copied only where its type or layout is another."""
    if not sparse.issparse(values):
        try:
            values = np.asarray(values)
        except ValueError as error:
            raise DataError(f"{source}: the rows have different lengths ({error})") from error
    if values.dtype.kind not in "buif":
        raise DataError(f"{source}: the values are of type {values.dtype}; counts are real numbers")
    if values.ndim != 2:
        raise DataError(
            f"{source}: the values have the shape {values.shape}; counts need a table, one row and "
            "one column per object"
        )
    if 0 in values.shape:
        raise DataError(
            f"{source}: the table is empty, {values.shape[0]:,} rows by {values.shape[1]:,} columns"
        )
    if sparse.issparse(values):
        return sparse.csr_array(values, dtype=np.float64)
    return sparse_rows(values)


def canonical(values: sparse.csr_array) -> sparse.csr_array:
    """The table with each pair once, in order, and no explicit zeros; copied where that changes it.

    The arrays of an array that somebody else holds must not be sorted under their hands.
    """
    values = canonical_rows(values)
    if any(np.count_nonzero(block) < block.size for block in blocks(values.data)):
        values = values.copy()
        values.eliminate_zeros()
    return values


def refuse_not_counts(
    values: sparse.csr_array, rows: Sequence[str], columns: Sequence[str], source: str
) -> None:
    """Refuse negative, missing and infinite counts, and sums beyond the range of numbers."""
    cell = first_cell(values, not_amount)
    if cell is not None:
        i, j, value = cell
        raise DataError(
            f"{source}: the count in row {i} ({rows[i][:60]!r}), column {j} "
            f"({columns[j][:60]!r}) is {value:g}; counts must be finite and not negative"
        )
    with np.errstate(over="ignore"):
        total = sum(float(block.sum()) for block in blocks(values.data))
    if not np.isfinite(total):
        raise DataError(
            f"{source}: the counts are too large to be added; divide them by a constant"
        )


def checked_labels(labels: Any, n: int, kind: str, source: str) -> tuple[str, ...]:
    """One label per object of a kind, all different; their numbers where none are given."""
    if labels is None:
        return tuple(map(str, range(n)))
    names = tuple(map(str, labels))
    check_labels(names, n, kind, source=source, named=True)
    return names


def checked_metadata(metadata: Mapping[str, Any], n: int, side: str) -> dict[str, np.ndarray]:
    """Columns of metadata as arrays of n values each."""
    checked = {}
    for name, values in metadata.items():
        array = metadata_array(values)
        if array.shape != (n,):
            raise DataError(
                f"the {side} metadata {name!r} have the shape {array.shape} for {n:,} {side}s; "
                f"give one value per {side}"
            )
        checked[str(name)] = array
    return checked


def blocks(values: np.ndarray) -> Iterator[np.ndarray]:
    """Stretches of an array, one after the other."""
    for start in range(0, values.size, BLOCK_SIZE):
        yield values[start : start + BLOCK_SIZE]


def smallest_type(values: np.ndarray, whole: bool) -> np.ndarray:
    """Whole numbers in the smallest type that holds them."""
    largest = float(values.max(initial=0))
    if not whole or largest >= 2**53:
        return values
    return values.astype(np.min_scalar_type(int(largest)))


def text_array(texts: Sequence[str]) -> np.ndarray:
    """Texts as an array of texts; as UTF-8 with zeros between them where one is very long."""
    if 4 * len(texts) * max(map(len, texts), default=0) <= LARGEST_TEXT_ARRAY:
        return np.array(texts, dtype=str)
    joined = "\0".join(texts).encode("utf-8", "surrogatepass")
    return np.frombuffer(joined, dtype=np.uint8)


def texts_of(array: np.ndarray) -> list[str]:
    """The texts of an array of texts, or of what `Counts.save` made of long ones.

    Raises
    ------
    DataError
        Where they are not UTF-8.

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
        raise DataError(f"labels are not UTF-8 ({error})") from error
    return [str(text) for text in array.ravel().tolist()]


def sparse_rows(values: Any) -> sparse.csr_array:
    """A dense table, in memory or in a file, as CSR, block by block.

    Parameters
    ----------
    values : array-like of shape (n_rows, n_columns)
        An array, a memory-mapped file or an HDF5 data set: whatever gives rows by slices.

    Examples
    --------
    >>> sparse_rows(np.array([[0, 2], [1, 0]])).toarray().tolist()
    [[0.0, 2.0], [1.0, 0.0]]
    """
    step = max(1, BLOCK_SIZE // max(1, values.shape[1]))
    blocks = [
        sparse.csr_array(np.asarray(values[start : start + step], dtype=np.float64))
        for start in range(0, values.shape[0], step)
    ]
    if len(blocks) == 1:
        return blocks[0]
    return sparse.csr_array(sparse.vstack(blocks, format="csr"))


def metadata_array(values: Any) -> np.ndarray:
    """A column of metadata as an array without Python objects; what is missing in text is "".

    >>> metadata_array(["a", None]), metadata_array(np.array([b"a"]))
    (array(['a', ''], dtype='<U1'), array(['a'], dtype='<U1'))
    """
    array = np.asarray(values)
    if array.dtype.kind == "S":
        return np.array([value.decode("utf-8", "replace") for value in array.tolist()], dtype=str)
    if array.dtype.kind in "biufUmM":
        return array
    cells = array.tolist()
    there = [cell for cell in cells if cell is not None and cell == cell]
    if there and all(isinstance(cell, int | float) for cell in there):
        return np.array([np.nan if cell is None else cell for cell in cells], dtype=float)
    return np.array(["" if cell is None or cell != cell else str(cell) for cell in cells])


def count_table(X: Any) -> sparse.csr_array:
    """A checked sparse table of counts, in float64.

    Parameters
    ----------
    X : array or sparse array of shape (n_rows, n_columns), or what carries such as `values`

    Raises
    ------
    DataError
        For what is no table of numbers, or has a negative or non-finite entry.

    Examples
    --------
    >>> count_table([[0, 2], [1, 0]]).nnz
    2
    """
    X = getattr(X, "values", X)
    if not sparse.issparse(X):
        X = np.asarray(X)
    if X.dtype.kind not in "biuf":
        raise DataError(f"counts must be numbers, not {X.dtype}")
    if X.ndim != 2:
        raise DataError(f"the counts have shape {X.shape}; they must be a table of two dimensions")
    if 0 in X.shape:
        raise DataError(f"there are no counts in a table of shape {X.shape}")
    table = canonical_rows(sparse.csr_array(X, dtype=np.float64))
    cell = first_cell(table, not_amount)
    if cell is not None:
        raise DataError(
            f"row {cell.row}, column {cell.column} of the counts is {cell.value}; counts must be "
            "finite and not negative"
        )
    return table
