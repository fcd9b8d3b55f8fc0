"""The command `senses`, which lists the senses of words with their neighbours and maps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import manymaps as mm
from manymaps.cli.contract import as_json, emit, note, note_case, tell
from manymaps.cli.options import (
    READING,
    ROW_SUMS,
    PairReading,
    atlas_argument,
    refuse,
    refuse_given,
)  # fmt: skip
from manymaps.cli.record import argument, chosen, command, flag, group, option
from manymaps.cli.sense_report import data_differ, sense_interval, senses_record, senses_text
from manymaps.cli.types import InputFile, Number, positive
from manymaps.errors import DataError, ParameterError
from manymaps.labels import first_of, plural
from manymaps.progress import work

# Options that apply to the data of --data.
OF_DATA = ("by", "level", "per_cue")


@dataclass(frozen=True, kw_only=True)
class SensesOptions:
    """Options of the command `senses`."""

    atlas: Path = atlas_argument()
    words: tuple[str, ...] = argument("[WORD]...", str, nargs=-1)
    list_of_words: Path | None = option(
        InputFile(), "List the words in this file too, one per line; unknown words are left out.",
        "--words",
    )  # fmt: skip
    all_words: bool = flag("List all words of the atlas (with --csv only).", "--all")
    as_csv: bool = flag("Print a CSV table with a row for each sense.", "--csv")
    neighbors: int = option(
        positive, "Number of neighbours to list per sense.", default=8, sets="n_neighbors"
    )
    fine: bool = flag("List the fine groups of each meaning as senses of their own.", "--fine",
                      sets="sense_level")  # fmt: skip
    min_share: float = option(
        Number(0, 1),
        "Leave out senses with a smaller share of the observed responses to WORD.",
        default=0.05,
    )
    min_weight: float = option(
        Number(0, 1),
        "Leave out maps that contribute less to the association probabilities of WORD (with "
        "--fine, or if no associations of WORD are known).",
        default=0.1,
    )
    kind: str | None = option("NAME", "Kind of WORD, such as document (bipartite atlases only).")
    neighbor_kind: str | None = option(
        "NAME",
        "Kind of the neighbours, such as word (bipartite atlases only).  [default: the kind that "
        "WORD is not]",
    )
    data: Path | None = option(
        InputFile(),
        "Estimate confidence intervals of the response shares and of the ambiguity from these "
        "norms or trials.",
        metavar="NORMS",
    )
    by: str | None = option(
        ["participants", "responses"],
        "Resample participants or responses for the intervals (with --data only).  [default: "
        "participants, if the trials name them]",
    )
    level: float = option(
        Number(0, 1, min_open=True, max_open=True),
        "Confidence level of the intervals (with --data only).", default=0.95,
    )  # fmt: skip
    per_cue: int | None = option(
        positive,
        "Number of responses per cue in the norms of --data.  [default: read from a column of "
        "counts or group sizes, otherwise 100]",
        sets="n_responses",
    )
    reading: PairReading = group(PairReading)

    @property
    def chosen(self) -> dict[str, Any]:
        """The arguments of `Atlas.senses`."""
        listed = chosen(self, "neighbors", "min_share", "min_weight", "kind", "neighbor_kind")
        return {**listed, "level": "fine" if self.fine else "meaning"}


@command(SensesOptions)
def senses(options: SensesOptions) -> None:
    """List the senses of WORD with their neighbours and maps.

    If the atlas contains responses, the senses are meanings, sorted by their share of the
    responses. A meaning is a group of associates, named by the most typical ones and listed with
    the map that explains most of it. With --fine, each group of closely related associates is a
    sense, and maps are sorted by their contribution to WORD's association probabilities.

    The last line reports how reliable the positions of WORD are: the share of its responses that
    the model reproduces. For an atlas written by `manymaps stability`, the line also contains the
    share of WORD's neighbours that recur in the other fits. For such an atlas, each sense is listed
    with the number of fits that contain it, followed by the senses of other fits.

    \b
    Examples:  manymaps senses norms.atlas tie
               manymaps senses norms.atlas tie --data norms.csv
               manymaps senses norms.atlas --words list.txt
               manymaps senses norms.atlas --all --csv > senses.csv
               manymaps senses posts.atlas orbit --neighbor-kind word
    """
    listed = bool(options.words or options.list_of_words)
    refuse(
        (options.as_csv and as_json(), "--csv and --json cannot be combined"),
        (options.all_words and not options.as_csv, "--all requires --csv"),
        (options.all_words and listed, "--all cannot be combined with a WORD or --words"),
        (not (options.all_words or listed),
         "no word given; pass a WORD, a file of words with --words, or --all"),
    )  # fmt: skip
    if options.data is None:
        refuse_given((*OF_DATA, *READING), "senses without --data")
    atlas = mm.load_atlas(options.atlas)
    asked = [*options.words, *_known(atlas, options.list_of_words, options.kind)]
    note_case(options.atlas, asked, atlas.labels)
    words = None if options.all_words else asked
    intervals = None if options.data is None else _intervals(atlas, words, options.data, options)
    note(*(() if intervals is None else intervals.notes))
    if options.as_csv:
        from manymaps.atlas.export import columns_as_csv

        with work(f"listing the senses in {options.atlas}"):
            bounds = {} if intervals is None else _bounds(atlas, words, intervals, options)
            table = atlas.sense_table(words, **options.chosen)
        emit(columns_as_csv({**table, **bounds}))
        return
    records, texts = zip(*(_report(atlas, word, options, intervals) for word in asked), strict=True)
    if data_differ(records):
        note(
            f"the responses in {options.data} differ from those in the atlas; response shares, "
            f"strengths and ambiguity are from {options.data}, and senses and explained shares are "
            "from the atlas"
        )
    several = len(options.words) != 1 or options.list_of_words is not None
    tell(lambda: {"words": records} if several else records[0], lambda: "\n\n".join(texts))


def _known(atlas: mm.Atlas, file: Path | None, kind: str | None) -> list[str]:
    """Return the words of a file that are in the atlas, and print a note on the others."""
    if file is None:
        return []
    from manymaps.io.matrices import read_labels

    listed = list(dict.fromkeys(read_labels(file, "one word per line")))
    words = [word for word in listed if (word if kind is None else (word, kind)) in atlas]
    missing = [word for word in listed if word not in words]
    known = list({atlas.index(word, kind=kind): word for word in words}.values())
    if not known:
        raise DataError(
            f"{file}: none of its words is in the atlas; the first words are {first_of(missing)}"
        )
    if missing:
        note(f"{len(missing):,} of {plural('word', len(listed))} unknown: {first_of(missing)}")
    return known


def _intervals(
    atlas: mm.Atlas, words: Sequence[str] | None, file: Path, options: SensesOptions
) -> mm.Intervals:
    """Estimate intervals of the words' strengths and senses from a file."""
    from manymaps.cli.reading import read_pairs, read_trials_or_none

    reading, per_cue = options.reading, options.per_cue
    asked: dict[str, Any] = {"words": words, "level": options.level, "by": options.by}
    asked["sense_level"] = options.chosen["level"]
    trials = read_trials_or_none(file, reading)
    if trials is not None:
        if per_cue is not None:
            raise ParameterError(f"--per-cue applies to norms, and {file} contains trials")
        asked |= {"responses": reading.responses, "rows": reading.rows or ROW_SUMS[0]}
        note_case(file, dict.fromkeys([*trials.cues, *trials.answers]), atlas.labels)
        with work("counting responses"):
            return mm.intervals(trials, atlas, **asked)
    norms = _sized(file, reading) if per_cue is None else read_pairs(file, reading)
    if norms.n_responses is None and per_cue is None:
        note(f"{file} does not state the number of responses per cue; 100 is assumed (--per-cue N)")
    note_case(file, norms.labels, atlas.labels)
    with work("counting responses"):
        return mm.intervals(norms, atlas, **asked, n_responses=per_cue)


def _sized(file: Path, reading: PairReading) -> mm.Associations:
    """Read norms with the numbers of responses per cue that the file states as counts or sizes.

    Strengths take precedence over counts, but only counts contain the number of responses. With
    --rows keep, the number is the group size, so that responses that the file does not list are
    counted as missing. Otherwise, only the listed responses count.
    """
    import numpy as np
    from scipy import sparse

    from manymaps.cli.reading import columns_of_responses, group_sizes, read_pairs

    counts, column = columns_of_responses(file, reading)
    norms = read_pairs(file, reading if counts is None else replace(reading, strength=counts))
    if column is None:
        return norms
    by_cue = group_sizes(file, reading, column)
    known = np.array(list(by_cue.values()))
    note(f"{file}: group sizes of {known.min():,} to {known.max():,} (column {column!r})")
    sizes = np.array([by_cue.get(label, 1) for label in norms.labels])
    kept, counted = reading.rows == "keep", norms.n_responses
    if counted is None and not kept:
        whole = read_pairs(file, replace(reading, rows="keep")).strengths
        sizes = np.maximum(np.rint(sizes * np.minimum(whole.sum(axis=1), 1)), 1).astype(np.int64)
    elif counted is not None and not kept:
        sizes = counted
    elif counted is not None:
        if n_larger := int((counted > sizes).sum()):
            note(f"{plural('cue', n_larger)} with more responses than participants: the responses "
                 "are counted")  # fmt: skip
        sizes = np.maximum(sizes, counted)
        norms = replace(norms, strengths=sparse.diags_array(counted / sizes) @ norms.strengths)
    return replace(norms, n_responses=sizes)


def _bounds(
    atlas: mm.Atlas,
    words: Sequence[str] | None,
    intervals: mm.Intervals,
    options: SensesOptions,
) -> dict[str, Any]:
    """Return the columns of the intervals for the table of senses."""
    import numpy as np

    shares = [
        sense_interval(intervals, atlas.labels[atlas.index(word)], sense)
        for word in (atlas.labels if words is None else words)
        for sense in atlas.senses(word, **options.chosen)
    ]
    return {
        name: np.array([np.nan if one is None else getattr(one, end) for one in shares])
        for name, end in (("data_share", "value"), ("share_low", "low"), ("share_high", "high"))
    }


def _report(
    atlas: mm.Atlas, word: str, options: SensesOptions, intervals: mm.Intervals | None
) -> tuple[dict[str, Any], str]:
    """Return the record and the text of a word."""
    kind, neighbor_kind = options.kind, options.neighbor_kind
    if atlas.kinds is not None or kind is not None or neighbor_kind is not None:
        from manymaps.cli.reading import kind_of_word

        kind = kind_of_word(atlas, word, kind, neighbor_kind)
    record = senses_record(atlas, word, options.chosen, kind, intervals)
    grouped = neighbor_kind is None and atlas.has_associations(word, kind=kind)
    text = "" if as_json() else senses_text(record, grouped=grouped, captioned=atlas.n_maps > 1)
    return record, text
