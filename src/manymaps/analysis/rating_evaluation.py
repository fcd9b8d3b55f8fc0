"""Agreement of an atlas, and of simpler measures, with ratings of word pairs.

The relatedness of two objects in an atlas is derived from their association probabilities in both
directions,

    relatedness(i, j) = (log q_ij + log q_ji) / 2

The relatedness is the log of the geometric mean of the two probabilities, because ratings have no
direction and because participants rate differences, not ratios. Under a joint model, it is log v_ij
plus a constant. For these reasons, this form was selected from several forms without parameters.
Each of the other forms correlates by 0.02 more with one set of ratings and less with another
(`benchmarks/ratings.py`). The form was not fitted to any of these sets.

The atlas is compared with the following measures of the same pairs:

    strength       (p_ij + p_ji) / 2, the mean associative strength over both directions
    PPMI cosine    cosine of the responses to both, weighted by how informative they are
                   (`manymaps.affinity.walks`)
    Katz walk      the same for all words that walks through the network reach
    vectors        the cosine of word vectors

The 95 % intervals are computed by a jackknife over words, because pairs with a word in common
depend on each other (`manymaps.metrics.pair_correlations`). Separate intervals are computed for
differences between two measures over the same pairs.

Arrays: relatedness, ratings, strengths (n_pairs,).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from manymaps.affinity.walks import (
    USUAL_DECAY,
    pair_cosines,
    positive_information,
    walk_similarities,
)
from manymaps.atlas.atlas import Atlas
from manymaps.data.associations import Associations
from manymaps.data.ratings import Ratings
from manymaps.data.results import TabularResult
from manymaps.data.trials import Trials, as_associations
from manymaps.data.vectors import Vectors
from manymaps.errors import DataError, setting
from manymaps.labels import first_of, label_places
from manymaps.metrics.measures import Interval
from manymaps.metrics.pair_correlations import PairCorrelation, pair_correlation

#: Measures for other kinds of data, which are None in records.
NOT_MEASURED = ("kl_divergence", "mu_local", "mu_global", "recall_at_10")

OF_ATLAS = "atlas"
# A correlation over two pairs is always 1 or -1.
FEWEST_PAIRS = 3
# Published strengths are rounded to three decimals.
_ROUNDING = 1e-3


@dataclass(frozen=True, eq=False, repr=False)
class RatingEvaluation(TabularResult):
    """Agreement of an atlas and simpler measures with ratings.

    Attributes
    ----------
    pearson, spearman : dict of str to Interval
        Correlations by measure: "atlas" and, if they could be computed, "strength", "ppmi_cosine",
        "katz_walk" and "vectors". The correlations are computed over the pairs that all of these
        measures contain.
    pearson_gain, spearman_gain : dict of str to Interval
        Difference between the correlation of the atlas and the correlation of each other measure.
    alone : tuple of Interval, or None
        Pearson's and Spearman's correlations of the atlas over all pairs that the atlas contains,
        if there are more such pairs than pairs that all measures contain.
    n_pairs, n_known, n_compared : int
        Numbers of rated pairs, of pairs whose words are both in the atlas, and of pairs that every
        measure contains.
    unknown : tuple of str
        Words that are not in the atlas.
    pairs : tuple of (str, str), length n_known
        Pairs whose words are both in the atlas.
    ratings : ndarray of shape (n_known,)
        Ratings of these pairs.
    predicted : dict of str to ndarray of shape (n_known,)
        Values of each measure for these pairs. A value is NaN if the measure lacks a word.
    notes : tuple of str
        Notes on omitted measures.

    See Also
    --------
    evaluate, Ratings

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
    >>> round(evaluation.spearman["atlas"].value, 2)
    1.0
    """

    pearson: Mapping[str, Interval]
    spearman: Mapping[str, Interval]
    pearson_gain: Mapping[str, Interval]
    spearman_gain: Mapping[str, Interval]
    alone: tuple[Interval, Interval] | None
    n_pairs: int
    n_known: int
    n_compared: int
    unknown: tuple[str, ...]
    pairs: tuple[tuple[str, str], ...]
    ratings: np.ndarray
    predicted: Mapping[str, np.ndarray]
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        correlations = ", ".join(f"{name} {one.value:.3f}" for name, one in self.spearman.items())
        return f"<RatingEvaluation of {self.n_known:,} of {self.n_pairs:,} pairs: {correlations}>"

    @property
    def coverage(self) -> float:
        """Share of the rated pairs whose words are both in the atlas."""
        return self.n_known / self.n_pairs

    def record(self) -> dict[str, Any]:
        """Return the measures under the names that the command line prints.

        Returns
        -------
        dict
            Value of each measure by name. Measures of other kinds of data are None.
        """
        pearson, spearman = self.alone or (self.pearson[OF_ATLAS], self.spearman[OF_ATLAS])
        return {
            **dict.fromkeys(NOT_MEASURED),
            "pearson": pearson.value,
            "spearman": spearman.value,
            "pearson_interval": list(pearson[1:]),
            "spearman_interval": list(spearman[1:]),
            "measures": by_measure(
                pearson=self.pearson,
                spearman=self.spearman,
                pearson_gain=self.pearson_gain,
                spearman_gain=self.spearman_gain,
            ),
            "n_pairs": self.n_pairs,
            "n_known": self.n_known,
            "n_compared": self.n_compared,
            "coverage": self.coverage,
            "unknown": list(self.unknown),
        }

    @property
    def columns(self) -> dict[str, np.ndarray]:
        """Table with the words, rating and measures of each pair that the atlas contains."""
        return {
            "word1": np.array([a for a, _ in self.pairs], dtype=object),
            "word2": np.array([b for _, b in self.pairs], dtype=object),
            "rating": self.ratings,
            **self.predicted,
        }


def by_measure(**tables: Mapping[str, Interval]) -> dict[str, dict[str, Any]]:
    """Return the intervals of each measure of the first table as plain values, or None."""
    return {
        name: {
            key: table[name]._asdict() if name in table else None for key, table in tables.items()
        }
        for name in next(iter(tables.values()))
    }


def check_one_kind(atlas: Atlas, data: str) -> None:
    """Reject a bipartite atlas."""
    if atlas.kinds is not None:
        raise DataError(f"the atlas is bipartite; {data} need an atlas with one kind of object")


def vectors_of(atlas: Atlas, vectors: Vectors | None) -> tuple[Any, Sequence[str]]:
    """Return the vectors passed, or those stored in the atlas, with their labels."""
    return (atlas.vectors, atlas.labels) if vectors is None else (vectors.values, vectors.labels)


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
    check_one_kind(atlas, "judgements of pairs")
    logs = atlas.choices.log_choices(np.asarray(first), np.asarray(second))
    finite = np.isfinite(logs)
    return np.where(finite, logs, logs[finite].min(initial=0.0) if finite.any() else 0.0)


def evaluate_ratings(
    atlas: Atlas,
    ratings: Ratings,
    *,
    norms: Associations | Trials | None = None,
    vectors: Vectors | None = None,
    decay: float = USUAL_DECAY,
) -> RatingEvaluation:
    """Correlate ratings with an atlas and with simpler measures.

    The function `manymaps.evaluate` documents the parameters.

    Raises
    ------
    DataError
        If the atlas contains fewer than three pairs, or if it is bipartite.
    ParameterError
        If the decay is out of range.
    """
    a, b = _places(ratings, atlas.labels)
    known = (a >= 0) & (b >= 0)
    unknown = _unknown(ratings, a, b)
    if known.sum() < FEWEST_PAIRS:
        n_known = int(known.sum())
        lacking = f"; it lacks {first_of(unknown)} and begins with {first_of(atlas.labels)}"
        raise DataError(
            f"the atlas contains both words of {n_known} of {len(ratings):,} pairs of "
            f"{ratings.report.source}; at least {FEWEST_PAIRS} pairs are needed"
            + (lacking if unknown else "")
        )
    if np.ptp(ratings.values[known]) == 0:
        raise DataError(
            f"all {known.sum():,} pairs of {ratings.report.source} that the atlas contains are "
            f"rated {ratings.values[known][0]:g}; correlations need ratings that differ"
        )
    measures, notes = _measured(atlas, ratings, as_associations(norms), vectors, decay)
    predicted = {OF_ATLAS: relatedness(atlas, a[known], b[known])}
    predicted |= {name: values[known] for name, values in measures.items()}
    values = ratings.values[known]
    shared = _shared(predicted, notes)

    def correlation(name: str, some: np.ndarray, ranks: bool) -> PairCorrelation:
        columns = (predicted[name], values, a[known], b[known])
        return pair_correlation(*(column[some] for column in columns), ranks=ranks)

    pearson, spearman = (
        {name: correlation(name, shared, ranks) for name in predicted} for ranks in (False, True)
    )
    each = np.ones(len(shared), bool)
    alone = (correlation(OF_ATLAS, each, ranks).interval() for ranks in (False, True))
    return RatingEvaluation(
        pearson={name: one.interval() for name, one in pearson.items()},
        spearman={name: one.interval() for name, one in spearman.items()},
        pearson_gain=_gains(pearson),
        spearman_gain=_gains(spearman),
        alone=None if shared.all() else (next(alone), next(alone)),
        n_pairs=len(ratings),
        n_known=int(known.sum()),
        n_compared=int(shared.sum()),
        unknown=unknown,
        pairs=tuple(pair for pair, there in zip(ratings.pairs, known, strict=True) if there),
        ratings=values,
        predicted=predicted,
        notes=tuple(notes),
    )


def _shared(predicted: dict[str, np.ndarray], notes: list[str]) -> np.ndarray:
    """Return a mask of the pairs that all measures contain; omit measures with too few pairs."""
    shared = _known_to_all(predicted)
    for name in [name for name in predicted if name != OF_ATLAS]:
        if shared.sum() < FEWEST_PAIRS:
            notes.append(f"{name} is omitted, because it contains too few of the pairs")
            del predicted[name]
            shared = _known_to_all(predicted)
    return shared


def _known_to_all(predicted: Mapping[str, np.ndarray]) -> np.ndarray:
    return np.asarray(~np.isnan(np.array(list(predicted.values()))).any(axis=0))


def _places(ratings: Ratings, labels: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """Return the indices of both words of each pair in `labels`, or -1 for unknown words."""
    return (
        np.array(label_places(ratings.first, labels)),
        np.array(label_places(ratings.second, labels)),
    )


def _unknown(ratings: Ratings, a: np.ndarray, b: np.ndarray) -> tuple[str, ...]:
    """Return the unique words without an index."""
    places = zip([*ratings.first, *ratings.second], [*a, *b], strict=True)
    return tuple(dict.fromkeys(word for word, place in places if place < 0))


def _measured(
    atlas: Atlas,
    ratings: Ratings,
    norms: Associations | None,
    vectors: Vectors | None,
    decay: float,
) -> tuple[dict[str, np.ndarray], list[str]]:
    """Compute simpler measures of the pairs, (n_pairs,); NaN if a measure lacks a word."""
    measures: dict[str, np.ndarray] = {}
    notes: list[str] = []
    table, labels = (None, atlas.labels) if norms is None else (norms.strengths, norms.labels)
    if table is None and atlas.associations is not None:
        sums = atlas.associations.sum(axis=1)
        # If its rows sum to 1, the atlas stores all associations that it was fitted to.
        if (np.abs(sums[sums > 0] - 1) < _ROUNDING).all():
            table = atlas.associations
        else:
            notes.append(
                "measures of the norms are omitted, because the atlas stores only the strongest "
                f"associations of each object; pass the norms as {setting('norms')}"
            )
    if table is not None:
        a, b = _places(ratings, labels)
        strengths = sparse.csr_array(table, dtype=np.float64)
        for name, measure in (
            ("strength", lambda i, j: (strengths[i, j] + strengths[j, i]) / 2),
            ("ppmi_cosine", lambda i, j: pair_cosines(positive_information(strengths), i, j)),
            ("katz_walk", lambda i, j: walk_similarities(strengths, i, j, decay=decay)),
        ):
            measures[name] = _where_known(measure, a, b)
    values, words = vectors_of(atlas, vectors)
    if values is not None:
        a, b = _places(ratings, words)
        measures["vectors"] = _where_known(lambda i, j: _cosines(values, i, j), a, b)
    return measures, notes


def _where_known(measure: Any, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    known = (a >= 0) & (b >= 0)
    values = np.full(len(a), np.nan)
    if known.any():
        values[known] = measure(a[known], b[known])
    return values


def _cosines(values: Any, i: np.ndarray, j: np.ndarray) -> np.ndarray:
    """Compute cosines from the required rows only, so that no other rows of a file are read."""
    places, at = np.unique(np.concatenate([i, j]), return_inverse=True)
    return pair_cosines(values[places], at[: len(i)], at[len(i) :])


def _gains(correlations: Mapping[str, PairCorrelation]) -> dict[str, Interval]:
    """Compute the difference between the correlations of the atlas and of each measure."""
    atlas = correlations[OF_ATLAS]
    return {name: atlas.gain(one) for name, one in correlations.items() if name != OF_ATLAS}
