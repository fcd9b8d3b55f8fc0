"""The command line: the group of all commands. Each command has a file with the same name.

The streams and exit codes are defined in `manymaps.cli.contract`. A command imports its
dependencies when it runs, so that `manymaps --help` is fast.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from importlib import import_module
from typing import cast

import click

from manymaps.cli.contract import Commands

__all__ = ["cli", "main"]


def main() -> None:
    """Run the command line."""
    # Threads that spin while they wait lose a whole time slice at every barrier if another program
    # occupies their core. OpenMP reads this when it is loaded, so it is set before anything else.
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    _occupy_closed_streams()
    for stream in (sys.stdout, sys.stderr):
        # Characters that the terminal's encoding does not contain are escaped.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    cli(prog_name="manymaps")


def _occupy_closed_streams() -> None:
    """Replace closed standard streams (`>&-`), so that no other file is assigned their numbers.

    Reading from such a stream or writing data to it fails; messages are dropped.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            missing = os.open(os.devnull, os.O_RDONLY if name == "stdout" else os.O_WRONLY)
            if missing != number:  # another file already has this number
                os.close(missing)
                continue
            setattr(sys, name, os.fdopen(number, "r" if name == "stdin" else "w"))


# The packages whose versions a report of a problem should state.
_REPORTED = (
    "numpy", "scipy", "scikit-learn", "numba", "joblib", "narwhals", "click", "rich", "matplotlib",
    "faiss-cpu", "pyarrow", "pandas", "polars", "anndata", "networkx",
)  # fmt: skip


def _show_version(context: click.Context, _: click.Parameter, requested: bool) -> None:
    """Print the version, and with `--verbose` the system and the versions of other packages."""
    if not requested:
        return
    from importlib import metadata

    click.echo(f"manymaps {metadata.version('manymaps')}")
    if context.params["verbose"]:
        import platform

        click.echo(f"Python {platform.python_version()} on {platform.platform()}")
        for name in _REPORTED:
            with suppress(metadata.PackageNotFoundError):
                click.echo(f"{name} {metadata.version(name)}")
    context.exit()


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--verbose", is_flag=True, is_eager=True, help="Show more with --version.")
@click.option(
    "--version", is_flag=True, expose_value=False, callback=_show_version,
    help="Show the version and exit.",
)  # fmt: skip
def cli(verbose: bool) -> None:
    """Fit, explore and compare maps of similarities that no single map can represent.

    \b
    First look:      manymaps demo
    Your own data:   manymaps read norms.csv
                     manymaps diagnose norms.csv
                     manymaps fit norms.csv -o norms.atlas
                     manymaps senses norms.atlas tie
                     manymaps view norms.atlas -o norms.html
    Number of maps:  manymaps predict norms.csv --maps 2 --dims 35
                     manymaps predict norms.csv --maps 1,2,5 --dims 70,35,14
    Vectors:         manymaps fit glove.txt -o words.atlas --method tsne --words nouns.txt
                     manymaps insert words.atlas new.txt -o more.atlas
                     manymaps evaluate more.atlas glove.txt
    Texts:           manymaps read posts.jsonl -o counts.npz --max-words 2000
                     manymaps fit counts.npz -o posts.atlas --method code
    Groups:          manymaps compare young.tsv old.tsv -o compare.html
    Judgements:      manymaps cluster judged.csv --clusters 8
    Pairs:           manymaps pairs norms.atlas items.csv > similarities.csv
    """
    if verbose:
        raise click.UsageError("--verbose is an option of --version; use 'manymaps --version'")


# The commands, in the order in which users need them.
COMMANDS = (
    "demo", "read", "diagnose", "predict", "fit",
    "senses", "pairs", "plot", "insert", "evaluate", "cluster", "stability",
    "compare", "view", "export",
)  # fmt: skip


class _OnDemand(Mapping[str, click.Command]):
    """The commands by name. The file of a command is imported when the command is looked up."""

    def __getitem__(self, name: str) -> click.Command:
        if name not in COMMANDS:
            raise KeyError(name)
        return cast(click.Command, getattr(import_module(f"manymaps.cli.{name}"), name))

    def __iter__(self) -> Iterator[str]:
        return iter(COMMANDS)

    def __len__(self) -> int:
        return len(COMMANDS)


# Importing all command files takes 50 ms of processor time, which would delay every command.
cli.commands = cast("dict[str, click.Command]", _OnDemand())
