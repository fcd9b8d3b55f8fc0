"""How many clusters: additive clustering over a range of K, and what speaks for which.

    VAF_K = 1 - S_K / S_mean                          never falls where the best clusters are found
    L_K   = N log(S_K / N) + (K + g) log N + 2 bits_K
    e_K   = mean (s_ij - model of K clusters)^2       over pairs that were hidden from the fit
    BIC_K = N log(S_K / N) + (K + g) log N

with S_K the squares left over N observed pairs, and g = 1 where a constant is fitted, plus the
features that are given. bits_K = -log p(memberships) by the prior of the fit: n K log 2 where all
are equally likely. Where the standard error s of one similarity is known, as it comes from
averaging over judges, S_K / s^2 stands in place of N log(S_K / N).

**The suggestion** is the number of the least L_K, a description length in two parts (Rissanen
1978, Automatica 14, 465-471): a cluster has to explain more than its weight, log N, and its
memberships, a bit for each object, cost. This is the elbow of VAF_K with a price on it. BIC_K is
that of Lee 2001 (Journal of Mathematical Psychology 45, 131-148), who counts weights alone, and
notes that this favours many clusters where s is small.

**No structure.** The constant (with the features that are given) is always a candidate, K = 0, and
so is one cluster: L_0 = N log(S_0 / N) + g log N with S_0 the squares about the constant. If L_0 is
the least, no cluster pays for its weight and memberships, and the suggestion is 0. A bit for each
membership is what choosing the best of 2^n subsets has to cost: the largest gain among so many
clusters of normal noise is about 2 n log 2. A few extreme values, as in exponential noise, gain
more and can look like a cluster. A suggestion above 0 must therefore also gain more, L_0 - L_K,
than each of 19 tables in which the residuals of the constant are shuffled among the pairs. If the
noise is exchangeable between pairs, structure is then found in at most 5 % of tables.

**Hidden pairs** are a second criterion, which does not depend on bits: the fewest clusters whose
e_K exceeds the least by no more than one standard error of the difference, pair by pair (after
Breiman, Friedman, Olshen & Stone 1984, section 3.4.3). The same pairs are hidden from every K, so
that effects that no K predicts cancel. `docs/develop/design.md` lists how often each criterion
finds the number of simulated clusters.

Numbers are fitted upwards, each from random starts and from the clusters of the number before with
one grown for what they leave, then downwards from the number after with one left out. Each set of
hidden pairs has a path of its own, which has not seen them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from operator import index
from typing import Any

import numpy as np
from sklearn.base import clone

from manymaps.checks import check_number, check_whole
from manymaps.clustering.additive import AdditiveClustering, check_possible, few_memberships
from manymaps.clustering.priors import UniformPrior
from manymaps.clustering.problem import Similarities, hidden_sets, similarities_from
from manymaps.clustering.solvers import Annealing, Polish
from manymaps.compute.tasks import run_tasks
from manymaps.errors import DataError, ParameterError, setting
from manymaps.labels import plural
from manymaps.seeds import drawn_seed

__all__ = ["ClusterPath", "cluster_path", "hasty", "quick"]

# A perfect fit would have a description length of minus infinity.
_EXACT = 1e-12
# Numbers of clusters are also fitted from one another's clusters: of 216 such fits 91 % end at the
# best known, as many as with 10,000 sweeps.
_SWEEPS, _STARTS = 1000, 3
# The largest of 20 exchangeable gains is the observed one with probability 1/20. By the description
# length alone, 40 % of tables of exponential noise have structure, with these shuffles 5 %.
_SHUFFLES = 19


@dataclass(frozen=True, eq=False)
class ClusterPath:
    """What additive clustering gives for each number of clusters.

    Attributes
    ----------
    n_clusters : ndarray of int, shape (k,)
    vaf : ndarray of shape (k,)
        Variance accounted for.
    bic : ndarray of shape (k,)
        By the weights alone; the lower the better.
    description_length : ndarray of shape (k,)
        BIC and twice the bits of the memberships; the lower the better.
    held_out : ndarray of shape (k, n_repeats), or None
        Root mean square errors over each set of hidden pairs, in units of the similarities.
    held_out_error : ndarray of shape (k,), or None
        Root mean square errors over all hidden pairs.
    held_out_standard_error : ndarray of shape (k,), or None
        Of `held_out_error`, over pairs.
    fewest_by_held_out : int or None
        The fewest clusters within one standard error of the least error of hidden pairs.
    constant_length : float
        Description length of no clusters: the constant alone, and the features that are given.
    suggestion : int
        The number of the least description length; 0 if no structure was found, because the
        constant alone has a smaller one than any number of clusters.
    reasons : tuple of str
        Why, and what speaks against it.
    estimators : tuple of AdditiveClustering, length k
        Fitted to all pairs.
    """

    n_clusters: np.ndarray
    vaf: np.ndarray
    bic: np.ndarray
    held_out: np.ndarray | None
    suggestion: int
    reasons: tuple[str, ...]
    estimators: tuple[AdditiveClustering, ...]
    description_length: np.ndarray
    held_out_error: np.ndarray | None
    held_out_standard_error: np.ndarray | None
    fewest_by_held_out: int | None
    constant_length: float

    @property
    def has_structure(self) -> bool:
        """Whether any number of clusters describes the similarities better than the constant."""
        return self.suggestion > 0

    def __str__(self) -> str:
        head = "clusters     VAF       BIC    length"
        lines = [head + ("   held-out" if self.held_out_error is not None else "")]
        for i, count in enumerate(self.n_clusters):
            line = f"{count:8d}  {self.vaf[i]:.4f}  {self.bic[i]:8.2f}"
            line += f"  {self.description_length[i]:8.2f}"
            if self.held_out_error is not None and self.held_out_standard_error is not None:
                error, spread = self.held_out_error[i], self.held_out_standard_error[i]
                line += f"  {error:8.4g} ± {spread:.2g}"
            lines.append(line)
        said = f"suggested: {self.suggestion}" if self.has_structure else "no structure found"
        return "\n".join([*lines, said, *self.reasons])


def cluster_path(
    X: Any,
    n_clusters: Iterable[int] = range(1, 11),
    *,
    estimator: AdditiveClustering | None = None,
    precision: float | None = None,
    held_out: float | None = 0.1,
    n_repeats: int = 10,
    random_state: int | np.random.RandomState | None = None,
) -> ClusterPath:
    """Fit each number of clusters and compare them.

    Parameters
    ----------
    X : as for `AdditiveClustering.fit`
    n_clusters : iterable of int
        Numbers to compare, put in order, without repeats. 1 is always compared as well, and so is
        no structure: the constant without clusters.
    estimator : AdditiveClustering, optional
        With all settings but n_clusters; by default one of 3 random starts. "auto" is a tenth of
        its usual annealing. Where pairs are hidden, one random start and single exchanges of
        clusters do.
    precision : float, optional
        The standard error s of one similarity; without it the variance is taken at its maximum.
    held_out : float or None
        The share of pairs that is hidden in turn, between 0 and 0.5, or None to do without.
    n_repeats : int
        Random sets of hidden pairs, the same for every K; a set hides pairs that no set before it
        has hidden, as far as there are such.
    random_state : int, RandomState or None
        Of the hidden pairs, and of fits by default. None and a `RandomState` draw a number, once,
        None from NumPy's global state.

    Returns
    -------
    ClusterPath
        Its `suggestion` is 0 if no structure was found.

    Raises
    ------
    DataError
        For data that cannot be clustered.
    ParameterError
        For a parameter out of its range, or where no pair can be hidden.

    See Also
    --------
    AdditiveClustering, cluster_stability

    Examples
    --------
    >>> import numpy as np
    >>> from manymaps import cluster_path
    >>> members = np.array([[1, 1, 1, 0, 0, 0, 0], [0, 0, 1, 1, 1, 0, 0], [0, 0, 0, 0, 1, 1, 1]])
    >>> noise = np.random.default_rng(0).normal(0, 0.01, (7, 7))
    >>> similarities = members.T @ members * 0.5 + 0.1 + noise + noise.T
    >>> path = cluster_path(similarities, range(1, 6), random_state=0)
    >>> path.suggestion
    3
    """
    counts = _checked_counts(n_clusters)
    if precision is not None:
        check_number("precision", precision, above=0)
    if held_out is not None:
        check_number("held_out", held_out, above=0, below=0.5, why=", or None")
    check_whole("n_repeats", n_repeats)
    random = np.random.RandomState(drawn_seed(random_state))
    seed = int(random.randint(2**31 - 1))
    base = AdditiveClustering(n_init=_STARTS, random_state=seed) if estimator is None else estimator
    data = similarities_from(X, kind=base.kind, strict=base.strict)
    if data.is_constant:
        raise DataError("all similarities are equal: no number of clusters explains more")
    # What cannot be fitted is refused before anything is.
    n_features = 0 if base.features is None else np.shape(base.features)[-1]
    check_possible(int(counts[-1]), data.n_objects, n_features)
    hidden = (
        []
        if held_out is None
        else hidden_sets(
            data, held_out, n_repeats, random, why=f"; give {setting('held_out', None)}"
        )
    )
    tasks = [(base, data, counts), *((hasty(base), data.hiding(mask), counts) for mask in hidden)]
    # All pairs first, then without each hidden set.
    fitted, *blind = run_tasks(_path, tasks, "path", n_jobs=base.n_jobs, prefer="threads")
    # Squares of pairs that several sets hide stand once for each.
    sets = [_squared_errors(path, data, mask) for path, mask in zip(blind, hidden, strict=True)]
    vaf = np.array([each.variance_accounted_for_ for each in fitted])
    bic = np.array([_bic(each, data, precision) for each in fitted])
    bits = np.array([_membership_bits(each) for each in fitted])
    pairs = _Hidden(np.hstack(sets)) if sets else None
    constant_length = _constant_length(base, data, precision)
    measured = _Measures(counts, vaf, bic, bits, data.n_pairs, pairs, precision, constant_length)
    if measured.suggestion and _gain_of_noise(base, data, measured, random) >= measured.gain:
        measured = replace(measured, is_chance=True)
    return ClusterPath(
        n_clusters=counts,
        vaf=vaf,
        bic=bic,
        description_length=measured.length,
        held_out=_root_means(sets),
        held_out_error=pairs.error if pairs else None,
        held_out_standard_error=pairs.standard_error if pairs else None,
        fewest_by_held_out=int(counts[pairs.fewest]) if pairs else None,
        suggestion=measured.suggestion,
        reasons=measured.reasons(),
        estimators=fitted,
        constant_length=constant_length,
    )


def _checked_counts(n_clusters: Iterable[int]) -> np.ndarray:
    try:
        counts = np.array(sorted({index(count) for count in n_clusters}))
    except TypeError as error:
        raise ParameterError(
            "must hold whole numbers, e.g. range(2, 11)", name="n_clusters", value=n_clusters
        ) from error
    if not len(counts):
        raise ParameterError("n_clusters is empty; give the numbers to compare, e.g. range(2, 11)")
    # From 2 upwards noise looks like 2 clusters, if only because nothing less is compared.
    return np.union1d(counts, [1])


def quick(estimator: AdditiveClustering, n_objects: int, n_clusters: int) -> AdditiveClustering:
    """The same with a short annealing for "auto", where many fits are compared.

    With the search that follows, three short ones ended at the best that any way had found in 91 %
    of 216 fits of simulated tables, as often as three long ones.
    """
    quicker = clone(estimator).set_params(n_clusters=n_clusters, n_jobs=1)
    if estimator.solver == "auto" and few_memberships(n_objects, n_clusters):
        quicker.set_params(solver=Annealing(n_sweeps=_SWEEPS))
    return quicker


def hasty(estimator: AdditiveClustering, n_init: int = 1) -> AdditiveClustering:
    """The same with few random starts, and no clusters exchanged two at a time."""
    polish = Polish(clusters=1) if estimator.polish is True else estimator.polish
    return clone(estimator).set_params(n_init=min(n_init, estimator.n_init), polish=polish)


def _path(
    base: AdditiveClustering, data: Similarities, counts: np.ndarray
) -> tuple[AdditiveClustering, ...]:
    """Fits of each number of clusters, upwards, then once more downwards."""

    def fitted(count: int, *starts: AdditiveClustering, **settings: int) -> AdditiveClustering:
        estimator = quick(base, data.n_objects, int(count)).set_params(**settings)
        members = [start.memberships_[:, ~start.observed_] for start in starts]
        return estimator.set_params(init=members or base.init).fit(data)

    found: list[AdditiveClustering] = []
    for count in counts:
        found.append(fitted(count, *found[-1:]))
    for at in range(len(counts) - 2, -1, -1):
        found[at] = fitted(counts[at], found[at], found[at + 1], n_init=0)
    return tuple(found)


def _bic(fitted: AdditiveClustering, data: Similarities, precision: float | None) -> float:
    count = len(fitted.weights_) + (fitted.constant is not False)
    return _bic_of(fitted.residual_variance_ * data.n_pairs, count, data, precision)


def _constant_length(
    base: AdditiveClustering, data: Similarities, precision: float | None
) -> float:
    """The description length of no clusters: the constant, and the features that are given."""
    if base.features is not None:
        return _bic(clone(base).set_params(n_clusters=0, init=None).fit(data), data, precision)
    pairs = data.pair_values
    mean = float(pairs.mean())
    constant = {"free": mean, "nonnegative": max(mean, 0.0), False: 0.0}[base.constant]
    left = float(((pairs - constant) ** 2).sum())
    return _bic_of(left, int(base.constant is not False), data, precision)


def _gain_of_noise(
    base: AdditiveClustering,
    data: Similarities,
    measured: _Measures,
    random: np.random.RandomState,
) -> float:
    """The largest gain of description length among tables whose residuals are shuffled."""
    model = np.full_like(data.values, data.pair_values.mean())
    if base.features is not None:
        fitted = clone(base).set_params(n_clusters=0, init=None).fit(data)
        model = _predicted(fitted, data)
    rows, columns = np.nonzero(np.triu(data.observed))
    residuals = (data.values - model)[rows, columns]
    tables = []
    for _ in range(_SHUFFLES):
        noise = np.zeros_like(data.values)
        noise[rows, columns] = random.permutation(residuals)
        values = np.where(data.observed, model + noise + noise.T, 0.0)
        tables.append(replace(data, values=values))
    counts = np.unique([1, measured.suggestion])
    tasks = [(base, table, counts) for table in tables]
    paths = run_tasks(_path, tasks, "shuffled table", n_jobs=base.n_jobs, prefer="threads")
    return max(
        _constant_length(base, table, measured.precision)
        - min(_bic(one, table, measured.precision) + 2 * _membership_bits(one) for one in path)
        for table, path in zip(tables, paths, strict=True)
    )


def _bic_of(left: float, count: int, data: Similarities, precision: float | None) -> float:
    """BIC of so many weights that leave these squares."""
    n_pairs = data.n_pairs
    # A fit that is exact but for rounding is not the better the smaller the rounding.
    left = max(left, _EXACT * data.squares)
    misfit = left / precision / precision if precision else n_pairs * np.log(left / n_pairs)
    return float(misfit + count * np.log(n_pairs))


def _membership_bits(fitted: AdditiveClustering) -> float:
    """-log p(memberships) of the clusters that were found, by the prior."""
    own = ~fitted.observed_
    prior = fitted.prior if fitted.prior is not None else UniformPrior()
    odds = prior.log_odds(fitted.weights_[own])
    sizes = fitted.memberships_[:, own].sum(axis=0)
    return float((len(fitted.memberships_) * np.log1p(np.exp(odds)) - sizes * odds).sum())


def _squared_errors(
    path: tuple[AdditiveClustering, ...], data: Similarities, hidden: np.ndarray
) -> np.ndarray:
    """Squared errors (k, hidden pairs) of fits that have not seen these pairs."""
    return np.array([(data.values - _predicted(each, data))[hidden] ** 2 for each in path])


def _predicted(fitted: AdditiveClustering, data: Similarities) -> np.ndarray:
    """The similarities (n, n) that a fit predicts, also if it was fitted to dissimilarities."""
    model = fitted.predict()
    return data.largest - model if fitted.kind == "dissimilarity" else model


def _root_means(sets: list[np.ndarray]) -> np.ndarray | None:
    return np.sqrt(np.array([each.mean(axis=1) for each in sets]).T) if sets else None


@dataclass(frozen=True, eq=False)
class _Hidden:
    """What the squared errors (k, hidden pairs) say of each number of clusters."""

    squares: np.ndarray

    @cached_property
    def error(self) -> np.ndarray:
        """Root mean squares."""
        return np.sqrt(self.squares.mean(axis=1))

    @cached_property
    def standard_error(self) -> np.ndarray:
        """That of a root is half that of its square over the root (delta method)."""
        own = _standard_errors(self.squares)
        return np.divide(own, 2 * self.error, out=np.zeros_like(own), where=self.error > 0)

    @cached_property
    def least(self) -> int:
        """The number that errs least."""
        return int(np.argmin(self.error))

    @cached_property
    def excess(self) -> np.ndarray:
        """How far the mean squares lie above the least."""
        return (self.squares - self.squares[self.least]).mean(axis=1)

    @cached_property
    def excess_standard_error(self) -> np.ndarray:
        """Over pairs, each compared with itself."""
        return _standard_errors(self.squares - self.squares[self.least])

    @cached_property
    def fewest(self) -> int:
        """The first number within one standard error of the least."""
        # What exact fits leave is rounding, of which none is better than another.
        rounding = _EXACT * self.excess.max()
        return int(np.argmax(self.excess <= self.excess_standard_error + rounding))

    def above(self, at: int) -> str:
        """How far a number that errs more lies above the least."""
        error = self.excess_standard_error[at]
        if error == 0:
            return "more, each by as much"
        return (
            f"they err by {self.error[at]:.4g}, {self.excess[at] / error:.2g} standard errors more"
        )


@dataclass(frozen=True, eq=False)
class _Measures:
    """The measures of each number of clusters, the one that they choose, and why."""

    counts: np.ndarray
    vaf: np.ndarray
    bic: np.ndarray
    bits: np.ndarray
    n_pairs: int
    hidden: _Hidden | None
    precision: float | None
    constant_length: float
    is_chance: bool = False

    @cached_property
    def length(self) -> np.ndarray:
        """The description length."""
        return self.bic + 2 * self.bits

    @cached_property
    def chosen(self) -> int:
        """The place of the least description length."""
        return int(np.argmin(self.length))

    @property
    def gain(self) -> float:
        """The description length of the constant, less the smallest with clusters."""
        return float(self.constant_length - self.length[self.chosen])

    @property
    def suggestion(self) -> int:
        """The number of clusters with the smallest description length; 0 without structure."""
        return int(self.counts[self.chosen]) if self.gain > 0 and not self.is_chance else 0

    def reasons(self) -> tuple[str, ...]:
        """Sentences: why this number, and what speaks for another."""
        at, last = self.chosen, len(self.counts) - 1
        known = "with the variance at its maximum"
        if self.precision:
            known = f"at a precision of {self.precision:g}"
        if self.is_chance:
            return (
                f"{self._clusters(at)} shorten the description length {known} by {self.gain:.1f}, "
                f"but so do clusters of one of {_SHUFFLES} tables with shuffled similarities; a "
                "few extreme values without structure look like this",
            )
        if not self.suggestion:
            return (
                f"the description length {known} is least without clusters: "
                f"{self.constant_length:.1f} for the constant, {self.length[at]:.1f} for "
                f"{self._clusters(at)}; noise without structure looks like this",
            )
        said = [f"the description length {known} is least for {self._clusters(at)}"]
        said += [self._step(k) for k in (at - 1, at) if 0 <= k < last]
        gaps = np.diff(self.counts)[max(at - 1, 0) : at + 1]
        if at == last > 0 or (gaps > 1).any():
            said.append("that is an end of the range: look further")
        if self.hidden is not None:
            said.append(self._of_pairs(self.hidden))
        said.append(
            f"BIC, which counts weights and no memberships, is least for "
            f"{self.counts[np.argmin(self.bic)]}"
        )
        return tuple(said)

    def _step(self, at: int) -> str:
        """What the clusters of the next number explain, and what they cost."""
        low, high = self.counts[at], self.counts[at + 1]
        gain = self.vaf[at + 1] - self.vaf[at]
        cost = (high - low) * np.log(self.n_pairs) + 2 * (self.bits[at + 1] - self.bits[at])
        worth = cost - (self.length[at + 1] - self.length[at])
        verdict = "which pays" if worth > cost else "which does not pay"
        return (
            f"from {low} to {high} clusters {gain:.1%} more of the variance is explained, worth "
            f"{worth:.1f} at a cost of {cost:.1f}, {verdict}"
        )

    def _of_pairs(self, hidden: _Hidden) -> str:
        fewest, least = hidden.fewest, hidden.least
        verdict = "agree" if fewest == self.chosen else "disagree"
        said = (
            f"hidden pairs {verdict}: they err least with {self._clusters(least)} "
            f"({hidden.error[least]:.4g})"
        )
        if fewest < least:
            said += (
                f", and within one standard error of that with {self.counts[fewest]} or more "
                f"({hidden.error[fewest]:.4g})"
            )
        if fewest:
            said += f"; with {self.counts[fewest - 1]} {hidden.above(fewest - 1)}"
        return said

    def _clusters(self, at: int) -> str:
        return plural("cluster", int(self.counts[at]))


def _standard_errors(values: np.ndarray) -> np.ndarray:
    """Of the means of rows (k, n); 0 where there is a single value."""
    n = values.shape[1]
    return values.std(axis=1, ddof=1) / np.sqrt(n) if n > 1 else np.zeros(len(values))
