"""What the commands read: which kind of data a file holds, and how it goes with an atlas.

Rows and columns of counts are matched with those of an atlas by label, each kind on its own side,
for the same label may stand in both.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, Final, TypeAlias, final

import numpy as np
from scipy import sparse

from manymaps.affinity.affinities import (
    Affinity,
    Data,
)
from manymaps.affinity.distances import Metric
from manymaps.affinity.neighbors import DEFAULT_SEARCH, NeighborSearch
from manymaps.atlas.atlas import Atlas
from manymaps.checks import check_choice
from manymaps.cli.contract import note
from manymaps.cli.options import OF_TRIALS, READING, ROW_SUMS
from manymaps.cooccurrence.matching import labels_of
from manymaps.data.associations import Associations
from manymaps.data.counts import Counts
from manymaps.data.frames import join_columns, label_column
from manymaps.data.trials import Trials
from manymaps.data.triplets import Triplets
from manymaps.data.vectors import Vectors
from manymaps.errors import DataError, ParameterError
from manymaps.io.counts import read_counts
from manymaps.io.kinds import looks_like_counts, looks_like_vectors
from manymaps.io.metadata import read_columns
from manymaps.io.trial_columns import TrialNames
from manymaps.io.trials import holds_trials, read_trials
from manymaps.io.triplets import looks_like_triplets, read_triplets
from manymaps.io.vectors import read_vectors
from manymaps.labels import UnknownLabel, first_of, fold, plural
from manymaps.progress import work

__all__ = [
    "OF_PAIRS",
    "PairData",
    "WatchedAffinity",
    "aligned",
    "counted",
    "holds_counts",
    "holds_triplets",
    "holds_vectors",
    "kind_of_word",
    "read_count_table",
    "read_data",
    "read_trials_or_none",
    "read_triplet_file",
    "reasoned",
    "vectors_of_atlas",
    "with_metadata",
]

_TRIALS = ("participant", "where", "balance")
OF_PAIRS = ("cue", "response", "strength", "labels", "words", "metric", *_TRIALS)

PairData: TypeAlias = Associations | Vectors

ARRAYS: Final = (".npy", ".npz")


def holds_vectors(file: Path, reading: Mapping[str, Any]) -> bool:
    """Whether a file is to be read as vectors (or as distances) rather than as associations.

    Parameters
    ----------
    file : path
    reading : mapping
        The options of the command. Names of columns and the formats of associations mean
        associations; `metric="precomputed"` means distances; another metric makes vectors of a
        square array. Else the content decides.

    Raises
    ------
    ParameterError
        For a metric or a list of words beside associations.
    """
    metric, words, format = (reading.get(name) for name in ("metric", "words", "format"))
    of_pairs = ("cue", "response", "strength", *_TRIALS)
    pairs = any(reading.get(name) is not None for name in of_pairs)
    pairs = pairs or format in ("edges", "matrix", "mtx", "trials")
    if not pairs and (metric == "precomputed" or looks_like_vectors(file, format)):
        return True
    named = "--metric" if metric is not None else "--words" if words is not None else None
    if named is None:
        return False
    if not pairs and file.suffix.lower() in ARRAYS:
        return True
    raise ParameterError(
        f"{named} applies to vectors, and {file} reads as associations; --format NAME reads it "
        "otherwise"
    )


def holds_triplets(file: Path, reading: Mapping[str, Any]) -> bool:
    """Whether a file is to be read as triplets: by the format, else where its content is sure."""
    format = reading.get("format")
    others = ("cue", "response", "strength", "metric", "words", "rows", "columns", "count")
    if format is None and any(reading.get(name) is not None for name in others):
        return False
    return looks_like_triplets(file, format)


def read_triplet_file(file: Path, reading: Mapping[str, Any]) -> Triplets:
    """The triplets of a file; where nobody said so, that it was taken for such."""
    format = reading.get("format")
    with work(f"reading {file}"):
        triplets = read_triplets(file, labels=reading.get("labels"), format=format)
    if format is None:
        note(
            f"{file} was read as triplets, the odd one last (--format triplets:closer reads the "
            "first as closer to the second than to the last; other formats read it otherwise)"
        )
    return triplets


def read_data(
    file: Path, reading: Mapping[str, Any], *, among: Sequence[str] | None = None
) -> PairData:
    """The vectors or associations of a file; see `holds_vectors`. Triplets become associations.

    Of vectors (but not of distances) only those `among` some labels are read, where they are given.

    Raises
    ------
    ParameterError
        For `rows` that is no way to treat rows but a column, as of counts.
    """
    from manymaps import read_associations

    rows = _row_sums(reading)
    if holds_triplets(file, reading):
        return read_triplet_file(file, reading).associations(random_state=reading.get("seed") or 0)
    trials = read_trials_or_none(file, reading)
    if trials is not None:
        return counted(trials, reading)
    with work(f"reading {file}"), reasoned(file, reading):
        if not holds_vectors(file, reading):
            chosen = {name: reading[name] for name in READING}
            return read_associations(file, **{**chosen, "rows": rows})
        words = reading.get("words")
        if among is not None and reading.get("metric") != "precomputed":
            words = among
        return read_vectors(
            file,
            format=reading.get("format"),
            labels=reading.get("labels"),
            words=words,
        )


def read_trials_or_none(file: Path, reading: Mapping[str, Any]) -> Trials | None:
    """The trials of a file, as the options want them; None where it holds something else.

    Parameters
    ----------
    file : path
    reading : mapping
        The options of the command: columns, `format`, and those of `OF_TRIALS`.

    Raises
    ------
    DataError, ParameterError
        As `manymaps.read_trials`.
    """
    names = TrialNames(*(reading.get(name) for name in ("cue", "response", "participant")))
    others = ("strength", "labels", "metric", "words")
    if any(reading.get(name) is not None for name in others):
        return None
    if not holds_trials(file, names, reading.get("format")):
        return None
    chosen: dict[str, Any] = {
        name: reading[name]
        for name in ("cue", "response", "format", *OF_TRIALS)
        if reading.get(name) is not None
    }
    with work(f"reading {file}"), reasoned(file, reading):
        return read_trials(file, **chosen)


def counted(trials: Trials, reading: Mapping[str, Any]) -> Associations:
    """The associations of trials by the options `responses` and `rows`."""
    return trials.associations(reading.get("responses") or "drop", rows=_row_sums(reading))


def _row_sums(reading: Mapping[str, Any]) -> str:
    """What becomes of rows that do not sum to 1."""
    rows: str = reading.get("rows") or ROW_SUMS[0]
    check_choice("rows", rows, ROW_SUMS, why="; a column is named of counts alone")
    return rows


@contextmanager
def reasoned(file: Path, reading: Mapping[str, Any]) -> Iterator[None]:
    """Where a file cannot be read as what an option says it is, the option is named."""
    meanings = {
        "labels": "a matrix or an array",
        "participant": "trials",
        **dict.fromkeys(("cue", "response", "strength"), "a list of associations"),
    }
    try:
        yield
    except DataError as error:
        given = next((name for name in meanings if reading.get(name) is not None), None)
        # What names a column or counts labels says enough by itself.
        if given is None or re.search("its columns are| labels for ", str(error)):
            raise
        raise DataError(
            f"{error} (--{given} is for {meanings[given]}, and so {file} was read as one)"
        ) from error


def vectors_of_atlas(atlas: Atlas, file: Path) -> Vectors:
    """The vectors of an atlas's objects from a file, in the atlas's order.

    Raises
    ------
    DataError
        Where the file lacks one of the objects.
    """
    with work(f"reading {file}"):
        return read_vectors(file, words=atlas.labels).subset(atlas.labels)


def aligned(atlas: Atlas, data: PairData) -> Atlas:
    """An atlas with the objects of the data alone, in their order, to start a fit from.

    Raises
    ------
    DataError
        Where the atlas lacks one of them, or holds two kinds of object.
    """
    if atlas.kinds is not None:
        kinds = " and ".join(map(plural, dict.fromkeys(atlas.kinds)))
        raise DataError(
            f"the atlas to start from holds {kinds}; only a fit with --method code starts from one "
            "of two kinds"
        )
    position = {label: row for row, label in enumerate(atlas.labels)}
    lacking = [label for label in data.labels if label not in position]
    if lacking:
        raise DataError(
            f"the atlas to start from lacks {len(lacking):,} of {len(data.labels):,} objects, "
            f"{first_of(lacking)} among them"
        )
    order = [position[label] for label in data.labels]
    return replace(atlas, vectors=None).subset(order)


@final
class WatchedAffinity(Affinity):
    """A conditional affinity that says how many pairs it gave.

    An atlas records the one inside.
    """

    joint: ClassVar[bool] = False

    def __init__(self, inside: Affinity, name: str):
        self.inside = inside
        self.name = name
        self.n_pairs = 0

    def written(self) -> str:
        """The name of the one inside."""
        return self.name

    @property
    def perplexity(self) -> float | Sequence[float] | None:
        """That of the affinity inside, where it has one."""
        return getattr(self.inside, "perplexity", None)

    def similarities(
        self,
        data: Data,
        *,
        metric: Metric = "euclidean",
        search: NeighborSearch = DEFAULT_SEARCH,
        seed: int = 0,
    ) -> sparse.csr_array:
        """Those of the affinity inside."""
        rows = self.inside.similarities(data, metric=metric, search=search, seed=seed)
        self.n_pairs = int(rows.nnz)
        return rows


def holds_counts(file: Path, reading: Mapping[str, Any]) -> bool:
    """Whether a file is to be read as counts, by the options of the command, else its content."""
    rows = reading.get("rows")
    if reading.get("columns") or reading.get("count") or (rows and rows not in ROW_SUMS):
        return True
    if rows or any(reading.get(name) is not None for name in OF_PAIRS):
        return False
    return looks_like_counts(file, reading.get("format"))


def read_count_table(file: Path, reading: Mapping[str, Any]) -> Counts:
    """The counts of a file, by the options `format`, `rows`, `columns`, `count` and `max_words`."""
    chosen = {name: reading.get(name) for name in ("format", "rows", "columns", "count")}
    with work(f"reading {file}"):
        counts = read_counts(file, **chosen)
    most = reading.get("max_words")
    if most is None or most >= np.count_nonzero(counts.column_totals):
        return counts
    fewer = counts.most_frequent_columns(most)
    kept = fewer.n_counts / counts.n_counts
    note(
        f"the {most:,} most frequent of {plural(counts.kinds[1], counts.n_columns)} hold "
        f"{kept:.1%} of the counts; the others are left out"
    )
    return fewer


def with_metadata(counts: Counts, path: Path) -> Counts:
    """Counts with the columns of a table joined by label, to rows and columns alike.

    A column "kind" in the table that holds nothing but the two kinds says which side each of its
    rows is of.

    Raises
    ------
    DataError
        Where none of its labels is that of a row or column, or one stands twice.
    """
    table = read_columns(path)
    on = label_column(table, None)
    labels = [str(label) for label in table[on]]
    kind_of = [str(kind) for kind in table.get("kind", ())] if on != "kind" else []
    by_kind = bool(kind_of) and set(kind_of) <= set(counts.kinds)
    joined, matched = [], []
    for kind, ours in zip(counts.kinds, labels_of(counts), strict=True):
        mine = np.array([not by_kind or other == kind for other in kind_of or labels], bool)
        columns = table
        if by_kind:
            columns = {
                name: [value for value, here in zip(values, mine, strict=True) if here]
                for name, values in table.items()
                if name != "kind"
            }
        known = {fold(label) for label in ours}
        matched.append(mine & np.array([fold(label) in known for label in labels], bool))
        joined.append(_joined(columns, kind, ours, path) if matched[-1].any() else {})
    _note_matches(counts, path, labels, matched)
    return replace(
        counts,
        row_metadata={**counts.row_metadata, **joined[0]},
        column_metadata={**counts.column_metadata, **joined[1]},
    )


def _joined(
    table: Mapping[str, Any], kind: str, labels: Sequence[str], path: Path
) -> dict[str, np.ndarray]:
    """The columns of a table in the order of the objects of a kind."""
    try:
        columns, _, n_without = join_columns(labels, table)
    except DataError as error:
        raise DataError(f"{path}: {error}") from error
    if n_without:
        note(f"{path}: {n_without:,} of {plural(kind, len(labels))} have no row")
    return columns


def _note_matches(
    counts: Counts, path: Path, labels: Sequence[str], matched: Sequence[np.ndarray]
) -> None:
    """Say which rows of a table of metadata match nothing, or both a row and a column."""
    rows, columns = matched
    first, second = counts.kinds
    spare = [labels[i] for i in np.flatnonzero(~(rows | columns)).tolist()]
    if len(spare) == len(labels):
        raise DataError(
            f"{path}: no label is that of a {first} or {second}; it begins with {first_of(labels)}"
        )
    if spare:
        note(f"warning: {len(spare):,} rows of {path} match no object: {first_of(spare)}")
    both = [labels[i] for i in np.flatnonzero(rows & columns).tolist()]
    if both:
        note(
            f"{path}: {len(both):,} labels are those of a {first} and of a {second}, which get the "
            f"same values: {first_of(both)}; a column 'kind' in the table tells them apart"
        )


def kind_of_word(atlas: Atlas, word: str, kind: str | None, neighbor_kind: str | None) -> str:
    """The kind of the object that a word means; says so where there is one of either kind.

    Raises
    ------
    UnknownLabel
        For an unknown word.
    ParameterError
        For an unknown kind.
    """
    kinds = tuple(dict.fromkeys(atlas.kinds or ()))
    for option, value in (("kind", kind), ("neighbor-kind", neighbor_kind)):
        if value is not None and value not in kinds:
            there = f"is not one of {', '.join(kinds)}" if kinds else "is of atlases of two kinds"
            raise ParameterError(f"--{option} {value} {there}")
    i = atlas.index(word, kind=kind)
    taken = (atlas.kinds or ())[i]
    if kind is None:
        other = next(k for k in kinds if k != taken)
        try:
            also = atlas.labels[atlas.index(word, kind=other)]
        except UnknownLabel:
            return taken
        note(
            f"{atlas.labels[i]!r} is taken as a {taken}; there is also the {other} {also!r} "
            f"(--kind {other})"
        )
    return taken
