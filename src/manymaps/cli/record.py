"""The options of a command as a frozen dataclass, in which each field declares an option.

    @dataclass(frozen=True, kw_only=True)
    class ExportOptions:
        atlas: Path = argument("ATLAS", InputFile())
        min_weight: float = option(Number(0, 1), "Leave out maps below this weight.", default=0.1)
        running: Running = group(Running, "Run")

    @command(ExportOptions)
    def export(options: ExportOptions) -> None: ...

A field declared by `group` contains a record of options that several commands have in common.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from dataclasses import field, fields
from pathlib import Path
from typing import Any, TypeVar

import click

from manymaps.cli.contract import Command, Option, general_option, option_name
from manymaps.cli.types import OutputFile, refuse_to_replace

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


def group(record: type, heading: str | None = None) -> Any:
    """Declare a field that is a record of further options, listed under a heading in the help."""
    return field(default_factory=record, metadata={"group": record, "heading": heading})


def _declared(record: Any, heading: str | None = None) -> Iterator[click.Parameter]:
    for one in fields(record):
        if "group" in one.metadata:
            yield from _declared(one.metadata["group"], one.metadata["heading"] or heading)
        elif "declared" in one.metadata:
            parameter = one.metadata["declared"](one.name)
            if isinstance(parameter, Option):
                usual = "Output" if isinstance(parameter.type, OutputFile) else "Options"
                parameter.heading = heading or usual
            yield parameter


def _filled(record: Any, values: dict[str, Any]) -> Any:
    """Build a record from the values that click parsed."""
    settings = {}
    for one in fields(record):
        part = one.metadata.get("group")
        settings[one.name] = values[one.name] if part is None else _filled(part, values)
    return record(**settings)


def chosen(record: Any, *names: str) -> dict[str, Any]:
    """Return some or all options of a record as arguments of the library.

    The key of an option is the first library parameter that it sets.
    """
    sets = {one.name: one.metadata.get("sets") or [one.name] for one in fields(record)}
    return {sets[name][0]: getattr(record, name) for name in names or sets}


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
    files: dict[Path, str] = {}
    outputs: list[tuple[str, OutputFile, Path]] = []
    for parameter in context.command.params:
        value = context.params.get(parameter.name or "")
        for path in value if isinstance(value, tuple) else (value,):
            if isinstance(parameter.type, OutputFile) and isinstance(path, Path):
                outputs.append((option_name(parameter), parameter.type, path))
            elif isinstance(path, Path):
                files[path.resolve()] = option_name(parameter)
    for name, kind, path in outputs:
        other = files.setdefault(path.resolve(), name)
        if other != name and other not in kind.may_replace:
            raise click.UsageError(f"{name} would overwrite {other} ({path}); choose another file")
        if kind.is_archive:
            refuse_to_replace(name, path)
