"""Cases in a process of their own, which may die of one or never come back."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any

__all__ = ["ProcessLost", "Worker"]


class ProcessLost(Exception):
    """The process of a case has ended, or did not come back in time."""


class Worker:
    """Calls of one function, one after the other, in a process that is replaced where it is lost.

    Parameters
    ----------
    function : callable
        Of a module, so that another process finds it.
    seconds : float
        How long a call may take.
    """

    def __init__(self, function: Callable[..., Any], seconds: float):
        self._function, self._seconds = function, seconds
        self._process: Any = None

    def __call__(self, *arguments: Any) -> Any:
        """What the function gives; raises `ProcessLost`."""
        if self._process is None:
            context = multiprocessing.get_context("spawn")
            self._pipe, theirs = context.Pipe()
            self._process = context.Process(
                target=_serve, args=(theirs, self._function), daemon=True
            )
            self._process.start()
            theirs.close()
        try:
            self._pipe.send(arguments)
            if self._pipe.poll(self._seconds):
                return self._pipe.recv()
            how = f"it did not come back in {self._seconds:g} s"
        except (EOFError, OSError):
            self._process.join()
            how = f"its process ended with {self._process.exitcode}"
        self.close()
        raise ProcessLost(how)

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.kill()
            self._process.join()
            self._pipe.close()
            self._process = None


def _serve(pipe: Connection, function: Callable[..., Any]) -> None:
    while True:
        try:
            arguments = pipe.recv()
        except EOFError:
            return
        pipe.send(function(*arguments))
