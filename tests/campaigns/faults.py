"""Processes that end when they did not choose to, or find the machine other than they wish.

    python -m campaigns faults --minutes 20 --seed 1

A case is a command of `campaigns.programs` and a fault, both drawn: a signal at some moment, a
reader that goes away, a disk that is full, a folder that cannot be written to, no place for
compiled code, another locale or none of the usual variables, little memory, the same command twice
at once; or fits in several threads or in a process that was forked. Whatever happens

* nobody reads a traceback, and the exit status is one that is promised (`manymaps.cli.contract`);
* a file under its final name is whole, and nothing else is left (but after SIGKILL);
* no process stays behind;
* the same command, or with what it goes on from, then gives the same bits as if nothing had been.
"""

from __future__ import annotations

import ctypes
import math
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path

from campaigns.outcome import Finding, Outcome
from campaigns.programs import PROGRAMS, Program, content, write_inputs

__all__ = ["GROUPS", "Workshop", "campaign", "problems", "run"]

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 300.0
_DROP_FROM_BOUNDING_SET, _OVERRIDES_PERMISSIONS = 24, 1

# Python itself has no word for a Ctrl-C before it runs anything; the pipe says when it does.
_READY = """
import os, runpy, signal, sys
os.write({ready}, b"1"); os.close({ready})
if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    signal.signal(signal.SIGINT, signal.SIG_DFL)
sys.argv[0] = "manymaps"
runpy.run_module("manymaps", run_name="__main__")
"""

THREADS = """
import threading
import numpy as np
import manymaps as mm
data = mm.read_associations("norms.csv")
def maps(seed): return mm.MultipleMapsTSNE(3, max_iter=40, random_state=seed).fit(data).atlas_.maps
alone = [maps(seed) for seed in range({count})]
found = [None] * {count}
def one(seed): found[seed] = maps(seed)
threads = [threading.Thread(target=one, args=(seed,)) for seed in range({count})]
for thread in threads: thread.start()
for thread in threads: thread.join()
assert all(np.array_equal(a, b) for a, b in zip(alone, found)), "other bits"
"""

FORKS = """
import multiprocessing, sys, warnings
import numpy as np
import manymaps as mm
warnings.simplefilter("ignore")
norms, vectors = mm.read_associations("norms.csv"), mm.read_vectors("vectors.txt")
def maps(seed):
    fitted = mm.MultipleMapsTSNE(3, max_iter=40, random_state=seed).fit(norms)
    if {vectors}: fitted = mm.TSNE(perplexity=5, max_iter=30, random_state=seed).fit(vectors)
    return fitted.atlas_.maps
if __name__ == "__main__":
    alone = [maps(seed) for seed in range(2)]
    with multiprocessing.get_context({method!r}).Pool(2) as pool:
        found = pool.map(maps, range(2))
    assert all(np.allclose(a, b, atol=1e-2) for a, b in zip(alone, found)), "other maps"
"""


class Workshop:
    """A folder with inputs, from which a copy is made for each case.

    Parameters
    ----------
    folder : path
    """

    def __init__(self, folder: Path):
        self.folder = folder
        self.inputs = folder / "inputs"
        self.inputs.mkdir()
        write_inputs(self.inputs)
        self._cases = 0
        self._unfaulted: dict[str, tuple[float, dict[str, object], bytes]] = {}

    def case(self) -> Path:
        """A fresh folder to work in."""
        self._cases += 1
        return Path(shutil.copytree(self.inputs, self.folder / f"case{self._cases}"))

    def unfaulted(self, name: str) -> tuple[float, dict[str, object], bytes]:
        """Seconds, outputs and stdout of a program that nothing befalls, once it is compiled."""
        if name not in self._unfaulted:
            program = PROGRAMS[name]
            for _ in range(2):
                folder = self.case()
                since = time.monotonic()
                done = Case(folder, program.arguments).end()
                assert done.returncode == 0, done.stderr
                seconds = time.monotonic() - since
            outputs = {output: content(folder / output) for output in program.outputs}
            self._unfaulted[name] = seconds, outputs, done.stdout
        return self._unfaulted[name]

    @cached_property
    def unwritable(self) -> Path:
        """A copy of the package in which nothing can be written, and nothing is compiled."""
        copy = self.folder / "package"
        shutil.copytree(ROOT / "src", copy, ignore=shutil.ignore_patterns("__pycache__"))
        for path in [copy, *copy.rglob("*")]:
            path.chmod(0o555 if path.is_dir() else 0o444)
        return copy


class Case:
    """A program that runs, in a process group of its own.

    Parameters
    ----------
    folder : path
    arguments : sequence of str
    environment : mapping, optional
        Changes; None takes a variable away.
    before : callable, optional
        Called in the process before the program begins.
    """

    def __init__(
        self,
        folder: Path,
        arguments: Sequence[str],
        environment: Mapping[str, str | None] | None = None,
        before: Callable[[], None] | None = None,
        script: str | None = None,
    ):
        changed = {**os.environ, "PYTHONPATH": str(ROOT / "src"), **(environment or {})}
        self._ready, ready = os.pipe()
        self.process = subprocess.Popen(
            [sys.executable, "-c", script or _READY.format(ready=ready), *arguments],
            cwd=folder,
            env={name: value for name, value in changed.items() if value is not None},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            pass_fds=[ready],
            start_new_session=True,
            preexec_fn=before,
        )
        os.close(ready)

    def wait_until_it_runs(self) -> None:
        """Until Python has started."""
        os.read(self._ready, 1)

    def end(self) -> subprocess.CompletedProcess[bytes]:
        """How it ended; a returncode of None where it hangs."""
        try:
            stdout, stderr = self.process.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
            stdout, stderr = self.process.communicate()
            stderr += b"\nTraceback: it hangs\n"
        os.close(self._ready)
        return subprocess.CompletedProcess(
            self.process.args, self.process.returncode, stdout, stderr
        )

    def left_behind(self) -> bool:
        """Whether any process of the group is still there after some seconds."""
        for _ in range(100):
            try:
                os.killpg(self.process.pid, 0)
            except ProcessLookupError:
                return False
            time.sleep(0.1)
        os.killpg(self.process.pid, signal.SIGKILL)
        return True


def problems(done: subprocess.CompletedProcess[bytes], allowed: Sequence[int]) -> Iterator[str]:
    """What is wrong with the words and the status of a program."""
    told = done.stderr.decode(errors="replace")
    if "Traceback" in told or "Exception ignored" in told:
        yield f"a traceback: {told.strip().splitlines()[-1][:200]}"
    if done.returncode not in allowed:
        yield f"status {done.returncode}: {told.strip()[-200:]}"


def _left(workshop: Workshop, name: str, folder: Path, leftovers: bool = False) -> Iterator[str]:
    """What is wrong with the files that a program left."""
    _, whole, _ = workshop.unfaulted(name)
    known = {path.name for path in workshop.inputs.iterdir()} | {*whole, "o.partial.atlas"}
    for file in sorted(folder.iterdir()):
        if file.name not in known:
            if not leftovers:
                yield f"{file.name} is left behind"
        elif file.name in whole and not file.name.endswith((".jsonl", ".state")):
            try:
                same = content(file) == whole[file.name]
            except Exception as error:
                yield f"{file.name} is not whole: {error}"
            else:
                if not same:
                    yield f"{file.name} is another than without the fault"


def _again(workshop: Workshop, name: str, folder: Path) -> Iterator[str]:
    """What is wrong when the command is given once more, with what it can go on from."""
    program: Program = PROGRAMS[name]
    resumes = program.resumes
    if resumes and not (folder / resumes[-1]).exists():
        resumes = ()
    done = Case(folder, (*program.arguments, *resumes)).end()
    yield from (f"again: {problem}" for problem in problems(done, (0,)))
    _, whole, _ = workshop.unfaulted(name)
    for output, expected in whole.items():
        if not (folder / output).exists() or content(folder / output) != expected:
            yield f"again: {output} is another than without the fault"


def signals(workshop: Workshop, name: str, draw: random.Random) -> Iterator[str]:
    """A signal at any moment, or when there is the first new file, which is being written."""
    number = draw.choice([signal.SIGKILL, signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
    seconds, _, _ = workshop.unfaulted(name)
    writes = draw.random() < 0.4
    delay = draw.uniform(0, 0.02 if writes else seconds)
    folder = workshop.case()
    before = len([*folder.iterdir()])
    case = Case(folder, PROGRAMS[name].arguments)
    case.wait_until_it_runs()
    while writes and len([*folder.iterdir()]) == before and case.process.poll() is None:
        time.sleep(0.0005)
    time.sleep(delay)
    with suppress(ProcessLookupError):
        case.process.send_signal(number)
    done = case.end()
    what = f"{number.name} {delay:.4f} s after the first {'file' if writes else 'line'}"
    killed = number is signal.SIGKILL
    allowed = (0, -number) if killed else (0, 130, -number)
    yield from (f"{what}: {p}" for p in problems(done, allowed))
    yield from (f"{what}: {p}" for p in _left(workshop, name, folder, leftovers=killed))
    if case.left_behind():
        yield f"{what}: a process stays behind"
    yield from (f"{what}: {p}" for p in _again(workshop, name, folder))


def pipes(workshop: Workshop, name: str, draw: random.Random) -> Iterator[str]:
    """A reader of stdout, of stderr or of both that goes away after some bytes, or is not there."""
    closed = draw.choice(["stdout", "stderr", "both", ">&-", "2>&-", ">&- 2>&-", "<&-"])
    folder = workshop.case()
    if "&" in closed:
        numbers = [int(part[0]) if part[0].isdigit() else "<>".index(part[0])
                   for part in closed.split()]  # fmt: skip
        case = Case(folder, PROGRAMS[name].arguments, before=lambda: [*map(os.close, numbers)])
    else:
        case = Case(folder, PROGRAMS[name].arguments)
        case.wait_until_it_runs()
        for stream in ("stdout", "stderr"):
            if closed in (stream, "both"):
                getattr(case.process, stream).read(draw.choice([0, 1]))
                getattr(case.process, stream).close()
                setattr(case.process, stream, None)
    done = case.end()
    done.stderr = done.stderr or b""
    yield from (f"{closed}: {p}" for p in problems(done, (0, 1, -signal.SIGPIPE)))
    yield from (f"{closed}: {p}" for p in _left(workshop, name, folder))


def disks(workshop: Workshop, name: str, draw: random.Random) -> Iterator[str]:
    """No file may become larger than some bytes, as on a full disk."""
    size = int(10 ** draw.uniform(1, 5))
    compiled = draw.random() < 0.1
    folder = workshop.case()
    environment = {"NUMBA_CACHE_DIR": str(workshop.folder / "new")} if compiled else {}
    done = Case(
        folder,
        PROGRAMS[name].arguments,
        environment,
        lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size)),
    ).end()
    shutil.rmtree(workshop.folder / "new", ignore_errors=True)
    yield from (f"files of {size} bytes: {p}" for p in problems(done, (0, 1, 2)))
    yield from (f"files of {size} bytes: {p}" for p in _left(workshop, name, folder))
    yield from (f"files of {size} bytes: {p}" for p in _again(workshop, name, folder))


def places(workshop: Workshop, name: str, draw: random.Random) -> Iterator[str]:
    """A folder that cannot be written to, one that is gone, or no place for compiled code."""
    where = draw.choice(["read-only folder", "folder gone", "nothing can be compiled for later"])
    folder = workshop.case()
    environment: dict[str, str | None] = {}
    allowed: tuple[int, ...] = (2,) if PROGRAMS[name].outputs else (0,)
    before = _without_privileges
    if where == "read-only folder":
        folder.chmod(0o555)
    elif where == "folder gone":
        allowed = (0, 2, 3)

        def before() -> None:
            shutil.rmtree(folder)
    else:
        allowed = (0,)
        environment = {
            "PYTHONPATH": str(workshop.unwritable), "NUMBA_CACHE_DIR": None, "HOME": "/proc",
            "MPLCONFIGDIR": None, "XDG_CACHE_HOME": None,
        }  # fmt: skip
    done = Case(folder, PROGRAMS[name].arguments, environment, before).end()
    yield from (f"{where}: {p}" for p in problems(done, allowed))
    if folder.exists():
        folder.chmod(0o755)
        # Compiled in the process itself, a loop may differ in the last bit.
        if where == "read-only folder":
            yield from (f"{where}: {p}" for p in _left(workshop, name, folder))


def _without_privileges() -> None:
    """Root may write anywhere, but not without this."""
    ctypes.CDLL(None).prctl(_DROP_FROM_BOUNDING_SET, _OVERRIDES_PERMISSIONS, 0, 0, 0)


def environments(workshop: Workshop, name: str, draw: random.Random) -> Iterator[str]:
    """Locales and variables as they are elsewhere."""
    choices: dict[str, tuple[str | None, ...]] = {
        "LC_ALL": (None, "C", "POSIX", "tr_TR.UTF-8", "de_DE.ISO-8859-1", "nonsense"),
        "LANG": (None, "C", "ja_JP.eucJP"),
        "PYTHONIOENCODING": (None, "ascii", "latin-1", "utf-16"),
        "PYTHONUTF8": (None, "0", "1"),
        "PYTHONCOERCECLOCALE": (None, "0"),
        "HOME": (None, "/nonexistent", ""),
        "TMPDIR": (None, "/nonexistent"),
        "TERM": (None, "dumb", "nonsense"),
        "COLUMNS": (None, "1", "x"),
        "PATH": (None, ""),
        "PYTHONWARNINGS": (None, "error::UserWarning"),
        "TZ": (None, "nonsense"),
    }
    environment = {
        variable: draw.choice(values) for variable, values in choices.items() if draw.random() < 0.5
    }
    told = " ".join(f"{variable}={value}" for variable, value in environment.items())
    folder = workshop.case()
    arguments = PROGRAMS[name].arguments
    done = Case(folder, arguments, environment).end()
    yield from (f"{told}: {p}" for p in problems(done, (0,)))
    yield from (f"{told}: {p}" for p in _left(workshop, name, folder))
    if "utf-16" not in told and not done.stdout and workshop.unfaulted(name)[2]:
        yield f"{told}: nothing on stdout"


def memory(workshop: Workshop, name: str, draw: random.Random) -> Iterator[str]:
    """Half a gigabyte to three."""
    size = int(draw.uniform(0.5, 3) * 2**30)
    folder = workshop.case()
    arguments = PROGRAMS[name].arguments
    limit = (size, size)
    done = Case(
        folder, arguments, before=lambda: resource.setrlimit(resource.RLIMIT_AS, limit)
    ).end()
    what = f"{size / 2**30:.2f} GiB"
    yield from (f"{what}: {p}" for p in problems(done, (0, 1)))
    yield from (f"{what}: {p}" for p in _left(workshop, name, folder))


def together(workshop: Workshop, name: str, draw: random.Random) -> Iterator[str]:
    """The same command twice at once, in one folder."""
    folder = workshop.case()
    first = Case(folder, PROGRAMS[name].arguments)
    time.sleep(draw.choice([0, 0, draw.uniform(0, workshop.unfaulted(name)[0])]))
    second = Case(folder, PROGRAMS[name].arguments)
    ends = [first.end(), second.end()]
    for done in ends:
        yield from problems(done, (0, 3))
    if all(done.returncode for done in ends):
        yield "neither of two that ran at once ended well"
    yield from _left(workshop, name, folder)
    yield from _again(workshop, name, folder)


def processes(workshop: Workshop, name: str, draw: random.Random) -> Iterator[str]:
    """Fits in several threads, and in processes that were forked after a fit."""
    scripts = {
        "threads": THREADS.format(count=draw.randint(2, 4)),
        "forks": FORKS.format(method="fork", vectors=draw.random() < 0.5),
        "spawns": FORKS.format(method="forkserver", vectors=False),
    }
    what = draw.choice(sorted(scripts))
    folder = workshop.case()
    script = folder / "script.py"
    script.write_text(scripts[what], encoding="utf-8")
    run_it = "import runpy; runpy.run_path('script.py', run_name='__main__')"
    environment = {"NUMBA_NUM_THREADS": "2"}
    done = Case(folder, (), environment, script=run_it if what != "spawns" else _AS_MAIN).end()
    yield from (f"{what}: {p}" for p in problems(done, (0,)))


# Processes that are started anew import the main module by its name.
_AS_MAIN = "import os, sys; os.execv(sys.executable, [sys.executable, 'script.py'])"

GROUPS: dict[str, Callable[[Workshop, str, random.Random], Iterator[str]]] = {
    "signals": signals, "pipes": pipes, "disks": disks, "places": places,
    "environments": environments, "memory": memory, "together": together, "processes": processes,
}  # fmt: skip
# Signals fall at very many moments, the others at few.
_TURNS = ("signals", "pipes", "signals", "disks", "signals", "environments", "signals", "places",
          "signals", "memory", "signals", "together", "signals", "processes")  # fmt: skip


def campaign(
    seconds: float,
    seed: int,
    most: float = math.inf,
    turns: Sequence[str] = _TURNS,
    programs: Sequence[str] = tuple(PROGRAMS),
    workshop: Workshop | None = None,
) -> Outcome:
    """At most so many faults in turn, each of a program that is drawn, until the time is over.

    A workshop that is given knows what programs do that nothing befalls, from earlier campaigns.
    """
    outcome = Outcome("faults")
    until = time.monotonic() + seconds
    with tempfile.TemporaryDirectory() as folder:
        workshop = workshop or Workshop(Path(folder))
        number = 0
        while time.monotonic() < until and number < most:
            group = turns[number % len(turns)]
            draw = random.Random(f"{seed} {number}")
            name = draw.choice(programs)
            outcome.cases[group] += 1
            for problem in GROUPS[group](workshop, name, draw):
                case = f"seed {seed}, case {number}, {name}"
                outcome.findings.append(Finding(group, problem, case))
                print(f"{group}: {problem} [{case}]", file=sys.stderr, flush=True)
            number += 1
    return outcome


def run(seconds: float, seed: int) -> Outcome:
    """Every kind of fault, of every program."""
    return campaign(seconds, seed)
