"""Do two maps predict associations better than one? Table 1 of van der Maaten & Hinton (2009).

    python examples/prediction_2009.py [--sizes 1x35 1x70 ...] [--splits 5] [--first-split 0]
        [--penalties .02 .05 .1] [--no-biases] [--models] [--tune] [--output table.csv] [--quick]
    python examples/prediction_2009.py --as-in-2009 [--words 1500] [--rates .005 .01 .02 .05]
        [--sizes 1x35 1x70 ...] [--splits 5] [--first-split 0] [--resume points.jsonl]

A tenth of the associations (both directions of a pair together) is used for early stopping, and a
tenth for the test. Errors are (1 / N) sum over a part of p log(p / q), in nats per cue. The parts
in the report differ from these, so compare orders rather than digits. Each fit stops by its
validation part. Among several penalties, and with --tune among the parameters of
the other models (`GRIDS`), each split uses those of its least validation error. The test part
affects no choice. Several maps start with random rotations of the same eigenvectors and are fitted
to the training part only; `many_small_maps.py` adds a teacher. Other settings are the defaults of
the classes, which were chosen by the validation parts of other splits.

A model cannot assign the probability of training pairs to held-out ones, so a model that excludes
known associates has an easier task. "unknown" is therefore the test error with each q normalized
over the pairs outside the training part. Ranks also exclude training pairs.

With --as-in-2009, the maps have the model and the optimizer of the report
(`AssociationPredictor.van_der_maaten_2009`): random starts, and no factors for popular responses,
penalties or teacher. The rows of Table 1 are followed by the paired differences to one map of 70
dimensions on the same splits. --rates compares learning rates by the validation part. --words
selects the words that are most often responses. --resume stores each finished fit in a file, and a
later run reads it. Times are CPU times of one thread.

Without the free-association norms (MANYMAPS_DATA, by default ../shared/data) the embedded word
relations are used, and the report's numbers do not apply.
"""

from __future__ import annotations

import argparse
import csv
import os
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import manymaps as mm
from lib.models import Averaged, Popularity, SpreadingActivation, Uniform, tune
from lib.spaces import (
    ClassicalScaling,
    ExtendedEuclidean,
    LatentSemanticAnalysis,
)
from lib.topics import ProbabilisticLSA, TopicModel
from manymaps.optimizers.rows import RowDescent
from manymaps.prediction import (
    Split,
    conditional_probabilities,
    prediction_error,
    score_predictor,
    uniform_errors,
)

DATA = Path(os.environ.get("MANYMAPS_DATA", Path(__file__).parents[2] / "shared" / "data"))
NORMS = Path("usf", "usf_free_association.tsv.gz")
#: Test errors that the report prints for maps x dimensions.
PRINTED = {
    "1x35": 0.5916,
    "1x70": 0.5315,
    "2x35": 0.5195,
    "3x22": 0.5338,
    "4x17": 0.5461,
    "5x14": 0.5545,
}
#: The other models, and what --tune tries for each.
GRIDS: dict[type, dict[str, list[Any]]] = {
    Uniform: {},
    Popularity: {"uniform": [0.05, 0.1, 0.2]},
    TopicModel: {"n_topics": [100, 150], "smoothing": [0.4, 0.5, 0.6]},
    ProbabilisticLSA: {"n_topics": [300, 400, 500], "smoothing": [0.25, 0.33]},
    ExtendedEuclidean: {"max_iter": [10, 15], "penalty": [0.2, 0.4]},
    ClassicalScaling: {"negative": [0.0, 0.5], "width": [0.06, 0.08, 0.1]},
    LatentSemanticAnalysis: {
        "n_components": [70, 100, 150],
        "temperature": [0.09, 0.1, 0.12],
        "smoothing": [0.05, 0.08],
    },
    SpreadingActivation: {
        "power": [0.55, 0.65, 0.75],
        "decay": [0.2, 0.3],
        "smoothing": [0.01, 0.02],
    },
}
COLUMNS = ("train", "valid", "test", "unknown", "recall_at_10", "mean_reciprocal_rank")


def main() -> None:
    """Print a line for each size of maps, then one for each other model."""
    arguments = read_arguments()
    norms, name = load(arguments.quick)
    if arguments.words:
        norms = norms.most_given(arguments.words)
    print(f"{name}: {norms.n_objects:,} words, {norms.n_pairs:,} associations")
    if arguments.as_in_2009:
        print_table_1(norms, name, arguments)
        return
    print(f"{arguments.splits} splits; mean and standard deviation over them")
    seeds = range(arguments.first_split, arguments.first_split + arguments.splits)
    splits = {seed: mm.split_associations(norms, random_state=seed) for seed in seeds}
    print(
        f"\n{'':24s}printed" + "".join(f"{column[:14]:>18s}" for column in COLUMNS) + "   seconds"
    )
    rows = []
    for size in arguments.sizes:
        printed = PRINTED.get(size) if name == "USF" else None
        rows.append(measure(size, splits, partial(best_maps, size, arguments), printed))
    for model in GRIDS if arguments.models else ():
        rows.append(measure(model.__name__, splits, partial(other_model, model, arguments)))
    if arguments.models:
        both = f"{arguments.sizes[0]} and spreading"
        rows.append(measure(both, splits, partial(maps_and_spreading, arguments)))
    if arguments.output:
        with arguments.output.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)


def read_arguments() -> argparse.Namespace:
    """Read the options; --quick uses few words, sizes and passes."""
    parser = argparse.ArgumentParser(description="Predict held-out associations.")
    parser.add_argument("--sizes", nargs="+", default=list(PRINTED), metavar="MxD")
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--first-split", type=int, default=0, help="the seed of the first split")
    parser.add_argument("--penalties", type=float, nargs="+", default=[0.02, 0.05, 0.1])
    parser.add_argument("--no-biases", action="store_true", help="the report's model, no bias")
    parser.add_argument("--as-in-2009", action="store_true", help="the report's optimizer as well")
    parser.add_argument("--rates", type=float, nargs="+", help="learning rates to compare")
    parser.add_argument("--words", type=int, help="only the words that are most often responses")
    parser.add_argument("--resume", type=Path, help="the finished fits, one JSON line each")
    parser.add_argument("--models", action="store_true", help="other models of meaning as well")
    parser.add_argument("--tune", action="store_true", help="their parameters for each split")
    parser.add_argument("--output", type=Path, help="the table as CSV")
    parser.add_argument("--quick", action="store_true")
    arguments = parser.parse_args()
    if arguments.quick:
        arguments.splits, arguments.sizes, arguments.models = 1, ["1x8", "2x4"], True
    return arguments


def settings_of(arguments: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Yield the sets of parameters of the maps that the options specify."""
    common: dict[str, Any] = {"max_iter": 5} if arguments.quick else {}
    if arguments.no_biases:
        common["bias_penalty"] = None
    for penalty in arguments.penalties:
        alone = {"init": "spectral", "distillation": 0}
        yield {"penalty": penalty, "optimizer": RowDescent()} | alone | common


def best_maps(
    size: str, arguments: argparse.Namespace, split: Split, seed: int
) -> mm.AssociationPredictor:
    """Select the maps of the least validation error among the settings."""
    n_maps, n_components = (int(part) for part in size.split("x"))
    fits = [
        mm.AssociationPredictor(n_maps, n_components)
        .set_params(random_state=seed, **settings)
        .fit(split.train, split.validation)
        for settings in settings_of(arguments)
    ]
    return min(fits, key=lambda fit: np.nanmin(fit.history_["validation"]))


def report_maps(n_maps: int, n_components: int, rate: float, max_iter: int) -> Any:
    """Create the maps of the report with a learning rate, which run on one thread."""
    maps = mm.AssociationPredictor.van_der_maaten_2009(n_maps, n_components)
    optimizer = replace(maps.optimizer, learning_rate=rate)
    return maps.set_params(optimizer=optimizer, max_iter=max_iter, n_jobs=1)


def print_table_1(norms: mm.Associations, name: str, arguments: argparse.Namespace) -> None:
    """Print the rows of Table 1 with the report's settings, and differences to 1 x 70."""
    preset = mm.AssociationPredictor.van_der_maaten_2009()
    grid = {
        "rate": arguments.rates or [preset.optimizer.learning_rate],
        "max_iter": 5 if arguments.quick else preset.max_iter,
    }
    seeds = range(arguments.first_split, arguments.first_split + arguments.splits)
    splits = [mm.split_associations(norms, random_state=seed) for seed in seeds]
    head = (
        "maps x dimensions", "rate", "printed", "validation", "test", "deviation", "less 1 x 70",
        "deviation of the difference", "lower", "recall@10",
    )  # fmt: skip
    print(f"\n| {' | '.join(head)} |\n{'|---' * len(head)}|")
    single: dict[float, np.ndarray] = {}
    for size in sorted(arguments.sizes, key=lambda size: size != "1x70"):
        n_maps, n_components = (int(part) for part in size.split("x"))
        sizes = {"n_maps": n_maps, "n_components": n_components}
        fits = mm.sweep(
            norms, sizes | grid, splits=splits, predictor=report_maps, resume=arguments.resume
        )
        printed = PRINTED.get(size, "") if name == "USF" and not arguments.words else ""
        for rate, rows in fits.groupby("rate"):
            cells = [f"{n_maps} x {n_components}", f"{rate:g}", printed]
            if rows["failure"].notna().any():
                print_row([*cells, rows["failure"].dropna().iloc[0]], len(head))
                continue
            valid, test = rows["valid"].mean(), rows["test"].to_numpy()
            cells += [f"{valid:.4f}", *mean_and_deviation(test)]
            if size == "1x70":
                single[rate] = test
                cells += ["", "", ""]
            elif rate in single:
                lower = f"{(test < single[rate]).sum()} of {len(test)}"
                cells += [*mean_and_deviation(test - single[rate]), lower]
            else:
                cells += ["", "", ""]
            print_row([*cells, f"{rows['recall_at_10'].mean():.3f}"], len(head))
    uniform = [uniform_errors(split) for split in splits]
    valid = np.mean([errors["valid"] for errors in uniform])
    test = np.array([errors["test"] for errors in uniform])
    print_row(["uniform", "", "", f"{valid:.4f}", *mean_and_deviation(test)], len(head))


def print_row(cells: list[Any], width: int) -> None:
    """Print a line of a table, with empty cells at its end."""
    cells = [*cells, *[""] * (width - len(cells))]
    print(f"| {' | '.join(map(str, cells))} |", flush=True)


def mean_and_deviation(values: np.ndarray) -> tuple[str, str]:
    """Format the mean and the standard deviation over splits; empty for one split."""
    return f"{values.mean():.4f}", f"{values.std(ddof=1):.4f}" if len(values) > 1 else ""


def other_model(model: Any, arguments: argparse.Namespace, split: Split, seed: int) -> Any:
    """Create a model with its defaults, or with the best settings for the validation part."""
    if arguments.tune and GRIDS[model]:
        return tune(model, GRIDS[model], split, random_state=seed)[0]
    return model().fit(split.train, random_state=seed)


def maps_and_spreading(arguments: argparse.Namespace, split: Split, seed: int) -> Averaged:
    """Average the predictions of maps and the network."""
    maps = best_maps(arguments.sizes[0], arguments, split, seed)
    return Averaged([maps, other_model(SpreadingActivation, arguments, split, seed)])


def load(quick: bool) -> tuple[Any, str]:
    """Load the norms if available, else the embedded relations, and few of either if quick."""
    path = DATA / NORMS
    if path.exists() and not quick:
        return mm.read_associations(path), "USF"
    relations = mm.load_word_relations()
    if not quick:
        print(f"{path} is not there: the embedded word relations instead")
        return relations, "word relations"
    few = conditional_probabilities(relations)[:800, :800]
    return mm.associations_from(few), "800 words"


def measure(
    name: str,
    splits: Mapping[int, Split],
    fit: Callable[[Split, int], Any],
    printed: float | None = None,
) -> dict[str, Any]:
    """Fit and score on every split, and print the line."""
    found: list[dict[str, float]] = []
    seconds = 0.0
    for seed, split in splits.items():
        begun = time.perf_counter()
        predictor = fit(split, seed)
        seconds += time.perf_counter() - begun
        scores = score_predictor(predictor, split).as_dict()
        found.append(scores | {"unknown": error_of_unknown(predictor, split)})
    mean = {column: float(np.mean([scores[column] for scores in found])) for column in COLUMNS}
    spread = {column: float(np.std([scores[column] for scores in found])) for column in COLUMNS}
    cells = "".join(f"  {mean[column]:7.4f} ± {spread[column]:.4f}" for column in COLUMNS)
    print(
        f"{name:24s}{'' if printed is None else f'{printed:7.4f}':>7s}{cells}"
        f"   {seconds / len(splits):7.1f}",
        flush=True,
    )
    spreads = {f"{column}_sd": spread[column] for column in COLUMNS}
    return {"model": name, "printed": printed, **mean, **spreads, "seconds": seconds / len(splits)}


def error_of_unknown(predictor: Any, split: Split) -> float:
    """Compute the test error of q, normalized over the pairs outside the training part."""

    def unknown(rows: np.ndarray) -> np.ndarray:
        q = predictor.probabilities(rows)
        q[split.train[rows].toarray() > 0] = 0
        return q / q.sum(axis=1, keepdims=True)

    return prediction_error(unknown, split.test, split.n_cues)


if __name__ == "__main__":
    main()
