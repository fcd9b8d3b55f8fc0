"""The command `view`, which writes an atlas as an interactive page in one HTML file."""

from __future__ import annotations

import json
import math
import re
import webbrowser
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

import manymaps as mm
from manymaps.cli.contract import BadData, as_json, emit_json, note
from manymaps.cli.options import atlas_argument
from manymaps.cli.record import chosen, command, flag, option, output_option
from manymaps.cli.types import InputFile, Number, OutputFile
from manymaps.errors import DataError
from manymaps.progress import work

LABELS = "one label per line"
WEIGHTED = re.compile(r".*\((?P<weight>[^()]+)\)\s*")


@dataclass(frozen=True)
class _Feature:
    """A feature in a file, with its weight and the labels of its members."""

    weight: float
    members: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class ViewOptions:
    """Options of the command `view`."""

    atlas: Path = atlas_argument()
    output: Path = output_option(
        "OUT.html", OutputFile(".html", ".htm"), "Write the page to this file."
    )
    opened: bool = flag("Open the page in a browser.", "--open")
    color: str | None = option("COLUMN", "Metadata column or gene that initially colours the dots.")
    size: str | None = option(
        "COLUMN", "Numeric metadata column that initially sets the size of the dots."
    )
    title: str | None = option("TEXT", "Title of the page.  [default: the name of OUT.html]")
    map_titles: tuple[str, ...] = option(
        "M=TEXT", "Title of map M instead of its typical words; can be repeated.", "--map-title",
        multiple=True,
    )  # fmt: skip
    description: str | None = option(
        "TEXT",
        "Description of the page in one sentence.  [default: a sentence on distances]",
    )
    source: str = option("TEXT", "Source of the data.", default="")
    credit: str = option("TEXT", "Acknowledgement.", default="")
    date: str = option("TEXT", "Date of the data or of the page.", default="")
    noun: str | None = option(
        "NOUN",
        "Noun for an object, such as word or 'mouse,mice'.  [default: word if associations are "
        "known, and object otherwise]",
    )
    examples: tuple[str, ...] = option(
        "LABEL",
        "Example below the search field; can be repeated.  [default: four frequent words with "
        "balanced meanings]",
        "--examples", multiple=True,
    )  # fmt: skip
    hide: tuple[str, ...] = option(
        "LABEL", "Omit an object from the page; can be repeated.", multiple=True
    )
    hide_from: Path | None = option(
        InputFile(), "Leave the objects in this file out of the page, one label per line."
    )
    metadata: Path | None = option(
        InputFile(),
        "Add the columns of this table to the objects, matched by label; for an .h5ad file, obs "
        "and the genes that --color and --size name.",
    )
    features: Path | None = option(
        InputFile(),
        "List the clusters in this file, written by `manymaps cluster` with -o or --json.",
    )
    min_weight: float = option(
        Number(0, 1),
        "Initially hide objects in maps that contribute less to their association probabilities.",
        default=0.1,
    )


@command(ViewOptions)
def view(options: ViewOptions) -> None:
    """Write ATLAS as an interactive HTML page.

    The page contains all maps, a search, and the senses of each word.

    The page is a single file that opens in a browser without a network connection and can be shared
    as it is.

    \b
    Examples:  manymaps view norms.atlas -o norms.html --open
               manymaps view norms.atlas -o norms.html --metadata words.csv
    """
    output = options.output
    atlas = mm.load_atlas(options.atlas)
    if options.metadata is not None:
        from manymaps.cli.reading import with_columns

        names = [name for name in (options.color, options.size) if name is not None]
        atlas = with_columns(atlas, options.metadata, names)
    features = None
    if options.features is not None:
        features = _read_features(options.features, atlas)
    hidden = _hidden(atlas, options.hide, options.hide_from)
    _check_labels(atlas, options.examples, "--examples")
    one, comma, several = (part.strip() for part in (options.noun or "").partition(","))
    with work(f"writing {output}"):
        mm.write_page(
            atlas,
            output,
            features=features,
            hide=hidden,
            map_titles=_map_titles(options.map_titles),
            noun=(one, several) if comma else (one or None),
            examples=options.examples or None,
            **chosen(
                options,
                "color",
                "size",
                "title",
                "description",
                "source",
                "credit",
                "date",
                "min_weight",
            ),
        )
    size = output.stat().st_size
    shown = options.opened and webbrowser.open(output.resolve().as_uri())
    if as_json():
        numbers = {"n_objects": atlas.n_objects, "n_maps": atlas.n_maps}
        emit_json({"output": str(output), **numbers, "bytes": size})
        return
    further = "shown in the browser" if shown else "open it in a browser (no network needed)"
    note(f"{output}: {size / 1e6:,.1f} MB; {further}")
    if options.opened and not shown:
        note("warning: no browser could be started")


def _map_titles(given: Sequence[str]) -> dict[int, str] | None:
    """Return the titles of maps by map number; None if there are no titles."""
    titles = {}
    for each in given:
        number, sign, title = each.partition("=")
        if not sign or not number.strip().isdecimal():
            raise click.BadParameter(
                f"{each!r} does not name a map; expected a number and a title such as '3=Music'",
                param_hint="'--map-title'",
            )
        titles[int(number)] = title.strip()
    return titles or None


def _check_labels(atlas: mm.Atlas, labels: Sequence[str], option: str) -> None:
    """Reject labels that do not match any object.

    Raises
    ------
    BadData
        If a label is unknown. The message suggests similar labels.
    """
    try:
        for label in labels:
            atlas.index(label)
    except mm.UnknownLabelError as error:
        raise BadData(f"{option}: {error}") from error


def _hidden(atlas: mm.Atlas, labels: Sequence[str], path: Path | None) -> list[str]:
    """List the labels to hide; report how many labels in a file are objects of the atlas.

    Raises
    ------
    BadData
        If a label passed on the command line does not match any object. Without this error, a typo
        would leave the object visible.
    """
    _check_labels(atlas, labels, "--hide")
    if path is None:
        return list(labels)
    from manymaps.io.files import read_bytes, split_lines

    listed = [line for line in split_lines(read_bytes(path, LABELS), str(path)) if line]
    found = sum(label in atlas for label in listed)
    note(f"{path}: {found:,} of {len(listed):,} labels are in the atlas and are hidden")
    return [*labels, *listed]


def _read_features(path: Path, atlas: mm.Atlas) -> list[_Feature]:
    """Read features from a file written by `manymaps cluster`: a membership table or JSON.

    Raises
    ------
    DataError
        If the file has neither format, or contains no features.
    BadData
        If a member is not an object of the atlas.
    """
    from manymaps.io.files import read_bytes
    from manymaps.viewer.columns import numbers_of

    is_json = read_bytes(path).lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{")
    found = _from_json(path) if is_json else _from_memberships(path)
    if not found:
        raise DataError(
            f"{path} contains no cluster; write one with `manymaps cluster FILE -o {path}`"
        )
    try:
        numbers_of(atlas, [label for feature in found for label in feature.members])
    except mm.UnknownLabelError as error:
        raise BadData(f"{path}: {error}") from error
    return found


def _from_json(path: Path) -> list[_Feature]:
    from manymaps.archive.door import reading
    from manymaps.io.files import read_bytes

    advice = (
        "expected the output of `manymaps cluster --json`, an object with clusters that have a "
        "weight and members"
    )
    data = read_bytes(path)
    with reading(path, "clusters", advice):
        return [_feature(each) for each in json.loads(data)["clusters"]]


def _feature(each: dict[str, Any]) -> _Feature:
    """Read a cluster from JSON; raise TypeError or ValueError if the cluster is invalid."""
    weight, members = float(each["weight"]), each["members"]
    if not isinstance(members, list) or not all(isinstance(label, str | int) for label in members):
        raise TypeError(f"members must be a list of labels; got {str(members)[:60]}")
    if not math.isfinite(weight):
        raise ValueError(f"weight is {weight}; expected a finite number")
    return _Feature(weight, tuple(map(str, members)))


def _from_memberships(path: Path) -> list[_Feature]:
    """Read a table with a row for each object and a column of 0 and 1 for each feature."""
    from manymaps.data.frames import label_column
    from manymaps.io.metadata import read_columns

    columns = read_columns(path)
    labels = columns.pop(label_column(columns, None))
    found = []
    for name, values in columns.items():
        stray = [value for value in values if value not in (0, 1)]
        if stray:
            cell = "" if stray[0] is None else str(stray[0])[:40]
            raise DataError(
                f"{path}: column {name[:60]!r} contains {cell!r}; expected memberships of 0 "
                "or 1, as `manymaps cluster -o` writes them"
            )
        members = (label for label, value in zip(labels, values, strict=True) if value)
        found.append(_Feature(_weight(name, path), tuple(map(str, members))))
    return found


def _weight(name: str, path: Path) -> float:
    """Read the weight, which is in brackets in the name of a column."""
    match = WEIGHTED.fullmatch(name)
    try:
        weight = float(match["weight"]) if match else math.nan
    except ValueError:
        weight = math.nan
    if not math.isfinite(weight):
        raise DataError(
            f"{path}: column {name[:60]!r} has no weight in its name; expected '1 (0.305)'"
        )
    return weight
