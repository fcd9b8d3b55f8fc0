"""The only place with numba options.

`compiled` for a loop over arrays, `parallel` for one whose outer loop is a `prange`, `inlined` for
a formula for one pair. All are cached on disk. Fast-math is the explicit set that lets sums be
reordered and multiply-adds be fused; infinities and NaN keep their meaning.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from typing import Any

import numba
from numba.core.caching import IndexDataCacheFile

# Threads that spin at the end of each loop steal the very time another process needs to let them
# finish: on a busy machine an iteration took ten times as long. The price is 80 microseconds to
# wake a thread, so small loops stay on one (`alone_if`).
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

__all__ = [
    "compiled",
    "inlined",
    "parallel",
    "prange",
]

prange = numba.prange

_FAST = {"reassoc", "contract", "arcp", "nsz"}


def compiled(function: Callable) -> Any:
    """Compile a serial loop."""
    return _kept(numba.njit(cache=True, fastmath=_FAST, error_model="numpy", nogil=True)(function))


def parallel(function: Callable) -> Any:
    """Compile a loop whose `prange` iterations are independent of one another.

    Work is chunked by size, never by the number of threads, so that results keep their bits at
    any number of threads.
    """
    options = {"fastmath": _FAST, "error_model": "numpy", "nogil": True, "parallel": True}
    return _kept(numba.njit(cache=True, **options)(function))


def inlined(function: Callable) -> Any:
    """Compile a formula for one pair into the loops that call it.

    LLVM puts it there. Were it put into the source of each loop, as numba's own inlining does, all
    its lines would be typed again wherever it is called, which takes most of the compiling of a
    loop with several.
    """
    options = {"fastmath": _FAST, "error_model": "numpy", "forceinline": True}
    return _kept(numba.njit(cache=True, **options)(function))


class _NamedByArguments(IndexDataCacheFile):
    """The files of a compiled function, each named by the arguments that it is for.

    Numba numbers them without a lock. Two processes that compile one function for different
    arguments at the same moment choose the same number; the index then names code for other
    arguments than it says, and calls give nonsense in silence. Like this the worst that can happen
    is that something is compiled again.
    """

    def save(self, key: Any, data: Any) -> None:
        overloads = self._load_index()
        if key not in overloads:
            number = int.from_bytes(hashlib.sha256(repr(key).encode()).digest()[:6])
            overloads[key] = self._data_name(number)
            self._save_index(overloads)
        self._save_data(overloads[key], data)


def _kept(dispatcher: Any) -> Any:
    """A compiled function whose cached code no other process overwrites."""
    files = getattr(getattr(dispatcher, "_cache", None), "_cache_file", None)
    if isinstance(files, IndexDataCacheFile):
        files.__class__ = _NamedByArguments
    return dispatcher
