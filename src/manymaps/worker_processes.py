"""How a worker process of joblib behaves beside the process that waits for it."""

from __future__ import annotations

import os
import signal
import threading

__all__ = ["leave_interrupts_to"]


def leave_interrupts_to(parent: int) -> None:
    """Ignore Ctrl-C in a worker of the process `parent`; elsewhere nothing changes.

    A terminal sends the signal to all processes. The parent answers it and ends its workers; a
    worker that is between two tasks just then would print a traceback of the interruption. Threads
    of the parent, and of a worker of a cluster, are left alone.

    >>> leave_interrupts_to(os.getpid())
    """
    if os.getpid() != parent and threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.SIG_IGN)
