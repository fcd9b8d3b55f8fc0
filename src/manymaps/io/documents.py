"""Documents (texts with labels and metadata), and a log of problems while reading them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from manymaps.errors import setting
from manymaps.labels import listed

FALLBACK = "latin-1"
# Longer values are texts and not metadata, because an array of labels has the width of its longest
# element.
LONGEST_VALUE = 200

Scalar = str | int | float | bool | None


@dataclass(frozen=True)
class Document:
    """Text with a label and metadata.

    Attributes
    ----------
    label : str
        Name of the document, or its index in a source without names.
    text : str
        Text of the document.
    metadata : mapping of str to str, int, float, bool or None
        Additional values from the source.
    """

    label: str
    text: str
    metadata: Mapping[str, Scalar] = field(default_factory=dict)


@dataclass
class ReadingLog:
    """Log of the omitted and recoded parts of a source, with the first example for each reason.

    Attributes
    ----------
    dropped : Counter of str
        Number of omitted parts by reason.
    recoded : int
        Number of files that are not encoded in UTF-8.
    without_text : int
        Number of documents without a text.
    nested : dict of str to None
        Names of fields that contain lists or objects.
    first : dict of str to str
        First file or line for each reason.
    """

    dropped: Counter[str] = field(default_factory=Counter)
    recoded: int = 0
    without_text: int = 0
    nested: dict[str, None] = field(default_factory=dict)
    first: dict[str, str] = field(default_factory=dict)

    def drop(self, reason: str, where: object) -> None:
        """Count an omitted part."""
        self.dropped[reason] += 1
        self.first.setdefault(reason, str(where))

    def recode(self, where: str) -> None:
        """Count a file that is not encoded in UTF-8."""
        self.recoded += 1
        self.first.setdefault("recoded", where)

    def left_out(self) -> str:
        """List the omitted parts for an error message."""
        return "; ".join(
            f"{count:,} {reason} ({self.first[reason]}{', ...' if count > 1 else ''})"
            for reason, count in self.dropped.items()
        )

    def notes(self) -> tuple[str, ...]:
        """Return notes for the report."""
        notes = []
        if self.dropped:
            notes.append(f"left out: {self.left_out()}")
        if self.recoded:
            notes.append(
                f"not UTF-8 and read as {FALLBACK}: {self.recoded:,} (first {self.first['recoded']}"
                f"); use {setting('encoding')} if they have another encoding"
            )
        if self.without_text:
            notes.append(f"documents without a text, read as empty: {self.without_text:,}")
        if self.nested:
            notes.append(f"fields with lists or objects, left out: {listed(list(self.nested))}")
        return tuple(notes)


class MetadataColumns:
    """Columns of the documents' metadata, in which any value may be missing."""

    def __init__(self) -> None:
        self._columns: dict[str, list[Any]] = {}
        self._texts: dict[str, str] = {}
        self._long: dict[str, None] = {}

    def add(self, index: int, values: Mapping[str, Any]) -> None:
        """Add the metadata of the document with this index."""
        for name, value in values.items():
            if isinstance(value, np.generic):
                value = value.item()
            if isinstance(value, str):
                if len(value) > LONGEST_VALUE:
                    self._long[name] = None
                    self._columns.pop(name, None)
                # Group names are repeated, and one copy of each is sufficient.
                value = self._texts.setdefault(value, value)
            if name not in self._long:
                self._filled(name, index).append(value)

    def _filled(self, name: str, length: int) -> list[Any]:
        """Return a column, padded with missing values to a length."""
        column = self._columns.setdefault(name, [])
        column.extend([None] * (length - len(column)))
        return column

    def arrays(self, n: int) -> dict[str, np.ndarray]:
        """Return the columns for n documents as arrays."""
        return {name: _as_array(self._filled(name, n)) for name in self._columns}

    def notes(self) -> tuple[str, ...]:
        """Return notes for the report."""
        if not self._long:
            return ()
        return (
            f"fields with values of more than {LONGEST_VALUE} characters are not metadata: "
            f"{listed(list(self._long))}",
        )


def _as_array(values: Sequence[Any]) -> np.ndarray:
    """Convert values to numbers if all values that are not missing are numbers, else to texts."""
    kinds = {type(value) for value in values}
    if kinds == {bool}:
        return np.array(values)
    # Integers that the type cannot represent exactly are treated as identifiers.
    largest = 2**63 if kinds == {int} else 2**53
    numeric = kinds <= {int, float, type(None)} and kinds != {type(None)}
    if numeric and all(abs(value) < largest for value in values if isinstance(value, int)):
        dtype = np.int64 if kinds == {int} else np.float64
        return np.array([np.nan if value is None else value for value in values], dtype)
    return np.array(["" if value is None else str(value) for value in values])


def storable(name: str) -> str:
    """Replace lone surrogates in a name, which cannot be encoded in UTF-8."""
    if name.isascii():
        return name
    return name.encode("utf-8", "surrogatepass").decode("utf-8", "replace")
