"""The command `insert`, which adds new objects to a fitted atlas."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import manymaps as mm
from manymaps.cli.contract import elapsed, note, note_case, tell
from manymaps.cli.options import atlas_argument, jobs_option, refuse_given
from manymaps.cli.record import argument, command, option, output_option
from manymaps.cli.types import InputFile, OutputFile, positive
from manymaps.errors import DataError
from manymaps.labels import plural
from manymaps.progress import work

NOT_OF_COUNTS = ("words", "neighbors", "similarity")


def neighbor_count(value: str) -> int | str:
    """Parse the number of neighbours, or the word local."""
    return value if value == "local" else int(positive(value))


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
    words: Path | None = option(InputFile(), "Insert only the words in this file, one per line.")
    neighbors: int | Literal["local"] = option(
        neighbor_count,
        "Position new objects by their K nearest neighbours, or by those of above-average "
        "similarity (local).",
        default=25, metavar="K|local", sets="n_neighbors",
    )  # fmt: skip
    similarity: str = option(
        "NAME",
        "Similarity of vectors: cosine, or a distance such as euclidean.",
        default="cosine",
    )
    jobs: int | None = jobs_option()


@command(InsertOptions)
def insert(options: InsertOptions) -> None:
    """Insert the objects of NEW into the maps of ATLAS.

    The objects of ATLAS do not move.

    NEW contains vectors of new objects and, if ATLAS has no vectors, those of its objects. It can
    also be a list of strengths with the columns cue (a new object), response (one of ATLAS) and
    strength. For a bipartite atlas, NEW contains counts, and its new rows are positioned among the
    columns of ATLAS. Other files are read by
    `manymaps read NEW --responses keep --rows keep -o OUT.npz`.

    \b
    Examples:  manymaps insert nouns.atlas new.vec -o more.atlas
               manymaps insert nouns.atlas glove.txt -o more.atlas --words new-nouns.txt
               manymaps insert norms.atlas answers.csv -o more.atlas --neighbors local
               manymaps insert posts.atlas new-counts.npz -o more.atlas
    """
    from manymaps.compute.threads import threads

    atlas, output = mm.load_atlas(options.atlas), options.output
    if atlas.kinds is not None:
        refuse_given(NOT_OF_COUNTS, "a bipartite atlas")
    with threads(options.jobs):
        grown, n_inserted, dissimilar = (
            _insert_objects(atlas, options)
            if atlas.kinds is None
            else _insert_counts(atlas, options)
        )
    # If the atlas has no vectors, the vectors that were used for the comparison are not stored.
    grown.save(output, vectors=atlas.vectors is not None)
    if atlas.vectors is not None and grown.vectors is None:
        note(
            f"{output} contains no vectors, because those of the new objects differ or are unknown"
        )
    record = {
        "inserted": n_inserted,
        "dissimilar": dissimilar,
        "n_objects": grown.n_objects,
        "seconds": elapsed(),
        "output": str(output),
    }
    text = f"{output}: {n_inserted:,} new of {plural(grown.noun, grown.n_objects)}"
    tell(lambda: record, lambda: f"{text}, in {record['seconds']:.1f} s", summary=True)


def _insert_counts(atlas: mm.Atlas, options: InsertOptions) -> tuple[mm.Atlas, int, list[str]]:
    """Insert new rows by their counts in known columns, and list the rows without such counts."""
    from manymaps.cli.reading import opened

    counts = opened(options.new, "counts", takes=["counts"]).fitted
    note(*counts.report.notes)
    with work("placing the new objects"):
        insertion = mm.insert_rows(atlas, counts)
    if insertion.n_known:
        kind = plural((atlas.kinds or ("row",))[0], insertion.n_known)
        note(f"{kind} of {options.new} already in the atlas, not inserted again")
    return insertion.atlas, len(insertion.labels), list(insertion.dissimilar)


def _insert_objects(atlas: mm.Atlas, options: InsertOptions) -> tuple[mm.Atlas, int, list[str]]:
    """Insert new objects by vectors or strengths, and list objects that have no similar objects."""
    import numpy as np

    from manymaps.cli.reading import PAIRS, opened
    from manymaps.io.frames import read_labels
    from manymaps.maps.new_objects import similarity_table

    new, words = options.new, None
    labels: Sequence[str]
    # If the atlas has no vectors, NEW also contains those of its objects.
    in_new = atlas.vectors is None
    if options.words is not None:
        words = [*read_labels(options.words), *(atlas.labels if in_new else ())]
    kind = None if words is None else "vectors"
    data = opened(
        new, kind, takes=(*PAIRS, "vectors"), words=words, responses="keep", rows="keep"
    ).fitted
    note(*data.report.notes)
    known = {*atlas.labels, *note_case(new, data.labels, atlas.labels)}
    settings: dict[str, Any] = {"n_neighbors": options.neighbors}
    if isinstance(data, mm.Vectors):
        labels = [label for label in data.labels if label not in known]
        n_known = len(data) - len(labels)
        settings["similarity"] = options.similarity
        if in_new:
            settings["vectors"] = data.subset(atlas.labels).values
    else:
        pairs = data.strengths.tocoo()
        cues = [data.labels[i] for i in pairs.row]
        fresh = np.array([cue not in known for cue in cues], bool)
        n_known = len({*cues} & known)
        labels = [cue for cue in cues if cue not in known]
    if not labels:
        raise DataError(
            f"all {n_known:,} objects of {new} are already in the atlas; nothing to insert"
        )
    if n_known:
        note(f"{n_known:,} objects of {new} are already in the atlas and are not inserted again")
    if isinstance(data, mm.Vectors):
        objects: Any = data.subset(labels)
    else:
        responses = [data.labels[j] for j in pairs.col[fresh]]
        labels, objects = similarity_table(labels, responses, pairs.data[fresh], atlas)
        settings |= {"similarity": "precomputed", "labels": labels}
    with work("placing the new objects"):
        insertion = mm.insert(atlas, objects, **settings)
    judged = zip(insertion.labels, insertion.dissimilar, strict=True)
    dissimilar = [label for label, is_dissimilar in judged if is_dissimilar]
    return insertion.atlas, len(insertion.labels), dissimilar
