"""What a table of counts must be: sparse, finite, not negative, with a label for each object.

Numbers are looked at in blocks, so that a check of millions needs no second copy of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from scipy import sparse

from manymaps.errors import DataError
from manymaps.io.count_entries import metadata_array, repeated_label, sparse_rows

__all__ = [
    "as_csr",
    "blocks",
    "canonical",
    "checked_labels",
    "checked_metadata",
    "plural",
    "refuse_not_counts",
    "smallest_type",
    "text_array",
    "texts_of",
]

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
    if not values.has_canonical_format:
        values = values.copy()
        values.sum_duplicates()
    if any(np.count_nonzero(block) < block.size for block in blocks(values.data)):
        values = values.copy()
        values.eliminate_zeros()
    return values


def refuse_not_counts(
    values: sparse.csr_array, rows: Sequence[str], columns: Sequence[str], source: str
) -> None:
    """Refuse negative, missing and infinite counts, and sums beyond the range of numbers."""
    total = 0.0
    for start in range(0, values.data.size, BLOCK_SIZE):
        block = values.data[start : start + BLOCK_SIZE]
        bad = np.flatnonzero(~(np.isfinite(block) & (block >= 0)))
        if bad.size:
            at = start + int(bad[0])
            i = int(np.searchsorted(values.indptr, at, side="right")) - 1
            j = int(values.indices[at])
            raise DataError(
                f"{source}: the count in row {i} ({rows[i][:60]!r}), column {j} "
                f"({columns[j][:60]!r}) is {values.data[at]:g}; counts must be finite numbers of "
                "at least 0"
            )
        with np.errstate(over="ignore"):
            total += float(block.sum())
    if not np.isfinite(total):
        raise DataError(
            f"{source}: the counts are too large to be added; divide them by a constant"
        )


def checked_labels(labels: Any, n: int, kind: str, source: str) -> tuple[str, ...]:
    """One label per object of a kind, all different; their numbers where none are given."""
    if labels is None:
        return tuple(map(str, range(n)))
    names = tuple(map(str, labels))
    if len(names) != n:
        raise DataError(
            f"{source}: there are {len(names):,} labels for {plural(kind, n)}; give one label for "
            "each"
        )
    faulty = next((i for i, name in enumerate(names) if not name or "\0" in name), None)
    if faulty is not None:
        what = "holds a zero character" if names[faulty] else "is empty"
        raise DataError(f"{source}: the label of {kind} {faulty} {what}; give it a name")
    repeated = repeated_label(names)
    if repeated is not None:
        label, first, second = repeated
        raise DataError(
            f"{source}: the label {label[:60]!r} stands twice, for {kind} {first} and {kind} "
            f"{second}; labels must differ within a kind"
        )
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


def plural(kind: str, n: int | None = None) -> str:
    """The name of several objects of a kind, with their number where it is given.

    >>> plural("word", 1200), plural("species"), plural("site", 1), plural("country")
    ('1,200 words', 'species', '1 site', 'countries')
    """
    name = kind
    if n != 1 and not kind.endswith("s"):
        ending = "ies" if kind.endswith("y") and kind[-2:-1] not in "aeiou" else None
        name = kind[:-1] + ending if ending else kind + "s"
    return name if n is None else f"{n:,} {name}"


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
