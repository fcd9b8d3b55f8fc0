"""The options that several commands share."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import click
from click.core import ParameterSource

from manymaps.cli.types import InputFile, OrWord, ResponseRule, positive

__all__ = [
    "OF_TRIALS",
    "READING",
    "ROW_SUMS",
    "atlas_argument",
    "carried",
    "combined",
    "count_column_options",
    "jobs_option",
    "json_option",
    "pair_options",
    "reading_options",
    "refuse_given",
    "seed_option",
    "some_jobs",
]


def combined(*options: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Several options as one decorator, listed in this order."""

    def decorate(function: Any) -> Any:
        for option in reversed(options):
            function = option(function)
        return function

    return decorate


def some_jobs(ctx: click.Context, param: click.Parameter, value: int | None) -> int | None:
    """A number of threads or processes, which is not 0."""
    if value == 0:
        raise click.BadParameter("0 threads do no work; give 1 or more, or -1 for all", ctx, param)
    return value


# Of one run alone, or of the next command anew.
_NOT_CARRIED = {"output", "plot", "quiet", "as_json", "jobs", "resume", "checkpoint"}


def carried(following: click.Command, *, but: Iterable[str] = ()) -> list[str]:
    """The options that were given to the command that runs and that the next one takes too.

    Parameters
    ----------
    following : click.Command
        The one that is suggested.
    but : iterable of str
        Names of parameters that the suggestion sets itself.
    """
    ctx = click.get_current_context()
    taken = {option.name for option in following.params if isinstance(option, click.Option)}
    given: list[str] = []
    for option in ctx.command.params:
        name = option.name or ""
        if name not in taken - _NOT_CARRIED - set(but):
            continue
        if ctx.get_parameter_source(name) is not ParameterSource.COMMANDLINE:
            continue
        value, flag = ctx.params[name], max(option.opts, key=len)
        if isinstance(option, click.Option) and option.is_flag:
            given.append(flag)
            continue
        each = value if isinstance(value, tuple) else (value,)
        written = [str(part) for part in each]
        given += [flag, ",".join(written)]
    return given


def refuse_given(ctx: click.Context, names: Iterable[str], where: str) -> None:
    """Refuse those of some options that the user gave, for they do not apply there."""
    for name in names:
        if ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            raise click.UsageError(f"--{name.replace('_', '-')} does not apply to {where}", ctx)


# What is known of trials alone, a row for each person and cue.
OF_TRIALS = ("participant", "where", "fold", "balance")
READING = ("cue", "response", "strength", "format", "labels", "responses", "rows", *OF_TRIALS)
ROW_SUMS = ("renormalize", "keep")

count_column_options = combined(
    click.option("--columns", metavar="COLUMN", help="Of a list of counts, that of its columns."),
    click.option("--count", metavar="COLUMN", help="Of a list of counts, that of the counts."),
)

_columns_of_pairs = combined(
    click.option("--cue", metavar="COLUMN", help="Column of cues, where not recognized."),
    click.option(
        "--response", metavar="COLUMN", help="Column of responses; of trials several, R1,R2,R3."
    ),
    click.option("--strength", metavar="COLUMN", help="Column of strengths or counts."),
    click.option("--format", metavar="NAME", help="How to read FILE, if not by its suffix."),
    click.option(
        "--labels",
        type=InputFile(),
        help="Labels of a matrix or array, or of pairs of places, one a line.",
    ),
    click.option(
        "--responses",
        type=ResponseRule(),
        metavar="drop|keep|keep:N",
        default="drop",
        show_default=True,
        help="Responses that are never cues; keep:5 keeps those that at least 5 cues gave. Of "
        "trials, R1, R12 or R123 says which count: R1,keep:5.",
    ),
    click.option("--participant", metavar="COLUMN", help="Of trials: the column of who answered."),
    click.option(
        "--where",
        metavar="CONDITION",
        help="Use only trials that meet COLUMN OP VALUE [and COLUMN OP VALUE ...], with OP one of "
        "= != < <= > >= in, such as 'age < 30 and gender = Female' (raw trials only).",
    ),
    click.option(
        "--fold", is_flag=True, help="Labels are the same in any case and with any space."
    ),
    click.option(
        "--balance",
        type=OrWord("least", positive, "a number of participants, at least 1"),
        metavar="N|least",
        help="Of trials: draw so many participants for each cue; as many as the least has.",
    ),
)

# What a command reads that has no use for counts.
pair_options = combined(
    _columns_of_pairs,
    click.option(
        "--rows",
        type=click.Choice(ROW_SUMS),
        help="Rows that do not sum to 1.  [default: renormalize]",
    ),
)

reading_options = combined(
    _columns_of_pairs,
    click.option(
        "--rows",
        metavar="renormalize|keep|COLUMN",
        help="Rows that do not sum to 1; of a list of counts, the column of its rows.  [default: "
        "renormalize]",
    ),
    count_column_options,
)

jobs_option = click.option(
    "--jobs",
    type=click.IntRange(min=-1),
    callback=some_jobs,
    metavar="N",
    help="Threads; -1 for all.  [default: all]",
)

seed_option = click.option(
    "--seed", type=click.IntRange(min=0), metavar="N", default=0, show_default=True
)

json_option = click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")

atlas_argument = click.argument("atlas", type=InputFile(), metavar="ATLAS")
