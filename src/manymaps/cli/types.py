"""Types of option values in addition to the types of click: files, numbers, lists and words.

A file that cannot be read is reported as bad input data, and a file that cannot be written as a
usage error. Both are reported before the work starts. Composite types contain others:
`Several(Whole(1))`.
"""

from __future__ import annotations

import ast
import math
import os
import shlex
from pathlib import Path
from typing import Any

import click

from manymaps.cli.contract import BadData, option_name


class InputFile(click.ParamType):
    """A readable file or, with `folders`, a folder."""

    name = "file"

    def __init__(self, *, folders: bool = False):
        self.folders = folders

    def convert(self, value: Any, param: Any, ctx: Any) -> Path:
        """Return the path if it is readable."""
        path = Path(value)
        if not os.access(path, os.F_OK):
            fault = "no such file"
        elif path.is_dir() and not self.folders:
            fault = f"this is a folder; use manymaps read {shlex.quote(str(path))} -o OUT.npz"
        elif not (path.is_file() or (self.folders and path.is_dir())):
            fault = "this is not an ordinary file"
        elif not os.access(path, os.R_OK):
            fault = "the file cannot be read"
        else:
            return path
        option = f"{option_name(param)} " if isinstance(param, click.Option) else ""
        raise BadData(f"{option}{path}: {fault}")


class OutputFile(click.ParamType):
    """A writable file in an existing folder; any other path is a usage error.

    Parameters
    ----------
    *suffixes : str
        The suffixes that the name may have. By default, any suffix is accepted.
    archive : bool
        Whether the file is an archive, which may replace only a file of the same kind.
    may_replace : tuple of str
        The names of the inputs that the file may replace, such as ATLAS.
    """

    name = "file"

    def __init__(self, *suffixes: str, archive: bool = False, may_replace: tuple[str, ...] = ()):
        self.suffixes = suffixes
        self.is_archive = archive
        self.may_replace = may_replace

    def convert(self, value: Any, param: Any, ctx: Any) -> Path:
        """Return the path if a file can be written there."""
        path = Path(value)
        folder = Path(os.path.realpath(path)).parent
        if self.suffixes and path.suffix.lower() not in self.suffixes:
            fault = f"the name must end in {', '.join(self.suffixes)}"
        elif os.access(path, os.F_OK) and not path.is_file():
            fault = "this is not an ordinary file"
        elif not folder.is_dir():
            fault = f"the folder {folder} does not exist; create it first"
        elif not all(os.access(one, os.W_OK) for one in (folder, path) if os.access(one, os.F_OK)):
            fault = "the file cannot be written"
        elif self.is_archive and path.exists() and _is_foreign(path):
            fault = "this is not a manymaps archive; use another name, or remove the file"
        else:
            return path
        self.fail(f"{path}: {fault}", param, ctx)


def _is_foreign(path: Path) -> bool:
    """Check whether a file has a content that is not an archive."""
    from manymaps.archive.archives import is_archive

    return path.stat().st_size > 0 and not is_archive(path)


class OrFile(click.ParamType):
    """One of several words, or a readable file (with a suffix, if required)."""

    def __init__(self, name: str, words: tuple[str, ...], suffix: str = ""):
        self.name = name
        self.words = words
        self.suffix = suffix

    def convert(self, value: Any, param: Any, ctx: Any) -> str | Path:
        """Return the word, or the path if it is readable."""
        if value in self.words:
            return str(value)
        if not str(value).endswith(self.suffix):
            words = ", ".join(self.words)
            self.fail(f"{value!r} is neither one of {words} nor an {self.suffix} file", param, ctx)
        return InputFile().convert(value, param, ctx)


class Setting(click.ParamType):
    """A parameter with its value, as a Python literal or a text."""

    name, metavar = "setting", "NAME=VALUE"

    def convert(self, value: Any, param: Any, ctx: Any) -> tuple[str, Any]:
        """Return the name and the value."""
        name, equals, text = str(value).partition("=")
        if not equals or not name.isidentifier():
            self.fail(f"{value!r} is not of the form {self.metavar}", param, ctx)
        try:
            return name, ast.literal_eval(text)
        except (SyntaxError, ValueError):
            return name, text


class Whole(click.IntRange):
    """An integer in a range."""

    metavar = "N"


class Number(click.FloatRange):
    """A finite number in a range; unlike the ranges of click, NaN and infinity are rejected."""

    name, metavar = "number", "X"

    def convert(self, value: Any, param: Any, ctx: Any) -> float:
        """Return the number."""
        number: float = super().convert(value, param, ctx)
        if not math.isfinite(number):
            self.fail(f"{value!r} is not a finite number", param, ctx)
        return number


class Several(click.ParamType):
    """Values separated by commas, such as 1,2; with `bare`, a single value is not a tuple."""

    name = "values"

    def __init__(self, kind: click.ParamType, *, bare: bool = False):
        self.kind = kind
        self.bare = bare

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        """Return the values in order."""
        parts = [part.strip() for part in str(value).split(",")]
        if not all(parts):
            self.fail(f"{value!r} contains an empty value", param, ctx)
        values = tuple(self.kind.convert(part, param, ctx) for part in parts)
        return values[0] if self.bare and len(values) == 1 else values


positive = Whole(min=1)

# A figure file in a format that matplotlib can write.
figure_file = OutputFile(".png", ".svg", ".pdf")

perplexities = Several(Number(min=1), bare=True)
