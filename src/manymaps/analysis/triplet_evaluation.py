"""Accuracy with which an atlas predicts choices among three objects.

A triplet is a choice among pairs. The atlas predicts the pair with the largest similarity v_ij,
which is the most probable choice by Luce's rule. The symmetric similarity v is the similarity in
the maps before normalization. Tied pairs share the prediction equally. The accuracy is compared
with:

    chance       1/3, or 1/2 for "i is closer to j than to k"
    ceiling      bounds on the accuracy for triplets that were asked more than once
                 (`Triplets.noise_ceiling`)
    popularity   pairs ranked by how often their two objects are in a chosen pair
    counts       pairs ranked by the share of times that they were chosen when offered; popularity
                 and counts are computed from the triplets of other questions in the other nine
                 tenths of the data
    vectors      pairs ranked by the cosine of vectors

The 95 % intervals are computed from the standard error over questions. Answers to the same question
depend on each other, so they form one unit (`manymaps.data.triplets.question_mean`). A gain is the
difference between the accuracies of the atlas and of a measure, computed per triplet.

Arrays: values (n, 3), with the chosen pair first; scores (n, n_options), with the chosen option
first.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from manymaps.affinity.walks import pair_cosines
from manymaps.analysis.rating_evaluation import (
    NOT_MEASURED,
    OF_ATLAS,
    by_measure,
    check_one_kind,
    vectors_of,
)
from manymaps.atlas.atlas import Atlas
from manymaps.data.triplets import NoiseCeiling, Triplets, question_mean
from manymaps.data.vectors import Vectors
from manymaps.errors import DataError
from manymaps.labels import first_of, label_places, only_count
from manymaps.metrics.measures import Interval, ratio
from manymaps.progress import work
from manymaps.seeds import RandomState

# Number of folds. Nine tenths of the triplets remain for counting. The value is not tuned.
N_FOLDS = 10
# A table of all pairs of 6,000 objects takes 275 MiB. With more objects, each required pair is
# computed separately.
_TABLE = 6_000
# Number of triplets per block, which limits memory; not tuned.
_BLOCK = 1 << 14

Scores = Callable[[np.ndarray, np.ndarray], np.ndarray]


@dataclass(frozen=True, eq=False, repr=False)
class TripletEvaluation:
    """Accuracy of predicted triplets, compared with simpler measures.

    Attributes
    ----------
    accuracy : dict of str to Interval
        Accuracy by measure: "atlas", "popularity", "counts" and, if there are vectors, "vectors".
    gain : dict of str to Interval
        Difference between the accuracy of the atlas and the accuracy of each other measure.
    chance : float
        Accuracy by chance.
    ceiling : NoiseCeiling or None
        Bounds on the accuracy of any model; None if no triplet was asked more than once.
    kind : {"odd", "closer"}
        Kind of the triplets.
    n_triplets, n_known : int
        Number of all triplets, and number of measured triplets, whose objects are all in the atlas.
    unknown : tuple of str
        Objects of triplets that are not in the atlas or the vectors.
    hits : dict of str to ndarray of shape (n_known,)
        Value of each choice: 1 if the measure predicts the choice, 1/k if k options are tied, and 0
        otherwise.

    See Also
    --------
    evaluate, Triplets

    Examples
    --------
    >>> import numpy as np
    >>> from manymaps import Atlas, Triplets, evaluate
    >>> from manymaps.model import MULTIPLE_MAPS_T_SNE
    >>> maps = np.array([[[0.0], [0.1], [9.0]], [[0.0], [9.0], [0.1]]])
    >>> half = np.array([[.5, 1., 0.], [.5, 0., 1.]])
    >>> atlas = Atlas(["tie", "knot", "suit"], maps, half, MULTIPLE_MAPS_T_SNE)
    >>> evaluation = evaluate(atlas, Triplets([[0, 1, 2], [0, 2, 1]], atlas.labels))
    >>> evaluation.n_triplets
    2
    """

    accuracy: Mapping[str, Interval]
    gain: Mapping[str, Interval]
    chance: float
    ceiling: NoiseCeiling | None
    kind: str
    n_triplets: int
    n_known: int
    unknown: tuple[str, ...]
    hits: Mapping[str, np.ndarray]

    def __repr__(self) -> str:
        accuracies = ", ".join(f"{name} {one.value:.3f}" for name, one in self.accuracy.items())
        return (
            f"<TripletEvaluation of {self.n_known:,} of {self.n_triplets:,} triplets: {accuracies}>"
        )

    def record(self) -> dict[str, Any]:
        """Return the measures under the names that the command line prints.

        Returns
        -------
        dict
            Value of each measure by name. Measures of other kinds of data are None. "ceiling" is
            the accuracy of the majority answer, and "ceiling_by_others" is the accuracy of the
            majority of the other answers. The printed bounds are "ceiling_at_least" and
            "ceiling_at_most".
        """
        accuracy, *limits = self.accuracy[OF_ATLAS]
        ceiling = self.ceiling
        return {
            **dict.fromkeys(NOT_MEASURED),
            "accuracy": accuracy,
            "accuracy_interval": limits,
            "chance": self.chance,
            "ceiling": None if ceiling is None else ceiling.majority,
            "ceiling_by_others": None if ceiling is None else ceiling.others,
            "ceiling_at_least": None if ceiling is None else ceiling.at_least,
            "ceiling_at_most": None if ceiling is None else ceiling.at_most,
            "n_repeated": 0 if ceiling is None else ceiling.n_repeated,
            "measures": by_measure(accuracy=self.accuracy, gain=self.gain),
            "kind": self.kind,
            "n_triplets": self.n_triplets,
            "n_known": self.n_known,
            "unknown": list(self.unknown),
        }


def choice_accuracy(triplets: Triplets, scores: Scores) -> np.ndarray:
    """Compute the accuracy with which scores predict the chosen pair of each triplet.

    Parameters
    ----------
    triplets : Triplets
        Triplets with their choices.
    scores : callable
        Function (first, second) -> score from arrays of object indices to one number per pair.

    Returns
    -------
    ndarray of shape (n_triplets,)
        Accuracy for each triplet. It is 1 if the chosen pair has the largest score, 1/k if k pairs
        are tied for the largest score, and 0 otherwise.

    Examples
    --------
    >>> asked = Triplets([[0, 1, 3], [0, 3, 1], [0, 2, 1]])
    >>> choice_accuracy(asked, lambda i, j: -abs(i - j)).tolist()
    [1.0, 0.0, 0.0]
    """
    columns = triplets.values.T
    values = np.stack([scores(columns[a], columns[b]) for a, b in triplets.options], axis=1)
    best = values == values.max(axis=1, keepdims=True)
    return np.asarray(best[:, 0] / best.sum(axis=1))


def evaluate_triplets(
    atlas: Atlas,
    triplets: Triplets,
    *,
    vectors: Vectors | None = None,
    random_state: RandomState = 0,
) -> TripletEvaluation:
    """Measure the share of triplets that an atlas predicts.

    The function `manymaps.evaluate` documents the parameters.

    Raises
    ------
    DataError
        If the atlas does not contain any triplet, or if it is bipartite.
    """
    check_one_kind(atlas, "triplets")
    place = _places(triplets, atlas.labels)
    there = [place]
    values, words = vectors_of(atlas, vectors)
    of_vectors = place if vectors is None else _places(triplets, words)
    if values is not None:
        there.append(of_vectors)
    known = np.all([indices >= 0 for indices in there], axis=0)
    asked = known[triplets.values].all(axis=1)
    appears = np.bincount(triplets.values.ravel(), minlength=triplets.n_objects) > 0
    names = triplets.labels or ()
    unknown = tuple(names[i] for i in np.flatnonzero(appears & ~known).tolist())
    if not asked.any():
        raise DataError(
            f"none of the {len(triplets):,} triplets of {triplets.report.source} has all three "
            f"objects in the {'atlas' if values is None else 'atlas and the vectors'} (missing: "
            f"{first_of(unknown)}); the atlas contains {first_of(atlas.labels)}"
        )
    some = triplets if asked.all() else triplets.take(np.flatnonzero(asked))
    hits = {OF_ATLAS: choice_accuracy(some, _of_atlas(atlas, place, len(some)))}
    hits |= _counted(some, random_state)
    if values is not None:
        hits["vectors"] = choice_accuracy(some, _of_vectors(values, of_vectors, len(some)))
    of_atlas, questions = hits[OF_ATLAS], some.questions
    return TripletEvaluation(
        accuracy={name: _mean(values, questions) for name, values in hits.items()},
        gain={
            name: _mean(of_atlas - values, questions)
            for name, values in hits.items()
            if name != OF_ATLAS
        },
        chance=some.chance,
        ceiling=some.noise_ceiling(),
        kind=some.kind,
        n_triplets=len(triplets),
        n_known=len(some),
        unknown=unknown,
        hits=hits,
    )


def _places(triplets: Triplets, labels: Any) -> np.ndarray:
    """Return the index of each triplet object in `labels`, or -1 for unknown objects.

    If the triplets have no labels, the indices of the objects are used.
    """
    names = triplets.labels or ()
    indices = np.array(label_places(names, labels))
    if (indices < 0).any() and only_count(names):
        numbers = np.arange(len(names))
        indices = np.where(numbers < len(labels), numbers, -1)
    return indices


def _of_atlas(atlas: Atlas, place: np.ndarray, n_triplets: int) -> Scores:
    """Score pairs of the triplets' objects by log v."""
    choices = atlas.choices

    def scores(i: np.ndarray, j: np.ndarray) -> np.ndarray:
        return choices.log_pair_similarities(place[i], place[j])

    return _tabulated(scores, len(place), n_triplets)


def _of_vectors(values: Any, place: np.ndarray, n_triplets: int) -> Scores:
    """Score pairs of the triplets' objects by the cosine of their vectors."""
    rows = values[np.maximum(place, 0)]

    def scores(i: np.ndarray, j: np.ndarray) -> np.ndarray:
        parts = [slice(start, start + _BLOCK) for start in range(0, len(i), _BLOCK)]
        return np.concatenate([pair_cosines(rows, i[some], j[some]) for some in parts])

    return _tabulated(scores, len(place), n_triplets)


def _tabulated(scores: Scores, n_objects: int, n_triplets: int) -> Scores:
    """Tabulate symmetric scores if the triplets need more pairs than the table contains."""
    if n_objects > _TABLE or n_triplets < n_objects**2 // 4:
        return scores
    table = np.empty((n_objects, n_objects))
    everyone = np.arange(n_objects)
    with work("similarities", total=n_objects) as at:
        for i in range(n_objects):
            later = everyone[i:]
            table[i, later] = table[later, i] = scores(np.full(len(later), i), later)
            at(i + 1)
    return lambda i, j: table[i, j]


def _counted(triplets: Triplets, random_state: RandomState) -> dict[str, np.ndarray]:
    """Compute how well counts from the other folds predict each triplet; (n,) per measure."""
    fold = triplets.folds(N_FOLDS, random_state)
    hits = {name: np.full(len(triplets), triplets.chance) for name in ("popularity", "counts")}
    whole = triplets.counts()
    for k in range(N_FOLDS):
        mine = np.flatnonzero(fold == k)
        if not len(mine) or len(mine) == len(triplets):
            continue
        part = triplets.take(mine)
        counts = [(all_of - held).astype(np.float64) for all_of, held in
                  zip(whole, part.counts(), strict=True)]  # fmt: skip
        chosen, asked = (table.sum(axis=1) for table in counts)
        hits["popularity"][mine] = choice_accuracy(part, _sums(ratio(chosen, asked, 0.0)))
        hits["counts"][mine] = choice_accuracy(part, _proportions(counts, triplets.chance))
    return hits


def _sums(rate: np.ndarray) -> Scores:
    return lambda i, j: rate[i] + rate[j]


def _proportions(counts: Any, otherwise: float) -> Scores:
    """Score pairs by the share of times they were chosen; `otherwise` if never offered."""
    chosen, asked = counts
    if asked.shape[0] <= _TABLE:
        table = ratio(chosen.toarray(), asked.toarray(), otherwise)
        return lambda i, j: table[i, j]
    return lambda i, j: ratio(chosen[i, j], asked[i, j], otherwise)


def _mean(values: np.ndarray, questions: np.ndarray) -> Interval:
    mean, margin = question_mean(np.bincount(questions, values), np.bincount(questions))
    return Interval(mean, mean - margin, mean + margin)
