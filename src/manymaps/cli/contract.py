"""What every command keeps: its streams, its exit codes, and its checks before work begins.

    stdout   the data asked for, whole, and nothing else
    stderr   everything else: notes, warnings, progress, errors
    exit     0 fine | 1 the run failed | 2 usage, an output that cannot be written among it
             3 bad input data | 4 not converged under --strict | 130 interrupted

An error is one line that says what is wrong and what to do. Set MANYMAPS_DEBUG=1 to see where an
unexpected one came from.
"""

from __future__ import annotations

import io
import json
import math
import os
import re
import shutil
import sys
import tempfile
import unicodedata
import warnings
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

from manymaps.errors import DataError, ParameterError
from manymaps.labels import UnknownLabel

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

__all__ = [
    "BadData",
    "Command",
    "Commands",
    "InputFile",
    "Interrupted",
    "NotConverged",
    "OutputFile",
    "RunFailed",
    "as_options",
    "check_folder",
    "emit",
    "emit_json",
    "note",
    "plain_table",
    "quiet_option",
    "refuse_overwriting",
    "refuse_to_replace",
    "rendered",
    "shown",
]


class RunFailed(click.ClickException):
    """The run failed for a reason that is neither the usage nor the data."""

    exit_code = 1


class BadData(click.ClickException):
    """The input data cannot be used."""

    exit_code = 3


class NotConverged(click.ClickException):
    """The fit was asked to converge, and has not."""

    exit_code = 4


class Interrupted(click.ClickException):
    """Ctrl-C, or the signal TERM."""

    exit_code = 130


class Command(click.Command):
    """A command whose failures are told in a line, each kind with its exit code."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command under the contract of this module."""
        with _told_plainly(ctx):
            return super().invoke(ctx)


class Commands(click.Group):
    """The group of such commands, listed in the order in which a person meets them."""

    command_class = Command

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names in the order of definition."""
        return list(self.commands)


@contextmanager
def _told_plainly(ctx: click.Context) -> Iterator[None]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always", UserWarning)
            warnings.showwarning = _warn
            yield
    except ParameterError as error:
        raise click.UsageError(as_options(str(error)), ctx) from error
    except (DataError, UnknownLabel) as error:
        raise BadData(as_options(str(error))) from error
    except KeyboardInterrupt as error:
        raise Interrupted("interrupted") from error
    except (click.ClickException, click.exceptions.Exit, click.Abort):
        raise
    except Exception as error:
        # The last line of defence: whatever else goes wrong, a person reads a sentence.
        if os.environ.get("MANYMAPS_DEBUG") == "1":
            raise
        raise RunFailed(_explained(error)) from error


def _explained(error: Exception) -> str:
    match error:
        case MemoryError():
            return "the run needs more memory than there is; fewer maps or objects need less"
        case ImportError():
            return str(error)
        case OSError(strerror=str(reason)):
            place = f"{error.filename}: " if error.filename else ""
            return f"the run failed: {place}{reason}"
    return (
        f"the run failed: {type(error).__name__}: {error} "
        "(MANYMAPS_DEBUG=1 in the environment shows where)"
    )


def as_options(message: str) -> str:
    """A message of the library with its arguments as options of the command line.

    >>> as_options("read with responses='keep' to make objects of all responses")
    'read with --responses keep to make objects of all responses'
    >>> as_options("n_maps=9 is more than the 6 objects; give at most 6")
    '--maps 9 is more than the 6 objects; give at most 6'
    """
    for written, meant in _WRITTEN_OTHERWISE.items():
        message = message.replace(written, meant)
    return _ARGUMENT.sub(
        lambda found: f"--{_OPTIONS[found['name']]} {found['value'].strip(_QUOTES)}", message
    )


_OPTIONS = {
    "absent": "absent",
    "affinity": "affinity",
    "column": "column",
    "columns": "columns",
    "constant": "constant",
    "count": "count",
    "divergence": "divergence",
    "encoding": "encoding",
    "format": "format",
    "groups": "groups",
    "init": "init",
    "k": "neighbors",
    "kind": "kind",
    "label_column": "label-column",
    "labels": "labels",
    "max_iter": "iterations",
    "max_words": "max-words",
    "metric": "metric",
    "n_clusters": "clusters",
    "min_documents": "min-documents",
    "n_components": "dims",
    "n_init": "restarts",
    "n_maps": "maps",
    "n_neighbors": "neighbors",
    "n_splits": "splits",
    "patience": "patience",
    "penalty": "penalty",
    "perplexity": "perplexity",
    "precision": "precision",
    "recall": "recall",
    "responses": "responses",
    "rows": "rows",
    "sample": "sample",
    "sd": "sd",
    "similarity": "similarity",
    "solver": "solver",
    "skip_words": "skip-words",
    "stop_words": "stop-words",
    "strength": "strength",
    "theta": "theta",
    "token_pattern": "token-pattern",
    "tolerance": "tolerance",
    "vocabulary": "words",
    "weighting": "weighting",
    "window": "window",
}
_QUOTES = "'\""
_ARGUMENT = re.compile(
    rf"(?<![\w.(])(?P<name>{'|'.join(_OPTIONS)})=(?P<value>'[^']*'|\"[^\"]*\"|[\w.\[\]+-]*[\w\]]|\.\.\.)"
)
_WRITTEN_OTHERWISE = {
    "give kind='dissimilarity' if they are, or NaN on the diagonal if it says nothing": (
        "give --dissimilarities if they are, and leave the diagonal empty if it says nothing"
    ),
    "or fit without strict=True": "or leave --strict out",
    "with refine=Refinement(perplexity=...)": "with --perplexity",
    "transposed() gives documents, sites or users as rows": (
        "with --given columns they are fitted as if they were not"
    ),
    "rows, columns and count name the columns": "--rows, --columns and --count name the columns",
    ", a pair of arrays, an Atlas": ", nor an .atlas file",
}


def _warn(message: Warning | str, *_: Any, **__: Any) -> None:
    note(f"warning: {message}")


def note(message: str) -> None:
    """A line for the person, on stderr; nothing under --quiet."""
    context = click.get_current_context(silent=True)
    if context is None or not context.meta.get("manymaps.quiet"):
        click.echo(as_options(message), err=True)


def _set_quiet(ctx: click.Context, _: click.Parameter, value: bool) -> None:
    ctx.meta["manymaps.quiet"] = value


quiet_option = click.option(
    "--quiet", is_flag=True, expose_value=False, callback=_set_quiet, help="Only data and errors."
)


def emit(text: str) -> None:
    """Data on stdout. A reader that has seen enough (`| head`) is no error."""
    try:
        click.echo(text.rstrip("\n"))
    except BrokenPipeError:
        _leave_stdout(0)
    except OSError as error:
        click.echo(f"Error: the standard output cannot be written: {error.strerror}", err=True)
        _leave_stdout(RunFailed.exit_code)


def _leave_stdout(exit_code: int) -> NoReturn:
    # What is still buffered would fail again, with a traceback, when the interpreter closes.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    raise click.exceptions.Exit(exit_code)


def emit_json(record: Mapping[str, Any]) -> None:
    """One JSON object on stdout; null where a number is infinite or unknown."""
    ascii_only = (sys.stdout.encoding or "ascii").lower().replace("-", "") != "utf8"
    emit(json.dumps(_with_null(record), ensure_ascii=ascii_only, allow_nan=False))


def _with_null(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _with_null(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_with_null(part) for part in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def plain_table() -> Table:
    """An empty table of rich's without lines or header, to be `rendered`."""
    from rich.table import Table

    return Table(box=None, show_header=False, padding=(0, 2, 0, 0), pad_edge=False)


def rendered(*parts: RenderableType) -> str:
    """Rich parts as text for stdout: as wide as the terminal there, unwrapped in a file or pipe."""
    from rich.console import Console

    text = io.StringIO()
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else 10_000
    console = Console(file=text, width=width, markup=False, emoji=False, highlight=False)
    console.print(*parts, sep="\n")
    return "\n".join(line.rstrip() for line in text.getvalue().splitlines())


def shown(label: str, width: int = 40) -> str:
    """A label fit for a terminal: no control characters, and not ten thousand long."""
    plain = "".join(
        "\N{REPLACEMENT CHARACTER}" if unicodedata.category(c) == "Cc" or c in _BIDI else c
        for c in label[: width + 1]
    )
    return plain if len(plain) <= width else plain[: width - 1] + "…"


_BIDI = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"


class InputFile(click.ParamType):
    """A file to read: there, and readable; otherwise bad input data."""

    name = "file"

    def convert(self, value: Any, param: Any, ctx: Any) -> Path:
        """The path, once it is known to be readable."""
        path = Path(value)
        try:
            if path.is_dir():
                raise BadData(f"{path}: this is a folder; give a file")
            path.stat()
            if not path.is_file():
                raise BadData(f"{path}: this is no ordinary file; write it to one first")
            path.open("rb").close()
        except FileNotFoundError as error:
            raise BadData(f"{path}: no such file") from error
        except OSError as error:
            raise BadData(f"{path}: cannot be read: {error.strerror}") from error
        return path


class OutputFile(click.ParamType):
    """A file to write, in a folder where that is possible; otherwise a usage error."""

    name = "file"

    def __init__(self, *suffixes: str):
        self.suffixes = suffixes

    def convert(self, value: Any, param: Any, ctx: Any) -> Path:
        """The path, once it is known that a file can be written there."""
        path = Path(value)
        if self.suffixes and path.suffix.lower() not in self.suffixes:
            self.fail(f"{path}: the name must end in {', '.join(self.suffixes)}", param, ctx)
        try:
            if path.is_dir():
                self.fail(f"{path}: this is a folder; give a file in it", param, ctx)
            if path.exists() and not path.is_file():
                self.fail(f"{path}: this is no ordinary file", param, ctx)
            if path.exists() and not os.access(path, os.W_OK):
                self.fail(f"{path}: the file is there and cannot be overwritten", param, ctx)
            folder = Path(os.path.realpath(path)).parent
            if not folder.is_dir():
                self.fail(f"{path}: there is no folder {folder}; make it first", param, ctx)
            check_folder(folder)
        except OSError as error:
            self.fail(f"{path}: cannot be written: {error.strerror}", param, ctx)
        return path


def refuse_overwriting(
    outputs: Mapping[str, Path | None], inputs: Mapping[str, Path | None]
) -> None:
    """A usage error where an output is one of the files that are read, or another output."""
    written = [(name, path, path.resolve()) for name, path in outputs.items() if path is not None]
    for name, _, place in written:
        for source, read in inputs.items():
            if read is not None and place == read.resolve():
                raise click.UsageError(f"{name} would overwrite {source}, {read}")
    for (name, path, place), (other, _, second) in combinations(written, 2):
        if place == second:
            raise click.UsageError(f"{name} and {other} are the same file, {path}; give two names")


def refuse_to_replace(option: str, path: Path | None) -> None:
    """A usage error where an atlas or checkpoint would overwrite a file of another kind."""
    if path is not None and path.exists() and path.stat().st_size and not _is_archive(path):
        raise click.UsageError(
            f"{option}: {path} is there and of another kind; give another name, or remove it"
        )


def _is_archive(path: Path) -> bool:
    try:
        with zipfile.ZipFile(path) as archive:
            return "meta.json" in archive.namelist()
    except (OSError, zipfile.BadZipFile):
        return False


def check_folder(folder: Path) -> None:
    """Write nothing into a folder, to see that one could; raises `OSError` where not."""
    with tempfile.TemporaryFile(dir=folder):
        pass
