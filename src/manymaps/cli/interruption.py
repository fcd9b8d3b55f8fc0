"""How a command is interrupted, and what is left of a fit then.

A fit without a checkpoint that is interrupted ends with the iteration it is at, as one does that
has had all its iterations, and its maps are written beside the output. Pressed before the first
iteration is done, or for the second time, Ctrl-C ends it at once.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

__all__ = ["Stop", "ending_early", "interruptible", "modified", "partial_name"]


@contextmanager
def interruptible() -> Iterator[Callable[[], bool]]:
    """Treat the signals TERM and HUP like Ctrl-C while a command runs; yields whether one came.

    A signal that is ignored (HUP under nohup, INT in the background of a script) stays so.
    """
    came = False

    def interrupt(number: int, frame: FrameType | None) -> None:
        nonlocal came
        came = True
        on_ctrl_c = signal.getsignal(signal.SIGINT)
        if number == signal.SIGINT or not callable(on_ctrl_c) or on_ctrl_c is interrupt:
            raise KeyboardInterrupt
        on_ctrl_c(number, frame)

    if threading.current_thread() is not threading.main_thread():
        yield lambda: came
        return
    former = {number: signal.getsignal(number) for number in _INTERRUPTING}
    for number, handler in former.items():
        if handler is not signal.SIG_IGN:
            signal.signal(number, interrupt)
    try:
        yield lambda: came
    finally:
        for number, handler in former.items():
            signal.signal(number, handler)


_INTERRUPTING = tuple(
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
)


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


def partial_name(output: Path, suffix: str = ".atlas") -> Path:
    """Where what is done is written of a command that was interrupted: norms.partial.atlas."""
    return output.with_name(f"{output.stem}.partial{suffix}")


def modified(path: Path | None) -> int | None:
    """When a file was written last; None where there is none."""
    return path.stat().st_mtime_ns if path is not None and path.exists() else None
