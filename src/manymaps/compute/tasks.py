"""Run many similar tasks in this process, in threads, in processes or on a cluster.

    for k, outcome in finished(function, [(data, 1), (data, 2)]):     # as they end
    outcomes = run_tasks(function, [(data, 1), (data, 2)], "fit")     # in the order of the tasks

joblib's active backend (`joblib.parallel_config`) determines where tasks run. A task consists of a
function and its arguments, and its results are bit-identical everywhere. Each task uses its part of
the processors (`at_most`), its matrix products run on one thread, and its random numbers depend
only on its arguments.
"""

from __future__ import annotations

import signal
import warnings
from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from typing import Any, Literal

from manymaps.progress import work

__all__ = ["finished", "is_spread", "run_tasks"]

Function = Callable[..., Any]
Tasks = Sequence[tuple[Any, ...]]
Prefer = Literal["processes", "threads"]


def is_spread() -> bool:
    """Return whether joblib's active backend runs several tasks at a time."""
    import joblib

    return bool(joblib.effective_n_jobs(None) > 1)


def run_tasks(
    function: Function,
    tasks: Tasks,
    what: str,
    *,
    n_jobs: int | None = None,
    prefer: Prefer = "processes",
) -> list[Any]:
    """Call a function with each tuple of arguments and return the results in the same order.

    Parameters
    ----------
    function, tasks, n_jobs, prefer
        Parameters of `finished`.
    what : str
        Name of one task, which the progress display shows.

    Returns
    -------
    list
        Results in the order of the tasks.

    Examples
    --------
    >>> run_tasks(pow, [(2, 3), (3, 2)], "power")
    [8, 9]
    """
    outcomes: list[Any] = [None] * len(tasks)
    running = finished(function, tasks, n_jobs=n_jobs, prefer=prefer)
    with closing(running), work(what, total=len(tasks)) as show_progress:
        show_progress(0)
        for n_ended, (k, outcome) in enumerate(running, 1):
            outcomes[k] = outcome
            show_progress(n_ended)
    return outcomes


def finished(
    function: Function, tasks: Tasks, *, n_jobs: int | None = None, prefer: Prefer = "processes"
) -> Generator[tuple[int, Any], None, None]:
    """Yield the index and the result of each task when it ends.

    Closing the iterator cancels the tasks that have not ended.

    Parameters
    ----------
    function : callable
        Function that other processes can import. Its exceptions are raised in this process.
    tasks : sequence of tuple
        Arguments of each task, which the function must not change.
    n_jobs : int, optional
        Number of tasks to run in parallel. The default is the number in joblib's context, or 1
        without a context. A cluster runs one task per thread.
    prefer : {"processes", "threads"}, default="processes"
        Kind of workers if joblib's context sets no backend. Threads are suitable for functions that
        release the interpreter lock.

    Yields
    ------
    tuple of int and value
        Index of a task and its result.
    """
    import joblib

    backend, usual = joblib.parallel.get_active_backend(prefer=prefer)
    n_workers = backend.effective_n_jobs(usual if n_jobs is None else n_jobs)
    n_threads = None if n_workers == 1 else max(1, joblib.cpu_count() // n_workers)
    is_far = n_workers > 1 and not getattr(backend, "uses_threads", False)
    # Arrays in joblib's memory maps are read-only, and numba would compile each loop again for
    # them. Ctrl-C reaches all processes of a terminal. This process ends its workers, which ignore
    # Ctrl-C because they would otherwise print tracebacks.
    answers = joblib.Parallel(
        n_jobs=n_workers, prefer=prefer, batch_size=1, return_as="generator_unordered",
        pre_dispatch="n_jobs", max_nbytes=None,
        initializer=signal.signal, initargs=(signal.SIGINT, signal.SIG_IGN),
    )(
        joblib.delayed(_run)(k, function, arguments, n_threads, is_far)
        for k, arguments in enumerate(tasks)
    )  # fmt: skip
    try:
        for k, outcome, caught in answers:
            for warning in caught:
                warnings.warn(warning, stacklevel=2)
            yield k, outcome
    finally:
        # joblib warns about cancelled tasks, but closing the iterator is meant to cancel tasks.
        with warnings.catch_warnings(action="ignore"):
            answers.close()


def _run(
    k: int, function: Function, arguments: Sequence[Any], n_threads: int | None, is_far: bool
) -> tuple[int, Any, list[Warning]]:
    """Run a task with at most n_threads. Return its result, and its warnings if run elsewhere."""
    from manymaps.compute.threads import at_most, one_blas_thread

    with at_most(n_threads), one_blas_thread():
        if not is_far:
            return k, function(*arguments), []
        with warnings.catch_warnings(record=True, action="always") as caught:
            outcome = function(*arguments)
    return k, outcome, [one.message for one in caught if isinstance(one.message, Warning)]
