"""Documents: texts with a label and what is said about them, and what a pass over many collects."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from manymaps.errors import DataError, setting
from manymaps.labels import listed

__all__ = ["FALLBACK", "Document", "MetadataColumns", "ReadingLog", "Scalar"]
__all__ += ["storable"]

FALLBACK = "latin-1"
# A longer value is a text, and no metadata; a table of labels has the width of the longest one.
LONGEST_VALUE = 200
MOST_MISSING = 20_000_000

Scalar = str | int | float | bool | None


@dataclass(frozen=True)
class Document:
    """One text.

    Attributes
    ----------
    label : str
        Its name; that of its place (counted from 0) where the source gives none.
    text : str
    metadata : mapping of str to str, int, float, bool or None
        What the source says about it besides.
    """

    label: str
    text: str
    metadata: Mapping[str, Scalar] = field(default_factory=dict)


@dataclass
class ReadingLog:
    """What a pass leaves out or reads otherwise than expected, with the first place of each."""

    dropped: Counter[str] = field(default_factory=Counter)
    recoded: int = 0
    without_text: int = 0
    nested: dict[str, None] = field(default_factory=dict)
    first: dict[str, str] = field(default_factory=dict)

    def drop(self, reason: str, where: object) -> None:
        self.dropped[reason] += 1
        self.first.setdefault(reason, str(where))

    def recode(self, where: str) -> None:
        self.recoded += 1
        self.first.setdefault("recoded", where)

    def left_out(self) -> str:
        return "; ".join(
            f"{count:,} {reason} ({self.first[reason]}{', ...' if count > 1 else ''})"
            for reason, count in self.dropped.items()
        )

    def notes(self) -> tuple[str, ...]:
        found = []
        if self.dropped:
            found.append(f"left out: {self.left_out()}")
        if self.recoded:
            found.append(
                f"not UTF-8 and read as {FALLBACK}: {self.recoded:,} (first {self.first['recoded']}"
                f"); name {setting('encoding')} where they are in another"
            )
        if self.without_text:
            found.append(f"documents without a text, read as empty: {self.without_text:,}")
        if self.nested:
            found.append(f"fields that are no single value, left out: {listed(list(self.nested))}")
        return tuple(found)


class MetadataColumns:
    """Columns of what is said about the documents; a value may be missing anywhere."""

    def __init__(self) -> None:
        self._columns: dict[str, list[Any]] = {}
        self._known: dict[str, str] = {}
        self._long: dict[str, None] = {}
        self._n_missing = 0

    def add(self, place: int, values: Mapping[str, Any]) -> None:
        for name, value in values.items():
            if isinstance(value, np.generic):
                value = value.item()
            if isinstance(value, str):
                if len(value) > LONGEST_VALUE:
                    self._long[name] = None
                    self._columns.pop(name, None)
                # Groups repeat: one copy of each is enough.
                value = self._known.setdefault(value, value)
            if name in self._long:
                continue
            column = self._columns.setdefault(name, [])
            self._fill(column, place)
            column.append(value)

    def _fill(self, column: list[Any], place: int) -> None:
        """Bring a column to the length of the others; what is missing takes room as well."""
        self._n_missing += place - len(column)
        if self._n_missing > MOST_MISSING:
            raise DataError(
                f"the {len(self._columns):,} fields of the documents are missing in most of them, "
                f"in more than {MOST_MISSING:,} places; take out the rare fields"
            )
        column.extend([None] * (place - len(column)))

    def arrays(self, n: int) -> dict[str, np.ndarray]:
        for column in self._columns.values():
            self._fill(column, n)
        return {name: _as_array(column) for name, column in self._columns.items()}

    def notes(self) -> tuple[str, ...]:
        if not self._long:
            return ()
        return (
            f"fields with values of more than {LONGEST_VALUE} characters are no metadata: "
            f"{listed(list(self._long))}",
        )


def _as_array(values: Sequence[Any]) -> np.ndarray:
    """Values as numbers where all that are there are numbers, and otherwise as text."""
    kinds = {type(value) for value in values}
    if kinds == {bool}:
        return np.array(values)
    # A whole number that its type cannot hold exactly is a name written in digits.
    whole = 2**63 if kinds == {int} else 2**53
    numeric = kinds <= {int, float, type(None)} and kinds != {type(None)}
    if numeric and all(abs(value) < whole for value in values if isinstance(value, int)):
        dtype = np.int64 if kinds == {int} else np.float64
        return np.array([np.nan if value is None else value for value in values], dtype)
    return np.array(["" if value is None else str(value) for value in values])


def storable(name: str) -> str:
    """A name without lone surrogates, which no file in UTF-8 can hold."""
    if name.isascii():
        return name
    return name.encode("utf-8", "surrogatepass").decode("utf-8", "replace")
