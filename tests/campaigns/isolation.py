"""Cases run in processes of their own: one that kills it, hangs or devours memory is found.

    for ending in isolated(case, first, last): ...       case(number) -> Ending, in a forked process

Each case may take `PROCESSOR_SECONDS` and grow the process by `MOST_GIGABYTES`. A process that dies
is followed by another one, which goes on with the next case. Memory that one case has spoilt may
kill a later one, or the process between two; then the case before is named.

Whoever calls this must have started no threads, since it forks.
"""

from __future__ import annotations

import faulthandler
import json
import os
import re
import resource
import select
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO

__all__ = ["Ending", "apart", "isolated"]

PROCESSOR_SECONDS = 10
MOST_GIGABYTES = 4.0
# Libraries that are loaded on the way reserve what they never use.
SPARE_GIGABYTES = 2.0
# Of a machine that others use, too: a case that waits for its turn does not hang.
WALL_SECONDS = 240.0


@dataclass(frozen=True)
class Ending:
    """How a case ended.

    Attributes
    ----------
    number : int
    how : str
        "read", "refused", or what is wrong: an exception's type, a signal, "hang", "over 4 GiB".
    place : str
        The last of our functions that was at work, where something is wrong.
    told : str
        The message.
    """

    number: int
    how: str
    place: str = ""
    told: str = ""

    @property
    def is_finding(self) -> bool:
        """Whether something is wrong."""
        return self.how not in ("read", "refused")


def apart(act: Callable[[], object]) -> None:
    """Do something in a forked process, without limits; RuntimeError where it fails there."""
    with tempfile.TemporaryFile("w+") as errors:
        pid = _forked(act, errors)
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        errors.seek(0)
        if code:
            raise RuntimeError(f"exit code {code}:\n{errors.read()[-5_000:]}")


def isolated(case: Callable[[int], Ending], first: int, last: int) -> Iterator[Ending]:
    """How the cases from `first` until before `last` end."""
    number = first
    while number < last:
        with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as errors:
            source, sink = os.pipe()
            pid = _forked(lambda at=number, out=sink: _work(case, at, last, out), errors)
            os.close(sink)
            try:
                for ending in _endings(pid, source, errors):
                    yield ending
                    number = ending.number + 1
            finally:
                os.close(source)


def _forked(act: Callable[[], object], errors: IO[str]) -> int:
    """Do something in a new process, whose prints and errors go to a file."""
    sys.stdout.flush()
    pid = os.fork()
    if pid:
        return pid
    code = 1
    try:
        os.dup2(errors.fileno(), 1)
        os.dup2(errors.fileno(), 2)
        act()
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(code)


def _work(case: Callable[[int], Ending], first: int, last: int, out: int) -> None:
    """Run cases one by one, telling each before it starts and after it ended."""
    faulthandler.enable()
    faulthandler.register(signal.SIGXCPU, chain=True)
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    most = used + int((MOST_GIGABYTES + SPARE_GIGABYTES) * 2**30)
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    for number in range(first, last):
        os.write(out, f"case {number}\n".encode())
        before = _memory("VmRSS")
        spent = sum(resource.getrusage(resource.RUSAGE_SELF)[:2])
        resource.setrlimit(
            resource.RLIMIT_CPU, (int(spent) + PROCESSOR_SECONDS, resource.RLIM_INFINITY)
        )
        ending = case(number)
        grown = (_memory("VmHWM") - before) / 2**30
        if grown > MOST_GIGABYTES:
            ending = Ending(number, f"over {MOST_GIGABYTES:g} GiB", ending.place, ending.told)
        os.write(out, f"ended {json.dumps(asdict(ending))}\n".encode())
        if grown > MOST_GIGABYTES / 4 or ending.how in ("MemoryError", "RecursionError"):
            return  # a fresh process for the next: the peak does not shrink


def _memory(name: str) -> int:
    found = re.search(rf"{name}:\s+(\d+) kB", Path("/proc/self/status").read_text())
    return int(found[1]) * 1024 if found else 0


def _endings(pid: int, source: int, errors: IO[str]) -> Iterator[Ending]:
    """The endings that one process tells, its death among them."""
    at = done = None
    for line in _lines(source):
        word, _, rest = line.partition(" ")
        if word == "case":
            at = int(rest)
        else:
            at, done = None, int(json.loads(rest)["number"])
            yield Ending(**json.loads(rest))
    code, waited = _ended(pid)
    errors.seek(0)
    told = errors.read()[-20_000:]
    if code == 0 and not waited:
        return
    name = signal.Signals(-code).name if code < 0 else f"exit {code}"
    how = "hang" if waited or name == "SIGXCPU" else f"died by {name}"
    if at is None and done is None:
        raise RuntimeError(f"a process {how} before its first case:\n{told[-3000:]}")
    if at is None:
        yield Ending(done or 0, f"{how} afterwards", _last_place(told), _first_line(told))
    else:
        yield Ending(at, how, _last_place(told), _first_line(told))


def _ended(pid: int) -> tuple[int, bool]:
    """The exit code of a process that has said its last, and whether it had to be killed."""
    end = time.monotonic() + 10
    while time.monotonic() < end:
        found, status = os.waitpid(pid, os.WNOHANG)
        if found:
            return os.waitstatus_to_exitcode(status), False
        time.sleep(0.01)
    os.kill(pid, signal.SIGKILL)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), True


def _lines(source: int) -> Iterator[str]:
    """The lines that a process writes, until it ends or writes none for too long."""
    rest = b""
    while select.select([source], [], [], WALL_SECONDS)[0]:
        read = os.read(source, 2**16)
        if not read:
            return
        *lines, rest = (rest + read).split(b"\n")
        for line in lines:
            yield line.decode("utf-8", "replace")


def _last_place(errors: str) -> str:
    """The innermost of our functions in the traceback that faulthandler prints."""
    found = re.search(r'File "[^"]*/manymaps/([^"]+)", line \d+ in ([\w<>]+)', errors)
    return f"{found[1]}:{found[2]}" if found else ""


def _first_line(errors: str) -> str:
    lines = [line for line in errors.splitlines() if line.strip() and "File " not in line]
    return lines[0][:200] if lines else ""
