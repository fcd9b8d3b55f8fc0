"""Mutation testing: does a test fail where the source is changed a little?

    cd tests
    python -m campaigns.mutants io/columns model/target --functions Target.rows --each 20

A mutant is one change of `campaigns.mutation` to one module. The module stands in a folder of its
own and is imported from there (`_IMPORTS`), all else from the working tree, which is never touched;
its doctests are run, and the tests of its room that name what it gives out. A mutant that all of
them pass has survived: a behaviour that no test holds. Those that behave the same stand in
`campaigns.equivalent`, by function and change.

mutmut and cosmic-ray copy or change the tree in place, where what numba has compiled of all modules
would have to be compiled anew for each mutant.
"""

from __future__ import annotations

import argparse
import ast
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from campaigns.equivalent import EQUIVALENT
from campaigns.mutation import Mutant, mutants

__all__ = ["ROOMS", "Tried", "covering", "modules_of", "survives"]

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "manymaps"
ROOMS = tuple(sorted(file.parent.name for file in PACKAGE.glob("*/__init__.py")))

# The finder of the module that was changed, in every process that a test starts.
_IMPORTS = """
import importlib.machinery, importlib.util, sys
class Changed:
    def find_spec(self, name, path=None, target=None):
        if name == {name!r}:
            return importlib.util.spec_from_file_location(name, {file!r})
sys.meta_path.insert(0, Changed())
"""
_DOCTESTS = """
import doctest, importlib, sys
tested = doctest.testmod(importlib.import_module({name!r}), optionflags=doctest.ELLIPSIS)
sys.exit(tested.failed > 0)
"""
# Tests of another name that hold what a module does.
_ALSO = {
    "data/pair_rules": ("tests/io/test_associations.py",),
    "io/associations": ("tests/io/test_matrices.py", "tests/io/test_graphs.py"),
    "io/containers": ("tests/io/test_frames.py", "tests/io/test_graphs.py"),
    "io/annotated": ("tests/io/test_vectors.py", "tests/maps/test_annotated.py"),
    "io/columns": (
        "tests/io/test_associations.py",
        "tests/io/test_matrices.py", "tests/io/test_counts.py", "tests/io/test_vectors.py",
        "tests/io/test_rules.py",
    ),
    "io/counts": ("tests/io/test_rules.py", "tests/data/test_counts.py"),
    "io/similarities": (
        "tests/io/test_ratings.py", "tests/io/test_rules.py", "tests/cli/test_cluster.py",
        "tests/data/test_datasets.py",
    ),
    "io/texts": ("tests/io/test_counting.py",),
    "compute/steps": ("tests/optimizers",),
    "compute/rows": ("tests/model/test_rows.py", "tests/prediction/test_predictor.py"),
    "compute/cluster_moves": ("tests/clustering/test_solvers.py",),
    "compute/nonnegative": ("tests/clustering/test_solvers.py",),
    "compute/mixture": ("tests/model/test_objective.py",),
    "compute/attraction": ("tests/model/test_objective.py",),
    "compute/threads": ("tests/model/test_objective.py",),
    "compute/scaling": ("tests/analysis/test_scaling.py", "tests/maps/test_starts.py"),
    "compute/runs": ("tests/affinity",),
    "model/choice": ("tests/model/test_objective.py", "tests/atlas/test_probabilities.py"),
    "model/similarities": ("tests/atlas/test_probabilities.py",),
    "optimizers/loop": ("tests/maps/test_restarts.py",),
    "optimizers/momentum": ("tests/optimizers/test_steps.py", "tests/optimizers/test_presets.py"),
    "analysis/senses": ("tests/analysis/test_stability.py",),
    "analysis/stability": ("tests/analysis/test_stability.py",),
}  # fmt: skip


def modules_of(room: str) -> list[str]:
    """Modules of a room, as "io/columns"."""
    files = sorted((PACKAGE / room).glob("*.py")) or [PACKAGE / f"{room}.py"]
    names = [file.relative_to(PACKAGE).with_suffix("").as_posix() for file in files]
    return [name for name in names if not name.endswith("__init__")]


def covering(module: str) -> list[str]:
    """Tests of a module: the file of its name first, then those of its room with its names."""
    room, _, name = module.rpartition("/")
    folder = ROOT / "tests" / room
    own = folder / f"test_{name}.py"
    tree = ast.parse((PACKAGE / f"{module}.py").read_text(encoding="utf-8"))
    definitions = (ast.FunctionDef, ast.ClassDef)
    names = [node.name for node in tree.body if isinstance(node, definitions)]
    public = [one for one in names if not one.startswith("_")]
    named = re.compile(rf"\b({'|'.join([*map(re.escape, public), re.escape(name) + ' import'])})\b")
    others = [
        file
        for file in sorted(folder.glob("test_*.py"))
        if file != own and named.search(file.read_text(encoding="utf-8"))
    ]
    found = [str(file.relative_to(ROOT)) for file in [own, *others] if file.exists()]
    also = [test for test in _ALSO.get(module, ()) if (ROOT / test).exists()]
    found += [test for test in also if test not in found]
    return found or [f"tests/{room}"]


@dataclass
class Outcome:
    """How many mutants were tried in each package, and those that survived."""

    tried: Counter[str] = field(default_factory=Counter)
    survivors: list[tuple[str, str]] = field(default_factory=list)

    def summary(self) -> str:
        """One line: mutants and survivors, in all and by package."""
        found = Counter(room for room, _ in self.survivors)
        rooms = ", ".join(f"{room} {n} of {self.tried[room]}" for room, n in sorted(found.items()))
        return f"{self.tried.total()} mutants, {found.total()} survived ({rooms or 'none'})"


class Tried:
    """A module whose tests can be run with any source in its place.

    Parameters
    ----------
    module : str
    folder : path
        For the changed module and what is compiled of it.
    """

    def __init__(self, module: str, folder: Path):
        self.module = module
        self.name = f"manymaps.{module.replace('/', '.')}"
        self.source = (PACKAGE / f"{module}.py").read_text(encoding="utf-8")
        self.tests = covering(module)
        self._folder = folder
        self._file = folder / "changed" / f"{module}.py"
        self._file.parent.mkdir(parents=True)
        imports = _IMPORTS.format(name=self.name, file=str(self._file))
        (folder / "sitecustomize.py").write_text(imports)
        self._caches = 0
        self._is_compiled_into_others = module.startswith("compute/") and any(
            f"from {self.name} import" in file.read_text(encoding="utf-8")
            for file in (PACKAGE / "compute").glob("*.py")
        )

    def passes(self, source: str, limit: float) -> bool:
        """Whether all tests pass in time with this source as the module."""
        self._file.write_text(source, encoding="utf-8")
        environment = os.environ | {
            "PYTHONPATH": os.pathsep.join(map(str, (self._folder, ROOT / "src", ROOT / "tests"))),
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        if self._is_compiled_into_others:
            # What was compiled of them would hide the change.
            self._caches += 1
            environment["NUMBA_CACHE_DIR"] = str(self._folder / f"cache{self._caches}")
        doctests = [sys.executable, "-c", _DOCTESTS.format(name=self.name)]
        tests = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "-m"]
        until = time.monotonic() + limit
        return _ends_well(doctests, environment, until) and (
            not self.tests or _ends_well([*tests, "not slow", *self.tests], environment, until)
        )


def _ends_well(command: Sequence[str], environment: dict[str, str], until: float) -> bool:
    """Whether a program ends with 0 in time; it and what it started is ended otherwise."""
    process = subprocess.Popen(
        command,
        cwd=ROOT,
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        return process.wait(max(0.0, until - time.monotonic())) == 0
    except subprocess.TimeoutExpired:
        return False
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def survives(tried: Tried, mutant: Mutant, limit: float) -> bool:
    """Whether no test notices a change."""
    return tried.passes(mutant.source, limit)


def is_equivalent(module: str, mutant: Mutant) -> bool:
    """Whether a change is known to make no difference."""
    return (module, mutant.function, mutant.change) in EQUIVALENT


def campaign(
    modules: Sequence[str], seconds: float, seed: int, each: int, functions: frozenset[str] | None
) -> Outcome:
    """Some mutants of each module in turn, until the time is over."""
    outcome = Outcome()
    until = time.monotonic() + seconds
    with tempfile.TemporaryDirectory() as folder:
        for number, (module, chosen) in enumerate(_rounds(modules, seed, each, functions)):
            if time.monotonic() > until:
                break
            _try(module, chosen, Path(folder, str(number)), until, outcome)
    return outcome


def _rounds(
    modules: Sequence[str], seed: int, each: int, functions: frozenset[str] | None
) -> Iterator[tuple[str, list[Mutant]]]:
    """Modules in an order of the seed, and mutants of each drawn evenly over its functions."""
    draw = random.Random(seed)
    for module in draw.sample(modules, len(modules)):
        source = (PACKAGE / f"{module}.py").read_text(encoding="utf-8")
        found = [m for m in mutants(source, functions) if not is_equivalent(module, m)]
        yield module, draw.sample(found, min(each, len(found)))


def _try(
    module: str, chosen: Sequence[Mutant], folder: Path, until: float, outcome: Outcome
) -> None:
    room = module.partition("/")[0]
    tried = Tried(module, folder)
    started = time.monotonic()
    if chosen and not tried.passes(tried.source, 900):
        outcome.survivors.append((room, f"{module}: its tests fail unchanged"))
        print(f"{module}: its tests fail unchanged", file=sys.stderr, flush=True)
        return
    limit = 30 + 5 * (time.monotonic() - started)
    for number, mutant in enumerate(chosen):
        if time.monotonic() > until:
            break
        print(f"{module}: {number} of {len(chosen)}", file=sys.stderr, flush=True)
        outcome.tried[room] += 1
        if survives(tried, mutant, limit):
            case = f"{module}.py:{mutant.line} {mutant.function}: {mutant.change}"
            outcome.survivors.append((room, case))
            print(f"survived: {case}", file=sys.stderr, flush=True)


def main() -> int:
    """Mutants of some modules."""
    parser = argparse.ArgumentParser(prog="campaigns.mutants", description=__doc__)
    parser.add_argument("modules", nargs="+", metavar="MODULE", help="io/columns; or a room: io")
    parser.add_argument("--functions", nargs="*", metavar="NAME", help="of these alone")
    parser.add_argument("--each", type=int, default=6, help="mutants of a module")
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    modules = [
        module
        for name in asked.modules
        for module in (modules_of(name) if name in ROOMS else [name])
    ]
    functions = None if asked.functions is None else frozenset(asked.functions)
    outcome = campaign(modules, 60 * asked.minutes, asked.seed, asked.each, functions)
    print(outcome.summary())
    return 1 if outcome.survivors else 0


if __name__ == "__main__":
    sys.exit(main())
