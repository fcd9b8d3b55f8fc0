"""Constraints of parameters, which are declared once and checked by one function.

An estimator declares the parameters of its constructor in `_parameter_constraints`, as scikit-learn
does. `_validate_params` rejects the first parameter whose value meets none of its constraints:

    _parameter_constraints = {"max_iter": [Whole(1)], "learning_rate": [Number(above=0), AUTO]}

The constraints of scikit-learn are private, accept True as an integer, and cannot add advice to a
message. Conditions that depend on the data or on other parameters are checked elsewhere.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar, TypeAlias

import numpy as np

from manymaps.errors import ParameterError


class Constraint(ABC):
    """Condition on the value of a parameter; `why`, if passed, ends the error message."""

    why: str = ""

    @abstractmethod
    def allows(self, value: Any) -> bool:
        """Check whether a value meets the condition."""

    @property
    @abstractmethod
    def said(self) -> str:
        """Description of valid values, which follows "must be" in messages."""


@dataclass(frozen=True)
class Whole(Constraint):
    """Condition that a value is an integer in a closed range and not a Boolean.

    >>> Whole(1).allows(np.int32(3)), Whole(1).allows(True), Whole(1, 9).said
    (True, False, 'a whole number from 1 to 9')
    """

    least: int | None = None
    most: int | None = None
    why: str = ""

    def allows(self, value: Any) -> bool:
        """Check whether the value is an integer in the range."""
        if not isinstance(value, Integral) or isinstance(value, bool):
            return False
        number = int(value)
        return (self.least is None or number >= self.least) and (
            self.most is None or number <= self.most
        )

    @property
    def said(self) -> str:
        """Description of the number and its range."""
        least, most = self.least, self.most
        if least is not None and most is not None:
            return f"a whole number from {least:,} to {most:,}"
        if least is None and most is None:
            return "a whole number"
        return f"a whole number of at {f'most {most:,}' if least is None else f'least {least:,}'}"


@dataclass(frozen=True)
class Number(Constraint):
    """Condition that a value is a finite number in a range and not a Boolean.

    The bounds `least` and `most` are included in the range; `above` and `below` are excluded.

    >>> Number(least=0, below=1).allows(np.float32(0.5)), Number(above=0).allows("a")
    (True, False)
    """

    least: float | None = None
    above: float | None = None
    most: float | None = None
    below: float | None = None
    why: str = ""

    def allows(self, value: Any) -> bool:
        """Check whether the value is a finite number in the range."""
        number: Any = value if isinstance(value, Real) and not isinstance(value, bool) else math.nan
        return bool(
            -math.inf < number < math.inf
            and (self.least is None or number >= self.least)
            and (self.above is None or number > self.above)
            and (self.most is None or number <= self.most)
            and (self.below is None or number < self.below)
        )

    @property
    def said(self) -> str:
        """Description of the number and its range."""
        if self.least is not None and self.most is not None:
            limits = [f"from {self.least:g} to {self.most:g}"]
        else:
            ends = {
                "of at least": self.least, "above": self.above, "at most": self.most,
                "below": self.below,
            }  # fmt: skip
            limits = [f"{words} {end:g}" for words, end in ends.items() if end is not None]
        kind = "finite number" if self.most is None and self.below is None else "number"
        return " ".join([f"a {kind}", " and ".join(limits)]).rstrip()


@dataclass(frozen=True)
class Choice(Constraint):
    """Condition that a value is one of several allowed values.

    >>> Choice(("cauchy", "gaussian")).allows("linear")
    False
    """

    values: Iterable[Any]
    why: str = ""

    def allows(self, value: Any) -> bool:
        """Check whether the value is allowed; arrays, which compare by element, are not."""
        return isinstance(value, Hashable) and value in tuple(self.values)

    @property
    def said(self) -> str:
        """List of the allowed values."""
        known = tuple(self.values)
        return repr(known[0]) if len(known) == 1 else f"one of {', '.join(map(str, known))}"


@dataclass(frozen=True)
class Kind(Constraint):
    """Condition that a value passes a test.

    >>> Kind("a function", callable).allows(print)
    True
    """

    called: str
    test: Callable[[Any], bool]

    def allows(self, value: Any) -> bool:
        """Check whether the value passes the test."""
        return self.test(value)

    @property
    def said(self) -> str:
        """Description of the values that pass the test."""
        return self.called


@dataclass(frozen=True)
class Several(Constraint):
    """Condition that a value is a non-empty list, tuple or array of valid elements.

    >>> Several(Whole(1), "several numbers").allows([3, 5])
    True
    """

    each: Constraint
    called: str

    def allows(self, value: Any) -> bool:
        """Check whether the value is such a sequence."""
        listed = isinstance(value, list | tuple) or (isinstance(value, np.ndarray) and value.ndim)
        return bool(listed and len(value) and all(map(self.each.allows, value)))

    @property
    def said(self) -> str:
        """Description of such a sequence."""
        return self.called


Allowed: TypeAlias = Sequence[Constraint]


def instance(called: str, *types: type) -> Kind:
    """Return the condition that a value is an instance of one of the classes.

    >>> instance("a text", str).allows("a")
    True
    """
    return Kind(called, lambda value: isinstance(value, types))


def _holds_numbers(value: Any) -> bool:
    try:
        table = np.asarray(value)
        table = table.astype(np.float64) if table.dtype.kind == "O" else table
    except (OverflowError, TypeError, ValueError):
        return False
    return table.ndim > 0 and table.dtype.kind in "biuf"


NONE = Kind("None", lambda value: value is None)
FLAG = instance("True or False", bool, np.bool_)
FUNCTION = Kind("a function", callable)
#: Functions that are called after each iteration.
CALLBACKS = FUNCTION, Several(FUNCTION, "a list of functions"), NONE
ARRAY = Kind("an array", _holds_numbers)
AUTO = Choice(("auto",))
RANDOM_STATE = (
    Whole(0, 2**32 - 1), instance("a numpy.random.RandomState", np.random.RandomState), NONE,
)  # fmt: skip
N_JOBS = Whole(1), Whole(most=-1), NONE
#: Maximum number of maps, for which loops over the maps of an object reserve memory.
MOST_MAPS = 4096
N_MAPS = (Whole(1, MOST_MAPS),)
VERBOSE = FLAG, Whole(0)


def stops(callback: Any, *progress: Any) -> bool:
    """Call one or several callbacks, and return whether one of them returns a true value.

    All functions are called, even if the first one stops the fit.

    >>> stops([lambda iteration: iteration > 2, print], 3), stops(None, 3)
    3
    (True, False)
    """
    called = callback if isinstance(callback, list | tuple | np.ndarray) else [callback]
    answers = [bool(one(*progress)) for one in called if one is not None]
    return any(answers)


def check_parameter(name: str, value: Any, allowed: Allowed) -> None:
    """Reject a value that meets none of the constraints of its parameter.

    Parameters
    ----------
    name : str
        The name of the parameter.
    value : object
        The value.
    allowed : sequence of Constraint
        The constraints. The value must meet at least one of them.

    Raises
    ------
    ParameterError
        If the value meets no constraint. The error contains the name and the value.

    Examples
    --------
    >>> check_parameter("learning_rate", -1, [Number(above=0), AUTO])
    Traceback (most recent call last):
    manymaps.errors.ParameterError: learning_rate=-1 must be a finite number above 0, or 'auto'
    >>> check_parameter("init", "circle", [Choice(("ca", "random")), ARRAY])
    Traceback (most recent call last):
    manymaps.errors.ParameterError: init='circle' is not one of ca, random, nor an array
    """
    if any(one.allows(value) for one in allowed):
        return
    first, *others = allowed
    words = [one.said for one in others]
    if isinstance(first, Choice):
        named = ", ".join(map(str, first.values))
        fault = f"is not one of {named}" + (f", nor {' or '.join(words)}" if words else "")
    else:
        fault = f"must be {', '.join([first.said, *words[:-1]])}"
        fault += f", or {words[-1]}" if words else ""
    why = "".join(one.why for one in allowed)
    raise ParameterError(f"{fault}{why}", name=name, value=value)


class CheckedParameters:
    """Base class of estimators that declare constraints for their parameters."""

    _parameter_constraints: ClassVar[Mapping[str, Allowed]]

    get_params: Callable[..., dict[str, Any]]

    def _validate_params(self) -> None:
        """Reject the first parameter that violates its constraints."""
        # A parameter that a subclass of a user adds without a constraint may have any value.
        for name, value in self.get_params(deep=False).items():
            if name in self._parameter_constraints:
                check_parameter(name, value, self._parameter_constraints[name])
