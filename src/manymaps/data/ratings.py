"""Ratings of pairs of words by similarity or relatedness.

    (tie, knot)  6.5      (tie, tuxedo)  7.1      (knot, tuxedo)  0.4

Pairs have no direction. Repeated ratings of a pair, in either order, are averaged. Pairs of a word
with itself are dropped, because they do not contribute to the evaluation of a model.
`manymaps.evaluate` correlates ratings with the predictions of an atlas for the same pairs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from manymaps.data.associations import ReadReport
from manymaps.errors import DataError
from manymaps.labels import fold, shown

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
    >>> ratings = Ratings(["tie", "Knot", "tie"], ["knot", "tie", "tie"], [6, 7, 10])
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
        groups: dict[tuple[str, ...], list[int]] = {}
        dropped = {_SELF: 0, EMPTY_WORD: 0}
        for k, pair in enumerate(zip(first, second, strict=True)):
            left, right = map(fold, pair)
            if not left or not right:
                dropped[EMPTY_WORD] += 1
            elif left == right:
                dropped[_SELF] += 1
            else:
                groups.setdefault((min(left, right), max(left, right)), []).append(k)
        if not groups:
            raise DataError(
                f"{self.report.source} has no ratings of two different words; expected two words "
                "and a number per pair"
            )
        indices = [group[0] for group in groups.values()]
        object.__setattr__(self, "first", tuple(first[k] for k in indices))
        object.__setattr__(self, "second", tuple(second[k] for k in indices))
        means = np.array([values[group].mean() for group in groups.values()])
        object.__setattr__(self, "values", means)
        object.__setattr__(self, "report", self._reported(len(first), len(indices), dropped))

    def _reported(self, n: int, n_kept: int, dropped: dict[str, int]) -> ReadReport:
        """Add the pairs that this class merged or dropped to the report."""
        here = {reason: count for reason, count in dropped.items() if count}
        before = self.report.dropped
        return replace(
            self.report,
            n_read=max(self.report.n_read, n + sum(before.values())),
            merged=self.report.merged + n - n_kept - sum(here.values()),
            dropped={
                reason: before.get(reason, 0) + here.get(reason, 0) for reason in {**before, **here}
            },
        )

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
        """Unique words in the order and spelling of their first occurrence."""
        spellings: dict[str, str] = {}
        for pair in self.pairs:
            for word in pair:
                spellings.setdefault(fold(word), word)
        return tuple(spellings.values())
