"""How worker processes of joblib behave beside the process that waits for them."""

from __future__ import annotations

import signal
from typing import Any

__all__ = ["LEAVE_INTERRUPTS"]

#: For `joblib.Parallel`, with any backend: workers ignore Ctrl-C, which a terminal sends to all
#: processes. The parent answers it and ends them; a worker that was between two tasks just then
#: would print a traceback. Workers for other work are started anew and hear it. What is left is the
#: moment in which Python itself starts in a worker.
LEAVE_INTERRUPTS: dict[str, Any] = {
    "initializer": signal.signal,
    "initargs": (signal.SIGINT, signal.SIG_IGN),
}
