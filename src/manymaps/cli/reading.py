"""Data reading for the commands: detection of the kind of data, and matching with an atlas.

Rows and columns of counts are matched by label with the rows and columns of an atlas. Each kind is
matched separately, because a row and a column may have the same label.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final, NamedTuple, TypeAlias, final

import numpy as np
from scipy import sparse

from manymaps.affinity.affinities import Affinity, Data
from manymaps.affinity.distances import Metric
from manymaps.affinity.neighbors import DEFAULT_SEARCH, NeighborSearch
from manymaps.atlas.atlas import Atlas
from manymaps.checks import check_choice
from manymaps.cli.contract import BadData, note, note_case
from manymaps.cli.options import OF_PAIRS, OF_TRIALS, ROW_SUMS, Reading, refuse_given
from manymaps.cli.record import chosen
from manymaps.cooccurrence.matching import joined_metadata, labels_of, two_kinds
from manymaps.data.associations import Associations
from manymaps.data.counts import Counts
from manymaps.data.frames import find_key, join_columns
from manymaps.data.judgements import Judgements
from manymaps.data.pair_rules import split_responses
from manymaps.data.trials import Trials
from manymaps.data.vectors import Vectors
from manymaps.errors import DataError, ParameterError
from manymaps.io.associations import associations_from, read_associations
from manymaps.io.columns import NAMES, find, usual_column
from manymaps.io.counts import counts_from, read_counts
from manymaps.io.kinds import kind_of, opened
from manymaps.io.matrices import read_labels
from manymaps.io.metadata import read_columns
from manymaps.io.trial_columns import TrialNames
from manymaps.io.trials import has_trials, read_trials
from manymaps.io.vectors import read_vectors
from manymaps.labels import UnknownLabelError, first_of, fold, plural
from manymaps.progress import work

if TYPE_CHECKING:
    import pandas as pd

    from manymaps.data.clean import CleanData

PairData: TypeAlias = Associations | Vectors

ARRAYS: Final = (".npy", ".npz")


class Loaded(NamedTuple):
    """Data of a file, and the settings with which trials are counted.

    Attributes
    ----------
    data : Associations, Trials, Judgements, Vectors or Counts
        The data.
    settings : dict
        The arguments of `Trials.associations`.
    """

    data: CleanData
    settings: dict[str, Any]

    @property
    def fitted(self) -> Associations | Vectors | Counts:
        """The data that a fit uses: trials are counted, and judgements averaged."""
        if isinstance(self.data, Trials):
            return self.data.associations(**self.settings)
        if isinstance(self.data, Judgements):
            rows = self.settings.get("rows", ROW_SUMS[0])
            mean = associations_from(self.data.average, labels=self.data.labels, rows=rows)
            return replace(mean, judged=True)
        return self.data


def load(
    file: Path,
    *,
    counts: bool = False,
    metric: str | None = None,
    words: Path | None = None,
    among: Sequence[str] | None = None,
) -> Loaded:
    """Read clean data, or a raw file that needs no option.

    Parameters
    ----------
    file : path
        The file.
    counts : bool
        Whether a raw file contains counts. By default, its names and its content decide.
    metric, words, among
        As in `load_raw`. They apply to raw files only.
    """
    from manymaps.data.clean import is_clean, read_clean

    if is_clean(file):
        with work(f"reading {file}"):
            return Loaded(*read_clean(file))
    reading = Reading(kind="counts") if counts else Reading()
    return load_raw(file, reading, metric=metric, words=words, among=among)


def load_raw(
    file: Path,
    reading: Reading,
    *,
    metric: str | None = None,
    words: Path | None = None,
    among: Sequence[str] | None = None,
) -> Loaded:
    """Read the data in a raw file with some options.

    Parameters
    ----------
    file : path
        The file.
    reading : Reading
        The options.
    metric : str, optional
        Distance between vectors. "precomputed" implies distances.
    words : path, optional
        A file with the words to read (vectors only).
    among : sequence of str, optional
        Labels to which vectors (but not distances) are restricted, as an alternative to `words`.
    """
    kind = _kind(file, reading, metric, words)
    if kind == "counts":
        refuse_given(
            ("cue", "response", "labels", "responses", *OF_TRIALS), f"the counts of {file}"
        )
        return Loaded(_read_counts(file, reading), {})
    refuse_given(("kinds",), f"{file}, which does not contain counts")
    # The same option names the column of row labels in a list of counts.
    rows = reading.rows or ROW_SUMS[0]
    check_choice("rows", rows, ROW_SUMS, why="; only lists of counts have a column of rows")
    with work(f"reading {file}"), reasoned(file, reading):
        if kind == "trials":
            trials = read_trials(file, **chosen(reading, "cue", "response", *OF_TRIALS))
            return Loaded(trials, {"responses": reading.responses, "rows": rows})
        if kind == "vectors":
            some = among if among is not None and metric != "precomputed" else words
            return Loaded(read_vectors(file, labels=reading.labels, words=some), {})
        settings = chosen(reading, *OF_PAIRS, "responses", *OF_TRIALS)
        return Loaded(read_associations(file, rows=rows, **settings), {})


def _kind(file: Path, reading: Reading, metric: str | None, words: Path | None) -> str:
    """Return the kind of data in a file: as named, as the options imply, or as recognized."""
    if reading.kind is not None:
        return reading.kind
    if metric == "precomputed":
        return "vectors"
    if reading.columns or (reading.rows and reading.rows not in ROW_SUMS):
        return "counts"
    # An array can hold vectors or similarities, which only an option tells apart.
    of_vectors = "--metric" if metric is not None else "--words" if words is not None else None
    if of_vectors is not None and file.suffix.lower() in ARRAYS:
        return "vectors"
    columns = (reading.cue, reading.response, reading.participant, reading.where)
    named = any(name is not None for name in (*columns, reading.strength))
    # Trials have neither strengths nor labels of their own.
    if of_vectors is None and reading.strength is None and reading.labels is None:
        names = TrialNames(reading.cue, reading.response, reading.participant)
        table = opened(file)
        if not isinstance(table, Path) and (names.of_trials or has_trials(table, names)):
            return "trials"
    kind = "associations" if named else str(kind_of(file))
    # Labels and sums of rows are settings of tables of associations, or of vectors.
    if kind == "counts" and (reading.rows or reading.labels):
        kind = "associations"
    if of_vectors is not None and kind != "vectors":
        raise ParameterError(
            f"{of_vectors} applies to vectors, and {file} reads as {kind}; use manymaps read "
            f"{file} --kind vectors -o OUT.npz to read it differently"
        )
    return "associations" if kind == "ratings" else kind


def load_new(file: Path, words: Path | None, also: Sequence[str] = ()) -> Vectors | Associations:
    """Read new objects: vectors, or associations with all responses and their own strengths.

    Parameters
    ----------
    file : path
        The file.
    words : path, optional
        The words to read from a raw file of vectors.
    also : sequence of str
        Further words to read.
    """
    from manymaps.data.clean import is_clean

    if not is_clean(file):
        if _kind(file, Reading(), None, words) != "vectors":
            with work(f"reading {file}"):
                return read_associations(file, responses="keep", rows="keep")
        among = None if words is None else [*read_labels(words), *also]
        with work(f"reading {file}"):
            return read_vectors(file, words=among)
    data = load(file).fitted
    if isinstance(data, Counts):
        raise BadData(f"{file} contains counts; expected vectors or associations of new objects")
    return data


def load_similarities(file: Path, absent: str) -> pd.DataFrame:
    """Read similarities of a square table or a list, or the average of several judges."""
    import pandas as pd

    from manymaps.data.clean import is_clean
    from manymaps.io.frames import described
    from manymaps.io.similarities import read_similarities

    if not is_clean(file):
        with work(f"reading {file}"):
            return read_similarities(file, absent=absent)
    data = load(file).data
    if isinstance(data, Judgements):
        frame = pd.DataFrame(data.average, data.labels, data.labels)
        return described(frame, str(file), n_absent=0)
    if not isinstance(data, Associations):
        raise BadData(f"{file} contains no similarities of objects; expected a square table")
    values = data.similarities.toarray()
    if data.missing is not None:
        values[data.missing.toarray()] = np.nan
    return described(pd.DataFrame(values, data.labels, data.labels), str(file), n_absent=0)


def load_pairs(file: Path, what: str = "associations") -> Associations:
    """Read associations; raise an error if the file contains vectors or counts."""
    data = load(file).fitted
    if not isinstance(data, Associations):
        found = "counts" if isinstance(data, Counts) else "vectors"
        raise BadData(
            f"{file} reads as {found}; expected {what} (use manymaps read {file} --kind "
            "associations -o OUT.npz)"
        )
    return data


def load_responses(file: Path) -> Loaded:
    """Read responses of participants: trials, or associations with all their responses.

    Responses that are never cues are kept. Norms are read as counts if a raw file has them, because
    strengths do not contain the number of responses.
    """
    from manymaps.data.clean import is_clean

    if is_clean(file):
        loaded = load(file)
        first, _ = split_responses(loaded.settings.get("responses", "drop"))
        rule = "keep" if first is None else f"R{'123456789'[:first]},keep"
        settings = loaded.settings | {"responses": rule}
        return Loaded(loaded.data, settings if isinstance(loaded.data, Trials) else {})
    kind = _kind(file, Reading(), None, None)
    table, counts = opened(file), None
    if kind == "associations" and not isinstance(table, Path):
        names = list(map(str, table.columns))
        at = find(table, "count")
        counts = None if at is None or usual_column(names, NAMES["strength"]) is None else names[at]
    return load_raw(file, Reading(kind=kind, responses="keep", strength=counts))


@contextmanager
def reasoned(file: Path, reading: Reading) -> Iterator[None]:
    """If reading fails, name the option that determined the format."""
    meanings = {"labels": "a matrix or an array", "participant": "trials"}
    meanings |= dict.fromkeys(("cue", "response", "strength"), "a list of associations")
    try:
        yield
    except DataError as error:
        for name, meaning in meanings.items():
            if getattr(reading, name) is not None and f"--{name}" not in str(error):
                option = f"--set {name}" if name == "participant" else f"--{name}"
                reason = f"because of {option}, {file} was read as {meaning}"
                raise DataError(f"{error} ({reason})") from error
        raise


def vectors_of_atlas(atlas: Atlas, file: Path) -> Vectors:
    """Read the vectors of the objects of an atlas from a file, in the order of the atlas.

    Raises
    ------
    DataError
        If the file does not contain one of the objects.
    """
    with work(f"reading {file}"):
        return read_vectors(file, words=atlas.labels).subset(atlas.labels)


def aligned(atlas: Atlas, data: PairData) -> Atlas:
    """Select the objects of the data from an atlas, in the order of the data, to start a fit.

    Raises
    ------
    DataError
        If the atlas does not contain one of the objects, or is bipartite.
    """
    if atlas.kinds is not None:
        kinds = " and ".join(map(plural, dict.fromkeys(atlas.kinds)))
        raise DataError(
            f"the initial atlas is bipartite ({kinds}); use --method code, or another atlas for "
            "--init"
        )
    position = {label: row for row, label in enumerate(atlas.labels)}
    variants = note_case("the initial atlas", atlas.labels, data.labels)
    position |= {variant: position[label] for label, variant in variants.items()}
    lacking = [label for label in data.labels if label not in position]
    if lacking:
        raise DataError(
            f"the initial atlas lacks {len(lacking):,} of {len(data.labels):,} objects "
            f"({first_of(lacking)}); use an atlas that contains all of them"
        )
    order = [position[label] for label in data.labels]
    return replace(replace(atlas, vectors=None).subset(order), labels=data.labels)


@final
class WatchedAffinity(Affinity):
    """A conditional affinity that records its number of pairs.

    An atlas stores the wrapped affinity.
    """

    joint: ClassVar[bool] = False

    def __init__(self, inside: Affinity, name: str):
        self.inside = inside
        self.name = name
        self.n_pairs = 0

    def written(self) -> str:
        """Return the name of the wrapped affinity."""
        return self.name

    @property
    def perplexity(self) -> float | Sequence[float] | None:
        """The perplexity of the wrapped affinity; None if it has no perplexity."""
        return getattr(self.inside, "perplexity", None)

    def similarities(
        self,
        data: Data,
        *,
        metric: Metric = "euclidean",
        search: NeighborSearch = DEFAULT_SEARCH,
        seed: int = 0,
    ) -> sparse.csr_array:
        """Compute the similarities of the wrapped affinity."""
        rows = self.inside.similarities(data, metric=metric, search=search, seed=seed)
        self.n_pairs = int(rows.nnz)
        return rows


def _read_counts(file: Path, reading: Reading) -> Counts:
    """Read the counts in a file."""
    with work(f"reading {file}"):
        counts = read_counts(file, count=reading.strength, **chosen(reading, "rows", "columns"))
    kinds: Any = reading.kinds  # `Counts` checks that there are two
    return counts if kinds is None else counts_from(counts, kinds=kinds)


def with_columns(atlas: Atlas, path: Path, names: Sequence[str]) -> Atlas:
    """Join the columns of a table to an atlas by label, as `fit` does for each kind of object.

    If the table is an .h5ad file, the genes in `names` are also columns.

    Raises
    ------
    DataError
        If no label matches an object, or a label is repeated.
    """
    if atlas.kinds is None:
        columns = joined_columns(atlas.labels, path, read_columns(path, names), warn=True)
        return replace(atlas, metadata={**atlas.metadata, **columns})
    kinds = two_kinds(atlas)
    n = int(atlas.choices.is_row.sum())
    sizes = n, atlas.n_objects - n
    # The counts are empty, because only the labels are needed to join the table.
    bare = Counts(sparse.csr_array(sizes), atlas.labels[:n], atlas.labels[n:], kinds)
    columns = joined_metadata(with_metadata(bare, path, names))
    return replace(atlas, metadata={**atlas.metadata, **columns})


def with_metadata(counts: Counts, path: Path, names: Sequence[str] = ()) -> Counts:
    """Join the columns of a table to both rows and columns by label.

    If a column "kind" of the table contains only the two kinds, it determines whether each row of
    the table is joined to the rows or the columns.

    Raises
    ------
    DataError
        If no label of the table matches a row or column, or a label is repeated.
    """
    table = read_columns(path, names)
    all_labels = [label for ours in labels_of(counts) for label in ours]
    try:
        key = find_key(all_labels, table)
    except DataError as error:
        raise DataError(f"{path}: {error}") from error
    if key is None:
        raise DataError(f"{path} has no column of labels; add one with the name 'label'")
    labels, on = key[0], key[1] or "label"
    kind_of = list(map(str, table["kind"])) if "kind" in table and on != "kind" else []
    by_kind = bool(kind_of) and set(kind_of) <= set(counts.kinds)
    table = table.drop(columns=["kind"] if by_kind else []).assign(**{on: labels})
    joined, matched = [], []
    for kind, ours in zip(counts.kinds, labels_of(counts), strict=True):
        mine = np.array([not by_kind or other == kind for other in kind_of or labels], bool)
        known = {fold(label) for label in ours}
        matched.append(mine & np.array([fold(label) in known for label in labels], bool))
        here = matched[-1].any()
        joined.append(joined_columns(ours, path, table[mine], kind, on=on) if here else {})
    _note_matches(counts, path, labels, matched)
    return replace(
        counts,
        row_metadata={**counts.row_metadata, **joined[0]},
        column_metadata={**counts.column_metadata, **joined[1]},
    )


def joined_columns(
    labels: Sequence[str],
    path: Path,
    table: pd.DataFrame,
    kind: str = "object",
    *,
    on: str | None = None,
    warn: bool = False,
) -> dict[str, np.ndarray]:
    """Return the columns of a table in the order of the objects of one kind.

    A note reports the number of objects without a row. If `warn` is true, a second note reports the
    rows without an object.
    """
    try:
        columns, unmatched, without = join_columns(labels, table, on)
    except DataError as error:
        raise DataError(f"{path}: {error}") from error
    if unmatched and warn:
        some = first_of(unmatched)
        note(f"warning: {len(unmatched):,} rows of {path} match no object: {some}")
    if without:
        note(f"{path}: {len(without):,} of {plural(kind, len(labels))} have no row")
    return columns


def _note_matches(
    counts: Counts, path: Path, labels: Sequence[str], matched: Sequence[np.ndarray]
) -> None:
    """Report rows of metadata that match no object, or match both a row and a column."""
    rows, columns = matched
    first, second = counts.kinds
    spare = [labels[i] for i in np.flatnonzero(~(rows | columns)).tolist()]
    if len(spare) == len(labels):
        raise DataError(
            f"{path}: no label matches a {first} or {second}; it starts with {first_of(labels)}"
        )
    if spare:
        note(f"warning: {len(spare):,} rows of {path} match no object: {first_of(spare)}")
    both = [labels[i] for i in np.flatnonzero(rows & columns).tolist()]
    if both:
        note(
            f"{path}: {len(both):,} labels match both a {first} and a {second}, which get the "
            f"same values: {first_of(both)}; add a column 'kind' to distinguish them"
        )


def kind_of_word(atlas: Atlas, word: str, kind: str | None, neighbor_kind: str | None) -> str:
    """Return the kind of the object with this label; print a note if both kinds have the label.

    Raises
    ------
    UnknownLabelError
        If the word is unknown.
    ParameterError
        If a kind is unknown.
    """
    kinds = tuple(dict.fromkeys(atlas.kinds or ()))
    for option, value in (("kind", kind), ("neighbor-kind", neighbor_kind)):
        if value is not None and value not in kinds:
            known = f"is not one of {', '.join(kinds)}"
            there = known if kinds else "applies to bipartite atlases only"
            raise ParameterError(f"--{option} {value} {there}")
    i = atlas.index(word, kind=kind)
    taken = (atlas.kinds or ())[i]
    if kind is None:
        (other,) = set(kinds) - {taken}
        with suppress(UnknownLabelError):
            also = atlas.labels[atlas.index(word, kind=other)]
            note(
                f"{atlas.labels[i]!r} is taken as a {taken}; there is also the {other} {also!r} "
                f"(use --kind {other})"
            )
    return taken
