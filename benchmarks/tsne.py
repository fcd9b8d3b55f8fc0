"""t-SNE side by side: manymaps, openTSNE, scikit-learn, its extension by Intel, and umap-learn.

    python benchmarks/tsne.py [--sizes digits 5000 20000 70000 200000] [--million]
    python benchmarks/tsne.py --components 3 [--sizes 5000 20000]
    python benchmarks/tsne.py --stages [--sizes 20000 70000]

Each program runs in a process of its own with the same number of threads, on the same shuffled
points: scikit-learn's digits without changes, or MNIST in 50 principal components. The settings are
perplexity 30, 250 iterations with an exaggeration of 12 and 500 without, and a start from PCA.
openTSNE uses its faster method. scikit-learn runs up to 20,000 points, and scikit-learn-intelex
("sklearnex") up to 70,000 if it is installed (`pip install '.[bench,knn]'`, x86 processors only).
umap-learn is only in the table of whole processes. In three dimensions, openTSNE uses Barnes-Hut
sums, because its faster method has at most two. The fast path of scikit-learn-intelex has two, so
it is excluded, as is umap-learn. Requires the MNIST training images in MANYMAPS_DATA for all sizes
except "digits".

    neighbours, affinities   seconds; for manymaps from a separate process
    early, late, mean        milliseconds per iteration; sklearnex reports only the last
    total                    seconds of the fit, without imports and the reading of points
    peak                     megabytes of the whole process
    own KL                   the value that the program reports, by its P and its sums
    common KL                the same map on one P for all, that of exact neighbours, summed exactly
                             (beyond 70,000 points: neighbours at a recall of 0.99, sums to 1e-3)
    times slower             the time of the program over that of manymaps

If sklearnex runs, manymaps is run again for the fewest iterations, in steps of 25, whose common KL
is at most that of sklearnex. That line shows the cost of an equally good map.

The processes of manymaps share a compile cache, which is empty at first. A run that had to compile
is repeated, and its time of compilation is printed. The last table contains whole processes,
including imports and compilation. `--million` adds 1,000,000 points about 100 centres in 50
dimensions, for manymaps only. `--stages` divides the late iterations of manymaps on one thread into
stages, and compares the bytes that a stage must move with the bandwidth of a copy.
"""

from __future__ import annotations

import argparse
import gzip
import json
import math
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from dataclasses import asdict, dataclass, replace
from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np

DATA = Path(os.environ.get("MANYMAPS_DATA", Path(__file__).parents[2] / "shared" / "data"))
IMAGES = DATA / "mnist" / "train-images-idx3-ubyte.gz"

PERPLEXITY, NEIGHBORS = 30, 90
EXAGGERATION, EARLY = 12.0, 250
DIMENSIONS, CENTRES = 50, 100
N_IMAGES, MILLION = 60_000, 1_000_000
BARNES_HUT_TO, SKLEARN_TO, SKLEARNEX_TO, EXACT_TO = 10_000, 20_000, 70_000, 70_000
MOST, FEWEST_ITERATIONS, MOST_REPEATS = 5 * N_IMAGES, 30, 2
WHOLE_PROCESSES = (5_000, 20_000, 70_000)
RIVALS = ("openTSNE", "scikit-learn", "sklearnex", "umap-learn")
STEP = 25
MEASURED = 60
THREAD_LIMITS = (
    "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS",
)  # fmt: skip


@dataclass(frozen=True)
class Measured:
    """The measurements of one process; NaN if it did not measure a value.

    Seconds, but early and late: milliseconds per iteration. `descent` is all iterations, of a
    program that does not tell its early ones from the late. `whole` goes from the start of the
    process to the end of the fit, `compiled` is the part of it that numba compiled.
    """

    program: str
    neighbors: float = math.nan
    affinities: float = math.nan
    early: float = math.nan
    late: float = math.nan
    early_iterations: int = 0
    iterations: int = 0
    total: float = math.nan
    kl: float = math.nan
    common_kl: float = math.nan
    descent: float = math.nan
    compiled: float = 0.0
    finished: float = math.nan
    whole: float = math.nan
    peak: float = math.nan

    @property
    def mean(self) -> float:
        """Compute milliseconds per iteration over the whole descent."""
        if not self.iterations:
            return math.nan
        if not math.isnan(self.descent):
            return self.descent / self.iterations * 1e3
        share = self.early_iterations / self.iterations
        return self.late if share == 0 else share * self.early + (1 - share) * self.late


@dataclass(frozen=True)
class Task:
    """The task of a process: the folder contains points.npy and receives the maps."""

    folder: Path
    iterations: int
    threads: int
    size: str = ""
    components: int = 2

    @property
    def early(self) -> int:
        """Return the number of exaggerated iterations, a third of a run shorter than usual."""
        return min(EARLY, self.iterations // 3)

    @property
    def points(self) -> np.ndarray:
        """Read the points, float32."""
        return np.load(self.folder / "points.npy")

    def keep(self, program: str, embedding: np.ndarray) -> None:
        """Save a map for the evaluation."""
        np.save(self.folder / f"{program}.map.npy", np.asarray(embedding))


# --- points ---------------------------------------------------------------------------------------


def prepare(task: Task) -> Measured:
    """Write the points of a size, shuffled."""
    if task.size == "digits":
        from sklearn.datasets import load_digits

        points = load_digits().data
    elif int(task.size) == MILLION:
        points = clusters()
    else:
        points = mnist(int(task.size))
    order = np.random.default_rng(0).permutation(len(points))
    np.save(task.folder / "points.npy", points[order].astype(np.float32))
    return Measured("prepare")


def mnist(n: int) -> np.ndarray:
    """Read n images in 50 principal components; beyond 60,000, copies moved by a pixel."""
    from sklearn.decomposition import PCA

    raw = gzip.decompress(IMAGES.read_bytes())
    images = np.frombuffer(raw, np.uint8, offset=16).reshape(N_IMAGES, 28, 28)

    def pixels(some: np.ndarray) -> np.ndarray:
        return some.reshape(-1, 784).astype(np.float32) / 255

    pca = PCA(DIMENSIONS, svd_solver="covariance_eigh").fit(pixels(images))
    if n <= N_IMAGES:
        chosen = np.random.default_rng(1).choice(N_IMAGES, n, replace=False)
        return pca.transform(pixels(images[chosen]))
    parts = [pca.transform(pixels(images))]
    shifts = iter(((1, 2), (-1, 2), (1, 1), (-1, 1)))
    while left := n - sum(map(len, parts)):
        step, axis = next(shifts)
        parts.append(pca.transform(pixels(np.roll(images[:left], step, axis))))
    return np.concatenate(parts)


def clusters() -> np.ndarray:
    """Draw a million points about a hundred centres."""
    generator = np.random.default_rng(0)
    points = generator.standard_normal((MILLION, DIMENSIONS), np.float32)
    centres = 2 * generator.standard_normal((CENTRES, DIMENSIONS), np.float32)
    points += centres[generator.integers(CENTRES, size=MILLION)]
    return points


# --- one program in a process of its own ----------------------------------------------------------


def pieces(task: Task) -> Measured:
    """Time neighbours and affinities of manymaps."""
    from manymaps.affinity.affinities import GaussianAffinity
    from manymaps.affinity.neighbors import nearest_neighbors
    from manymaps.compute.threads import threads
    from manymaps.model.target import joint_target

    import_module("manymaps.maps.sne")  # what the plain fit has imported before its clock starts
    points = task.points
    with threads(task.threads):
        start = time.perf_counter()
        graph = nearest_neighbors(points, NEIGHBORS)
        found = time.perf_counter()
        joint_target(GaussianAffinity(PERPLEXITY).similarities(graph))
    return Measured("pieces", neighbors=found - start, affinities=time.perf_counter() - found)


def manymaps(task: Task) -> Measured:
    """Run the plain fit with a callback that only reads the clock."""
    from manymaps import TSNE

    points, marks = task.points, []
    start = time.perf_counter()
    fit = TSNE(
        n_components=task.components,
        max_iter=task.iterations,
        random_state=0,
        n_jobs=task.threads,
        callback=lambda *_: marks.append(time.perf_counter()),
    ).fit(points)
    total = time.perf_counter() - start
    task.keep("manymaps", fit.embedding_)
    # The first iteration loads the compiled code; its time is in the total.
    first, turn, end = marks[0], marks[task.early - 1], marks[-1]
    return Measured(
        "manymaps",
        early=(turn - first) / (task.early - 1) * 1e3,
        late=(end - turn) / (len(marks) - task.early) * 1e3,
        early_iterations=task.early,
        iterations=len(marks),
        total=total,
        kl=fit.kl_divergence_,
    )


STAGES = {
    "attraction": ("single_map_attraction",),
    "spread charges": ("_sort_into_strips", "spread"),
    "transforms": ("c2c", "c2r", "r2c", "convolved"),
    "gather": ("gather", "gather_values"),
    "near pairs": ("_sort_into_cells", "_arrange", "_add"),
    "step": ("momentum_step",),
}


def stages(task: Task) -> dict[str, list[float]]:
    """Measure processor time per stage of an iteration in ms, and the MB that it must move."""
    from cProfile import Profile
    from pstats import Stats

    from manymaps import TSNE
    from manymaps.affinity.affinities import GaussianAffinity
    from manymaps.affinity.neighbors import nearest_neighbors
    from manymaps.compute import repulsion_fft
    from manymaps.model.target import joint_target

    graph = nearest_neighbors(task.points, NEIGHBORS)
    (pairs,) = joint_target(GaussianAffinity(PERPLEXITY).similarities(graph)).sides
    profile, n, last = Profile(time.process_time), len(task.points), EARLY + 2 * MEASURED
    cells, marks = [], []

    def watch(iteration: int, *_: object) -> None:
        marks.append(time.process_time())
        if iteration == EARLY + MEASURED:
            profile.enable()
        elif iteration == last - 1:
            profile.disable()

    planned = repulsion_fft.field
    repulsion_fft.field = lambda batch, grids: (
        cells.append(grids.length[0]) or planned(batch, grids)
    )
    TSNE(max_iter=last, random_state=0, callback=watch).fit((graph.indices, graph.distances))
    times = dict.fromkeys(STAGES, 0.0)
    for (_, _, name), values in Stats(profile).stats.items():
        for stage, names in STAGES.items():
            times[stage] += values[2] * (name.split(".")[-1].rstrip(">") in names)
    # Half of a grid is not passed. A transform along an axis reads and writes its complex numbers.
    grid = 8 * float(cells[-1]) ** 2 / 2
    moved = {
        "attraction": pairs.indices.nbytes + pairs.forward.nbytes + 16 * n,
        "spread charges": 20 * n + grid / 4, "transforms": 6 * grid,
        "gather": 24 * n + grid / 2, "step": 28 * 2 * n,
    }  # fmt: skip
    # The iterations before the profiled ones. The median excludes the loading of compiled code.
    whole = 1e3 * float(np.median(np.diff(marks[EARLY : EARLY + MEASURED])))
    found = {
        name: [t * 1e3 / (MEASURED - 1), moved.get(name, math.nan) / 1e6]
        for name, t in times.items()
    }
    return {**found, "other work": [whole - sum(ms for ms, _ in found.values()), math.nan]}


def print_stages(task: Task, cache: Path) -> None:
    """Print the stages of a size as a table."""
    block = np.ones(1 << 25)
    copies = []
    for _ in range(5):
        start = time.process_time()
        block.copy()
        copies.append(2 * block.nbytes / 1e6 / (time.process_time() - start))
    print(f"\n{task.size} points; a copy moves {max(copies) / 1e3:.1f} GB/s")
    print("| stage | ms per iteration | MB | share of the bandwidth |\n|---|---|---|---|")
    for name, (ms, megabytes) in started("stages", task, cache).items():
        share = megabytes / ms * 1e3 / max(copies) if ms else math.nan
        print(f"| {name} | {ms:.2f} | {megabytes:.1f} | {share:.2f} |".replace("nan", ""))


def opentsne(task: Task, method: str) -> Measured:
    """Run the steps of openTSNE's own `TSNE.fit`, one by one."""
    from openTSNE import TSNE, affinity

    points = task.points
    start = time.perf_counter()
    index = affinity.get_knn_index(
        points, "auto", NEIGHBORS, "euclidean", n_jobs=task.threads, random_state=0
    )
    neighbors = index.build()
    found = time.perf_counter()
    index.build = lambda: neighbors
    similarities = affinity.MultiscaleMixture(
        knn_index=index, perplexities=[PERPLEXITY], n_jobs=task.threads, random_state=0
    )
    ready = time.perf_counter()
    program = TSNE(
        n_components=task.components, perplexity=PERPLEXITY, initialization="pca",
        learning_rate="auto", n_jobs=task.threads, negative_gradient_method=method, random_state=0,
    )  # fmt: skip
    embedding = program.prepare_initial(points, affinities=similarities)
    marks, late = [time.perf_counter()], task.iterations - task.early
    for count, exaggeration in ((task.early, EXAGGERATION), (late, None)):
        embedding.optimize(
            count, exaggeration=exaggeration, momentum=0.8, inplace=True, propagate_exception=True
        )
        marks.append(time.perf_counter())
    task.keep(f"openTSNE {method}", embedding)
    return Measured(
        f"openTSNE {method}",
        neighbors=found - start,
        affinities=ready - found,
        early=(marks[1] - marks[0]) / task.early * 1e3,
        late=(marks[2] - marks[1]) / late * 1e3,
        early_iterations=task.early,
        iterations=task.iterations,
        total=marks[2] - start,
        kl=float(embedding.kl_divergence),
    )


def sklearn(task: Task) -> Measured:
    """Run scikit-learn, whose steps are read from its output."""
    from sklearn.manifold import TSNE

    points = task.points
    start = time.perf_counter()
    with redirect_stdout(StringIO()) as printed:
        fit = TSNE(
            task.components, perplexity=PERPLEXITY, init="pca", learning_rate="auto",
            random_state=0, verbose=2, max_iter=max(EARLY + 50, task.iterations),
            n_jobs=task.threads,
        ).fit(points)  # fmt: skip
    total = time.perf_counter() - start
    task.keep("scikit-learn", fit.embedding_)
    said = printed.getvalue()

    def seconds(pattern: str) -> float:
        return sum(float(found) for found in re.findall(pattern + r" in ([\d.]+)s", said))

    spans = re.findall(r"Iteration (\d+): error.*\((\d+) iterations in ([\d.]+)s\)", said)
    early, late = (
        [(int(count), float(took)) for end, count, took in spans if (int(end) <= EARLY) == first]
        for first in (True, False)
    )
    n_early, n_late = (sum(count for count, _ in part) for part in (early, late))
    return Measured(
        "scikit-learn",
        neighbors=seconds(r"(?:Indexed|Computed neighbors for) \d+ samples"),
        affinities=seconds("Computed conditional probabilities"),
        early=sum(took for _, took in early) / n_early * 1e3,
        late=sum(took for _, took in late) / n_late * 1e3,
        early_iterations=n_early,
        iterations=n_early + n_late,
        total=total,
        kl=float(fit.kl_divergence_),
    )


def sklearnex(task: Task) -> Measured:
    """Run scikit-learn-intelex with the settings of its fast path: two components, not verbose."""
    from sklearnex.manifold import TSNE

    points, took = task.points, []
    descend = TSNE._daal_tsne

    def timed(*given: Any, **named: Any) -> Any:
        start = time.perf_counter()
        try:
            return descend(*given, **named)
        finally:
            took.append(time.perf_counter() - start)

    TSNE._daal_tsne = timed
    start = time.perf_counter()
    fit = TSNE(
        perplexity=PERPLEXITY, init="pca", learning_rate="auto", random_state=0,
        max_iter=max(EARLY + 50, task.iterations), n_jobs=task.threads,
    ).fit(points)  # fmt: skip
    total = time.perf_counter() - start
    if not took:
        sys.exit("scikit-learn-intelex left the fit to scikit-learn")
    task.keep("sklearnex", fit.embedding_)
    return Measured(
        "sklearnex",
        iterations=int(fit.n_iter_),
        descent=took[0],
        total=total,
        kl=float(fit.kl_divergence_),
    )


def umap(task: Task) -> Measured:
    """Run umap-learn with its own settings and no seed, which would disable its second thread."""
    from umap import UMAP

    points = task.points
    start = time.perf_counter()
    UMAP(n_jobs=task.threads).fit(points)
    return Measured("umap-learn", total=time.perf_counter() - start)


def judge(task: Task) -> dict[str, float]:
    """Compute KL of every map in the folder on one P."""
    from manymaps.affinity.affinities import GaussianAffinity
    from manymaps.affinity.neighbors import NeighborSearch
    from manymaps.compute.threads import threads
    from manymaps.model import T_SNE
    from manymaps.model.objective import Objective
    from manymaps.model.parameters import Parameters
    from manymaps.model.target import joint_target

    points = task.points
    exact = len(points) <= EXACT_TO
    search = NeighborSearch("exact") if exact else NeighborSearch(recall=0.99)
    found = {}
    with threads(task.threads):
        rows = GaussianAffinity(PERPLEXITY).similarities(points, search=search)
        objective = Objective(joint_target(rows), T_SNE, tolerance=0 if exact else 1e-3)
        for path in sorted(task.folder.glob("*.map.npy")):
            places = np.load(path).astype(np.float64)
            places = (places - places.mean(axis=0)).astype(np.float32)
            weights = np.zeros((1, len(places)), np.float32)
            evaluation = objective.evaluate(Parameters((places[None],), (weights,)))
            found[path.name.removesuffix(".map.npy")] = evaluation.kl
    return found


PROGRAMS: dict[str, Callable[[Task], Any]] = {
    "prepare": prepare,
    "pieces": pieces,
    "manymaps": manymaps,
    "stages": stages,
    "openTSNE bh": lambda task: opentsne(task, "bh"),
    "openTSNE fft": lambda task: opentsne(task, "fft"),
    "scikit-learn": sklearn,
    "sklearnex": sklearnex,
    "umap-learn": umap,
    "judge": judge,
}


def one(program: str, task: Task) -> None:
    """Run one program in this process, and print its results as JSON."""
    with compilation(program) as compiled:
        found = PROGRAMS[program](task)
    if isinstance(found, Measured):
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        found = asdict(replace(found, peak=peak, finished=time.time(), compiled=compiled()))
    print(json.dumps(found))


@contextmanager
def compilation(program: str) -> Iterator[Callable[[], float]]:
    """Measure the seconds of compilation by numba, in programs that use it."""
    if program not in ("pieces", "manymaps", "umap-learn"):
        yield lambda: 0.0
        return
    from numba.core.event import TimingListener, install_listener

    with install_listener("numba:compile", TimingListener()) as timer:
        yield lambda: timer.duration if timer.done else 0.0


# --- the processes, one after the other -----------------------------------------------------------


def started(program: str, task: Task, cache: Path | None = None) -> Any:
    """Run one program in a new process, and return its output.

    This process stays small, for on Linux a child's peak memory is at least its parent's.
    """
    environment = os.environ | {name: str(task.threads) for name in THREAD_LIMITS}
    if cache is not None:
        environment["NUMBA_CACHE_DIR"] = str(cache)
    print(f"... {task.size}: {program}", file=sys.stderr, flush=True)
    given = {**asdict(task), "folder": str(task.folder)}
    command = [sys.executable, __file__, "--one", program, json.dumps(given)]
    start = time.time()
    done = subprocess.run(
        command, capture_output=True, text=True, env=environment, encoding="utf-8"
    )
    if done.returncode:
        sys.exit(f"{program} at size {task.size} failed:\n{done.stderr}")
    found = json.loads(done.stdout.splitlines()[-1])
    if program in ("judge", "stages"):
        return found
    measured = Measured(**found)
    return replace(measured, whole=measured.finished - start)


def without_compiling(program: str, task: Task, cache: Path) -> Measured:
    """Run one program of manymaps, and again if it has to compile."""
    found = started(program, task, cache)
    for _ in range(MOST_REPEATS):
        if not found.compiled:
            break
        print(
            f"({program} compiled for {found.compiled:.1f} s of {found.whole:.1f} s; run again)",
            flush=True,
        )
        found = started(program, task, cache)
    return found


def measure(task: Task, cache: Path, rivals: tuple[str, ...]) -> list[Measured]:
    """Measure all t-SNEs of one size, manymaps first."""
    started("prepare", task)
    n = len(np.load(task.folder / "points.npy", mmap_mode="r"))
    parts = without_compiling("pieces", task, cache)
    ours = without_compiling("manymaps", task, cache)
    found = [replace(ours, neighbors=parts.neighbors, affinities=parts.affinities)]
    if n == MILLION:
        return found
    flat, compared = task.components == 2, "openTSNE" in rivals
    names = ["openTSNE fft"] if compared and flat else []
    names += ["openTSNE bh"] if compared and (n < BARNES_HUT_TO or not flat) else []
    names += ["scikit-learn"] if "scikit-learn" in rivals and n <= SKLEARN_TO else []
    wanted = "sklearnex" in rivals and n <= SKLEARNEX_TO and flat
    names += ["sklearnex"] if wanted and find_spec("sklearnex") else []
    found += [started(name, task) for name in names]
    common = started("judge", task)
    found = [replace(row, common_kl=common[row.program]) for row in found]
    return found + no_worse(task, cache, common["sklearnex"]) if "sklearnex" in names else found


def no_worse(task: Task, cache: Path, kl: float) -> list[Measured]:
    """Find the fewest iterations of manymaps, a multiple of STEP, that end at a common KL or below.

    More iterations are taken to end lower.
    """
    found: list[Measured] = []
    too_few, enough = 0, task.iterations // STEP
    while enough - too_few > 1:
        tried = (too_few + enough) // 2
        short = replace(task, iterations=tried * STEP)
        row = started("manymaps", short, cache)
        row = replace(row, common_kl=started("judge", short)["manymaps"])
        if row.common_kl <= kl:
            enough, found = tried, [row]
        else:
            too_few = tried
    return found


# --- tables ---------------------------------------------------------------------------------------

HEAD = (
    f"{'points':>9} {'program':13} {'neigh-':>7} {'affi-':>7} {'ms per iteration':^23} "
    f"{'itera-':>7} {'total':>7} {'peak':>7} {'KL':^15} {'times slower':^15}\n"
    f"{'':23} {'bours s':>7} {'ities s':>7} {'early':>7} {'late':>7} {'mean':>7} "
    f"{'tions':>7} {'s':>7} {'MB':>7} {'own':>7} {'common':>7} {'mean':>7} {'total':>7}"
)


def cell(value: float, digits: int) -> str:
    """Format a number in seven characters, or a dash."""
    return f"{'-':>7}" if math.isnan(value) else f"{value:7.{digits}f}"


def line(size: str, row: Measured, ours: Measured) -> str:
    """Format one line of the table."""
    slower = (row.mean / ours.mean, row.total / ours.total)
    if row is ours:
        slower = (math.nan, math.nan)
    return " ".join(
        [
            f"{size:>9} {row.program:13}",
            *(cell(value, 2) for value in (row.neighbors, row.affinities)),
            *(cell(value, 1) for value in (row.early, row.late, row.mean)),
            f"{row.iterations:7d}",
            *(cell(value, digits) for value, digits in ((row.total, 1), (row.peak, 0))),
            *(cell(value, 4) for value in (row.kl, row.common_kl)),
            *(cell(value, 2) for value in slower),
        ]
    )


def whole_processes(
    rows: dict[str, list[Measured]], tasks: dict[str, Task], umap_too: bool
) -> None:
    """Print all programs from the start of a process to the end of its fit."""
    sizes = [size for size in rows if size in map(str, WHOLE_PROCESSES)]
    if not sizes:
        return
    print("\nwhole processes: imports, compilation or loading of compiled code, reading, fit")
    print("   points program        whole s  compiling s   fit s  peak MB  times slower")
    umap_too = umap_too and find_spec("umap") is not None
    if umap_too:
        # What it caches on disk, it may use as manymaps does.
        started("umap-learn", tasks[sizes[0]])
    for size in sizes:
        ours = rows[size][0]
        for row in [*rows[size], *([started("umap-learn", tasks[size])] if umap_too else [])]:
            print(
                f"{size:>9} {row.program:13} {row.whole:8.1f} {row.compiled:12.1f} {row.total:7.1f}"
                f" {row.peak:8.0f} {row.whole / ours.whole:13.2f}",
                flush=True,
            )


def heading(task: Task) -> None:
    """Print the programs and the machine."""
    names = ["manymaps", "openTSNE", "scikit-learn", "numba", "numpy"]
    modules = {"sklearnex": "scikit-learn-intelex", "umap": "umap-learn"}
    missing = [name for module, name in modules.items() if find_spec(module) is None]
    names[3:3] = [name for name in modules.values() if name not in missing]
    print(", ".join(f"{name} {version(name)}" for name in names))
    if missing:
        print(f"not installed, and left out: {', '.join(missing)}")
    print(
        f"{os.cpu_count()} cores, {task.threads} threads each; perplexity {PERPLEXITY}, "
        f"{task.early} + {task.iterations - task.early} iterations"
    )
    print(
        f"sizes other than digits: MNIST's {N_IMAGES:,} training images, PCA to {DIMENSIONS} "
        "dimensions; beyond those,\ncopies of them moved by one pixel right, left, down, up, in "
        f"this order, as many as are needed; {MILLION:,}: {CENTRES} Gaussian clusters"
    )
    print("manymaps with compiled code from the cache; the others as they come\n")


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description="Compare t-SNE programs side by side.")
    parser.add_argument(
        "--sizes", nargs="*", default=["digits", "5000", "20000", "70000", "200000"], metavar="N"
    )
    parser.add_argument("--million", action="store_true", help="add 1,000,000 points")
    parser.add_argument("--iterations", type=int, default=750, metavar="I", help="fewer to try it")
    parser.add_argument("--components", type=int, default=2, choices=(2, 3))
    parser.add_argument("--threads", type=int, default=2, metavar="T")
    parser.add_argument(
        "--rivals", nargs="*", default=RIVALS, choices=RIVALS, metavar="R",
        help=f"of {', '.join(RIVALS)}",
    )  # fmt: skip
    parser.add_argument("--stages", action="store_true", help="only the stages of an iteration")
    parser.add_argument("--one", nargs=2, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        program, given = arguments.one[0], json.loads(arguments.one[1])
        one(program, Task(**{**given, "folder": Path(given["folder"])}))
        return
    if arguments.iterations < FEWEST_ITERATIONS:
        parser.error(f"--iterations must be at least {FEWEST_ITERATIONS}")
    sizes = arguments.sizes + [str(MILLION)] * arguments.million
    for size in sizes:
        if size not in ("digits", str(MILLION)) and not (size.isdecimal() and int(size) <= MOST):
            parser.error(f"size {size!r} is neither digits nor a number up to {MOST}")
    if not IMAGES.exists() and set(sizes) - {"digits", str(MILLION)}:
        sys.exit(f"no digits at {IMAGES}; set MANYMAPS_DATA to the folder of real data")
    rows, tasks = {}, {}
    with tempfile.TemporaryDirectory() as folder:
        cache = Path(folder, "compiled")
        for size in sizes:
            tasks[size] = Task(
                Path(folder, size), arguments.iterations, arguments.threads, size,
                arguments.components,
            )  # fmt: skip
            tasks[size].folder.mkdir()
        if arguments.stages:
            for task in tasks.values():
                started("prepare", task)
                print_stages(replace(task, threads=1), cache)
            return
        heading(Task(Path(folder), arguments.iterations, arguments.threads))
        print(HEAD, flush=True)
        for size in sizes:
            rows[size] = measure(tasks[size], cache, tuple(arguments.rivals))
            for row in rows[size]:
                print(line(size, row, rows[size][0]), flush=True)
        umap_too = "umap-learn" in arguments.rivals and arguments.components == 2
        whole_processes(rows, tasks, umap_too)


if __name__ == "__main__":
    main()
