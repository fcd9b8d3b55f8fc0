"""What every command keeps: its streams, its exit codes, and its checks before work begins.

    stdout   the data asked for, whole, and nothing else
    stderr   everything else: notes, warnings, progress, errors
    exit     0 fine | 1 the run failed | 2 usage, an output that cannot be written among it
             3 bad input data | 4 not converged under --strict
             130 interrupted, by Ctrl-C or the signals TERM and HUP

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
import time
import unicodedata
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

from manymaps.cli.interruption import interruptible
from manymaps.errors import DataError, DivergedError, ParameterError
from manymaps.labels import UnknownLabel
from manymaps.progress import watched

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

__all__ = [
    "BadData",
    "Command",
    "Commands",
    "Interrupted",
    "NotConverged",
    "RunFailed",
    "as_options",
    "elapsed",
    "emit",
    "emit_json",
    "note",
    "plain_table",
    "quiet_option",
    "refuse_overwriting",
    "refuse_to_replace",
    "rendered",
    "shown",
    "tell",
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
    """Ctrl-C, or the signals TERM and HUP."""

    exit_code = 130


class Command(click.Command):
    """A command whose failures are told in a line, each kind with its exit code."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command under the contract of this module."""
        ctx.meta["manymaps.started"] = time.perf_counter()
        seen = nullcontext() if ctx.meta.get("manymaps.quiet") else watched()
        from manymaps.io.files import samples_kept

        with _told_plainly(ctx), seen, samples_kept():
            return super().invoke(ctx)


class Commands(click.Group):
    """The group of such commands, listed in the order in which a person meets them."""

    command_class = Command

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names in the order of definition."""
        return list(self.commands)


@contextmanager
def _told_plainly(ctx: click.Context) -> Iterator[None]:
    interrupted: Callable[[], bool] = bool
    try:
        with interruptible() as interrupted, warnings.catch_warnings():
            warnings.simplefilter("always", UserWarning)
            warnings.showwarning = _warn
            yield
    except DivergedError as error:
        raise RunFailed(as_options(str(error))) from error
    except ParameterError as error:
        raise click.UsageError(_told(error, ctx), ctx) from error
    except (DataError, UnknownLabel) as error:
        raise BadData(_located(error, as_options(str(error)), ctx)) from error
    except BadData as error:
        raise BadData(_located(error, error.message, ctx)) from error
    except KeyboardInterrupt as error:
        raise Interrupted("interrupted") from error
    except (click.ClickException, click.exceptions.Exit, click.Abort):
        raise
    except Exception as error:
        if interrupted():
            # Libraries that are just being imported make an error of their own of it.
            raise Interrupted("interrupted") from error
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


def _told(error: ParameterError, ctx: click.Context) -> str:
    """What is wrong with a parameter, which a person gave as an option."""
    option = None if error.name is None else _option(error.name, ctx)
    if option is None:
        return as_options(str(error))
    return f"{_given(option, error.value)} {as_options(error.fault)}"


def _located(error: Exception, message: str, ctx: click.Context) -> str:
    """What is wrong with data, after the option that named their file or the word, if one did."""
    for option in ctx.command.params:
        if not isinstance(option, click.Option):
            continue
        given = ctx.params.get(option.name or "")
        for value in given if isinstance(given, tuple) else (given,):
            if isinstance(value, Path) and re.match(rf"{re.escape(str(value))}[:, ]", message):
                return f"{_long(option)} {message}"
            if isinstance(error, UnknownLabel) and value == error.label:
                return f"{_long(option)} {value}: {message}"
    return message


def _long(option: click.Parameter) -> str:
    return max(option.opts, key=len)


def as_options(message: str) -> str:
    """Advice of the library, with its arguments as options of the command that runs.

    "read with responses='keep'" becomes "read with --responses keep" where there is such an option.
    """
    for written, meant in _WRITTEN_OTHERWISE.items():
        message = message.replace(written, meant)
    context = click.get_current_context(silent=True)
    if context is None:
        return message

    def option_for(found: re.Match[str]) -> str:
        option = _option(found["name"], context)
        return found[0] if option is None else _given(option, found["value"].strip("'\""))

    return _ARGUMENT.sub(option_for, message)


def _option(argument: str, ctx: click.Context) -> click.Option | None:
    """The option of a command that stands for an argument of the library."""
    options = {
        option.name: option for option in ctx.command.params if isinstance(option, click.Option)
    }
    return options.get(argument) or options.get(_OPTIONS.get(argument, ""))


def _given(option: click.Option, value: Any) -> str:
    """An option as a person would write it."""
    name = _long(option)
    if option.is_flag:
        return name
    return f"{name} {','.join(map(str, value)) if isinstance(value, list | tuple) else value}"


# Options that are called otherwise than the argument for which they stand.
_OPTIONS = {
    "k": "neighbors",
    "kernel": "kernels",
    "marginals": "no_marginals",
    "max_iter": "iterations",
    "most_neighbors": "neighbors",
    "n_clusters": "clusters",
    "n_components": "dims",
    "n_fits": "fits",
    "n_init": "restarts",
    "n_jobs": "jobs",
    "n_maps": "maps",
    "n_neighbors": "neighbors",
    "n_permutations": "permutations",
    "n_resamples": "resamples",
    "n_responses": "per_cue",
    "n_samples": "samples",
    "n_splits": "splits",
    "penalty": "penalties",
    "random_state": "seed",
    "sd": "local_perplexity",
    "vocabulary": "words",
}
_ARGUMENT = re.compile(
    r"(?<![\w.(])(?P<name>[a-z]\w*)=(?P<value>'[^']*'|\"[^\"]*\"|[\w.\[\]+-]*[\w\]]|\.\.\.)"
)
_WRITTEN_OTHERWISE = {
    "give kind='dissimilarity' if they are, or NaN on the diagonal if it says nothing": (
        "give --dissimilarities if they are, and leave the diagonal empty if it says nothing"
    ),
    "with refine=Refinement(perplexity=...)": "with --perplexity",
    "transposed() gives documents, sites or users as rows": (
        "with --given columns they are fitted as if they were not"
    ),
    "rows, columns and count name the columns": "--rows, --columns and --count name the columns",
    "give estimate='proportions'": "leave out the triplets of some of them",
    "nor a pair of arrays or an Atlas": "nor an .atlas file",
    "nor an array or an Atlas": "nor an .atlas file",
}


def _warn(message: Warning | str, *_: Any, **__: Any) -> None:
    note(f"warning: {message}")


def note(message: str) -> None:
    """A line for the person, on stderr; nothing under --quiet."""
    context = click.get_current_context(silent=True)
    if context is None or not context.meta.get("manymaps.quiet"):
        # Where nobody listens any more, the work goes on.
        with suppress(OSError):
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


def elapsed() -> float:
    """Seconds since the command began."""
    started: float = click.get_current_context().meta["manymaps.started"]
    return round(time.perf_counter() - started, 3)


def tell(
    record: Callable[[], Mapping[str, Any]],
    text: Callable[[], str],
    *,
    as_json: bool,
    files: Iterable[Path | None] = (),
    summary: bool = False,
) -> None:
    """The last words of a command: a record under --json, else a text and the files written.

    A text that merely sums up what such a file holds is no data, and left out under --quiet.
    """
    if as_json:
        emit_json(record())
        return
    if not (summary and click.get_current_context().meta["manymaps.quiet"]):
        emit(text())
    for file in files:
        if file is not None:
            note(f"{file}")


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
    from manymaps.archive.arrays import open_arrays

    try:
        with open_arrays(path) as file:
            return "meta.json" in file.others
    except (OSError, DataError):
        return False
