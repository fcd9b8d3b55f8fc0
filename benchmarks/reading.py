"""Time and memory of reading files of associations, one row per layout.

    python benchmarks/reading.py --trials 1000000

Synthetic participants (tests/trial_samples.py) answer three times to each of 14 cues. Each file is
read by a process of its own. The columns are seconds of wall and processor time, from the file to
`Associations`, `peak`, the peak memory of the process, and `before`, its memory after all imports.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import manymaps as mm

TESTS = Path(__file__).resolve().parents[1] / "tests"
CUES_EACH = 14
# Words of the embedded relations that can be cues.
N_CUES = 3000


def files(folder: Path, n_trials: int) -> Iterator[tuple[str, Path, dict[str, object], int]]:
    """Yield name, file, options and rows of each layout."""
    sys.path.insert(0, str(TESTS))
    from trial_samples import swow_rows, write_plain, write_rows

    n_people = n_trials // CUES_EACH
    names, rows = swow_rows(n_people, N_CUES, each=CUES_EACH)
    raw = write_rows(folder / "R100.csv", names, rows)
    yield "SWOW R100, quoted", raw, {}, len(rows)
    yield "the same, women under 30", raw, {"where": 'age < 30 and gender == "Fe"'}, len(rows)
    yield "the same, folded", raw, {"fold": True}, len(rows)
    yield "the same, plain TSV", write_plain(folder / "R100.tsv", names, rows), {}, len(rows)
    at = {name: i for i, name in enumerate(names)}
    short = [[row[at["participantID"]], row[at["cue"]], row[at["R1"]]] for row in rows]
    header = ["subject", "stimulus", "response"]
    yield "one answer a trial", write_plain(folder / "one.csv", header, short), {}, len(short)
    del rows, short
    names, rows = swow_rows(n_people, N_CUES, each=CUES_EACH, complete=True)
    yield "SWOW complete, quoted", write_rows(folder / "full.csv", names, rows), {}, len(rows)
    norms = mm.read_trials(raw).associations(responses="keep")
    yield from _derived(folder, norms)


def _derived(
    folder: Path, norms: mm.Associations
) -> Iterator[tuple[str, Path, dict[str, object], int]]:
    """Compute strengths and offsets of counted data."""
    from trial_samples import write_plain

    cells = norms.strengths.tocoo()
    labels = norms.labels
    n = norms.n_responses
    places = list(zip(cells.row.tolist(), cells.col.tolist(), cells.data.tolist(), strict=True))
    lines = [f"{labels[i]}\t{labels[j]}\t{v * n[i]:.0f}\t{n[i]}\t{v:.6g}" for i, j, v in places]
    strengths = folder / "strength.R123.csv"
    header = "cue\tresponse\tR123\tN\tR123.Strength"
    strengths.write_text("\n".join([header, *lines]), encoding="utf-8")
    yield "SWOW strengths", strengths, {}, len(lines)
    header_usf = ["CUE", " TARGET", " NORMED?", " #G", " #P", " FSG", " BSG"]
    usf = [
        [labels[i].upper(), f" {labels[j].upper()}", " YES", f" {n[i]}", f" {v * n[i]:.0f}",
         f" {v:.3f}", " .000"]
        for i, j, v in places
    ]  # fmt: skip
    yield "USF, appendix A", write_plain(folder / "usf.txt", header_usf, usf), {}, len(usf)


def most_memory() -> float:
    """Return the peak memory of this process so far, in MiB (Linux)."""
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    return int(re.search(r"VmHWM:\s+(\d+)", status)[1]) / 1024


def measure(file: str, options: dict[str, object]) -> dict[str, float]:
    """Read one file in this process."""
    are_pairs = Path(file).name.startswith(("strength", "usf"))
    read = mm.read_associations if are_pairs else mm.read_trials
    before = most_memory()
    wall, busy = time.perf_counter(), time.process_time()
    data = read(file, **options)
    norms = data if are_pairs else data.associations()
    return {
        "wall": time.perf_counter() - wall,
        "busy": time.process_time() - busy,
        "before": before,
        "peak": most_memory(),
        "objects": norms.n_objects,
        "pairs": norms.n_pairs,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trials", type=int, default=1_000_000, metavar="N")
    parser.add_argument("--measure", nargs=2, metavar=("FILE", "OPTIONS"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.measure:
        file, options = arguments.measure
        print(json.dumps(measure(file, json.loads(options))))
        return
    head = f"{'layout':32} {'rows':>9} {'MB':>5} {'s wall':>7} {'s busy':>7}"
    print(f"{head} {'before':>7} {'peak MiB':>9} {'objects':>8} {'pairs':>9}")
    with tempfile.TemporaryDirectory() as folder:
        for name, file, options, n_rows in files(Path(folder), arguments.trials):
            command = [sys.executable, __file__, "--measure", str(file), json.dumps(options)]
            result = subprocess.run(
                command, capture_output=True, text=True, check=True, encoding="utf-8"
            )
            found = json.loads(result.stdout)
            size = file.stat().st_size / 1e6
            print(
                f"{name:32} {n_rows:9,} {size:5.0f} {found['wall']:7.1f} {found['busy']:7.1f} "
                f"{found['before']:7.0f} {found['peak']:9.0f} {found['objects']:8,} "
                f"{found['pairs']:9,}",
                flush=True,
            )


if __name__ == "__main__":
    main()
