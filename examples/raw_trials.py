"""From raw responses to a page: young and old participants of synthetic trials as in SWOW.

    python examples/raw_trials.py [-o OUT.html] [--trials SWOW-EN.R100.csv]

The study's own file may not be redistributed (docs/how-to/norms.md lists its source). The
participants here are simulated. They answer by the embedded word relations, and the old ones have
swapped their responses to two cues. The script prints the data that were read, omitted or unknown.
Then it lists the words whose responses differ most between the groups, by half the sum of absolute
differences of strengths. The page shows an atlas of all participants, coloured by these numbers.
"""

from __future__ import annotations

import argparse
import math
import sys
import tempfile
from pathlib import Path

import numpy as np

import manymaps as mm

TESTS = Path(__file__).resolve().parents[1] / "tests"
AGE = 40


def synthetic(path: Path, n_participants: int) -> tuple[str, str]:
    """Write trials in which participants from 40 years on have swapped two cues; return these."""
    sys.path.insert(0, str(TESTS))
    from trial_samples import swow_rows, write_rows

    names, rows = swow_rows(n_participants, 60)
    age, cue = names.index("age"), names.index("cue")
    cues = sorted({row[cue] for row in rows})
    swapped = {cues[0]: cues[1], cues[1]: cues[0]}
    for row in rows:
        if row[age] != "NA" and int(row[age]) >= AGE:
            row[cue] = swapped.get(row[cue], row[cue])
    write_rows(path, names, rows)
    return cues[0], cues[1]


def differences(one: mm.Associations, other: mm.Associations) -> list[tuple[float, str]]:
    """Compare the strengths of each cue of both groups, largest first; 1 without any agreement."""
    found = []
    for cue in sorted(set(one.labels) & set(other.labels)):
        strengths: dict[str, float] = {}
        for norms, sign in ((one, 1), (other, -1)):
            row = norms.strengths[[norms.labels.index(cue)]].tocoo()
            for j, value in zip(row.col.tolist(), row.data.tolist(), strict=True):
                label = norms.labels[j]
                strengths[label] = strengths.get(label, 0) + sign * value
        found.append((sum(map(abs, strengths.values())) / 2, cue))
    return sorted(found, reverse=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-o", "--output", type=Path, default=Path("raw_trials.html"))
    parser.add_argument("--trials", type=Path, help="a file of raw trials, with a column age")
    parser.add_argument("--quick", action="store_true", help="few people and iterations")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        file = arguments.trials
        if file is None:
            file = Path(folder, "SWOW-XX.R100.csv")
            first, second = synthetic(file, 300 if arguments.quick else 2000)
            print(f"synthetic trials, in which the old swapped {first!r} and {second!r}")
        trials = mm.read_trials(file, fold=True)
    print(trials)
    for reason, count in trials.n_without().items():
        print(f"  {reason}: {count:,}")
    for text in trials.describe_columns():
        print(f"  {text}")
    groups = trials.groups(f"age < {AGE}")
    norms = {name: group.associations("R123,keep") for name, group in groups.items()}
    for name, group in groups.items():
        print(f"{name}: {group.n_trials:,} trials of {group.n_participants:,} participants")
    print("what differs most:")
    distances = differences(*norms.values())
    for distance, cue in distances[:5]:
        print(f"  {distance:.2f}  {cue}")
    iterations = 50 if arguments.quick else 500
    estimator = mm.MultipleMapsTSNE(5, max_iter=iterations, random_state=0)
    atlas = estimator.fit(trials.associations("R123,keep")).atlas_
    by_cue = {cue: distance for distance, cue in distances}
    difference = [by_cue.get(label, math.nan) for label in atlas.labels]
    atlas = atlas.add_metadata(difference, name="difference")
    mm.write_page(atlas, arguments.output, color="difference")
    print(f"{arguments.output}: {np.round(arguments.output.stat().st_size / 1e6, 1)} MB")


if __name__ == "__main__":
    main()
