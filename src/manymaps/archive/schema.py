"""What an archive holds, declared once: by this it is written, read and described.

    THING = Schema("thing", 1, "what it is", values={...}, arrays={...})
    THING.check(meta, arrays)

The shape of an array is written by names of dimensions; a name stands for the same length in the
whole archive, and may bound values:

    ArrayPart("iu", ("n_stored",), least=0, most="n_objects - 1", says="columns of the table")

A key that ends in "*" stands for all names that begin so. Names that no schema knows are of a
version that is older or younger, and are left out.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import NoneType
from typing import Any, TypeVar

import numpy as np

from manymaps.archive.arrays import Head

__all__ = ["ArrayPart", "Schema", "ValuePart"]

_MOST_INTEGER = 2**63 - 1
_DIMENSION = re.compile(r"(\w+?)(?: ([+-]) (\d+))?")
_KIND_NAMES = {
    "f": "float", "iu": "integer", "b": "boolean", "U": "text", "biuf": "number", "f4": "float32",
    "biufUmM": "number, text or time", "bf": "float or boolean", "S": "text", "Uu": "text",
}  # fmt: skip
_TYPE_NAMES = {
    str: "text", int: "integer", float: "number", bool: "boolean", list: "list",
    dict: "mapping", NoneType: "null",
}  # fmt: skip
_Part = TypeVar("_Part", "ArrayPart", "ValuePart")


@dataclass(frozen=True)
class ArrayPart:
    """What an array of an archive must be.

    Parameters
    ----------
    kinds : str
        Kinds of NumPy type that it may have (of "biufU"), or one type, such as "f4".
    shape : tuple of str or int
        Its dimensions: numbers, names, "name + 1", or "..." first for any further ones.
    says : str
        What it is, for the page of formats.
    least, most : float or str
        Between these lie all values; a text is a dimension, as in `shape`.
    finite : bool
        Whether infinity and NaN are refused.
    optional : bool
    """

    kinds: str
    shape: tuple[str | int, ...]
    says: str
    least: float | str = -math.inf
    most: float | str = math.inf
    finite: bool = True
    optional: bool = False

    @property
    def type_name(self) -> str:
        """How the page of formats calls its type."""
        return _KIND_NAMES.get(self.kinds, self.kinds)

    def check_head(self, name: str, head: Head, lengths: dict[str, int]) -> None:
        """Refuse an array of another type or shape; notes the lengths that it tells first."""
        kinds = self.kinds
        fits = head.dtype == np.dtype(kinds) if kinds[-1].isdigit() else head.dtype.kind in kinds
        if not fits:
            raise ValueError(
                f"the array {name!r} is of type {head.dtype}; expected {self.type_name} values"
            )
        shape, wanted = head.shape, self.shape
        if wanted[:1] == ("...",):
            wanted = wanted[1:]
            shape = shape[len(shape) - len(wanted) :] if len(shape) >= len(wanted) else shape
        for size, dimension in zip(shape, wanted, strict=False):
            _note_length(dimension, size, lengths)
        lengths_wanted = [_length(dimension, lengths) for dimension in wanted]
        if list(shape) != lengths_wanted:
            named = (
                d if isinstance(d, int) else f"{d} = {length:,.0f}"
                for d, length in zip(wanted, lengths_wanted, strict=True)
                if length == length
            )
            raise ValueError(
                f"the array {name!r} has shape {head.shape}; expected "
                f"({', '.join(map(str, named)) or 'one value'})"
            )

    def check_values(self, name: str, array: np.ndarray, lengths: Mapping[str, int]) -> None:
        """Refuse values that are not finite, or beyond the bounds."""
        if array.dtype.kind not in "iuf" or not array.size:
            return
        if array.dtype.kind == "f" and self.finite and not np.isfinite(array).all():
            raise ValueError(f"the array {name!r} contains a value that is not finite")
        least, most = (_length(bound, lengths) for bound in (self.least, self.most))
        if least == -math.inf and most == math.inf:
            return
        # As Python's numbers, because a bound may be beyond the array's own type.
        low, high = np.nanmin(array).item(), np.nanmax(array).item()
        if low < least or high > most:
            raise ValueError(
                f"the array {name!r} has values from {low} to {high}; expected {least} to {most}"
            )


@dataclass(frozen=True)
class ValuePart:
    """What a plain value of an archive must be.

    Parameters
    ----------
    types : tuple of type
        Of `str`, `int`, `float` (whole numbers too), `bool`, `list`, `dict`, `NoneType`.
    says : str
        What it is, for the page of formats.
    least : float
        The smallest number.
    each : ValuePart, optional
        What each element of a list or a mapping must be.
    length : str
        The dimension that the length of a list is.
    optional : bool
    """

    types: tuple[type, ...]
    says: str
    least: float = -math.inf
    each: ValuePart | None = None
    length: str = ""
    optional: bool = False

    @property
    def type_name(self) -> str:
        """How the page of formats calls its type."""
        names = [_TYPE_NAMES[kind] for kind in self.types]
        if self.each is not None:
            names[0] += f" of {self.each.type_name}"
        return " or ".join(names)

    def check(self, name: str, value: Any, lengths: dict[str, int]) -> None:
        """Refuse a value of another type, or out of range."""
        allowed = (*self.types, int) if float in self.types else self.types
        if type(value) not in allowed:
            raise ValueError(f"{name!r} is {value!r:.60}; expected type {self.type_name}")
        if isinstance(value, int) and abs(value) > _MOST_INTEGER:
            raise ValueError(f"{name!r} is {value!r:.60}, which is too large")
        if isinstance(value, int | float) and value < self.least:
            raise ValueError(f"{name!r} is {value!r}; expected at least {self.least}")
        if isinstance(value, list) and self.length:
            _note_length(self.length, len(value), lengths)
            if len(value) != _length(self.length, lengths):
                raise ValueError(f"{name!r} has {len(value):,} elements for {lengths}")
        if self.each is not None and isinstance(value, list | dict):
            elements = value.values() if isinstance(value, dict) else value
            if str in self.each.types and set(map(type, elements)) <= {str}:
                return  # texts have no range, and there may be millions
            for element in elements:
                self.each.check(f"an element of {name}", element, lengths)


@dataclass(frozen=True)
class Schema:
    """What an archive of one kind holds.

    Parameters
    ----------
    kind : str
        The "format" of its `meta.json`.
    version : int
        The one that is written; older ones are read.
    says : str
        What it is and who writes it, for the page of formats.
    values : mapping of str to ValuePart
        Plain values of `meta.json` beside "format" and "version".
    arrays : mapping of str to ArrayPart

    Examples
    --------
    >>> schema = Schema("thing", 1, "a thing", {"labels": ValuePart((list,), "", length="n")},
    ...                 {"x": ArrayPart("f", ("n",), "places")})
    >>> schema.check({"labels": ["a", "b"]}, {"x": np.zeros(2)})
    >>> schema.check({"labels": ["a", "b"]}, {"x": np.zeros(3)})
    Traceback (most recent call last):
        ...
    ValueError: the array 'x' has shape (3,); expected (n = 2)
    """

    kind: str
    version: int
    says: str
    values: Mapping[str, ValuePart] = field(default_factory=dict)
    arrays: Mapping[str, ArrayPart] = field(default_factory=dict)

    def check(self, meta: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> None:
        """Refuse values and arrays that are not as declared, by a ValueError that says which."""
        heads = {name: Head(array.shape, array.dtype) for name, array in arrays.items()}
        parts, lengths = self.check_heads(meta, heads)
        for name, part in parts.items():
            part.check_values(name, arrays[name], lengths)

    def check_heads(
        self, meta: Mapping[str, Any], heads: Mapping[str, Head]
    ) -> tuple[dict[str, ArrayPart], dict[str, int]]:
        """The same before any array is read: the arrays that are declared, and all lengths."""
        lengths: dict[str, int] = {}
        for name, value in self._declared(self.values, meta).items():
            value.check(name, meta[name], lengths)
        parts = self._declared(self.arrays, heads)
        for name, part in parts.items():
            part.check_head(name, heads[name], lengths)
        return parts, lengths

    @staticmethod
    def _declared(parts: Mapping[str, _Part], there: Mapping[str, Any]) -> dict[str, _Part]:
        """The parts of the names that are there, in the order in which they are declared."""
        found: dict[str, _Part] = {}
        for key, part in parts.items():
            if key.endswith("*"):
                found |= {name: part for name in there if name.startswith(key[:-1])}
            elif key in there:
                found[key] = part
            elif not part.optional:
                raise ValueError(f"{key!r} is missing")
        return found


def _parsed(dimension: str) -> tuple[str, int]:
    """The name in a dimension, and what is added to its length."""
    match = _DIMENSION.fullmatch(dimension)
    assert match is not None, dimension
    name, sign, more = match.groups()
    return name, int(f"{sign or ''}{more or 0}")


def _length(dimension: str | float, lengths: Mapping[str, int]) -> float:
    """The length that a dimension means; NaN, which equals nothing, if it is not known."""
    if not isinstance(dimension, str):
        return dimension
    name, more = _parsed(dimension)
    return lengths[name] + more if name in lengths else math.nan


def _note_length(dimension: str | int, size: int, lengths: dict[str, int]) -> None:
    """Take the length of a dimension that is named for the first time."""
    if isinstance(dimension, str):
        name, more = _parsed(dimension)
        lengths.setdefault(name, size - more)
