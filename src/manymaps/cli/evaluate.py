"""The command `evaluate`, which measures how well an atlas represents the data in a file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import manymaps as mm
from manymaps.cli.contract import elapsed, note, note_case, tell
from manymaps.cli.options import Running, atlas_argument, refuse_given
from manymaps.cli.record import argument, chosen, command, flag, group, option
from manymaps.cli.types import InputFile, perplexities, positive
from manymaps.labels import first_of, plural
from manymaps.progress import work

NOT_OF_COUNTS = ("neighbors", "metric", "perplexity")
NOT_OF_RATINGS = (*NOT_OF_COUNTS, "sample", "groups")


@dataclass(frozen=True, kw_only=True)
class EvaluateOptions:
    """Options of the command `evaluate`."""

    atlas: Path = atlas_argument()
    file: Path = argument("FILE", InputFile())
    neighbors: int | None = option(
        positive,
        "Number of neighbours in the local measures.  [default: 10, fewer below 21 objects]",
        metavar="K", sets="n_neighbors k",
    )  # fmt: skip
    metric: str | None = option(
        "NAME",
        "Distance between vectors, or precomputed for distances.  [default: that of ATLAS]",
    )
    perplexity: float | tuple[float, ...] | None = option(
        perplexities,
        "Effective number of neighbours in the KL divergence (vectors only).  [default: that of "
        "ATLAS]",
        metavar="X[,X...]",
    )
    sample: int | None = option(
        positive,
        "Number of objects whose neighbourhoods are measured.  [default: all; 2000 above 5,000]",
    )
    groups: str | None = option(
        "COLUMN",
        "Metadata column that contains the groups of the rows (counts only).  [default: group or "
        "label, if it exists]",
    )
    ratings: bool = flag("Read FILE as rated pairs of words, regardless of its column names.")
    running: Running = group(Running)


@command(EvaluateOptions)
def evaluate(options: EvaluateOptions) -> None:
    """Measure how well ATLAS represents the data in FILE.

    Objects are matched by label. The KL divergence is computed with the model of ATLAS. The local
    measure is the share of each object's ten nearest that are also among the ten nearest in the
    maps. The global measure is the rank correlation of the distances. "Nearest among 10" states how
    often the strongest associate or nearest neighbour is one of the ten most similar objects.

    For a bipartite atlas, FILE contains counts. The report lists their log-likelihood and KL
    divergence under ATLAS. If the groups of the rows are known, it also lists the purity of the
    rows' neighbourhoods and the lift. The lift states how much more likely the columns near a row
    are in its group than overall.

    If FILE contains rated pairs of words (SimLex-999, MEN, WordSim-353, ...), the report lists
    Spearman's correlation of the ratings with the similarities in ATLAS.

    \b
    Examples:  manymaps evaluate nouns.atlas glove.txt
               manymaps evaluate posts.atlas counts.npz --groups newsgroup
               manymaps evaluate norms.atlas SimLex-999.txt
    """
    atlas = mm.load_atlas(options.atlas)
    if _holds_ratings(atlas, options):
        _of_ratings(atlas, options)
    else:
        (_of_pairs if atlas.kinds is None else _of_counts)(atlas, options)


def _measured(
    atlas: mm.Atlas, data: Any, options: EvaluateOptions, table: Callable[[Any, str], str],
    notes: Callable[[Any, EvaluateOptions], None], **settings: Any,
) -> None:  # fmt: skip
    """Evaluate the atlas, and print notes and the results."""
    from manymaps.compute.threads import threads

    with work("measuring"), threads(options.running.jobs):
        found: Any = mm.evaluate(atlas, data, random_state=options.running.seed, **settings)
    notes(found, options)
    record = {**found.record(), "seconds": elapsed()}
    tell(lambda: record, lambda: table(found, str(options.atlas)))


def _of_pairs(atlas: mm.Atlas, options: EvaluateOptions) -> None:
    """Evaluate on associations or vectors, for an atlas with one kind of object."""
    from manymaps.cli.reading import load
    from manymaps.cli.report import evaluation_table

    refuse_given(("groups",), "an atlas that is not bipartite")
    fitted = atlas.settings.metric
    metric = options.metric or (fitted if fitted == "precomputed" else None)
    data = load(options.file, metric=metric, among=atlas.labels).fitted
    if isinstance(data, mm.Associations):
        metric = options.metric
    _measured(
        atlas, data, options, evaluation_table, _note_of_pairs,
        metric=metric,
        **chosen(options, "perplexity", "neighbors", "sample"),
    )  # fmt: skip


def _note_of_pairs(found: mm.Evaluation, options: EvaluateOptions) -> None:
    if found.n_measured < found.n_objects and options.sample is None:
        note(
            f"all measures except the KL divergence use {found.n_measured:,} of "
            f"{found.n_objects:,} objects, drawn at random (use --sample N for more)"
        )
    if options.neighbors is None and found.neighbors < 10:
        note(f"{found.n_objects} objects: measures use {found.neighbors} neighbours instead of 10")


def _of_counts(atlas: mm.Atlas, options: EvaluateOptions) -> None:
    """Evaluate on counts, for a bipartite atlas."""
    from manymaps.cli.reading import load
    from manymaps.cli.report import count_evaluation_table

    refuse_given(NOT_OF_COUNTS, "a bipartite atlas")
    _measured(
        atlas, load(options.file, counts=True).fitted, options, count_evaluation_table,
        _note_of_counts, **chosen(options, "groups", "sample"),
    )  # fmt: skip


def _note_of_counts(found: mm.CountEvaluation, options: EvaluateOptions) -> None:
    note(*found.notes)
    if options.sample is None and found.n_measured < found.n_grouped:
        note(
            f"purity and lift are measured on {found.n_measured:,} of {found.n_grouped:,} "
            f"{plural(found.kinds[0])}, drawn at random (use --sample N for more)"
        )


def _holds_ratings(atlas: mm.Atlas, options: EvaluateOptions) -> bool:
    """Check whether a file contains ratings, judging by the options or the column names."""
    from manymaps.io.kinds import kind_of

    if options.ratings:
        return True
    plain = atlas.kinds is None and options.metric is None
    return plain and kind_of(options.file) == "ratings"


def _of_ratings(atlas: mm.Atlas, options: EvaluateOptions) -> None:
    """Evaluate on rated pairs of words."""
    from manymaps.cli.report import rating_evaluation_table

    refuse_given(NOT_OF_RATINGS, "ratings of pairs of words")
    file = options.file
    with work(f"reading {file}"):
        ratings = mm.read_ratings(file)
    _note_of_reading(ratings, options)
    note_case(options.file, ratings.words, atlas.labels)
    _measured(atlas, ratings, options, rating_evaluation_table, _note_of_ratings)


def _note_of_reading(ratings: mm.Ratings, options: EvaluateOptions) -> None:
    """Print a note on the content of a file of ratings, and on why it was read as ratings."""
    from manymaps.cli.report import dropped

    report = ratings.report
    line = f"{plural('rated pair', len(ratings))} of {len(ratings.words):,} words"
    if report.merged:
        line += f"; {plural('repeated pair', report.merged)} averaged"
    if report.n_dropped:
        line += f"; dropped {dropped(report)}"
    note(line, *report.notes)
    if not options.ratings:
        file = options.file
        note(
            f"{file} was read as ratings of pairs (manymaps read {file} --kind associations "
            "-o OUT.npz reads associations)"
        )


def _note_of_ratings(found: mm.RatingEvaluation, _: EvaluateOptions) -> None:
    if found.unknown:
        note(
            f"the atlas contains both words of {found.n_known:,} of {found.n_pairs:,} pairs; "
            f"{plural('word', len(found.unknown))} missing: {first_of(found.unknown)}"
        )
