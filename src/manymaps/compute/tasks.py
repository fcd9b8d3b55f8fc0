"""Many like tasks run somewhere: here, in threads, in processes, on a cluster.

    for k, outcome in finished(function, [(data, 1), (data, 2)]):     # as they end
    outcomes = run_tasks(function, [(data, 1), (data, 2)], "fit")     # in their order

Where they run is joblib's affair: its active backend (`joblib.parallel_config`), so that fits of a
bootstrap, points of a sweep, restarts and pieces of a corpus are spread alike. A task is a function
and its arguments, which say nothing of where it runs, so that it has the same bits anywhere: it
gets its part of the processors (`at_most`), its matrix products run on one thread, and what is
random in it follows from its arguments. What many tasks take is `Shared`, and sent once.

Dask is the exception: tasks go to the client of that backend directly. joblib 1.6 would leave
shared data with one worker alone and lose them with it, and would wait for ever for a task that
kills each worker it is given to. Given as a task of its own, data are made again where they were
lost.

**Workers that die.** What has come back stays. The tasks that were with a worker process of this
machine as it died are run anew, one at a time, so that it is plain who did it; one that then ends
its process `_LIVES` times is lost, and told as such. Where they get through alone it was all of
them together, as when memory is short: from the second time on there are half as many workers.
Dask's scheduler gives tasks of a dead worker to another one; one at which several died is tried
alone.
"""

from __future__ import annotations

import os
import pickle
import re
import signal
import warnings
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import BrokenExecutor, CancelledError
from contextlib import ExitStack, closing, contextmanager, suppress
from itertools import islice
from typing import Any, Literal, final

from manymaps.errors import ParameterError
from manymaps.progress import work

__all__ = ["Shared", "WorkersLost", "finished", "is_spread", "run_tasks"]

# Workers that a task may end, alone, before it is given up.
_LIVES = 3
_VERSION = "manymaps:__version__"

Tasks = Sequence[tuple[Any, ...]]
Ended = Generator[tuple[int, Any], None, None]

#: Workers ignore Ctrl-C, which a terminal sends to all processes. The parent answers it and ends
#: them; a worker that was between two tasks just then would print a traceback. Workers for other
#: work are started anew and hear it. What is left is the moment in which Python starts in a worker.
_LEAVE_INTERRUPTS: dict[str, Any] = {
    "initializer": signal.signal,
    "initargs": (signal.SIGINT, signal.SIG_IGN),
}


class WorkersLost(RuntimeError):
    """What should have run the tasks has gone; what had come back is kept.

    See Also
    --------
    refit, sweep

    Examples
    --------
    >>> from manymaps import WorkersLost
    >>> issubclass(WorkersLost, RuntimeError)
    True
    """


class _GivenUp(Exception):
    """Nobody waits for the results any more."""


@final
class Shared:
    """A value that many tasks take, as an argument of its own: it is sent once, not with each.

    In other processes each task has a copy that it may change; in threads, and on one worker of a
    cluster, tasks share it and leave it as it is.
    """

    def __init__(self, value: Any):
        self.value = value


def _bytes(value: Any) -> bytes:
    """A value pickled, with functions and classes that only this process knows."""
    try:
        import cloudpickle
    except ImportError:  # joblib before 1.6 holds it inside
        from joblib.externals import cloudpickle

    packed: bytes = cloudpickle.dumps(value, protocol=5)
    return packed


@final
class _Packed:
    """A shared value on its way to other processes of this machine.

    joblib keeps large arrays in memory that all workers see. Arrays inside of the value would be
    read-only there, for which numba compiles loops anew; one array of its bytes serves as well.
    """

    def __init__(self, value: Any):
        import numpy as np

        self._bytes: Any = np.frombuffer(_bytes(value), np.uint8)

    def unpacked(self) -> Any:
        return pickle.loads(self._bytes)


def is_spread(n_jobs: int | None = None) -> bool:
    """Whether tasks would run beside one another, by joblib's context where n_jobs is None."""
    return _client() is not None or _chosen(n_jobs, "processes")[1] > 1


def run_tasks(
    function: Callable[..., Any],
    tasks: Tasks,
    what: str,
    *,
    on_end: Callable[[int], object] | None = None,
    backend: str | None = None,
    n_jobs: int | None = None,
    prefer: Literal["processes", "threads"] = "processes",
) -> list[Any]:
    """What a function gives for each tuple of arguments, in their order.

    Parameters
    ----------
    function, tasks, backend, n_jobs, prefer
        As for `finished`.
    what : str
        What is counted, for those who look how far it is.
    on_end : callable, optional
        Told how many have ended after each.

    Raises
    ------
    WorkersLost
        Also for a task that ended each worker that ran it.

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
            if isinstance(outcome, WorkersLost):
                raise outcome
            outcomes[k] = outcome
            at(len(outcomes))
            if on_end is not None:
                on_end(len(outcomes))
    return [outcomes[k] for k in range(len(outcomes))]


def finished(
    function: Callable[..., Any],
    tasks: Tasks,
    *,
    backend: str | None = None,
    n_jobs: int | None = None,
    prefer: Literal["processes", "threads"] = "processes",
) -> Ended:
    """Numbers of tasks and what they came to, as they end.

    Closing the iterator, or throwing an exception into it, gives up what still runs.

    Parameters
    ----------
    function : callable
        For other processes importable there. Its exceptions are raised here.
    tasks : sequence of tuple
        Arguments of each.
    backend : str, optional
        One of joblib's; by default the one that is active.
    n_jobs : int, optional
        Tasks at a time; by default what joblib's context says, else 1. A cluster runs as many as
        it has threads.
    prefer : {"processes", "threads"}
        Where no backend is set: threads serve functions that leave the interpreter's lock.

    Yields
    ------
    tuple of int and value
        Which task, and what the function gave, or a `WorkersLost` where it ended each worker that
        ran it.

    Raises
    ------
    ParameterError
        For a backend that joblib does not know, or Dask's without a client.
    WorkersLost
        Where the scheduler of a cluster went away, or its workers lack this version of manymaps.
    ImportError
        Where Dask is not installed.
    """
    with ExitStack() as stack:
        if backend is not None:
            stack.enter_context(_backend(backend))
        client = _client()
        if client is not None:
            yield from _through_dask(client, function, tasks)
            return
        yield from _through_joblib(function, tasks, n_jobs, prefer)


def _client() -> Any:
    """The Dask client of joblib's active backend, where it has one."""
    import joblib

    active, _ = joblib.parallel.get_active_backend()
    return getattr(active, "client", None)


def _chosen(n_jobs: int | None, prefer: str) -> tuple[Any, int]:
    """joblib's backend, and how many tasks it runs at a time."""
    import joblib

    backend, usual = joblib.parallel.get_active_backend(prefer=prefer)
    return backend, backend.effective_n_jobs(usual if n_jobs is None else n_jobs)


@contextmanager
def _backend(name: str) -> Iterator[None]:
    """One of joblib's backends by name, with what is missing told in a sentence."""
    import importlib.util

    import joblib

    if name == "dask" and not importlib.util.find_spec("distributed"):
        raise ImportError(
            "the backend dask needs dask[distributed], which is not installed; "
            "pip install 'manymaps[distributed]'"
        )
    try:
        context = joblib.parallel_config(backend=name)
    except ValueError as error:
        if name == "dask":
            raise ParameterError(
                "needs a running dask.distributed.Client; make one first",
                name="backend",
                value=name,
            ) from error
        raise ParameterError("is no backend of joblib", name="backend", value=name) from error
    with context:
        yield


def _run(function: Callable[..., Any], n_threads: int | None, arguments: tuple[Any, ...]) -> Any:
    """A task where it is to run, with so many threads; None for all that there are."""
    from manymaps.compute.threads import at_most, one_blas_thread

    with at_most(n_threads), one_blas_thread():
        return function(*(one.unpacked() if isinstance(one, _Packed) else one for one in arguments))


def _run_afar(
    function: Callable[..., Any], n_threads: int | None, *arguments: Any
) -> tuple[Any, list[Warning]]:
    """A task in another process: what it warns of comes back, for here nobody reads it."""
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        outcome = _run(function, n_threads, arguments)
    return outcome, [one.message for one in heard if isinstance(one.message, Warning)]


def _came(answer: tuple[Any, list[Warning]]) -> Any:
    """The outcome of a task that ran afar, with its warnings given here."""
    outcome, heard = answer
    for warning in heard:
        warnings.warn(warning, stacklevel=2)
    return outcome


def _own(argument: Any) -> Any:
    return argument.value if isinstance(argument, Shared) else argument


def _through_joblib(
    function: Callable[..., Any],
    tasks: Tasks,
    n_jobs: int | None,
    prefer: Literal["processes", "threads"],
) -> Ended:
    import joblib

    def parallel(n_workers: int | None) -> joblib.Parallel:
        return joblib.Parallel(
            n_jobs=n_workers, prefer=prefer, batch_size=1, return_as="generator_unordered",
            pre_dispatch="n_jobs", **_LEAVE_INTERRUPTS,
        )  # fmt: skip

    chosen, n_workers = _chosen(n_jobs, prefer)
    if n_workers == 1:
        for k, arguments in enumerate(tasks):
            yield k, _run(function, None, tuple(map(_own, arguments)))
        return
    far = not getattr(chosen, "uses_threads", False)
    share = max(1, joblib.cpu_count() // n_workers)
    packed: dict[int, _Packed] = {}
    afar = joblib.delayed(_numbered_afar if far else _numbered)

    def sent(k: int, arguments: tuple[Any, ...]) -> Any:
        if not far:
            return afar(k, function, share, tuple(map(_own, arguments)))
        for one in arguments:
            if isinstance(one, Shared) and id(one) not in packed:
                packed[id(one)] = _Packed(one.value)
        return afar(k, function, share, *(packed.get(id(one), one) for one in arguments))

    yield from _Lives(parallel, n_workers, far).run(sent, enumerate(tasks))


def _numbered(
    k: int, function: Callable[..., Any], n_threads: int, arguments: tuple[Any, ...]
) -> tuple[int, Any]:
    return k, _run(function, n_threads, arguments)


def _numbered_afar(
    k: int, function: Callable[..., Any], n_threads: int, *arguments: Any
) -> tuple[int, Any]:
    return k, _run_afar(function, n_threads, *arguments)


@final
class _Lives:
    """Tasks in processes of this machine, which may die.

    Parameters
    ----------
    parallel : callable
        Makes a `joblib.Parallel` of a number of workers.
    n_workers : int
    far : bool
        Whether answers are those of other processes.
    """

    def __init__(self, parallel: Callable[[int], Any], n_workers: int, far: bool):
        self._parallel = parallel
        self._n_workers = n_workers
        self._at_a_time = n_workers
        self._far = far
        self._losses = 0

    def run(
        self,
        sent: Callable[[int, tuple[Any, ...]], Any],
        tasks: Iterator[tuple[int, tuple[Any, ...]]],
    ) -> Ended:
        """Numbers and outcomes of tasks; `sent` makes of each what joblib takes."""
        while True:
            out: dict[int, tuple[Any, ...]] = {}
            try:
                if self._at_a_time > 1:
                    yield from self._each(self._at_a_time, _going_out(sent, tasks, out), out)
                    return
                # One at a time, and still not in this process, which must outlive it.
                out.update(islice(tasks, 1))
                if not out:
                    return
            except BrokenExecutor as error:
                self._losses += 1
                warnings.warn(
                    f"a worker process ended by itself{_how(error)}, perhaps for want of memory; "
                    "what it ran is run again",
                    RuntimeWarning,
                    stacklevel=2,
                )
            together = True
            for k, arguments in list(out.items()):
                outcome = yield from self._alone(k, sent(k, arguments))
                together = together and not isinstance(outcome, WorkersLost)
            if together and self._losses > 1:
                self._at_a_time = max(1, self._at_a_time // 2)

    def _alone(self, k: int, task: Any) -> Generator[tuple[int, Any], None, Any]:
        """Run a task with nothing beside it; gives back what it came to."""
        outcome: Any = None
        for _ in range(_LIVES):
            try:
                for _, outcome in self._each(self._n_workers, iter([task]), {}):
                    yield k, outcome
                return outcome
            except BrokenExecutor as error:
                outcome = WorkersLost(
                    f"it ended each worker process that ran it{_how(error)}, perhaps for want of "
                    "memory; give it less data, fewer workers, or a machine with more"
                )
        yield k, outcome
        return outcome

    def _each(self, n_workers: int, tasks: Iterator[Any], out: dict[int, Any]) -> Ended:
        """As joblib gives them; what has come is taken out of `out`."""
        results = self._parallel(n_workers)(tasks)
        try:
            for k, answer in results:
                out.pop(k, None)
                yield k, _came(answer) if self._far else answer
        except GeneratorExit:
            # Closed like this one, joblib's iterator would warn of the work that is lost.
            with suppress(_GivenUp):
                results.throw(_GivenUp())


def _going_out(
    sent: Callable[[int, tuple[Any, ...]], Any],
    tasks: Iterator[tuple[int, tuple[Any, ...]]],
    out: dict[int, tuple[Any, ...]],
) -> Iterator[Any]:
    """Tasks as joblib takes them, each noted in `out` as it goes."""
    for k, arguments in tasks:
        out[k] = arguments
        yield sent(k, arguments)


def _how(error: BaseException) -> str:
    """The signal that ended a worker, as far as it is told."""
    named = re.search(r"(SIG[A-Z]+)\(-\d+\)", str(error))
    return f" ({named[1]})" if named else ""


def _through_dask(client: Any, function: Callable[..., Any], tasks: Tasks) -> Ended:
    """Results of tasks of a Dask client."""
    try:
        _check_workers(client)
        yield from _Cluster(client, function).run(tasks)
    except (CancelledError, OSError) as error:
        if client.status == "running" and isinstance(error, OSError):
            raise
        raise WorkersLost("the scheduler of the Dask cluster has gone") from error


def _check_workers(client: Any) -> None:
    """Wait for a worker, and refuse those that would not give the bits of this process."""
    from pkgutil import resolve_name

    here = resolve_name(_VERSION)
    with work("waiting for a worker of the Dask cluster"):
        client.wait_for_workers(1)
    # A function of Python's own, which workers without manymaps can be asked for as well.
    answers = client.run(resolve_name, _VERSION, on_error="return")
    for address, answer in answers.items():
        if isinstance(answer, ImportError):
            raise WorkersLost(
                f"the Dask worker {address} cannot import manymaps ({answer}); install manymaps "
                f"{here} for it"
            )
        if isinstance(answer, str) and answer != here:
            raise WorkersLost(
                f"the Dask worker {address} has manymaps {answer}, and here is {here}; "
                "install one version everywhere"
            )


@final
class _Cluster:
    """Tasks of a Dask client."""

    def __init__(self, client: Any, function: Callable[..., Any]):
        self._client = client
        self._function = function
        self._loaded: dict[int, Any] = {}

    def run(self, tasks: Tasks) -> Ended:
        """Numbers and outcomes of tasks."""
        suspects: list[int] = []
        for k, outcome in self._ended(dict(enumerate(tasks))):
            if isinstance(outcome, WorkersLost):
                suspects.append(k)
            else:
                yield k, outcome
        # A worker's death is laid to all tasks that it held. One at a time, who did it is plain.
        for k in suspects:
            yield from self._ended({k: tasks[k]})

    def _ended(self, tasks: dict[int, tuple[Any, ...]]) -> Ended:
        from distributed import KilledWorker, as_completed

        running = {self._submit(arguments): k for k, arguments in tasks.items()}
        try:
            for future in as_completed(list(running)):
                k = running.pop(future)
                if future.status == "error":
                    error = future.exception()
                    if not isinstance(error, KilledWorker):
                        raise error
                    outcome: Any = WorkersLost("it ended each worker that ran it")
                else:
                    outcome = _came(future.result())
                future.release()
                yield k, outcome
        finally:
            if self._client.status == "running":
                self._client.cancel([future for future in running if not future.done()])

    def _submit(self, arguments: tuple[Any, ...]) -> Any:
        own = [None if isinstance(one, Shared) else one for one in arguments]
        given = [self._sent(one) if isinstance(one, Shared) else None for one in arguments]
        packed = _bytes((self._function, own))
        return self._client.submit(_run_on_worker, packed, *given, pure=False)

    def _sent(self, shared: Shared) -> Any:
        """The task that holds a shared value, on top of which others stand."""
        import dask

        known = self._loaded.get(id(shared))
        if known is None or known.status in ("error", "cancelled", "lost"):
            packed = _bytes(shared.value)
            # That the data stand in a task, and nowhere else, is no oversight to warn of.
            with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1TiB"}):
                known = self._client.submit(pickle.loads, packed, pure=False)
            self._loaded[id(shared)] = known
        return known


def _run_on_worker(packed: bytes, *shared: Any) -> tuple[Any, list[Warning]]:
    """A task on a worker of a cluster: what is packed, with what is shared in its places.

    What a worker cannot import it tells as the error of the task. Left to Dask to unpack, it would
    tell nobody, and the task never end. Workers do not know of one another on their machine, so a
    task has one thread, or its part of those that whoever started the worker set NUMBA_NUM_THREADS
    to.
    """
    from distributed import get_worker

    function, own = pickle.loads(packed)
    arguments = [one if held is None else held for one, held in zip(own, shared, strict=True)]
    given = int(os.environ.get("NUMBA_NUM_THREADS", 1))
    return _run_afar(function, max(1, given // get_worker().state.nthreads), *arguments)
