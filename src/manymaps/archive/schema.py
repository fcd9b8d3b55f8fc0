"""Declarations that determine how archives are written, read and documented.

    THING = Schema("thing", 1, "its purpose", values={...}, arrays={...})
    THING.check(meta, arrays)

The shape of an array consists of names of dimensions. A name represents the same length in the
whole archive, and can also be used as a bound of values:

    ArrayPart("iu", ("n_stored",), "columns of the table", least=0, most="n_objects - 1")

A key that ends in "*" represents all names with this prefix. Names that are not declared come from
an older or newer version and are ignored.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np

_MOST_INTEGER = 2**63 - 1
_Part = TypeVar("_Part", "ArrayPart", "ValuePart")


class _Lengths(dict[str, int]):
    """Lengths of dimensions by their names."""

    def of(self, dimension: str | float, size: int | None = None) -> float:
        """Return the length of a dimension such as "n + 1"; its first size defines it."""
        if not isinstance(dimension, str):
            return dimension
        name, _, sign_and_number = dimension.partition(" ")
        more = int(sign_and_number.replace(" ", "") or 0)
        if size is not None:
            self.setdefault(name, size - more)
        return self[name] + more if name in self else math.nan


@dataclass(frozen=True)
class ArrayPart:
    """Declaration of an array in an archive.

    Parameters
    ----------
    kinds : str
        Allowed NumPy type kinds (from "biufU"), or a single type such as "f4".
    shape : tuple of str or int
        Dimensions, which may be numbers, names or "name + 1", or only "..." for any shape.
    says : str
        Description on the documentation page of formats.
    least, most : float or str
        Bounds of all values. A text is a dimension, as in `shape`.
    finite : bool
        Whether infinity and NaN are rejected.
    optional : bool
        Whether the part may be missing in an archive.
    """

    kinds: str
    shape: tuple[str | int, ...]
    says: str
    least: float | str = -math.inf
    most: float | str = math.inf
    finite: bool = True
    optional: bool = False

    def check_shape(self, name: str, array: np.ndarray, lengths: _Lengths) -> None:
        """Reject an array with the wrong type or shape."""
        kinds, shape = self.kinds, array.shape
        same = array.dtype == np.dtype(kinds) if kinds[-1].isdigit() else array.dtype.kind in kinds
        if not same:
            raise ValueError(
                f"the array {name!r} is of type {array.dtype}; expected a type of {self.kinds!r}"
            )
        if self.shape == ("...",):
            return
        sizes = [*shape, *[None] * (len(self.shape) - len(shape))]
        expected = [lengths.of(d, size) for d, size in zip(self.shape, sizes, strict=False)]
        if list(shape) != expected:
            known = ", ".join(f"{name} = {length:,}" for name, length in lengths.items())
            raise ValueError(
                f"the array {name!r} has shape {array.shape}; expected "
                f"({', '.join(map(str, self.shape))})" + (f" with {known}" if known else "")
            )

    def check_values(self, name: str, array: np.ndarray, lengths: _Lengths) -> None:
        """Reject values that are out of range or non-finite."""
        if array.dtype.kind not in "iuf" or not array.size:
            return
        if array.dtype.kind == "f" and self.finite and not np.isfinite(array).all():
            raise ValueError(f"the array {name!r} contains a value that is not finite")
        least, most = lengths.of(self.least), lengths.of(self.most)
        if least == -math.inf and most == math.inf:
            return
        # Python numbers are compared, because a bound may exceed the range of the array's type.
        low, high = np.nanmin(array).item(), np.nanmax(array).item()
        if low < least or high > most:
            raise ValueError(
                f"the array {name!r} has values from {low} to {high}; expected {least} to {most}"
            )


@dataclass(frozen=True)
class ValuePart:
    """Declaration of a plain value in an archive.

    Parameters
    ----------
    types : tuple of type
        Allowed types from `str`, `int`, `float` (also for integers), `bool`, `list`, `dict`,
        `NoneType`.
    says : str
        Description on the documentation page of formats.
    least : float
        Minimum of a number.
    each : ValuePart, optional
        Declaration of each element of a list or a mapping.
    length : str
        Name of the dimension that is the length of a list.
    optional : bool
        Whether the part may be missing in an archive.
    """

    types: tuple[type, ...]
    says: str
    least: float = -math.inf
    each: ValuePart | None = None
    length: str = ""
    optional: bool = False

    def check(self, name: str, value: Any, lengths: _Lengths) -> None:
        """Reject a value with the wrong type or out of range."""
        allowed = (*self.types, int) if float in self.types else self.types
        if type(value) not in allowed:
            types = " or ".join(kind.__name__ for kind in self.types)
            raise ValueError(f"{name!r} is {value!r:.60}; expected type {types}")
        if isinstance(value, int) and abs(value) > _MOST_INTEGER:
            raise ValueError(f"{name!r} is {value!r:.60}, which is too large")
        if isinstance(value, int | float) and value < self.least:
            raise ValueError(f"{name!r} is {value!r}; expected at least {self.least}")
        is_counted = self.length and isinstance(value, list)
        if is_counted and len(value) != lengths.of(self.length, len(value)):
            raise ValueError(f"{name!r} has {len(value):,} elements for {lengths}")
        elements = value.values() if isinstance(value, dict) else value or ()
        # Texts do not have a range, and there may be millions of texts.
        if self.each is None or (str in self.each.types and set(map(type, elements)) <= {str}):
            return
        for element in elements:
            self.each.check(f"an element of {name}", element, lengths)


@dataclass(frozen=True)
class Schema:
    """Declaration of the archives of one kind.

    Parameters
    ----------
    kind : str
        Value of "format" in `meta.json`.
    version : int
        Version that is written. Older versions can be read.
    says : str
        Purpose and writer of the archive, for the documentation page of formats.
    values : mapping of str to ValuePart
        Plain values of `meta.json` in addition to "format" and "version".
    arrays : mapping of str to ArrayPart
        Arrays by name.

    Examples
    --------
    >>> schema = Schema("thing", 1, "a thing", {"labels": ValuePart((list,), "", length="n")},
    ...                 {"x": ArrayPart("f", ("n",), "positions")})
    >>> schema.check({"labels": ["a", "b"]}, {"x": np.zeros(2)})
    >>> schema.check({"labels": ["a", "b"]}, {"x": np.zeros(3)})
    Traceback (most recent call last):
        ...
    ValueError: the array 'x' has shape (3,); expected (n) with n = 2
    """

    kind: str
    version: int
    says: str
    values: Mapping[str, ValuePart] = field(default_factory=dict)
    arrays: Mapping[str, ArrayPart] = field(default_factory=dict)

    def check(self, meta: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> None:
        """Raise a ValueError if values or arrays do not match the declaration."""
        lengths = _Lengths()
        for name, value in self.declared(self.values, meta).items():
            value.check(name, meta[name], lengths)
        parts = self.declared(self.arrays, arrays)
        for name, part in parts.items():
            part.check_shape(name, arrays[name], lengths)
        # A bound may be the length of an array that is declared later.
        for name, part in parts.items():
            part.check_values(name, arrays[name], lengths)

    @staticmethod
    def declared(parts: Mapping[str, _Part], present: Mapping[str, Any]) -> dict[str, _Part]:
        """Return the declarations of the names that are present, in the order of the schema."""
        declarations: dict[str, _Part] = {}
        for key, part in parts.items():
            if key.endswith("*"):
                declarations |= {name: part for name in present if name.startswith(key[:-1])}
            elif key in present:
                declarations[key] = part
            elif not part.optional:
                raise ValueError(f"{key!r} is missing")
        return declarations
