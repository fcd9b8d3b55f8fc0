"""Errors that the user can correct, and the spelling of parameters in messages.

Every message says what is wrong, where (file, line, row, label) and what to do. The command line
turns `DataError` into exit code 3, `ParameterError` into exit code 2, and a fit that diverges into
exit code 1.

A message names a parameter by means of `setting`, so that it reads `rows='keep'` in Python and
`--rows keep` on the command line, which sets the spelling while a command runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeAlias

__all__ = [
    "DataError", "DataWarning", "DivergedError", "ParameterError", "not_installed", "setting",
    "spelling",
]  # fmt: skip

Spelling: TypeAlias = Callable[[str, Any], str | None]
_SPELLING: ContextVar[Spelling | None] = ContextVar("spelling", default=None)


def not_installed(purpose: str, package: str, alternative: str = "") -> str:
    """The message about an optional package that is missing.

    >>> not_installed("reading a.graphml", "networkx")
    "reading a.graphml requires networkx; install it with 'pip install networkx'"
    """
    return f"{purpose} requires {package}; install it with 'pip install {package}'{alternative}"


def setting(name: str, value: Any = ...) -> str:
    """A parameter with its value (or ... for any value) as the user writes it.

    >>> setting("rows", "keep"), setting("strength")
    ("rows='keep'", 'strength=...')
    """
    spelled = _SPELLING.get()
    other = None if spelled is None else spelled(name, value)
    return other or f"{name}={'...' if value is ... else repr(value)}"


@contextmanager
def spelling(spelled: Spelling) -> Iterator[None]:
    """Spell parameters in messages by a function, which returns None for unknown names."""
    token = _SPELLING.set(spelled)
    try:
        yield
    finally:
        _SPELLING.reset(token)


class DataError(ValueError):
    """The input data cannot be used as it is.

    See Also
    --------
    DataWarning, ParameterError

    Examples
    --------
    >>> import numpy as np
    >>> import manymaps as mm
    >>> try:
    ...     mm.Associations(["tie", "tie"], np.ones((2, 2)))
    ... except mm.DataError as error:
    ...     print(error)
    duplicate label 'tie' (rows 0 and 1); labels must be unique
    """


class ParameterError(ValueError):
    """A parameter has an invalid value, in itself or for these data.

    Parameters
    ----------
    fault : str
        What is wrong: a sentence, or its rest after the name and value of the parameter.
    name : str, optional
        The parameter.
    value : object, optional
        Its value.

    See Also
    --------
    DataError

    Examples
    --------
    >>> from manymaps import ParameterError
    >>> error = ParameterError("is more than the 6 objects", name="n_maps", value=9)
    >>> str(error), error.name, error.value
    ('n_maps=9 is more than the 6 objects', 'n_maps', 9)
    """

    def __init__(self, fault: str, *, name: str | None = None, value: Any = None):
        super().__init__(fault)
        self.fault = fault
        self.name = name
        self.value = value

    def __str__(self) -> str:
        return self.fault if self.name is None else f"{setting(self.name, self.value)} {self.fault}"


class DivergedError(ParameterError, RuntimeError):
    """The cost of a fit became non-finite, because its settings do not suit the data.

    The estimator is left with the last maps whose cost was finite, and with the history up to them.

    Parameters
    ----------
    fault, name, value
        As for `ParameterError`.

    See Also
    --------
    Momentum, DataError

    Examples
    --------
    >>> import numpy as np
    >>> import manymaps as mm
    >>> points = np.random.default_rng(0).normal(size=(50, 3))
    >>> fast = mm.Momentum(learning_rate=1e30)
    >>> try:
    ...     mm.SNE(perplexity=5, optimizer=fast, random_state=0).fit(points)
    ... except mm.DivergedError:
    ...     print("use a smaller learning rate")
    use a smaller learning rate
    """


class DataWarning(UserWarning):
    """The data can be used, but something in it deserves a look.

    See Also
    --------
    DataError

    Examples
    --------
    >>> import warnings
    >>> from manymaps import DataWarning
    >>> from manymaps.baselines import isomap
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore", DataWarning)   # its neighbours form two parts
    ...     isomap([[0, 1], [0, 2], [9, 0], [8, 0]], 1, n_neighbors=1).rows.shape
    (4, 1)
    """
