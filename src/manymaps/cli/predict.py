"""The command `predict`, which predicts held-out associations, and functions for `sweep`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

import manymaps as mm
from manymaps.cli.contract import Interrupted, elapsed, grid, note, tell
from manymaps.cli.interruption import Stop, ending_early, partial_name
from manymaps.cli.options import PairReading, Reading, Running, output_names
from manymaps.cli.record import argument, chosen, command, group, option, output_option
from manymaps.cli.types import InputFile, Number, OutputFile, positive, refuse_to_replace
from manymaps.labels import plural
from manymaps.progress import work

if TYPE_CHECKING:
    from manymaps.prediction.predictor import PredictionResult

KERNELS = ("gaussian", "cauchy")
# Two maps with 35 dimensions are one of the models in the 2009 report. The penalty is not tuned for
# other data.
DIMENSIONS, PENALTY = 35, 0.1


@dataclass(frozen=True, kw_only=True)
class Splitting:
    """Options for splitting the data into training, validation and test parts."""

    by: Literal["pair", "row"] = option(
        ["pair", "row"], "Hold out pairs in both directions, or all responses to a cue at once.",
        default="pair",
    )  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Stopping:
    """Options that determine when a fit ends."""

    iterations: int = option(
        positive, "Maximum number of passes over the cues.", default=300, sets="max_iter"
    )
    patience: int = option(
        positive,
        "Number of passes without a lower validation error after which a fit ends.",
        default=5,
    )


@dataclass(frozen=True, kw_only=True)
class PredictOptions:
    """Options of the command `predict`."""

    file: Path = argument("FILE", InputFile())
    maps: int = option(positive, "Number of maps.", default=2, sets="n_maps")
    dims: int | None = option(
        positive,
        f"Number of dimensions of each map.  [default: {DIMENSIONS}, or fewer for few objects]",
        sets="n_components",
    )
    kernel: str = option(
        KERNELS, "Kernel that turns distances into similarities.", default="gaussian"
    )
    penalty: float = option(Number(min=0), "Weight of the size penalty.", default=PENALTY)
    splitting: Splitting = group(Splitting)
    stopping: Stopping = group(Stopping)
    output: Path | None = output_option(
        "OUT.atlas",
        OutputFile(".atlas", archive=True),
        "Write the fitted maps to this file.",
        required=False,
    )
    reading: PairReading = group(PairReading)
    running: Running = group(Running)


@command(PredictOptions)
def predict(options: PredictOptions) -> None:
    """Measure how well maps predict held-out associations of FILE.

    The associations are split into a training, a validation and a test part (80/10/10). The maps
    are fitted to the training part, and the fit stops by the validation part. The error on the test
    part is in nats per cue; lower is better. It is summed over the responses of a part, so compare
    it between models, but not between parts.

    \b
    Examples:  manymaps predict norms.csv --maps 2 --dims 35
               manymaps predict norms.csv --maps 1 --dims 70 -o norms.atlas --json
    """
    output = options.output
    norms = read_norms(options.file, options.reading)
    dims = options.dims or min(DIMENSIONS, norms.n_objects - 1)
    check_sizes(norms, [options.maps], [dims])
    with ending_early() as stop:
        result = _predicted(norms, dims, options, stop)
    if output is not None:
        if stop.asked:
            output = partial_name(output)
            refuse_to_replace("-o", output)
        _maps_of(result).atlas(norms.labels).save(output)
    if stop.asked:
        raise Interrupted(_interruption(result, output))
    record = _record(norms, result, dims, options)
    tell(lambda: record, lambda: _report(record), files=(output,))


def _interruption(result: PredictionResult, kept: Path | None) -> str:
    if kept is None:
        return "interrupted; nothing was saved (use -o OUT.atlas to save the maps)"
    n = plural("iteration", int(_maps_of(result).best_iteration_))
    return f"interrupted; the maps after {n} are in {kept}"


def _predicted(
    norms: mm.Associations, dims: int, options: PredictOptions, stop: Stop
) -> PredictionResult:
    """Split the associations, fit the training part, and score the prediction."""
    seed = options.running.seed
    split = mm.split_associations(norms, random_state=seed, **chosen(options.splitting))
    note(*split.notes)
    with work(f"fitting the training part of {options.file}"):
        return mm.predict_associations(
            norms,
            options.maps,
            dims,
            split=split,
            callback=stop,
            random_state=seed,
            n_jobs=options.running.jobs or -1,
            **chosen(options, "kernel", "penalty"),
            **chosen(options.stopping),
        )


def _maps_of(result: PredictionResult) -> mm.AssociationPredictor:

    assert isinstance(result.predictor, mm.AssociationPredictor)
    return result.predictor


def _record(
    norms: mm.Associations, result: PredictionResult, dims: int, options: PredictOptions
) -> dict[str, Any]:
    from manymaps.prediction.held_out import uniform_errors

    return {
        **result.as_dict(),
        "seconds": elapsed(),
        "uniform": uniform_errors(result.split),
        "shares": result.shares,
        "per_response": result.per_response,
        "best_iteration": int(_maps_of(result).best_iteration_),
        "n_objects": norms.n_objects,
        "n_pairs": norms.n_pairs,
        "n_cues": result.split.n_cues,
        "n_without_training": len(result.split.without_training),
        "n_maps": options.maps,
        "n_components": dims,
        **chosen(options, "kernel", "penalty"),
        **chosen(options.splitting),
        "seed": options.running.seed,
        **output_names(options, "output"),
    }


def _report(record: dict[str, Any]) -> str:
    shares = {part: f"{share:.0%}" for part, share in record["shares"].items()}
    rows: list[tuple[str, ...]] = [("", "train", "validation", "test")]
    for name, values, meaning in (
        ("error", record, "nats per cue, summed over the responses of each part"),
        ("uniform model", record["uniform"], ""),
        ("responses", shares, "share of all responses in each part"),
        ("per response", record["per_response"], "nats; comparable between parts"),
    ):
        rows.append((name, *(error_text(values[part]) for part in ("train", "valid", "test")),
                     meaning))  # fmt: skip
    lines = [
        f"{plural('map', record['n_maps'])} of {record['n_components']:,} dimensions, "
        f"{record['n_iterations']:,} iterations in {record['seconds']:.0f} s",
        grid(rows),
        f"held-out associates among the ten most probable: {record['recall_at_10']:.1%}; "
        f"mean reciprocal rank {record['mean_reciprocal_rank']:.3f}",
    ]
    if record["test"] > record["uniform"]["test"]:
        lines.append(
            "the error is above that of the uniform model, which uses no data; try fewer --dims "
            "or a larger --penalty"
        )
    return "\n".join(lines)


def read_norms(file: Path, reading: Reading) -> mm.Associations:
    """Read the associations in a file, and print the reader's notes."""
    from manymaps.cli.reading import read_pairs
    from manymaps.cli.report import reading_notes

    norms = read_pairs(file, reading)
    note(*reading_notes(norms))
    return norms


def check_sizes(norms: mm.Associations, maps: Sequence[int], dims: Sequence[int]) -> None:
    """Reject more maps than objects, and more dimensions than the objects can span."""
    n = norms.n_objects
    for name, values, most, why in (
        ("maps", maps, n, f"the {n:,} objects"),
        ("dims", dims, n - 1, f"the {n - 1:,} dimensions that {n:,} objects span"),
    ):
        for value in values:
            if value > max(most, 1):
                raise click.UsageError(f"--{name} {value} is more than {why}")


def error_text(value: float | str | None) -> str:
    """Format an error with four decimal places."""
    return "-" if value is None else value if isinstance(value, str) else f"{value:.4f}"
