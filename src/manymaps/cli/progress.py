"""What a person sees on a terminal while a command works, and how a fit is interrupted."""

from __future__ import annotations

import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

import click

__all__ = ["Watcher", "counted", "interrupted_by_sigterm", "iterations", "modified", "working"]

_PATIENCE = 2.0
_ERASE = "\r\x1b[K"


@dataclass(frozen=True)
class Watcher:
    """What a fit reports to.

    Attributes
    ----------
    callback : callable or None
        Called as callback(iteration, cost, atlas_so_far); None where nobody looks.
    stage : callable
        Told in words what goes on before the first iteration.
    """

    callback: Callable[..., bool] | None
    stage: Callable[[str], None]


@contextmanager
def working(what: str) -> Iterator[None]:
    """Say what goes on while it takes more than two seconds, on a terminal alone.

    The line is wiped at the end, so that the terminal is left to the result.
    """
    context = click.get_current_context(silent=True)
    quiet = context is not None and context.meta.get("manymaps.quiet")
    if quiet or not sys.stderr.isatty():
        yield
        return
    told = threading.Event()

    def tell() -> None:
        told.set()
        click.echo(f"{what} ...", err=True, nl=False)

    timer = threading.Timer(_PATIENCE, tell)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()
        if told.is_set():
            click.echo(_ERASE, err=True, nl=False)


@contextmanager
def counted(what: str) -> Iterator[Callable[[int, int], None] | None]:
    """A bar of the parts that are done, on a terminal; None where nobody looks.

    The callable is told how many are done, and of how many.
    """
    context = click.get_current_context(silent=True)
    quiet = context is not None and context.meta.get("manymaps.quiet")
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}"),
        BarColumn(bar_width=24),
        MofNCompleteColumn(" of "),
        TimeRemainingColumn(compact=True),
        TextColumn("left"),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


@contextmanager
def iterations(total: int, *, hidden: bool) -> Iterator[Watcher]:
    """A bar with iteration, cost, rate and time left, where somebody looks."""
    if hidden or not sys.stderr.isatty():
        yield Watcher(None, lambda stage: None)
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("iteration {task.completed:.0f} of {task.total:.0f}"),
        BarColumn(bar_width=24),
        TextColumn("{task.fields[cost]}"),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(compact=True),
        TextColumn("left"),
    )
    # A transient bar leaves the terminal to the result.
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("fit", total=total, cost="preparing", rate="")
        started: list[tuple[int, float]] = []

        def callback(iteration: int, cost: float, atlas_so_far: Callable[[], Any]) -> bool:
            now = time.monotonic()
            # A fit of several runs begins anew with each.
            if not started or iteration < bar.tasks[task].completed:
                started[:] = [(iteration, now)]
                bar.reset(task, completed=iteration)
            first, since = started[0]
            rate = f"{(iteration - first) / (now - since):.1f} it/s" if now > since else ""
            bar.update(task, completed=iteration, cost=f"cost {cost:.4f}", rate=rate)
            return False

        yield Watcher(callback, lambda stage: bar.update(task, cost=stage))


@contextmanager
def interrupted_by_sigterm() -> Iterator[None]:
    """Treat the signal TERM like Ctrl-C."""

    def interrupt(number: int, frame: FrameType | None) -> None:
        on_ctrl_c = signal.getsignal(signal.SIGINT)
        if not callable(on_ctrl_c):
            raise KeyboardInterrupt
        on_ctrl_c(number, frame)

    former = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, former)


def modified(path: Path | None) -> int | None:
    """When a file was written last; None where there is none."""
    return path.stat().st_mtime_ns if path is not None and path.exists() else None
