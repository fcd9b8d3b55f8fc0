"""The command `predict`, which predicts held-out associations."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import manymaps as mm
from manymaps.cli.contract import elapsed, grid, note, tell
from manymaps.cli.options import (
    Running,
    as_in_option,
    estimator_from,
    output_names,
    refuse,
    setting_option,
)
from manymaps.cli.record import argument, chosen, command, group, option, output_option
from manymaps.cli.types import InputFile, OutputFile, Several, positive
from manymaps.labels import plural
from manymaps.progress import work

if TYPE_CHECKING:
    from manymaps.prediction.predictor import PredictionResult

# The parts of the associations, for which errors are printed.
PARTS = ("train", "valid", "test")


@dataclass(frozen=True, kw_only=True)
class PredictOptions:
    """Options of the command `predict`."""

    file: Path = argument("FILE", InputFile())
    maps: tuple[int, ...] | None = option(
        Several(positive), "Number of maps, or one for each fit.  [default: 2]", sets="n_maps"
    )
    dims: tuple[int, ...] | None = option(
        Several(positive),
        "Number of dimensions of each map, or one for each fit.  [default: 35]",
        sets="n_components",
    )
    as_in: str | None = as_in_option()
    set: tuple[tuple[str, Any], ...] = setting_option(
        "Set any parameter of AssociationPredictor, such as kernel=cauchy or penalty=0.3; can be "
        "repeated."
    )
    iterations: int | None = option(
        positive, "Maximum number of passes over the cues.  [default: 300]", sets="max_iter"
    )
    by: Literal["pair", "row"] = option(
        ["pair", "row"], "Hold out pairs in both directions, or all responses to a cue at once.",
        default="pair",
    )  # fmt: skip
    output: Path | None = output_option(
        "OUT.atlas",
        OutputFile(".atlas", archive=True),
        "Write the fitted maps to this file (one fit only).",
        required=False,
    )
    running: Running = group(Running)


@command(PredictOptions)
def predict(options: PredictOptions) -> None:
    """Measure how well maps predict held-out associations of FILE.

    The associations are split into a training, a validation and a test part (80/10/10). The maps
    are fitted to the training part, and the fit stops by the validation part. The error on the test
    part is in nats per cue; lower is better. It is summed over the responses of a part, so compare
    it between models, but not between parts. With lists of --maps or --dims, one model of each size
    is fitted to the same training part; two lists are paired.

    \b
    Examples:  manymaps predict norms.csv --maps 2 --dims 35
               manymaps predict norms.csv --maps 1 --dims 70 -o norms.atlas --json
               manymaps predict norms.csv --maps 1,1,2,3,4,5 --dims 35,70,35,22,17,14
               manymaps predict norms.csv --maps 1,2 --dims 70,35 --as-in van_der_maaten_2009
    """
    from manymaps.cli.reading import PAIRS, opened
    from manymaps.cli.report import reading_notes
    from manymaps.prediction.predictor import score_predictor

    maps, dims, more = options.maps or (None,), options.dims or (None,), dict(options.set)
    count = max(len(maps), len(dims))
    refuse(
        (not {len(maps), len(dims)} <= {1, count},
         f"--maps has {len(maps)} numbers and --dims has {len(dims)}; pass as many of both"),
        (options.output is not None and count > 1,
         "-o requires a single fit, with one number of --maps and one of --dims"),
        ("n_maps" in more or "n_components" in more, "use --maps and --dims instead of --set"),
    )  # fmt: skip
    norms = opened(options.file, takes=PAIRS).fitted
    note(*reading_notes(norms))
    split = mm.split_associations(norms, by=options.by, random_state=options.running.seed)
    note(*split.notes)
    results: list[PredictionResult] = []
    for k in range(count):
        sizes = {"n_maps": maps[k % len(maps)], "n_components": dims[k % len(dims)]}
        predictor = estimator_from(
            "AssociationPredictor", "predict", options.running, **sizes,
            **chosen(options, "iterations", "as_in", "set"),
        )  # fmt: skip
        started = time.perf_counter()
        size = f"{plural('map', predictor.n_maps)} of {predictor.n_components} dimensions"
        with work(f"fitting {size} to the training part of {options.file}"):
            predictor.fit(split.train, split.validation)
        seconds = time.perf_counter() - started
        results.append(score_predictor(predictor, split, seconds=seconds))
    if options.output is not None:
        predictor.atlas(norms.labels).save(options.output)
    record = _record(norms, split, results, options)
    errors = [row[part] for row in record.get("rows", [record]) for part in PARTS]
    if math.inf in errors:
        note(
            "warning: an error is infinite, because the model gives an observed response a "
            "probability of 0; use more --iterations"
        )
    tell(lambda: record, lambda: _report(record), files=(options.output,))


def _record(
    norms: mm.Associations, split: Any, results: list[PredictionResult], options: PredictOptions
) -> dict[str, Any]:
    """Return the record of one fit, or of several fits as `rows`."""
    from manymaps.prediction.held_out import uniform_errors

    names = ("n_maps", "n_components", "kernel", "penalty")
    rows = [
        {
            **result.as_dict(),
            "per_response": result.per_response,
            **{name: getattr(result.predictor, name) for name in names},
            "best_iteration": int(getattr(result.predictor, "best_iteration_", 0)),
        }
        for result in results
    ]
    return {
        **(rows[0] if len(rows) == 1 else {"rows": rows}),
        "seconds": elapsed(),
        "uniform": uniform_errors(split),
        "shares": results[0].shares,
        "n_objects": norms.n_objects,
        "n_pairs": norms.n_pairs,
        "n_cues": split.n_cues,
        "n_without_training": len(split.without_training),
        "by": options.by,
        "seed": options.running.seed,
        **output_names(options, "output"),
    }


def _report(record: dict[str, Any]) -> str:
    """Format the errors in the rows of Table 1 of the 2009 report: maps x dimensions."""
    lines: list[tuple[str, ...]] = [("", "train", "validation", "test", "iterations", "in the ten")]
    for row in record.get("rows", [record]):
        size = f"{row['n_maps']} x {row['n_components']}"
        errors = (f"{row[part]:.4f}" for part in PARTS)
        lines.append((size, *errors, f"{row['n_iterations']:,}", f"{row['recall_at_10']:.1%}"))
    lines.append(("uniform", *(f"{record['uniform'][part]:.4f}" for part in PARTS)))
    lines.append(("responses", *(f"{record['shares'][part]:.0%}" for part in PARTS)))
    return (
        f"{grid(lines)}\nerrors in nats per cue, after {record['seconds']:.0f} s; uniform: a model "
        "that uses no data; in the ten: held-out associates among the ten most probable"
    )
