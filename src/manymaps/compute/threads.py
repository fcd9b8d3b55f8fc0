"""How many threads run loops, transforms and matrix products."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from functools import cache

import numba
from scipy import fft
from threadpoolctl import ThreadpoolController

__all__ = [
    "alone_if",
    "at_most",
    "one_blas_thread",
    "threads",
]


def alone_if(small: bool) -> AbstractContextManager[None]:
    """Run the loops of the block on one thread where there is too little to share out."""
    return _Alone() if small else _SHARED_OUT


class _Alone:
    """One thread for loops. Short loops enter it ten times an iteration, so it does no more."""

    __slots__ = ("_before",)

    def __enter__(self) -> None:
        self._before = numba.get_num_threads()
        if self._before > 1:
            numba.set_num_threads(1)

    def __exit__(self, *error: object) -> None:
        if self._before > 1:
            numba.set_num_threads(self._before)


_SHARED_OUT = nullcontext()


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


_MOST: ContextVar[int | None] = ContextVar("most threads", default=None)


@contextmanager
def threads(n_jobs: int | None) -> Iterator[None]:
    """Use this many threads for loops and transforms within the block; restored afterwards.

    None keeps the present number; negative counts from the number of processors, -1 being all that
    the block may have (`at_most`).
    """
    before = numba.get_num_threads()
    wanted = before
    if n_jobs is not None:
        most = min(numba.config.NUMBA_NUM_THREADS, _MOST.get() or numba.config.NUMBA_NUM_THREADS)
        wanted = max(1, min(most, n_jobs if n_jobs > 0 else most + 1 + n_jobs))
    numba.set_num_threads(wanted)
    try:
        with fft.set_workers(wanted):
            yield
    finally:
        numba.set_num_threads(before)


@contextmanager
def at_most(n_threads: int | None) -> Iterator[None]:
    """Use so many threads within the block, and none more whatever is asked for inside.

    For one of several tasks that share the processors; None leaves all as it is.
    """
    if n_threads is None:
        yield
        return
    before = _MOST.set(n_threads)
    try:
        with threads(n_threads):
            yield
    finally:
        _MOST.reset(before)
