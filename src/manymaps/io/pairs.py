"""Pairs or cells as they were read, of any file format, in numbers.

What then becomes of them (dropped, merged, scaled) stands in `manymaps.data.pair_rules`. A cell of
a matrix that is empty or NaN is a missing pair (`manymaps.data.associations.known_pairs`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from manymaps.archive.door import MOST_LABELS
from manymaps.checks import check_labels
from manymaps.data.associations import Associations, known_pairs
from manymaps.data.pair_rules import NumberedPairs, Rules, apply_rules
from manymaps.errors import DataError, ParameterError, setting
from manymaps.io.matrices import LabelledMatrix
from manymaps.io.tables import CodedColumn, LabelCodes, known_number
from manymaps.labels import plain_spelling

__all__ = ["Pairs", "associate", "associate_matrix", "coded_pairs", "named_by"]


@dataclass(frozen=True)
class Pairs:
    """Pairs as they were read, before any rule; pair k stands between two of the labels.

    Attributes
    ----------
    cues, responses : CodedColumn of n cells
        An empty label is that of no object.
    values : ndarray of shape (n,), or None
        As `known_number` reads them; None where every pair counts one.
    source : str
    where : callable
        The place of the k-th pair, for messages.
    written : callable
        The k-th value as it was written.
    objects : tuple of str
        Objects known beforehand; they count as cues.
    similarities : bool
        Whether the values are similarities, which rows="keep" leaves as they are.
    notes : tuple of str
    """

    cues: CodedColumn
    responses: CodedColumn
    values: np.ndarray | None
    source: str
    where: Callable[[int], str]
    written: Callable[[int], Any]
    objects: tuple[str, ...] = ()
    similarities: bool = False
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        """How many there are."""
        return self.cues.codes.size

    def folded(self) -> Pairs:
        """The same with labels in lower case and with single spaces, which joins some."""
        cues, responses = (
            CodedColumn([plain_spelling(text) for text in column.texts], column.codes)
            for column in (self.cues, self.responses)
        )
        return replace(self, cues=cues, responses=responses)

    def ends(self, k: int) -> tuple[str, str]:
        """The labels of the k-th pair."""
        return (
            self.cues.texts[self.cues.codes[k]],
            self.responses.texts[self.responses.codes[k]],
        )

    def numbered(
        self, kept: np.ndarray | None = None
    ) -> tuple[list[str], int, np.ndarray, np.ndarray]:
        """The objects of all pairs, or of some, in the order in which they first appear.

        Parameters
        ----------
        kept : ndarray of int, optional
            The pairs.

        Returns
        -------
        labels : list of str
            Those known beforehand, then the cues, then what is a response alone.
        n_cues : int
            How many labels the first two of these are.
        cue, response : ndarray of int32, shape (n_kept,)
            The numbers of the ends of each pair.
        """
        place = {label: i for i, label in enumerate(self.objects)}
        columns = []
        n_cues = 0
        for column in (self.cues, self.responses):
            codes = column.codes if kept is None else column.codes[kept]
            number = np.full(len(column.texts), -1, dtype=np.int32)
            for code in _first_seen(codes, len(column.texts)).tolist():
                number[code] = place.setdefault(column.texts[code], len(place))
            columns.append(number[codes])
            n_cues = n_cues or len(place)
        if len(place) > MOST_LABELS:
            raise DataError(
                f"{self.source} has more than {MOST_LABELS:,} different labels, and no more "
                "objects are read; take out the rare ones"
            )
        return list(place), n_cues, columns[0], columns[1]


def coded_pairs(
    cues: Sequence[str],
    responses: Sequence[str],
    values: Sequence[Any] | None,
    source: str,
    where: Callable[[int], str],
    **other: Any,
) -> Pairs:
    """Pairs of cells in memory."""
    columns = []
    for cells in (cues, responses):
        codes = LabelCodes()
        places = codes.of(cells, len(cells))
        columns.append(CodedColumn(list(codes), places))
    numbers = None
    if values is not None:
        numbers = np.fromiter(map(known_number, values), np.float64, len(values))
    written = (lambda k: 1) if values is None else values.__getitem__
    return Pairs(columns[0], columns[1], numbers, source, where, written, **other)


def named_by(pairs: Pairs, labels: Sequence[str]) -> Pairs:
    """Pairs of places among some labels, from 0 where one is 0 and else from 1, under these.

    Raises
    ------
    DataError
        Where an end is no such place, or a label stands twice.
    ParameterError
        Where the pairs are of words.
    """
    check_labels(labels, len(labels), "object", source=pairs.source)
    texts = [*pairs.cues.texts, *pairs.responses.texts]
    if not any(text.isdecimal() for text in texts):
        raise ParameterError(
            f"{setting('labels')} is for a matrix or for pairs of whole numbers, and "
            f"{pairs.source} is a "
            "list of pairs of words"
        )
    start = 0 if "0" in texts else 1
    columns = []
    for column in (pairs.cues, pairs.responses):
        place = {str(i): label for i, label in enumerate(labels, start)}
        for code, text in enumerate(column.texts):
            if text not in place:
                k = int(np.flatnonzero(column.codes == code)[0])
                raise DataError(
                    f"{pairs.where(k)}: {text[:60]!r} is no place among the {len(labels):,} "
                    f"labels; with {setting('labels')} pairs are of whole numbers, here "
                    f"from {start} to "
                    f"{len(labels) - 1 + start}"
                )
        columns.append(CodedColumn([place[text] for text in column.texts], column.codes))
    note = f"pairs of numbers from {start}, which are places among {len(labels):,} labels"
    return replace(pairs, cues=columns[0], responses=columns[1], notes=(*pairs.notes, note))


def _first_seen(codes: np.ndarray, n: int) -> np.ndarray:
    """The codes that occur, by their first places."""
    first = np.full(n, codes.size, dtype=np.int64)
    # Of several values for one place the last is kept.
    first[codes[::-1]] = np.arange(codes.size)[::-1]
    order = np.argsort(first, kind="stable")
    return order[: np.count_nonzero(first < codes.size)]


def associate(pairs: Pairs, rules: Rules) -> Associations:
    """Associations from pairs; the objects stand in the order in which they first appear."""
    named = np.flatnonzero(_is_named(pairs.cues) & _is_named(pairs.responses))
    unnamed = len(pairs) - len(named)
    labels, n_cues, cue, response = pairs.numbered(named if unnamed else None)
    entries = NumberedPairs(
        labels=tuple(labels),
        n_cues=n_cues,
        cue=cue,
        response=response,
        values=_numbers(pairs, named),
        source=pairs.source,
        where=lambda k: pairs.where(int(named[k])),
        similarities=pairs.similarities,
        n_read=len(pairs),
        left_out={"empty label": unnamed} if unnamed else {},
        notes=pairs.notes,
    )
    return apply_rules(entries, rules)


def _is_named(column: CodedColumn) -> np.ndarray:
    """Which cells hold a label."""
    return np.array([bool(text) for text in column.texts], dtype=bool)[column.codes]


def associate_matrix(matrix: LabelledMatrix, rules: Rules) -> Associations:
    """Associations from a square matrix; every row is an object, its diagonal holds self pairs."""
    values, missing = known_pairs(matrix.values)
    cells = values.tocoo()
    entries = NumberedPairs(
        labels=matrix.labels,
        n_cues=len(matrix.labels),
        cue=cells.row,
        response=cells.col,
        values=cells.data,
        source=matrix.source,
        where=lambda k: f"{matrix.source}, row {cells.row[k] + 1}",
        similarities=True,
        n_read=int(cells.nnz),
        notes=_of_missing(missing),
    )
    found = apply_rules(entries, rules)
    return found if missing is None else replace(found, missing=missing)


def _of_missing(missing: sparse.csr_array | None) -> tuple[str, ...]:
    """What deserves saying of missing pairs."""
    if missing is None:
        return ()
    n = missing.shape[0]
    return (
        f"{missing.nnz:,} of {n * (n - 1):,} cells are empty: nothing is known of these pairs, and "
        "they do not count in a fit (a pair without any similarity is 0)",
    )


def _numbers(pairs: Pairs, named: np.ndarray) -> np.ndarray:
    """The strengths of the named pairs; the first that is none is an error with its place."""
    if pairs.values is None:
        return np.ones(len(named))
    values = pairs.values if len(named) == len(pairs) else pairs.values[named]
    bad = np.flatnonzero(~np.isfinite(values) | (values < 0))
    if bad.size:
        k = int(named[bad[0]])
        value = pairs.written(k)
        shown = "missing" if value is None or value == "" else repr(value)[:60]
        hint = " (write decimals with a point)" if "," in shown else ""
        cue, response = pairs.ends(k)
        raise DataError(
            f"{pairs.where(k)}: the strength of {cue[:60]!r} - {response[:60]!r} is {shown}; "
            f"strengths must be finite numbers of at least 0{hint}"
        )
    return values
