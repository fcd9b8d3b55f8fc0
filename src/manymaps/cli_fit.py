"""How the command line runs a fit: the methods it offers, its progress, and its interruption."""

from __future__ import annotations

import inspect
import signal
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

import click

from manymaps.cli_contract import Interrupted
from manymaps.errors import ParameterError

if TYPE_CHECKING:
    from manymaps.associations import Associations

__all__ = ["METHODS", "Method", "build", "finite", "run_fit", "threads"]


@dataclass(frozen=True)
class Method:
    """A method of `fit`: its estimator's public name, and the defaults that the command changes."""

    estimator: str
    defaults: Mapping[str, Any] = field(default_factory=dict)


METHODS = {
    "mm-tsne": Method("MultipleMapsTSNE", {"n_maps": 40}),
    "mm-sne": Method("MultipleMapsSNE", {"n_maps": 40}),
    "aspect-maps": Method("AspectMaps"),
}

PARAMETERS = {
    "maps": "n_maps",
    "dims": "n_components",
    "normalization": "normalization",
    "penalty": "penalty",
    "background": "background",
    "perplexity": "perplexity",
    "iterations": "max_iter",
    "tolerance": "tolerance",
    "seed": "random_state",
    "jobs": "n_jobs",
}


def build(method: str, options: Mapping[str, Any]) -> Any:
    """The estimator of a method with the options that were given (the others are None).

    Raises
    ------
    ParameterError
        For an option that the method's estimator does not know.
    """
    import manymaps

    estimator = getattr(manymaps, METHODS[method].estimator)
    known = inspect.signature(estimator).parameters
    parameters = dict(METHODS[method].defaults)
    for option, name in PARAMETERS.items():
        if options.get(option) is None:
            continue
        if name not in known:
            raise ParameterError(f"--{option} does not apply to --method {method}")
        parameters[name] = options[option]
    return estimator(**parameters)


def run_fit(
    estimator: Any, data: Associations, *, checkpoint: Path | None, resume: Path | None, quiet: bool
) -> Any:
    """Fit with progress on a terminal; an interruption says where the last state is.

    Raises
    ------
    Interrupted
        For an interruption (Ctrl-C, or the signal TERM).
    """
    before = _modified(checkpoint)
    try:
        with (
            _interrupted_by_sigterm(),
            _progress(estimator.get_params()["max_iter"], hidden=quiet) as progress,
        ):
            estimator.set_params(callback=progress)
            return estimator.fit(data, checkpoint=checkpoint, resume=resume)
    except KeyboardInterrupt as error:
        message = "interrupted; nothing was saved (--checkpoint FILE would have kept the state)"
        if checkpoint is not None and _modified(checkpoint) != before:
            message = (
                f"interrupted; the last state is in {checkpoint}; to go on, give the same command "
                f"with --resume {checkpoint}"
            )
        elif checkpoint is not None:
            message = "interrupted before there was a state to save"
        raise Interrupted(message) from error


def _modified(path: Path | None) -> int | None:
    return path.stat().st_mtime_ns if path is not None and path.exists() else None


@contextmanager
def _interrupted_by_sigterm() -> Iterator[None]:
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


@contextmanager
def _progress(total: int, *, hidden: bool) -> Iterator[Callable[..., bool] | None]:
    """A callback that draws iteration, cost, rate and time left; None where nobody looks."""
    if hidden or not sys.stderr.isatty():
        yield None
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
            if not started:
                started.append((iteration, now))
                bar.reset(task, completed=iteration)
            first, since = started[0]
            rate = f"{(iteration - first) / (now - since):.1f} it/s" if now > since else ""
            bar.update(task, completed=iteration, cost=f"cost {cost:.4f}", rate=rate)
            return False

        yield callback


def finite(ctx: click.Context, param: click.Parameter, value: float | None) -> float | None:
    """An option's number, refused where it is NaN or infinite, which ranges let through."""
    if value is not None and not abs(value) < float("inf"):
        raise click.BadParameter(f"{value} is no finite number", ctx, param)
    return value


def threads(ctx: click.Context, param: click.Parameter, value: int | None) -> int | None:
    """A number of threads; 0 is none."""
    if value == 0:
        raise click.BadParameter("0 threads do no work; give 1 or more, or -1 for all", ctx, param)
    return value
