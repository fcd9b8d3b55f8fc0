"""The kinds of value that options take, beside click's own: files, finite numbers, lists, words.

A file that cannot be read is bad input data, one that cannot be written a usage error; both are
told before work begins. Composite kinds are made of others: `Several(click.IntRange(min=1), ...)`.
"""

from __future__ import annotations

import math
import os
import tempfile
from pathlib import Path
from typing import Any

import click

from manymaps.cli.contract import BadData
from manymaps.errors import ParameterError

__all__ = [
    "InputFile",
    "Number",
    "OrFile",
    "OrWord",
    "OutputFile",
    "Range",
    "ResponseRule",
    "Several",
    "check_folder",
    "neighborhood",
    "perplexities",
    "positive",
]


class InputFile(click.ParamType):
    """A file to read, or a folder where these may be: there, and readable."""

    def __init__(self, *, folders: bool = False):
        self.folders = folders
        self.name = "path" if folders else "file"

    def convert(self, value: Any, param: Any, ctx: Any) -> Path:
        """The path, once it is known to be readable."""
        path = Path(value)
        # What is wrong with a file says which option named it; an argument needs no name.
        option = f"{max(param.opts, key=len)} " if isinstance(param, click.Option) else ""
        if not str(value).strip():
            raise BadData(f"{option or param.human_readable_name + ' '}is empty; give a file")
        try:
            if path.is_dir():
                if not self.folders:
                    raise BadData(f"{option}{path}: this is a folder; give a file")
                next(path.iterdir(), None)
                return path
            path.stat()
            if not path.is_file():
                raise BadData(f"{option}{path}: this is no ordinary file; write it to one first")
            path.open("rb").close()
        except FileNotFoundError as error:
            raise BadData(f"{option}{path}: no such file") from error
        except OSError as error:
            raise BadData(f"{option}{path}: cannot be read: {error.strerror}") from error
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


def check_folder(folder: Path) -> None:
    """Write nothing into a folder, to see that one could; raises `OSError` where not."""
    with tempfile.TemporaryFile(dir=folder):
        pass


class OrFile(click.ParamType):
    """One of some words, or a file to read (with a suffix, where only such files are meant)."""

    def __init__(self, name: str, words: tuple[str, ...], suffix: str = ""):
        self.name = name
        self.words = words
        self.suffix = suffix

    def convert(self, value: Any, param: Any, ctx: Any) -> str | Path:
        """The word, or the path once it is known to be readable."""
        if value in self.words:
            return str(value)
        if not str(value).endswith(self.suffix):
            self.fail(
                f"{value!r} is neither one of {', '.join(self.words)} nor an {self.suffix} file",
                param,
                ctx,
            )
        return InputFile().convert(value, param, ctx)


class Number(click.FloatRange):
    """A number in a range, but neither NaN nor infinite, which ranges let through."""

    name = "number"

    def convert(self, value: Any, param: Any, ctx: Any) -> float:
        """The number."""
        try:
            finite = math.isfinite(float(value))
        except ValueError:
            finite = False
        if not finite:
            self.fail(f"{value!r} is no finite number", param, ctx)
        return super().convert(value, param, ctx)

    def _describe_range(self) -> str:
        # What --help says of the range.
        return "" if self.min is None and self.max is None else super()._describe_range()


class OrWord(click.ParamType):
    """A word, or a number."""

    name = "number"

    def __init__(self, word: str, number: click.ParamType, what: str):
        self.word = word
        self.number = number
        self.what = what

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        """The word or the number."""
        if value == self.word:
            return value
        try:
            return self.number.convert(value, param, ctx)
        except click.BadParameter:
            self.fail(f"{value!r} is neither {self.word} nor {self.what}", param, ctx)


class Several(click.ParamType):
    """Values with commas between them: 1,2."""

    name = "values"

    def __init__(
        self, kind: click.ParamType, what: str, *, distinct: bool = True, bare: bool = False
    ):
        self.kind = kind
        self.what = what
        self.distinct = distinct
        self.bare = bare

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        """The values in the order given; one alone by itself, where it may stand bare."""
        parts = [part.strip() for part in str(value).split(",")]
        if not any(parts):
            self.fail("the list is empty; give values with commas between them", param, ctx)
        found: list[Any] = []
        for part in parts:
            try:
                found.append(self.kind.convert(part, param, ctx))
            except click.BadParameter:
                self.fail(f"{part!r} is no {self.what}", param, ctx)
            if self.distinct and found.count(found[-1]) > 1:
                self.fail(f"{part!r} stands twice", param, ctx)
        return found[0] if self.bare and len(found) == 1 else tuple(found)


class Range(click.ParamType):
    """A range of whole numbers, such as 2-10."""

    name = "range"

    def __init__(self, what: str):
        self.what = what

    def convert(self, value: Any, param: Any, ctx: Any) -> range:
        """The numbers, the last one among them."""
        first, dash, last = str(value).partition("-")
        if not (dash and first.isdecimal() and last.isdecimal() and 1 <= int(first) <= int(last)):
            self.fail(f"{value!r} is no range of {self.what} such as 2-10", param, ctx)
        return range(int(first), int(last) + 1)


class ResponseRule(click.ParamType):
    """Responses that are never cues: drop, keep or keep:N; and which of a trial count: R1."""

    name = "rule"

    def convert(self, value: Any, param: Any, ctx: Any) -> str:
        """The rule, as `read_associations` takes it."""
        from manymaps.data.pair_rules import split_responses

        try:
            split_responses(value)
        except ParameterError as error:
            self.fail(error.fault, param, ctx)
        return str(value)


positive = click.IntRange(min=1)

neighborhood = OrWord("local", positive, "a number of at least 1")

perplexities = Several(
    Number(min=1),
    "perplexity; give a number of at least 1, or several such as 5,50",
    distinct=False,
    bare=True,
)
