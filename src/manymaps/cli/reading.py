"""Opening of the files that commands take: clean data, or a raw file that needs no option."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from manymaps.cli.contract import BadData
from manymaps.data.associations import Associations
from manymaps.data.clean import is_clean, read_clean
from manymaps.data.counts import Counts
from manymaps.data.frame_labels import is_frame
from manymaps.data.pair_rules import split_responses
from manymaps.data.trials import Trials
from manymaps.data.vectors import Vectors
from manymaps.io import kinds
from manymaps.io.columns import NAMES, described, find, usual_column
from manymaps.io.containers import opened as opened_file
from manymaps.io.similarities import has_ratings, read_similarities
from manymaps.progress import work

if TYPE_CHECKING:
    import pandas as pd

    from manymaps.data.clean import CleanData

PairData: TypeAlias = Associations | Vectors

# Data of pairs, which a fit converts to associations.
PAIRS = ("associations", "trials")


class Loaded(NamedTuple):
    """Data of a file, and the settings with which trials are counted.

    Attributes
    ----------
    data : Associations, Trials, Vectors, Counts or DataFrame of ratings
        The data.
    settings : dict
        The arguments of `Trials.associations`.
    """

    data: CleanData | Any
    settings: dict[str, Any]

    @property
    def fitted(self) -> Any:
        """The data that a fit uses: trials are counted."""
        if isinstance(self.data, Trials):
            return self.data.associations(**self.settings)
        return self.data


def opened(
    file: Path,
    kind: str | None = None,
    *,
    takes: Sequence[str],
    words: Path | Sequence[str] | None = None,
    **settings: Any,
) -> Loaded:
    """Read clean data, or a raw file.

    Parameters
    ----------
    file : path
        The file.
    kind : str, optional
        The kind of data in a raw file. By default, it is recognized.
    takes : sequence of str
        The kinds of data that the command takes. Ratings are read as associations, if it does not
        take them.
    words : path or sequence of str, optional
        The words to read from a raw file of vectors.
    **settings
        Settings of `associations_from`.
    """
    with work(f"reading {file}"):
        loaded = Loaded(*read_clean(file)) if is_clean(file) else None
        loaded = loaded or Loaded(kinds.read(file, kind, takes=takes, words=words, **settings), {})
    known = "ratings" if has_ratings(loaded.data) else type(loaded.data).__name__.lower()
    if known not in takes:
        raise BadData(f"{file} contains {known}; expected {' or '.join(takes)}")
    return loaded


def opened_responses(file: Path) -> Loaded:
    """Read responses of participants: trials, or associations with all their responses.

    Responses that are never cues are kept. Norms are read as counts if a raw file has them, because
    strengths do not contain the number of responses.
    """
    strength = None if is_clean(file) else column_of_counts(file)
    loaded = opened(file, takes=PAIRS, responses="keep", strength=strength)
    if not isinstance(loaded.data, Trials):
        return loaded
    first, _ = split_responses(loaded.settings.get("responses", "drop"))
    rule = "keep" if first is None else f"R{'123456789'[:first]},keep"
    return Loaded(loaded.data, loaded.settings | {"responses": rule})


def column_of_counts(file: Any) -> str | None:
    """Return the name of the column of counts in a table, or its file, with strengths."""
    table = opened_file(file) if isinstance(file, Path) else file
    if not is_frame(table):
        return None
    names = list(map(str, table.columns))
    at = find(table, "count")
    return None if at is None or usual_column(names, NAMES["strength"]) is None else names[at]


def opened_similarities(file: Path, absent: str) -> pd.DataFrame:
    """Read similarities of a square table or a list, or the average of several judges."""
    import pandas as pd

    if not is_clean(file):
        with work(f"reading {file}"):
            return read_similarities(file, absent=absent)
    data: Any = opened(file, takes=["associations"]).data
    values = data.similarities.toarray()
    if data.missing is not None:
        values[data.missing.toarray()] = np.nan
    np.fill_diagonal(values, np.nan)
    frame = pd.DataFrame(values, data.labels, data.labels)
    return described(frame, str(file), notes=data.report.notes, n_absent=0)


def labels_in(data: PairData | Counts) -> list[str]:
    """Return the labels of the objects that a fit of the data has."""
    if isinstance(data, Counts):
        return [*(data.row_labels or ()), *(data.column_labels or ())]
    return list(data.labels)
