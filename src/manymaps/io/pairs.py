"""Pairs or cells as they were read, of any file format, in numbers.

`manymaps.data.pair_rules` describes which of them are dropped, merged and scaled. A cell of a
matrix that is empty or NaN is a missing pair (`manymaps.data.associations.known_pairs`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse

from manymaps.archive.door import MOST_LABELS
from manymaps.checks import check_labels
from manymaps.data.associations import Associations, known_pairs
from manymaps.data.pair_rules import NumberedPairs, Rules, apply_rules
from manymaps.errors import DataError, ParameterError, setting
from manymaps.io.matrices import LabelledMatrix
from manymaps.io.tables import RULE_OF, Cells, CodedColumn
from manymaps.labels import plain_spelling

__all__ = ["Pairs", "associate", "associate_matrix", "named_by"]


@dataclass(frozen=True)
class Pairs:
    """Pairs as they were read, before any rule.

    Attributes
    ----------
    cells : Cells
        Cues, responses and strengths; an empty label is that of no object.
    source : str
    objects : tuple of str
        Objects known beforehand; they count as cues.
    similarities : bool
        Whether the values are similarities, which rows="keep" leaves as they are.
    notes : tuple of str
    """

    cells: Cells
    source: str
    objects: tuple[str, ...] = ()
    similarities: bool = False
    notes: tuple[str, ...] = ()

    def folded(self) -> Pairs:
        """The same with labels in lower case and with single spaces, which joins some."""
        return self._relabelled([map(plain_spelling, c.texts) for c in self.cells.columns])

    def _relabelled(self, labels: list) -> Pairs:
        columns = [
            CodedColumn(list(texts), column.codes)
            for texts, column in zip(labels, self.cells.columns, strict=True)
        ]
        return replace(self, cells=replace(self.cells, columns=columns))

    def numbered(
        self, rows: np.ndarray | None = None
    ) -> tuple[list[str], int, np.ndarray, np.ndarray]:
        """The objects of all pairs, or of some, in the order in which they first appear.

        Parameters
        ----------
        rows : ndarray of int, optional
            The pairs.

        Returns
        -------
        labels : list of str
            Those known beforehand, then the cues, then what is a response alone.
        n_cues : int
            How many labels the first two of these are.
        cue, response : ndarray of int32, shape (n_pairs,)
            The numbers of the ends of each pair.
        """
        place = {label: i for i, label in enumerate(self.objects)}
        columns = []
        n_cues = 0
        for column in self.cells.columns:
            codes = column.codes if rows is None else column.codes[rows]
            number = np.full(len(column.texts), -1, dtype=np.int32)
            for code in _first_seen(codes, len(column.texts)).tolist():
                number[code] = place.setdefault(column.texts[code], len(place))
            columns.append(number[codes])
            n_cues = n_cues or len(place)
        if len(place) > MOST_LABELS:
            raise DataError(
                f"{self.source} has more than {MOST_LABELS:,} different labels; leave out the rare "
                "ones"
            )
        return list(place), n_cues, columns[0], columns[1]


def named_by(pairs: Pairs, labels: list[str]) -> Pairs:
    """Pairs of places among some labels, from 0 where one is 0 and else from 1, under these.

    Raises
    ------
    DataError
        If an end is not such a place, or a label occurs twice.
    ParameterError
        If the pairs are of words.
    """
    check_labels(labels, len(labels), "object", source=pairs.source)
    cells = pairs.cells
    texts = [text for column in cells.columns for text in column.texts]
    if not any(map(str.isdecimal, texts)):
        raise ParameterError(
            f"{setting('labels')} is for a matrix or for pairs of whole numbers, and "
            f"{pairs.source} is a list of pairs of words"
        )
    start = 0 if "0" in texts else 1
    place = {str(i): label for i, label in enumerate(labels, start)}
    for column in cells.columns:
        code = next((c for c, text in enumerate(column.texts) if text not in place), None)
        if code is not None:
            raise DataError(
                f"{cells.where(int(np.argmax(column.codes == code)))}: {column.texts[code][:60]!r} "
                f"is not a place among the {len(labels):,} labels; with {setting('labels')} pairs "
                f"are of whole numbers, here from {start} to {len(labels) - 1 + start}"
            )
    note = f"pairs of numbers from {start}, which are places among {len(labels):,} labels"
    named = pairs._relabelled([map(place.__getitem__, c.texts) for c in cells.columns])
    return replace(named, notes=(*pairs.notes, note))


def _first_seen(codes: np.ndarray, n: int) -> np.ndarray:
    """The codes that occur, by their first places."""
    first = np.full(n, codes.size, dtype=np.int64)
    # Of several values for one place the last is kept.
    first[codes[::-1]] = np.arange(codes.size)[::-1]
    order = np.argsort(first, kind="stable")
    return order[: np.count_nonzero(first < codes.size)]


def associate(pairs: Pairs, rules: Rules) -> Associations:
    """Associations from pairs; the objects are in the order in which they first appear."""
    cells = pairs.cells
    values = cells.checked(RULE_OF["strength"])
    named = np.flatnonzero(~cells.unnamed)
    unnamed = len(cells) - len(named)
    labels, n_cues, cue, response = pairs.numbered(named if unnamed else None)
    entries = NumberedPairs(
        labels=tuple(labels),
        n_cues=n_cues,
        cue=cue,
        response=response,
        values=values[named] if unnamed else values,
        source=pairs.source,
        where=lambda k: cells.where(int(named[k])),
        similarities=pairs.similarities,
        n_read=len(cells),
        left_out={"empty label": unnamed} if unnamed else {},
        notes=pairs.notes,
    )
    return apply_rules(entries, rules)


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
    """A note on missing pairs."""
    if missing is None:
        return ()
    n = missing.shape[0]
    return (
        f"{missing.nnz:,} of {n * (n - 1):,} cells are empty: nothing is known of these pairs, and "
        "they do not count in a fit (a pair without any similarity is 0)",
    )
