"""How many threads run loops, transforms and matrix products; a pool that runs compiled loops."""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from contextvars import ContextVar, copy_context
from functools import cache
from typing import Any

from numba import config

__all__ = [
    "alone_if",
    "at_most",
    "current_threads",
    "one_blas_thread",
    "share_out",
    "threads",
]

# Ranges per thread, so that one whose work was heavier, or whose processor was busy, takes fewer.
_RANGES = 3

_CURRENT: ContextVar[int | None] = ContextVar("current threads", default=None)
_MOST: ContextVar[int | None] = ContextVar("most threads", default=None)


def current_threads() -> int:
    """Return how many threads loops have here; by default as many as NUMBA_NUM_THREADS allows."""
    return _CURRENT.get() or config.NUMBA_NUM_THREADS


def share_out(kernel: Callable[..., object], n: int, *arguments: Any) -> None:
    """Call kernel(first, last, *arguments) on ranges that cover 0 to n, in several threads.

    Iterations must not depend on one another, because the ranges depend on the number of threads.
    The calling thread takes ranges too, and needs none of the others: loops that run at the same
    time, or inside one another, only get fewer helpers.
    """
    n_threads = min(current_threads(), n)
    if n_threads <= 1:
        kernel(0, n, *arguments)
        return
    n_ranges = min(n, _RANGES * n_threads)
    ranges = deque((k * n // n_ranges, (k + 1) * n // n_ranges) for k in range(n_ranges))

    def take_ranges() -> None:
        while ranges:
            try:
                first, last = ranges.popleft()
            except IndexError:
                return  # another thread was quicker
            kernel(first, last, *arguments)

    helpers: list[Future[None]] = []
    try:
        # The interpreter may be ending, or have no room for a thread.
        with suppress(RuntimeError):
            for _ in range(n_threads - 1):
                # In the caller's context, to which a loop that has to be compiled is reported.
                helpers.append(_pool().submit(copy_context().run, take_ranges))
        take_ranges()
    finally:
        # Also after Ctrl-C no thread may go on writing to the caller's arrays.
        ranges.clear()
        wait([helper for helper in helpers if not helper.cancel()])
    for helper in helpers:
        if not helper.cancelled():
            helper.result()


@cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(config.NUMBA_NUM_THREADS, thread_name_prefix="manymaps")


# Threads do not survive a fork.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pool.cache_clear)


def alone_if(small: bool) -> AbstractContextManager[None]:
    """Run the loops of the block on one thread where there is too little to share out."""
    return _Alone() if small else _SHARED_OUT


class _Alone:
    """One thread for loops. Short loops enter it ten times an iteration, so it does no more."""

    __slots__ = ("_before",)

    def __enter__(self) -> None:
        self._before = _CURRENT.set(1)

    def __exit__(self, *error: object) -> None:
        _CURRENT.reset(self._before)


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
def _blas() -> Any:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


@contextmanager
def threads(n_jobs: int | None) -> Iterator[None]:
    """Use this many threads for loops and transforms within the block; restored afterwards.

    None keeps the present number; negative counts from the number of processors, -1 being all that
    the block may have (`at_most`).
    """
    # Commands that only run loops are quicker without it.
    from scipy import fft

    wanted = current_threads()
    if n_jobs is not None:
        most = min(config.NUMBA_NUM_THREADS, _MOST.get() or config.NUMBA_NUM_THREADS)
        wanted = max(1, min(most, n_jobs if n_jobs > 0 else most + 1 + n_jobs))
    before = _CURRENT.set(wanted)
    try:
        with fft.set_workers(wanted):
            yield
    finally:
        _CURRENT.reset(before)


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
