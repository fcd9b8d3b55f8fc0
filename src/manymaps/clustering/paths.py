"""Selection of the number of additive clusters.

    VAF_K = 1 - S_K / S_mean                          never falls if the best clusters are found
    L_K   = N log(S_K / N) + (K + g) log N + 2 n K log 2
    e_K   = mean (s_ij - model of K clusters)^2       over pairs that were hidden from the fit

S_K is the residual sum of squares over N observed pairs, and g is 1 if a constant is fitted. The
memberships cost n K log 2 because all memberships are equally likely.

**The suggestion** starts from the K with the smallest description length L_K in two parts (Rissanen
1978, Automatica 14, 465-471). A cluster must reduce the description length by more than the cost of
its weight, log N, and of its memberships, one bit per object. This K thus corresponds to the elbow
of VAF_K with an explicit cost. The BIC (Lee 2001, Journal of Mathematical Psychology 45, 131-148)
includes only the cost of the weights and selects the largest number that is compared.

**No structure.** The constant model, K = 0, and the model with one cluster are always candidates.
Its description length is L_0 = N log(S_0 / N) +
g log N, where S_0 is the sum of squares about the constant. If L_0 is the smallest, no cluster
explains more than it costs, and the suggestion is 0. The cost of selecting the best of 2^n subsets
is one bit per membership. In normal noise, the largest gain among 2^n clusters is about 2 n log 2.
A few extreme values, as in exponential noise, can yield a larger gain and look like a cluster. The
gain L_0 - L_K of the suggestion must therefore exceed the gains of 19 tables in which the residuals
of the constant model are shuffled among the pairs. If the noise is exchangeable between pairs,
structure is then found in at most 5 % of tables without structure.

**Recurrence.** Clusters that describe the data with few bits can still depend on a few pairs. Each
model is therefore refitted without a quarter of the pairs (`manymaps.clustering.stability`), and a
cluster recurs if at least half of the refits contain it. Models with more clusters than the one
with the shortest description are excluded. Among the others, the suggestion is the largest K at
which all clusters recur. If all of them have a cluster that does not recur, the suggestion is the K
with the shortest description.

**The error on hidden pairs** is a second criterion, which does not depend on membership bits. It
selects the smallest K whose e_K exceeds the minimum by at most one standard error of the paired
difference (after Breiman, Friedman, Olshen & Stone 1984, section 3.4.3). The same pairs are hidden
for every K, so effects that no model predicts cancel. `docs/develop/design.md` lists how often each
criterion finds the true number of clusters in simulated data.

The models are first fitted in increasing order of K. Each model is fitted from random starts and
from the previous clusters plus one cluster that is grown from their residuals. The models are then
fitted again in decreasing order, starting from the next larger model with one cluster removed. For
each set of hidden pairs, a separate path is fitted without these pairs.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from manymaps.checks import check_number, check_whole
from manymaps.clustering.additive import AdditiveClustering, check_possible, hasty, quick
from manymaps.clustering.problem import Similarities, hidden_sets, similarities_from
from manymaps.clustering.stability import cluster_stability
from manymaps.compute.tasks import run_tasks
from manymaps.errors import DataError, setting
from manymaps.seeds import drawn_seed

if TYPE_CHECKING:
    import pandas as pd

# A perfect fit would have a description length of minus infinity.
_EXACT = 1e-12
# Each model also starts from the clusters of its neighbours in the path.
_STARTS = 3
# A cluster that most refits do not contain depends on which pairs were judged. design.md reports
# the recurrence of true and of other clusters.
RECURS = 0.5
# The observed gain is the largest of 20 exchangeable gains with probability 1/20. In exponential
# noise, the description length alone detects structure in 40 % of tables. With these shuffles,
# structure is detected in 5 % of tables.
_SHUFFLES = 19


@dataclass(frozen=True, eq=False)
class ClusterPath:
    """Comparison of additive clustering models with different numbers of clusters.

    Attributes
    ----------
    n_clusters : ndarray of int, shape (k,)
        Compared numbers of clusters, in increasing order.
    vaf : ndarray of shape (k,)
        Variance accounted for by each model, at most 1.
    description_length : ndarray of shape (k,)
        Description length of each model, in units of half a nat. Lower is better.
    held_out_error, held_out_standard_error : ndarray of shape (k,), or None
        Root mean square error over all hidden pairs, in units of the similarities, and its standard
        error over pairs.
    fewest_by_held_out : int or None
        Smallest number of clusters whose error on hidden pairs is within one standard error of the
        minimum.
    constant_length : float
        Description length of the model without clusters.
    recurrence : tuple of ndarray, length k, or None
        Share of refits in which each cluster of each model recurs, as in `cluster_stability`.
    suggestion : int
        Largest number of clusters, up to the number with the smallest description length, at which
        every cluster recurs in at least half of the refits. Without such a number, or without
        refits, it is the number with the smallest description length. It is 0 if no structure was
        found: the constant model has the smallest description length, or the gain does not exceed
        the gains of shuffled residuals.
    estimators : tuple of AdditiveClustering, length k
        Models fitted to all pairs. Their `solutions_` contain the starts of both passes.
    """

    n_clusters: np.ndarray
    vaf: np.ndarray
    description_length: np.ndarray
    held_out_error: np.ndarray | None
    held_out_standard_error: np.ndarray | None
    fewest_by_held_out: int | None
    constant_length: float
    recurrence: tuple[np.ndarray, ...] | None
    suggestion: int
    estimators: tuple[AdditiveClustering, ...]

    @property
    def has_structure(self) -> bool:
        """Whether any number of clusters describes the similarities better than the constant."""
        return self.suggestion > 0

    def to_frame(self) -> pd.DataFrame:
        """Return the measures as a data frame with one row per number of clusters.

        Returns
        -------
        DataFrame
            Columns "vaf", "length", "recurs" (of the cluster that recurs least often), "held-out"
            and "error" (its standard error), without the measures that were not computed.
        """
        import pandas as pd

        columns = {
            "vaf": self.vaf,
            "length": self.description_length,
            "recurs": None if self.recurrence is None else [one.min() for one in self.recurrence],
            "held-out": self.held_out_error,
            "error": self.held_out_standard_error,
        }
        present = {name: values for name, values in columns.items() if values is not None}
        return pd.DataFrame(present, index=pd.Index(self.n_clusters, name="clusters"))

    def __str__(self) -> str:
        verdict = f"suggested: {self.suggestion}" if self.has_structure else "no structure found"
        constant = f"length without clusters: {self.constant_length:.2f}"
        return "\n".join([self.to_frame().round(4).to_string(), verdict, constant])


def cluster_path(
    X: Any,
    n_clusters: Iterable[int] = range(1, 11),
    *,
    estimator: AdditiveClustering | None = None,
    held_out: float | None = 0.1,
    n_repeats: int = 10,
    n_bootstraps: int | None = 20,
    random_state: int | np.random.RandomState | None = None,
) -> ClusterPath:
    """Fit additive clusters for several numbers of clusters and compare the fits.

    Parameters
    ----------
    X : array of shape (n, n), Associations or data frame
        Similarities as for `AdditiveClustering.fit`.
    n_clusters : iterable of int, default range(1, 11)
        Numbers of clusters to compare. They are sorted and duplicates are removed. One cluster and
        the constant model without clusters are always included.
    estimator : AdditiveClustering, optional
        Estimator that defines all settings except `n_clusters`. The default estimator has 3 random
        starts. Annealing by default takes a tenth of its usual sweeps. Fits with hidden pairs use
        one random start and exchange only single clusters.
    held_out : float or None, default 0.1
        Proportion of pairs to hide in each set, strictly between 0 and 0.5. If it is None, this
        criterion is not computed.
    n_repeats : int, default 10
        Number of random sets of hidden pairs. The sets are the same for every K. As far as
        possible, each set contains pairs that no earlier set contains.
    n_bootstraps : int or None, default 20
        Number of refits per number of clusters, each without a quarter of the pairs, that measure
        how often the clusters recur. If it is None, recurrence is not computed.
    random_state : int, RandomState or None, default None
        Seed of the hidden pairs and, by default, of the fits. If it is None, a seed is drawn once
        from NumPy's global state. If it is a `RandomState`, the seed is drawn from that object.

    Returns
    -------
    ClusterPath
        Comparison of the models. Its `suggestion` is 0 if no structure was found.

    Raises
    ------
    DataError
        If the data cannot be clustered.
    ParameterError
        If a parameter is out of range, or if no pair can be hidden.

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
    numbers = [*n_clusters]
    for count in numbers:
        check_whole("n_clusters", count)
    # The model with one cluster is always included. If the range started at 2, noise would appear
    # to have 2 clusters, because no smaller model would be compared.
    counts = np.union1d(np.array(numbers, int), [1])
    if held_out is not None:
        check_number("held_out", held_out, above=0, below=0.5, why=", or None")
    check_whole("n_repeats", n_repeats)
    if n_bootstraps is not None:
        check_whole("n_bootstraps", n_bootstraps)
    random = np.random.RandomState(drawn_seed(random_state))
    seed = int(random.randint(2**31 - 1))
    base = AdditiveClustering(n_init=_STARTS, random_state=seed) if estimator is None else estimator
    data = similarities_from(X, kind=base.kind, strict=base.strict)
    if data.is_constant:
        raise DataError("all similarities are equal, so clusters cannot explain any variance")
    # Impossible numbers of clusters are rejected before any fit starts.
    check_possible(int(counts[-1]), data.n_objects)
    why = f"; use {setting('held_out', None)}"
    hidden = hidden_sets(data, held_out, n_repeats, random, why=why) if held_out else []
    tasks = [(base, data, counts), *((hasty(base), data.hiding(mask), counts) for mask in hidden)]
    # The first path uses all pairs. Each of the other paths omits one hidden set.
    fitted, *others = run_tasks(_path, tasks, "path", n_jobs=base.n_jobs, prefer="threads")
    # Squared errors, (k, hidden pairs), of models that were fitted without these pairs. Pairs that
    # belong to several hidden sets are counted once per set.
    sets = [
        np.array([(data.values - _predicted(model, data))[mask] ** 2 for model in path])
        for path, mask in zip(others, hidden, strict=True)
    ]
    error, standard_error, fewest = _compared(np.hstack(sets)) if sets else (None, None, None)
    length = np.array([_length(model, data) for model in fitted])
    constant_length = _constant_length(base, data)
    shortest = int(np.argmin(length))
    gain = constant_length - length[shortest]
    has_structure = gain > 0 and gain > _gain_of_noise(base, data, counts[shortest], random)
    recurrence = None
    if n_bootstraps is not None:
        recurrence = tuple(
            cluster_stability(
                model, n_bootstraps=n_bootstraps, random_state=random, n_jobs=base.n_jobs
            ).recurrence
            for model in fitted
        )
    return ClusterPath(
        n_clusters=counts,
        vaf=np.array([model.variance_accounted_for_ for model in fitted]),
        description_length=length,
        held_out_error=error,
        held_out_standard_error=standard_error,
        fewest_by_held_out=None if fewest is None else int(counts[fewest]),
        constant_length=constant_length,
        recurrence=recurrence,
        suggestion=int(counts[_suggested(length, recurrence)]) if has_structure else 0,
        estimators=fitted,
    )


def _path(
    base: AdditiveClustering, data: Similarities, counts: np.ndarray
) -> tuple[AdditiveClustering, ...]:
    """Fit each number of clusters in increasing and then in decreasing order."""

    def fitted(count: int, *starts: AdditiveClustering, **settings: int) -> AdditiveClustering:
        estimator = quick(base, data.n_objects, int(count)).set_params(**settings)
        members = [start.memberships_ for start in starts]
        return estimator.set_params(init=members or base.init).fit(data)

    models: list[AdditiveClustering] = []
    for count in counts:
        models.append(fitted(count, *models[-1:]))
    for i in range(len(counts) - 2, -1, -1):
        again = fitted(counts[i], models[i], models[i + 1], n_init=0)
        # The first start is the best solution of the first pass.
        again.solutions_ = np.append(models[i].solutions_, again.solutions_[1:])
        models[i] = again
    # The solutions of neighbours are starts of these fits only, and not of refits.
    return tuple(one.set_params(init=base.init, n_init=base.n_init) for one in models)


def _length(fitted: AdditiveClustering, data: Similarities) -> float:
    """Return the description length of a fitted model."""
    n_weights = len(fitted.weights_) + (fitted.constant is not False)
    costs = n_weights * np.log(data.n_pairs) + 2 * fitted.memberships_.size * np.log(2)
    return _misfit(fitted.residual_variance_ * data.n_pairs, data) + float(costs)


def _constant_length(base: AdditiveClustering, data: Similarities) -> float:
    """Return the description length of the constant."""
    mean = float(data.pair_values.mean())
    constant = {"free": mean, "nonnegative": max(mean, 0.0), False: 0.0}[base.constant]
    squares = float(((data.pair_values - constant) ** 2).sum())
    return _misfit(squares, data) + (base.constant is not False) * float(np.log(data.n_pairs))


def _misfit(squares: float, data: Similarities) -> float:
    """Return N log(S / N), where rounding errors of exact fits count as equal."""
    n_pairs = data.n_pairs
    return float(n_pairs * np.log(max(squares, _EXACT * data.squares) / n_pairs))


def _gain_of_noise(
    base: AdditiveClustering, data: Similarities, count: int, random: np.random.RandomState
) -> float:
    """Return the largest gain in description length among tables with shuffled similarities."""
    rows, columns = np.nonzero(np.triu(data.observed))
    tables = []
    for _ in range(_SHUFFLES):
        values = np.zeros_like(data.values)
        values[rows, columns] = random.permutation(data.values[rows, columns])
        tables.append(replace(data, values=values + values.T))
    tasks = [(base, table, np.unique([1, count])) for table in tables]
    paths = run_tasks(_path, tasks, "shuffled table", n_jobs=base.n_jobs, prefer="threads")
    return max(
        _constant_length(base, table) - min(_length(model, table) for model in path)
        for table, path in zip(tables, paths, strict=True)
    )


def _predicted(fitted: AdditiveClustering, data: Similarities) -> np.ndarray:
    """Return the predicted similarities (n, n), also for a fit to dissimilarities."""
    model = fitted.predict()
    return data.largest - model if fitted.kind == "dissimilarity" else model


def _suggested(length: np.ndarray, recurrence: Sequence[np.ndarray] | None) -> int:
    """Return the index of the largest model up to the shortest whose clusters all recur."""
    chosen = int(np.argmin(length))
    recurs = [one.min() >= RECURS for one in recurrence or ()]
    return max(np.flatnonzero(recurs[: chosen + 1]).tolist(), default=chosen)


def _compared(squares: np.ndarray) -> tuple[np.ndarray, np.ndarray, int]:
    """Return root mean squares, standard errors, and the first model within one of the minimum."""
    root, errors = np.sqrt(squares.mean(axis=1)), _standard_errors(squares)
    # Delta method: se(root) = se(square) / (2 root).
    errors = np.divide(errors, 2 * root, out=np.zeros_like(errors), where=root > 0)
    differences = squares - squares[np.argmin(root)]
    excess = differences.mean(axis=1)
    # The residuals of exact fits are rounding errors, so they do not distinguish between models.
    within = excess <= _standard_errors(differences) + _EXACT * excess.max()
    return root, errors, int(np.argmax(within))


def _standard_errors(values: np.ndarray) -> np.ndarray:
    """Return standard errors of the means of rows (k, n), or 0 if n is 1."""
    n = values.shape[1]
    return values.std(axis=1, ddof=1) / np.sqrt(n) if n > 1 else np.zeros(len(values))
