"""What can go wrong for reasons a user can mend.

Every message says what is wrong, where (file, line, row, label) and what to do. The command line
turns `DataError` into exit code 3 and `ParameterError` into exit code 2, and the name and value
that a `ParameterError` carries into the option that was given; a fit that diverges is one that
failed, exit code 1.
"""

from __future__ import annotations

from typing import Any

__all__ = ["DataError", "DataWarning", "DivergedError", "ParameterError"]


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
    the label 'tie' stands twice, for rows 0 and 1; labels must differ
    """


class ParameterError(ValueError):
    """A parameter has a value that makes no sense, by itself or for this data.

    Parameters
    ----------
    fault : str
        What is wrong: a sentence, or where a parameter is named the rest of one, which goes on
        from its name and value.
    name : str, optional
        The parameter.
    value : object, optional
        What it was given.

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
        return self.fault if self.name is None else f"{self.name}={self.value!r} {self.fault}"


class DivergedError(ParameterError, RuntimeError):
    """A fit did not stay finite: its settings are none for this data.

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
    ...     print("a smaller learning rate, then")
    a smaller learning rate, then
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
