"""Pairs or matrix cells as read from files, with labels stored as codes.

`manymaps.data.pair_rules` describes which pairs are dropped, merged and scaled. An empty cell or
NaN in a matrix is a missing pair (`manymaps.data.associations.known_pairs`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from manymaps.checks import check_labels
from manymaps.data.associations import Associations, known_pairs
from manymaps.data.pair_rules import NumberedPairs, Rules, apply_rules
from manymaps.data.tables import Labels
from manymaps.errors import DataError, ParameterError, setting
from manymaps.io.matrices import LabelledMatrix
from manymaps.io.missing_answers import checked_missing, is_missing, missing_notes
from manymaps.io.tables import RULE_OF, Cells
from manymaps.labels import fold

# The sum of 10 million such counts is exact in float64.
_MOST_COUNTED = 2**29


@dataclass(frozen=True)
class Pairs:
    """Pairs as read from the source, before pair rules are applied.

    Attributes
    ----------
    cells : Cells
        Cues, responses and strengths. A row with an empty label is not a pair.
    source : str
        The file, for messages.
    objects : tuple of str
        Objects that are known beforehand and are treated as cues.
    similarities : bool
        Whether the values are similarities, which rows="keep" leaves unchanged.
    notes : tuple of str
        Notes for the report.
    n_missing : int
        Number of pairs that were omitted because their response is a missing answer.
    """

    cells: Cells
    source: str
    objects: tuple[str, ...] = ()
    similarities: bool = False
    notes: tuple[str, ...] = ()
    n_missing: int = 0

    def folded(self) -> Pairs:
        """Convert labels to lower case with single spaces, merging labels that become equal."""
        return self.relabelled(fold)

    def without_missing(self, missing: str | Sequence[str] | None) -> Pairs:
        """Drop pairs whose response is in a list of missing answers, or only count such pairs."""
        cells, response = self.cells, self.cells.columns[1]
        numbers = cells.numbers
        # Strengths are not counts, and larger numbers, which are checked later, could overflow.
        are_counts = numbers is not None and bool(
            ((np.floor(numbers) == numbers) & (np.abs(numbers) < _MOST_COUNTED)).all()
        )
        weights = numbers if are_counts else None
        counts = np.bincount(response.codes, weights, len(response.texts)).astype(np.int64)
        whole = replace(self, notes=(*self.notes, *missing_notes(response.texts, counts, missing)))
        out = checked_missing(missing)
        if out is None:
            return whole
        rows = np.flatnonzero(~is_missing(response.texts, out)[response.codes])
        return replace(whole, cells=cells.take(rows), n_missing=len(cells) - len(rows))

    def relabelled(self, name: Callable[[str], str], *notes: str) -> Pairs:
        """Return a copy with new labels and additional notes."""
        columns = [Labels(list(map(name, c.texts)), c.codes) for c in self.cells.columns]
        cells = replace(self.cells, columns=columns)
        return replace(self, cells=cells, notes=(*self.notes, *notes))

    def numbered(self) -> tuple[list[str], int, np.ndarray, np.ndarray]:
        """Number the objects in the order of their first appearance.

        Returns
        -------
        labels : list of str
            Objects that are known beforehand, followed by the cues and by objects that are only
            responses.
        n_cues : int
            Number of labels in the first two groups.
        cue, response : ndarray of int32, shape (n_pairs,)
            Indices of each pair's cue and response in `labels`.
        """
        import pandas as pd

        index = {label: i for i, label in enumerate(self.objects)}
        ends = []
        n_cues = 0
        for column in self.cells.columns:
            index_of = np.full(len(column.texts), -1, dtype=np.int32)
            # Codes follow the order of the whole table, of which rows may have been selected.
            for code in pd.unique(column.codes).tolist():
                index_of[code] = index.setdefault(column.texts[code], len(index))
            ends.append(index_of[column.codes])
            n_cues = n_cues or len(index)
        return list(index), n_cues, ends[0], ends[1]


def named_by(pairs: Pairs, labels: Sequence[str]) -> Pairs:
    """Replace numbers in pairs by the labels at these positions, which start at 0 or 1.

    Raises
    ------
    DataError
        If a number is not the position of a label, or if a label occurs twice.
    ParameterError
        If the pairs contain words.
    """
    check_labels(labels, len(labels), "object", source=pairs.source)
    cells = pairs.cells
    texts = [text for column in cells.columns for text in column.texts]
    if not any(map(str.isdecimal, texts)):
        raise ParameterError(
            f"{setting('labels')} applies to matrices and to pairs of whole numbers, but "
            f"{pairs.source} is a list of pairs of words"
        )
    # Programs count from 0 or from 1. If position 0 occurs, counting starts at 0.
    start = 0 if "0" in texts else 1
    label_at = {str(i): label for i, label in enumerate(labels, start)}
    for column in cells.columns:
        unknown = column.mask(lambda text: text not in label_at)
        if unknown.any():
            k = int(np.argmax(unknown))
            raise DataError(
                f"{cells.where(k)}: {column.texts[column.codes[k]][:60]!r} is not the position of "
                f"a label; with {setting('labels')}, pairs must be whole numbers, here from "
                f"{start} to {len(labels) - 1 + start}"
            )
    note = f"numbers from {start} were replaced by the {len(labels):,} labels at these positions"
    return pairs.relabelled(label_at.__getitem__, note)


def associate(pairs: Pairs, rules: Rules) -> Associations:
    """Convert pairs to associations, with objects in the order of their first appearance."""
    cells = pairs.cells
    values = cells.checked(RULE_OF["strength"])
    named = np.flatnonzero(~cells.unnamed)
    omitted = {"missing answer": pairs.n_missing, "empty label": len(cells) - len(named)}
    kept = cells.take(named)
    labels, n_cues, cue, response = replace(pairs, cells=kept).numbered()
    entries = NumberedPairs(
        labels=tuple(labels),
        n_cues=n_cues,
        cue=cue,
        response=response,
        values=values[named],
        source=pairs.source,
        where=kept.where,
        similarities=pairs.similarities,
        n_read=len(cells) + pairs.n_missing,
        left_out={reason: n for reason, n in omitted.items() if n},
        notes=pairs.notes,
    )
    return apply_rules(entries, rules)


def associate_matrix(matrix: LabelledMatrix, rules: Rules) -> Associations:
    """Convert a square matrix to associations, treating its diagonal as self-pairs."""
    values, missing = known_pairs(matrix.values)
    cells = values.tocoo()
    n = len(matrix.labels)
    entries = NumberedPairs(
        labels=matrix.labels,
        n_cues=n,
        cue=cells.row,
        response=cells.col,
        values=cells.data,
        source=matrix.source,
        where=lambda k: f"{matrix.source}, row {cells.row[k] + 1}",
        similarities=True,
        n_read=int(cells.nnz),
        notes=matrix.notes,
    )
    if missing is None:
        return apply_rules(entries, rules)
    note = (
        f"{missing.nnz:,} of {n * (n - 1):,} cells are empty: these pairs are unknown and do not "
        "count in a fit (write 0 for a pair without any similarity)"
    )
    return replace(
        apply_rules(replace(entries, notes=(*matrix.notes, note)), rules), missing=missing
    )
