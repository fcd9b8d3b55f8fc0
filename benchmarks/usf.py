"""The free-association norms of 5,018 words in 1, 5, 20 and 40 maps: time, memory, KL, recall.

    python benchmarks/usf.py [--maps 1 5 20 40] [--penalties 0 0.001] [--seed 0]

Each fit is a process of its own, as users start it (`manymaps fit ... --json`), so seconds and peak
memory include the whole process. Recall is the share of cue words whose strongest associate is
among their 10 most probable under the model. Requires the norms in MANYMAPS_DATA.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import manymaps as mm
from manymaps.analysis.count_evaluation import map_space
from manymaps.metrics import strongest_recall

DATA = Path(os.environ.get("MANYMAPS_DATA", Path(__file__).parents[2] / "shared" / "data"))
NORMS = DATA / "usf" / "usf_free_association.tsv.gz"


def fit(maps: int, penalty: float, seed: int, output: Path) -> tuple[dict, float]:
    """Run one fit; return its report and the peak memory of its process in megabytes."""
    command = [sys.executable, "-m", "manymaps", "fit", str(NORMS), "-o", str(output), "--json"]
    command += ["--maps", str(maps), "--penalty", str(penalty), "--seed", str(seed)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        printed = process.stdout.read() if process.stdout else b""
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"{' '.join(command)} ended with {process.returncode}")
    return json.loads(printed), usage.ru_maxrss / 1024


def main() -> None:
    """Print one line for each number of maps and penalty."""
    parser = argparse.ArgumentParser(description="Fit the USF norms and report.")
    parser.add_argument("--maps", type=int, nargs="+", default=[1, 5, 20, 40], metavar="M")
    parser.add_argument("--penalties", type=float, nargs="+", default=[0.0, 0.001], metavar="L")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    if not NORMS.exists():
        sys.exit(f"no norms at {NORMS}; set MANYMAPS_DATA to the folder of real data")
    norms = mm.read_associations(NORMS)
    print(f"{norms.n_objects} words, {norms.n_pairs} pairs; {os.cpu_count()} cores")
    print("penalty  maps  iterations  seconds  peak MB  KL/word  among 10")
    with tempfile.TemporaryDirectory() as folder:
        for penalty in arguments.penalties:
            for maps in arguments.maps:
                output = Path(folder, "usf.atlas")
                report, peak = fit(maps, penalty, arguments.seed, output)
                atlas = mm.load_atlas(output)
                recall = strongest_recall(norms.strengths, map_space(atlas))
                print(
                    f"{penalty:7g}  {maps:4d}  {report['n_iterations']:10d}  "
                    f"{report['seconds']:7.1f}  {peak:7.0f}  {report['kl_divergence']:7.3f}  "
                    f"{recall:9.3f}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
