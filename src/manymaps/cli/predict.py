"""The command `predict`, which predicts held-out associations."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

import manymaps as mm
from manymaps.cli.contract import Interrupted, elapsed, grid, note, tell
from manymaps.cli.interruption import ending_early, partial_name
from manymaps.cli.options import Running, output_names, refuse
from manymaps.cli.record import argument, chosen, command, group, option, output_option
from manymaps.cli.types import InputFile, Number, OutputFile, Several, positive, refuse_to_replace
from manymaps.labels import plural
from manymaps.progress import work

if TYPE_CHECKING:
    from manymaps.prediction.held_out import Split
    from manymaps.prediction.predictor import PredictionResult

KERNELS = ("gaussian", "cauchy")
# Two maps with 35 dimensions are one of the models in the 2009 report. The penalty is not tuned for
# other data.
DIMENSIONS, PENALTY = 35, 0.1


sizes = Several(positive, "whole number of at least 1", distinct=False)


@dataclass(frozen=True, kw_only=True)
class PredictOptions:
    """Options of the command `predict`."""

    file: Path = argument("FILE", InputFile())
    maps: tuple[int, ...] = option(sizes, "Number of maps, or one for each fit.", default="2")
    dims: tuple[int, ...] | None = option(
        sizes,
        "Number of dimensions of each map, or one for each fit.  "
        f"[default: {DIMENSIONS}, or fewer for few objects]",
    )
    kernel: str = option(
        KERNELS, "Kernel that turns distances into similarities.", default="gaussian"
    )
    penalty: float = option(Number(min=0), "Weight of the size penalty.", default=PENALTY)
    by: Literal["pair", "row"] = option(
        ["pair", "row"], "Hold out pairs in both directions, or all responses to a cue at once.",
        default="pair",
    )  # fmt: skip
    iterations: int = option(
        positive, "Maximum number of passes over the cues.", default=300, sets="max_iter"
    )
    patience: int = option(
        positive,
        "Number of passes without a lower validation error after which a fit ends.",
        default=5,
    )
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
    it between models, but not between parts. With lists of --maps and --dims, which are paired, one
    model of each size is fitted to the same training part.

    \b
    Examples:  manymaps predict norms.csv --maps 2 --dims 35
               manymaps predict norms.csv --maps 1 --dims 70 -o norms.atlas --json
               manymaps predict norms.csv --maps 1,1,2,3,4,5 --dims 35,70,35,22,17,14
    """
    from manymaps.cli.reading import load_pairs
    from manymaps.cli.report import reading_notes

    norms = load_pairs(options.file)
    note(*reading_notes(norms))
    pairs = _sizes(norms, options)
    refuse((options.output is not None and len(pairs) > 1, "-o requires one number of maps"))
    split = mm.split_associations(norms, by=options.by, random_state=options.running.seed)
    note(*split.notes)
    results: list[PredictionResult] = []
    with ending_early() as stop:
        for n_maps, n_components in pairs:
            size = f"{plural('map', n_maps)} of {plural('dimension', n_components)}"
            with work(f"fitting {size} to the training part of {options.file}"):
                result = mm.predict_associations(
                    norms, n_maps, n_components, split=split, callback=stop,
                    random_state=options.running.seed, n_jobs=options.running.jobs or -1,
                    **chosen(options, "kernel", "penalty", "iterations", "patience"),
                )  # fmt: skip
            # An interrupted fit has not reached its lowest validation error.
            if stop.asked:
                break
            results.append(result)
    if stop.asked:
        raise Interrupted(_interruption(norms, result, results, options.output))
    if options.output is not None:
        _maps_of(result).atlas(norms.labels).save(options.output)
    record = _record(norms, split, pairs, results, options)
    tell(lambda: record, lambda: _report(record), files=(options.output,))


def _sizes(norms: mm.Associations, options: PredictOptions) -> list[tuple[int, int]]:
    """Return the numbers of maps and dimensions of the fits."""
    n, maps = norms.n_objects, options.maps
    dims = options.dims or (min(DIMENSIONS, n - 1),)
    if 1 not in (len(maps), len(dims)) and len(maps) != len(dims):
        raise click.UsageError(
            f"--maps has {len(maps)} numbers and --dims has {len(dims)}; pass as many of both"
        )
    for name, values, most, why in (
        ("maps", maps, n, f"the {n:,} objects"),
        ("dims", dims, n - 1, f"the {n - 1:,} dimensions that {n:,} objects span"),
    ):
        if max(values) > max(most, 1):
            raise click.UsageError(f"--{name} {max(values)} is more than {why}")
    count = max(len(maps), len(dims))
    return list(zip(maps * (count // len(maps)), dims * (count // len(dims)), strict=True))


def _interruption(
    norms: mm.Associations,
    result: PredictionResult,
    finished: list[PredictionResult],
    output: Path | None,
) -> str:
    """Save the maps so far, if they are wanted, and describe what remains."""
    if output is not None:
        partial = partial_name(output)
        refuse_to_replace("-o", partial)
        _maps_of(result).atlas(norms.labels).save(partial)
        n = plural("iteration", int(_maps_of(result).best_iteration_))
        return f"interrupted; the maps after {n} are in {partial}"
    if finished:
        errors = ", ".join(f"{_size(one)}: {one.as_dict()['test']:.4f}" for one in finished)
        return f"interrupted; the test errors so far are {errors}"
    return "interrupted; nothing was saved (use -o OUT.atlas to save the maps)"


def _maps_of(result: PredictionResult) -> mm.AssociationPredictor:
    assert isinstance(result.predictor, mm.AssociationPredictor)
    return result.predictor


def _size(result: PredictionResult) -> str:
    maps = _maps_of(result)
    return f"{maps.n_maps} x {maps.n_components}"


def _record(
    norms: mm.Associations,
    split: Split,
    pairs: list[tuple[int, int]],
    results: list[PredictionResult],
    options: PredictOptions,
) -> dict[str, Any]:
    """Return the record of one fit, or of several fits as `rows`."""
    from manymaps.prediction.held_out import uniform_errors

    rows = [
        {
            **result.as_dict(),
            "per_response": result.per_response,
            "best_iteration": int(_maps_of(result).best_iteration_),
            "n_maps": n_maps,
            "n_components": n_components,
        }
        for (n_maps, n_components), result in zip(pairs, results, strict=True)
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
        **chosen(options, "kernel", "penalty", "by"),
        "seed": options.running.seed,
        **output_names(options, "output"),
    }


def _report(record: dict[str, Any]) -> str:
    """Format the errors in the rows of Table 1 of the 2009 report: maps x dimensions."""
    rows = record.get("rows", [record])
    parts = ("train", "valid", "test")
    lines: list[tuple[str, ...]] = [("", "train", "validation", "test", "iterations", "in the ten")]
    lines += [
        (
            f"{row['n_maps']} x {row['n_components']}",
            *(f"{row[part]:.4f}" for part in parts),
            f"{row['n_iterations']:,}",
            f"{row['recall_at_10']:.1%}",
        )
        for row in rows
    ]
    lines.append(("uniform", *(f"{record['uniform'][part]:.4f}" for part in parts)))
    lines.append(("responses", *(f"{record['shares'][part]:.0%}" for part in parts)))
    text = [
        grid(lines),
        f"errors in nats per cue, after {record['seconds']:.0f} s; in the ten: held-out associates "
        "among the ten most probable",
    ]
    worse = [row for row in rows if row["test"] > record["uniform"]["test"]]
    if worse:
        text.append(
            "an error is above that of the uniform model, which uses no data; try fewer --dims or "
            "a larger --penalty"
        )
    return "\n".join(text)
