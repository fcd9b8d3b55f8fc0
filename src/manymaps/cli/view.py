"""The command `view`: an atlas as one HTML file to look at and to send."""

from __future__ import annotations

import json
import math
import re
import webbrowser
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from manymaps.cli.contract import (
    BadData,
    Command,
    emit_json,
    note,
    quiet_option,
    refuse_overwriting,
)
from manymaps.cli.options import atlas_argument, json_option
from manymaps.cli.types import InputFile, Number, OutputFile
from manymaps.progress import work

if TYPE_CHECKING:
    from manymaps.atlas.atlas import Atlas

__all__ = ["view"]

LABELS = "one label a line"
WEIGHTED = re.compile(r".*\((?P<weight>[^()]+)\)\s*")


@dataclass(frozen=True)
class _Feature:
    """A feature as a file holds it: its weight, and the labels of its members."""

    weight: float
    members: tuple[str, ...]


@click.command(cls=Command)
@atlas_argument
@click.argument("other", type=InputFile(), required=False, metavar="[OTHER]")
@click.option("-o", "--output", type=OutputFile(".html", ".htm"), required=True, metavar="OUT.html")
@click.option("--open", "opened", is_flag=True, help="Then show it in the browser.")
@click.option("--color", metavar="COLUMN", help="Colour by a column of the metadata at first.")
@click.option("--size", metavar="COLUMN", help="Size of the dots by a column of numbers at first.")
@click.option(
    "--title",
    metavar="TEXT",
    multiple=True,
    help="Of two atlases one each. [default: the name of OUT.html, or of each atlas]",
)
@click.option(
    "--map-title",
    "map_titles",
    metavar="M=TEXT",
    multiple=True,
    help="A title of map M in place of typical words; can be given several times.",
)
@click.option("--description", metavar="TEXT", default="", help="A sentence on it.")
@click.option("--source", metavar="TEXT", default="", help="Where the data come from.")
@click.option("--credit", metavar="TEXT", default="", help="Whom to thank.")
@click.option("--date", metavar="TEXT", default="", help="When the data or the page were made.")
@click.option(
    "--noun",
    metavar="NOUN",
    default="object",
    show_default=True,
    help="What an object is called: word, image, 'mouse,mice'.",
)
@click.option(
    "--hide",
    metavar="LABEL",
    multiple=True,
    help="An object that must not be in the page; can be given several times.",
)
@click.option(
    "--hide-from",
    type=InputFile(),
    help="A file of such labels, one a line.",
)
@click.option("--metadata", type=InputFile(), help="Table whose columns are joined by label.")
@click.option(
    "--features",
    type=InputFile(),
    help="What `cluster` wrote, with -o or --json, to be drawn as outlines.",
)
@click.option(
    "--min-recall",
    type=Number(0, 1),
    metavar="X",
    default=0.1,
    show_default=True,
    help="Hide objects at first in maps that give less of what the model recalls of them.",
)
@quiet_option
@json_option
def view(
    atlas: Path,
    other: Path | None,
    output: Path,
    opened: bool,
    metadata: Path | None,
    features: Path | None,
    hide: tuple[str, ...],
    hide_from: Path | None,
    noun: str,
    map_titles: tuple[str, ...],
    title: tuple[str, ...],
    as_json: bool,
    **look: Any,
) -> None:
    """Write ATLAS as a page: all maps, search, the senses of a word.

    With OTHER a page of both, side by side, with one search.

    The page is one file that opens in a browser from disk, without a network, and can be sent as
    it is.

    \b
    Examples:  manymaps view norms.atlas -o norms.html --open
               manymaps view posts.atlas -o posts.html --color group
               manymaps view norms.atlas -o norms.html --metadata words.csv --size frequency
               manymaps view young.atlas old.atlas -o compare.html
    """
    refuse_overwriting(
        {"-o": output},
        {
            "ATLAS": atlas,
            "OTHER": other,
            "--metadata": metadata,
            "--features": features,
            "--hide-from": hide_from,
        },
    )
    from manymaps.atlas.atlas import load_atlas
    from manymaps.viewer.page import write_page

    paths = [atlas] if other is None else [atlas, other]
    loaded = [load_atlas(path) for path in paths]
    if metadata is not None:
        loaded = [_with_columns(each, metadata) for each in loaded]
    found = None if features is None else _read_features(features, loaded[0])
    hidden = _hidden(loaded, hide, hide_from)
    named = title or (None if other is None else tuple(path.stem for path in paths))
    one, comma, several = (part.strip() for part in noun.partition(","))
    with work(f"writing {output}"):
        write_page(
            loaded,
            output,
            title=named,
            features=found,
            hide=hidden,
            map_titles=_map_titles(map_titles),
            noun=(one, several) if comma else one,
            **look,
        )
    size = output.stat().st_size
    shown = opened and webbrowser.open(output.resolve().as_uri())
    if as_json:
        first, *rest = ({"n_objects": a.n_objects, "n_maps": a.n_maps} for a in loaded)
        beside = {"beside": rest[0]} if rest else {}
        emit_json({"output": str(output), **first, "bytes": size, **beside})
        return
    further = "shown in the browser" if shown else "open it in a browser; it needs no network"
    note(f"{output}: {size / 1e6:,.1f} MB; {further}")
    if opened and not shown:
        note("warning: no browser could be started")


def _map_titles(given: Sequence[str]) -> dict[int, str] | None:
    """The titles of maps by their numbers; None without any."""
    titles = {}
    for each in given:
        number, sign, title = each.partition("=")
        if not sign or not number.strip().isdecimal():
            raise click.BadParameter(
                f"{each!r} does not say of which map it is the title, as '3=Music' does",
                param_hint="'--map-title'",
            )
        titles[int(number)] = title.strip()
    return titles or None


def _hidden(atlases: Sequence[Atlas], labels: Sequence[str], path: Path | None) -> list[str]:
    """The labels to be hidden; says how many of a file's are objects of an atlas.

    Raises
    ------
    BadData
        For one given by itself that no object has: a slip of the pen would leave it in the page.
    """
    from manymaps.labels import UnknownLabel

    try:
        for label in labels:
            if not any(label in atlas for atlas in atlases):
                atlases[0].index(label)
    except UnknownLabel as error:
        raise BadData(f"--hide: {error}") from error
    if path is None:
        return list(labels)
    from manymaps.io.files import read_bytes, split_lines

    listed = [line for line in split_lines(read_bytes(path, LABELS), str(path)) if line]
    found = sum(any(label in atlas for atlas in atlases) for label in listed)
    note(f"{path}: {found:,} of {len(listed):,} labels are in the atlas and are hidden")
    return [*labels, *listed]


def _with_columns(atlas: Atlas, path: Path) -> Atlas:
    """An atlas with the columns of a table joined by label.

    Raises
    ------
    DataError
        Where none of its labels is an object's, or one stands twice.
    """
    from manymaps.data.frames import join_columns
    from manymaps.errors import DataError
    from manymaps.io.metadata import read_columns

    if atlas.kinds is not None:
        return _with_columns_of_kinds(atlas, path)
    table = read_columns(path)
    try:
        columns, unmatched, n_without = join_columns(atlas.labels, table)
    except DataError as error:
        raise DataError(f"{path}: {error}") from error
    _note_matches(path, unmatched, n_without, atlas.n_objects)
    return replace(atlas, metadata={**atlas.metadata, **columns})


def _note_matches(path: Path, unmatched: Sequence[str], n_without: int, n_objects: int) -> None:
    if unmatched:
        from manymaps.labels import first_of

        some = first_of(unmatched)
        note(f"warning: {len(unmatched):,} rows of {path} match no object: {some}")
    if n_without:
        note(f"{path}: {n_without:,} of {n_objects:,} objects have no row")


def _with_columns_of_kinds(atlas: Atlas, path: Path) -> Atlas:
    """The same for two kinds of object, to each of which the table is joined as on `fit`."""
    from scipy import sparse

    from manymaps.cli.reading import with_metadata
    from manymaps.data.counts import Counts
    from manymaps.data.frames import end_to_end

    first, second = dict.fromkeys(atlas.kinds or ())
    n = int(atlas.choices.is_row.sum())
    sizes = n, atlas.n_objects - n
    # A table of labels alone: counts without any count.
    bare = Counts(sparse.csr_array(sizes), atlas.labels[:n], atlas.labels[n:], (first, second))
    joined = with_metadata(bare, path)
    sides = joined.row_metadata, joined.column_metadata
    columns = {
        name: end_to_end(*zip((side.get(name) for side in sides), sizes, strict=True))
        for name in dict.fromkeys([*sides[0], *sides[1]])
    }
    return replace(atlas, metadata={**atlas.metadata, **columns})


def _read_features(path: Path, atlas: Atlas) -> list[_Feature]:
    """The features in a file of `manymaps cluster`: its table of memberships, or its JSON.

    Raises
    ------
    DataError
        Where the file is neither, or holds none.
    BadData
        Where a member is no object of the atlas.
    """
    from manymaps.errors import DataError
    from manymaps.io.files import read_bytes
    from manymaps.labels import UnknownLabel
    from manymaps.viewer.columns import numbers_of

    is_json = read_bytes(path).lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{")
    found = _from_json(path) if is_json else _from_memberships(path)
    if not found:
        raise DataError(
            f"{path} holds no feature; write one with `manymaps cluster FILE -o {path}`"
        )
    try:
        numbers_of(atlas, [label for feature in found for label in feature.members])
    except UnknownLabel as error:
        raise BadData(f"{path}: {error}") from error
    return found


def _from_json(path: Path) -> list[_Feature]:
    from manymaps.archive.door import reading
    from manymaps.io.files import read_bytes

    advice = (
        "this is not what `manymaps cluster --json` prints, an object with clusters, each with "
        "weight and members"
    )
    data = read_bytes(path)
    with reading(path, "clusters", advice):
        return [_feature(each) for each in json.loads(data)["clusters"]]


def _feature(each: dict[str, Any]) -> _Feature:
    """A cluster as it is printed; TypeError or ValueError where it is none."""
    weight, members = float(each["weight"]), each["members"]
    if not isinstance(members, list) or not all(isinstance(label, str | int) for label in members):
        raise TypeError(f"members must be a list of labels, not {str(members)[:60]}")
    if not math.isfinite(weight):
        raise ValueError(f"the weight {weight} is not finite")
    return _Feature(weight, tuple(map(str, members)))


def _from_memberships(path: Path) -> list[_Feature]:
    """A table with a row for each object and a column of 0 and 1 for each feature."""
    from manymaps.data.frames import label_column
    from manymaps.errors import DataError
    from manymaps.io.metadata import read_columns

    columns = read_columns(path)
    labels = columns.pop(label_column(columns, None))
    found = []
    for name, values in columns.items():
        stray = [value for value in values if value not in (0, 1)]
        if stray:
            cell = "" if stray[0] is None else str(stray[0])[:40]
            raise DataError(
                f"{path}: the column {name[:60]!r} holds {cell!r} where a membership is 0 "
                "or 1; give what `manymaps cluster -o` writes"
            )
        members = (label for label, value in zip(labels, values, strict=True) if value)
        found.append(_Feature(_weight(name, path), tuple(map(str, members))))
    return found


def _weight(name: str, path: Path) -> float:
    """The weight that a column's name has in brackets."""
    from manymaps.errors import DataError

    match = WEIGHTED.fullmatch(name)
    try:
        weight = float(match["weight"]) if match else math.nan
    except ValueError:
        weight = math.nan
    if not math.isfinite(weight):
        raise DataError(
            f"{path}: the column {name[:60]!r} does not say its weight, as '1 (0.305)' does"
        )
    return weight
