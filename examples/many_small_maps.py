"""Prediction by many small maps, compared with one map of many dimensions.

    python examples/many_small_maps.py [--sizes 10x2 20x2 ...] [--splits 5] [--first-split 0]
        [--penalties .005] [--iterations 15] [--starts] [--output table.csv] [--quick]
        [--store FOLDER]

Associations are held out as in `prediction_2009.py`: errors in nats per cue, with training,
validation and test parts of 80/10/10 by pair. The first lines are single maps of 70 dimensions, one
of them fitted to a mixture of the training part and the prediction of the first (distillation).
Then follow maps of 2, 3, 5 and 10 dimensions with about equal numbers of coordinates (20, 40 and 80
per object), each fitted to the prediction of that first map. Fits stop by the validation part.
"maps a word" is the exponential of the mean entropy of a word's proportions. "pages" is the number
of maps with at least a tenth of a word, which a reader has to inspect. With several splits, --store
writes the means and standard deviations over the splits to many_small_maps_splits.txt.

--starts compares starts and the teacher, for the first of the sizes: charts, random rotations of
the eigenvectors and random positions, each fitted to the training part only and with the teacher.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import manymaps as mm
from lib.results import markdown, options, store
from manymaps.model.parameters import log_softmin
from manymaps.optimizers.rows import RowDescent
from manymaps.prediction import Split, score_predictor
from prediction_2009 import error_of_unknown, load

SIZES = [
    "10x2",
    "20x2",
    "40x2",
    "7x3",
    "13x3",
    "27x3",
    "4x5",
    "8x5",
    "16x5",
    "2x10",
    "4x10",
    "8x10",
]
COLUMNS = ("train", "valid", "test", "unknown", "recall_at_10", "maps a word", "pages")
#: Steps and penalties of starts that are fitted to the training part alone, chosen by validation.
ALONE = {
    "charts": {"penalty": 0.02},
    "spectral": {"penalty": 0.1},
    "random": {"penalty": 0.5, "optimizer": RowDescent(learning_rate=0.04)},
}
#: Starts without a rate of their own take the charts' when taught, and more passes.
TAUGHT = {"spectral": RowDescent(0.06, decay=0.94), "random": RowDescent(0.08, decay=0.94)}

Fit = Callable[[Split, int], mm.AssociationPredictor]


def main() -> None:
    """Print a line for each size, or for each start."""
    arguments = read_arguments()
    norms, name = load(arguments.quick)
    print(f"{name}: {norms.n_objects:,} words, {norms.n_pairs:,} associations")
    print(f"{arguments.splits} splits; mean and standard deviation over them")
    print(f"\n{'':24s}" + "".join(f"{column:>18s}" for column in COLUMNS), flush=True)
    last = arguments.first_split + arguments.splits
    splits = {
        seed: mm.split_associations(norms, random_state=seed)
        for seed in range(arguments.first_split, last)
    }
    fits = starts(arguments) if arguments.starts else sizes(arguments)
    rows = [measure(name, fit, splits) for name, fit in fits.items()]
    if arguments.output:
        with arguments.output.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
    if arguments.splits > 1:
        shown = ("train", "valid", "test", "unknown", "recall_at_10")
        store(
            arguments.store,
            "many_small_maps_splits.txt",
            f"{name}, {arguments.splits} splits: means, and standard deviations over the splits. "
            "Errors in nats per cue. The maps learn from the predictions of the first map, 1x70. "
            "Unknown: known associates excluded.",
            markdown(
                ("maps", *(f"{column}{end}" for column in shown for end in ("", ", sd"))),
                [(row["maps"], *(row[f"{column}{end}"] for column in shown for end in ("", "_sd")))
                 for row in rows],
                digits=4,
            ),
        )  # fmt: skip


def read_arguments() -> argparse.Namespace:
    """Read the options; --quick uses few words, sizes and passes."""
    parser = options(__doc__)
    parser.add_argument("--sizes", nargs="+", default=SIZES, metavar="MxD")
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--first-split", type=int, default=0, help="the seed of the first split")
    parser.add_argument("--penalties", type=float, nargs="+", default=[0.005])
    parser.add_argument("--iterations", type=int, default=15, help="passes of maps with a teacher")
    parser.add_argument("--starts", action="store_true", help="starts with and without a teacher")
    parser.add_argument("--output", type=Path, help="the table as CSV")
    arguments = parser.parse_args()
    if arguments.quick:
        arguments.splits, arguments.sizes, arguments.iterations = 1, ["10x2", "2x10"], 8
    return arguments


@cache
def teacher(split: Split, seed: int) -> mm.AssociationPredictor:
    """Fit one map of 70 dimensions."""
    model = mm.AssociationPredictor(1, 70, penalty=0.05, random_state=seed)
    return model.fit(split.train, split.validation)


def taught(
    size: str, split: Split, seed: int, penalties: list[float], **options: Any
) -> mm.AssociationPredictor:
    """Fit maps to the teacher, and select the penalty with the least validation error."""
    n_maps, n_components = (int(part) for part in size.split("x"))
    fits = [
        mm.AssociationPredictor(
            n_maps, n_components, teacher=teacher(split, seed), penalty=penalty,
            random_state=seed, **options,
        ).fit(split.train, split.validation)
        for penalty in penalties
    ]  # fmt: skip
    return min(fits, key=lambda fit: np.nanmin(fit.history_["validation"]))


def sizes(arguments: argparse.Namespace) -> dict[str, Fit]:
    """Measure single maps of 70 dimensions, and the requested sizes."""
    fits: dict[str, Fit] = {
        "1x70": teacher,
        "1x70, taught": lambda split, seed: taught("1x70", split, seed, [0.05]),
    }
    for size in arguments.sizes:
        fits[size] = lambda split, seed, size=size: taught(
            size, split, seed, arguments.penalties, max_iter=arguments.iterations
        )
    return fits


def starts(arguments: argparse.Namespace) -> dict[str, Fit]:
    """Measure each start by itself and with a teacher, at the first size."""
    size = arguments.sizes[0]
    n_maps, n_components = (int(part) for part in size.split("x"))

    def alone(init: str, split: Split, seed: int) -> mm.AssociationPredictor:
        model = mm.AssociationPredictor(
            n_maps, n_components, init=init, distillation=0, random_state=seed, **ALONE[init]
        )
        return model.fit(split.train, split.validation)

    fits: dict[str, Fit] = {}
    for init in ALONE:
        fits[f"{size}, {init}"] = lambda split, seed, init=init: alone(init, split, seed)
        steps = {"optimizer": TAUGHT[init]} if init in TAUGHT else {}
        fits[f"{size}, {init}, taught"] = lambda split, seed, init=init, steps=steps: taught(
            size, split, seed, arguments.penalties, init=init, max_iter=30, **steps
        )
    return fits


def measure(name: str, fit: Fit, splits: Mapping[int, Split]) -> dict[str, Any]:
    """Fit and score on every split, and print the line."""
    found: dict[str, list[float]] = {column: [] for column in COLUMNS}
    for seed, split in splits.items():
        model = fit(split, seed)
        scores = score_predictor(model, split).as_dict()
        scores["unknown"] = error_of_unknown(model, split)
        log_pi = log_softmin(model.maps_.weights)
        pi = np.exp(log_pi)
        scores["maps a word"] = float(np.exp(-(pi * log_pi).sum(axis=0).mean()))
        scores["pages"] = float((pi >= 0.1).sum(axis=0).mean())
        for column in COLUMNS:
            found[column].append(scores[column])
    mean = {column: float(np.mean(values)) for column, values in found.items()}
    spread = {column: float(np.std(values)) for column, values in found.items()}
    cells = "".join(f"  {mean[column]:7.4f} ± {spread[column]:.4f}" for column in COLUMNS)
    print(f"{name:24s}{cells}", flush=True)
    return {"maps": name, **mean, **{f"{column}_sd": value for column, value in spread.items()}}


if __name__ == "__main__":
    main()
