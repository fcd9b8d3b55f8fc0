"""What must not matter: a fit is the same however it is asked for, held, ordered or computed.

A case draws a model, a table and one change that is none:

    again, threads, process     the same bits, by the promise of `docs/develop/design.md`
    held        the table in another container, type or sparse format, numbers being the same
    renamed     other labels: the same maps
    scaled      strengths times a power of two, which normalization takes out: the same bits
    order       objects in another order from the same places: the same maps, but for rounding
    lines       the lines of a file of pairs in another order: the same associations
"""

from __future__ import annotations

import io
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from scipy import sparse

import manymaps as mm
from campaigns.outcome import Finding, Outcome
from manymaps.compute.threads import threads

__all__ = ["CHANGES", "run"]

Arguments = dict[str, Any]
MODELS = (mm.TSNE, mm.SNE, mm.SymmetricSNE, mm.UniSNE, mm.MultipleMapsTSNE, mm.MultipleMapsSNE)
_SPARSE = ("csr", "csc", "coo", "lil", "dok", "bsr")
_AGAIN = """
import io, sys
import numpy as np
import manymaps as mm
table, arguments = np.load(sys.argv[1]), eval(sys.argv[2])
fitted = getattr(mm, sys.argv[3])(**arguments).fit(table)
sys.stdout.buffer.write(fitted.maps_.tobytes() + fitted.proportions_.tobytes())
"""


def run(seconds: float, seed: int) -> Outcome:
    """Cases for so long, at least one of each change."""
    outcome = Outcome("invariances")
    begun, number = time.monotonic(), 0
    while number < len(CHANGES) or time.monotonic() - begun < seconds:
        name = list(CHANGES)[number % len(CHANGES)]
        outcome.cases[name] += 1
        told = case(seed, number)
        if told:
            outcome.findings.append(Finding(name, told, f"case({seed}, {number})"))
        number += 1
    return outcome


def case(seed: int, number: int) -> str:
    """What differed in a case, or nothing."""
    rng = np.random.default_rng([seed, number])
    name = list(CHANGES)[number % len(CHANGES)]
    model = MODELS[rng.integers(len(MODELS))]
    arguments: Arguments = {
        "affinity": "precomputed", "max_iter": int(rng.integers(5, 70)),
        "random_state": int(rng.integers(1000)),
    }  # fmt: skip
    if model in (mm.MultipleMapsTSNE, mm.MultipleMapsSNE):
        arguments["n_maps"] = int(rng.integers(1, 4))
        arguments["penalty"] = float(rng.choice([0.0, 0.01]))
    told = CHANGES[name](model, arguments, _strengths(rng), rng)
    return f"{told}: {model.__name__}({arguments})" if told else ""


def _strengths(rng: np.random.Generator) -> np.ndarray:
    """A table of whole strengths, some of them none, each row with one."""
    n = int(rng.integers(8, 60))
    table = rng.integers(1, 9, (n, n)) * (rng.random((n, n)) < rng.uniform(0.1, 0.6))
    table[np.arange(n), (np.arange(n) + 1) % n] += 1
    np.fill_diagonal(table, 0)
    return (table + table.T).astype(float)


def _fitted(model: Any, arguments: Arguments, table: Any, **fit: Any) -> Any:
    return model(**arguments).fit(table, **fit)


def _differ(one: Any, other: Any) -> str:
    """Where two fits are not the same bit by bit."""
    for name in ("maps_", "proportions_"):
        a, b = getattr(one, name), getattr(other, name)
        if a.tobytes() != b.tobytes():
            return f"{name} differ by up to {np.abs(a - b).max():g}"
    return ""


def _again(model: Any, arguments: Arguments, table: np.ndarray, rng: Any) -> str:
    return _differ(_fitted(model, arguments, table), _fitted(model, arguments, table))


def _threads(model: Any, arguments: Arguments, table: np.ndarray, rng: Any) -> str:
    with threads(1):
        alone = _fitted(model, arguments, table)
    # So few objects would be left to one thread.
    with threads(2), patch("manymaps.optimizers.loop._FEW_PAIRS", 0):
        return _differ(alone, _fitted(model, arguments, table))


def _process(model: Any, arguments: Arguments, table: np.ndarray, rng: Any) -> str:
    _fitted(model, arguments, table)  # so that no process but this one compiles anything
    outputs = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "table.npy")
        np.save(path, table)
        command = [sys.executable, "-c", _AGAIN, str(path), repr(arguments), model.__name__]
        for _ in range(2):
            outputs.append(subprocess.run(command, capture_output=True, check=True).stdout)
    return "" if outputs[0] == outputs[1] else "another process gives other maps"


def _held(model: Any, arguments: Arguments, table: np.ndarray, rng: Any) -> str:
    held: tuple[Callable[[], Any], ...] = (
        lambda: table.astype(np.float32),
        lambda: table.astype(np.int16),
        lambda: np.asfortranarray(table),
        lambda: np.repeat(table, 2, axis=1)[:, ::2],
        lambda: table.tolist(),
        lambda: sparse.csr_array(table).asformat(_SPARSE[rng.integers(len(_SPARSE))]),
        lambda: sparse.csr_matrix(table).asformat(_SPARSE[rng.integers(len(_SPARSE))]),
        lambda: mm.Associations([str(i) for i in range(len(table))], sparse.csr_array(table)),
    )
    other = held[rng.integers(len(held))]()
    before = table.tobytes()
    told = _differ(_fitted(model, arguments, table), _fitted(model, arguments, other))
    if table.tobytes() != before:
        return "the table was changed"
    return f"{told} as {type(other).__name__}" if told else ""


def _renamed(model: Any, arguments: Arguments, table: np.ndarray, rng: Any) -> str:
    strengths = sparse.csr_array(table)
    names = ["\N{GREEK SMALL LETTER ALPHA}" * (i + 1) for i in rng.permutation(len(table))]
    plain = mm.Associations([f"w{i}" for i in range(len(table))], strengths)
    other = mm.Associations(names, strengths)
    return _differ(_fitted(model, arguments, plain), _fitted(model, arguments, other))


def _scaled(model: Any, arguments: Arguments, table: np.ndarray, rng: Any) -> str:
    factor = 2.0 ** int(rng.integers(-8, 9))
    return _differ(_fitted(model, arguments, table), _fitted(model, arguments, factor * table))


def _order(model: Any, arguments: Arguments, table: np.ndarray, rng: Any) -> str:
    """A few exact steps of one map from given places: rounding has no time to grow.

    The proportions of several maps start from random numbers, the i-th object from the i-th, and
    SNE adds some to all places.
    """
    model = mm.TSNE if model in (mm.SNE, mm.SymmetricSNE, mm.UniSNE) else model
    places = rng.normal(0, 0.1, (len(table), 2)).astype(np.float32)
    few = {**arguments, "max_iter": 4, "tolerance": 0}
    if "n_maps" in few:
        few["n_maps"] = 1
        places = places[None]
    order = rng.permutation(len(table))

    def maps(of: np.ndarray) -> Any:
        return _fitted(model, {**few, "init": places[..., of, :]}, table[np.ix_(of, of)])

    one, other = maps(np.arange(len(table))), maps(order)
    pairs = (one.maps_[:, order], other.maps_), (one.proportions_[:, order], other.proportions_)
    worst = max(float(np.abs(a - b).max() / np.abs(a).max()) for a, b in pairs)
    return f"in another order they differ by {worst:g} of their size" if worst > 1e-3 else ""


def _lines(model: Any, arguments: Arguments, table: np.ndarray, rng: Any) -> str:
    rows, columns = np.nonzero(table)
    lines = [f"w{i},w{j},{table[i, j]:g}" for i, j in zip(rows, columns, strict=True)]
    read = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "pairs.csv")
        for of in (np.arange(len(lines)), rng.permutation(len(lines))):
            text = io.StringIO()
            text.write("\n".join(["cue,response,strength", *(lines[k] for k in of), ""]))
            path.write_text(text.getvalue(), encoding="utf-8")
            read.append(mm.read_associations(path))
    one, other = read
    place = [other.labels.index(label) for label in one.labels]
    same = np.array_equal(one.strengths.toarray(), other.strengths.toarray()[np.ix_(place, place)])
    return "" if same else "another order of lines gives other strengths"


CHANGES: dict[str, Callable[..., str]] = {
    "again": _again, "threads": _threads, "held": _held, "renamed": _renamed, "scaled": _scaled,
    "order": _order, "lines": _lines, "process": _process,
}  # fmt: skip
