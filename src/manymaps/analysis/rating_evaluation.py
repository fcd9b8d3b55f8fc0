"""Correlation of an atlas with ratings of word pairs.

The relatedness of two objects in an atlas is derived from their association probabilities in both
directions,

    relatedness(i, j) = (log q_ij + log q_ji) / 2

The relatedness is the log of the geometric mean of the two probabilities, because ratings have no
direction and because participants rate differences, not ratios. Under a joint model, it is log v_ij
plus a constant. For these reasons, this form was selected from several forms without parameters.
Each of the other forms correlates by 0.02 more with one set of ratings and less with another
(`benchmarks/ratings.py`). The form was not fitted to any of these sets.

The 95 % interval is computed by a jackknife over words, because pairs with a word in common depend
on each other (`manymaps.metrics.pair_correlations`).

Arrays: relatedness, ratings (n_pairs,).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from manymaps.atlas.atlas import Atlas
from manymaps.data.results import TabularResult
from manymaps.data.tables import source_of
from manymaps.errors import DataError
from manymaps.labels import first_of, label_places
from manymaps.metrics.measures import Interval
from manymaps.metrics.pair_correlations import pair_correlation

if TYPE_CHECKING:
    import pandas as pd

# A correlation over two pairs is always 1 or -1.
FEWEST_PAIRS = 3


@dataclass(frozen=True, eq=False, repr=False)
class RatingEvaluation(TabularResult):
    """Spearman's correlation of an atlas with ratings.

    Attributes
    ----------
    spearman : Interval
        Spearman's correlation of the ratings with the relatedness of the pairs in the atlas, with
        its 95 % interval, from -1 to 1.
    n_pairs : int
        Number of rated pairs.
    unknown : tuple of str
        Words that are not in the atlas.
    pairs : tuple of (str, str), length n_known
        Pairs whose words are both in the atlas.
    ratings : ndarray of shape (n_known,)
        Ratings of these pairs.
    relatedness : ndarray of shape (n_known,)
        Mean log of the association probabilities of these pairs in both directions.

    See Also
    --------
    evaluate, read_ratings

    Examples
    --------
    >>> import numpy as np
    >>> from manymaps import Atlas, evaluate, ratings_from
    >>> from manymaps.model import T_SNE
    >>> line = np.array([[[0.0], [1], [3], [7]]])
    >>> atlas = Atlas(["coat", "jacket", "tie", "river"], line, np.ones((1, 4)), T_SNE)
    >>> rated = ratings_from([("coat", "jacket", 9), ("jacket", "tie", 6), ("tie", "river", 2),
    ...                       ("coat", "tie", 5), ("coat", "river", 1)])
    >>> evaluation = evaluate(atlas, rated)
    >>> round(evaluation.spearman.value, 2)
    1.0
    """

    spearman: Interval
    n_pairs: int
    unknown: tuple[str, ...]
    pairs: tuple[tuple[str, str], ...]
    ratings: np.ndarray
    relatedness: np.ndarray

    def __repr__(self) -> str:
        known = f"{self.n_known:,} of {self.n_pairs:,} pairs"
        return f"<RatingEvaluation of {known}: Spearman {self.spearman.value:.3f}>"

    @property
    def n_known(self) -> int:
        """Number of rated pairs whose words are both in the atlas."""
        return len(self.pairs)

    @property
    def coverage(self) -> float:
        """Share of the rated pairs whose words are both in the atlas."""
        return self.n_known / self.n_pairs

    def record(self) -> dict[str, Any]:
        """Return the measures under the names that the command line prints.

        Returns
        -------
        dict
            Value of each measure by name.
        """
        return {
            "spearman": self.spearman.value,
            "spearman_interval": list(self.spearman[1:]),
            "n_pairs": self.n_pairs,
            "n_known": self.n_known,
            "coverage": self.coverage,
            "unknown": list(self.unknown),
        }

    @property
    def columns(self) -> dict[str, np.ndarray]:
        """Table with the words, rating and relatedness of each pair that the atlas contains."""
        return {
            "word1": np.array([a for a, _ in self.pairs], dtype=object),
            "word2": np.array([b for _, b in self.pairs], dtype=object),
            "rating": self.ratings,
            "relatedness": self.relatedness,
        }


def relatedness(atlas: Atlas, first: ArrayLike, second: ArrayLike) -> np.ndarray:
    """Compute the relatedness of pairs of objects in an atlas, on a finite log scale.

    Parameters
    ----------
    atlas : Atlas
        Atlas whose rows and columns are the same objects.
    first, second : array of int, shape (n_pairs,)
        Indices of the objects of each pair.

    Returns
    -------
    ndarray of shape (n_pairs,)
        The relatedness (log q_ij + log q_ji) / 2. Two objects without a common map are assigned the
        lowest value of all pairs.

    Raises
    ------
    DataError
        If the atlas is bipartite, with separate rows and columns.

    Examples
    --------
    >>> import numpy as np
    >>> from manymaps import Atlas
    >>> from manymaps.model import MULTIPLE_MAPS_T_SNE
    >>> maps = np.array([[[0.0], [0.1], [9.0]], [[0.0], [9.0], [0.1]]])
    >>> half = np.array([[.5, .9, .1], [.5, .1, .9]])
    >>> atlas = Atlas(["tie", "knot", "tuxedo"], maps, half, MULTIPLE_MAPS_T_SNE)
    >>> near, far = relatedness(atlas, [0, 1], [1, 2])
    >>> bool(near > far)
    True
    """
    if atlas.kinds is not None:
        raise DataError("the atlas is bipartite; ratings need an atlas with one kind of object")
    logs = atlas.choices.log_choices(np.asarray(first), np.asarray(second))
    finite = np.isfinite(logs)
    return np.where(finite, logs, logs[finite].min(initial=0.0) if finite.any() else 0.0)


def evaluate_ratings(atlas: Atlas, ratings: pd.DataFrame) -> RatingEvaluation:
    """Correlate ratings with the relatedness of the pairs in an atlas.

    Raises
    ------
    DataError
        If the atlas contains fewer than three pairs, if it is bipartite, or if all ratings are
        equal.
    """
    words = ratings[["word1", "word2"]].to_numpy()
    places = np.array([label_places(ends.tolist(), atlas.labels) for ends in words.T])
    unknown = tuple(dict.fromkeys(words.T[places < 0].tolist()))
    known = (places >= 0).all(axis=0)
    a, b = places[:, known]
    n_known, values = int(known.sum()), ratings["rating"].to_numpy(np.float64)[known]
    if n_known < FEWEST_PAIRS:
        lacking = f"; it lacks {first_of(unknown)} and begins with {first_of(atlas.labels)}"
        raise DataError(
            f"the atlas contains both words of {n_known} of {len(ratings):,} pairs of "
            f"{source_of(ratings)}; at least {FEWEST_PAIRS} pairs are needed"
            + (lacking if unknown else "")
        )
    if np.ptp(values) == 0:
        raise DataError(
            f"all {n_known:,} pairs of {source_of(ratings)} that the atlas contains are rated "
            f"{values[0]:g}; correlations need ratings that differ"
        )
    modelled = relatedness(atlas, a, b)
    return RatingEvaluation(
        spearman=pair_correlation(modelled, values, a, b).interval(),
        n_pairs=len(ratings),
        unknown=unknown,
        pairs=tuple(map(tuple, words[known].tolist())),
        ratings=values,
        relatedness=modelled,
    )
