"""Conditions on the columns of a table, as people write them: `age < 30 and gender == Fe`.

    condition    conjunction ("or" conjunction)*
    conjunction  negation ("and" negation)*
    negation     "not" negation | "(" condition ")" | comparison
    comparison   column OP value | value OP column [OP value]
                 column ["not"] "in" "[" value ("," value)* "]"
    OP           < <= > >= == = !=

A column is a word, or stands in `backticks` or quotation marks; a value is a number, a word, or a
text in quotation marks, and texts are compared in any case. Nothing is ever evaluated as code.

An unknown cell (NaN, or an empty text) makes a comparison unknown, and what is unknown goes through
"and", "or" and "not" as in Kleene's logic: it holds for nobody, and neither does its opposite.
"""

from __future__ import annotations

import difflib
import math
import operator
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, NoReturn

import numpy as np

from manymaps.errors import ParameterError
from manymaps.labels import fold, listed

__all__ = ["Condition", "Verdict", "column_named", "parse_condition", "unknown_cells"]

Columns = Mapping[str, np.ndarray]

_COMPARE: dict[str, Callable[[Any, Any], Any]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}
_OPPOSITE = {"<": ">=", ">=": "<", ">": "<=", "<=": ">", "==": "!=", "!=": "=="}
_MIRRORED = {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "==": "==", "!=": "!="}
_TOKEN = re.compile(
    r"""\s*(?:
    (?P<number>[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?(?![\w.]))
    | (?P<quoted>`[^`]*`|"[^"]*"|'[^']*')
    | (?P<word>[^\W\d][\w.]*)
    | (?P<mark><=|>=|==|!=|<|>|=|\(|\)|\[|\]|,)
    )""",
    re.VERBOSE,
)
_WORDS = ("and", "or", "not", "in")
# Far from the depth at which Python gives up, and from what a person would write.
_DEEPEST = 100
_EXAMPLE = 'write conditions such as age < 30 and country in [Australia, "New Zealand"]'


class Verdict(NamedTuple):
    """Of which rows a condition holds, and of which that is not known; shape (n,) each."""

    holds: np.ndarray
    unknown: np.ndarray


class Condition(ABC):
    """What can be asked of each row of a table."""

    @abstractmethod
    def verdict(self, columns: Columns) -> Verdict:
        """Of which rows it holds."""

    @abstractmethod
    def __str__(self) -> str:
        """The condition as a person would write it."""

    @abstractmethod
    def opposite(self) -> str:
        """What holds where this does not, written likewise."""


@dataclass(frozen=True)
class _Value:
    """A number or a text, and how it was written."""

    written: str
    number: float | None

    def __str__(self) -> str:
        plain = self.number is not None or re.fullmatch(r"[^\W\d][\w.]*", self.written)
        return self.written if plain else f'"{self.written}"'


@dataclass(frozen=True)
class _Comparison(Condition):
    """A column beside one value."""

    column: str
    sign: str
    value: _Value
    fail: Callable[[str], NoReturn]

    def verdict(self, columns: Columns) -> Verdict:
        cells = columns[self.column]
        unknown = unknown_cells(cells)
        if cells.dtype.kind == "f":
            holds = _COMPARE[self.sign](cells, _number(self.value, self.column, self.fail))
        elif self.sign in ("==", "!="):
            holds = _among(cells, [self.value]) == (self.sign == "==")
        else:
            self.fail(
                f"compares the column {self.column!r} by {self.sign}, and it holds texts "
                f"({listed(_examples(cells), 5)}); texts go with == and in"
            )
        return Verdict(holds & ~unknown, unknown)

    def __str__(self) -> str:
        return f"{_shown(self.column)} {self.sign} {self.value}"

    def opposite(self) -> str:
        return str(replace(self, sign=_OPPOSITE[self.sign]))


@dataclass(frozen=True)
class _Membership(Condition):
    """A column beside several values, one of which it must be (or none)."""

    column: str
    values: tuple[_Value, ...]
    inside: bool
    fail: Callable[[str], NoReturn]

    def verdict(self, columns: Columns) -> Verdict:
        cells = columns[self.column]
        unknown = unknown_cells(cells)
        if cells.dtype.kind == "f":
            found = np.isin(cells, [_number(v, self.column, self.fail) for v in self.values])
        else:
            found = _among(cells, self.values)
        return Verdict((found == self.inside) & ~unknown, unknown)

    def __str__(self) -> str:
        word = "in" if self.inside else "not in"
        return f"{_shown(self.column)} {word} [{', '.join(map(str, self.values))}]"

    def opposite(self) -> str:
        return str(replace(self, inside=not self.inside))


@dataclass(frozen=True)
class _Not(Condition):
    part: Condition

    def verdict(self, columns: Columns) -> Verdict:
        holds, unknown = self.part.verdict(columns)
        return Verdict(~holds & ~unknown, unknown)

    def __str__(self) -> str:
        return f"not ({self.part})"

    def opposite(self) -> str:
        return str(self.part)


@dataclass(frozen=True)
class _Joined(Condition):
    """All of several conditions, or any of them."""

    parts: tuple[Condition, ...]
    every: bool
    written: str

    def verdict(self, columns: Columns) -> Verdict:
        verdicts = [part.verdict(columns) for part in self.parts]
        join = np.logical_and if self.every else np.logical_or
        holds = join.reduce([v.holds for v in verdicts])
        # It is decided where what is unknown cannot change it.
        can_hold = join.reduce([v.holds | v.unknown for v in verdicts])
        return Verdict(holds, can_hold & ~holds)

    def __str__(self) -> str:
        return self.written

    def opposite(self) -> str:
        return f"not ({self.written})"


def parse_condition(text: str, columns: Columns, name: str = "where") -> Condition:
    """A condition on some columns.

    Parameters
    ----------
    text : str
    columns : mapping of str to ndarray of shape (n,)
        Numbers as float64 (NaN is unknown) and texts as objects ("" is unknown).
    name : str
        The parameter, for messages.

    Raises
    ------
    ParameterError
        Where it cannot be read, at which character, or names a column that is not there.

    Examples
    --------
    >>> people = {"age": np.array([20.0, 40, np.nan]), "sex": np.array(["f", "m", "f"], object)}
    >>> young = parse_condition("age < 30 and sex == F", people)
    >>> young.verdict(people).holds.tolist(), young.verdict(people).unknown.tolist()
    ([True, False, False], [False, False, True])
    >>> parse_condition("age < 30", people).opposite()
    'age >= 30'
    >>> parse_condition("ages < 30", people)
    Traceback (most recent call last):
    ...
    manymaps.errors.ParameterError: where='ages < 30' names at character 1 a column 'ages' that is \
not there; the columns are 'age', 'sex'. Did you mean 'age'?
    """
    return _Parser(str(text), columns, name).whole()


def column_named(wanted: str, columns: Columns) -> str | None:
    """The column of a name, in any case where only one is alike."""
    if wanted in columns:
        return wanted
    alike = [name for name in columns if fold(name) == fold(wanted)]
    return alike[0] if len(alike) == 1 else None


def unknown_cells(cells: np.ndarray) -> np.ndarray:
    """Which cells of a column are unknown, shape (n,)."""
    return np.isnan(cells) if cells.dtype.kind == "f" else np.asarray(cells == "", dtype=bool)


class _Token(NamedTuple):
    kind: str
    text: str
    start: int


class _Parser:
    """One reading of a text, from left to right; each rule of the grammar is a method."""

    def __init__(self, text: str, columns: Columns, name: str):
        self._text = text
        self._columns = columns
        self._name = name
        self._tokens = self._split()
        self._next = 0
        self._depth = 0

    def _fail(self, fault: str) -> NoReturn:
        raise ParameterError(fault, name=self._name, value=self._text)

    def _split(self) -> list[_Token]:
        tokens, at = [], 0
        end = len(self._text.rstrip())
        while at < end:
            found = _TOKEN.match(self._text, at)
            if found is None:
                at += len(self._text[at:]) - len(self._text[at:].lstrip())
                self._fail(
                    f"cannot be read at character {at + 1}, {self._text[at : at + 20]!r}; "
                    f"{_EXAMPLE}, and put names that are no plain words in `backticks`"
                )
            kind = str(found.lastgroup)
            text, start = found[kind], found.start(kind)
            if kind == "word" and text.casefold() in _WORDS:
                kind, text = "mark", text.casefold()
            tokens.append(_Token(kind, "==" if text == "=" else text, start))
            at = found.end()
        tokens.append(_Token("end", "", end))
        return tokens

    def _take(self, *marks: str) -> _Token | None:
        token = self._tokens[self._next]
        if token.kind == "mark" and token.text in marks:
            self._next += 1
            return token
        return None

    def _expect(self, what: str, *marks: str) -> _Token:
        token = self._take(*marks)
        return token or self._unexpected(what)

    def _unexpected(self, what: str) -> NoReturn:
        token = self._tokens[self._next]
        seen = "ends" if token.kind == "end" else f"has {token.text!r}"
        self._fail(f"{seen} at character {token.start + 1} where {what} is expected; {_EXAMPLE}")

    def whole(self) -> Condition:
        found = self._condition()
        if self._tokens[self._next].kind != "end":
            self._unexpected("and, or, or the end")
        return found

    def _condition(self) -> Condition:
        return self._joined("or", self._conjunction)

    def _conjunction(self) -> Condition:
        return self._joined("and", self._negation)

    def _joined(self, word: str, part: Callable[[], Condition]) -> Condition:
        start = self._tokens[self._next].start
        parts = [part()]
        while self._take(word):
            parts.append(part())
        if len(parts) == 1:
            return parts[0]
        written = self._text[start : self._tokens[self._next].start].strip()
        return _Joined(tuple(parts), word == "and", written)

    def _negation(self) -> Condition:
        token = self._take("not", "(")
        if token is None:
            return self._comparison()
        self._depth += 1
        if self._depth > _DEEPEST:
            self._fail(
                f"is nested more than {_DEEPEST} deep at character {token.start + 1}; leave out "
                "parentheses and not that change nothing"
            )
        found = _Not(self._negation()) if token.text == "not" else self._condition()
        if token.text == "(":
            self._expect("a closing parenthesis", ")")
        self._depth -= 1
        return found

    def _comparison(self) -> Condition:
        start = self._next
        if self._tokens[start].kind == "number":
            left = self._value()
            sign = self._expect("a comparison", *_COMPARE).text
            column = self._column()
            first = _Comparison(column, _MIRRORED[sign], left, self._fail)
            further = self._take(*_COMPARE)
            if further is None:
                return first
            second = _Comparison(column, further.text, self._value(), self._fail)
            stop = self._tokens[self._next].start
            written = self._text[self._tokens[start].start : stop].strip()
            return _Joined((first, second), True, written)
        column = self._column()
        inside = not self._take("not")
        if not inside or self._tokens[self._next].text == "in":
            self._expect("in", "in")
            return _Membership(column, self._values(), inside, self._fail)
        sign = self._expect("a comparison or in", *_COMPARE).text
        return _Comparison(column, sign, self._value(), self._fail)

    def _column(self) -> str:
        token = self._tokens[self._next]
        if token.kind not in ("word", "quoted"):
            self._unexpected("the name of a column")
        self._next += 1
        wanted = token.text if token.kind == "word" else token.text[1:-1]
        found = column_named(wanted, self._columns)
        if found is None:
            near = difflib.get_close_matches(wanted, self._columns, n=3, cutoff=0.6)
            hint = f" Did you mean {' or '.join(map(repr, near))}?" if near else ""
            there = listed(list(self._columns))
            self._fail(
                f"names at character {token.start + 1} a column {wanted!r} that is not there; the "
                f"columns are {there}.{hint}"
            )
        return found

    def _value(self) -> _Value:
        token = self._tokens[self._next]
        if token.kind not in ("number", "word", "quoted"):
            self._unexpected("a number or a text")
        self._next += 1
        if token.kind == "number":
            return _Value(token.text, float(token.text))
        return _Value(token.text.strip("`\"'") if token.kind == "quoted" else token.text, None)

    def _values(self) -> tuple[_Value, ...]:
        opened = self._expect("an opening bracket", "[", "(").text
        values = [self._value()]
        while self._take(","):
            values.append(self._value())
        self._expect("a comma or a closing bracket", {"[": "]", "(": ")"}[opened])
        return tuple(values)


def _number(value: _Value, column: str, fail: Callable[[str], NoReturn]) -> float:
    """The number that stands beside a column of numbers."""
    if value.number is not None:
        return value.number
    try:
        number = float(value.written)
    except ValueError:
        number = math.nan
    if math.isnan(number):
        fail(f"compares the column {column!r} with {value.written!r}, and it holds numbers")
    return number


def _among(cells: np.ndarray, values: Sequence[_Value]) -> np.ndarray:
    """Which texts are one of some values, in any case."""
    wanted = {fold(value.written) for value in values}
    hits = {text for text in set(cells.tolist()) if fold(text) in wanted}
    return np.fromiter((text in hits for text in cells.tolist()), bool, len(cells))


def _examples(cells: np.ndarray) -> list[str]:
    return sorted(set(cells.tolist()) - {""})


def _shown(column: str) -> str:
    plain = re.fullmatch(r"[^\W\d][\w.]*", column) and column.casefold() not in _WORDS
    return column if plain else f"`{column}`"
