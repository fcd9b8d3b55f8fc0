"""Options that several commands have in common: records of options, and single options."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import click
from click.core import ParameterSource

from manymaps.cli.record import argument, chosen, flag, option
from manymaps.cli.types import InputFile, Whole
from manymaps.errors import ParameterError

if TYPE_CHECKING:
    pass

Width: TypeAlias = Literal["column", "page"]
ROW_SUMS = ("renormalize", "keep")
# Options of trials, which have one row per participant and cue.
OF_TRIALS = ("participant", "where", "fold", "missing")
# Options for reading pairs, which all commands that read pairs have.
OF_PAIRS = ("cue", "response", "strength", "labels")
# Kinds of data; similarities are associations.
KINDS = ("associations", "trials", "vectors", "counts", "texts")


def response_rule(value: str) -> str:
    """Check the rule for responses that are never cues (such as keep:N), or for counting (R1)."""
    from manymaps.data.pair_rules import split_responses

    try:
        split_responses(value)
    except ParameterError as error:
        raise click.BadParameter(error.fault) from error
    return value


@dataclass(frozen=True, kw_only=True)
class Reading:
    """Options for reading a file; the last three are set by `read --set`."""

    kind: str | None = option(
        KINDS, "Kind of data in FILE; similarities are associations.  [default: recognized by its "
        "suffix and its column names]",
    )  # fmt: skip
    cue: str | None = option("COLUMN", "Column of cues, if its name is not recognized.")
    response: str | None = option(
        "COLUMN", "Column of responses, or several such as R1,R2,R3 (raw trials only)."
    )
    strength: str | None = option(
        "COLUMN", "Column of strengths or counts, if its name is not recognized."
    )
    labels: Path | None = option(
        InputFile(),
        "Read labels from this file, one per line (matrices, arrays and pairs of integers only).",
    )
    responses: str = option(
        response_rule,
        "Drop or keep responses that are never cues; keep:5 keeps those given to at least 5 cues. "
        "R1, R12 or R123 counts the first 1, 2 or 3 responses, as in R1,keep:5 (raw trials only).",
        default="drop",
        metavar="drop|keep|keep:N",
    )
    where: str | None = option(
        "CONDITION",
        "Use only trials that meet a condition, such as 'age < 30 and gender == \"Fe\"' (raw "
        "trials only).",
    )
    fold: bool = flag("Ignore case and spacing in labels.")
    rows: str | None = option(
        "renormalize|keep|COLUMN",
        "Renormalize or keep rows that do not sum to 1; or the column of row labels (lists of "
        "counts only).  [default: renormalize]",
    )
    columns: str | None = option("COLUMN", "Column of column labels (lists of counts only).")
    participant: str | None = None
    missing: str | None = None
    kinds: tuple[str, ...] | None = None


def atlas_argument() -> Any:
    """Return the field for the atlas that a command reads."""
    return argument("ATLAS", InputFile())


def _some_jobs(ctx: click.Context, param: click.Parameter, value: int | None) -> int | None:
    """Reject 0 as a number of threads or processes."""
    if value == 0:
        raise click.BadParameter("got 0; use 1 or more, or -1 for all cores", ctx, param)
    return value


def seed_option() -> Any:
    """Return the field for the seed."""
    return option(Whole(0), "Seed of the random number generator.", default=0, sets="random_state")


def jobs_option(help: str = "Number of threads; -1 for all cores.  [default: all]") -> Any:
    """Return the field for the number of threads or processes."""
    return option(Whole(-1), help, callback=_some_jobs, sets="n_jobs")


@dataclass(frozen=True, kw_only=True)
class Running:
    """The seed and the number of threads of a command."""

    seed: int = seed_option()
    jobs: int | None = jobs_option()


def width_option() -> Any:
    """Return the field for the width of a figure."""
    return option(
        ("column", "page"),
        "Draw the figure for a paper, 89 mm (column) or 183 mm (page) wide, with text of at least "
        "6 points.",
    )


def check_width(options: Any) -> None:
    """Raise a usage error if the options contain a width without a figure."""
    refuse((options.width and options.plot is None, "--width requires --plot OUT.png"))


def word_option() -> Any:
    """Return the field for the words that --plot draws."""
    return option("WORD", "Word to draw with --plot; can be repeated.", "--word", multiple=True)


def fit_command(file: Path, *settings: str) -> list[str]:
    """Return the command that fits a file with these settings."""
    stem = file.name.split(".")[0] or "out"
    return ["manymaps", "fit", str(file), "-o", f"{stem}.atlas", *settings]


def refuse(*faults: tuple[object, str]) -> None:
    """Raise a usage error with the message of the first fault that applies."""
    for applies, message in faults:
        if applies:
            raise click.UsageError(message)


def refuse_given(names: Iterable[str], where: str) -> None:
    """Reject options that the user passed, but that do not apply.

    Names of options that the current command does not have are ignored.
    """
    ctx = click.get_current_context()
    options = {one.name: one for one in ctx.command.params}
    for name in names:
        if name in options and _is_given(ctx, options[name]):
            raise click.UsageError(f"{max(options[name].opts, key=len)} does not apply to {where}")


def _is_given(ctx: click.Context, one: click.Parameter) -> bool:
    return ctx.get_parameter_source(one.name or "") is ParameterSource.COMMANDLINE


def output_names(record: Any, *names: str) -> dict[str, str | None]:
    """Return the names of output files for a record, or None for missing outputs."""
    paths = chosen(record, *names).items()
    return {name: None if path is None else str(path) for name, path in paths}
