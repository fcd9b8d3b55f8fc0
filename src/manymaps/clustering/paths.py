"""How many clusters: additive clustering over a range of K, and what speaks for which.

    VAF_K = 1 - S_K / S_mean                       never falls with more clusters, if all are found
    BIC_K = S_K / s^2 + (K + g) log N              Lee 2001, with s the precision of the data
    BIC_K = N log(S_K / N) + (K + g) log N         the same where s is unknown: s at its maximum
    held-out error = root mean square over pairs that were hidden from the fit

with S_K the squares left over N observed pairs, and g = 1 where a constant is fitted, plus the
features that are given. The weights are counted, the memberships are not: Lee counts so too, and
notes that it favours many clusters where s is small. s is the standard error of one similarity, as
it comes from averaging over subjects; he takes 0.05 to 0.15 for similarities between 0 and 1.

A suggestion comes with its reasons, and with what disagrees.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from operator import index
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state

from manymaps.checks import check_number, check_whole
from manymaps.clustering.additive import AdditiveClustering
from manymaps.clustering.problem import Similarities, similarities_from
from manymaps.errors import DataError, ParameterError

__all__ = ["ClusterPath", "cluster_path"]

_EXACT = 1e-12


@dataclass(frozen=True, eq=False)
class ClusterPath:
    """What additive clustering gives for each number of clusters.

    Attributes
    ----------
    n_clusters : ndarray of int, shape (k,)
    vaf : ndarray of shape (k,)
        Variance accounted for.
    bic : ndarray of shape (k,)
        The lower the better.
    held_out : ndarray of shape (k, n_repeats), or None
        Root mean square errors over hidden pairs, in units of the similarities.
    suggestion : int
        The number of clusters of the least BIC.
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

    def __str__(self) -> str:
        head = "clusters     VAF       BIC" + ("  held-out" if self.held_out is not None else "")
        lines = [head]
        for i, count in enumerate(self.n_clusters):
            line = f"{count:8d}  {self.vaf[i]:.4f}  {self.bic[i]:8.2f}"
            if self.held_out is not None:
                line += f"  {self.held_out[i].mean():8.4g}"
            lines.append(line)
        return "\n".join([*lines, f"suggested: {self.suggestion}", *self.reasons])


def cluster_path(
    X: Any,
    n_clusters: Iterable[int] = range(2, 11),
    *,
    estimator: AdditiveClustering | None = None,
    precision: float | None = None,
    held_out: float | None = 0.1,
    n_repeats: int = 5,
    random_state: int | np.random.RandomState | None = None,
) -> ClusterPath:
    """Fit each number of clusters and compare them.

    Parameters
    ----------
    X : as for `AdditiveClustering.fit`
    n_clusters : iterable of int
        Put in order, without repeats.
    estimator : AdditiveClustering, optional
        With all settings but n_clusters.
    precision : float, optional
        The standard error s of one similarity; without it the variance is taken at its maximum.
    held_out : float or None
        The share of pairs that is hidden in turn, between 0 and 0.5, or None to do without.
    n_repeats : int
        Random sets of hidden pairs, the same for every K.
    random_state : int or RandomState, optional
        Of the hidden pairs, and of fits by default.

    Returns
    -------
    ClusterPath

    Raises
    ------
    DataError
        For data that cannot be clustered.
    ParameterError
        For a parameter out of its range, or where no pair can be hidden.

    Examples
    --------
    >>> import numpy as np
    >>> members = np.array([[1, 1, 1, 0, 0, 0, 0], [0, 0, 1, 1, 1, 0, 0], [0, 0, 0, 0, 1, 1, 1]])
    >>> noise = np.random.default_rng(0).normal(0, 0.01, (7, 7))
    >>> similarities = members.T @ members * 0.5 + 0.1 + noise + noise.T
    >>> path = cluster_path(similarities, range(1, 6), precision=0.03, held_out=None,
    ...                     random_state=0)
    >>> path.suggestion
    3
    """
    try:
        counts = np.array(sorted({index(count) for count in n_clusters}))
    except TypeError as error:
        raise ParameterError(
            "must hold whole numbers, e.g. range(2, 11)", name="n_clusters", value=n_clusters
        ) from error
    if not len(counts):
        raise ParameterError("n_clusters is empty; give the numbers to compare, e.g. range(2, 11)")
    if precision is not None:
        check_number("precision", precision, above=0)
    if held_out is not None:
        check_number("held_out", held_out, above=0, below=0.5, why=", or None")
    check_whole("n_repeats", n_repeats)
    random = check_random_state(random_state)
    seed = int(random.randint(2**31 - 1))
    base = AdditiveClustering(random_state=seed) if estimator is None else estimator
    data = similarities_from(X, kind=base.kind, strict=base.strict)
    if data.is_constant:
        raise DataError("all similarities are equal: no number of clusters explains more")
    # The largest first: what cannot be fitted is refused before anything is.
    found = [clone(base).set_params(n_clusters=int(k)).fit(data) for k in counts[::-1]]
    fitted = tuple(found[::-1])
    vaf = np.array([each.variance_accounted_for_ for each in fitted])
    bic = np.array([_bic(each, data, precision) for each in fitted])
    errors = None
    if held_out is not None:
        masks = [_hidden_pairs(data, held_out, random) for _ in range(n_repeats)]
        errors = np.array(
            [[_error(clone(base).set_params(n_clusters=int(k)), data, m) for m in masks]
             for k in counts]
        )  # fmt: skip
    best = int(np.argmin(bic))
    return ClusterPath(
        counts, vaf, bic, errors, int(counts[best]),
        _reasons(counts, vaf, bic, errors, precision), fitted,
    )  # fmt: skip


def _bic(fitted: AdditiveClustering, data: Similarities, precision: float | None) -> float:
    n_pairs = data.n_pairs
    # A fit that is exact but for rounding is not the better the smaller the rounding.
    left = max(fitted.residual_variance_ * n_pairs, _EXACT * data.squares)
    count = len(fitted.weights_) + (fitted.constant is not False)
    misfit = left / precision / precision if precision else n_pairs * np.log(left / n_pairs)
    return float(misfit + count * np.log(n_pairs))


def _hidden_pairs(data: Similarities, share: float, random: np.random.RandomState) -> np.ndarray:
    """Pairs to hide, (n, n) boolean, that leave every object at least one observed pair."""
    pairs = np.argwhere(np.triu(data.observed))
    wanted = max(1, round(share * len(pairs)))
    hidden = np.zeros_like(data.observed)
    left = data.observed.sum(axis=1)
    for i, j in pairs[random.permutation(len(pairs))]:
        if wanted and left[i] > 1 and left[j] > 1:
            hidden[i, j] = True
            left[[i, j]] -= 1
            wanted -= 1
    if not hidden.any():
        raise ParameterError(
            "no pair can be hidden without leaving an object with none; give held_out=None"
        )
    return hidden


def _error(estimator: AdditiveClustering, data: Similarities, hidden: np.ndarray) -> float:
    estimator.fit(data.hiding(hidden))
    model = estimator.predict()
    if estimator.kind == "dissimilarity":
        model = data.largest - model
    return float(np.sqrt(np.mean((data.values - model)[hidden] ** 2)))


def _reasons(
    counts: np.ndarray,
    vaf: np.ndarray,
    bic: np.ndarray,
    errors: np.ndarray | None,
    precision: float | None,
) -> tuple[str, ...]:
    best = int(np.argmin(bic))
    known = f"at a precision of {precision:g}" if precision else "with the variance at its maximum"
    said = [f"BIC {known} is least for {counts[best]} clusters (VAF {vaf[best]:.4f})"]
    if len(counts) > 1:
        second = int(np.argsort(bic, kind="stable")[1])
        said.append(f"next is {counts[second]}, {bic[second] - bic[best]:.2f} above")
    if len(counts) > 1 and best in (0, len(counts) - 1):
        said.append("that is an end of the range: look further")
    if errors is not None:
        means = errors.mean(axis=1)
        least = int(np.argmin(means))
        verb = "agree" if least == best else "disagree"
        said.append(
            f"hidden pairs {verb}: their error is least for {counts[least]} clusters "
            f"({means[least]:.4g}, against {means[best]:.4g} for {counts[best]})"
        )
    return tuple(said)
