"""Tasks for `test_tasks.py`, in a module that workers find: they know none of the tests."""

import os
import signal
import time
import warnings
from contextlib import suppress

from manymaps.compute.threads import current_threads, threads
from manymaps.errors import DataWarning, ParameterError


def times(data, factor):
    """Fail if the data are read-only, for which numba would compile its loops again."""
    data[0] = data[0]
    return float(data.sum() * factor)


def n_threads():
    with threads(-1):
        return current_threads()


def dies(marks, k):
    """End this process if k is 3, once the three tasks before have ended."""
    if k == 3:
        while len(list(marks.iterdir())) < 3:
            time.sleep(0.05)
        time.sleep(0.5)  # for their results to arrive
        os.kill(os.getpid(), getattr(signal, "SIGKILL", signal.SIGTERM))
    (marks / str(k)).touch()
    return k * 10


def sleeps(marks, seconds):
    time.sleep(seconds)
    (marks / str(seconds)).touch()


def complains(k):
    if k % 2:
        warnings.warn(f"number {k} is odd", DataWarning, stacklevel=1)
    return k


def fails(k):
    raise ParameterError(f"must not be {k}", name="k", value=k)


def called(function):
    return function()


class DiesOnce:
    """Callback that ends the process of a worker in the middle of a fit, and only the first one."""

    def __init__(self, marker, parent):
        self.marker, self.parent, self.is_armed = marker, parent, False

    def __call__(self, iteration, *_):
        if self.is_armed and iteration == 4 and os.getpid() != self.parent:
            with suppress(FileExistsError):
                self.marker.touch(exist_ok=False)
                os.kill(os.getpid(), getattr(signal, "SIGKILL", signal.SIGTERM))
