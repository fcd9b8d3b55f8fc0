"""The command `sweep`, which predicts held-out data with many combinations of settings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import manymaps as mm
from manymaps.cli.contract import (
    Interrupted,
    RunFailed,
    elapsed,
    grid,
    next_step,
    note,
    tell,
    write_rows,
)
from manymaps.cli.options import (
    PairReading,
    jobs_option,
    output_names,
    seed_option,
)
from manymaps.cli.predict import (
    KERNELS,
    PENALTY,
    Splitting,
    Stopping,
    check_sizes,
    error_text,
    read_norms,
)
from manymaps.cli.record import argument, chosen, command, group, option, output_option
from manymaps.cli.types import InputFile, Number, OutputFile, Several, positive
from manymaps.errors import DataError
from manymaps.labels import plural
from manymaps.progress import work

if TYPE_CHECKING:
    from manymaps.prediction.sweeps import PointResult

whole_numbers = Several(positive, "whole number of at least 1")


@dataclass(frozen=True, kw_only=True)
class SweepOptions:
    """Options of the command `sweep`."""

    file: Path = argument("FILE", InputFile())
    maps: tuple[int, ...] = option(
        whole_numbers, "Numbers of maps to compare.", metavar="1,2", required=True, sets="n_maps"
    )
    dims: tuple[int, ...] = option(
        whole_numbers, "Numbers of dimensions per map to compare.", metavar="35,70",
        required=True, sets="n_components",
    )  # fmt: skip
    penalties: tuple[float, ...] = option(
        Several(Number(min=0), "finite number of at least 0"),
        "Weights of the size penalty to compare.", metavar="X,...",
        default=f"{PENALTY}", sets="penalty",
    )  # fmt: skip
    kernels: tuple[str, ...] = option(
        Several(click.Choice(KERNELS), f"kernel; use {' or '.join(KERNELS)}"),
        "Kernels of the distances to compare.", metavar="NAME,...",
        default="gaussian", sets="kernel",
    )  # fmt: skip
    seeds: int = option(positive, "Number of fits per setting and split.", default=1)
    splits: int = option(
        positive, "Number of random splits of the data.", default=1, sets="n_splits"
    )
    splitting: Splitting = group(Splitting)
    stopping: Stopping = group(Stopping)
    output: Path = output_option(
        "TABLE.csv", OutputFile(".csv"), "Write a table with a row for each fit."
    )
    resume: Path | None = option(
        OutputFile(), "Save finished fits to this file, and skip those that it already contains."
    )
    reading: PairReading = group(PairReading)
    seed: int = seed_option()
    jobs: int | None = jobs_option("Number of fits at a time; -1 for all cores.  [default: all]")


@command(SweepOptions)
def sweep(options: SweepOptions) -> None:
    """Compare the errors of many settings on held-out data.

    Every combination of settings is fitted to every split with every seed, as in `manymaps
    predict`. The best setting has the lowest validation error. A sweep with --resume can be
    interrupted and resumed, and extended with further values.

    \b
    Examples:  manymaps sweep norms.csv --maps 1,2 --dims 35,70 -o sizes.csv
               manymaps sweep norms.csv --maps 1,2,5 --dims 14,35,70 --penalties 0.02,0.05,0.1 \\
                   --splits 5 -o sizes.csv --resume sizes.jsonl
    """
    norms = read_norms(options.file, options.reading)
    check_sizes(norms, options.maps, options.dims)
    result = _swept(norms, options)
    _write_table(result, options.output)
    try:
        best = result.best()
    except DataError as error:
        # Every point failed, but the data are not the cause.
        raise RunFailed(str(error)) from error
    tell(
        lambda: _record(result, best, options),
        lambda: _report(result, best, options.file),
        files=(options.output,),
        summary=True,
    )


def _swept(norms: mm.Associations, options: SweepOptions) -> mm.SweepResult:
    """Run the sweep; if it ends early, store finished fits in --resume or in the table."""
    from manymaps.prediction import sweeps

    settings = chosen(options, "maps", "dims", "penalties", "kernels")
    settings |= {name: (value,) for name, value in chosen(options.stopping).items()}
    seed, finished = options.seed, list["PointResult"]()
    split = {**chosen(options.splitting), "random_state": seed}
    with work(f"fits to {options.file}"):
        try:
            result = sweeps.sweep(
                norms,
                settings,
                split=split,
                n_splits=options.splits,
                seeds=range(seed, seed + options.seeds),
                n_jobs=options.jobs or -1,
                resume=options.resume,
                on_result=lambda result, *_: finished.append(result),
            )
        except KeyboardInterrupt as error:
            raise Interrupted(_stopped(settings, finished, options)) from error
    for failed in result.failed:
        note(f"warning: {_named(failed)} failed: {failed.failure}")
    return result


def _stopped(
    settings: Mapping[str, tuple], finished: Sequence[PointResult], options: SweepOptions
) -> str:
    """Save the finished fits of an interrupted sweep, and return its message."""
    if options.resume is not None:
        return f"interrupted; finished fits are in {options.resume}; to resume, repeat the command"
    if not finished:
        return "interrupted; no fit was finished"
    _write_table(mm.SweepResult(settings, tuple(finished)), options.output)
    return (
        f"interrupted; {options.output} contains {plural('finished fit', len(finished))} "
        "(with --resume FILE a sweep can be resumed)"
    )


def _write_table(result: mm.SweepResult, path: Path) -> None:
    records = result.records()
    write_rows(path, [records[0], *(record.values() for record in records)])


def _record(result: mm.SweepResult, best: dict[str, Any], options: SweepOptions) -> dict[str, Any]:
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
        "seed": options.seed,
        **output_names(options, "output", "resume"),
    }  # fmt: skip


def _report(result: mm.SweepResult, best: dict[str, Any], file: Path) -> str:
    """Report one line per setting, and the command that measures the best setting."""
    names = {"maps": "n_maps", "dims": "n_components", "penalty": "penalty", "kernel": "kernel"}
    flags = [word for flag, name in names.items() for word in (f"--{flag}", best[name])]
    further = next_step("manymaps", "predict", file, *flags)
    scale = "errors in nats per cue, summed over each part; compare settings, not parts"
    return f"{grid(_rows(result, best))}\n{scale}\n{further}"


def _rows(result: mm.SweepResult, best: dict[str, Any]) -> Iterator[tuple[str, ...]]:
    yield "maps", "dims", "penalty", "kernel", "train", "validation", "test"
    for record in result.summary():
        sizes = f"{record['n_maps']}", f"{record['n_components']}", f"{record['penalty']:g}"
        errors = (_with_spread(record, part) for part in ("train", "valid", "test"))
        is_best = all(record[name] == best[name] for name in result.grid)
        n_failed = f"{record['n_failed']} of {record['n_points']} failed"
        remark = "best" if is_best else n_failed if record["n_failed"] else ""
        yield *sizes, record["kernel"], *errors, remark


def _with_spread(record: Mapping[str, Any], part: str) -> str:
    spread = record[f"{part}_spread"]
    return error_text(record[part]) + ("" if spread is None else f" ± {spread:.4f}")


def _named(result: PointResult) -> str:
    settings = result.point.settings
    return (
        f"--maps {settings['n_maps']} --dims {settings['n_components']} --penalty "
        f"{settings['penalty']:g} with split {result.point.split}, seed {result.point.seed}"
    )
