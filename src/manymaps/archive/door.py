"""The door: what comes in from a file is no larger than it may be, and fails as a `DataError`.

Libraries promise no list of what they raise for damaged bytes, and it changes from release to
release; so whatever they raise while they read is one error here, which names the file. And they
believe what a file says of its own sizes; so these are compared with its length before.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from inspect import signature
from typing import ParamSpec, TypeVar

from manymaps.errors import DataError, ParameterError

_P = ParamSpec("_P")
_R = TypeVar("_R")

__all__ = [
    "DAMAGED",
    "MOST_LABELS",
    "most_unpacked",
    "reader",
    "reading",
    "refuse_large",
    "refuse_wide",
]

#: What a packed file may unpack to in any case, and how many times its own length otherwise.
ALWAYS_UNPACKED = 2**30
MOST_EXPANSION = 10
DAMAGED = "is it cut short, or of another format?"
#: No file names more objects of one kind; as texts these alone take a gigabyte.
MOST_LABELS = 10_000_000
_LONGEST_MESSAGE = 2_000
# They say what is wrong by themselves, or are no fault of what is in the file.
_THEIR_OWN = (
    DataError, ParameterError, ImportError, Warning,
    FileNotFoundError, PermissionError, IsADirectoryError, NotADirectoryError,
)  # fmt: skip


@contextmanager
def reading(source: object, what: str, advice: str = DAMAGED) -> Iterator[None]:
    """Whatever a library raises in the block is a `DataError` that names the file.

    Parameters
    ----------
    source : path or str
        What is read, as the error names it.
    what : str
        What it is read as.
    advice : str
        What may be wrong, and what to do.

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
    except _THEIR_OWN:
        raise
    except RecursionError as error:
        raise DataError(f"{source} cannot be read as {what} (nested too deep); {advice}") from error
    except MemoryError as error:
        raise DataError(
            f"{source} cannot be read as {what}: it asks for more memory than there is; {advice}"
        ) from error
    except Exception as error:
        told = " ".join(str(error).split())[:200] or type(error).__name__
        raise DataError(f"{source} cannot be read as {what} ({told}); {advice}") from error


def reader(what: str) -> Callable[[Callable[_P, _R]], Callable[_P, _R]]:
    """Make a function of a path end in a result, or in an error that names the file.

    Below it every fault should have been told where it was found; this is for what nobody thought
    of, and for what was found where the file is not known. What is given in place of a path is
    passed on. A message is cut where it repeats too much of the file.

    Examples
    --------
    >>> @reader("a list of numbers")
    ... def read_numbers(path):
    ...     return [1 / 0]
    >>> try:
    ...     read_numbers("a.txt")
    ... except DataError as error:
    ...     print(str(error).partition(";")[0])
    a.txt cannot be read as a list of numbers (division by zero)
    """

    def made(function: Callable[_P, _R]) -> Callable[_P, _R]:
        accepted = signature(function)

        @wraps(function)
        def read(*args: _P.args, **kwargs: _P.kwargs) -> _R:
            accepted.bind(*args, **kwargs)  # a call that is none is no fault of the file
            source = args[0] if args else next(iter(kwargs.values()), None)
            if not isinstance(source, str | os.PathLike):
                return function(*args, **kwargs)
            try:
                with reading(source, what):
                    return function(*args, **kwargs)
            except DataError as error:
                told = str(error)
                named = str(source) in told
                if named and len(told) <= _LONGEST_MESSAGE:
                    raise
                shown = told if named else f"{source}: {told}"
                short = shown[:_LONGEST_MESSAGE] + "..." * (len(shown) > _LONGEST_MESSAGE)
                raise DataError(short) from error

        return read

    return made


def most_unpacked(length: int) -> int:
    """Bytes that a file of this length may unpack to: 1 GiB, or ten times its length.

    >>> most_unpacked(5) == 2**30, most_unpacked(2**30) == 10 * 2**30
    (True, True)
    """
    return max(ALWAYS_UNPACKED, MOST_EXPANSION * length)


def refuse_large(source: object, promised: int, length: int) -> None:
    """Refuse a file of this length that promises more bytes than it may unpack to.

    >>> try:
    ...     refuse_large("bomb.npz", 2**40, 1000)
    ... except DataError as error:
    ...     print(str(error)[:70])
    bomb.npz promises 1,024.0 GiB in 1,000 bytes, and may promise 1.0 GiB;
    """
    limit = most_unpacked(length)
    if promised > limit:
        raise DataError(
            f"{source} promises {_gib(promised)} in {length:,} bytes, and may promise {_gib(limit)}"
            "; it is damaged, or save it without compression"
        )


def refuse_wide(source: object, shape: tuple[int, ...]) -> None:
    """Refuse a table of more rows or columns than a file may name.

    >>> refuse_wide("a.npz", (1000, 10**12))
    Traceback (most recent call last):
        ...
    manymaps.errors.DataError: a.npz: a table of 1,000 x 1,000,000,000,000; 10,000,000 are the most
    """
    if max(shape, default=0) > MOST_LABELS:
        told = " x ".join(f"{n:,}" for n in shape)
        raise DataError(f"{source}: a table of {told}; {MOST_LABELS:,} are the most")


def _gib(n: int) -> str:
    return f"{n / 2**30:,.1f} GiB" if n < 2**60 else "more than there is"
