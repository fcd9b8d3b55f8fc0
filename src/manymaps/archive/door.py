"""Errors of libraries that read damaged files.

    with reading(path, "an atlas"):     calls of a library; its errors become a `DataError`

A `reading` block contains only library calls, so that bugs in this package are not hidden.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from manymaps.errors import DataError, not_installed


@contextmanager
def reading(source: object, what: str) -> Iterator[None]:
    """Convert library errors for damaged bytes to a `DataError` that contains the file name.

    Parameters
    ----------
    source : path or str
        File name for the error message.
    what : str
        Format or kind of the file.

    Examples
    --------
    >>> with reading("a.npy", "NPY"):
    ...     raise KeyError("descr")
    Traceback (most recent call last):
        ...
    manymaps.errors.DataError: a.npy cannot be read as NPY ('descr'); the file may be cut short, ...
    """
    try:
        yield
    except (DataError, ImportError) as error:
        if not isinstance(error, ModuleNotFoundError):
            raise
        package = "biom-format" if error.name == "biom" else str(error.name)
        raise ImportError(not_installed(f"reading {source}", package)) from error
    except Exception as error:  # damaged bytes end in errors of almost any type
        reason = " ".join(str(error).split())[:200] or type(error).__name__
        raise DataError(
            f"{source} cannot be read as {what} ({reason}); the file may be cut short, in another "
            "format, or contain Python objects"
        ) from error
