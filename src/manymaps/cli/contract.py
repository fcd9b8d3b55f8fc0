"""The contract of all commands, which defines their streams, exit codes and reports.

    stdout   the requested data, complete, and nothing else
    stderr   everything else: notes, warnings, progress, errors
    exit     0 success | 1 the run failed | 2 usage error, or an output that cannot be written
             3 bad input data | 4 not converged under --strict
             130 interrupted, by Ctrl-C or the signals TERM and HUP

An error is reported in one line with the cause and a remedy. If MANYMAPS_DEBUG=1 is set, the
traceback of an unexpected error is printed.
"""

from __future__ import annotations

import io
import json
import math
import numbers
import os
import shlex
import shutil
import sys
import time
import unicodedata
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any, NoReturn

import click

from manymaps.cli.interruption import handle_signals, was_interrupted
from manymaps.errors import DataError, DivergedError, ParameterError, spelling
from manymaps.labels import UnknownLabelError, case_note, case_variants
from manymaps.progress import watched


class RunFailed(click.ClickException):
    """A failure that is caused neither by incorrect usage nor by invalid data."""

    exit_code = 1


class BadData(click.ClickException):
    """An error in the input data."""

    exit_code = 3


class NotConverged(click.ClickException):
    """The failure of a fit to converge under --strict."""

    exit_code = 4


class Interrupted(click.ClickException):
    """An interruption by Ctrl-C, or the signals TERM and HUP."""

    exit_code = 130


class Option(click.Option):
    """An option, with the library parameters that it sets and its heading in the help."""

    def __init__(self, *arguments: Any, sets: Sequence[str] = (), **settings: Any):
        super().__init__(*arguments, **settings)
        self.sets = sets
        self.heading = "Options"

    def get_help_extra(self, ctx: click.Context) -> Any:
        """Leave out ranges, which only errors need."""
        return {k: v for k, v in super().get_help_extra(ctx).items() if k != "range"}


class Command(click.Command):
    """A command that reports failures in one line, with an exit code for each kind of failure."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command under the contract of this module."""
        handle_signals()
        ctx.meta["manymaps.started"] = time.perf_counter()
        seen = nullcontext() if ctx.meta.get("manymaps.quiet") else watched()
        with spelling(spelled_as_option), _reported(ctx), seen:
            return super().invoke(ctx)

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


class Commands(click.Group):
    """The group of all commands, listed in the order in which users need them."""

    def __init__(self, *arguments: Any, sections: Mapping[str, Sequence[str]], **settings: Any):
        super().__init__(*arguments, **settings)
        self.sections = sections

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names in the order of the sections."""
        return [name for names in self.sections.values() for name in names]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands under the headings of their sections."""
        for heading, names in self.sections.items():
            with formatter.section(heading):
                formatter.write_dl(
                    [(name, self.commands[name].get_short_help_str(70)) for name in names]
                )


@contextmanager
def _reported(ctx: click.Context) -> Iterator[None]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always", UserWarning)
            warnings.showwarning = _warn
            yield
    except DivergedError as error:
        raise RunFailed(str(error)) from error
    except ParameterError as error:
        raise click.UsageError(str(error), ctx) from error
    except (DataError, UnknownLabelError) as error:
        raise BadData(_located(error, str(error), ctx)) from error
    except BadData as error:
        raise BadData(_located(error, error.message, ctx)) from error
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
        raise RunFailed(_explained(error)) from error


def _explained(error: Exception) -> str:
    match error:
        case MemoryError():
            return "the run needs more memory than is available; use fewer maps or objects"
        case ImportError():
            return str(error)
        case OSError(strerror=str(reason)):
            place = f"{error.filename}: " if error.filename else ""
            return f"the run failed: {place}{reason}"
    return (
        f"the run failed: {type(error).__name__}: {error} "
        "(set MANYMAPS_DEBUG=1 in the environment to see where)"
    )


def _located(error: Exception, message: str, ctx: click.Context) -> str:
    """Add the option that named a file or word, and the line with which `read` reads the file."""
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


def option_name(parameter: click.Parameter, value: Any = None) -> str:
    """Return the name of a parameter for messages: the first flag that sets it, or its metavar."""
    if isinstance(parameter, click.Option):
        off = parameter.secondary_opts if value is False else []
        return (off or parameter.opts)[0]
    return (parameter.metavar or parameter.human_readable_name).strip(".[]")


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

    command, written = context.command, "VALUE" if value is ... else value
    option = _option_of(command, parameter) or _option_of(read, parameter)
    if option is None and parameter not in SETTABLE:
        is_set = _option_of(command, "set") and command is not read and value is not ...
        return f"--set {parameter}={value}" if is_set else None
    if option is None:
        name = line = f"--set {parameter}={written}"
    elif option.is_flag or value is ...:
        name = option_name(option, value)
        line = name if option.is_flag else f"{name} {option.metavar}"
    else:
        text = ",".join(map(str, value)) if isinstance(value, list | tuple) else value
        name = line = f"{option_name(option)} {'none' if value is None else text}"
    if command is read or option in command.params:
        return name
    context.meta.setdefault("manymaps.read", {})[name] = line
    return f"read {name}"


def _option_of(command: click.Command, parameter: str) -> Option | None:
    options = (option for option in command.params if isinstance(option, Option))
    return next((one for one in options if parameter in (one.sets or [one.name])), None)


def _warn(message: Warning | str, *_: Any, **__: Any) -> None:
    note(f"warning: {message}")


def note(*messages: str) -> None:
    """Print lines on stderr, unless --quiet is set."""
    context = click.get_current_context(silent=True)
    if context is None or not context.meta.get("manymaps.quiet"):
        # A closed stderr does not stop the command.
        with suppress(OSError):
            for message in messages:
                click.echo(message, err=True)


def note_case(source: object, labels: Iterable[str], known: Sequence[str]) -> dict[str, str]:
    """Return `case_variants` of the labels, and print a note if there are any."""
    variants = case_variants(labels, known)
    if variants:
        note(case_note(source, variants))
    return variants


def general_option(name: str, help: str) -> click.Option:
    """Create a flag that all commands interpret in the same way: --quiet or --json."""

    def keep(ctx: click.Context, _: click.Parameter, value: bool) -> None:
        ctx.meta[f"manymaps.{name}"] = value

    return click.Option([f"--{name}"], is_flag=True, expose_value=False, callback=keep, help=help)


def emit(text: str) -> None:
    """Print data on stdout; a pipe that is closed early (`| head`) is not an error."""
    try:
        click.echo(text.rstrip("\n"))
    except BrokenPipeError:
        _leave_stdout(0)
    except OSError as error:
        click.echo(f"Error: the standard output cannot be written: {error.strerror}", err=True)
        _leave_stdout(RunFailed.exit_code)


def _leave_stdout(exit_code: int) -> NoReturn:
    # Buffered data would fail again, with a traceback, when the interpreter exits.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    raise click.exceptions.Exit(exit_code)


def emit_json(record: Mapping[str, Any]) -> None:
    """Print one JSON object on stdout; infinite and unknown numbers become null."""
    ascii_only = (sys.stdout.encoding or "ascii").lower().replace("-", "") != "utf8"
    emit(json.dumps(_with_null(record), ensure_ascii=ascii_only, allow_nan=False))


def elapsed() -> float:
    """Return the seconds since the command started."""
    started: float = click.get_current_context().meta["manymaps.started"]
    return round(time.perf_counter() - started, 3)


def as_json() -> bool:
    """Check whether the command prints JSON."""
    return bool(click.get_current_context().meta["manymaps.json"])


def tell(
    record: Callable[[], Mapping[str, Any]],
    text: Callable[[], str],
    *,
    files: Iterable[Path | None] = (),
    summary: bool = False,
) -> None:
    """Print the results of a command: a record if --json is set, otherwise a text and file names.

    Parameters
    ----------
    record : callable
        A function that returns the record.
    text : callable
        A function that returns the text.
    files : iterable of path, optional
        The output files. None is skipped.
    summary : bool
        Whether the text is only a summary, so that it is omitted if --quiet is set.
    """
    if as_json():
        emit_json(record())
        return
    if not (summary and click.get_current_context().meta["manymaps.quiet"]):
        emit(text())
    for file in files:
        if file is not None:
            note(f"{file}")


def next_step(*words: object) -> str:
    """Format the line with the suggested next command."""
    return f"next: manymaps {shlex.join(map(str, words))}"


def _with_null(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _with_null(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_with_null(part) for part in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def grid(rows: Iterable[Sequence[object]]) -> str:
    """Format rows as a plain-text table that fits the terminal, unwrapped in a file or pipe.

    Parameters
    ----------
    rows : iterable of sequences
        The cells of each row, formatted by `cell`. Rows may differ in length.

    Returns
    -------
    str
        The table.
    """
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0), pad_edge=False)
    for row in rows:
        table.add_row(*map(cell, row))
    text = io.StringIO()
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else 10_000
    Console(file=text, width=width, markup=False, emoji=False, highlight=False).print(table)
    return "\n".join(line.rstrip() for line in text.getvalue().splitlines())


def cell(value: object) -> str:
    """Format a value for a table.

    >>> [cell(value) for value in (12345, 0.12345, float("nan"), None, "tie", True)]
    ['12,345', '0.1235', 'none', '', 'tie', 'yes']
    """
    match value:
        case None:
            return ""
        case str():
            return value
        case bool():
            return "yes" if value else "no"
        case numbers.Integral():
            return f"{int(value):,}"
        case numbers.Real() if math.isnan(value):
            return "none"
        case numbers.Real():
            return f"{float(value):.4g}"
    raise TypeError(f"{value!r} cannot be shown in a table")


def shown(label: str, width: int = 40) -> str:
    """Remove control characters from a label, and shorten the label to a width."""
    plain = "".join(
        "\N{REPLACEMENT CHARACTER}" if unicodedata.category(c) == "Cc" or c in _BIDI else c
        for c in label[: width + 1]
    )
    return plain if len(plain) <= width else plain[: width - 1] + "…"


_BIDI = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
