"""Error handling and size limits for reading files.

    with reading(path, "an atlas"):     calls of a library; its errors become a `DataError`
    @reader("counts")                   a function of a path; each `DataError` names the file

A `reading` block contains only library calls, so that bugs in this package are not hidden.
"""

from __future__ import annotations

import os
import tokenize
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import ParamSpec, TypeVar

from manymaps.errors import DataError

_P = ParamSpec("_P")
_R = TypeVar("_R")

#: Maximum uncompressed size of a zip file, in bytes or relative to its length, whichever is larger.
ALWAYS_UNPACKED = 2**30
MOST_EXPANSION = 10
DAMAGED = "the file may be cut short or in another format"
_LONGEST_MESSAGE = 2_000

# Errors that zipfile, NumPy, SciPy and json raise for damaged bytes, found by damaging files at
# random.
_OF_DAMAGED_BYTES = (
    zipfile.BadZipFile,  # the directory of a zip, or the checksum of a member
    zlib.error,  # a deflated member
    EOFError,  # a member that ends early
    OSError,  # zipfile: an offset before the start of the file
    RuntimeError,  # zipfile: an encrypted member, an unknown compression; json: nested too deep
    LookupError,  # a member or a key that is missing
    ValueError,  # NumPy: header or length; json.JSONDecodeError; UnicodeDecodeError
    TypeError,  # NumPy: a header or shape of another type
    AttributeError,  # SciPy: a format that is not a text
    SyntaxError,  # NumPy: a header that is not a Python literal
    tokenize.TokenError,  # NumPy: the same, with an open bracket
    OverflowError,  # NumPy: a length beyond 64 bits
    MemoryError,  # a header that declares more than the available memory
)


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
    except DataError:
        raise
    except _OF_DAMAGED_BYTES as error:
        reason = " ".join(str(error).split())[:200] or type(error).__name__
        raise DataError(f"{source} cannot be read as {what} ({reason}); {advice}") from error


def reader(what: str) -> Callable[[Callable[_P, _R]], Callable[_P, _R]]:
    """Decorate a function of a path so that each `DataError` contains the file name.

    The path is the first argument. The decorator is needed because some errors are raised where the
    file name is unknown. A message that repeats too much of the file is truncated. A file that
    needs more than the available memory also raises a `DataError`.

    Examples
    --------
    >>> @reader("a list of numbers")
    ... def read_numbers(path):
    ...     raise DataError("row 3 is empty")
    >>> read_numbers("a.txt")
    Traceback (most recent call last):
        ...
    manymaps.errors.DataError: a.txt: row 3 is empty
    """

    def decorated(function: Callable[_P, _R]) -> Callable[_P, _R]:
        @wraps(function)
        def read(*args: _P.args, **kwargs: _P.kwargs) -> _R:
            source = args[0] if args else next(iter(kwargs.values()), None)
            try:
                return function(*args, **kwargs)
            except (DataError, MemoryError) as error:
                message = str(error)
                if not isinstance(source, str | os.PathLike):
                    raise
                if isinstance(error, MemoryError):
                    fault = "it needs more memory than is available"
                    message = f"{source} cannot be read as {what}: {fault}"
                if str(source) not in message:
                    message = f"{source}: {message}"
                elif isinstance(error, DataError) and len(message) <= _LONGEST_MESSAGE:
                    raise
                cut = "..." * (len(message) > _LONGEST_MESSAGE)
                raise DataError(message[:_LONGEST_MESSAGE] + cut) from error

        return read

    return decorated


def most_unpacked(length: int) -> int:
    """Return the maximum uncompressed size of a file: 1 GiB, or ten times its length if larger.

    >>> most_unpacked(5) == 2**30, most_unpacked(2**30) == 10 * 2**30
    (True, True)
    """
    return max(ALWAYS_UNPACKED, MOST_EXPANSION * length)


def reject_large(source: object, declared: int, length: int) -> None:
    """Reject a file that declares more bytes than the limit for its length.

    >>> try:
    ...     reject_large("bomb.npz", 2**40, 1000)
    ... except DataError as error:
    ...     print(str(error)[:69])
    bomb.npz declares 1,024.0 GiB in 1,000 bytes; at most 1.0 GiB is read
    """
    limit = most_unpacked(length)
    if declared > limit:
        raise DataError(
            f"{source} declares {declared / 2**30:,.1f} GiB in {length:,} bytes; at most "
            f"{limit / 2**30:,.1f} GiB is read (if it is not damaged, save it uncompressed)"
        )
