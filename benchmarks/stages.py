"""The cost of each stage of a fit per object, and the cost of more objects: a cost model.

    python benchmarks/stages.py --objects 10000 100000 300000       # each in a process of its own
    python benchmarks/stages.py --objects 100000 --perplexity 10    # or --features, --dims, --maps

The data are vectors of 50 features in 100 clusters, fitted by `TSNE` in 750 iterations; with --maps
above 1, their P is fitted by `MultipleMapsTSNE`. The parts of an iteration are timed where the
objective calls them: attraction over the stored pairs, the field (grid and near pairs), and all
else (optimizer, records, cost).
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

import manymaps as mm
from manymaps.affinity.neighbors import NeighborSearch, nearest_neighbors
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


def main() -> None:
    """Print a row for each number of objects, and microseconds per object."""
    parser = argparse.ArgumentParser(description="Measure what each stage of a fit costs.")
    parser.add_argument("--objects", type=int, nargs="+", default=[10_000, 100_000, 300_000])
    parser.add_argument("--features", type=int, default=50)
    parser.add_argument("--perplexity", type=int, default=30)
    parser.add_argument("--dims", type=int, default=2)
    parser.add_argument("--maps", type=int, default=1)
    parser.add_argument("--iterations", type=int, default=750)
    parser.add_argument("--record", action="store_true", help="one size, as JSON")
    options = parser.parse_args()
    if options.record:
        print(json.dumps(measured(options.objects[0], options)))
        return
    print("objects  " + "  ".join(f"{stage:>10}" for stage in STAGES) + "   GiB  KiB/object  KL")
    for n in options.objects:
        same = [f"--{name}={getattr(options, name)}"
                for name in ("features", "perplexity", "dims", "maps", "iterations")]  # fmt: skip
        command = [sys.executable, __file__, "--record", "--objects", str(n), *same]
        found = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
        each = [found["seconds"][stage] for stage in STAGES]
        memory = found["bytes"]
        print(
            f"{n:7d}  " + "  ".join(f"{seconds:8.2f} s" for seconds in each)
            + f"  {memory / 2**30:4.1f}  {memory / n / 1024:10.2f}  {found['kl']:.3f}"
        )  # fmt: skip
        print(
            "  us an object, of an iteration  "
            + "  ".join(f"{s / n * 1e6:.3g}" for s in each[:4])
            + "; " + "  ".join(f"{s / n / found['iterations'] * 1e6:.3g}" for s in each[4:]),
            flush=True,
        )  # fmt: skip


if __name__ == "__main__":
    main()
