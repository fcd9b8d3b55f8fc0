"""How far long work is, for whoever looks; by itself the library is silent.

    with work("start", total=10) as at:      # what takes a while says so, inside what it is part of
        for k in range(10):
            ...
            at(k + 1, "cost 1.23")           # and how far it is: a note, which costs nothing

    with show_progress():                    # a person looks
        fit.fit(norms)

The command line looks while a command runs, an estimator with `verbose=True` while it is fitted.
A thread reads the notes now and then and shows them: on a terminal bars that are wiped at the end,
in a notebook the same as a table, elsewhere (a file, a pipe, a dumb terminal) a line a minute.
Work in other threads and processes is seen through what waits for it.
"""

from __future__ import annotations

import functools
import io
import os
import sys
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, final

if TYPE_CHECKING:
    from rich.table import Table

__all__ = ["Work", "show_progress", "shows_progress", "watched", "work"]

# Seconds of work before anything is shown, between two looks of a screen, and between two lines.
_PATIENCE, _BLINK, _LINE = 0.5, 0.1, 60.0
_SLOWEST_RATE = 0.1

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


@final
class Work:
    """Something that takes a while, and how far it is.

    Attributes
    ----------
    what : str
        In words: "reading norms.csv"; where there is a total, what is counted: "iteration".
    total : int or None
    done : float
    told : str
        What else there is to say, such as the cost.
    """

    def __init__(self, what: str, total: int | None = None):
        self.what = what
        self.total = total
        self.done = 0.0
        self.told = ""
        self._first: tuple[float, float] | None = None

    def __call__(self, done: float | None = None, told: str = "") -> None:
        """Note how much is done, and what there is to say."""
        if done is not None:
            self.done = done
            if self._first is None:
                self._first = done, time.monotonic()
        self.told = told

    @property
    def named(self) -> str:
        """What goes on and how much of it is done."""
        if self.total is None or self._first is None:
            return self.what
        return f"{self.what} {self.done:,.0f} of {self.total:,}"

    @property
    def rate(self) -> float | None:
        """Of what is counted, so much a second; None where that is not known yet."""
        if self._first is None:
            return None
        done, since = self._first
        seconds = time.monotonic() - since
        return (self.done - done) / seconds if seconds > 0 and self.done > done else None

    @property
    def pace(self) -> str:
        """The rate in words, where it is no matter of minutes."""
        rate = self.rate
        return "" if rate is None or rate < _SLOWEST_RATE else f"{rate:.1f} it/s"

    @property
    def left(self) -> str:
        """The time that is left, in words."""
        rate = self.rate
        if self.total is None or rate is None:
            return ""
        return f"{_duration(max(0.0, self.total - self.done) / rate)} left"


@contextmanager
def work(what: str, total: int | None = None) -> Iterator[Work]:
    """What takes a while, for those who look to see; it is given what it is to be told.

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
    """Show how far the work in this context is, on a terminal, in a notebook or line by line.

    Estimators do so by themselves with `verbose=True`; this is for functions that take long, such
    as `diagnose`, `refit`, `cluster_path`, `sweep` or `evaluate`.

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
    """The `fit` of an estimator, which shows its progress where `verbose` is set."""

    @functools.wraps(fit)
    def shown(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
        from manymaps.constraints import VERBOSE

        estimator: Any = args[0]
        # What is neither a number nor a boolean, `fit` itself refuses.
        if not any(one.allows(estimator.verbose) for one in VERBOSE) or not estimator.verbose:
            return fit(*args, **kwargs)
        with show_progress(), work(type(estimator).__name__):
            return fit(*args, **kwargs)

    return shown


@contextmanager
def watched(*, ending: bool = False) -> Iterator[None]:
    """Watch what is worked on in this context, unless somebody does already.

    With `ending` a line says at the end how long it took; otherwise one does where lines were told.
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
    """The works that go on, the outermost first, and the thread that shows them."""

    def __init__(self, ending: bool):
        self._ending = ending
        self._works: list[Work] = []
        self._begun = self._told = time.monotonic()

    @contextmanager
    def during(self, mine: Work) -> Iterator[None]:
        """Show a work while it goes on; the outermost has the thread."""
        if self._works:
            self._works.append(mine)
            try:
                yield
            finally:
                self._works.remove(mine)
            return
        self._works.append(mine)
        look, since = self._look(), time.monotonic()
        over = threading.Event()
        thread = threading.Thread(target=self._show, args=(look, over), daemon=True)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()
            self._works.clear()
            self._told = look.told
            if self._ending or look.says_when_over:
                look.say(f"{mine.what} took {_duration(time.monotonic() - since)}")

    def _look(self) -> _Look:
        kind: type[_Look] = _Lines
        if _in_notebook():
            kind = _Notebook
        elif _is_terminal():
            kind = _Screen
        return kind(self._begun, self._told)

    def _show(self, look: _Look, over: threading.Event) -> None:
        # Where the stream was closed nobody looks any more.
        with suppress(OSError, ValueError):
            while not over.wait(look.wait()):
                look.show(tuple(self._works))
            look.wipe()


_WATCHER: ContextVar[_Watcher | None] = ContextVar("manymaps watcher", default=None)


class _Look(ABC):
    """A way to show works: where, and how often."""

    says_when_over = False

    def __init__(self, begun: float, told: float):
        self.begun = begun
        self.told = told

    @abstractmethod
    def wait(self) -> float:
        """Seconds until works are to be shown again."""

    @abstractmethod
    def show(self, works: Sequence[Work]) -> None:
        """Show how far they are."""

    def wipe(self) -> None:
        """Leave nothing of it on the screen."""
        return

    def say(self, line: str) -> None:
        """A line that stays, where there is still somebody to read it."""
        with suppress(OSError, ValueError):
            print(line, file=sys.stderr or io.StringIO(), flush=True)


@final
class _Lines(_Look):
    """A plain line a minute."""

    def wait(self) -> float:
        return max(0.0, self.told + _LINE - time.monotonic())

    def show(self, works: Sequence[Work]) -> None:
        self.told = time.monotonic()
        self.says_when_over = True
        self.say(f"{_duration(self.told - self.begun)}: {line_of(works)}")


@final
class _Screen(_Look):
    """Bars on a terminal, which is left to the result at the end."""

    _live: Any = None

    def wait(self) -> float:
        return _PATIENCE if self._live is None else _BLINK

    def show(self, works: Sequence[Work]) -> None:
        if self._live is None:
            from rich.console import Console
            from rich.live import Live

            self._live = Live(
                console=Console(stderr=True),
                auto_refresh=False,
                transient=True,
                # What is printed meanwhile stands above the bars, but stays on its own stream.
                redirect_stdout=sys.stdout.isatty(),
            )
            self._live.start()
        self._live.update(table_of(works), refresh=True)

    def wipe(self) -> None:
        if self._live is not None:
            self._live.stop()


@final
class _Notebook(_Look):
    """The same bars below the cell of a notebook, where the last line stays."""

    _shown: Any = None

    def wait(self) -> float:
        return _PATIENCE

    def show(self, works: Sequence[Work]) -> None:
        self._put(table_of(works))

    def say(self, line: str) -> None:
        from rich.text import Text

        self._put(Text(line))

    def _put(self, what: Any) -> None:
        from IPython.display import display

        if self._shown is None:
            self._shown = display(what, display_id=True)
        else:
            self._shown.update(what)


def _is_terminal() -> bool:
    """Whether there is a terminal that can go back on what it shows."""
    if sys.stderr is None or sys.stderr.closed or not sys.stderr.isatty():
        return False
    return os.environ.get("TERM", "").lower() not in ("dumb", "unknown")


def _in_notebook() -> bool:
    if "IPython" not in sys.modules:
        return False
    from rich.console import Console

    return Console(stderr=True).is_jupyter


def line_of(works: Sequence[Work]) -> str:
    """All works that go on in one line, with the time that is left of the outermost counted one."""
    parts = [one.named for one in works]
    told = next((one.told for one in reversed(works) if one.told), "")
    pace = next((one.pace for one in reversed(works) if one.pace), "")
    left = next((one.left for one in works if one.left), "")
    return ", ".join(part for part in (*parts, told, pace, left) if part)


def table_of(works: Sequence[Work]) -> Table:
    """A row for each work, with a bar where it is known how much there is to do."""
    from rich.progress_bar import ProgressBar
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, show_header=False, padding=(0, 1, 0, 0), pad_edge=False)
    for one in works:
        counted = one.total is not None and one.rate is not None
        bar = ProgressBar(total=one.total, completed=one.done, width=24) if counted else Text()
        cells = (one.named if one.total else f"{one.what} ...", one.told, one.pace, one.left)
        named, *others = (Text(cell, no_wrap=True, overflow="ellipsis") for cell in cells)
        table.add_row(named, bar, *others)
    return table


def _duration(seconds: float) -> str:
    if seconds < 100:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 120 else f"{minutes // 60} h {minutes % 60:02} min"
