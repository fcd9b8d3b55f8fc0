"""Set the number of threads for loops, transforms and products, and run loops in a thread pool."""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import ExitStack, contextmanager, suppress
from contextvars import ContextVar, copy_context
from functools import cache
from typing import Any

from numba import config

__all__ = ["alone_if", "at_most", "current_threads", "one_blas_thread", "share_out", "threads"]

# Number of ranges per thread. With several ranges per thread, a thread with more work, or on a busy
# processor, processes fewer ranges.
_RANGES = 3

_CURRENT: ContextVar[int | None] = ContextVar("current threads", default=None)
_MOST: ContextVar[int | None] = ContextVar("most threads", default=None)

_blas_lock, _blas_limit = threading.Lock(), ExitStack()
_blas_users: list[int] = []


def current_threads() -> int:
    """Return the number of threads for loops. The default is NUMBA_NUM_THREADS."""
    return _CURRENT.get() or config.NUMBA_NUM_THREADS


def share_out(kernel: Callable[..., object], n: int, *arguments: Any) -> None:
    """Call kernel(first, last, *arguments) on ranges that cover 0 to n, in several threads.

    Iterations must not depend on one another, because the ranges depend on the number of threads.
    The calling thread also processes ranges and can do all the work without the other threads.
    Loops that run at the same time, or inside one another, only have fewer helper threads.
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
                return  # another thread took the last range
            kernel(first, last, *arguments)

    helpers: list[Future[None]] = []
    try:
        # The interpreter may be shutting down or unable to start a thread.
        with suppress(RuntimeError):
            for _ in range(n_threads - 1):
                # Use the caller's context, to which the compilation of a loop is reported.
                helpers.append(_pool().submit(copy_context().run, take_ranges))
        take_ranges()
    finally:
        # Even after Ctrl-C, no thread may continue to write to the arrays of the caller.
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


@contextmanager
def alone_if(small: bool) -> Iterator[None]:
    """Run the loops of the block on one thread if there is too little work to share."""
    before = _CURRENT.set(1 if small else _CURRENT.get())
    try:
        yield
    finally:
        _CURRENT.reset(before)


@cache
def _blas() -> Any:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Run matrix and vector products on one thread within the block.

    Use this context for products inside a loop that is already parallel, and for the many short
    products of an optimizer. In short products, threads that wait by spinning cost ten times the
    time that they save. Blocks may overlap in any way, in one thread or in several threads.
    """
    # The limit applies to the whole process, as long as any thread is inside a block. Two fits that
    # each set and restored the limit would undo each other's setting. The bits of a product may
    # depend on the limit.
    with _blas_lock:
        if not _blas_users:
            _blas_limit.enter_context(_blas().limit(limits=1, user_api="blas"))
        _blas_users.append(threading.get_ident())
    try:
        yield
    finally:
        with _blas_lock:
            _blas_users.pop()
            if not _blas_users:
                _blas_limit.close()


@contextmanager
def threads(n_jobs: int | None) -> Iterator[None]:
    """Set the number of threads for loops and transforms within the block.

    The previous number is restored afterwards. If `n_jobs` is None, the number does not change. A
    negative number is relative to the number of processors: -1 selects all processors that the
    block may use (`at_most`).
    """
    # Commands that only run loops are faster without this import.
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
    """Limit the number of threads within the block, even if the block requests more.

    Use this context for one of several tasks that share the processors. If `n_threads` is None,
    there is no limit.
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
