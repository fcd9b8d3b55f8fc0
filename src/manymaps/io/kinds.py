"""Kind of data in a file, which its suffix and the names of its columns determine.

    a cue and answers in their order, or one answer and a participant               trials
    two words and a rating under a name that only ratings have                      ratings
    two columns of words, or usual names of a cue and a response                    associations
    as many rows as columns, with the same labels                                   associations
    columns of observations and features, or a first column of observations         counts
    a first column "word", "label", ... or without a name, and numbers              vectors

`read` opens a file once, as a frame or by the reader of its format.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from scipy.io import mminfo

from manymaps.archive.arrays import open_arrays, read_npy
from manymaps.archive.door import reading
from manymaps.data.clean import read_saved_counts
from manymaps.errors import DataError
from manymaps.io.associations import associations_from, read_associations
from manymaps.io.columns import (
    LABELS,
    NAMES,
    folded,
    has_lists,
    has_pair_header,
    is_long_header,
    is_text,
    known_kind,
    numbered_observations,
    numeric_columns,
    usual_column,
)
from manymaps.io.counts import counts_from, read_counts
from manymaps.io.files import CONTAINERS, SPARSE_PARTS, suffix_of, unpacked
from manymaps.io.frames import TABLES, read_frame
from manymaps.io.matrices import is_matrix, square_part
from manymaps.io.ratings import ratings_from, read_ratings
from manymaps.io.trial_columns import has_trials
from manymaps.io.trials import read_trials, trials_from
from manymaps.io.vectors import read_vectors, vectors_from
from manymaps.io.word2vec import word_format
from manymaps.labels import listed

if TYPE_CHECKING:
    import pandas as pd

Kind: TypeAlias = Literal["associations", "trials", "counts", "vectors", "ratings"]

MAKERS: dict[str, Callable[..., Any]] = {
    "associations": associations_from, "trials": trials_from, "counts": counts_from,
    "vectors": vectors_from, "ratings": ratings_from,
}  # fmt: skip
READERS: dict[str, Callable[..., Any]] = {
    "associations": read_associations, "trials": read_trials, "counts": read_counts,
    "vectors": read_vectors, "ratings": read_ratings,
}  # fmt: skip


def read(
    data: pd.DataFrame | str | os.PathLike[str], kind: str | None = None, **options: Any
) -> Any:
    """Read the data in a file.

    Parameters
    ----------
    data : DataFrame or path
        File, or the result of `opened`.
    kind : {"associations", "trials", "counts", "vectors", "ratings"}, optional
        Kind of data. By default, the suffix of the file and the names of its columns determine it.
    **options
        Options of the reader of this kind.

    Returns
    -------
    Associations, Trials, Counts, Vectors or DataFrame of ratings
        Data.

    Raises
    ------
    DataError
        If the kind cannot be determined, or if the file cannot be read.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     pairs, counts = pathlib.Path(folder, "a.csv"), pathlib.Path(folder, "b.csv")
    ...     _ = pairs.write_text("cue,response,strength\\ntie,knot,.6\\nknot,tie,1\\n")
    ...     _ = counts.write_text("document,word,count\\nd1,tie,2\\nd1,knot,1\\n")
    ...     read(pairs), read(counts)
    (<Associations of 2 objects, 2 pairs, from ...a.csv>, <Counts of 1 document x 2 words...b.csv>)
    """
    data = opened(data) if isinstance(data, str | os.PathLike) else data
    makers = READERS if isinstance(data, Path) else MAKERS
    return makers[kind or kind_of(data)](data, **options)


def opened(path: str | os.PathLike[str]) -> pd.DataFrame | Path:
    """Return the frame of a table, or the path of any other file."""
    path = Path(path)
    suffix = suffix_of(path)
    if suffix in TABLES or (suffix not in CONTAINERS and word_format(path) is None):
        return read_frame(path)
    return path


def kind_of(
    data: pd.DataFrame | str | os.PathLike[str],
    *,
    cue: str | None = None,
    response: str | None = None,
    participant: str | None = None,
) -> Kind:
    """Return the kind of data in a file, or in the frame of a file.

    Parameters
    ----------
    data : DataFrame or path
        File, or the result of `opened`.
    cue, response, participant : str, optional
        Names of columns from the user, which replace the usual names.

    Raises
    ------
    DataError
        If the suffix and the names of the columns do not determine the kind.
    """
    if isinstance(data, str | os.PathLike):
        data = opened(data)
    if isinstance(data, Path):
        return _stored_kind(data)
    if has_trials(data, cue, response, participant):
        return "trials"
    names = [str(name).strip() for name in data.columns]
    if data.attrs["header"] and usual_column(names, NAMES["rating"]) is not None and not cue:
        return "ratings"
    if (cue and response) or (data.attrs["header"] and has_pair_header(names, cue, response)):
        return "associations"
    kind = _table_kind(data, names) if data.attrs["header"] else _headerless_kind(data)
    if kind is None:
        path = data.attrs["source"]
        raise DataError(
            f"cannot tell what {path} contains from its columns {listed(names)}; use manymaps read "
            f"{path} --kind associations -o OUT.npz (or --kind counts, vectors, trials, texts), or "
            "name its first column 'word' (vectors), 'site' (counts) or 'cue' (associations)"
        )
    return kind


def _table_kind(frame: pd.DataFrame, names: list[str]) -> Kind | None:
    """Return the kind of data in a table by the names of its columns."""
    numeric = numeric_columns(frame)
    if is_long_header(names, numeric):
        return "counts"
    if any(has_lists(frame, c) for c in range(len(names))):
        return "vectors"
    # Two words without a usual name are a pair.
    if (is_text(frame) and len(names) == 2) or is_matrix(frame):
        return "associations"
    corner, n_numbers = folded(names[0]), sum(numeric)
    is_counted = known_kind(names[0]) is not None and corner not in LABELS
    if is_counted or numbered_observations(names[1:]) is not None:
        return "counts" if n_numbers else None
    has_labels = corner in LABELS or (not is_text(frame) and n_numbers >= len(names) - 1)
    # R and pandas write counts and vectors without a name above the labels.
    is_unclear = corner in ("", "unnamed:0") and not all(name[-1:].isdigit() for name in names[1:])
    return "vectors" if has_labels and n_numbers > 1 and not is_unclear else None


def _headerless_kind(frame: pd.DataFrame) -> Kind | None:
    """Return the kind of data in a table without column names: pairs, a matrix or vectors."""
    numeric = numeric_columns(frame)
    if numeric == [False, True, True]:
        return "vectors"
    if len(numeric) in (2, 3) or numeric[1:3] == [False, True] or square_part(frame) is not None:
        return "associations"
    return "vectors" if all(numeric[1:]) else None


def _stored_kind(path: Path) -> Kind:
    """Return the kind of data in an array, a graph or a file of word vectors."""
    suffix = suffix_of(path)
    if suffix in (".graphml", ".biom"):
        return "associations" if suffix == ".graphml" else "counts"
    if suffix == ".mtx":
        with unpacked(path) as file, reading(path, "MatrixMarket"):
            n_rows, n_columns, *_ = mminfo(file)
        return "associations" if n_rows == n_columns else "counts"
    if suffix == ".npy":
        return "associations" if len(set(read_npy(path).shape)) == 1 else "vectors"
    if suffix != ".npz":
        return "vectors"
    if read_saved_counts(path) is not None:
        return "counts"
    with open_arrays(path) as file:
        if "counts" in file.heads or "row_labels" in file.heads:
            return "counts"
        is_sparse = set(file.heads) >= SPARSE_PARTS
        tables = [head.shape for head in file.heads.values() if len(head.shape) == 2]
        shapes = [tuple(file.read("shape").tolist())] if is_sparse else tables
        if not shapes or any(len(set(shape)) == 1 for shape in shapes):
            return "associations"
        return "counts" if is_sparse and file.heads["data"].dtype.kind in "iu" else "vectors"
