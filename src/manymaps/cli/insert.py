"""The command `insert`: new objects into a finished atlas."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from manymaps.cli.contract import (
    Command,
    elapsed,
    note,
    quiet_option,
    refuse_overwriting,
    refuse_to_replace,
    tell,
)
from manymaps.cli.options import (
    atlas_argument,
    count_column_options,
    jobs_option,
    json_option,
    refuse_given,
)
from manymaps.cli.types import InputFile, Number, OutputFile, neighborhood, perplexities

if TYPE_CHECKING:
    from manymaps.atlas.atlas import Atlas
    from manymaps.data.vectors import Vectors
    from manymaps.maps.insertion import Insertion

__all__ = ["insert"]

COLUMNS_OF_PAIRS = ("cue", "response", "strength")
NOT_OF_COUNTS = (
    "vectors", "words", "labels", "neighbors", "sd", "similarity", "weights", "theta", "refine",
    "perplexity", "cue", "response", "strength",
)  # fmt: skip


@click.command(cls=Command)
@atlas_argument
@click.argument("new", type=InputFile(), metavar="NEW")
@click.option(
    "-o",
    "--output",
    type=OutputFile(),
    required=True,
    metavar="OUT.atlas",
    help="May be ATLAS itself.",
)
@click.option(
    "--vectors",
    type=InputFile(),
    help="Vectors of the objects of ATLAS, where it keeps none.",
)
@click.option("--words", type=InputFile(), help="Insert these words of NEW alone, one a line.")
@click.option("--format", metavar="NAME", help="How to read NEW, if not by its suffix.")
@click.option("--labels", type=InputFile(), help="Labels of an array in NEW, one a line.")
@click.option(
    "--neighbors",
    type=neighborhood,
    default="25",
    show_default=True,
    metavar="K|local",
    help="Place by so many neighbours, or by those that stand out.",
)
@click.option(
    "--sd",
    type=Number(),
    default="2",
    show_default=True,
    metavar="X",
    help="With local: deviations above the mean.",
)
@click.option(
    "--similarity",
    metavar="NAME",
    help="Of vectors: cosine, or a distance such as euclidean.  [default: cosine; the metric of "
    "ATLAS where one of its vectors is zero]",
)
@click.option(
    "--weights",
    type=click.Choice(["power", "exponential"]),
    default="power",
    show_default=True,
    help="How weight falls with similarity.",
)
@click.option(
    "--theta",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.1,
    show_default=True,
    metavar="X",
    help="Weight of a neighbour of mean similarity; the best weighs 1.",
)
@click.option(
    "--refine/--no-refine",
    default=True,
    show_default=True,
    help="Then move each where the model wants it.",
)
@click.option(
    "--perplexity",
    type=perplexities,
    metavar="X[,X...]",
    help="Neighbours that refining looks at.  [default: that of ATLAS]",
)
@click.option("--cue", metavar="COLUMN", help="Of a list of strengths, that of the new objects.")
@click.option("--response", metavar="COLUMN", help="That of the objects of ATLAS.")
@click.option("--strength", metavar="COLUMN", help="That of the strengths.")
@click.option("--rows", metavar="COLUMN", help="Of a list of counts, that of its rows.")
@count_column_options
@jobs_option
@quiet_option
@json_option
@click.pass_context
def insert(
    ctx: click.Context, atlas: Path, new: Path, output: Path, as_json: bool, **options: Any
) -> None:
    """Place the objects of NEW in ATLAS, whose own objects stay where they are.

    NEW holds vectors, of new objects alone or of those of ATLAS too; or a list of strengths, with
    the columns cue (a new object), response (one of ATLAS) and strength, or others that are named
    with --cue, --response and --strength. For an atlas of two kinds of object it holds counts,
    whose new rows are placed among the columns that ATLAS has.

    \b
    Examples:  manymaps insert nouns.atlas new.vec -o more.atlas
               manymaps insert nouns.atlas glove.txt -o more.atlas --words new-nouns.txt
               manymaps insert norms.atlas answers.csv -o more.atlas --neighbors local
               manymaps insert posts.atlas new-counts.npz -o more.atlas
    """
    others = {f"--{name}": options[name] for name in ("vectors", "words", "labels")}
    refuse_overwriting({"-o": output}, {"NEW": new, **others})
    refuse_to_replace("-o", output)
    from manymaps.atlas.atlas import load_atlas

    loaded = load_atlas(atlas)
    if loaded.kinds is not None:
        refuse_given(ctx, NOT_OF_COUNTS, "an atlas of two kinds of object")
        grown, n_inserted, dissimilar = _insert_counts(loaded, new, options)
    else:
        refuse_given(ctx, ("rows", "columns", "count"), "an atlas of one kind of object")
        grown, n_inserted, dissimilar = _insert_objects(loaded, atlas, new, output, options)
    # An atlas that was written without vectors is not to grow by those it was compared with.
    grown.save(output, vectors=loaded.vectors is not None)
    seconds = elapsed()
    record = {
        "inserted": n_inserted,
        "dissimilar": dissimilar,
        "n_objects": grown.n_objects,
        "seconds": seconds,
        "output": str(output),
    }
    text = f"{output}: {n_inserted:,} new among {grown.n_objects:,} objects in {seconds:.1f} s"
    tell(lambda: record, lambda: text, as_json=as_json, summary=True)


def _insert_counts(
    atlas: Atlas, new: Path, options: dict[str, Any]
) -> tuple[Atlas, int, list[str]]:
    """New rows by their counts of known columns; those without any are left out and named."""
    from manymaps.cli.reading import read_count_table
    from manymaps.compute.threads import threads
    from manymaps.cooccurrence.insertion import insert_rows
    from manymaps.labels import plural
    from manymaps.progress import work

    counts = read_count_table(new, options)
    for line in counts.report.notes:
        note(line)
    with work("placing the new objects"), threads(options["jobs"]):
        found = insert_rows(atlas, counts)
    if found.n_known:
        kind = plural((atlas.kinds or ("row",))[0], found.n_known)
        note(f"{kind} of {new} already in the atlas, not inserted again")
    return found.atlas, len(found.labels), list(found.dissimilar)


def _insert_objects(
    atlas: Atlas, file: Path, new: Path, output: Path, options: dict[str, Any]
) -> tuple[Atlas, int, list[str]]:
    """New objects by vectors or strengths; those that resemble no known one are named."""
    from manymaps.cli.reading import holds_vectors

    reading = {name: options[name] for name in ("format", "words", *COLUMNS_OF_PAIRS)}
    by_vectors = holds_vectors(new, reading)
    found = (_insert_vectors if by_vectors else _insert_table)(atlas, new, options)
    if atlas.vectors is not None and found.atlas.vectors is None:
        reason = (
            f"those of --vectors are not those of {file}"
            if by_vectors
            else "those of the new objects are unknown"
        )
        note(f"{output} keeps no vectors, for {reason}")
    dissimilar = [
        label for label, alone in zip(found.labels, found.dissimilar, strict=True) if alone
    ]
    return found.atlas, len(found.labels), dissimilar


def _insert_vectors(atlas: Atlas, new: Path, options: dict[str, Any]) -> Insertion:
    """New objects by their vectors, compared with those of the atlas's objects."""
    from manymaps.cli.reading import vectors_of_atlas
    from manymaps.errors import DataError
    from manymaps.labels import first_of

    references: Any = None
    if options["vectors"] is not None:
        references = vectors_of_atlas(atlas, options["vectors"]).values
    found = _read_new(atlas, new, options, references is None and atlas.vectors is None)
    if references is None and atlas.vectors is None:
        lacking = [label for label in atlas.labels if label not in found.positions]
        if lacking:
            raise DataError(
                f"the atlas keeps no vectors, and {new} lacks those of {len(lacking):,} of its "
                f"{atlas.n_objects:,} objects, {first_of(lacking)} among them; "
                "give them all with --vectors FILE"
            )
        references = found.subset(atlas.labels).values
    known = set(atlas.labels)
    labels = [label for label in found.labels if label not in known]
    _note_known(new, len(found) - len(labels), len(labels))
    return _placed(atlas, found.subset(labels), options, vectors=references)


def _read_new(atlas: Atlas, new: Path, options: dict[str, Any], with_known: bool) -> Vectors:
    """The vectors of NEW: all, or those of the words asked for and, on demand, the atlas's."""
    from manymaps.io.matrices import read_labels
    from manymaps.io.vectors import read_vectors
    from manymaps.progress import work

    words = options["words"]
    if words is not None:
        words = read_labels(words)
        if with_known:
            words = [*words, *atlas.labels]
    with work(f"reading {new}"):
        found = read_vectors(new, format=options["format"], labels=options["labels"], words=words)
    for line in found.report.notes:
        note(line)
    return found


def _insert_table(atlas: Atlas, new: Path, options: dict[str, Any]) -> Insertion:
    """New objects by their strengths to objects of the atlas."""
    import numpy as np

    from manymaps.cli.reading import reasoned
    from manymaps.io.associations import read_associations
    from manymaps.maps.new_objects import similarity_table
    from manymaps.progress import work

    chosen = {name: options[name] for name in ("format", "labels", *COLUMNS_OF_PAIRS)}
    with work(f"reading {new}"), reasoned(new, options):
        data = read_associations(new, **chosen, responses="keep", rows="keep")
    for line in data.report.notes:
        note(line)
    pairs = data.strengths.tocoo()
    known = set(atlas.labels)
    cues = [data.labels[i] for i in pairs.row]
    fresh = np.array([cue not in known for cue in cues], bool)
    _note_known(new, len(set(cues) & known), len(set(cues) - known))
    labels, table = similarity_table(
        [cue for cue, is_new in zip(cues, fresh, strict=True) if is_new],
        [data.labels[j] for j in pairs.col[fresh]],
        pairs.data[fresh],
        atlas,
    )
    return _placed(atlas, table, {**options, "similarity": "precomputed"}, labels=labels)


def _note_known(new: Path, n_known: int, n_new: int) -> None:
    """Say how many objects are in the atlas already."""
    from manymaps.errors import DataError

    if n_new == 0:
        raise DataError(
            f"all {n_known:,} objects of {new} are in the atlas; there is none to insert"
        )
    if n_known:
        note(f"{n_known:,} objects of {new} are in the atlas and are not inserted again")


def _placed(atlas: Atlas, new: Any, options: dict[str, Any], **given: Any) -> Insertion:
    """The insertion, with the options of the command."""
    from manymaps.compute.threads import threads
    from manymaps.maps.insertion import Refinement
    from manymaps.maps.insertion import insert as place
    from manymaps.maps.neighbor_weights import ExponentialWeights, PowerWeights
    from manymaps.progress import work

    curve = PowerWeights if options["weights"] == "power" else ExponentialWeights
    refinement = Refinement(perplexity=options["perplexity"])
    with work("placing the new objects"), threads(options["jobs"]):
        return place(
            atlas,
            new,
            n_neighbors=options["neighbors"],
            sd=options["sd"],
            similarity=options["similarity"],
            weights=curve(theta=options["theta"]),
            refine=refinement if options["refine"] else False,
            **given,
        )
