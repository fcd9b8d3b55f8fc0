"""Ratings of pairs of words by similarity or relatedness.

    (tie, knot)  6.5      (tie, tuxedo)  7.1      (knot, tuxedo)  0.4

Pairs have no direction. Repeated ratings of a pair, in either order, are averaged. Pairs of a word
with itself are dropped, because they do not contribute to the evaluation of a model.
`manymaps.evaluate` correlates ratings with the predictions of an atlas for the same pairs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from manymaps.data.associations import ReadReport
from manymaps.errors import DataError
from manymaps.labels import shown

EMPTY_WORD = "a word is empty"
_SELF = "pair of a word with itself"


@dataclass(frozen=True, eq=False, repr=False)
class Ratings:
    """Rated pairs of words, with one rating per pair.

    Parameters
    ----------
    first, second : sequence of str, length n_pairs
        Words of each pair.
    values : array of shape (n_pairs,)
        Finite ratings. Higher values mean greater similarity.
    report : ReadReport, optional
        Report on how the data were read. Pairs that this class merges or drops are added to the
        report.

    Raises
    ------
    DataError
        If lengths differ, if a rating is non-finite, or if no pair remains.

    See Also
    --------
    read_ratings, ratings_from, evaluate

    Examples
    --------
    >>> from manymaps import Ratings
    >>> ratings = Ratings(["tie", "knot", "tie"], ["knot", "tie", "tie"], [6, 7, 10])
    >>> list(ratings.pairs), ratings.values.tolist()
    ([('tie', 'knot')], [6.5])
    >>> ratings.report.merged, ratings.report.dropped
    (1, {'pair of a word with itself': 1})
    """

    first: Sequence[str]
    second: Sequence[str]
    values: np.ndarray
    report: ReadReport = field(default_factory=ReadReport)

    def __post_init__(self) -> None:
        first, second = tuple(map(str, self.first)), tuple(map(str, self.second))
        try:
            values = np.array(self.values, np.float64)
        except (TypeError, ValueError) as error:
            raise DataError(f"ratings must be numbers: {error}") from error
        if values.shape != (len(first),) or len(second) != len(first):
            raise DataError(
                f"there are {len(first):,} first words, {len(second):,} second words and ratings "
                f"of shape {values.shape}; expected one of each per pair"
            )
        wrong = np.flatnonzero(~np.isfinite(values))
        if wrong.size:
            k = int(wrong[0])
            raise DataError(
                f"{self.report.source}: the rating of {shown(first[k])} and {shown(second[k])} is "
                f"{values[k]}; ratings must be finite numbers"
            )
        pairs = [tuple(sorted(map(str.strip, pair))) for pair in zip(first, second, strict=True)]
        rows_of: dict[tuple[str, ...], list[int]] = {}
        dropped = Counter(self.report.dropped)
        for k, (left, right) in enumerate(pairs):
            if not left or left == right:
                dropped[_SELF if left else EMPTY_WORD] += 1
            else:
                rows_of.setdefault((left, right), []).append(k)
        if not rows_of:
            raise DataError(
                f"{self.report.source} has no ratings of two different words; expected two words "
                "and a number per pair"
            )
        report = replace(
            self.report,
            n_read=max(self.report.n_read, len(first) + sum(self.report.dropped.values())),
            merged=self.report.merged + sum(len(rows) - 1 for rows in rows_of.values()),
            dropped=dict(dropped),
        )
        for name, value in (
            ("first", tuple(first[rows[0]] for rows in rows_of.values())),
            ("second", tuple(second[rows[0]] for rows in rows_of.values())),
            ("values", np.array([values[rows].mean() for rows in rows_of.values()])),
            ("report", report),
        ):
            object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        return f"<Ratings of {len(self):,} pairs of words, from {self.report.source}>"

    def __len__(self) -> int:
        return len(self.values)

    @property
    def pairs(self) -> tuple[tuple[str, str], ...]:
        """Words of each pair."""
        return tuple(zip(self.first, self.second, strict=True))

    @property
    def words(self) -> tuple[str, ...]:
        """Unique words in the order of their first occurrence."""
        return tuple(dict.fromkeys(word for pair in self.pairs for word in pair))
