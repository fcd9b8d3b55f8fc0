"""Display of progress, which is printed only on request.

    with work("start", total=10) as at:      # declares work, as a part of the enclosing work
        for k in range(10):
            ...
            at(k + 1, "cost 1.23")           # records progress, at no cost

    with show_progress():                    # displays it
        fit.fit(norms)

The command line displays the progress of each command. An estimator with `verbose=True` displays
the progress of `fit`. A thread displays the recorded progress: as bars in a terminal, and elsewhere
(a file, a pipe, a dumb terminal, a notebook) as lines. Work in other threads and processes is
represented by the work that waits for its completion.
"""

from __future__ import annotations

import functools
import io
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from contextvars import ContextVar
from typing import Any, ParamSpec, TypeVar, final

# Times in seconds before bars appear, between updates of the bars, and between lines.
_PATIENCE, _BLINK, _LINE = 0.5, 0.1, 60.0
# Time in seconds between lines in notebooks, where a person waits for the cell. Rich draws bars
# there only with ipywidgets.
_CELL_LINE = 10.0

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
    """

    def __init__(self, what: str, total: int | None = None):
        self.what = what
        self.total = total
        self.done = 0.0
        self.told = ""
        self._start: tuple[float, float] | None = None

    def __call__(self, done: float | None = None, told: str = "") -> None:
        """Record the number of completed units and an additional text."""
        if done is not None:
            self.done = done
            # The first record starts the clock, because compiling and reading have no rate.
            self._start = self._start or (time.monotonic(), done)
        self.told = told

    @property
    def named(self) -> str:
        """Description, with the progress if units are counted."""
        if self.total is None or self._start is None:
            return self.what
        return f"{self.what} {self.done:,.0f} of {self.total:,}"

    @property
    def left(self) -> str:
        """Remaining time, or nothing before the second unit and after the last one."""
        if self.total is None or self._start is None:
            return ""
        since, first = self._start
        if not first < self.done < self.total:
            return ""
        seconds = (time.monotonic() - since) / (self.done - first) * (self.total - self.done)
        return f"{_duration(seconds)} left"


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
    with nullcontext() if watcher is None else watcher.during(mine):
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

    @contextmanager
    def during(self, mine: Work) -> Iterator[None]:
        """Display a work while it is in progress; the outermost work owns the thread."""
        self._works.append(mine)
        is_outermost, since = len(self._works) == 1, time.monotonic()
        over = threading.Event()
        thread = threading.Thread(target=self._show, args=(over,), daemon=True)
        if is_outermost:
            thread.start()
        try:
            yield
        finally:
            if is_outermost:
                over.set()
                thread.join()
                if self._ending or self._told > since:
                    self._say(f"{mine.what} took {_duration(time.monotonic() - since)}")
            self._works.remove(mine)

    def _show(self, over: threading.Event) -> None:
        # A closed stream no longer has a reader.
        with suppress(OSError, ValueError):
            if _is_terminal():
                self._show_bars(over)
            else:
                self._show_lines(over)

    def _show_bars(self, over: threading.Event) -> None:
        from rich.console import Console
        from rich.live import Live

        if over.wait(_PATIENCE):
            return
        # Printed text appears above the bars but remains on its own stream.
        redirected = sys.stdout.isatty()
        console = Console(stderr=True)
        with Live(
            console=console, auto_refresh=False, transient=True, redirect_stdout=redirected
        ) as live:
            while not over.wait(_BLINK):
                live.update(_bars(self._works), refresh=True)

    def _show_lines(self, over: threading.Event) -> None:
        interval = _CELL_LINE if "ipykernel" in sys.modules else _LINE
        while not over.wait(max(0.0, self._told + interval - time.monotonic())):
            self._told = time.monotonic()
            self._say(f"{_duration(self._told - self._begun)}: {_line(self._works)}")

    def _say(self, line: str) -> None:
        with suppress(OSError, ValueError):
            print(line, file=sys.stderr or io.StringIO(), flush=True)


_WATCHER: ContextVar[_Watcher | None] = ContextVar("manymaps watcher", default=None)


def _bars(works: list[Work]) -> Any:
    """Return a table of rich with one row for each work."""
    from rich.progress_bar import ProgressBar
    from rich.table import Table
    from rich.text import Text

    table = Table.grid(padding=(0, 1))
    for one in tuple(works):
        bar = ProgressBar(one.total, one.done, width=24, pulse=one.total is None)
        table.add_row(Text(one.named), bar, Text(one.told), Text(one.left))
    return table


def _line(works: list[Work]) -> str:
    """Return all works in one line, with the remaining time of the outermost counted work."""
    works = list(works)
    told = next((one.told for one in reversed(works) if one.told), "")
    left = next((text for one in works if (text := one.left)), "")
    return ", ".join(part for part in (*(one.named for one in works), told, left) if part)


def _is_terminal() -> bool:
    """Check whether stderr is a terminal on which text can be replaced."""
    if sys.stderr is None or sys.stderr.closed or not sys.stderr.isatty():
        return False
    return os.environ.get("TERM", "").lower() not in ("dumb", "unknown")


def _duration(seconds: float) -> str:
    if seconds < 100:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 120 else f"{minutes // 60} h {minutes % 60:02} min"
