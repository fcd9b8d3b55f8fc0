"""How many threads run loops, transforms and matrix products; what worker processes listen to."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import cache
from typing import Any

import numba
from scipy import fft
from threadpoolctl import ThreadpoolController

__all__ = [
    "LEAVE_INTERRUPTS",
    "alone_if",
    "one_blas_thread",
    "threads",
]

#: For `joblib.Parallel`, with any backend: workers ignore Ctrl-C, which a terminal sends to all
#: processes. The parent answers it and ends them; a worker that was between two tasks just then
#: would print a traceback. Workers for other work are started anew and hear it. What is left is the
#: moment in which Python itself starts in a worker.
LEAVE_INTERRUPTS: dict[str, Any] = {
    "initializer": signal.signal,
    "initargs": (signal.SIGINT, signal.SIG_IGN),
}


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
