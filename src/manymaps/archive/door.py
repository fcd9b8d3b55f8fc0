"""Errors of reading files: damaged bytes, and archives that declare too much.

    with reading(path, "an atlas"):     calls of a library; its errors become a `DataError`

A `reading` block contains only library calls, so that bugs in this package are not hidden.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from manymaps.errors import DataError

#: Maximum uncompressed size of a zip file, in bytes or relative to its length, whichever is larger.
#: The method deflate expands data at most 1,032 times.
ALWAYS_UNPACKED = 2**30
MOST_EXPANSION = 1_100
DAMAGED = "the file may be cut short or in another format"


@contextmanager
def reading(source: object, what: str, advice: str = DAMAGED) -> Iterator[None]:
    """Convert library errors for damaged bytes to a `DataError` that contains the file name.

    Parameters
    ----------
    source : path or str
        File name for the error message.
    what : str
        Format or kind of the file.
    advice : str
        Possible cause of the error, and what to do.

    Examples
    --------
    >>> with reading("a.npy", "NPY", "is it cut short?"):
    ...     raise KeyError("descr")
    Traceback (most recent call last):
        ...
    manymaps.errors.DataError: a.npy cannot be read as NPY ('descr'); is it cut short?
    """
    try:
        yield
    except (DataError, ImportError):
        raise
    except Exception as error:  # damaged bytes end in errors of almost any type
        reason = " ".join(str(error).split())[:200] or type(error).__name__
        raise DataError(f"{source} cannot be read as {what} ({reason}); {advice}") from error


def reject_large(source: object, declared: int, length: int) -> None:
    """Reject a file that declares more bytes than the limit for its length.

    >>> try:
    ...     reject_large("bomb.npz", 2**40, 1000)
    ... except DataError as error:
    ...     print(str(error)[:69])
    bomb.npz declares 1,024.0 GiB in 1,000 bytes; at most 1.0 GiB is read
    """
    limit = max(ALWAYS_UNPACKED, MOST_EXPANSION * length)
    if declared > limit:
        raise DataError(
            f"{source} declares {declared / 2**30:,.1f} GiB in {length:,} bytes; at most "
            f"{limit / 2**30:,.1f} GiB is read"
        )
