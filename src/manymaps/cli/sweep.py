"""The command `sweep`: held-out prediction with many settings, side by side."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from manymaps.cli.contract import (
    Command,
    Interrupted,
    RunFailed,
    elapsed,
    note,
    plain_table,
    quiet_option,
    refuse_overwriting,
    rendered,
    tell,
)
from manymaps.cli.options import (
    carried,
    jobs_option,
    json_option,
    pair_options,
    seed_option,
)
from manymaps.cli.predict import (
    KERNELS,
    PENALTY,
    check_sizes,
    error_text,
    predict,
    read_norms,
    splitting_options,
    stopping_options,
)
from manymaps.cli.types import InputFile, Number, OutputFile, Several, positive
from manymaps.cli.workers import check_workers, on_workers, worker_options
from manymaps.progress import work

if TYPE_CHECKING:
    from manymaps.data.associations import Associations
    from manymaps.prediction.sweeps import PointResult, SweepResult

__all__ = ["sweep"]

whole_numbers = Several(positive, "whole number of at least 1")


@click.command(cls=Command)
@click.argument("file", type=InputFile(), metavar="FILE")
@click.option("--maps", type=whole_numbers, metavar="1,2", required=True, help="Numbers of maps.")
@click.option("--dims", type=whole_numbers, metavar="35,70", required=True, help="Dimensions.")
@click.option(
    "--penalties",
    type=Several(Number(min=0), "finite number of at least 0"),
    metavar="X,...",
    default=f"{PENALTY}",
    show_default=True,
    help="Weights of the maps' size.",
)
@click.option(
    "--kernels",
    type=Several(click.Choice(KERNELS), f"kernel; there are {' and '.join(KERNELS)}"),
    metavar="NAME,...",
    default="gaussian",
    show_default=True,
)
@click.option(
    "--seeds", type=positive, metavar="N", default=1, show_default=True, help="Fits of a setting."
)
@click.option(
    "--splits", type=positive, metavar="N", default=1, show_default=True, help="Random splits."
)
@splitting_options
@stopping_options
@click.option(
    "-o", "--output", type=OutputFile(".csv"), required=True, metavar="TABLE.csv",
    help="A row for each fit.",
)  # fmt: skip
@click.option(
    "--plot", type=OutputFile(".png", ".svg", ".pdf"), metavar="FIG.png", help="Draw the errors."
)
@click.option(
    "--resume",
    type=OutputFile(),
    metavar="FILE",
    help="Keep finished fits in this file, and leave out those that it holds.",
)
@worker_options
@pair_options
@seed_option
@jobs_option
@quiet_option
@json_option
@click.pass_context
def sweep(ctx: click.Context, file: Path, as_json: bool, **options: Any) -> None:
    """Foresee held-out associations of FILE with many settings, and compare them.

    Every combination of settings is fitted to every split with every seed; see `predict`. The best
    is the one of the least validation error. --jobs is the number of fits at a time. A sweep with
    --resume can be stopped and gone on with, and extended by further values.

    \b
    Examples:  manymaps sweep norms.csv --maps 1,2 --dims 35,70 -o sizes.csv --plot sizes.png
               manymaps sweep norms.csv --maps 1,2,5 --dims 14,35,70 --penalties 0.02,0.05,0.1 \\
                   --splits 5 -o sizes.csv --resume sizes.jsonl --scheduler tcp://10.0.0.1:8786
    """
    read, kept = {"FILE": file, "--labels": options["labels"]}, {"--resume": options["resume"]}
    refuse_overwriting({"-o": options["output"], "--plot": options["plot"]}, {**read, **kept})
    refuse_overwriting(kept, read)
    check_workers(ctx, options)
    norms = read_norms(file, options)
    check_sizes(ctx, norms, {"maps": options["maps"], "dims": options["dims"]})
    result = _swept(file, norms, options)
    _write_table(result, options["output"])
    best = _best(result)
    if options["plot"] is not None:
        from manymaps import save_figure
        from manymaps.figures.sweep import plot_sweep

        with work("drawing the errors"):
            save_figure(plot_sweep(result), options["plot"])
    tell(
        lambda: _sweep_record(result, best, options),
        lambda: _sweep_report(result, best, file, options),
        as_json=as_json,
        files=(options["output"], options["plot"]),
        summary=True,
    )


def _best(result: SweepResult) -> dict[str, Any]:
    from manymaps.errors import DataError

    try:
        return result.best()
    except DataError as error:
        # Every point failed, which is no fault of the data.
        raise RunFailed(str(error)) from error


def _swept(file: Path, norms: Associations, options: Mapping[str, Any]) -> SweepResult:
    """The sweep; what is done when it ends early is in the file to resume from or in the table."""
    from manymaps.prediction import sweeps

    grid = {
        "n_maps": options["maps"],
        "n_components": options["dims"],
        "penalty": options["penalties"],
        "kernel": options["kernels"],
        "max_iter": (options["iterations"],),
        "patience": (options["patience"],),
    }
    seed, finished = options["seed"], []
    split = {"by": options["by"], "stratified": options["stratified"], "random_state": seed}
    with on_workers(options), work(f"fits to {file}"):

        def keep(result: PointResult, n_done: int, n_points: int) -> None:
            finished.append(result)

        try:
            result = sweeps.sweep(
                norms,
                grid,
                split=split,
                n_splits=options["splits"],
                seeds=range(seed, seed + options["seeds"]),
                n_jobs=options["jobs"] or -1,
                resume=options["resume"],
                on_result=keep,
            )
        except KeyboardInterrupt as error:
            raise Interrupted(_stopped("interrupted", grid, finished, options)) from error
        except sweeps.WorkersLost as error:
            raise RunFailed(_stopped(str(error), grid, finished, options)) from error
    for failed in result.failed:
        note(f"warning: {_named(failed)} failed: {failed.failure}")
    return result


def _stopped(
    why: str,
    grid: Mapping[str, tuple],
    finished: Sequence[PointResult],
    options: Mapping[str, Any],
) -> str:
    """What is told of a sweep that ended early, once what had been finished is safe."""
    from manymaps.prediction.sweeps import SweepResult

    if options["resume"] is not None:
        return f"{why}; finished fits are in {options['resume']}; to go on, give the same command"
    if not finished:
        return f"{why}; there was no fit yet to keep"
    _write_table(SweepResult(grid, tuple(finished)), options["output"])
    fits = "1 fit" if len(finished) == 1 else f"{len(finished):,} fits"
    return (
        f"{why}; {options['output']} holds the {fits} that had been finished "
        "(with --resume FILE the sweep could go on)"
    )


def _write_table(result: SweepResult, path: Path) -> None:
    from manymaps.archive import written_whole
    from manymaps.data.csv_cells import write_csv

    records = result.records()
    with (
        written_whole(path) as temporary,
        temporary.open("w", encoding="utf-8", newline="") as out,
    ):
        write_csv(out, [records[0], *(record.values() for record in records)])


def _sweep_record(
    result: SweepResult, best: Mapping[str, Any], options: Mapping[str, Any]
) -> dict[str, Any]:
    return {
        "n_points": len(result.results),
        "n_failed": len(result.failed),
        "best": best,
        "settings": result.summary(),
        "failures": [
            {**failed.point.settings, "split": failed.point.split, "seed": failed.point.seed,
             "failure": failed.failure}
            for failed in result.failed
        ],
        "seconds": elapsed(),
        "seed": options["seed"],
        **{
            name: None if options[name] is None else str(options[name])
            for name in ("output", "plot", "resume")
        },
    }  # fmt: skip


def _sweep_report(
    result: SweepResult, best: Mapping[str, Any], file: Path, options: Mapping[str, Any]
) -> str:
    """A line for each setting, and how to fit the best one."""
    grid = plain_table()
    grid.add_row("maps", "dims", "penalty", "kernel", "train", "validation", "test", "")
    for record in result.summary():
        sizes = (f"{record['n_maps']}", f"{record['n_components']}", f"{record['penalty']:g}")
        errors = (_with_spread(record, part) for part in ("train", "valid", "test"))
        is_best = all(record[name] == best[name] for name in result.grid)
        n_failed = f"{record['n_failed']} of {record['n_points']} failed"
        remark = "best" if is_best else n_failed if record["n_failed"] else ""
        grid.add_row(*sizes, record["kernel"], *errors, remark)
    further = ["manymaps", "predict", str(file)]
    for option, name in (("maps", "n_maps"), ("dims", "n_components"), ("penalty", "penalty"),
                         ("kernel", "kernel")):  # fmt: skip
        further += [f"--{option}", f"{best[name]}"]
    further += carried(predict, but=("maps", "dims"))
    scale = "errors in nats a cue, summed over each part: they compare settings, not parts"
    return f"{rendered(grid)}\n{scale}\nnext: {shlex.join(further)}"


def _with_spread(record: Mapping[str, Any], part: str) -> str:
    spread = record[f"{part}_spread"]
    return error_text(record[part]) + ("" if spread is None else f" ± {spread:.4f}")


def _named(result: PointResult) -> str:
    settings = result.point.settings
    return (
        f"--maps {settings['n_maps']} --dims {settings['n_components']} --penalty "
        f"{settings['penalty']:g} with split {result.point.split}, seed {result.point.seed}"
    )
