"""The cost of each stage of a fit per object, and the cost of more objects: a cost model.

    python benchmarks/stages.py --objects 10000 100000 300000       # each in a process of its own
    python benchmarks/stages.py --objects 100000 --perplexity 10    # or --features, --dims, --maps
    python benchmarks/stages.py --memory --objects 50000 200000     # one fit from vectors (Linux)

The data are vectors of 50 features in 100 clusters, fitted by `TSNE` in 750 iterations; with --maps
above 1, their P is fitted by `MultipleMapsTSNE`. The parts of an iteration are timed where the
objective calls them: attraction over the stored pairs, the field (grid and near pairs), and all
else (optimizer, records, cost).

With --memory, a single call of `TSNE.fit` on vectors is divided into stages. The table lists the
highest resident memory during each stage and at its end, in KiB per object, and processor seconds.
Memory is counted from the process with its vectors, after a small fit has loaded all code. With
--vectors, the vectors of an NPY file are mapped into memory, and their pages are counted as well.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import resource
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

import manymaps as mm
from manymaps.affinity import affinities, neighbors
from manymaps.affinity.neighbors import NeighborSearch, nearest_neighbors
from manymaps.maps import estimator as estimators
from manymaps.maps.run import Run
from manymaps.maps.starts import start_positions
from manymaps.model.objective import Objective
from manymaps.model.target import Target, joint_target

CLUSTERS = 100
STAGES = ("neighbours", "P", "order", "start", "attraction", "field", "else")


def clustered(n: int, features: int, seed: int = 0) -> np.ndarray:
    """Draw vectors of clusters that are as far apart as they are wide."""
    generator = np.random.default_rng(seed)
    middles = generator.normal(0, 1.5, (CLUSTERS, features))
    scales = 1 / np.sqrt(1 + np.arange(features))
    points = middles[generator.integers(CLUSTERS, size=n)] + generator.normal(0, 1, (n, features))
    return (points * scales).astype(np.float32)


class Clock:
    """A clock of seconds and calls of named parts, and of peak bytes so far."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = defaultdict(float)
        self.peak: dict[str, float] = {}

    @contextmanager
    def of(self, name: str) -> Iterator[None]:
        begun = time.perf_counter()
        yield
        self.seconds[name] += time.perf_counter() - begun
        self.peak[name] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024

    def wrapped(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def timed(*args: Any, **kwargs: Any) -> Any:
            with self.of(name):
                return function(*args, **kwargs)

        return timed


def measured(n: int, options: argparse.Namespace) -> dict[str, Any]:
    """Measure the seconds of each stage, and the peak memory of the process."""
    clock, generator = Clock(), np.random.default_rng(0)
    vectors = clustered(n, options.features)
    mm.TSNE(options.dims, perplexity=5, max_iter=20).fit(vectors[:300])  # what is loaded once
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    with clock.of("neighbours"):
        graph = nearest_neighbors(
            vectors, 3 * options.perplexity, search=NeighborSearch(recall=0.95)
        )
    with clock.of("P"):
        rows = mm.GaussianAffinity(options.perplexity).similarities(graph)
        target: Target = joint_target(rows)
    with clock.of("order"):
        target.neighborly_order()
    with clock.of("start"):
        start_positions("pca", vectors, target, options.dims, generator=generator)
    n_pairs = target.values.nnz
    del rows, target
    for name, part in (("_field", "field"), ("_single_map_attraction", "attraction"),
                       ("_attraction", "attraction")):  # fmt: skip
        setattr(Objective, name, clock.wrapped(part, getattr(Objective, name)))
    marks: list[tuple[float, float, float]] = []

    def watch(iteration: int, cost: float, atlas: object) -> None:
        parts = clock.seconds["attraction"], clock.seconds["field"]
        marks.append((time.perf_counter(), *parts))

    shared: dict[str, Any] = {
        "perplexity": options.perplexity, "max_iter": options.iterations, "callback": watch,
        "random_state": 0,
    }  # fmt: skip
    many = options.maps > 1
    if many:
        estimator: Any = mm.MultipleMapsTSNE(options.maps, n_components=options.dims, **shared)
    else:
        estimator = mm.TSNE(options.dims, **shared)
    estimator.fit((graph.indices, graph.distances))
    # The first iteration has something of its own, such as what is compiled or read from the disk.
    whole, *parts = np.subtract(marks[-1], marks[0]) * len(marks) / (len(marks) - 1)
    clock.seconds |= {"attraction": parts[0], "field": parts[1], "else": whole - sum(parts)}
    return {
        "n": n, "pairs": n_pairs, "iterations": len(marks), "kl": estimator.kl_divergence_,
        "seconds": {stage: clock.seconds[stage] for stage in STAGES},
        "bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 - before,
    }  # fmt: skip


def print_stages(n: int, found: dict[str, Any]) -> None:
    """Print the seconds of each stage of a fit, and microseconds per object."""
    each = [found["seconds"][stage] for stage in STAGES]
    used = found["bytes"]
    print(
        f"{n:7d}  " + "  ".join(f"{seconds:8.2f} s" for seconds in each)
        + f"  {used / 2**30:4.1f}  {used / n / 1024:10.2f}  {found['kl']:.3f}"
    )  # fmt: skip
    print(
        "  us an object, of an iteration  "
        + "  ".join(f"{s / n * 1e6:.3g}" for s in each[:4])
        + "; " + "  ".join(f"{s / n / found['iterations'] * 1e6:.3g}" for s in each[4:]),
        flush=True,
    )  # fmt: skip


class Meter:
    """Peak memory, memory at the end, and processor seconds of nested stages of one process.

    Linux records the peak of a process (VmHWM), and lets the process reset it. The numbers of a
    stage exclude the stages inside it.
    """

    def __init__(self) -> None:
        self.before = self._bytes("VmRSS")
        self.stages: dict[str, dict[str, float]] = {}
        self._open = ["else"]
        self._clock = time.process_time()

    @staticmethod
    def _bytes(name: str) -> int:
        lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith(name)) * 1024

    def close(self) -> None:
        """Assign the peak and the time since the last call to the innermost stage."""
        known = self.stages.setdefault(self._open[-1], {"peak": 0, "end": 0, "seconds": 0})
        known["peak"] = max(known["peak"], self._bytes("VmHWM") - self.before)
        known["end"] = self._bytes("VmRSS") - self.before
        known["seconds"] += time.process_time() - self._clock
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
        self._clock = time.process_time()

    def watch(self, owner: Any, function: str, stage: str) -> None:
        """Make every call of a function a stage."""
        inner = getattr(owner, function)

        def measured(*args: Any, **kwargs: Any) -> Any:
            self.close()
            self._open.append(stage)
            try:
                return inner(*args, **kwargs)
            finally:
                self.close()
                self._open.pop()

        setattr(owner, function, measured)


def memory(n: int, options: argparse.Namespace) -> dict[str, Any]:
    """Fit vectors once, and measure the stages of the fit."""
    stored = options.vectors and np.load(options.vectors, mmap_mode="r")[:n]
    vectors = clustered(n, options.features) if stored is None else stored
    settings: dict[str, Any] = {"max_iter": options.iterations, "random_state": 0}
    by_cells = NeighborSearch("faiss")
    # What is loaded once.
    mm.TSNE(options.dims, max_iter=20, neighbors=by_cells).fit(vectors[: min(n, 5_000)])
    ctypes.CDLL(None).malloc_trim(0)  # memory that is free, but that glibc has not returned yet
    meter = Meter()
    for owner, function, stage in (
        (neighbors, "nearest_neighbors", "search"), (affinities, "distance_rows", "rows"),
        (mm.GaussianAffinity, "similarities", "bandwidths"),
        (estimators, "joint_target", "symmetric P"), (Target, "neighborly_order", "order"),
        (Target, "reordered", "order"), (mm.TSNE, "_start", "start"),
        (Run, "optimize", "iterations"),
    ):  # fmt: skip
        meter.watch(owner, function, stage)
    fit = mm.TSNE(options.dims, perplexity=options.perplexity, **settings).fit(vectors)
    meter.close()
    return {"stages": meter.stages, "before": meter.before, "kl": fit.kl_divergence_}


def print_memory(n: int, found: dict[str, Any]) -> None:
    """Print a row for each stage of one fit."""
    print(f"{n} objects, KL {found['kl']:.6f}; before the fit {found['before'] / 2**20:.0f} MiB")
    print("stage           peak, KiB/object   end, KiB/object   processor s   us/object")
    for stage, row in found["stages"].items():
        print(
            f"{stage:12}{row['peak'] / n / 1024:20.2f}{row['end'] / n / 1024:18.2f}"
            f"{row['seconds']:14.1f}{row['seconds'] / n * 1e6:12.2f}",
            flush=True,
        )


def main() -> None:
    """Print a row for each number of objects, and microseconds per object."""
    parser = argparse.ArgumentParser(description="Measure what each stage of a fit costs.")
    parser.add_argument("--objects", type=int, nargs="+", default=[10_000, 100_000, 300_000])
    parser.add_argument("--features", type=int, default=50)
    parser.add_argument("--perplexity", type=int, default=30)
    parser.add_argument("--dims", type=int, default=2)
    parser.add_argument("--maps", type=int, default=1)
    parser.add_argument("--iterations", type=int, default=750)
    parser.add_argument("--vectors", help="NPY file of the vectors, with --memory")
    parser.add_argument("--memory", action="store_true", help="stages of one fit from vectors")
    parser.add_argument("--record", action="store_true", help="one size, as JSON")
    options = parser.parse_args()
    if options.record:
        measure = memory if options.memory else measured
        print(json.dumps(measure(options.objects[0], options)))
        return
    if not options.memory:
        print("objects  " + "  ".join(f"{name:>10}" for name in STAGES) + "   GiB  KiB/object  KL")
    for n in options.objects:
        same = [f"--{name}={getattr(options, name)}"
                for name in ("features", "perplexity", "dims", "maps", "iterations")]  # fmt: skip
        same += ["--memory"] * options.memory
        same += [f"--vectors={options.vectors}"] if options.vectors else []
        command = [sys.executable, __file__, "--record", "--objects", str(n), *same]
        found = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
        if options.memory:
            print_memory(n, found)
        else:
            print_stages(n, found)


if __name__ == "__main__":
    main()
