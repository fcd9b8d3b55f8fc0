"""Tasks for `test_tasks.py`, in a module that workers find: they know none of the tests."""

import os
import signal
import warnings

import numba

from manymaps.compute.threads import threads
from manymaps.errors import DataWarning, ParameterError


def times(data, factor):
    """A task that would tell of data which it may not change, or which came broken."""
    data[0] = data[0]
    return float(data.sum() * factor)


def n_threads():
    with threads(-1):
        return numba.get_num_threads()


def dies(marks, k, deaths):
    """End this process so many times where k is 1; files mark what was."""
    mine = sorted(marks.glob(f"{k}-*"))
    (marks / f"{k}-{len(mine)}").touch()
    if k == 1 and len(mine) < deaths:
        os.kill(os.getpid(), signal.SIGKILL)
    return k * 10


def complains(k):
    if k % 2:
        warnings.warn(f"number {k} is odd", DataWarning, stacklevel=1)
    return k


def fails(k):
    raise ParameterError(f"must not be {k}", name="k", value=k)


def called(function):
    return function()
