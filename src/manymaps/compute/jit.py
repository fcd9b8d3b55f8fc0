"""The only place with numba options.

`compiled` for a loop over arrays, `inlined` for what loops have in them, such as a formula for one
pair, `rounded` for a loop whose sums keep their order. Loops are cached on disk where there is a
place for it, and compiled again in each process where there is none. Fast-math is the explicit set
that lets sums be reordered and multiply-adds be fused; infinities and NaN keep their meaning.

A loop that `compute.threads.share_out` runs in several threads has a range as its first two
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

__all__ = [
    "compiled",
    "inlined",
    "rounded",
]

_COMPILING = "compiling, once per installation"
_FAST = {"reassoc", "contract", "arcp", "nsz"}
# Nobody calls these from C. The door for that would hold the whole loop once more, and take a tenth
# of the time to compile.
_OPTIONS = {"error_model": "numpy", "no_cfunc_wrapper": True}


def compiled(function: Callable) -> Any:
    """Compile a loop over arrays.

    A loop that another calls is put into it. By name it would be found twice: in the process that
    compiles, as it was compiled for itself, and later in what the caller left on the disk, where
    other multiply-adds are fused; and the first run of all would have other bits than the rest.
    """
    return _kept(numba.njit(**_OPTIONS, fastmath=_FAST, nogil=True, forceinline=True)(function))


def rounded(function: Callable) -> Any:
    """Compile a loop whose sums and products are rounded one by one, as in NumPy.

    For loops that compare sums: equal sums stay equal, whatever the processor.
    """
    # What says nothing of fast-math has that of its caller.
    return _kept(numba.njit(**_OPTIONS, fastmath=False, nogil=True)(function))


def inlined(function: Callable) -> Any:
    """Compile a formula, or a part of a loop, into the loops that call it; Python cannot call it.

    LLVM puts it there. Were it put into the source of each loop, as numba's own inlining does, all
    its lines would be typed again wherever it is called, which takes most of the compiling of a
    loop with several.
    """
    made = numba.njit(**_OPTIONS, fastmath=_FAST, forceinline=True, no_cpython_wrapper=True)
    return made(function)


class _CompilingShown(event.Listener):
    """Shows that loops are compiled, which may take longer than the work that they are for."""

    def __init__(self) -> None:
        # Numba compiles one function at a time, and what it calls within it.
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
    """The files of a compiled function, each named by the arguments that it is for.

    Numba numbers them without a lock. Two processes that compile one function for different
    arguments at the same moment choose the same number; the index then names code for other
    arguments than it says, and calls give nonsense in silence. Like this the worst that can happen
    is that something is compiled again. So it is where a file is damaged or cannot be written, as
    on a full disk.
    """

    def save(self, key: Any, data: Any) -> None:
        with suppress(OSError):
            overloads = self._load_index()
            if key not in overloads:
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
            raise OSError(f"{name} is damaged") from error  # by which numba knows that it is gone


_DAMAGED = (OSError, EOFError, pickle.UnpicklingError, ValueError, TypeError, IndexError)


def _kept(dispatcher: Any) -> Any:
    """A compiled function whose code is kept on the disk, where no other process overwrites it."""
    with suppress(RuntimeError):  # no folder can be written to
        dispatcher.enable_caching()
    files = getattr(getattr(dispatcher, "_cache", None), "_cache_file", None)
    if isinstance(files, IndexDataCacheFile):
        files.__class__ = _NamedByArguments
    return dispatcher
