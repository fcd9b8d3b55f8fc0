"""Agreement between clusters of word pairs and the true senses of the pairs.

A sense induction method assigns each stored pair (i, j) of word i to a cluster. If the true senses
are known, the two partitions of the word's n pairs are compared. Let n_sc be the number of pairs of
sense s in cluster c, and let n_s and n_c be the numbers of pairs in sense s and in cluster c. The
measures of a word are:

    precision       1/n sum_sc  n_sc^2 / n_c          B-cubed (Bagga & Baldwin 1998): among the
    recall          1/n sum_sc  n_sc^2 / n_s          pairs of a pair's cluster, the share of its
                                                      sense, and vice versa
    homogeneity     1 - H(s|c) / H(s)                 V-measure (Rosenberg & Hirschberg 2007)
    completeness    1 - H(c|s) / H(c)

All pairs of a word have equal weight, and all words have equal weight. The four measures are means
over the words with two or more senses, and

    F           2 P R / (P + R)     of the mean precision P and the mean recall R
    V-measure   the same            of the mean homogeneity and the mean completeness

so that each method corresponds to one point on the scale between too few and too many clusters, and
not to a mean of points. The clusters of different words are unrelated.

For maps, the cluster of a pair is the map that explains the pair best (`explaining_maps`). This is
the map with the largest

    v_ij^m = pi_i^m pi_j^m K(|y_i^m - y_j^m|^2 / width^2)

Interpret F and V-measure together, because V-measure tolerates many small clusters and B-cubed F
does not. Amigo et al. (2009) state further requirements for a clustering measure. Among the
measures that they compare, only B-cubed meets all of them.

Shapes: words, pair_senses, clusters (n_pairs,); maps (n_maps, n_objects, n_components).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from manymaps.errors import DataError
from manymaps.metrics.senses import check_maps, votes
from manymaps.model.choice import StoredKernel


@dataclass(frozen=True)
class SenseInduction:
    """Agreement between clusters of pairs and the senses of words.

    The docstring of the module `manymaps.metrics.induction` contains the formulas.

    Attributes
    ----------
    precision, recall, f : float in [0, 1]
        B-cubed precision and recall, each averaged over words, and their harmonic mean.
    homogeneity, completeness, v_measure : float in [0, 1]
        Homogeneity and completeness, each averaged over words, and their harmonic mean.
    n_words : int
        Number of words whose pairs have two or more senses. Only these words are evaluated.
    mean_clusters, mean_senses : float
        Mean number of clusters and mean number of senses per evaluated word.

    See Also
    --------
    sense_induction

    Examples
    --------
    >>> from manymaps.metrics import sense_induction
    >>> result = sense_induction(["tie"] * 4, [0, 0, 1, 1], [5, 5, 5, 2])
    >>> result.n_words, result.mean_senses, round(result.precision, 3), round(result.recall, 3)
    (1, 2.0, 0.667, 0.75)
    """

    precision: float
    recall: float
    f: float
    homogeneity: float
    completeness: float
    v_measure: float
    n_words: int
    mean_clusters: float
    mean_senses: float


def b_cubed(labels_true: Any, labels_pred: Any) -> tuple[float, float, float]:
    """Compute B-cubed precision, recall and F of one clustering against given classes.

    Parameters
    ----------
    labels_true, labels_pred : array-like of shape (n_samples,)
        Class and cluster of each sample, as labels of any type.

    Returns
    -------
    precision : float in [0, 1]
        Mean share of a sample's cluster that belongs to its class.
    recall : float in [0, 1]
        Mean share of a sample's class that belongs to its cluster.
    f : float in [0, 1]
        Harmonic mean of precision and recall. All three values are 1 if there are no samples, as in
        scikit-learn.

    Raises
    ------
    DataError
        If the labels are not two lists of the same length.

    See Also
    --------
    sense_induction

    References
    ----------
    A. Bagga and B. Baldwin, "Entity-based cross-document coreferencing using the vector space
    model", COLING-ACL 1998. E. Amigo, J. Gonzalo, J. Artiles and F. Verdejo, "A comparison of
    extrinsic clustering evaluation metrics based on formal constraints", Information Retrieval
    12 (2009).

    Examples
    --------
    >>> from manymaps.metrics import b_cubed
    >>> [round(value, 3) for value in b_cubed([0, 0, 1, 1], ["a", "a", "a", "b"])]
    [0.667, 0.75, 0.706]
    """
    classes, clusters = _codes(labels_true=labels_true, labels_pred=labels_pred)
    if len(classes) == 0:
        return 1.0, 1.0, 1.0
    found = _partitions(np.zeros_like(classes), classes, clusters)
    precision, recall = float(found.precision[0]), float(found.recall[0])
    return precision, recall, _harmonic(precision, recall)


def sense_induction(words: Any, pair_senses: Any, clusters: Any) -> SenseInduction:
    """Measure how well the clusters of each word's pairs agree with the senses of the pairs.

    Parameters
    ----------
    words : array-like of shape (n_pairs,)
        Word of each pair, such as the row of a stored pair.
    pair_senses : array-like of shape (n_pairs,)
        True sense of each pair. Labels need to be distinct only within a word, so two words may
        both have a sense 0.
    clusters : array-like of shape (n_pairs,)
        Cluster of each pair, with labels that are distinct within a word.

    Returns
    -------
    SenseInduction
        B-cubed and V-measure of the clusters.

    Raises
    ------
    DataError
        If the arguments are not lists of the same length, or if no word has two senses.

    See Also
    --------
    SenseInduction, b_cubed, explaining_maps

    References
    ----------
    See `b_cubed`. A. Rosenberg and J. Hirschberg, "V-measure: a conditional entropy-based
    external cluster evaluation measure", EMNLP-CoNLL 2007. S. Manandhar, I. Klapaftis, D. Dligach
    and S. Pradhan, "SemEval-2010 task 14: Word sense induction & disambiguation".

    Examples
    --------
    >>> from manymaps.metrics import sense_induction
    >>> words = ["tie", "tie", "tie", "tie", "oak"]
    >>> result = sense_induction(words, [0, 0, 1, 1, 0], [5, 5, 5, 2, 5])
    >>> round(result.f, 3), result.n_words, result.mean_clusters
    (0.706, 1, 2.0)
    """
    found = _partitions(*_codes(words=words, pair_senses=pair_senses, clusters=clusters))
    counted = found.n_senses >= 2
    if not counted.any():
        raise DataError("no word has pairs of two senses, so there are no senses to induce")
    precision, recall, homogeneity, completeness, n_clusters, n_senses = (
        float(values[counted].mean()) for values in found
    )
    return SenseInduction(
        precision,
        recall,
        _harmonic(precision, recall),
        homogeneity,
        completeness,
        _harmonic(homogeneity, completeness),
        int(counted.sum()),
        n_clusters,
        n_senses,
    )


def explaining_maps(
    maps: np.ndarray,
    proportions: np.ndarray,
    rows: Any,
    columns: Any,
    *,
    kernel: StoredKernel = "cauchy",
    kernel_width: float = 1.0,
) -> np.ndarray:
    """Find the map that explains each pair best, argmax over m of v_ij^m.

    Parameters
    ----------
    maps : ndarray of shape (n_maps, n_objects, n_components)
        Positions in all maps.
    proportions : ndarray of shape (n_maps, n_objects)
        Mixing proportions.
    rows, columns : array-like of int, shape (n_pairs,)
        Indices of the two objects of each pair, in either order.
    kernel : {"cauchy", "gaussian"}, default="cauchy"
        Kernel of the model.
    kernel_width : float > 0, default=1.0
        Width of the kernel, in units of the positions.

    Returns
    -------
    ndarray of int, shape (n_pairs,)
        Index of the map. If several maps are equal, the first is returned. The index is -1 for two
        objects that have no map in common.

    Raises
    ------
    DataError
        If shapes do not match, or if a pair contains an index that is out of range.
    ParameterError
        If the kernel is unknown, or the width is not positive.

    See Also
    --------
    sense_separation, sense_induction

    Examples
    --------
    >>> import numpy as np
    >>> from manymaps.metrics import explaining_maps
    >>> proportions = np.array([[.5, 1, 0], [.5, 0, 1]])                       # tie, knot, suit
    >>> explaining_maps(np.zeros((2, 3, 2)), proportions, [0, 0, 1], [1, 2, 2]).tolist()
    [0, 1, -1]
    """
    left, right = np.asarray(rows), np.asarray(columns)
    check_maps(maps, proportions)
    if left.ndim != 1 or left.shape != right.shape:
        raise DataError(
            f"rows have shape {left.shape} and columns {right.shape}; pass lists of equal length"
        )
    if len(left) == 0:
        return np.zeros(0, np.intp)
    lowest, highest = min(left.min(), right.min()), max(left.max(), right.max())
    if lowest < 0 or highest >= maps.shape[1]:
        raise DataError(
            f"the pairs are of objects {lowest} to {highest}; the maps have {maps.shape[1]} objects"
        )
    shares = votes(maps, proportions, left, right, kernel, kernel_width)
    best = shares.argmax(axis=1)
    best[~shares.any(axis=1)] = -1
    return best


class _Partitions(NamedTuple):
    """Measures, numbers of clusters and numbers of senses, each of shape (n_words,)."""

    precision: np.ndarray
    recall: np.ndarray
    homogeneity: np.ndarray
    completeness: np.ndarray
    n_clusters: np.ndarray
    n_senses: np.ndarray


class _Groups(NamedTuple):
    """Pairs that have a word and a label in common: group of each pair, group sizes and words."""

    of_pair: np.ndarray
    sizes: np.ndarray
    words: np.ndarray


def _codes(**lists: Any) -> list[np.ndarray]:
    """Convert labels of any type to integers from 0."""
    labels = {name: np.asarray(values) for name, values in lists.items()}
    shapes = {array.shape for array in labels.values()}
    if len(shapes) > 1 or len(next(iter(shapes))) != 1:
        shown = ", ".join(f"{name} {array.shape}" for name, array in labels.items())
        raise DataError(f"the shapes are {shown}; pass lists of labels of equal length")
    return [np.unique(array, return_inverse=True)[1] for array in labels.values()]


def _groups(words: np.ndarray, labels: np.ndarray) -> _Groups:
    keys = words.astype(np.int64) * (labels.max() + 1) + labels
    _, first, of_pair, sizes = np.unique(
        keys, return_index=True, return_inverse=True, return_counts=True
    )
    return _Groups(of_pair, sizes, words[first])


def _partitions(words: np.ndarray, senses: np.ndarray, clusters: np.ndarray) -> _Partitions:
    """Compare both partitions of each word's pairs; all arguments are codes from 0."""
    if len(words) == 0:
        return _Partitions(*np.zeros((6, 0)))
    by_sense, by_cluster = _groups(words, senses), _groups(words, clusters)
    cells = _groups(by_sense.of_pair, by_cluster.of_pair)
    n = np.bincount(words)
    # One pair of each cell determines the cell's sense and cluster, and thus their sizes.
    in_cell = np.empty(len(cells.sizes), np.int64)
    in_cell[cells.of_pair] = np.arange(len(words))
    of_sense = by_sense.sizes[by_sense.of_pair[in_cell]]
    of_cluster = by_cluster.sizes[by_cluster.of_pair[in_cell]]
    of_word = words[in_cell]

    def total(values: np.ndarray) -> np.ndarray:
        return np.bincount(of_word, values) / n

    def explained(groups: _Groups, size_given: np.ndarray) -> np.ndarray:
        """Return 1 - H(group | other) / H(group), and 1 if all pairs are in one group."""
        shares = groups.sizes / n[groups.words]
        entropy = np.bincount(groups.words, -shares * np.log(shares))
        rest = total(-cells.sizes * np.log(cells.sizes / size_given))
        left = np.divide(rest, entropy, out=np.zeros_like(rest), where=entropy > 0)
        # Because of rounding, the remainder may slightly exceed the total.
        return np.clip(1 - left, 0, 1)

    return _Partitions(
        total(cells.sizes**2 / of_cluster),
        total(cells.sizes**2 / of_sense),
        explained(by_sense, of_cluster),
        explained(by_cluster, of_sense),
        np.bincount(by_cluster.words),
        np.bincount(by_sense.words),
    )


def _harmonic(a: float, b: float) -> float:
    return 2 * a * b / (a + b) if a + b > 0 else 0.0
