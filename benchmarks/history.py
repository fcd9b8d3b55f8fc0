"""Speed of eight kernels and four whole jobs, as ratios to a fixed NumPy job in the same process.

    python benchmarks/history.py [--repeats 5] [--tasks NAME ...] [-o FILE]
    python benchmarks/history.py --show 10

One JSON line is appended to the file, or printed: the commit, its date, the versions of Python and
NumPy, and the ratio of each task. A ratio is the processor time of the task divided by that of the
NumPy job, which sorts, exponentiates and multiplies arrays. Both are the minimum over the repeats,
which alternate, and run on one thread. Ratios depend on the machine less than seconds do, and
processor time hardly depends on other programs. Compare ratios within one processor family.

Kernels: `exact`, `fft` and `gemm` compute the field of one map. `objective` computes the cost and
gradient of ten maps, `bandwidth` calibrates perplexities, and `nearest` finds neighbours.
`strongest` finds the most similar objects in ten maps, and `senses` lists the senses of ten words.
Jobs: `associations` fits ten maps to 500 words, `t-sne` fits one map to 1,000 digits, `counts` fits
CODE, and `clusters` fits four additive clusters. A task that a commit cannot run is null.

To measure another commit, set PYTHONPATH to its folder src. With --show, nothing is measured. Each
figure of the tables in docs/results is printed, the latest versions in the history of its file, the
oldest first.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
from scipy import sparse
from threadpoolctl import threadpool_limits

import manymaps as mm

RESULTS = Path(__file__).parents[1] / "docs" / "results"

Task = Callable[[], object]
RNG = np.random.default_rng(0)
NUMBERS, TABLE = RNG.normal(size=500_000), RNG.normal(size=(300, 300))


def numpy_job() -> None:
    """The fixed job, which takes about 50 ms: a sort, exponentials and matrix products."""
    np.sort(NUMBERS)
    np.exp(NUMBERS)
    for _ in range(10):
        TABLE @ TABLE


def field_of(engine: str, n: int, d: int) -> Task:
    """The field of n random points in d dimensions."""
    from manymaps.compute import field

    points = RNG.normal(0, 3, (d, n)).astype(np.float32)
    ends, charges = np.array([0, n]), np.zeros(n, np.float32)
    return lambda: field(points, ends, points, ends, charges, np.arange(n), "cauchy", 5e-3, engine)


def words(n: int) -> mm.Associations:
    """A random network of n words in groups of 100, with about 15 associates per word."""
    rows = np.repeat(np.arange(n), 15)
    near = rows // 100 * 100 + RNG.integers(0, 100, len(rows))
    columns = np.where(RNG.random(len(rows)) < 0.8, near, RNG.integers(0, n, len(rows)))
    kept = rows != columns
    ends = rows[kept], columns[kept]
    table = sparse.coo_array((RNG.random(len(ends[0])), ends), (n, n)).tocsr()
    return mm.associations_from(sparse.diags_array(1 / table.sum(axis=1)) @ table)


def objective() -> Task:
    """Cost and gradient of ten maps."""
    from manymaps.model import MULTIPLE_MAPS_T_SNE
    from manymaps.model.objective import Objective
    from manymaps.model.parameters import Parameters
    from manymaps.model.target import conditional_target

    norms, n = words(4_000), 4_000
    places = RNG.normal(0, 3, (10, n, 2)).astype(np.float32)
    parameters = Parameters((places,), (np.zeros((10, n), np.float32),))
    cost = Objective(conditional_target(norms.strengths), MULTIPLE_MAPS_T_SNE, tolerance=5e-3)
    return lambda: cost.evaluate(parameters)


def bandwidth() -> Task:
    """Perplexities of 3,000 objects with 90 neighbours, which are known."""
    from manymaps.affinity.affinities import GaussianAffinity
    from manymaps.affinity.neighbors import nearest_neighbors

    graph = nearest_neighbors(RNG.normal(size=(3_000, 5)).astype(np.float32), 90)
    return lambda: GaussianAffinity(30).similarities(graph)


def nearest() -> Task:
    """Neighbours of 3,000 points with 20 features."""
    from manymaps.affinity.neighbors import nearest_neighbors

    points = RNG.normal(size=(3_000, 20)).astype(np.float32)
    return lambda: nearest_neighbors(points, 30)


def atlas() -> mm.Atlas:
    """Ten maps of 4,000 words after five iterations."""
    return mm.MultipleMapsTSNE(10, max_iter=5, random_state=0).fit(words(4_000)).atlas_


def strongest() -> Task:
    """The ten most similar words of 100 words."""
    choices = atlas().choices
    return lambda: choices.strongest(np.arange(100), 10)


def senses() -> Task:
    """The senses of ten words."""
    found = atlas()
    return lambda: [found.senses(word) for word in found.labels[:10]]


def digits() -> Task:
    """One map of 1,000 digits."""
    from sklearn.datasets import load_digits

    images = load_digits().data[:1_000]
    return lambda: mm.TSNE(max_iter=100, random_state=0).fit(images)


def associations() -> Task:
    """Ten maps of 500 words."""
    norms = words(500)
    return lambda: mm.MultipleMapsTSNE(10, max_iter=50, random_state=0).fit(norms)


def counts() -> Task:
    """A map of 200 rows and 100 columns."""
    table = mm.counts_from(RNG.poisson(0.3, (200, 100)))
    return lambda: mm.CODE(penalty=0, max_iter=20, random_state=0).fit(table)


def clusters() -> Task:
    """Four clusters of 20 objects."""
    members = (RNG.random((20, 4)) < 0.3).astype(float)
    similarities = members @ members.T + RNG.normal(0, 0.01, (20, 20))
    similarities = (similarities + similarities.T) / 2
    return lambda: mm.AdditiveClustering(4, random_state=0).fit(similarities)


TASKS: dict[str, Callable[[], Task]] = {
    "exact": lambda: field_of("exact", 10_000, 2),
    "fft": lambda: field_of("fft", 100_000, 2),
    "gemm": lambda: field_of("gemm", 3_000, 20),
    "objective": objective,
    "bandwidth": bandwidth,
    "nearest": nearest,
    "strongest": strongest,
    "senses": senses,
    "associations": associations,
    "t-sne": digits,
    "counts": counts,
    "clusters": clusters,
}


def processor_seconds(task: Task) -> float:
    """The processor time of a task."""
    begun = time.process_time()
    task()
    return time.process_time() - begun


def ratio(prepare: Callable[[], Task], repeats: int) -> float | None:
    """The ratio of a task's time to the NumPy job's, or None if the commit cannot run the task."""
    try:
        task = prepare()
        task()  # compiles, or loads compiled code
    except (ImportError, AttributeError, TypeError) as error:
        print(f"cannot be measured: {error}", file=sys.stderr)
        return None
    times = [(processor_seconds(task), processor_seconds(numpy_job)) for _ in range(repeats)]
    return round(min(t for t, _ in times) / min(t for _, t in times), 3)


def git(folder: Path, *arguments: str) -> str:
    """The output of git in a folder, which is empty outside a repository."""
    command = ["git", "-C", str(folder), *arguments]
    run = subprocess.run(command, capture_output=True, text=True, check=False, encoding="utf-8")
    return run.stdout


def figures(text: str) -> dict[tuple[str, ...], str]:
    """The cells of a table by column and by the first cells of their row, as many as are unique."""
    lines = [line.strip().strip("|") for line in text.splitlines() if line.startswith("|")]
    head, *rows = [[cell.strip() for cell in line.split("|")] for line in lines] or [[]]
    rows = [row for row in rows if set("".join(row)) - set("-:")]
    n = 1
    while n < len(head) and len({tuple(row[:n]) for row in rows}) < len(rows):
        n += 1
    cells = [(row, *cell) for row in rows for cell in zip(head[n:], row[n:], strict=False)]
    return {(*row[:n], name): value for row, name, value in cells}


def show(n_versions: int) -> None:
    """Print the figures of the latest versions of each file with a table."""
    for file in sorted(RESULTS.glob("*.txt")):
        log = git(RESULTS, "log", f"-{n_versions}", "--format=%h", "--", file.name)
        commits = log.split()[::-1]
        versions = [figures(git(RESULTS, "show", f"{one}:./{file.name}")) for one in commits]
        print(f"\n{file.name}  {' '.join(commits)}")
        for place in versions[-1] if versions else ():
            values = " -> ".join(version.get(place) or "-" for version in versions)
            print(f"  {', '.join(place)}: {values}")


def main() -> None:
    """Append a line to the file, or print it."""
    parser = argparse.ArgumentParser(description="Measure kernels and jobs of one commit.")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--tasks", nargs="+", choices=TASKS, default=list(TASKS))
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", help="append the line here")
    parser.add_argument("--show", type=int, metavar="N", help="print N versions of the results")
    options = parser.parse_args()
    if options.show:
        show(options.show)
        return
    log = git(Path(mm.__file__).parent, "log", "-1", "--format=%h %cs")
    commit, date = log.split() or ["", ""]
    os.environ.setdefault("NUMBA_NUM_THREADS", "1")  # before a task imports numba
    with threadpool_limits(1), warnings.catch_warnings(action="ignore"):
        ratios = {name: ratio(TASKS[name], options.repeats) for name in options.tasks}
    line = json.dumps({
        "commit": commit, "date": date, "python": platform.python_version(),
        "numpy": np.__version__, "machine": platform.machine(), "ratios": ratios,
    })  # fmt: skip
    if options.output is None:
        print(line)
    else:
        with options.output.open("a", encoding="utf-8") as file:
            file.write(line + "\n")


if __name__ == "__main__":
    main()
