"""Time and memory by objects, maps, dimensions, associates and threads, as tables and a figure.

    python benchmarks/scaling.py [--axes objects maps dimensions partners threads] [--figure FILE]

In the synthetic associations, each object has its associates among the nearest objects on a hidden
line of topics. Each point is a process of its own. Its seconds are those of an iteration after the
maps have formed a little, and its memory is the peak of the process. The exponents are the slopes
of the logarithms over the upper half of the axis, where 1 is linear. Defaults of the other sizes
are 5,000 objects, 5 maps, 2 dimensions, 15 associates, and all processors.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from scipy import sparse

import manymaps as mm
from manymaps.compute import field

USUAL = {"objects": 5000, "maps": 5, "dimensions": 2, "partners": 15, "threads": os.cpu_count()}
AXES = {
    "objects": (1000, 3000, 10_000, 30_000, 100_000, 300_000, 1_000_000),
    "maps": (1, 2, 5, 10, 20, 50, 100),
    "dimensions": (1, 2, 3, 5, 10, 20, 50),
    "partners": (5, 15, 45, 90, 180),
    "threads": tuple(range(1, 1 + (os.cpu_count() or 1))),
}
# Iterations between which the clock runs; fewer where one takes long.
MARKS, LONG_MARKS, LONG = (60, 80), (12, 20), 200_000


def synthetic(n: int, partners: int, seed: int = 0) -> mm.Associations:
    """Generate n objects with a number of associates each, among four times as many neighbours."""
    generator = np.random.default_rng(seed)
    reach = min(4 * partners, n - 1)
    offsets = np.concatenate([np.arange(-(reach // 2), 0), np.arange(1, reach - reach // 2 + 1)])
    columns = (
        np.arange(n)[:, None] + generator.permuted(np.tile(offsets, (n, 1)), axis=1)[:, :partners]
    ) % n
    order = generator.permutation(n)
    rows = np.repeat(np.arange(n), partners)
    values = generator.random(n * partners) + 0.1
    table = sparse.csr_array((values, (order[rows], order[columns.ravel()])), shape=(n, n))
    return mm.Associations([str(i) for i in range(n)], table)


def one(objects: int, maps: int, dimensions: int, partners: int, threads: int) -> None:
    """Print milliseconds per iteration and peak megabytes of this process, as JSON."""
    first, last = LONG_MARKS if objects * maps > LONG else MARKS
    clock = []

    def watch(iteration: int, cost: float, atlas: object) -> bool:
        if iteration in (first, last):
            clock.append(time.perf_counter())
        return iteration == last

    mm.MultipleMapsTSNE(
        maps,
        dimensions,
        init="random",
        random_state=0,
        n_jobs=threads,
        callback=watch,
    ).fit(synthetic(objects, partners))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps([(clock[1] - clock[0]) / (last - first) * 1e3, peak]))


def measured(axis: str, value: int) -> tuple[float, float]:
    """Measure milliseconds and megabytes at one point of an axis."""
    command = [sys.executable, __file__, "--one", json.dumps({**USUAL, axis: value})]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8")
    if done.returncode:
        sys.exit(f"{axis} {value} failed:\n{done.stderr}")
    milliseconds, megabytes = json.loads(done.stdout.splitlines()[-1])
    return milliseconds, megabytes


def exponent(sizes: list[int], values: list[float]) -> float:
    """Compute the slope of log values against log sizes over the upper half."""
    half = len(sizes) // 2 if len(sizes) > 3 else 0
    return float(np.polyfit(np.log(sizes[half:]), np.log(values[half:]), 1)[0])


def pairs_per_second(kernel: str, n: int = 5000) -> float:
    """Measure billions of exact pairs per second, the best of ten."""
    generator = np.random.default_rng(0)
    points = generator.normal(0, 3, (2, n)).astype(np.float32)
    offsets, charges = np.array([0, n]), np.zeros(n, np.float32)
    best = np.inf
    for _ in range(11):
        start = time.perf_counter()
        field(points, offsets, points, offsets, charges, np.arange(n), kernel, 0.0, "exact")
        best = min(best, time.perf_counter() - start)
    return n * n / best / 1e9


def draw(found: dict[str, tuple[list[int], list[float], list[float]]]) -> Figure:
    """Draw one panel per axis: milliseconds and megabytes, with their exponents above."""
    from matplotlib import pyplot as plt

    figure, panels = plt.subplots(
        1, len(found), figsize=(2.1 * len(found), 3.2), sharey=True, squeeze=False,
        layout="constrained", facecolor="white",
    )  # fmt: skip
    for panel, (axis, (sizes, times, peaks)) in zip(panels[0], found.items(), strict=True):
        for values, name, color, place in (
            (times, "ms", "#0072B2", 0.0), (peaks, "MB", "#D55E00", 0.55),
        ):  # fmt: skip
            panel.loglog(sizes, values, "o-", color=color, markersize=4, linewidth=1.5)
            slope = round(exponent(sizes, values), 2) + 0.0
            panel.text(
                place, 1.03, f"{name}  {slope:.2f}", color=color, fontsize=9,
                transform=panel.transAxes,
            )  # fmt: skip
        panel.set_xlabel(axis)
        step = 1 + len(sizes) // 6
        names = [short(size) if k % step == 0 else "" for k, size in enumerate(sizes)]
        panel.set_xticks(sizes, names)
        panel.minorticks_off()
        panel.grid(axis="y", color="0.92")
        panel.spines[["top", "right"]].set_visible(False)
    panels[0, 0].set_ylabel("ms of an iteration, MB of the process")
    return figure


def short(size: int) -> str:
    """Format a number in few characters.

    >>> short(50), short(30_000), short(1_000_000)
    ('50', '30k', '1M')
    """
    for unit, letter in ((1_000_000, "M"), (1000, "k")):
        if size >= unit:
            return f"{size // unit}{letter}"
    return str(size)


def main() -> None:
    """Print the rates and the tables, and draw the figure."""
    parser = argparse.ArgumentParser(description="Measure how time and memory grow.")
    parser.add_argument("--axes", nargs="+", default=[*AXES], choices=[*AXES], metavar="AXIS")
    parser.add_argument("--most", type=int, metavar="N", help="leave out points beyond it")
    parser.add_argument("--figure", type=Path, metavar="FILE")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        one(**json.loads(arguments.one))
        return
    for kernel in ("cauchy", "gaussian"):
        print(f"exact sums, {kernel}: {pairs_per_second(kernel):.1f} billion pairs a second")
    # What is compiled is compiled before the clock runs.
    for dimensions in AXES["dimensions"] if "dimensions" in arguments.axes else (2,):
        measured("dimensions", dimensions)
    found = {}
    for axis in arguments.axes:
        sizes = [n for n in AXES[axis] if arguments.most is None or n <= arguments.most]
        print(f"\n{axis:>10}  ms per iteration  peak MB")
        points = []
        for size in sizes:
            points.append(measured(axis, size))
            print(f"{size:10d}  {points[-1][0]:16.1f}  {points[-1][1]:7.0f}", flush=True)
        times, peaks = (list(column) for column in zip(*points, strict=True))
        found[axis] = sizes, times, peaks
        if len(sizes) > 1:
            slopes = exponent(sizes, times), exponent(sizes, peaks)
            print(f"{'exponent':>10}  {slopes[0]:16.2f}  {slopes[1]:7.2f}")
    if arguments.figure:
        mpl.use("agg")
        figure = draw({axis: at for axis, at in found.items() if len(at[0]) > 1})
        figure.savefig(arguments.figure, dpi=150)


if __name__ == "__main__":
    main()
