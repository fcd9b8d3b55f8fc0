"""Interruption of a command, and the results of an interrupted fit.

An interrupted fit ends after the current iteration, like a fit that reached the maximum number of
iterations. Its maps are written to the checkpoint, or next to the output file. Ctrl-C ends the fit
immediately if the first iteration is not finished, or if Ctrl-C is pressed a second time.
"""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

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


class Stop:
    """A callback of a fit that stops it after Ctrl-C, and saves its maps every half minute.

    Attributes
    ----------
    asked : bool
        Whether Ctrl-C has been pressed.
    saved : bool
        Whether maps have been saved to the checkpoint.
    """

    def __init__(self, checkpoint: Path | None = None) -> None:
        self.asked = self.saved = False
        self._begun = False
        self._checkpoint = checkpoint
        self._last = time.monotonic()

    def __call__(self, iteration: int, cost: float, atlas_so_far: Callable[[], Any]) -> bool:
        """Save the maps if it is time, and return whether to stop after this iteration."""
        self._begun = True
        if self._checkpoint and time.monotonic() - self._last >= _CHECKPOINT_SECONDS:
            atlas_so_far().save(self._checkpoint)
            self.saved, self._last = True, time.monotonic()
        return self.asked

    def on_ctrl_c(self, number: int, frame: FrameType | None) -> None:
        """End the fit immediately if there are no maps yet, or at the second Ctrl-C."""
        if self.asked or not self._begun:
            interrupt(number, frame)
        self.asked = True


@contextmanager
def ending_early(checkpoint: Path | None = None) -> Iterator[Stop]:
    """Defer Ctrl-C until the current iteration of a fit is finished."""
    stop = Stop(checkpoint)
    former = signal.signal(signal.SIGINT, stop.on_ctrl_c)
    try:
        yield stop
    finally:
        signal.signal(signal.SIGINT, former)


def partial_name(output: Path) -> Path:
    """Return the file for results of an interrupted command, such as norms.partial.atlas."""
    return output.with_name(f"{output.stem}.partial.atlas")
