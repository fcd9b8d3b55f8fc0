"""Kind of data in a file, which its suffix and the names of its columns determine.

    a cue and answers in their order, or one answer and a participant               trials
    two words and a rating under a name that only ratings have                      ratings
    two columns of words, or usual names of a cue and a response                    associations
    as many rows as columns, with the same labels                                   associations
    columns of observations and features, or a first column of observations         counts
    a first column "word", "label", ... or without a name, and numbers              vectors

`read` opens a file once (`manymaps.io.containers.opened`).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable
from typing import TYPE_CHECKING, Any

from scipy import sparse

from manymaps.data.counts import Counts
from manymaps.errors import DataError
from manymaps.io.associations import STRENGTHS, associations_from, square_part
from manymaps.io.columns import (
    LABELS,
    NAMES,
    folded,
    has_pair_header,
    is_text,
    known_kind,
    numbered_observations,
    numeric_columns,
    usual_column,
)
from manymaps.io.containers import Table, opened
from manymaps.io.counts import counts_from, is_long_header
from manymaps.io.similarities import ratings_from
from manymaps.io.trials import has_trials, trials_from
from manymaps.io.vectors import vectors_from, wanted_words
from manymaps.labels import listed

if TYPE_CHECKING:
    import pandas as pd

MAKERS: dict[str, Callable[..., Any]] = {
    "associations": associations_from, "trials": trials_from, "counts": counts_from,
    "vectors": vectors_from, "ratings": ratings_from,
}  # fmt: skip


def read(
    path: str | os.PathLike[str],
    kind: str | None = None,
    *,
    takes: Collection[str] = tuple(MAKERS),
    words: Iterable[str] | str | os.PathLike[str] | None = None,
    **settings: Any,
) -> Any:
    """Read the data in a file.

    Parameters
    ----------
    path : path
        File to read.
    kind : {"associations", "trials", "counts", "vectors", "ratings"}, optional
        Kind of data. By default, the suffix of the file and the names of its columns determine it.
    takes : collection of str
        Kinds of data that the caller takes. Other ratings are read as associations.
    words : path or iterable of str, optional
        Words to read from a file of vectors.
    **settings
        Options of `associations_from`, for associations.

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
    wanted = None if words is None else wanted_words(words)
    data = opened(path, kind, wanted)
    kind = kind or kind_of(data)
    if kind == "ratings" and kind not in takes:
        kind = "associations"
    options = {"associations": settings, "vectors": {"words": wanted}}.get(kind, {})
    return MAKERS[kind](data, **options)


def kind_of(data: Any, *, cue: str | None = None, response: str | None = None) -> str:
    """Return the kind of data in a file, or in an object from `opened`.

    Parameters
    ----------
    data : path, DataFrame, Table, Counts, graph or AnnData
        File, or its contents.
    cue, response : str, optional
        Names of columns from the user, which replace the usual names.

    Raises
    ------
    DataError
        If the suffix and the names of the columns do not determine the kind.
    """
    if isinstance(data, str | os.PathLike):
        data = opened(data)
    if isinstance(data, Counts):
        return "counts"
    if hasattr(data, "is_directed"):
        return "associations"
    if isinstance(data, Table):
        is_square = len(set(data.values.shape)) == 1
        are_counts = sparse.issparse(data.values) and data.values.dtype.kind in "iu"
        other = "associations" if is_square else "counts" if are_counts else "vectors"
        return data.kind or other
    if hasattr(data, "obs_names"):
        return "vectors"
    names = list(data.columns)
    are_pairs = data.attrs["header"] and has_pair_header(names, cue, response)
    has_values = usual_column(names, STRENGTHS["strength"]) is not None
    if not (are_pairs and has_values) and has_trials(data, cue, response):
        return "trials"
    if data.attrs["header"] and usual_column(names, NAMES["rating"]) is not None and not cue:
        return "ratings"
    if are_pairs or (cue and response):
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


def _table_kind(frame: pd.DataFrame, names: list[str]) -> str | None:
    """Return the kind of data in a table by the names of its columns."""
    numeric = numeric_columns(frame)
    if is_long_header(names):
        return "counts"
    # Two words without a usual name are a pair.
    if (is_text(frame) and len(names) == 2) or square_part(frame) is not None:
        return "associations"
    corner, n_numbers = folded(names[0]), sum(numeric)
    is_counted = known_kind(names[0]) is not None and corner not in LABELS
    if is_counted or numbered_observations(names[1:]) is not None:
        return "counts" if n_numbers else None
    has_labels = corner in LABELS or (not is_text(frame) and n_numbers >= len(names) - 1)
    # R and pandas write counts and vectors without a name above the labels.
    is_unclear = corner in ("", "unnamed:0") and not all(name[-1:].isdigit() for name in names[1:])
    return "vectors" if has_labels and n_numbers > 1 and not is_unclear else None


def _headerless_kind(frame: pd.DataFrame) -> str | None:
    """Return the kind of data in a table without column names: pairs, a matrix or vectors."""
    numeric = numeric_columns(frame)
    if numeric == [False, True, True]:
        return "vectors"
    if len(numeric) in (2, 3) or numeric[1:3] == [False, True] or square_part(frame) is not None:
        return "associations"
    return "vectors" if all(numeric[1:]) else None
