"""Errors that the user can correct, and the formatting of parameters in messages.

Every message states the problem, its location (file, line, row, label) and a remedy. On the command
line, a `DataError` results in exit code 3, a `ParameterError` in exit code 2, and a diverging fit
in exit code 1.

Messages format parameters with `setting`. A parameter is then printed as `rows='keep'` in Python
and as `--rows keep` on the command line, which changes the format while a command runs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

# Functions that format a parameter and its value in another syntax, or return None. The command
# line adds one, which applies while a command runs.
SPELLINGS: list[Callable[[str, Any], str | None]] = []


def not_installed(purpose: str, package: str, alternative: str = "") -> str:
    """Return the message about a missing optional package.

    >>> not_installed("reading a.graphml", "networkx")
    "reading a.graphml requires networkx; install it with 'pip install networkx'"
    """
    return f"{purpose} requires {package}; install it with 'pip install {package}'{alternative}"


def setting(name: str, value: Any = ...) -> str:
    """Format a parameter and its value (or ... for any value) in the user's syntax.

    >>> setting("rows", "keep"), setting("strength")
    ("rows='keep'", 'strength=...')
    """
    spelled = (spell(name, value) for spell in SPELLINGS)
    return next(filter(None, spelled), f"{name}={'...' if value is ... else repr(value)}")


class DataError(ValueError):
    """Error in the input data.

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
    """Error in the value of a parameter, in general or for the given data.

    Parameters
    ----------
    fault : str
        Description of the error: a complete sentence or, if `name` is passed, the part of the
        sentence that follows the name and the value of the parameter.
    name : str, optional
        The name of the parameter.
    value : object, optional
        The value of the parameter.

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
    """Error of a fit whose cost became non-finite because its settings do not suit the data.

    The estimator keeps the last maps with a finite cost and the history up to that point.

    Parameters
    ----------
    fault, name, value
        See `ParameterError`.

    See Also
    --------
    optimizers.Momentum, DataError

    Examples
    --------
    >>> import numpy as np
    >>> import manymaps as mm
    >>> from manymaps.optimizers import Momentum
    >>> points = np.random.default_rng(0).normal(size=(50, 3))
    >>> fast = Momentum(learning_rate=1e30)
    >>> try:
    ...     mm.SNE(perplexity=5, optimizer=fast, random_state=0).fit(points)
    ... except mm.DivergedError:
    ...     print("use a smaller learning rate")
    use a smaller learning rate
    """


class DataWarning(UserWarning):
    """Warning about data that can be used but should be inspected.

    See Also
    --------
    DataError

    Examples
    --------
    >>> import warnings
    >>> from manymaps import CODE, DataWarning
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore", DataWarning)   # the last column has no counts
    ...     CODE(1, random_state=0).fit_transform([[3, 1, 0], [1, 2, 0]]).shape
    (2, 1)
    """
