"""Interruption of a command, and the results of an interrupted fit.

An interrupted fit ends after the current iteration, like a fit that reached the maximum number of
iterations. Its maps are written to the checkpoint, or next to the output file. Ctrl-C ends the fit
immediately if the first iteration is not finished, or if Ctrl-C is pressed a second time.
"""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

import click

from manymaps.cli.contract import Interrupted
from manymaps.cli.types import OutputFile
from manymaps.labels import plural
from manymaps.progress import work

NOTHING = "nothing was saved"
# Trades the work that a killed process may lose against the time for writing. Not tuned.
_CHECKPOINT_SECONDS = 30.0

# Whether a signal has raised KeyboardInterrupt. Some libraries, such as NumPy while it is imported,
# replace it by an ImportError.
_RAISED = threading.Event()


def interrupt(number: int, frame: FrameType | None) -> None:
    """Raise KeyboardInterrupt, as the usual effect of Ctrl-C."""
    _RAISED.set()
    raise KeyboardInterrupt


def was_interrupted() -> bool:
    """Check whether a signal has interrupted the command."""
    return _RAISED.is_set()


def handle_signals() -> None:
    """Treat the signals TERM and HUP like Ctrl-C, unless they are ignored (HUP under nohup)."""

    def as_ctrl_c(number: int, frame: FrameType | None) -> None:
        on_ctrl_c = signal.getsignal(signal.SIGINT)
        # A script may have started the command in the background, where Ctrl-C is ignored.
        (on_ctrl_c if callable(on_ctrl_c) else interrupt)(number, frame)

    _RAISED.clear()
    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, as_ctrl_c)
    # `manymaps.__main__` lets Ctrl-C end the process silently until a command runs.
    if signal.getsignal(signal.SIGINT) in (signal.SIG_DFL, signal.default_int_handler):
        signal.signal(signal.SIGINT, interrupt)


@dataclass
class Stop:
    """A callback of a fit that stops it after Ctrl-C, and saves its maps every half minute.

    Attributes
    ----------
    checkpoint : path or None
        The file for the maps.
    is_asked : bool
        Whether Ctrl-C has been pressed.
    is_saved : bool
        Whether maps have been saved to the checkpoint.
    """

    checkpoint: Path | None
    is_asked: bool = False
    is_saved: bool = False
    _is_begun: bool = False
    _last: float = field(default_factory=time.monotonic)

    def __call__(self, iteration: int, cost: float, atlas_so_far: Callable[[], Any]) -> bool:
        """Save the maps if it is time, and return whether to stop after this iteration."""
        self._is_begun = True
        if self.checkpoint and time.monotonic() - self._last >= _CHECKPOINT_SECONDS:
            atlas_so_far().save(self.checkpoint)
            self.is_saved, self._last = True, time.monotonic()
        return self.is_asked

    def on_ctrl_c(self, number: int, frame: FrameType | None) -> None:
        """End the fit immediately if there are no maps yet, or at the second Ctrl-C."""
        if self.is_asked or not self._is_begun:
            interrupt(number, frame)
        self.is_asked = True


def run_fit(
    estimator: Any, data: Any, what: str, output: Path, checkpoint: Path | None = None
) -> None:
    """Fit. If Ctrl-C (or the signal TERM) stops the fit, write its maps and report their file.

    The file is the checkpoint or, without one, a file next to the output, such as
    norms.partial.atlas.

    Raises
    ------
    Interrupted
        If the fit is stopped. The message states whether maps have been saved.
    """
    stop = Stop(checkpoint)
    with work(f"fitting {what}"):
        former = signal.signal(signal.SIGINT, stop.on_ctrl_c)
        try:
            estimator.set_params(callback=stop).fit(data)
        except KeyboardInterrupt as error:
            saved = f"the last saved maps are in {checkpoint}" if stop.is_saved else NOTHING
            raise Interrupted(f"interrupted; {saved}") from error
        finally:
            signal.signal(signal.SIGINT, former)
    if not stop.is_asked:
        return
    path = checkpoint or output.with_name(f"{output.stem}.partial.atlas")
    try:
        OutputFile(archive=True).convert(path, None, None)
    except click.UsageError as error:
        raise Interrupted(f"interrupted; {NOTHING}: {error.message}") from error
    estimator.atlas_.save(path)
    n = plural("iteration", int(estimator.n_iter_))
    raise Interrupted(
        f"interrupted; the maps after {n} are in {path}; to continue from them, repeat the "
        f"command with --init {path}"
    )
