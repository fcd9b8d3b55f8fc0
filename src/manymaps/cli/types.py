"""Types of option values in addition to the types of click: files, numbers, lists and words.

A file that cannot be read is reported as bad input data, and a file that cannot be written as a
usage error. Both are reported before the work starts. Composite types contain others:
`Several(Whole(1), ...)`.
"""

from __future__ import annotations

import ast
import math
import os
import tempfile
from pathlib import Path
from typing import Any

import click

from manymaps.cli.contract import BadData
from manymaps.errors import DataError


class InputFile(click.ParamType):
    """A readable file or, with `folders`, a folder."""

    def __init__(self, *, folders: bool = False):
        self.folders = folders
        self.name = "path" if folders else "file"

    def convert(self, value: Any, param: Any, ctx: Any) -> Path:
        """Return the path if it is readable."""
        path = Path(value)
        # The message contains the option for the file; for an argument, no name is needed.
        option = f"{max(param.opts, key=len)} " if isinstance(param, click.Option) else ""
        if not str(value).strip():
            name = option or f"{param.human_readable_name} "
            raise BadData(f"{name}is empty; expected a file name")
        try:
            if path.is_dir():
                if not self.folders:
                    raise BadData(f"{option}{path}: this is a folder; expected a file")
                next(path.iterdir(), None)
            elif path.exists() and not path.is_file():
                raise BadData(f"{option}{path}: this is not an ordinary file; copy it to one first")
            elif not os.access(path, os.R_OK):
                path.open("rb").close()  # raises an error that contains the reason
        except FileNotFoundError as error:
            raise BadData(f"{option}{path}: no such file") from error
        except OSError as error:
            raise BadData(f"{option}{path}: cannot be read: {error.strerror}") from error
        return path


class OutputFile(click.ParamType):
    """A writable file in an existing folder; any other path is a usage error.

    Parameters
    ----------
    *suffixes : str
        The suffixes that the name may have. By default, any suffix is accepted.
    archive : bool
        Whether the file is an atlas, which may replace only a file of the same kind.
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
        try:
            folder = Path(os.path.realpath(path)).parent
            if self.suffixes and path.suffix.lower() not in self.suffixes:
                fault = f"the name must end in {', '.join(self.suffixes)}"
            elif path.is_dir():
                fault = "this is a folder; use the name of a file in it"
            elif path.exists() and not path.is_file():
                fault = "this is not an ordinary file"
            elif path.exists() and not os.access(path, os.W_OK):
                fault = "the file exists and cannot be overwritten"
            elif not folder.is_dir():
                fault = f"the folder {folder} does not exist; create it first"
            else:
                check_folder(folder)
                return path
        except OSError as error:
            fault = f"cannot be written: {error.strerror}"
        self.fail(f"{path}: {fault}", param, ctx)


def refuse_to_replace(option: str, path: Path) -> None:
    """Reject an atlas that would overwrite a file of another kind."""
    if path.exists() and path.stat().st_size and not _is_archive(path):
        raise click.UsageError(
            f"{option}: {path} exists and is not a manymaps archive; use another name, or "
            "remove the file"
        )


def _is_archive(path: Path) -> bool:
    from manymaps.archive.arrays import open_arrays

    try:
        with open_arrays(path) as file:
            return bool(file.text("meta.json"))
    except (OSError, DataError):
        return False


def check_folder(folder: Path) -> None:
    """Check that a folder is writable by creating an empty file; raise `OSError` if not."""
    with tempfile.TemporaryFile(dir=folder):
        pass


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
        try:
            finite = math.isfinite(float(value))
        except ValueError:
            finite = False
        if not finite:
            self.fail(f"{value!r} is not a finite number", param, ctx)
        return super().convert(value, param, ctx)

    def _describe_range(self) -> str:
        # --help shows the range in this form.
        return "" if self.min is None and self.max is None else super()._describe_range()


class OrWord(click.ParamType):
    """A word, or a number described by `what`."""

    name = "number"

    def __init__(self, word: str, number: click.ParamType, what: str):
        self.word = word
        self.number = number
        self.what = what

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        """Return the word or the number."""
        if value == self.word:
            return value
        try:
            return self.number.convert(value, param, ctx)
        except click.BadParameter:
            self.fail(f"{value!r} is neither {self.word} nor {self.what}", param, ctx)


class Several(click.ParamType):
    """Values separated by commas, such as 1,2."""

    name = "values"

    def __init__(
        self, kind: click.ParamType, what: str, *, distinct: bool = True, bare: bool = False
    ):
        self.kind = kind
        self.what = what
        self.distinct = distinct
        self.bare = bare

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        """Return the values in order; a single value may be returned without a tuple if `bare`."""
        parts = [part.strip() for part in str(value).split(",")]
        if not any(parts):
            self.fail("the list is empty; expected values separated by commas", param, ctx)
        found: list[Any] = []
        for part in parts:
            try:
                found.append(self.kind.convert(part, param, ctx))
            except click.BadParameter:
                self.fail(f"{part!r} is not a {self.what}", param, ctx)
            if self.distinct and found.count(found[-1]) > 1:
                self.fail(f"{part!r} is repeated; use each value once", param, ctx)
        return found[0] if self.bare and len(found) == 1 else tuple(found)


positive = Whole(min=1)

# A figure file in a format that matplotlib can write.
figure_file = OutputFile(".png", ".svg", ".pdf")


def count_or(word: str, what: str = "a number") -> OrWord:
    """Return the type of a word or a positive integer."""
    return OrWord(word, positive, f"{what} of at least 1")


perplexities = Several(
    Number(min=1),
    "perplexity; use a number of at least 1, or several such as 5,50",
    distinct=False,
    bare=True,
)
