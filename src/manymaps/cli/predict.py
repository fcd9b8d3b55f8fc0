"""The command `predict`: how well held-out associations are foreseen; parts of `sweep`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from manymaps.cli.contract import (
    Command,
    Interrupted,
    elapsed,
    note,
    plain_table,
    quiet_option,
    refuse_overwriting,
    refuse_to_replace,
    rendered,
    tell,
)
from manymaps.cli.interruption import (
    Stop,
    ending_early,
    partial_name,
)
from manymaps.cli.options import (
    combined,
    jobs_option,
    json_option,
    pair_options,
    seed_option,
)
from manymaps.cli.types import InputFile, Number, OutputFile, positive
from manymaps.labels import plural
from manymaps.progress import work

if TYPE_CHECKING:
    from manymaps.data.associations import Associations
    from manymaps.prediction.predictor import AssociationPredictor, PredictionResult

__all__ = [
    "KERNELS",
    "PENALTY",
    "check_sizes",
    "error_text",
    "predict",
    "read_norms",
    "splitting_options",
    "stopping_options",
]

KERNELS = ("gaussian", "cauchy")
MAPS, DIMENSIONS, PENALTY, ITERATIONS, PATIENCE = 2, 35, 0.1, 300, 5


splitting_options = combined(
    click.option(
        "--by",
        type=click.Choice(["pair", "row"]),
        default="pair",
        show_default=True,
        help="Hold out pairs in both directions, or all that a cue recalls.",
    ),
    click.option("--stratified", is_flag=True, help="Keep the shares for each cue, too."),
)

stopping_options = combined(
    click.option(
        "--iterations", type=positive, metavar="N", default=ITERATIONS, show_default=True,
        help="Passes over the cues, at most.",
    ),
    click.option(
        "--patience", type=positive, metavar="N", default=PATIENCE, show_default=True,
        help="Passes without a lower validation error before a fit ends.",
    ),
)  # fmt: skip


@click.command(cls=Command)
@click.argument("file", type=InputFile(), metavar="FILE")
@click.option("--maps", type=positive, metavar="N", default=MAPS, show_default=True)
@click.option(
    "--dims",
    type=positive,
    metavar="N",
    help=f"Dimensions of each map.  [default: {DIMENSIONS}, fewer of so few objects]",
)
@click.option("--kernel", type=click.Choice(KERNELS), default="gaussian", show_default=True)
@click.option(
    "--penalty",
    type=Number(min=0),
    metavar="X",
    default=PENALTY,
    show_default=True,
    help="Weight of the maps' size.",
)
@splitting_options
@stopping_options
@click.option(
    "-o", "--output", type=OutputFile(".atlas"), metavar="OUT.atlas", help="Keep the fitted maps."
)
@pair_options
@seed_option
@jobs_option
@quiet_option
@json_option
@click.pass_context
def predict(ctx: click.Context, file: Path, as_json: bool, **options: Any) -> None:
    """Measure how well maps foresee associations of FILE that were held out.

    The associations are split into training, validation and test part (80/10/10). The maps are
    fitted to the first, the second tells when to stop, and the third is what they are measured by:
    the error is in nats per cue, lower is better. It is summed over the responses of a part, so
    that it compares models with one another, and not parts.

    \b
    Examples:  manymaps predict norms.csv --maps 2 --dims 35
               manymaps predict norms.csv --maps 1 --dims 70 -o norms.atlas --json
    """
    output = options["output"]
    refuse_overwriting({"-o": output}, {"FILE": file, "--labels": options["labels"]})
    refuse_to_replace("-o", output)
    norms = read_norms(file, options)
    dims = options["dims"] or min(DIMENSIONS, norms.n_objects - 1)
    check_sizes(ctx, norms, {"maps": [options["maps"]], "dims": [dims]})
    with ending_early() as stop:
        result = _predicted(file, norms, dims, options, stop)
    if output is not None:
        output = partial_name(output) if stop.asked else output
        refuse_to_replace("-o", output)
        _maps_of(result).atlas(norms.labels).save(output)
    if stop.asked:
        raise Interrupted(_interruption(result, output))
    record = _prediction_record(norms, result, {**options, "dims": dims})
    tell(lambda: record, lambda: _prediction_report(record), as_json=as_json, files=(output,))


def _interruption(result: PredictionResult, kept: Path | None) -> str:
    if kept is None:
        return "interrupted; nothing was saved (-o OUT.atlas keeps the maps)"
    n = plural("iteration", int(_maps_of(result).best_iteration_))
    return f"interrupted; the maps after {n} are in {kept}"


def _predicted(
    file: Path, norms: Associations, dims: int, options: Mapping[str, Any], stop: Stop
) -> PredictionResult:
    """The split, the fit and its scores."""
    from manymaps.prediction.held_out import split_associations
    from manymaps.prediction.predictor import predict_associations

    split = split_associations(
        norms,
        by=options["by"],
        stratified=options["stratified"],
        random_state=options["seed"],
    )
    for line in split.notes:
        note(line)
    with work(f"fitting the training part of {file}"):
        return predict_associations(
            norms,
            options["maps"],
            dims,
            split=split,
            random_state=options["seed"],
            kernel=options["kernel"],
            penalty=options["penalty"],
            max_iter=options["iterations"],
            patience=options["patience"],
            callback=stop,
            n_jobs=options["jobs"] or -1,
        )


def _maps_of(result: PredictionResult) -> AssociationPredictor:
    from manymaps.prediction.predictor import AssociationPredictor

    assert isinstance(result.predictor, AssociationPredictor)
    return result.predictor


def _prediction_record(
    norms: Associations, result: PredictionResult, options: Mapping[str, Any]
) -> dict[str, Any]:
    from manymaps.prediction.held_out import uniform_errors

    output = options["output"]
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
        "n_maps": options["maps"],
        "n_components": options["dims"],
        **{name: options[name] for name in ("kernel", "penalty", "by", "stratified", "seed")},
        "output": None if output is None else str(output),
    }


def _prediction_report(record: Mapping[str, Any]) -> str:
    grid = plain_table()
    grid.add_row("", "train", "validation", "test")
    parts = ("train", "valid", "test")
    for name, errors, meaning in (
        ("error", record, "nats a cue, summed over the responses of each part"),
        ("uniform model", record["uniform"], ""),
    ):
        grid.add_row(name, *(error_text(errors[part]) for part in parts), meaning)
    shares, each = record["shares"], record["per_response"]
    grid.add_row("responses", *(f"{shares[part]:.0%}" for part in parts), "of all, in each part")
    compared = "nats; by this a part can be compared with another"
    grid.add_row("per response", *(error_text(each[part]) for part in parts), compared)
    maps = "1 map" if record["n_maps"] == 1 else f"{record['n_maps']:,} maps"
    lines = [
        f"{maps} of {record['n_components']:,} dimensions, "
        f"{record['n_iterations']:,} iterations in {record['seconds']:.0f} s",
        rendered(grid),
        f"held-out associates among the ten most probable: {record['recall_at_10']:.1%}; "
        f"mean reciprocal rank {record['mean_reciprocal_rank']:.3f}",
    ]
    if record["test"] > record["uniform"]["test"]:
        lines.append(
            "that is worse than the uniform model, which knows nothing: try fewer --dims, "
            "a larger --penalty, or --stratified"
        )
    return "\n".join(lines)


def read_norms(file: Path, options: Mapping[str, Any]) -> Associations:
    """The associations of a file; vectors are no data for these commands."""
    from manymaps.cli.contract import BadData
    from manymaps.cli.reading import read_data
    from manymaps.cli.report import reading_notes
    from manymaps.data.associations import Associations

    data = read_data(file, options)
    if not isinstance(data, Associations):
        raise BadData(
            f"{file} reads as vectors; associations are needed (--format edges reads a list)"
        )
    for line in reading_notes(data):
        note(line)
    return data


def check_sizes(
    ctx: click.Context, norms: Associations, sizes: Mapping[str, Sequence[int]]
) -> None:
    """Refuse more maps than objects, and more dimensions than they can span."""
    n = norms.n_objects
    for name, most, why in (
        ("maps", n, f"the {n:,} objects"),
        ("dims", n - 1, f"the {n - 1:,} dimensions that {n:,} objects span"),
    ):
        for value in sizes[name]:
            if value > max(most, 1):
                raise click.UsageError(f"--{name} {value} is more than {why}", ctx)


def error_text(value: float | None) -> str:
    return "-" if value is None else f"{value:.4f}"
