"""Additive clustering: overlapping features behind similarities.

    s_ij = sum_k w_k f_ik f_jk + c + noise,   f binary, w_k >= 0

Shepard & Arabie 1979 (ADCLUS); fitted by EM with Gibbs sampling (Tenenbaum 1996) and a search that
moves on from where EM ends. The estimator reads, restarts, keeps the best and ranks its clusters;
the work is done by `manymaps.clustering.solvers`.

Shapes: similarities (n, n), memberships (n, K), weights (K,).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from manymaps.checks import check_whole, first_cell
from manymaps.clustering.priors import Prior, SizePrior, TiedSizePrior, UniformPrior
from manymaps.clustering.problem import CONSTANTS, KINDS, Problem, Similarities, similarities_from
from manymaps.clustering.solvers import (
    Annealing,
    Enumeration,
    ExactEM,
    GibbsEM,
    MeanFieldEM,
    Polish,
    Solution,
    Solver,
    improved,
    membership_probabilities,
    n_distinct_clusters,
    solve,
)
from manymaps.compute.tasks import run_tasks
from manymaps.constraints import (
    ARRAY,
    FLAG,
    N_JOBS,
    NONE,
    RANDOM_STATE,
    VERBOSE,
    Allowed,
    CheckedParameters,
    Choice,
    Several,
    Whole,
    instance,
)
from manymaps.data.frame_labels import is_frame, labelled_values
from manymaps.data.trials import as_associations
from manymaps.data.validation import same_rows, validated
from manymaps.errors import DataError, DataWarning, ParameterError
from manymaps.progress import shows_progress
from manymaps.seeds import drawn_seed

__all__ = ["AdditiveClustering", "Cluster", "check_possible", "few_memberships"]

SOLVERS: dict[str, Callable[[], Solver]] = {
    "gibbs": GibbsEM,
    "annealing": Annealing,
    "mean-field": MeanFieldEM,
    "exact-em": ExactEM,
    "enumeration": Enumeration,
}

# Up to 4,096 sets of clusters are compared one by one; beyond that a descent from three starts.
_MOST_EXACT = 12
# Annealing refits all weights at each flip, which only small tables can afford: 10,000 sweeps take
# 0.3 s for 10 objects and 8 clusters.
_MOST_ANNEALED = 400
# Finds the classes of Tenenbaum's artificial data in 98 of 100 sets.
_SWEEPS = 10_000


@dataclass(frozen=True)
class Cluster:
    """A cluster: its weight and its members.

    Attributes
    ----------
    weight : float
        What two members share, in units of the similarities.
    members : tuple of str
        Labels.
    indices : tuple of int
        Rows.
    observed : bool
        Whether it is a feature that was given, not found.
    """

    weight: float
    members: tuple[str, ...]
    indices: tuple[int, ...]
    observed: bool = False

    def __str__(self) -> str:
        return f"{self.weight:.3f} {{{', '.join(self.members)}}}"


class AdditiveClustering(
    ClassNamePrefixFeaturesOutMixin, TransformerMixin, CheckedParameters, BaseEstimator
):
    """Overlapping clusters whose weights add up to the similarities of their members.

    Parameters
    ----------
    n_clusters : int
        Clusters to find, at least 1 (or 0 beside given features).
    solver : {"auto", "gibbs", "annealing", "mean-field", "exact-em", "enumeration"} or Solver
        How memberships are found; an object such as `GibbsEM(n_recorded=20)` has its own settings.
        "auto" is a long annealing, `Annealing(n_sweeps=10_000)`, while n * n_clusters is at most
        400, and the EM of Tenenbaum (1996), "gibbs", beyond. The last two are oracles for
        n * n_clusters of at most 20.
    polish : bool or Polish
        Whether to search on from the solver's memberships with all weights re-fitted: flips of
        single memberships, then clusters found anew.
    prior : UniformPrior, SizePrior or TiedSizePrior, optional
        Of the memberships; uniform by default.
    features : array of shape (n, n_features), optional
        Observed features of 0 and 1, held fixed; only their weights are fitted.
    constant : {"free", "nonnegative"} or False
        The bound of the additive constant, or none at all.
    init : array of shape (n, k), or a list of such, optional
        Memberships of 0 and 1 that further starts set out from, by the polish alone. Where k is
        below n_clusters clusters are added for what the others leave, one after another; where it
        is above, those go whose loss costs least. Beside given features, memberships of the
        clusters alone.
    n_init : int
        Random starts, of which the best is kept; 0 only beside `init`.
    kind : {"similarity", "dissimilarity"}
        What X holds; dissimilarities d are fitted as max(d) - d.
    strict : bool
        Refuse an asymmetric matrix, instead of averaging it with a warning.
    random_state : int, RandomState or None
        None draws a number from NumPy's global state, once, and a `RandomState` from itself: the
        fit is that of this number. It does not depend on `n_jobs`.
    n_jobs : int, optional
        Starts run at a time, through joblib and the backend that is set there.
    verbose : bool
        Whether to show how far the fit is: on a terminal or in a notebook a bar, elsewhere a line a
        minute. See `show_progress`.

    Attributes
    ----------
    memberships_ : ndarray of int8, shape (n, K)
        K = n_clusters plus the given features, by falling weight.
    membership_probabilities_ : ndarray of shape (n, K)
        P(member) at the fitted weights and the residual variance.
    weights_ : ndarray of shape (K,)
    observed_ : ndarray of bool, shape (K,)
        Which of them are given features.
    constant_ : float
    clusters_ : list of Cluster
    labels_names_ : tuple of str, length n
    variance_accounted_for_ : float
        1 less the squares left over those about the mean, over the observed pairs; 1 where all
        similarities are equal.
    log_likelihood_, residual_variance_ : float
        At the maximum, by the mean of the squares left.
    n_iter_ : int
        EM iterations of the best start, or sweeps of its annealing.
    converged_ : bool
    history_ : dict of str to ndarray
        "variance" and "vaf" of the best start by iteration.
    solutions_ : ndarray of shape (n_init + starts in init,)
        The variance accounted for by each start, the random ones first.

    Raises
    ------
    DataError, ParameterError
        From `fit`, for data or parameters that make no sense.

    See Also
    --------
    cluster_path, cluster_stability, plot_features, similarity_map, read_similarities

    References
    ----------
    Shepard & Arabie (1979), Psychological Review 86, 87-123. Tenenbaum (1996), Advances in Neural
    Information Processing Systems 8, 3-9.

    Examples
    --------
    >>> from manymaps import AdditiveClustering
    >>> similarities = [
    ...     [1.0, 0.8, 0.3, 0.1], [0.8, 1.0, 0.3, 0.1], [0.3, 0.3, 1.0, 0.1], [0.1, 0.1, 0.1, 1.0]
    ... ]
    >>> found = AdditiveClustering(2, random_state=0).fit(similarities)
    >>> print(*found.clusters_, round(found.constant_, 3))
    0.500 {0, 1} 0.200 {0, 1, 2} 0.1
    >>> found.transform([[0.8, 0.8, 0.3, 0.1]]).tolist()
    [[1, 1]]
    """

    _parameter_constraints: ClassVar[Mapping[str, Allowed]] = {
        "n_clusters": [Whole(0)],
        "solver": [Choice(("auto", *SOLVERS)), instance("a solver such as GibbsEM()", Solver)],
        "polish": [FLAG, instance("a Polish object", Polish)],
        "prior": [
            instance(
                "UniformPrior(), SizePrior(), TiedSizePrior()",
                UniformPrior, SizePrior, TiedSizePrior,
            ),
            NONE,
        ],
        "features": [ARRAY, NONE],
        "constant": [Choice(CONSTANTS)],
        "init": [ARRAY, Several(ARRAY, "several of them"), NONE],
        "n_init": [Whole(0)],
        "kind": [Choice(KINDS)],
        "strict": [FLAG],
        "random_state": RANDOM_STATE,
        "n_jobs": N_JOBS,
        "verbose": VERBOSE,
    }  # fmt: skip

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        solver: str | Solver = "auto",
        polish: bool | Polish = True,
        prior: Prior | None = None,
        features: Any = None,
        constant: str | bool = "free",
        init: Any = None,
        n_init: int = 10,
        kind: str = "similarity",
        strict: bool = False,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: bool = False,
    ):
        self.n_clusters = n_clusters
        self.solver = solver
        self.polish = polish
        self.prior = prior
        self.features = features
        self.constant = constant
        self.init = init
        self.n_init = n_init
        self.kind = kind
        self.strict = strict
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @shows_progress
    def fit(self, X: Any, y: None = None, *, labels: Sequence[str] | None = None) -> Self:
        """Find clusters.

        Parameters
        ----------
        X : array (n, n), condensed vector (n (n - 1) / 2,), Associations, Judgements or data frame
            Similarities (of judgements their average), NaN where missing; the diagonal is not read.
        y : None
            Ignored.
        labels : sequence of str, optional
            One per object; otherwise those of X, or "0", "1", ...

        Returns
        -------
        self
        """
        self._validate_params()
        X = as_associations(X)
        searching = self.polish if isinstance(self.polish, Polish) else Polish()
        polish = searching if self.polish else None
        prior = UniformPrior() if self.prior is None else self.prior
        similarities = similarities_from(X, kind=self.kind, strict=self.strict, labels=labels)
        n = similarities.n_objects
        features = self._check_features(n)
        check_possible(self.n_clusters, n, features.shape[1])
        if similarities.is_constant:
            warnings.warn(
                f"all {similarities.n_pairs} similarities are equal: there is nothing for "
                "clusters to explain",
                DataWarning,
                stacklevel=2,
            )
        starts = self._check_starts(n)
        problem = Problem.of(similarities, self.n_clusters, prior, features, self.constant)
        found = self._best_of_starts(similarities, problem, self._solver(n), polish, starts)
        self._similarities = similarities
        self._prior = prior
        # Sets n_features_in_, and the names of a frame's columns.
        frame = labelled_values(X)[1] if is_frame(X) else similarities.values
        validated(self, frame, skip_check_array=True)
        self._set_clusters(problem, found)
        self._fitted_rows = _plain_rows(X, similarities)
        return self

    def fit_transform(self, X: Any, y: None = None, **fit_params: Any) -> np.ndarray:
        """Fit, and give the memberships.

        Parameters
        ----------
        X : array, sparse array or Associations
            As for `fit`.
        y : None
            Not used.
        **fit_params : dict
            None are known.

        Returns
        -------
        ndarray of shape (n, n_clusters)
            The memberships.
        """
        return self.fit(X, y, **fit_params).memberships_.copy()

    def predict(self, X: Any = None) -> np.ndarray:
        """Similarities by the model.

        Parameters
        ----------
        X : array of shape (k, n), optional
            Similarities of other objects to the n fitted ones; by default the fitted ones.

        Returns
        -------
        ndarray of shape (k, n), or (n, n) with NaN on the diagonal, of which the model says nothing
            Of the kind that was fitted.
        """
        check_is_fitted(self, "memberships_")
        left = self.memberships_ if X is None else self.transform(X)
        result = (left * self.weights_) @ self.memberships_.T.astype(np.float64) + self.constant_
        if self.kind == "dissimilarity":
            result = self._similarities.largest - result
        if X is None:
            np.fill_diagonal(result, np.nan)
        return result

    def transform(self, X: Any) -> np.ndarray:
        """Memberships of objects from their similarities to the fitted ones.

        A row that was fitted keeps its memberships; of fitted rows that are equal, but have others,
        it has those of the first, unless X is all that was fitted. Another gets those of the least
        squares (with the prior, at the residual variance): the best of all 2^K while K is at most
        12, beyond that the best that single flips reach from no cluster, from all, and from the
        least squares
        without bounds.

        Parameters
        ----------
        X : array of shape (k, n)
            In the order of the fitted objects, of the kind that was fitted; NaN where missing.

        Returns
        -------
        ndarray of int8, shape (k, K)
        """
        check_is_fitted(self, "memberships_")
        rows = self._check_rows(X)
        result = np.empty((len(rows), len(self.weights_)), np.int8)
        places = _Placement.of(self)
        found = same_rows(rows, self._fitted_rows)
        for a, (row, fitted) in enumerate(zip(rows, found, strict=True)):
            if fitted >= 0:
                result[a] = self.memberships_[fitted]
                continue
            values = self._similarities.largest - row if self.kind == "dissimilarity" else row
            result[a] = places.memberships(values - self.constant_)
        return result

    @property
    def _n_features_out(self) -> int:
        return len(self.weights_)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = True
        tags.input_tags.allow_nan = True
        assert tags.transformer_tags is not None
        tags.transformer_tags.preserves_dtype = []  # memberships are int8, whatever X is
        return tags

    def _solver(self, n: int) -> Solver:
        if isinstance(self.solver, Solver):
            return self.solver
        if self.solver != "auto":
            return SOLVERS[self.solver]()
        few = few_memberships(n, self.n_clusters)
        return Annealing(n_sweeps=_SWEEPS) if few else GibbsEM()

    def _check_features(self, n: int) -> np.ndarray:
        if self.features is None:
            return np.zeros((n, 0))
        features = np.asarray(self.features, dtype=np.float64)
        if features.ndim != 2 or len(features) != n:
            raise DataError(
                f"features have the shape {features.shape}; give {n} rows, one per object"
            )
        _check_binary(features, "feature", "observed features")
        return features

    def _check_starts(self, n: int) -> list[np.ndarray]:
        """The memberships of `init`, each (n, k)."""
        given = [] if self.init is None else _each(self.init)
        if not given:
            check_whole("n_init", self.n_init, why=" without init")
        starts = [np.asarray(one, dtype=np.float64) for one in given]
        for one in starts:
            if one.ndim != 2 or len(one) != n:
                raise DataError(
                    f"init has the shape {one.shape}; give {n} rows, one per object, and a column "
                    "per cluster"
                )
            _check_binary(one, "init", "memberships to start from")
        return starts

    def _best_of_starts(
        self,
        similarities: Similarities,
        problem: Problem,
        solver: Solver,
        polish: Polish | None,
        starts: Sequence[np.ndarray],
    ) -> Solution:
        entropy = np.random.RandomState(drawn_seed(self.random_state)).randint(2**31 - 1)
        seeds = np.random.SeedSequence(entropy).spawn(self.n_init + 1)
        # The loops run without the interpreter's lock, so threads serve unless joblib's context
        # says otherwise.
        found: list[Solution] = run_tasks(
            solve, [(problem, solver, polish, seed) for seed in seeds[1:]], "start",
            n_jobs=self.n_jobs, prefer="threads",
        )  # fmt: skip
        found += [improved(problem, members, polish) for members in starts]
        squares = problem.n_pairs * problem.variance
        constant = similarities.is_constant
        self.solutions_ = np.array([1.0 if constant else 1 - f.left / squares for f in found])
        best = max(range(len(found)), key=lambda i: (found[i].objective, -i))
        self._probabilities = membership_probabilities(problem, found[best], seeds[0])
        return found[best]

    def _set_clusters(self, problem: Problem, found: Solution) -> None:
        """Clusters by falling weight, in the units and the order of the data."""
        place = np.empty(problem.n_objects, np.intp)
        place[problem.order] = np.arange(problem.n_objects)
        members = found.features[1:, place].T
        weights = found.weights[1:] * problem.scale
        rank = np.lexsort([*members[::-1], -members.sum(axis=0), -weights])
        self.memberships_ = members[:, rank].astype(np.int8)
        self.membership_probabilities_ = self._probabilities[1:, place].T[:, rank]
        del self._probabilities
        self.weights_ = weights[rank]
        self.observed_ = rank < problem.first - 1
        self.constant_ = float(found.weights[0] * problem.scale + problem.shift)
        self.n_iter_, self.converged_ = found.n_iter, found.converged
        self.history_ = dict(found.history)
        labels = self._similarities.labels
        self.labels_names_ = labels
        self.clusters_ = []
        for k, weight in enumerate(self.weights_):
            rows = tuple(int(i) for i in np.flatnonzero(self.memberships_[:, k]))
            names = tuple(labels[i] for i in rows)
            self.clusters_.append(Cluster(float(weight), names, rows, bool(self.observed_[k])))
        self._set_measures()

    def _set_measures(self) -> None:
        data = self._similarities
        model = (self.memberships_ * self.weights_) @ self.memberships_.T.astype(np.float64)
        pairs = np.triu(data.observed)
        left = float(((data.values - model - self.constant_)[pairs] ** 2).sum())
        squares, n_pairs = data.squares, data.n_pairs
        self.variance_accounted_for_ = 1.0 if data.is_constant else 1 - left / squares
        self.residual_variance_ = left / n_pairs
        with np.errstate(divide="ignore"):
            log_variance = np.log(2 * np.pi * self.residual_variance_)
        self.log_likelihood_ = float(-0.5 * n_pairs * (log_variance + 1))

    def _check_rows(self, X: Any) -> np.ndarray:
        return validated(
            self, labelled_values(X)[1], reset=False, dtype=np.float64,
            ensure_all_finite="allow-nan", order="C",
        )  # fmt: skip


@dataclass(frozen=True, eq=False)
class _Placement:
    """Memberships of one object at a time: min |x - F W g|^2 - penalty g over binary g."""

    design: np.ndarray
    bonus: np.ndarray

    @classmethod
    def of(cls, fitted: AdditiveClustering) -> _Placement:
        learned = ~fitted.observed_
        odds = np.zeros(len(fitted.weights_))
        odds[learned] = fitted._prior.log_odds(fitted.weights_[learned])
        return cls(fitted.memberships_ * fitted.weights_, 2 * fitted.residual_variance_ * odds)

    def memberships(self, values: np.ndarray) -> np.ndarray:
        """The memberships that fit these values (n,), less the constant, best."""
        known = ~np.isnan(values)
        design = self.design[known]
        gram, right = design.T @ design, design.T @ values[known] + self.bonus / 2
        count = len(right)
        if count <= _MOST_EXACT:
            codes = (np.arange(1 << count)[:, None] >> np.arange(count)) & 1
            costs = np.einsum("ck,kl,cl->c", codes, gram, codes) - 2 * codes @ right
            return codes[_first_least(costs, codes)]
        bounded = np.linalg.lstsq(gram, right, rcond=None)[0]
        starts = np.array([np.zeros(count), np.ones(count), bounded > 0.5]).astype(int)
        codes = np.array([_descend(gram, right, start) for start in starts])
        costs = np.einsum("ck,kl,cl->c", codes, gram, codes) - 2 * codes @ right
        return codes[_first_least(costs, codes)]


def few_memberships(n_objects: int, n_clusters: int) -> bool:
    """Whether so many clusters of so many objects are annealed, where the solver is "auto"."""
    return n_objects * n_clusters <= _MOST_ANNEALED


def check_possible(n_clusters: int, n_objects: int, n_features: int) -> None:
    """Refuse no clusters at all, and more than there are."""
    if n_clusters == 0 and n_features == 0:
        check_whole("n_clusters", n_clusters, why=" where no features are given")
    if n_clusters > n_distinct_clusters(n_objects):
        raise ParameterError(
            f"is more than the {n_distinct_clusters(n_objects)} clusters of at least two that "
            f"{n_objects} objects have",
            name="n_clusters",
            value=n_clusters,
        )


def _each(given: Any) -> list[Any]:
    """One table of memberships, or several, as a list."""
    several = isinstance(given, list | tuple) and all(np.ndim(one) == 2 for one in given)
    return list(given) if several else [given]


def _check_binary(values: np.ndarray, name: str, what: str) -> None:
    cell = first_cell(values, lambda each: (each != 0) & (each != 1))
    if cell is not None:
        raise DataError(
            f"{name} {cell.column} of object {cell.row} is {cell.value}; {what} are 0 or 1"
        )


def _first_least(costs: np.ndarray, codes: np.ndarray) -> int:
    """The least cost; of equals the one with the fewest memberships."""
    scale = np.abs(costs).max()
    near = np.flatnonzero(costs <= costs.min() + 1e-12 * scale)
    return int(near[np.argmin(codes[near].sum(axis=1))])


def _descend(gram: np.ndarray, right: np.ndarray, start: np.ndarray) -> np.ndarray:
    """Flip the membership that helps most until none does."""
    code = start.copy()
    while True:
        sign = 1 - 2 * code
        change = np.diagonal(gram) + sign * 2 * (gram @ code - right)
        k = int(np.argmin(change))
        if change[k] >= -1e-12 * np.abs(right).max():
            return code
        code[k] = 1 - code[k]


def _plain_rows(X: Any, similarities: Similarities) -> np.ndarray:
    """The rows as they were given, to find them again; the symmetric values where X is no table."""
    table = labelled_values(X)[1]
    table = table.to_numpy() if hasattr(table, "to_numpy") else table
    rows = np.asarray(table, dtype=np.float64) if isinstance(table, np.ndarray | list) else None
    if rows is None or rows.ndim != 2:
        rows = np.where(similarities.observed, similarities.values, np.nan)
    return rows
