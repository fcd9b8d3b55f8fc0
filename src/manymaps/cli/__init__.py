"""The command line: the group of all commands. Each command has a file with the same name.

The streams and exit codes are defined in `manymaps.cli.contract`. A command imports its
dependencies when it runs, so that `manymaps --help` is fast.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any, cast

import click

__all__ = ["cli", "main"]

# The commands, in the order in which users need them.
SECTIONS = {
    "Start": ("demo", "read", "diagnose"),
    "Fit": ("fit", "insert", "cluster", "predict"),
    "Look": ("senses", "pairs", "plot", "view", "export"),
    "Check": ("evaluate", "stability", "compare"),
}
COMMANDS = tuple(name for names in SECTIONS.values() for name in names)


def main() -> None:
    """Run the command line."""
    # Threads that spin while they wait lose a whole time slice at every barrier if another program
    # occupies their core. OpenMP reads this when it is loaded, so it is set before anything else.
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    for stream in (sys.stdout, sys.stderr):
        # Characters that the terminal's encoding does not contain are escaped.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    cli(prog_name="manymaps")


class OnDemand(Mapping[str, click.Command]):
    """The commands by name. The file of a command is imported when the command is looked up."""

    def __getitem__(self, name: str) -> click.Command:
        if name not in COMMANDS:
            raise KeyError(name)
        return cast(click.Command, getattr(import_module(f"manymaps.cli.{name}"), name))

    def __iter__(self) -> Iterator[str]:
        return iter(COMMANDS)

    def __len__(self) -> int:
        return len(COMMANDS)


class Commands(click.Group):
    """The group of all commands, listed in the order in which users need them."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names in the order of the sections."""
        return list(COMMANDS)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands under the headings of their sections."""
        for heading, names in SECTIONS.items():
            with formatter.section(heading):
                formatter.write_dl(
                    [(name, self.commands[name].get_short_help_str(70)) for name in names]
                )


cli = click.version_option(package_name="manymaps", message="%(prog)s %(version)s")(
    Commands(
        "manymaps",
        # Importing all command files takes 50 ms of processor time.
        commands=cast(Any, OnDemand()),
        context_settings={"help_option_names": ["-h", "--help"]},
        help="""Fit, explore and compare maps of similarities that no single map can represent.

\b
manymaps demo                                         a first look
manymaps read norms.csv                               list the contents of a file
manymaps diagnose norms.csv                           whether it needs several maps
manymaps fit norms.csv -o norms.atlas --maps 20
manymaps senses norms.atlas tie
manymaps view norms.atlas -o norms.html               a page for the browser
manymaps fit glove.txt -o words.atlas --method tsne   vectors
manymaps fit counts.csv -o posts.atlas --method code  counts
""",
    )
)
