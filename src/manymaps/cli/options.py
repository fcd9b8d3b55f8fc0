"""The options that several commands share, and the kinds of value that they take."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from manymaps.cli.contract import InputFile

__all__ = [
    "READING",
    "ROW_SUMS",
    "FiniteFloat",
    "Neighborhood",
    "Perplexities",
    "RateOrAuto",
    "Start",
    "atlas_argument",
    "combined",
    "count_column_options",
    "finite",
    "jobs_option",
    "json_option",
    "positive",
    "reading_options",
    "refuse_given",
    "seed_option",
]

STARTS = ("auto", "random", "pca", "mds", "spectral", "ca")


def combined(*options: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Several options as one decorator, listed in this order."""

    def decorate(function: Any) -> Any:
        for option in reversed(options):
            function = option(function)
        return function

    return decorate


def finite(ctx: click.Context, param: click.Parameter, value: float | None) -> float | None:
    """An option's number, refused where it is NaN or infinite, which ranges let through."""
    if value is not None and not abs(value) < float("inf"):
        raise click.BadParameter(f"{value} is no finite number", ctx, param)
    return value


def _threads(ctx: click.Context, param: click.Parameter, value: int | None) -> int | None:
    if value == 0:
        raise click.BadParameter("0 threads do no work; give 1 or more, or -1 for all", ctx, param)
    return value


def reading_arguments(options: Mapping[str, Any]) -> list[str]:
    """How a command would be told to read what this one was told to."""
    given: list[str] = []
    for name in ("cue", "response", "strength", "format", "labels", "responses", "rows"):
        value = options.get(name)
        if value is not None and (name, value) != ("responses", "drop"):
            given += [f"--{name}", str(value)]
    return given


class FiniteFloat(click.ParamType):
    """A number that is neither NaN nor infinite."""

    name = "number"

    def convert(self, value: Any, param: Any, ctx: Any) -> float:
        """The number."""
        number = _number(value)
        if number is None:
            self.fail(f"{value!r} is no finite number", param, ctx)
        return number


class Perplexities(click.ParamType):
    """A perplexity, or several with commas between them: 30 or 5,50."""

    name = "number"

    def convert(self, value: Any, param: Any, ctx: Any) -> float | tuple[float, ...]:
        """One number or several, each at least 1."""
        numbers = [_number(part) for part in str(value).split(",")]
        if not all(number is not None and number >= 1 for number in numbers):
            self.fail(
                f"{value!r} is no perplexity; give a number of at least 1, or several such as 5,50",
                param,
                ctx,
            )
        found = tuple(number for number in numbers if number is not None)
        return found[0] if len(found) == 1 else found


class RateOrAuto(click.ParamType):
    """A learning rate above 0, or "auto"."""

    name = "number"

    def convert(self, value: Any, param: Any, ctx: Any) -> float | str:
        """The rate."""
        if value == "auto":
            return "auto"
        number = _number(value)
        if number is None or number <= 0:
            self.fail(f"{value!r} is neither auto nor a number above 0", param, ctx)
        return number


class Neighborhood(click.ParamType):
    """A number of neighbours, or "local"."""

    name = "number"

    def convert(self, value: Any, param: Any, ctx: Any) -> int | str:
        """The number, at least 1."""
        if value == "local":
            return "local"
        if not str(value).isdecimal() or int(value) < 1:
            self.fail(f"{value!r} is neither local nor a number of at least 1", param, ctx)
        return int(value)


class Start(click.ParamType):
    """The name of a start, or the file of an atlas to start from."""

    name = "start"

    def convert(self, value: Any, param: Any, ctx: Any) -> str | Path:
        """The name, or the path once it is known to be readable."""
        if value in STARTS:
            return str(value)
        if not str(value).endswith(".atlas"):
            self.fail(
                f"{value!r} is neither one of {', '.join(STARTS)} nor an .atlas file", param, ctx
            )
        return InputFile().convert(value, param, ctx)


def _number(text: Any) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if abs(number) < float("inf") else None


def refuse_given(ctx: click.Context, names: Iterable[str], where: str) -> None:
    """Refuse those of some options that the user gave, for they do not apply there."""
    for name in names:
        if ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            raise click.UsageError(f"--{name.replace('_', '-')} does not apply to {where}", ctx)


READING = ("cue", "response", "strength", "format", "labels", "responses", "rows")
ROW_SUMS = ("renormalize", "keep")

count_column_options = combined(
    click.option("--columns", metavar="COLUMN", help="Of a list of counts, that of its columns."),
    click.option("--count", metavar="COLUMN", help="Of a list of counts, that of the counts."),
)

reading_options = combined(
    click.option("--cue", metavar="COLUMN", help="Column of cues, where not recognized."),
    click.option("--response", metavar="COLUMN", help="Column of responses."),
    click.option("--strength", metavar="COLUMN", help="Column of strengths or counts."),
    click.option("--format", metavar="NAME", help="How to read FILE, if not by its suffix."),
    click.option("--labels", type=InputFile(), help="Labels of a matrix or array, one a line."),
    click.option(
        "--responses",
        type=click.Choice(["drop", "keep"]),
        default="drop",
        show_default=True,
        help="Responses that are never cues.",
    ),
    click.option(
        "--rows",
        metavar="renormalize|keep|COLUMN",
        help="Rows that do not sum to 1; of a list of counts, the column of its rows.  [default: "
        "renormalize]",
    ),
    count_column_options,
)

positive = click.IntRange(min=1)

jobs_option = click.option(
    "--jobs",
    type=click.IntRange(min=-1),
    callback=_threads,
    metavar="N",
    help="Threads; -1 for all.  [default: all]",
)

seed_option = click.option(
    "--seed", type=click.IntRange(min=0), metavar="N", default=0, show_default=True
)

json_option = click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")

atlas_argument = click.argument("atlas", type=InputFile(), metavar="ATLAS")
