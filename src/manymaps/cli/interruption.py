"""How a command is interrupted, and what is left of a fit then.

A fit without a checkpoint that is interrupted ends with the iteration it is at, as one does that
has had all its iterations, and its maps are written beside the output. Pressed before the first
iteration is done, or for the second time, Ctrl-C ends it at once.
"""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

__all__ = ["Stop", "ending_early", "interrupted_by_sigterm", "modified", "partial_name"]


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


class Stop:
    """The callback of a fit, which stops it once Ctrl-C was pressed.

    Attributes
    ----------
    asked : bool
        Whether it was.
    """

    def __init__(self) -> None:
        self.asked = False
        self._begun = False

    def __call__(self, *_: object) -> bool:
        """What a fit asks after each iteration."""
        self._begun = True
        return self.asked

    def on_ctrl_c(self, number: int, frame: FrameType | None) -> None:
        """End at once where there is nothing to keep, or for who asks twice."""
        if self.asked or not self._begun:
            raise KeyboardInterrupt
        self.asked = True


@contextmanager
def ending_early() -> Iterator[Stop]:
    """Hold Ctrl-C back until the iteration of a fit is done."""
    stop = Stop()
    former = signal.signal(signal.SIGINT, stop.on_ctrl_c)
    try:
        yield stop
    finally:
        signal.signal(signal.SIGINT, former)


def partial_name(output: Path) -> Path:
    """Where the maps of a fit are written that was interrupted: norms.partial.atlas."""
    return output.with_name(f"{output.stem}.partial.atlas")


def modified(path: Path | None) -> int | None:
    """When a file was written last; None where there is none."""
    return path.stat().st_mtime_ns if path is not None and path.exists() else None
