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
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn

import click

from manymaps.labels import case_note, case_variants


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


def explained(error: Exception) -> str:
    """Describe an unexpected error in one sentence."""
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


def option_name(parameter: click.Parameter) -> str:
    """Return the name of a parameter for messages: its first flag, or its metavar."""
    if isinstance(parameter, click.Option):
        return parameter.opts[0]
    return (parameter.metavar or parameter.human_readable_name).strip(".[]")


def note(*messages: str) -> None:
    """Print lines on stderr, unless --quiet is set."""
    context = click.get_current_context(silent=True)
    if context is None or not context.params.get("quiet"):
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
    return bool(click.get_current_context().params["json"])


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
    if not (summary and click.get_current_context().params["quiet"]):
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
