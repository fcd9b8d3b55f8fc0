"""Run many similar tasks in this process, in threads, in processes or on a cluster.

    for k, outcome in finished(function, [(data, 1), (data, 2)]):     # as they end
    outcomes = run_tasks(function, [(data, 1), (data, 2)], "fit")     # in the order of the tasks

joblib's active backend (`joblib.parallel_config`) determines where tasks run. A task consists of a
function and its arguments, and its results are bit-identical everywhere. Each task uses its part of
the processors (`at_most`), its matrix products run on one thread, and its random numbers depend
only on its arguments.

Dask is called directly because joblib's Dask backend (1.6) waits indefinitely for a task that ended
its workers, and loses arguments that were stored on such a worker.
"""

from __future__ import annotations

import os
import pickle
import signal
import warnings
from collections import Counter
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import CancelledError
from contextlib import closing, nullcontext
from typing import Any, Literal

from manymaps.errors import ParameterError
from manymaps.progress import work

__all__ = ["WorkersLostError", "finished", "is_spread", "run_tasks"]

_LOST = (
    "a worker process ended unexpectedly, probably because memory ran out; "
    "pass fewer jobs or less data, or use a machine with more memory"
)
_VERSION = "manymaps:__version__"

Function = Callable[..., Any]
Tasks = Sequence[tuple[Any, ...]]
Prefer = Literal["processes", "threads"]
Ended = Generator[tuple[int, Any], None, None]
Answer = tuple[int, Any, list[Warning]]


class WorkersLostError(RuntimeError):
    """Error raised if worker processes that ran tasks, or the scheduler of a cluster, have ended.

    See Also
    --------
    repeat_fits, sweep

    Examples
    --------
    >>> from manymaps import WorkersLostError
    >>> issubclass(WorkersLostError, RuntimeError)
    True
    """


def is_spread() -> bool:
    """Return whether joblib's active backend runs several tasks at a time."""
    import joblib

    return _client() is not None or joblib.effective_n_jobs(None) > 1


def run_tasks(
    function: Function,
    tasks: Tasks,
    what: str,
    *,
    on_end: Callable[[int], object] | None = None,
    backend: str | None = None,
    n_jobs: int | None = None,
    prefer: Prefer = "processes",
) -> list[Any]:
    """Call a function with each tuple of arguments and return the results in the same order.

    Parameters
    ----------
    function, tasks, backend, n_jobs, prefer
        Parameters of `finished`. Exceptions of `finished` are also raised.
    what : str
        Name of one task, which the progress display shows.
    on_end : callable, optional
        Function that is called after each task with the number of finished tasks.

    Returns
    -------
    list
        Results in the order of the tasks.

    Examples
    --------
    >>> run_tasks(pow, [(2, 3), (3, 2)], "power")
    [8, 9]
    """
    outcomes: dict[int, Any] = {}
    running = finished(function, tasks, backend=backend, n_jobs=n_jobs, prefer=prefer)
    with closing(running), work(what, total=len(tasks)) as at:
        at(0)
        for k, outcome in running:
            outcomes[k] = outcome
            at(len(outcomes))
            if on_end is not None:
                on_end(len(outcomes))
    return [outcomes[k] for k in range(len(outcomes))]


def finished(
    function: Function,
    tasks: Tasks,
    *,
    backend: str | None = None,
    n_jobs: int | None = None,
    prefer: Prefer = "processes",
) -> Ended:
    """Yield the index and the result of each task when it ends.

    Closing the iterator cancels the tasks that have not ended.

    Parameters
    ----------
    function : callable
        Function that other processes can import. Its exceptions are raised in this process.
    tasks : sequence of tuple
        Arguments of each task, which the function must not change. An object that several tasks use
        is sent to a cluster only once.
    backend : str, optional
        Backend of joblib. The default is the active backend.
    n_jobs : int, optional
        Number of tasks to run in parallel. The default is the number in joblib's context, or 1
        without a context. A cluster runs one task per thread.
    prefer : {"processes", "threads"}, default="processes"
        Kind of workers if no backend is set. Threads are suitable for functions that release the
        interpreter lock.

    Yields
    ------
    tuple of int and value
        Index of a task and its result.

    Raises
    ------
    ParameterError
        If joblib cannot use the backend, such as "dask" without a client.
    WorkersLostError
        If a worker process or the scheduler of a cluster has ended, or if a worker has another
        version of manymaps. Results that were yielded before the error are complete.
    """
    import joblib

    try:
        context = nullcontext() if backend is None else joblib.parallel_config(backend=backend)
    except ValueError as error:
        raise ParameterError(f"cannot be used ({error})", name="backend", value=backend) from error
    with context:
        client = _client()
        if client is None:
            yield from _through_joblib(function, tasks, n_jobs, prefer)
        else:
            yield from _through_dask(client, function, tasks)


def _client() -> Any:
    """Return the Dask client of joblib's active backend, or None."""
    import joblib

    return getattr(joblib.parallel.get_active_backend()[0], "client", None)


def _run(
    k: int, function: Function, arguments: Sequence[Any], n_threads: int | None, is_far: bool
) -> Answer:
    """Run a task with at most n_threads. Return its result, and its warnings if run elsewhere."""
    from manymaps.compute.threads import at_most, one_blas_thread

    with at_most(n_threads), one_blas_thread():
        if not is_far:
            return k, function(*arguments), []
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            outcome = function(*arguments)
    return k, outcome, [one.message for one in caught if isinstance(one.message, Warning)]


def _received(k: int, outcome: Any, caught: Sequence[Warning]) -> tuple[int, Any]:
    for warning in caught:
        warnings.warn(warning, stacklevel=3)
    return k, outcome


def _through_joblib(function: Function, tasks: Tasks, n_jobs: int | None, prefer: Prefer) -> Ended:
    import joblib
    from joblib.externals.loky.process_executor import TerminatedWorkerError

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
        for answer in answers:
            yield _received(*answer)
    except TerminatedWorkerError as error:
        raise WorkersLostError(_LOST) from error
    finally:
        # joblib warns about cancelled tasks, but closing the iterator is meant to cancel tasks.
        with warnings.catch_warnings(action="ignore"):
            answers.close()


def _through_dask(client: Any, function: Function, tasks: Tasks) -> Ended:
    import cloudpickle
    import dask
    from distributed import KilledWorker, as_completed
    from distributed.comm import CommClosedError

    def sent(call: Function, value: Any, *futures: Any) -> Any:
        return client.submit(call, cloudpickle.dumps(value), *futures, pure=False)

    uses = Counter(id(one) for arguments in tasks for one in arguments)
    running = []
    try:
        _check_workers(client)
        # The graph must contain the data so that Dask computes them again if a worker is lost.
        with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1TiB"}):
            shared = {
                id(one): sent(pickle.loads, one)
                for one in {id(one): one for some in tasks for one in some}.values()
                if uses[id(one)] > 1
            }
            for k, arguments in enumerate(tasks):
                own = [None if id(one) in shared else one for one in arguments]
                futures = [shared.get(id(one)) for one in arguments]
                running.append(sent(_run_on_worker, (k, function, own), *futures))
        for future in as_completed(running):
            yield _received(*future.result())
            future.release()
    except KilledWorker as error:
        raise WorkersLostError(_LOST) from error
    except (CancelledError, CommClosedError) as error:
        raise WorkersLostError("the scheduler of the Dask cluster ended; start it again") from error
    finally:
        if client.status == "running":
            client.cancel(running)


def _check_workers(client: Any) -> None:
    """Wait for a worker, and reject workers of other versions, whose results could differ."""
    from pkgutil import resolve_name

    expected = resolve_name(_VERSION)
    with work("waiting for a worker of the Dask cluster"):
        client.wait_for_workers(1)
    # A function from the standard library is used because manymaps may be missing on a worker.
    for address, version in client.run(resolve_name, _VERSION, on_error="return").items():
        if version != expected:
            raise WorkersLostError(
                f"the Dask worker {address} reports {version!r} for manymaps, expected "
                f"{expected!r}; install one version everywhere"
            )


def _run_on_worker(packed: bytes, *shared: Any) -> Answer:
    """Run a task on a worker of a cluster.

    The function and its arguments are unpacked here. If a module is missing on the worker, the task
    then raises an error, which Dask itself would not report. Workers have no information on the
    number of workers per machine. A task therefore has one thread, or its part of NUMBA_NUM_THREADS
    of the worker.
    """
    from distributed import get_worker

    k, function, own = pickle.loads(packed)
    arguments = [given if one is None else one for given, one in zip(own, shared, strict=True)]
    most = int(os.environ.get("NUMBA_NUM_THREADS", 1))
    return _run(k, function, arguments, max(1, most // get_worker().state.nthreads), True)
