"""The command `evaluate`, which measures how well an atlas represents the data in a file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import manymaps as mm
from manymaps.cli.contract import elapsed, note, note_case, tell
from manymaps.cli.options import Running, atlas_argument
from manymaps.cli.record import argument, chosen, command, flag, group, option
from manymaps.cli.types import InputFile, positive
from manymaps.labels import first_of, plural
from manymaps.progress import work

if TYPE_CHECKING:
    from manymaps.analysis.record import Record


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
        "NAME", "Distance between vectors, or precomputed for distances.  [default: that of ATLAS]"
    )
    groups: str | None = option(
        "COLUMN",
        "Metadata column that contains the groups of the rows (counts only).",
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
    divergence under ATLAS. With --groups, it also lists the purity of the rows' neighbourhoods
    and the lift. The lift states how much more likely the columns near a row
    are in its group than overall.

    If FILE contains rated pairs of words (SimLex-999, MEN, WordSim-353, ...), the report lists
    Spearman's correlation of the ratings with the similarities in ATLAS.

    \b
    Examples:  manymaps evaluate nouns.atlas glove.txt
               manymaps evaluate posts.atlas counts.npz --groups newsgroup
               manymaps evaluate norms.atlas SimLex-999.txt
    """
    from manymaps.cli.report import record_text
    from manymaps.compute.threads import threads

    atlas = mm.load_atlas(options.atlas)
    data = _data(atlas, options)
    values = chosen(options, "metric", "neighbors", "groups")
    settings = {name: value for name, value in values.items() if value is not None}
    if isinstance(data, mm.Vectors) and atlas.settings.metric == "precomputed":
        settings.setdefault("metric", "precomputed")
    with work("measuring"), threads(options.running.jobs):
        found = mm.evaluate(atlas, data, random_state=options.running.seed, **settings)
    _note(found, options, atlas)
    record = {**found, "seconds": elapsed()}
    tell(lambda: record, lambda: record_text({"atlas": str(options.atlas), **record}))


def _data(atlas: mm.Atlas, options: EvaluateOptions) -> Any:
    """Read the data: counts for a bipartite atlas, else ratings, associations or vectors."""
    from manymaps.cli.reading import PAIRS, opened
    from manymaps.cli.report import dropped
    from manymaps.data.associations import ReadReport
    from manymaps.io.similarities import has_ratings

    file, kind = options.file, "counts" if atlas.kinds is not None else None
    if "precomputed" in (options.metric, atlas.settings.metric):
        kind = "vectors"
    words = None if kind == "vectors" else atlas.labels
    takes = ("counts",) if kind == "counts" else (*PAIRS, "vectors", "ratings")
    data = opened(file, "ratings" if options.ratings else kind, takes=takes, words=words).fitted
    if has_ratings(data):
        rated, report = data[["word1", "word2"]].stack().unique(), ReadReport(**data.attrs)
        note(f"{len(data):,} rated pairs of {len(rated):,} words", *report.notes)
        note_case(file, rated.tolist(), atlas.labels)
        if report.n_dropped:
            note(f"dropped {dropped(report)}")
    return data


def _note(found: Record, options: EvaluateOptions, atlas: mm.Atlas) -> None:
    """Print notes on unknown words and sampled objects."""
    if found.get("unknown"):
        note(
            f"the atlas contains both words of {found.n_known:,} of {found.n_pairs:,} pairs; "
            f"{len(found.unknown):,} words missing: {first_of(found.unknown)}"
        )
    noun = atlas.noun if atlas.kinds is None else atlas.kinds[0]
    all_objects = found.get("n_grouped", found.get("n_objects", 0))
    if found.get("n_measured", all_objects) < all_objects:
        note(
            f"neighbourhoods are those of {found.n_measured:,} of {plural(noun, all_objects)}, "
            "drawn at random"
        )
