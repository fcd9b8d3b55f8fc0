"""Confidence intervals of proportions and of the effective number of categories.

**One proportion.** The interval of y / n lies between two quantiles of the posterior under
Jeffreys' prior,

    Beta(y + 1/2, n - y + 1/2)              with lower end 0 for y = 0 and upper end 1 for y = n

(Brown, Cai & DasGupta 2001, who recommend this interval and Wilson's). Most answers are rare, and
only answers that at least one participant gave are analysed. For such answers, the coverage of
Jeffreys' interval is closer to the nominal level than that of Wilson's interval, and Jeffreys'
interval is shorter.

**Dependent answers**, such as several answers by one participant, are equivalent to a smaller
number of independent answers. Let X_us be the number of answers of unit u in category s, and M_u
the total number of answers of unit u. With M = sum_u M_u and share_s = sum_u X_us / M, the design
effect (Kish 1965) is the same for all categories (Rao & Scott 1981, first order),

    lambda = 1 / (S - 1) sum_s V_s M / share_s
    V_s = G / (G - 1) sum_u (X_us - share_s M_u)^2 / M^2                  u = 1, ..., G

and M / lambda replaces n above (Franco et al. 2019). Lambda is below 1 if each unit gives each
answer only once, and above 1 if the answers of a unit are similar.

**The effective number** exp H of S categories with shares t cannot be bootstrapped. The entropy of
n answers is smaller than that of their population, by (S - 1) / 2n on average, and never exceeds
the entropy of equal shares. The interval therefore contains the values that the data do not reject.
The family pi(b) ~ t^b ranges from equal shares (b = 0) to a single category. It contains, for each
entropy, the distribution that is nearest to t. The interval contains the values that satisfy

    |H(t) - H(pi) + (S - 1) / 2n|  <=  z sqrt(Var_pi(log pi) / n + (S - 1) / 2n^2)

This criterion uses the expectation and the variance of the entropy of n answers (Miller 1955;
Roulston 1999). Half an answer is first added to each category, because some categories have no
answers.

The entropy of few answers is far from normal, because small categories may be absent. The interval
therefore also contains the values that the count y of the largest category does not reject, by the
mid-P value (Lancaster 1961)

    P(X > y) + P(X = y) / 2  >=  (1 - level) / 2            X binomial, of n and max pi(b)

With two categories, this criterion applies to all pi(b). With more categories, the largest category
carries too little information about the others, with one exception. Under equal shares, the share
of the largest category is 1 / S. The upper limit is therefore S if the criterion does not reject
equal shares. At a nominal level of 0.95, the coverage is 0.93 to 1 for 10 to 200 answers. It
exceeds 0.97 if samples have few distinct entropies, as with 10 or 20 answers. The coverage may fall
to 0.90 if a category is expected in fewer than three answers.

L. D. Brown, T. T. Cai & A. DasGupta, "Interval estimation for a binomial proportion",
Statistical Science 16 (2001). J. N. K. Rao & A. J. Scott, "The analysis of categorical data from
complex sample surveys", JASA 76 (1981). C. Franco et al., "Comparative study of confidence
intervals for proportions in complex sample surveys", Journal of Survey Statistics and Methodology 7
(2019). G. Miller, "Note on the bias of information estimates" (1955). M. S. Roulston, "Estimating
the errors on measured entropy and mutual information", Physica D 125 (1999). H. O. Lancaster,
"Significance tests in discrete distributions", JASA 56 (1961).
"""

from __future__ import annotations

import numpy as np
from scipy.special import betainc
from scipy.stats import beta, norm

from manymaps.metrics.measures import Interval, ratio

# Log ratios of the largest share to the smallest, from equal shares to a single category.
_RATIOS = np.append(0.0, np.geomspace(1e-4, 60, 250))


def proportion_interval(
    shares: np.ndarray, n: np.ndarray | float, level: float
) -> tuple[np.ndarray, np.ndarray]:
    """Compute the limits of Jeffreys' interval for proportions of n answers.

    Parameters
    ----------
    shares : ndarray
        Shares from 0 to 1; NaN stays NaN.
    n : ndarray of the same shape, or float
        Number of independent answers, not necessarily an integer.
    level : float in (0, 1)
        Confidence level.

    Returns
    -------
    low, high : ndarray of the same shape
        Lower and upper limits of the intervals.

    Examples
    --------
    >>> low, high = proportion_interval(np.array([0.0, 0.5]), 10, 0.95)
    >>> low.round(3).tolist(), high.round(3).tolist()
    ([0.0, 0.224], [0.217, 0.776])
    """
    tail, given = (1 - level) / 2, shares * n
    low, high = (beta.ppf(at, given + 0.5, n - given + 0.5) for at in (tail, 1 - tail))
    # Shares of 0 and 1 are limits of their own intervals.
    return np.where(shares <= 0, 0.0, low), np.where(shares >= 1, 1.0, high)


def design_effects(
    sets: np.ndarray, units: np.ndarray, categories: np.ndarray, set_of: np.ndarray
) -> np.ndarray:
    """Compute the design effect lambda for sets of categories, such as the senses of each word.

    Parameters
    ----------
    sets, units, categories : ndarray of int, shape (n_answers,)
        Set, unit (such as the participant) and category of each answer. Units of different sets are
        treated as different.
    set_of : ndarray of int, shape (n_categories,)
        Set of each category.

    Returns
    -------
    ndarray of shape (n_sets,)
        Design effects from 1 / m to m, where m is the largest number of answers per unit. The
        design effect is 1 if fewer than two categories or units have answers.

    Examples
    --------
    In the first example, each of four participants gives two answers in the same category. In the
    second example, each participant gives one answer in each of the two categories:

    >>> people, both = np.repeat(np.arange(4), 2), np.array([0, 0, 1, 1, 0, 0, 1, 1])
    >>> zero, one = np.zeros(8, int), np.array([0, 0])
    >>> design_effects(zero, people, both, one).round(2).tolist()
    [2.0]
    >>> design_effects(zero, people, np.tile([0, 1], 4), one).tolist()
    [0.5]
    """
    n_sets, n = int(set_of.max(initial=-1)) + 1, len(set_of)
    owners, whose = np.unique(
        sets.astype(np.int64) * (int(units.max(initial=0)) + 1) + units, return_inverse=True
    )
    own = np.bincount(whose, minlength=len(owners)).astype(np.float64)
    of_unit = np.zeros(len(owners), np.int64)
    of_unit[whose] = sets
    pairs, counts = np.unique(whose.astype(np.int64) * n + categories, return_counts=True)
    unit, category = np.divmod(pairs, max(n, 1))
    sums = np.bincount(categories, minlength=n)
    whole = np.bincount(sets, minlength=n_sets)
    share = ratio(sums, whole[set_of], 0.0)
    # Units without an answer in a category also deviate from their expectation.
    expected = share[category] * own[unit]
    squares = share**2 * np.bincount(of_unit, own**2, n_sets)[set_of]
    squares += np.bincount(category, (counts - expected) ** 2 - expected**2, n)
    each = ratio(squares, share, 0.0)
    n_units = np.bincount(of_unit, minlength=n_sets)
    n_there = np.bincount(set_of, sums > 0, n_sets)
    enough = (n_units > 1) & (n_there > 1)
    scale = n_units / np.maximum(n_units - 1, 1) / np.maximum(whole * (n_there - 1), 1)
    most = np.ones(n_sets)
    np.maximum.at(most, of_unit, own)
    effect = np.bincount(set_of, each, n_sets) * scale
    return np.where(enough, np.clip(effect, 1 / most, most), 1.0)


def effective_number(shares: np.ndarray, n: float, level: float) -> Interval:
    """Compute exp H of the shares of n answers, with its confidence interval.

    Parameters
    ----------
    shares : ndarray of shape (n_categories,)
        Shares with a sum of 1; some may be 0.
    n : float
        Number of independent answers.
    level : float in (0, 1)
        Confidence level.

    Returns
    -------
    Interval
        Plug-in estimate with its interval. For a single category, all three values are 1.

    Notes
    -----
    The module docstring describes the method. The interval is not corrected for categories that are
    missing from `shares`.

    Examples
    --------
    >>> [round(value, 2) for value in effective_number(np.array([0.5, 0.5]), 40, 0.95)]
    [2.0, 1.73, 2.0]
    >>> effective_number(np.ones(1), 40, 0.95)
    Interval(value=1.0, low=1.0, high=1.0)
    """
    count = len(shares)
    if count == 1:
        return Interval(1.0, 1.0, 1.0)
    there = shares[shares > 0]
    here = abs(float((there * np.log(there)).sum()))
    logs = np.log((shares * n + 0.5) / (n + count / 2))
    # From equal shares, all directions are equally short.
    logs = logs - logs.min() if np.ptp(logs) > 1e-9 else np.linspace(0, 1, count)
    logs = _RATIOS[:, None] * logs / logs.max()
    logs -= np.logaddexp.reduce(logs, axis=1, keepdims=True)
    family = np.exp(logs)
    entropies = -(family * logs).sum(axis=1)
    variances = (family * logs**2).sum(axis=1) - entropies**2
    spread = np.sqrt(np.maximum(variances, 0) / n + (count - 1) / (2 * n * n))
    # The expectation decreases, starting from equal shares.
    excess = np.maximum.accumulate((here - entropies + (count - 1) / (2 * n)) / spread)
    z = norm.ppf((1 + level) / 2)
    high, low = np.interp([-z, z], excess, entropies)
    # Along the family, entropies decrease, and the largest proportion increases with the tail.
    tail = _upper_tail(float(shares.max()) * n, n, family.max(axis=1))
    if count == 2:
        high = max(high, np.interp((1 - level) / 2, tail, entropies))
    elif tail[0] >= (1 - level) / 2:
        high = entropies[0]
    return Interval(*(float(np.exp(end)) for end in (here, min(low, here), max(high, here))))


def _upper_tail(count: float, n: float, proportions: np.ndarray) -> np.ndarray:
    """Compute the mid-P probability of at least `count` of n answers; counts may be fractions."""
    at_least = betainc(count, n - count + 1, proportions)
    more = betainc(count + 1, n - count, proportions) if count < n else 0.0
    return np.asarray((at_least + more) / 2)
