"""How many functions does a reader meet between a call and the first step of a fit?

    python benchmarks/calls.py [--names]

For each call, the script counts the distinct functions of manymaps, and the files that contain
them, until the first iteration has moved the parameters (for the command line, until `fit` begins).
All modules are loaded before. Progress, checks of parameters, and compilation are left out.
"""

from __future__ import annotations

import argparse
import importlib
import pkgutil
import sys
import tempfile
import types
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from click.testing import CliRunner
from sklearn.datasets import load_digits

import manymaps as mm
from manymaps.cli import cli

ROOT = Path(mm.__file__).parent
LEFT_OUT = {"progress.py", "checks.py", "constraints.py", "compute/jit.py"}


class FirstStep(BaseException):
    """The parameters have moved. (The command line catches each `Exception`.)"""


def stop(*_progress: Any) -> None:
    raise FirstStep


def fit_file() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "norms.csv"
        path.write_text("cue,response,count\ntie,knot,3\ntie,suit,2\nknot,tie,4\nsuit,tie,1\n")
        arguments = "fit", str(path), "--maps", "2", "-o", f"{folder}/norms.atlas"
        raise RuntimeError(CliRunner().invoke(cli, arguments).output)


def calls() -> Iterator[tuple[str, Callable[[], object]]]:
    """Yield the names and the functions of the calls, with the data read."""
    settings = {"random_state": 0, "callback": stop}
    norms, digits = mm.load_word_associations(), load_digits().data
    fit = mm.MultipleMapsTSNE(n_maps=5, **settings).fit
    yield "MultipleMapsTSNE(n_maps=5).fit(norms)", partial(fit, norms)
    yield "TSNE().fit(digits)", partial(mm.TSNE(**settings).fit, digits)
    yield "CODE().fit(counts)", partial(mm.CODE(**settings).fit, digits)
    yield "manymaps fit norms.csv, before fit", fit_file


def functions_of(call: Callable[[], object], until_fit: bool) -> set[tuple[str, str]]:
    """Return the file and the name of every function of manymaps that a call enters."""
    entered: set[tuple[str, str]] = set()

    def profile(frame: types.FrameType, event: str, _: Any) -> None:
        path, name = Path(frame.f_code.co_filename), frame.f_code.co_qualname
        if event != "call" or not path.is_relative_to(ROOT) or name.endswith(">"):
            return
        file = path.relative_to(ROOT).as_posix()
        if until_fit and file.startswith(("maps/", "cooccurrence/")) and name.endswith(".fit"):
            raise FirstStep
        if file not in LEFT_OUT:
            entered.add((file, name))

    sys.setprofile(profile)
    try:
        call()
    except FirstStep:
        pass
    finally:
        sys.setprofile(None)
    return entered


def main() -> None:
    parser = argparse.ArgumentParser(description="Count the functions before the first step.")
    parser.add_argument("--names", action="store_true", help="also list the functions")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    for module in pkgutil.walk_packages([str(ROOT)], "manymaps."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    for name, call in calls():
        entered = functions_of(call, until_fit=call is fit_file)
        n_files = len({file for file, _ in entered})
        print(f"{name:<40} {len(entered):4d} functions in {n_files:3d} files")
        if arguments.names:
            print(*(f"    {file}: {function}" for file, function in sorted(entered)), sep="\n")


if __name__ == "__main__":
    main()
