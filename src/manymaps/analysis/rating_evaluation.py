"""Correlation of an atlas with ratings of word pairs.

The relatedness of two objects in an atlas is derived from their association probabilities in both
directions,

    relatedness(i, j) = (log q_ij + log q_ji) / 2

The relatedness is the log of the geometric mean of the two probabilities, because ratings have no
direction and because participants rate differences, not ratios. Under a joint model, it is log v_ij
plus a constant. For these reasons, this form was selected from several forms without parameters.
Each of the other forms correlates by 0.02 more with one set of ratings and less with another. The
form was not fitted to any of these sets.

The 95 % interval is computed by a jackknife over words, because pairs with a word in common depend
on each other (`manymaps.metrics.pair_correlations`).

Arrays: relatedness, ratings (n_pairs,).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from manymaps.analysis.record import Record
from manymaps.atlas.atlas import Atlas
from manymaps.errors import DataError
from manymaps.labels import first_of, label_places
from manymaps.metrics.pair_correlations import pair_correlation

if TYPE_CHECKING:
    import pandas as pd

# A correlation over two pairs is always 1 or -1.
FEWEST_PAIRS = 3


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


def evaluate_ratings(atlas: Atlas, ratings: pd.DataFrame) -> Record:
    """Correlate ratings with the relatedness of the pairs in an atlas.

    Raises
    ------
    DataError
        If the atlas contains fewer than three pairs, if it is bipartite, or if all ratings are
        equal.
    """
    words = ratings[["word1", "word2"]].to_numpy()
    places = np.array([label_places(ends.tolist(), atlas.labels) for ends in words.T])
    unknown = list(dict.fromkeys(words.T[places < 0].tolist()))
    known = (places >= 0).all(axis=0)
    a, b = places[:, known]
    n_known, values = int(known.sum()), ratings["rating"].to_numpy(np.float64)[known]
    if n_known < FEWEST_PAIRS:
        raise DataError(
            f"the atlas contains both words of {n_known} of {len(ratings):,} pairs of "
            f"{ratings.attrs['source']}; at least {FEWEST_PAIRS} pairs are needed, and the atlas "
            f"begins with {first_of(atlas.labels)}"
        )
    if np.ptp(values) == 0:
        raise DataError(
            f"all {n_known:,} pairs of {ratings.attrs['source']} that the atlas contains are rated "
            f"{values[0]:g}; correlations need ratings that differ"
        )
    modelled = relatedness(atlas, a, b)
    spearman, low, high = pair_correlation(modelled, values, a, b).interval()
    summary = f"Evaluation of {n_known:,} of {len(ratings):,} pairs: spearman {spearman:.3f}"
    of_pairs = {"spearman": spearman, "spearman_interval": [low, high], "n_pairs": len(ratings)}
    of_pairs |= {"n_known": n_known, "coverage": n_known / len(ratings), "unknown": unknown}
    words1, words2 = words[known].T
    columns = {"word1": words1, "word2": words2, "rating": values, "relatedness": modelled}
    return Record(summary, of_pairs, columns)
