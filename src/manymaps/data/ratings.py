"""Ratings: pairs of words, and how similar or related people find them.

    (tie, knot)  6.5      (tie, tuxedo)  7.1      (knot, tuxedo)  0.4

A pair has no direction and stands once: what is given of it again, either way round, is averaged.
A word with itself says nothing of a model and is left out. `manymaps.evaluate` correlates ratings
with what an atlas makes of the same pairs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from manymaps.data.associations import ReadReport
from manymaps.errors import DataError
from manymaps.labels import fold, shown

__all__ = ["EMPTY_WORD", "Ratings"]

EMPTY_WORD = "a word is empty"
_SELF = "pair of a word with itself"


@dataclass(frozen=True, eq=False, repr=False)
class Ratings:
    """Rated pairs of words, each once.

    Parameters
    ----------
    first, second : sequence of str, length n_pairs
        The words of each pair.
    values : array of shape (n_pairs,)
        Finite numbers; higher is more alike.
    report : ReadReport, optional
        How the data came to be. Pairs that are merged or left out here are added to it.

    Raises
    ------
    DataError
        Where lengths differ, a rating is not finite, or no pair is left.

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
                f"of shape {values.shape}; give one of each for every pair"
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
            one, other = map(fold, pair)
            if not one or not other:
                dropped[EMPTY_WORD] += 1
            elif one == other:
                dropped[_SELF] += 1
            else:
                groups.setdefault((min(one, other), max(one, other)), []).append(k)
        if not groups:
            raise DataError(
                f"{self.report.source} holds no rating of two different words; give two words and "
                "a number for each pair"
            )
        places = [group[0] for group in groups.values()]
        object.__setattr__(self, "first", tuple(first[k] for k in places))
        object.__setattr__(self, "second", tuple(second[k] for k in places))
        means = np.array([values[group].mean() for group in groups.values()])
        object.__setattr__(self, "values", means)
        object.__setattr__(self, "report", self._reported(len(first), len(places), dropped))

    def _reported(self, n: int, n_kept: int, dropped: dict[str, int]) -> ReadReport:
        """The report with the pairs that were merged and left out here."""
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
        """The two words of each pair."""
        return tuple(zip(self.first, self.second, strict=True))

    @property
    def words(self) -> tuple[str, ...]:
        """All different words, in the order in which they come; case as they are first written."""
        spellings: dict[str, str] = {}
        for pair in self.pairs:
            for word in pair:
                spellings.setdefault(fold(word), word)
        return tuple(spellings.values())
