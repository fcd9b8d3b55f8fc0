"""The command `senses`: the senses of words, with their neighbours and the map of each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from manymaps.cli.contract import Command, emit, note, quiet_option, tell
from manymaps.cli.options import (
    READING,
    ROW_SUMS,
    atlas_argument,
    json_option,
    pair_options,
    refuse_given,
)
from manymaps.cli.types import InputFile, Number, positive
from manymaps.labels import first_of, plural
from manymaps.progress import work

if TYPE_CHECKING:
    from manymaps.analysis.intervals import Intervals
    from manymaps.atlas.atlas import Atlas, Sense

__all__ = ["senses"]

# What is said of the data of --data.
OF_DATA = ("by", "level", "per_cue")


@click.command(cls=Command)
@atlas_argument
@click.argument("words", nargs=-1, metavar="[WORD]...")
@click.option(
    "--words",
    "list_of_words",
    type=InputFile(),
    metavar="FILE",
    help="Also the words of a file, one a line; those that are unknown are left out.",
)
@click.option("--csv", "as_csv", is_flag=True, help="A table, a row for each sense.")
@click.option(
    "--neighbors",
    type=positive,
    metavar="N",
    default=8,
    show_default=True,
    help="Listed per sense.",
)
@click.option(
    "--min-share",
    type=Number(0, 1),
    metavar="X",
    default=0.05,
    show_default=True,
    help="Leave out groups to which less of the observed responses of WORD falls.",
)
@click.option(
    "--min-recall",
    type=Number(0, 1),
    metavar="X",
    default=0.1,
    show_default=True,
    help="Leave out maps without such a group that give less of what the model recalls of WORD.",
)
@click.option("--kind", metavar="NAME", help="Of two kinds of object, that of WORD.")
@click.option(
    "--neighbor-kind",
    metavar="NAME",
    help="That of the neighbours.  [default: the other than WORD's]",
)
@click.option(
    "--data",
    type=InputFile(),
    metavar="NORMS",
    help="What people answered, as norms or as trials: also confidence intervals of the shares and "
    "of the ambiguity.",
)
@click.option(
    "--by",
    type=click.Choice(("participants", "responses")),
    help="With --data: whose variation.  [default: participants, where trials say who they are]",
)
@click.option(
    "--level",
    type=Number(0, 1, min_open=True, max_open=True),
    metavar="X",
    default=0.95,
    show_default=True,
    help="With --data: of the intervals.",
)
@click.option(
    "--per-cue",
    type=positive,
    metavar="N",
    help="With --data: responses of each cue.  [default: as counted; else 100]",
)
@pair_options
@quiet_option
@json_option
@click.pass_context
def senses(
    ctx: click.Context,
    atlas: Path,
    words: Sequence[str],
    list_of_words: Path | None,
    neighbors: int,
    as_csv: bool,
    as_json: bool,
    data: Path | None,
    **given: Any,
) -> None:
    """List the senses of WORD: groups of its neighbours, their shares, and the map of each.

    Maps come in order of what they give of WORD's recall in the model, and within a map its groups
    by their share of the observed responses, where the atlas knows these.

    The last line says how far the places of WORD can be trusted: the share of its responses that
    the model gives as well and, of an atlas that `manymaps stability` wrote, the share of its
    neighbours that recur in the other fits. Of such an atlas also how many of the fits have each
    sense, and the senses that other fits found.

    \b
    Examples:  manymaps senses norms.atlas tie
               manymaps senses norms.atlas tie --data norms.csv
               manymaps senses norms.atlas --words list.txt --csv > senses.csv
               manymaps senses posts.atlas orbit --neighbor-kind word
    """
    if as_csv and as_json:
        raise click.UsageError("give --csv or --json, not both")
    from manymaps.atlas.atlas import load_atlas

    if data is None:
        refuse_given(ctx, (*OF_DATA, *READING), "senses without --data")
    loaded = load_atlas(atlas)
    options = {name: given[name] for name in ("min_share", "min_recall", "kind", "neighbor_kind")}
    options |= {"n_neighbors": neighbors}
    asked = [*words, *_known(loaded, list_of_words, options["kind"])]
    if not asked:
        raise click.UsageError("name a word, or a file of words with --words")
    found = None if data is None else _intervals(loaded, asked, data, given)
    for line in () if found is None else found.notes:
        note(line)
    if as_csv:
        from manymaps.atlas.export import columns_as_csv

        bounds = {} if found is None else _bounds(loaded, asked, found, options)
        emit(columns_as_csv({**loaded.sense_table(asked, **options), **bounds}))
        return
    several = len(words) != 1 or list_of_words is not None
    told = [_told(loaded, word, options, found) for word in asked]
    tell(
        lambda: {"words": [record() for record, _ in told]} if several else told[0][0](),
        lambda: "\n\n".join(text() for _, text in told),
        as_json=as_json,
    )


def _known(atlas: Atlas, file: Path | None, kind: str | None) -> list[str]:
    """The words of a file that are in the atlas; says which are not."""
    if file is None:
        return []
    from manymaps.errors import DataError
    from manymaps.io.matrices import read_labels

    listed = list(dict.fromkeys(read_labels(file, "one word a line")))
    is_known = [(word if kind is None else (word, kind)) in atlas for word in listed]
    missing = [word for word, here in zip(listed, is_known, strict=True) if not here]
    words = [word for word, here in zip(listed, is_known, strict=True) if here]
    known = list({atlas.index(word, kind=kind): word for word in words}.values())
    if not known:
        raise DataError(
            f"{file}: none of its words is in the atlas; it begins with {first_of(missing)}"
        )
    if missing:
        note(f"{len(missing):,} of {plural('word', len(listed))} unknown: {first_of(missing)}")
    return known


def _intervals(
    atlas: Atlas, words: Sequence[str], file: Path, given: Mapping[str, Any]
) -> Intervals:
    """What the file says of the words' strengths and senses, with its intervals."""
    from manymaps.analysis.intervals import intervals
    from manymaps.cli.reading import read_data, read_trials_or_none
    from manymaps.data.associations import Associations
    from manymaps.errors import DataError, ParameterError

    asked: dict[str, Any] = {"words": words, "level": given["level"], "by": given["by"]}
    trials = read_trials_or_none(file, given)
    if trials is not None:
        if given["per_cue"] is not None:
            raise ParameterError(f"--per-cue is of norms, and {file} holds trials")
        rules = {"responses": given["responses"], "rows": given["rows"] or ROW_SUMS[0]}
        with work("counting answers"):
            return intervals(trials, atlas, **asked, **rules)
    norms = read_data(file, given)
    if not isinstance(norms, Associations):
        raise DataError(f"{file} holds vectors; --data is for what people answered")
    if norms.n_responses is None and given["per_cue"] is None:
        note(f"{file} does not say how many responses a cue has; taken as 100 (--per-cue N)")
    with work("counting answers"):
        return intervals(norms, atlas, **asked, n_responses=given["per_cue"])


def _bounds(
    atlas: Atlas, words: Sequence[str], found: Intervals, options: Mapping[str, Any]
) -> dict[str, Any]:
    """Columns beside those of the table of senses."""
    import numpy as np

    told = [
        _share(found, atlas, word, sense)
        for word in words
        for sense in atlas.senses(word, **options)
    ]
    return {
        name: np.array([np.nan if one is None else getattr(one, end) for one in told])
        for name, end in (("data_share", "value"), ("share_low", "low"), ("share_high", "high"))
    }


def _share(found: Intervals, atlas: Atlas, word: str, sense: Sense) -> Any:
    """The interval of a sense; None of a map that holds nothing of what was observed."""
    if sense.share == 0 or not sense.neighbors:
        return None
    return found.share(atlas.labels[atlas.index(word)], sense.neighbors[0].label)


def _told(
    atlas: Atlas,
    word: str,
    options: Mapping[str, Any],
    intervals: Intervals | None,
) -> tuple[Callable[[], dict[str, Any]], Callable[[], str]]:
    """What is said of a word: its record and its text."""
    from manymaps.analysis.trust import trust_of
    from manymaps.cli.sense_report import (
        interval_record,
        left_out_of,
        senses_record,
        senses_table,
        trust_line,
    )

    kind, neighbor_kind = options["kind"], options["neighbor_kind"]
    if atlas.kinds is not None or kind is not None or neighbor_kind is not None:
        from manymaps.cli.reading import kind_of_word

        kind = kind_of_word(atlas, word, kind, neighbor_kind)
    asked = {**options, "kind": kind}
    found = atlas.senses(word, **asked)
    maps = list(dict.fromkeys(sense.map for sense in found))
    captions = dict(zip(maps, atlas.captions(maps=maps), strict=True))
    left_out = left_out_of(found, atlas.senses(word, **{**asked, "min_share": 0, "min_recall": 0}))
    i = atlas.index(word, kind=kind)
    label = atlas.labels[i]
    elsewhere = atlas.senses_elsewhere(word, kind=kind)
    n_fits = None if atlas.consensus is None else atlas.consensus.n_fits
    grouped = neighbor_kind is None and atlas.recalls(word, kind=kind)
    trust = trust_of(atlas, i)
    shares = None
    if intervals is not None:
        shares = [_share(intervals, atlas, word, sense) for sense in found]

    def record() -> dict[str, Any]:
        said = senses_record(label, found, kind, elsewhere, n_fits, captions, left_out)
        said |= {"explained": trust[0], "recurring": trust[1]}
        return said if intervals is None else interval_record(said, intervals, shares or [])

    def text() -> str:
        table = senses_table(
            label, found, elsewhere, n_fits, captions if atlas.n_maps > 1 else None, left_out,
            grouped=grouped, intervals=shares,
        )  # fmt: skip
        lines = [table, trust_line(trust, None if intervals is None else intervals, label)]
        return "\n".join(line for line in lines if line)

    return record, text
