"""Display of progress, which is printed only on request.

    with work("start", total=10) as at:      # declares work, as a part of the enclosing work
        for k in range(10):
            ...
            at(k + 1, "cost 1.23")           # records progress, at no cost

    with show_progress():                    # displays it
        fit.fit(norms)

The command line displays the progress of each command. An estimator with `verbose=True` displays
the progress of `fit`. A thread passes the recorded progress to `rich.progress`, which estimates
rates and remaining times. Progress is displayed as bars in terminals and notebooks. Elsewhere (a
file, a pipe, a dumb terminal), one line is printed per minute. Work in other threads and processes
is represented by the work that waits for its completion.
"""

from __future__ import annotations

import functools
import io
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import Any, ParamSpec, TypeVar, final

# Times in seconds before bars appear, between updates of the bars, and between lines.
_PATIENCE, _BLINK, _LINE = 0.5, 0.1, 60.0
# Slower rates are not shown, because the remaining time is more informative and is always shown.
_SLOWEST_RATE = 0.1
# Time in seconds over which rich averages a rate. The default of half a minute is too short if each
# fit takes minutes.
_RATE_PERIOD = 3600.0

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


@final
class Work:
    """Task that takes a while, and its progress.

    Attributes
    ----------
    what : str
        Description such as "reading norms.csv" or, if there is a total, the unit that is counted,
        such as "iteration".
    total : int or None
        Number of units to count, or None if units are not counted.
    done : float
        Number of completed units.
    told : str
        Additional text, such as the cost.
    is_counted : bool
        Whether there is a total and progress has been recorded.
    """

    def __init__(self, what: str, total: int | None = None):
        self.what = what
        self.total = total
        self.done = 0.0
        self.told = ""
        self.is_counted = False

    def __call__(self, done: float | None = None, told: str = "") -> None:
        """Record the number of completed units and an additional text."""
        if done is not None:
            self.done = done
            self.is_counted = self.total is not None
        self.told = told

    @property
    def named(self) -> str:
        """Description, with the progress if units are counted."""
        return f"{self.what} {self.done:,.0f} of {self.total:,}" if self.is_counted else self.what


@contextmanager
def work(what: str, total: int | None = None) -> Iterator[Work]:
    """Declare work and yield the object that records its progress.

    >>> with work("start", total=3) as at:
    ...     at(2, "cost 0.41")
    >>> at.named
    'start 2 of 3'
    """
    mine = Work(what, total)
    watcher = _WATCHER.get()
    if watcher is None:
        yield mine
        return
    with watcher.during(mine):
        yield mine


@contextmanager
def show_progress() -> Iterator[None]:
    """Show the progress of work within this context as bars or lines.

    Estimators show their progress with `verbose=True`. This function shows the progress of other
    long computations, such as `diagnose`, `repeat_fits`, `cluster_path`, `sweep` or `evaluate`.

    Yields
    ------
    None

    See Also
    --------
    MultipleMapsTSNE, sweep

    Examples
    --------
    >>> import manymaps as mm
    >>> with mm.show_progress():
    ...     found = mm.diagnose(mm.load_integers())
    """
    with watched(ending=True):
        yield


def shows_progress(fit: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """Decorate the `fit` of an estimator so that it shows progress if `verbose` is set."""

    @functools.wraps(fit)
    def shown(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
        from manymaps.constraints import VERBOSE

        estimator: Any = args[0]
        # `fit` itself rejects a value that is neither a number nor a Boolean.
        if not any(one.allows(estimator.verbose) for one in VERBOSE) or not estimator.verbose:
            return fit(*args, **kwargs)
        with show_progress(), work(type(estimator).__name__):
            return fit(*args, **kwargs)

    return shown


@contextmanager
def watched(*, ending: bool = False) -> Iterator[None]:
    """Display the work in this context, unless a display already exists.

    If `ending` is True, a line at the end reports the duration. Otherwise, this line is printed
    only if other lines were printed.
    """
    if _WATCHER.get() is not None:
        yield
        return
    before = _WATCHER.set(_Watcher(ending))
    try:
        yield
    finally:
        _WATCHER.reset(before)


@final
class _Watcher:
    """Works in progress, outermost first, and the thread that displays them."""

    def __init__(self, ending: bool):
        self._ending = ending
        self._works: list[Work] = []
        self._begun = self._told = time.monotonic()
        self._cell: Any = None

    @contextmanager
    def during(self, mine: Work) -> Iterator[None]:
        """Display a work while it is in progress; the outermost work owns the thread."""
        self._works.append(mine)
        if len(self._works) > 1:
            try:
                yield
            finally:
                self._works.remove(mine)
            return
        since = time.monotonic()
        over = threading.Event()
        thread = threading.Thread(target=self._show, args=(over,), daemon=True)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()
            self._works.clear()
            if self._ending or self._told > since:
                self._say(f"{mine.what} took {_duration(time.monotonic() - since)}")
            self._cell = None

    def _show(self, over: threading.Event) -> None:
        # A closed stream no longer has a reader.
        with suppress(OSError, ValueError):
            if _in_notebook():
                self._show_in_cell(over)
            elif _is_terminal():
                self._show_bars(over)
            else:
                self._show_lines(over)

    def _show_bars(self, over: threading.Event) -> None:
        if over.wait(_PATIENCE):
            return
        tasks = _Tasks()
        with tasks.progress:
            while not over.wait(_BLINK):
                tasks.update(tuple(self._works))
                tasks.progress.refresh()

    def _show_in_cell(self, over: threading.Event) -> None:
        tasks = _Tasks()
        while not over.wait(_PATIENCE):
            tasks.update(tuple(self._works))
            self._put(tasks.progress.make_tasks_table(tasks.progress.tasks))

    def _show_lines(self, over: threading.Event) -> None:
        tasks: _Tasks | None = None
        # The rate requires several records before the first line.
        while not over.wait(max(0.0, min(_LINE / 10, self._told + _LINE - time.monotonic()))):
            tasks = tasks or _Tasks()
            tasks.update(tuple(self._works))
            now = time.monotonic()
            if now >= self._told + _LINE:
                self._told = now
                self._say(f"{_duration(now - self._begun)}: {tasks.line()}")

    def _say(self, line: str) -> None:
        """Print a permanent line, or replace the bars below a notebook cell with it."""
        if _in_notebook():
            from rich.text import Text

            self._put(Text(line))
            return
        with suppress(OSError, ValueError):
            print(line, file=sys.stderr or io.StringIO(), flush=True)

    def _put(self, content: Any) -> None:
        from IPython.display import display

        if self._cell is None:
            self._cell = display(content, display_id=True)
        else:
            self._cell.update(content)


_WATCHER: ContextVar[_Watcher | None] = ContextVar("manymaps watcher", default=None)


@final
class _Tasks:
    """Tasks of rich that represent works, with their rates and remaining times."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn

        fields = ("{task.fields[told]}", "{task.fields[pace]}", "{task.fields[left]}")
        self.progress = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(24),
            *(TextColumn(field, markup=False) for field in fields),
            console=Console(stderr=True),
            auto_refresh=False,
            transient=True,
            # Printed text appears above the bars but remains on its own stream.
            redirect_stdout=sys.stdout.isatty(),
            speed_estimate_period=_RATE_PERIOD,
        )
        self._tasks: dict[Work, Any] = {}

    def update(self, works: Sequence[Work]) -> None:
        """Update the tasks with the progress of the works."""
        for one in set(self._tasks).difference(works):
            self.progress.remove_task(self._tasks.pop(one).id)
        for one in works:
            if one not in self._tasks:
                self.progress.add_task(
                    one.what, start=False, total=one.total, told="", pace="", left=""
                )
                self._tasks[one] = self.progress.tasks[-1]
            task = self._tasks[one]
            # The first recorded count starts the clock, even if it is 0, so that the first step has
            # a rate.
            if one.is_counted and (not task.started or task.completed != one.done):
                self.progress.start_task(task.id)
                self.progress.advance(task.id, one.done - task.completed)
            task.description = one.named
            rate = task.speed or 0.0
            # Work that follows the last unit may take long.
            left = None if task.finished else task.time_remaining
            task.fields.update(
                told=one.told,
                pace="" if rate < _SLOWEST_RATE else f"{rate:.1f} it/s",
                left="" if left is None else f"{_duration(left)} left",
            )

    def line(self) -> str:
        """Return all works in one line, with the remaining time of the outermost counted work."""
        tasks = self.progress.tasks
        told, pace = (
            next((task.fields[name] for task in reversed(tasks) if task.fields[name]), "")
            for name in ("told", "pace")
        )
        left = next((task.fields["left"] for task in tasks if task.fields["left"]), "")
        parts = [*(task.description for task in tasks), told, pace, left]
        return ", ".join(part for part in parts if part)


def _is_terminal() -> bool:
    """Check whether stderr is a terminal on which text can be replaced."""
    if sys.stderr is None or sys.stderr.closed or not sys.stderr.isatty():
        return False
    return os.environ.get("TERM", "").lower() not in ("dumb", "unknown")


def _in_notebook() -> bool:
    if "IPython" not in sys.modules:
        return False
    from rich.console import Console

    return Console(stderr=True).is_jupyter


def _duration(seconds: float) -> str:
    if seconds < 100:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 120 else f"{minutes // 60} h {minutes % 60:02} min"
