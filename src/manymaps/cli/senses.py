"""The command `senses`, which lists the senses of words with their members and maps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import manymaps as mm
from manymaps.cli.contract import as_json, grid, note, note_case, shown, tell
from manymaps.cli.options import atlas_argument, refuse
from manymaps.cli.record import argument, chosen, command, flag, option
from manymaps.cli.types import positive
from manymaps.labels import plural, whole_percents
from manymaps.progress import work

# Number of associates to list that are not close on their map.
FAR = 8
# If a larger part of the responses is in the atlas, the part is not mentioned.
COVERED = 0.995
COLUMNS = ("word", "sense", "name", "share", "map", "proportion", "members")


@dataclass(frozen=True, kw_only=True)
class SensesOptions:
    """Options of the command `senses`."""

    atlas: Path = atlas_argument()
    words: tuple[str, ...] = argument("[WORD]...", str, nargs=-1)
    all_words: bool = flag("List all words of the atlas.", "--all")
    as_csv: bool = flag("Print a CSV table with a row for each sense.", "--csv")
    neighbors: int = option(
        positive, "Number of members to list per sense.", default=8, sets="n_neighbors"
    )
    kind: str | None = option("NAME", "Kind of WORD, such as document (bipartite atlases only).")
    neighbor_kind: str | None = option(
        "NAME",
        "Kind of the neighbours, such as word (bipartite atlases only).  [default: the kind that "
        "WORD is not]",
    )


@command(SensesOptions)
def senses(options: SensesOptions) -> None:
    """List the senses of WORD with their members and maps.

    A sense is a map with at least 5 % of the associations of WORD. Each association belongs to the
    map that explains most of it. The members of a sense are the associates that are close to WORD
    on the map, the strongest first. If no associations of WORD are known, its maps are listed with
    its mixing proportions and nearest neighbours.

    \b
    Examples:  manymaps senses norms.atlas tie
               manymaps senses norms.atlas --all --csv > senses.csv
               manymaps senses posts.atlas orbit --neighbor-kind word
    """
    refuse(
        (options.as_csv and as_json(), "--csv and --json cannot be combined"),
        (options.all_words and options.words, "--all cannot be combined with a WORD"),
        (not (options.all_words or options.words), "no word given; pass a WORD, or --all"),
    )  # fmt: skip
    atlas = mm.load_atlas(options.atlas)
    with work(f"listing the senses in {options.atlas}"):
        records = [_record(atlas, i, options) for i in _objects(atlas, options)]
    tell(
        lambda: records[0] if len(options.words) == 1 else {"words": records},
        lambda: _table(records) if options.as_csv else "\n\n".join(map(_text, records)),
    )


def _objects(atlas: mm.Atlas, options: SensesOptions) -> list[int]:
    """Return the indices of the requested words."""
    kind = options.kind
    if options.all_words:
        is_listed = [True] * atlas.n_objects if kind is None else atlas.of_kind(kind)
        return [i for i, listed in enumerate(is_listed) if listed]
    note_case(options.atlas, options.words, atlas.labels)
    indices = list(dict.fromkeys(atlas.index(word, kind=kind) for word in options.words))
    kinds = atlas.kinds or ()
    for i in indices if kinds and kind is None else ():
        (other,) = {*kinds} - {kinds[i]}
        if (atlas.labels[i], other) in atlas:
            note(
                f"{atlas.labels[i]!r} is taken as a {kinds[i]}; there is also the {other} "
                f"{atlas.labels[i]!r} (use --kind {other})"
            )
    return indices


def _record(atlas: mm.Atlas, i: int, options: SensesOptions) -> dict[str, Any]:
    """Return the record of a word that --json prints."""
    import numpy as np

    from manymaps.atlas.answers import observed_senses, similarities, strengths_on
    from manymaps.atlas.senses import associates_of

    word, kind = atlas.labels[i], None if atlas.kinds is None else atlas.kinds[i]
    table, covered = strengths_on(atlas, None)
    found = associates_of(atlas.choices, table, np.array([i]))
    far = found.members[~found.close]
    if len(found.members) and options.neighbor_kind is None:
        # Similarities take most of the time, and are only in the records of --json.
        similar = similarities(atlas, i) if as_json() else np.full(atlas.n_objects, np.nan)
        listed = observed_senses(atlas, i, found, similar, options.neighbors)
    else:
        listed = atlas.senses(word, kind=kind, **chosen(options, "neighbors", "neighbor_kind"))
    senses = [asdict(sense) for sense in listed]
    not_close = {
        "share": float(found.strengths[~found.close].sum()) if len(found.members) else None,
        "labels": [atlas.labels[j] for j in far.tolist()],
    }
    part = None if covered is None else float(covered[i])
    return {
        "word": word, "kind": kind, "senses": senses, "not_close": not_close, "covered": part,
    }  # fmt: skip


def _table(records: Sequence[dict[str, Any]]) -> str:
    """Format the senses of all records as CSV."""
    from manymaps.atlas.export import columns_as_csv

    rows = [
        {
            **record, "sense": k, **sense, "name": "; ".join(sense["name"]),
            "members": "; ".join(near["label"] for near in sense["neighbors"]),
        }
        for record in records
        for k, sense in enumerate(record["senses"], 1)
    ]  # fmt: skip
    has_kinds = any(record["kind"] is not None for record in records)
    names = (*COLUMNS, "kind") if has_kinds else COLUMNS
    columns: dict[str, Any] = {name: [row[name] for row in rows] for name in names}
    return columns_as_csv(columns)


def _text(record: dict[str, Any]) -> str:
    """Format a record: the senses, the associates that are not close, and the covered part."""
    word, found, far = shown(record["word"]), record["senses"], record["not_close"]
    members = [", ".join(shown(near["label"]) for near in sense["neighbors"]) for sense in found]
    maps = [f"map {sense['map']}" for sense in found]
    if far["share"] is None:
        parts = [f"{sense['proportion']:6.2f}" for sense in found]
        head = f"{word}: no associations are known; its maps, with its mixing proportions"
        return "\n".join([head, grid(zip(parts, maps, members, strict=True))])
    numbers = whole_percents([sense["share"] for sense in found])
    parts = [f"{number:5}%" for number in numbers]
    lines = [f"{word}: {plural('sense', len(found))} with {sum(numbers)}% of its associations"]
    lines += [grid(zip(parts, maps, members, strict=True))] if found else []
    if far["labels"]:
        labels = [*map(shown, far["labels"][:FAR]), *["..."] * (len(far["labels"]) > FAR)]
        part = f"{far['share']:.0%}: {', '.join(labels)}"
        lines.append(f"associates that are not close on their map, {part}")
    if (covered := record["covered"]) is not None and covered < COVERED:
        lines.append(f"percentages are of the {covered:.0%} of responses that are in the atlas")
    return "\n".join(lines)
