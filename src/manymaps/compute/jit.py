"""Compile loops with numba. No other module sets numba options.

`compiled` is for a loop over arrays, and `rounded` is for a loop whose sums must not be reordered.
`inlined` is for a part of a loop, such as a formula for one pair. Compiled loops are cached on disk
if a folder is writable, and are otherwise compiled again in each process. Fast-math is limited to
the flags that allow sums to be reordered and multiply-adds to be fused. Infinities and NaN are
handled as usual.

A loop that `compute.threads.share_out` runs in several threads takes a range as its first two
arguments. No loop is compiled with numba's `parallel=True`, which takes three times as long.
"""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext, suppress
from typing import Any

import numba
from numba.core import event
from numba.core.caching import IndexDataCacheFile

from manymaps.progress import work

__all__ = ["compiled", "inlined", "rounded"]

_COMPILING = "compiling, once per installation"
_FAST = {"reassoc", "contract", "arcp", "nsz"}
# C code never calls these functions. A wrapper for C would contain a second copy of the whole loop
# and take a tenth of the compilation time.
_OPTIONS = {"error_model": "numpy", "no_cfunc_wrapper": True}


def compiled(function: Callable) -> Any:
    """Compile a loop over arrays.

    A loop that another loop calls is inlined into it. A call by name could reach one of two
    versions. In the process that compiles, the call reaches the version compiled for the called
    loop itself. In later processes, it reaches the version stored on disk with the caller, in which
    different multiply-adds are fused. The results of the very first run would then differ in their
    bits from all later results.
    """
    return _kept(numba.njit(**_OPTIONS, fastmath=_FAST, nogil=True, forceinline=True)(function))


def rounded(function: Callable) -> Any:
    """Compile a loop whose sums and products are rounded one by one, as in NumPy.

    Use this decorator for loops that compare sums, so that equal sums remain equal on every
    processor.
    """
    # A function without its own fast-math setting inherits that of its caller.
    return _kept(numba.njit(**_OPTIONS, fastmath=False, nogil=True)(function))


def inlined(function: Callable) -> Any:
    """Compile a formula, or a part of a loop, into the loops that call it, but not for Python.

    LLVM does the inlining. Numba's own inlining would copy the source into each loop, and infer the
    types of all lines at every call. In a loop with several calls, this inference takes most of the
    compilation time.
    """
    made = numba.njit(**_OPTIONS, fastmath=_FAST, forceinline=True, no_cpython_wrapper=True)
    return made(function)


class _CompilingShown(event.Listener):
    """Listener that reports the compilation of loops, which may take longer than running them."""

    def __init__(self) -> None:
        # Numba compiles one function at a time, together with the functions that it calls.
        self._running: list[AbstractContextManager] = []

    def on_start(self, started: Any) -> None:
        is_own = str(started.data["dispatcher"].py_func.__module__).startswith("manymaps.")
        shown = work(_COMPILING) if is_own and not self._running else nullcontext()
        shown.__enter__()
        self._running.append(shown)

    def on_end(self, ended: Any) -> None:
        self._running.pop().__exit__(None, None, None)


event.register("numba:compile", _CompilingShown())


class _NamedByArguments(IndexDataCacheFile):
    """Cache files of a compiled function, with each file named by the argument types."""

    def save(self, key: Any, data: Any) -> None:
        # If a file is damaged or cannot be written, for example on a full disk, the function is
        # compiled again.
        with suppress(OSError):
            overloads = self._load_index()
            if key not in overloads:
                # Numba numbers these files without a lock. Two processes that compile one function
                # for different arguments at the same moment choose the same number. The index then
                # refers to code for other arguments, and calls silently return wrong values. With
                # numbers derived from the arguments, a function is at worst compiled again.
                number = int.from_bytes(hashlib.sha256(repr(key).encode()).digest()[:6])
                overloads[key] = self._data_name(number)
                self._save_index(overloads)
            self._save_data(overloads[key], data)

    def _load_index(self) -> Any:
        try:
            return super()._load_index()
        except _DAMAGED:
            return {}

    def _load_data(self, name: str) -> Any:
        try:
            return super()._load_data(name)
        except _DAMAGED as error:
            raise OSError(f"{name} is damaged") from error  # numba treats this as a missing file


_DAMAGED = (OSError, EOFError, pickle.UnpicklingError, ValueError, TypeError, IndexError)


def _kept(dispatcher: Any) -> Any:
    """Cache the code of a compiled function on disk, where no other process overwrites it."""
    with suppress(RuntimeError):  # no folder is writable
        dispatcher.enable_caching()
    files = getattr(getattr(dispatcher, "_cache", None), "_cache_file", None)
    if isinstance(files, IndexDataCacheFile):
        files.__class__ = _NamedByArguments
    return dispatcher
