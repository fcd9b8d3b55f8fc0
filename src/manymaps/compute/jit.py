"""The only place with numba options.

`compiled` for a loop over arrays, `parallel` for one whose outer loop is a `prange`, `inlined` for
a formula for one pair. All are cached on disk. Fast-math is the explicit set that lets sums be
reordered and multiply-adds be fused; infinities and NaN keep their meaning.
"""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import cache
from typing import Any

import numba
from numba.core.caching import IndexDataCacheFile
from scipy import fft
from threadpoolctl import ThreadpoolController

# Threads that spin at the end of each loop steal the very time another process needs to let them
# finish: on a busy machine an iteration took ten times as long. The price is 80 microseconds to
# wake a thread, so small loops stay on one (`alone_if`).
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

__all__ = ["alone_if", "compiled", "inlined", "one_blas_thread", "parallel", "prange", "threads"]

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
    """Compile a formula for one pair into the loops that call it."""
    options = {"fastmath": _FAST, "error_model": "numpy", "inline": "always"}
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


@contextmanager
def alone_if(small: bool) -> Iterator[None]:
    """Run the loops of the block on one thread where there is too little to share out."""
    before = numba.get_num_threads()
    if not small or before == 1:
        yield
        return
    numba.set_num_threads(1)
    try:
        yield
    finally:
        numba.set_num_threads(before)


def one_blas_thread() -> AbstractContextManager:
    """Run matrix and vector products on one thread within the block.

    For products inside a loop that is parallel already, and for the many short ones of an
    optimizer, where threads that wait by spinning cost ten times what they save. Blocks may overlap
    in any way, in one thread or several.
    """
    return _one_blas_thread


class _OneBlasThread:
    """One BLAS thread while anybody is inside.

    The limit is the process's. Two fits that each set and restored it would undo one another's, and
    the bits of a product may depend on it.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._inside = 0
        self._limit: AbstractContextManager | None = None

    def __enter__(self) -> None:
        with self._lock:
            if self._inside == 0:
                self._limit = _blas().limit(limits=1, user_api="blas")
                self._limit.__enter__()
            self._inside += 1

    def __exit__(self, *error: object) -> None:
        with self._lock:
            self._inside -= 1
            if self._inside == 0 and self._limit is not None:
                self._limit.__exit__(None, None, None)


_one_blas_thread = _OneBlasThread()


@cache
def _blas() -> ThreadpoolController:
    return ThreadpoolController()


@contextmanager
def threads(n_jobs: int | None) -> Iterator[None]:
    """Use this many threads for loops and transforms within the block; restored afterwards.

    None keeps the present number; negative counts from the number of processors, -1 being all.
    """
    before = numba.get_num_threads()
    wanted = before
    if n_jobs is not None:
        most = numba.config.NUMBA_NUM_THREADS
        wanted = max(1, min(most, n_jobs if n_jobs > 0 else most + 1 + n_jobs))
    numba.set_num_threads(wanted)
    try:
        with fft.set_workers(wanted):
            yield
    finally:
        numba.set_num_threads(before)
