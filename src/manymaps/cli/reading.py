"""Opening of the files that commands take: clean data, or a raw file that needs no option."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from manymaps.cli.contract import BadData
from manymaps.data.associations import Associations
from manymaps.data.clean import is_clean, read_clean
from manymaps.data.counts import Counts
from manymaps.data.judgements import Judgements
from manymaps.data.pair_rules import split_responses
from manymaps.data.trials import Trials
from manymaps.data.vectors import Vectors
from manymaps.io import kinds
from manymaps.io.associations import associations_from
from manymaps.io.columns import NAMES, find, usual_column
from manymaps.io.similarities import read_similarities
from manymaps.io.vectors import read_vectors
from manymaps.progress import work

if TYPE_CHECKING:
    import pandas as pd

    from manymaps.data.clean import CleanData

PairData: TypeAlias = Associations | Vectors


class Loaded(NamedTuple):
    """Data of a file, and the settings with which trials are counted.

    Attributes
    ----------
    data : Associations, Trials, Judgements, Vectors, Counts or Ratings
        The data.
    settings : dict
        The arguments of `Trials.associations`.
    """

    data: CleanData | Any
    settings: dict[str, Any]

    @property
    def fitted(self) -> Any:
        """The data that a fit uses: trials are counted, and judgements averaged."""
        if isinstance(self.data, Trials):
            return self.data.associations(**self.settings)
        if isinstance(self.data, Judgements):
            rows = self.settings.get("rows", "renormalize")
            mean = associations_from(self.data.average, labels=self.data.labels, rows=rows)
            return replace(mean, judged=True)
        return self.data


def opened(
    file: Path,
    kind: str | None = None,
    *,
    words: Path | Sequence[str] | None = None,
    ratings: bool = False,
    **settings: Any,
) -> Loaded:
    """Read clean data, or a raw file.

    Parameters
    ----------
    file : path
        The file.
    kind : str, optional
        The kind of data in a raw file. By default, it is recognized.
    words : path or sequence of str, optional
        The words to read from a raw file of vectors.
    ratings : bool
        Whether ratings are recognized. By default, they are read as associations.
    **settings
        Settings of `read_associations`.
    """
    with work(f"reading {file}"):
        if is_clean(file):
            return Loaded(*read_clean(file))
        source = kinds.opened(file)
        known = kind or kinds.kind_of(source)
        if known == "ratings" and not ratings:
            known = "associations"
        if known == "vectors":
            return Loaded(read_vectors(file, words=words), {})
        makers = kinds.READERS if isinstance(source, Path) else kinds.MAKERS
        return Loaded(makers[known](source, **settings if known == "associations" else {}), {})


def opened_responses(file: Path) -> Loaded:
    """Read responses of participants: trials, or associations with all their responses.

    Responses that are never cues are kept. Norms are read as counts if a raw file has them, because
    strengths do not contain the number of responses.
    """
    if is_clean(file):
        data, settings = opened(file)
        if not isinstance(data, Trials):
            return Loaded(data, {})
        first, _ = split_responses(settings.get("responses", "drop"))
        rule = "keep" if first is None else f"R{'123456789'[:first]},keep"
        return Loaded(data, settings | {"responses": rule})
    table, counts = kinds.opened(file), None
    if kinds.kind_of(table) != "associations":
        return Loaded(opened(file).data, {"responses": "keep"})
    if not isinstance(table, Path):
        names = list(map(str, table.columns))
        at = find(table, "count")
        counts = None if at is None or usual_column(names, NAMES["strength"]) is None else names[at]
    return opened(file, "associations", responses="keep", strength=counts)


def opened_similarities(file: Path, absent: str) -> pd.DataFrame:
    """Read similarities of a square table or a list, or the average of several judges."""
    import pandas as pd

    from manymaps.io.frames import described

    if not is_clean(file):
        with work(f"reading {file}"):
            return read_similarities(file, absent=absent)
    data = opened(file).data
    if isinstance(data, Judgements):
        values = data.average
    elif isinstance(data, Associations):
        values = data.similarities.toarray()
        if data.missing is not None:
            values[data.missing.toarray()] = np.nan
    else:
        raise BadData(f"{file} contains no similarities of objects; expected a square table")
    return described(pd.DataFrame(values, data.labels, data.labels), str(file), n_absent=0)


def labels_in(data: PairData | Counts) -> list[str]:
    """Return the labels of the objects that a fit of the data has."""
    if isinstance(data, Counts):
        return [*(data.row_labels or ()), *(data.column_labels or ())]
    return list(data.labels)
