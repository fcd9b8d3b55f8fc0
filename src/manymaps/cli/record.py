"""The options of a command as a frozen dataclass, in which each field declares an option.

    @dataclass(frozen=True, kw_only=True)
    class CountOptions:
        texts: Path = argument("TEXTS", InputFile(folders=True))
        window: int | None = option(positive, "Count words within N positions of each other.")
        running: Running = group(Running)

    @command(CountOptions)
    def count(options: CountOptions) -> None: ...

A field declared by `group` contains a record of options that several commands have in common.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from dataclasses import Field, field, fields
from itertools import combinations
from pathlib import Path
from typing import Any, TypeVar

import click

from manymaps.cli.contract import Command, Option, general_option, option_name
from manymaps.cli.types import InputFile, OrFile, OutputFile, refuse_to_replace

R = TypeVar("R")
Kind = click.ParamType | Callable[[str], Any] | str | Sequence[str]


def option(kind: Kind, help: str, *flags: str, sets: str = "", **more: Any) -> Any:
    """Declare a field that is an option.

    Parameters
    ----------
    kind : click.ParamType, callable, str or sequence of str
        The type of the value, a function that converts the value, the metavar of a text, or the
        values to choose from.
    help : str
        The help text.
    *flags : str
        The names on the command line. By default, the name of the field is used.
    sets : str
        Names of the library parameters that the option sets. By default, the name of the field is
        used.
    **more
        Further arguments of `click.Option`. The help text shows a default.

    Returns
    -------
    dataclasses.Field
        The field.
    """
    shown: dict[str, Any] = {"show_default": more.get("default") is not None}
    if isinstance(kind, str):
        shown["metavar"] = kind
    else:
        shown["type"] = click.Choice(kind) if isinstance(kind, Sequence) else kind
        shown["metavar"] = getattr(kind, "metavar", None)

    def declared(name: str) -> click.Parameter:
        written = flags or (f"--{name.replace('_', '-')}",)
        return Option([*written, name], sets=sets.split(), help=help, **{**shown, **more})

    default = () if more.get("multiple") else more.get("default")
    metadata = {"declared": declared, "sets": sets.split()}
    return field(metadata=metadata, **_unless_required(more, default))


def flag(help: str, *flags: str, **more: Any) -> Any:
    """Declare a field that is True if the option is passed."""
    return option(click.BOOL, help, *flags, **{"is_flag": True, "default": False,
                                               "show_default": False, **more})  # fmt: skip


def output_option(metavar: str, kind: OutputFile, help: str, *, required: bool = True) -> Any:
    """Declare the field for -o, the main output."""
    return option(kind, help, "-o", "--output", metavar=metavar, required=required)


def argument(metavar: str, kind: click.ParamType | type[str], **more: Any) -> Any:
    """Declare a field that is an argument."""

    def declared(name: str) -> click.Parameter:
        return click.Argument([name], type=kind, metavar=metavar, **more)

    required = {"required": more.get("required", more.get("nargs") != -1)}
    return field(metadata={"declared": declared}, **_unless_required(required, None))


def _unless_required(more: dict[str, Any], default: Any) -> dict[str, Any]:
    return {} if more.get("required") else {"default": default}


def group(record: type) -> Any:
    """Declare a field that is a record of further options."""
    return field(default_factory=record, metadata={"group": record})


def _declared(record: Any) -> Iterator[click.Parameter]:
    for one in fields(record):
        if "group" in one.metadata:
            yield from _declared(one.metadata["group"])
        elif "declared" in one.metadata:
            yield one.metadata["declared"](one.name)


def _filled(record: Any, values: dict[str, Any]) -> Any:
    """Build a record from the values that click parsed."""

    def value_of(one: Field[Any]) -> Any:
        within = one.metadata.get("group")
        return values[one.name] if within is None else _filled(within, values)

    return record(**{one.name: value_of(one) for one in fields(record) if one.metadata})


def chosen(record: Any, *names: str) -> dict[str, Any]:
    """Return some or all options of a record as arguments of the library.

    The key of an option is the first library parameter that it sets.
    """
    sets = {one.name: one.metadata.get("sets") or [one.name] for one in fields(record)}
    return {sets[name][0]: getattr(record, name) for name in names or sets}


def settings_of(record: Any) -> Iterator[tuple[click.Option, str, Any]]:
    """Yield the options of a record, each with a library parameter and the value to set."""
    for one in fields(record):
        declared = one.metadata["declared"](one.name)
        for parameter in declared.sets or [one.name]:
            yield declared, parameter, getattr(record, one.name)


def command(record: type[R], *, json: bool = True) -> Callable[[Callable[[R], None]], Command]:
    """Convert a function of a record to a command with --quiet and, by default, --json."""

    def decorate(function: Callable[[R], None]) -> Command:
        def run(**values: Any) -> None:
            _refuse_overwriting()
            function(_filled(record, values))

        general = [general_option("quiet", "Print only results and errors.")]
        if json:
            general.append(general_option("json", "Print the results as one JSON object."))
        return Command(
            function.__name__,
            params=[*_declared(record), *general],
            callback=run,
            help=inspect.cleandoc(function.__doc__ or ""),
        )

    return decorate


def _refuse_overwriting() -> None:
    """Reject an output that is also an input, another output, or a file of another kind."""
    context = click.get_current_context()
    inputs: list[tuple[str, Path]] = []
    outputs: list[tuple[click.Parameter, OutputFile, Path]] = []
    for parameter in context.command.params:
        value = context.params.get(parameter.name or "")
        paths = [path for path in (value if isinstance(value, tuple) else [value])
                 if isinstance(path, Path)]  # fmt: skip
        if isinstance(parameter.type, OutputFile):
            outputs += [(parameter, parameter.type, path) for path in paths]
        elif isinstance(parameter.type, InputFile | OrFile):
            names = [option_name(parameter) + (f" {k + 1}" if k else "") for k in range(len(paths))]
            inputs += zip(names, paths, strict=True)
    for parameter, kind, path in outputs:
        for name, read in inputs:
            if name not in kind.may_replace and path.resolve() == read.resolve():
                raise click.UsageError(
                    f"{option_name(parameter)} would overwrite {name} ({read}); choose another file"
                )
    for (one, _, path), (other, _, second) in combinations(outputs, 2):
        if path.resolve() == second.resolve():
            raise click.UsageError(
                f"{option_name(one)} and {option_name(other)} are the same file, {path}; "
                "use two names"
            )
    for parameter, kind, path in outputs:
        if kind.is_archive:
            refuse_to_replace(option_name(parameter), path)
