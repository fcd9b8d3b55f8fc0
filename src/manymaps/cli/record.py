"""Commands, and their options as a frozen dataclass, in which each field declares an option.

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
import os
import shlex
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import field, fields
from functools import partial
from pathlib import Path
from typing import Any

import click

from manymaps.cli.contract import BadData, Interrupted, RunFailed, explained, note, option_name
from manymaps.cli.interruption import handle_signals, was_interrupted
from manymaps.cli.types import OutputFile
from manymaps.errors import SPELLINGS, DataError, DivergedError, ParameterError
from manymaps.labels import UnknownLabelError
from manymaps.progress import watched

Kind = click.ParamType | Callable[[str], Any] | str | Sequence[str]


class Option(click.Option):
    """An option, with the library parameters that it sets and its heading in the help."""

    def __init__(self, *arguments: Any, sets: Sequence[str] = (), **settings: Any):
        super().__init__(*arguments, **settings)
        self.sets = sets or [self.name or ""]
        self.heading = "Output" if isinstance(self.type, OutputFile) else "Options"

    def get_help_extra(self, ctx: click.Context) -> Any:
        """Leave out ranges, which only errors need."""
        return {k: v for k, v in super().get_help_extra(ctx).items() if k != "range"}


class Command(click.Command):
    """A command that reports failures in one line, with an exit code for each kind of failure.

    Parameters
    ----------
    record : type
        The dataclass of the options.
    function : callable
        A function of the record.
    json : bool
        Whether the command has the option --json.
    """

    def __init__(self, record: type, function: Callable[[Any], None], *, json: bool):
        params = [
            *_declared(record),
            click.Option(["--quiet"], is_flag=True, help="Print only results and errors."),
        ]
        if json:
            text = "Print the results as one JSON object."
            params.append(click.Option(["--json"], is_flag=True, help=text))
        documented = inspect.cleandoc(function.__doc__ or "")
        super().__init__(function.__name__, params=params, callback=function, help=documented)
        self.record = record
        options = [one for one in params if isinstance(one, Option)]
        self.setters = {name: one for one in options for name in one.sets}

    def invoke(self, ctx: click.Context) -> Any:
        """Call the function with the record, under the contract of `manymaps.cli.contract`."""
        handle_signals()
        ctx.meta["manymaps.started"] = time.perf_counter()
        seen = nullcontext() if ctx.params["quiet"] else watched()
        try:
            with warnings.catch_warnings(), seen:
                warnings.simplefilter("always", UserWarning)
                warnings.showwarning = _warn
                _refuse_overwriting(ctx)
                return ctx.invoke(self.callback or _warn, _filled(self.record, ctx.params))
        except DivergedError as error:
            raise RunFailed(str(error)) from error
        except ParameterError as error:
            raise click.UsageError(str(error), ctx) from error
        except (DataError, UnknownLabelError, BadData) as error:
            raise BadData(_located(error, ctx)) from error
        except KeyboardInterrupt as error:
            raise Interrupted("interrupted") from error
        except (click.ClickException, click.exceptions.Exit, click.Abort):
            raise
        except Exception as error:
            if was_interrupted():
                raise Interrupted("interrupted") from error
            # Any other error is also reported in one sentence.
            if os.environ.get("MANYMAPS_DEBUG") == "1":
                raise
            raise RunFailed(explained(error)) from error

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options under their headings."""
        sections: dict[str, list[tuple[str, str]]] = {}
        for one in sorted(self.get_params(ctx), key=lambda one: not isinstance(one, Option)):
            record = one.get_help_record(ctx)
            if isinstance(one, click.Option) and record is not None:
                sections.setdefault(getattr(one, "heading", "General"), []).append(record)
        for heading, records in sections.items():
            with formatter.section(heading):
                formatter.write_dl(records)


def command(record: type, *, json: bool = True) -> Callable[[Callable[[Any], None]], Command]:
    """Convert a function of a record to a command with --quiet and, by default, --json."""
    return partial(Command, record, json=json)


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
            if isinstance(parameter, Option) and heading is not None:
                parameter.heading = heading
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


def _warn(message: Warning | str, *_: Any, **__: Any) -> None:
    note(f"warning: {message}")


def _refuse_overwriting(ctx: click.Context) -> None:
    """Reject an output that is also an input or another output."""
    files: dict[Path, str] = {}
    outputs: list[tuple[str, OutputFile, Path]] = []
    for parameter in ctx.command.params:
        value = ctx.params.get(parameter.name or "")
        for path in value if isinstance(value, tuple) else (value,):
            if isinstance(parameter.type, OutputFile) and isinstance(path, Path):
                outputs.append((option_name(parameter), parameter.type, path))
            elif isinstance(path, Path):
                files[path.resolve()] = option_name(parameter)
    for name, kind, path in outputs:
        other = files.setdefault(path.resolve(), name)
        if other != name and other not in kind.may_replace:
            raise click.UsageError(f"{name} would overwrite {other} ({path}); choose another file")


def _located(error: Exception, ctx: click.Context) -> str:
    """Add the option that named a file or word, and the line with which `read` reads the file."""
    message = error.message if isinstance(error, BadData) else str(error)
    named: dict[str, str] = ctx.meta.get("manymaps.read", {})
    settings = " ".join(line for name, line in named.items() if f"read {name}" in message)
    for parameter in ctx.command.params:
        is_option = isinstance(parameter, click.Option)
        prefix = f"{option_name(parameter)} " if is_option else ""
        value = ctx.params.get(parameter.name or "")
        for one in value if isinstance(value, tuple) else (value,):
            if isinstance(one, Path) and message.startswith(str(one)):
                line = f": manymaps read {shlex.quote(str(one))} {settings} -o OUT.npz"
                return f"{prefix}{message}{line if settings else ''}"
            if isinstance(error, UnknownLabelError) and one == error.label and is_option:
                return f"{prefix}{one}: {message}"
    return message


def spelled_as_option(parameter: str, value: Any) -> str | None:
    """Return the option that sets a library parameter, if there is one.

    Another command than `read` names an option of `read`, and `_located` adds the complete line.

    >>> spelled_as_option("rows", "keep") is None  # no command runs
    True
    """
    context = click.get_current_context(silent=True)
    if context is None:
        return None
    from manymaps.cli.read import SETTABLE, read

    own: dict[str, Option] = getattr(context.command, "setters", {})
    written = "VALUE" if value is ... else value
    option = own.get(parameter) or read.setters.get(parameter)
    if option is not None:
        name = line = option_name(option)
        if not option.is_flag and value is ...:
            line = f"{name} {option.metavar}"
        elif not option.is_flag:
            text = ",".join(map(str, value)) if isinstance(value, list | tuple) else value
            name = line = f"{name} {'none' if value is None else text}"
    elif parameter in SETTABLE:
        name = line = f"--set {parameter}={written}"
    else:
        is_set = "set" in own and context.command is not read and value is not ...
        return f"--set {parameter}={value}" if is_set else None
    if context.command is read or parameter in own:
        return name
    context.meta.setdefault("manymaps.read", {})[name] = line
    return f"read {name}"


SPELLINGS.append(spelled_as_option)
