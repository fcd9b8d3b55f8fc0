"""The command `insert`, which adds new objects to a fitted atlas."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

import manymaps as mm
from manymaps.cli.contract import elapsed, note, note_case, tell
from manymaps.cli.options import atlas_argument, jobs_option, refuse_given
from manymaps.cli.record import argument, chosen, command, option, output_option
from manymaps.cli.types import InputFile, Number, OutputFile, count_or, perplexities
from manymaps.errors import DataError
from manymaps.labels import first_of, plural
from manymaps.progress import work

if TYPE_CHECKING:
    from manymaps.maps.neighbor_weights import NeighborWeights

NOT_OF_COUNTS = (
    "vectors", "words", "neighbors", "sd", "similarity", "weights", "theta", "refine",
    "perplexity", "p", "reference_word", "dissimilar",
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class InsertOptions:
    """Options of the command `insert`."""

    atlas: Path = atlas_argument()
    new: Path = argument("NEW", InputFile())
    output: Path = output_option(
        "OUT.atlas",
        OutputFile(archive=True, may_replace=("ATLAS",)),
        "Write the extended atlas to this file, which may be ATLAS itself.",
    )
    vectors: Path | None = option(
        InputFile(),
        "Read the vectors of the objects of ATLAS from this file, if ATLAS does not contain them.",
    )
    words: Path | None = option(InputFile(), "Insert only the words in this file, one per line.")
    neighbors: int | Literal["local"] = option(
        count_or("local"),
        "Position new objects by their K nearest neighbours, or by those of above-average "
        "similarity (local).",
        default=25, metavar="K|local", sets="n_neighbors",
    )  # fmt: skip
    sd: float = option(
        Number(),
        "Minimum similarity of a neighbour, in standard deviations above the mean (with "
        "--neighbors local only).",
        default=2.0,
    )
    similarity: str | None = option(
        "NAME",
        "Similarity of vectors: cosine, or a distance such as euclidean.  [default: cosine; the "
        "metric of ATLAS if one of its vectors is zero]",
    )
    weights: str = option(
        ["power", "exponential"],
        "Shape of a neighbour's weight as a function of its similarity.",
        default="power",
    )
    theta: float = option(
        Number(0, 1, min_open=True, max_open=True),
        "Weight of a neighbour of mean similarity; the most similar has weight 1.", default=0.1,
    )  # fmt: skip
    p: float | None = option(
        Number(0),
        "Fixed parameter of the weights, which replaces --theta. With 0, all neighbours have the "
        "same weight. With 1, the weights are the similarities.",
    )
    reference_word: str | None = option(
        "WORD",
        "Object of ATLAS whose similarity has the weight --theta, instead of the mean similarity.",
    )
    dissimilar: str = option(
        ["among", "apart"],
        "Positions of new objects that resemble nothing in ATLAS: among their nearest neighbours, "
        "or apart from all objects.",
        default="among",
    )
    refine: bool = option(
        click.BOOL, "Refine the position of each new object by minimizing the cost of the model.",
        "--refine/--no-refine", default=True,
    )  # fmt: skip
    perplexity: float | tuple[float, ...] | None = option(
        perplexities,
        "Effective number of neighbours for --refine.  [default: that of ATLAS]",
        metavar="X[,X...]",
    )
    jobs: int | None = jobs_option()


@command(InsertOptions)
def insert(options: InsertOptions) -> None:
    """Insert the objects of NEW into the maps of ATLAS.

    The objects of ATLAS do not move.

    NEW contains vectors, either of new objects only or also of those of ATLAS. It can also be a
    list of strengths with the columns cue (a new object), response (one of ATLAS) and strength. For
    a bipartite atlas, NEW contains counts, and its new rows are positioned among the columns of
    ATLAS. Other files are read by `manymaps read NEW --responses keep --rows keep -o OUT.npz`.

    \b
    Examples:  manymaps insert nouns.atlas new.vec -o more.atlas
               manymaps insert nouns.atlas glove.txt -o more.atlas --words new-nouns.txt
               manymaps insert norms.atlas answers.csv -o more.atlas --neighbors local
               manymaps insert posts.atlas new-counts.npz -o more.atlas
    """
    if not options.refine:
        refuse_given(("perplexity",), "positions that are not refined (--no-refine)")
    atlas, output = mm.load_atlas(options.atlas), options.output
    if atlas.kinds is not None:
        refuse_given(NOT_OF_COUNTS, "a bipartite atlas")
        grown, n_inserted, dissimilar = _insert_counts(atlas, options)
    else:
        grown, n_inserted, dissimilar = _insert_objects(atlas, options)
    # If the atlas has no vectors, the vectors that were used for the comparison are not stored.
    grown.save(output, vectors=atlas.vectors is not None)
    seconds = elapsed()
    record = {
        "inserted": n_inserted,
        "dissimilar": dissimilar,
        "n_objects": grown.n_objects,
        "seconds": seconds,
        "output": str(output),
    }
    text = f"{output}: {n_inserted:,} new of {grown.n_objects:,} objects, in {seconds:.1f} s"
    tell(lambda: record, lambda: text, summary=True)


def _insert_counts(atlas: mm.Atlas, options: InsertOptions) -> tuple[mm.Atlas, int, list[str]]:
    """Insert new rows by their counts in known columns, and list the rows without such counts."""
    from manymaps.cli.reading import load
    from manymaps.compute.threads import threads

    counts = load(options.new, counts=True).fitted
    if not isinstance(counts, mm.Counts):
        raise DataError(f"{options.new} contains no counts; expected those of new rows")
    note(*counts.report.notes)
    with work("placing the new objects"), threads(options.jobs):
        insertion = mm.insert_rows(atlas, counts)
    if insertion.n_known:
        kind = plural((atlas.kinds or ("row",))[0], insertion.n_known)
        note(f"{kind} of {options.new} already in the atlas, not inserted again")
    return insertion.atlas, len(insertion.labels), list(insertion.dissimilar)


def _insert_objects(atlas: mm.Atlas, options: InsertOptions) -> tuple[mm.Atlas, int, list[str]]:
    """Insert new objects by vectors or strengths, and list objects that have no similar objects."""
    from manymaps.cli.reading import load_new

    data = load_new(options.new, options.words, also=_references(atlas, options))
    by_vectors = isinstance(data, mm.Vectors)
    insertion = (
        _insert_vectors(atlas, data, options)
        if isinstance(data, mm.Vectors)
        else _insert_table(atlas, data, options)
    )
    if atlas.vectors is not None and insertion.atlas.vectors is None:
        reason = "those of the new objects are unknown"
        if by_vectors:
            reason = f"those of --vectors differ from those of {options.atlas}"
        note(f"{options.output} contains no vectors, because {reason}")
    judged = zip(insertion.labels, insertion.dissimilar, strict=True)
    dissimilar = [label for label, is_dissimilar in judged if is_dissimilar]
    return insertion.atlas, len(insertion.labels), dissimilar


def _references(atlas: mm.Atlas, options: InsertOptions) -> tuple[str, ...]:
    """Return the labels of the atlas if NEW must contain their vectors."""
    known = options.vectors is not None or atlas.vectors is not None
    return () if known else tuple(atlas.labels)


def _insert_vectors(atlas: mm.Atlas, vectors: mm.Vectors, options: InsertOptions) -> mm.Insertion:
    """Insert new objects by comparing their vectors with the vectors of the atlas."""
    from manymaps.cli.reading import vectors_of_atlas

    new = options.new
    note(*vectors.report.notes)
    references: Any = None
    if options.vectors is not None:
        references = vectors_of_atlas(atlas, options.vectors).values
    in_new = bool(_references(atlas, options))
    if in_new:
        lacking = [label for label in atlas.labels if label not in vectors.positions]
        if lacking:
            raise DataError(
                f"the atlas contains no vectors, and {new} lacks those of {len(lacking):,} of its "
                f"{atlas.n_objects:,} objects ({first_of(lacking)}); "
                "use --vectors FILE to read all of them"
            )
        references = vectors.subset(atlas.labels).values
    known = {*atlas.labels, *note_case(new, vectors.labels, atlas.labels)}
    labels = [label for label in vectors.labels if label not in known]
    _note_known(new, len(vectors) - len(labels), len(labels))
    return _placed(
        atlas, vectors.subset(labels), options, similarity=options.similarity, vectors=references
    )


def _insert_table(atlas: mm.Atlas, data: mm.Associations, options: InsertOptions) -> mm.Insertion:
    """Insert new objects by their association strengths with objects of the atlas."""
    import numpy as np

    new = options.new
    note(*data.report.notes)
    pairs = data.strengths.tocoo()
    known = {*atlas.labels, *note_case(new, data.labels, atlas.labels)}
    cues = [data.labels[i] for i in pairs.row]
    fresh = np.array([cue not in known for cue in cues], bool)
    _note_known(new, len(set(cues) & known), len(set(cues) - known))
    labels, table = mm.similarity_table(
        [cue for cue, is_new in zip(cues, fresh, strict=True) if is_new],
        [data.labels[j] for j in pairs.col[fresh]],
        pairs.data[fresh],
        atlas,
    )
    return _placed(atlas, table, options, similarity="precomputed", labels=labels)


def _note_known(new: Path, n_known: int, n_new: int) -> None:
    """Print how many objects are already in the atlas; raise an error if all of them are."""
    if n_new == 0:
        raise DataError(
            f"all {n_known:,} objects of {new} are already in the atlas; nothing to insert"
        )
    if n_known:
        note(f"{n_known:,} objects of {new} are already in the atlas and are not inserted again")


def _placed(atlas: mm.Atlas, new: Any, options: InsertOptions, **given: Any) -> mm.Insertion:
    """Insert new objects with the options of the command."""
    from manymaps.compute.threads import threads

    with work("placing the new objects"), threads(options.jobs):
        return mm.insert(atlas, new, **_settings(options), **given)


def _settings(options: InsertOptions) -> dict[str, Any]:
    """Return the settings of `mm.insert` that the options define."""
    weights: NeighborWeights = (
        mm.PowerWeights(options.theta, power=options.p)
        if options.weights == "power"
        else mm.ExponentialWeights(options.theta, p=options.p)
    )
    return {
        **chosen(options, "neighbors", "sd", "dissimilar"),
        "weights": replace(weights, reference_word=options.reference_word),
        "refine": options.refine and mm.Refinement(perplexity=options.perplexity),
    }
