"""Confidence intervals of correlations over pairs that share objects.

A correlation r compares two measures of the same n pairs, for example ratings of pairs of words and
a model of them. Pairs with a word in common are dependent, so n pairs correspond to fewer than n
independent pairs. The variance of z = arctanh r is estimated by a jackknife over words,

    V = sum_w (z_-w - z)^2  -  sum_p (z_-p - z)^2                   and at least the second sum

z_-w is computed without all pairs of word w, and z_-p without the pair p only. Expanded to first
order, the first sum contains each product of two pairs once per word that the two pairs have in
common. The first sum therefore contains the square of each pair twice, and the second sum subtracts
the surplus (Fafchamps & Gubert 2007, and Aronow, Samii & Assenova 2015). If every word occurs once,
V is the second sum, the ordinary jackknife over pairs.

The interval of r is tanh(z -+ t sqrt V). Here, t is Student's quantile with N/2 - 1 degrees of
freedom, because N words form N/2 disjoint pairs. No bootstrap over words is as accurate.
Multiplying the multiplicities of two words (Davezies, D'Haultfoeuille & Guyonvarch 2021) triples
the variance of pairs that have no word in common. No set of weights has the required covariances.

**Deletion without recomputing.** Let a and b be the centred values of the two measures. A
correlation is a function of the means of the rows

    a, b, a b, a^2, b^2          r = (<ab> - <a><b>) / sqrt((<a^2> - <a>^2) (<b^2> - <b>^2))

Omitting pairs subtracts their sums. Here, a and b are mid-ranks, which change if a pair is omitted.
To first order, this change adds a mean over pairs j to each pair's a b (Hoeffding's projection).
The added term is the mean of [a_j > a] b_j + [b_j > b] a_j, with 1/2 for ties. The terms a^2 and
b^2 change similarly.

M. Fafchamps & F. Gubert, "The formation of risk sharing networks", Journal of Development Economics
83 (2007). P. M. Aronow, C. Samii & V. A. Assenova, "Cluster-robust variance estimation for dyadic
data", Political Analysis 23 (2015). L. Davezies, X. D'Haultfoeuille & Y. Guyonvarch, "Empirical
process results for exchangeable arrays", Annals of Statistics 49 (2021). W. Hoeffding, "A class of
statistics with asymptotically normal distribution", Annals of Mathematical Statistics 19 (1948).

Arrays: moments (5, n_pairs); deletions (n_words + n_pairs,), with words before pairs.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit
from scipy.stats import rankdata

from manymaps.metrics.measures import Interval

# With fewer remaining pairs, the correlation is -1 or 1 for any data.
_FEWEST_PAIRS = 3
# If a smaller fraction of a variance remains, the measure is constant up to rounding errors.
_CONSTANT = 1e-12
# Keeps arctanh finite if all pairs lie on a line.
_LARGEST = 1 - 1e-12


@dataclass(frozen=True, eq=False)
class PairCorrelation:
    """A correlation over pairs, with its values after the deletion of each word and each pair.

    Attributes
    ----------
    value : float
        Spearman's correlation; NaN if one of the measures is constant.
    deletions : ndarray of shape (n_words + n_pairs,)
        The correlation after deleting all pairs of each word, followed by those after deleting each
        pair.
    n_words : int
        Number of words in the pairs.
    """

    value: float
    deletions: np.ndarray
    n_words: int

    def interval(self) -> Interval:
        """Return the correlation with its 95 % interval, which is symmetric on Fisher's z scale."""
        centre = _fisher(self.value)
        margin = self._margin(_fisher(self.deletions) - centre)
        low, high = float(np.tanh(centre - margin)), float(np.tanh(centre + margin))
        return Interval(self.value, min(low, self.value), max(high, self.value))

    def _margin(self, changes: np.ndarray) -> float:
        """Compute Student's quantile times the standard error from the changes due to deletions."""
        if np.isnan(self.value):
            return np.nan
        # Words that are treated as fixed have NaN.
        squares = np.nan_to_num(changes) ** 2
        of_words, of_pairs = squares[: self.n_words].sum(), squares[self.n_words :].sum()
        freedom = max(self.n_words / 2 - 1, 1)
        error = np.sqrt(max(of_words - of_pairs, of_pairs))
        return float(stdtrit(freedom, 0.975) * error)


def pair_correlation(
    a: np.ndarray, b: np.ndarray, first: np.ndarray, second: np.ndarray
) -> PairCorrelation:
    """Correlate the ranks of two measures of pairs of words (Spearman's correlation).

    Parameters
    ----------
    a, b : ndarray of shape (n_pairs,)
        Values of both measures.
    first, second : ndarray of int, shape (n_pairs,)
        Indices of the words of each pair, from 0.

    Returns
    -------
    PairCorrelation
        Correlation with its deletions. A word is treated as fixed if deleting it leaves fewer than
        three pairs or makes a measure constant.

    Examples
    --------
    >>> first, second = np.arange(0, 12, 2), np.arange(1, 13, 2)
    >>> rated = np.array([1.0, 2, 3, 4, 5, 6])
    >>> modelled = np.array([2.0, 1, 4, 3, 6, 5])
    >>> round(pair_correlation(rated, modelled, first, second).value, 3)
    0.829
    """
    words = np.unique(np.concatenate([first, second]), return_inverse=True)[1]
    moments = _rank_moments(a, b)
    n_words, n_pairs = int(words.max()) + 1, len(a)
    of_words = np.stack([np.bincount(words, np.tile(row, 2), n_words) for row in moments])
    sizes = np.concatenate([np.bincount(words), np.ones(n_pairs)])
    left = n_pairs - sizes
    sums = moments.sum(axis=1, keepdims=True)
    remaining = sums - np.concatenate([of_words, moments], axis=1)
    enough = left >= _FEWEST_PAIRS
    deletions = np.full(len(left), np.nan)
    deletions[enough] = _correlations(remaining[:, enough] / left[enough])
    return PairCorrelation(float(_correlations(sums / n_pairs)[0]), deletions, n_words)


def _rank_moments(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    ranks_a, ranks_b = rankdata(a), rankdata(b)
    a, b = _standardized(ranks_a), _standardized(ranks_b)
    products = np.stack([a * b, a**2, b**2])
    shifts = np.stack(
        [_above(ranks_a, b) + _above(ranks_b, a), 2 * _above(ranks_a, a), 2 * _above(ranks_b, b)]
    )
    # Centre the shifts, so that the value is exactly Spearman's correlation.
    shifts -= shifts.mean(axis=1, keepdims=True)
    return np.concatenate([np.zeros((2, len(a))), products + shifts])


def _above(ranks: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Sum the weights of larger ranks plus half those of equal ranks, per unit of rank spread."""
    _, place = np.unique(ranks, return_inverse=True)
    sums = np.bincount(place, weights)
    spread = ranks.std()
    return (sums.sum() - np.cumsum(sums) + sums / 2)[place] / (spread if spread > 0 else 1)


def _standardized(values: np.ndarray) -> np.ndarray:
    """Standardize values to mean 0 and variance 1 without overflow; return zeros if constant."""
    if values.min() == values.max():
        return np.zeros(len(values))
    values = values / np.abs(values).max()
    values = values - values.mean()
    return np.asarray(values / values.std())


def _correlations(means: np.ndarray) -> np.ndarray:
    """Compute correlations from their moments, (5, n) -> (n,); NaN if a variance vanishes."""
    a, b, products, squares_a, squares_b = means
    variances = np.stack([squares_a - a**2, squares_b - b**2])
    varies = (variances > _CONSTANT).all(axis=0)
    whole = np.sqrt(np.where(varies, variances.prod(axis=0), np.nan))
    return np.asarray(np.clip((products - a * b) / whole, -1, 1))


def _fisher(correlations: np.ndarray | float) -> np.ndarray:
    return np.arctanh(np.clip(correlations, -_LARGEST, _LARGEST))
