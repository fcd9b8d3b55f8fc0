"""What can go wrong for reasons a user can mend.

Every message says what is wrong, where (file, line, row, label) and what to do. The command line
turns `DataError` into exit code 3 and `ParameterError` into exit code 2.
"""

__all__ = ["DataError", "DataWarning", "ParameterError"]


class DataError(ValueError):
    """The input data cannot be used as it is."""


class ParameterError(ValueError):
    """A parameter has a value that makes no sense, by itself or for this data."""


class DataWarning(UserWarning):
    """The data can be used, but something in it deserves a look."""
