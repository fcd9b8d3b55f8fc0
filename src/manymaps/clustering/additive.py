"""Additive clustering with overlapping clusters.

    s_ij = sum_k w_k f_ik f_jk + c + noise,   f binary, w_k >= 0

The model is ADCLUS of Shepard & Arabie (1979). It is fitted by annealing or by EM with Gibbs
sampling (Tenenbaum 1996), followed by a search that starts from the result. The estimator validates
the data, runs the restarts, selects the best solution and sorts its clusters.
`manymaps.clustering.solvers` contains the algorithms.

Shapes: similarities (n, n), memberships (n, K), weights (K,).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin, clone
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from manymaps.checks import check_whole, first_cell
from manymaps.clustering.problem import CONSTANTS, KINDS, Problem, Similarities, similarities_from
from manymaps.clustering.solvers import (
    Annealing,
    Cooling,
    GibbsEM,
    Polish,
    Solution,
    Solver,
    improved,
    membership_probabilities,
    n_distinct_clusters,
    solve,
)
from manymaps.compute.threads import one_blas_thread
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
from manymaps.optimizers.loop import best_of
from manymaps.progress import shows_progress
from manymaps.seeds import drawn_seed

if TYPE_CHECKING:
    import pandas as pd

SOLVERS: dict[str, Callable[[], Solver]] = {"gibbs": GibbsEM, "annealing": Annealing}

# With up to 12 clusters, all 4,096 combinations of memberships are compared. With more clusters,
# memberships are found by descent from three starts.
_MOST_EXACT = 12
# Annealing refits all weights at each flip, so it is used only for small tables. For 10 objects and
# 8 clusters, 10,000 sweeps take 0.3 s.
_MOST_ANNEALED = 400
# With this number of sweeps, annealing finds the classes in 98 of 100 of Tenenbaum's artificial
# data sets.
_SWEEPS = 10_000
# Number of sweeps of `quick`, whose docstring contains the measurement.
_QUICK_SWEEPS = 1000


@dataclass(frozen=True)
class Cluster:
    """Cluster with its weight and members.

    Attributes
    ----------
    weight : float
        Contribution of the cluster to the similarity of two of its members, in units of the
        similarities.
    members : tuple of str
        Labels of the members.
    indices : tuple of int
        Row indices of the members.
    """

    weight: float
    members: tuple[str, ...]
    indices: tuple[int, ...]

    def __str__(self) -> str:
        return f"{self.weight:.3f} {{{', '.join(self.members)}}}"


@dataclass(eq=False, repr=False, kw_only=True)
class AdditiveClustering(
    ClassNamePrefixFeaturesOutMixin, TransformerMixin, CheckedParameters, BaseEstimator
):
    """Overlapping clusters whose weights add up to the similarities of their members.

    Parameters
    ----------
    n_clusters : int, default 8
        Number of clusters, at least 1.
    solver : {"gibbs", "annealing"} or Solver, optional
        Algorithm that estimates the memberships. Pass an object such as `GibbsEM(max_iter=200)` to
        change the settings of a solver. The default is a long annealing run,
        `Annealing(n_sweeps=10_000)`, if n * n_clusters is at most 400, and otherwise "gibbs", the
        EM algorithm of Tenenbaum (1996).
    polish : bool or Polish, default True
        Whether to improve the solver's memberships by a local search that refits all weights. The
        search first flips single memberships and then replaces whole clusters.
    constant : {"free", "nonnegative"} or False, default "free"
        Constraint on the additive constant. If it is False, the model has no constant.
    init : array of shape (n, k), or a list of such arrays, optional
        Binary memberships for additional starts, which only the polish improves. If k is less than
        `n_clusters`, the missing clusters are fitted one after another to the residuals. If k is
        greater, clusters are removed in the order in which their removal costs least.
    n_init : int, default 10
        Number of random starts. The best solution is selected. The value 0 is allowed only if
        `init` is given.
    kind : {"similarity", "dissimilarity"}, default "similarity"
        Type of the values in X. Dissimilarities d are fitted as max(d) - d.
    strict : bool, default False
        Whether to raise an error if the matrix is asymmetric, instead of averaging both directions
        with a warning.
    random_state : int, RandomState or None, default None
        Seed of the fit. If it is None, a seed is drawn once from NumPy's global state. If it is a
        `RandomState`, the seed is drawn from that object. The result does not depend on `n_jobs`.
    n_jobs : int, optional
        Number of starts to run in parallel through the active joblib backend.
    verbose : bool, default False
        Whether to show progress: a bar on a terminal or in a notebook, and elsewhere one line per
        minute. See `show_progress`.

    Attributes
    ----------
    memberships_ : ndarray of int8, shape (n, n_clusters)
        Binary memberships, sorted by decreasing weight of the clusters.
    membership_probabilities_ : ndarray of shape (n, n_clusters)
        Probabilities of membership, given the fitted weights and the residual variance.
    weights_ : ndarray of shape (n_clusters,)
        Weights of the clusters, in units of the similarities.
    constant_ : float
        Fitted additive constant, in units of the similarities. If `kind` is "dissimilarity", it
        applies to the transformed values max(d) - d.
    clusters_ : list of Cluster
        The clusters with their weights and members.
    labels_names_ : tuple of str, length n
        Labels of the objects.
    variance_accounted_for_ : float
        Proportion of the variance of the observed pairs that the model explains: 1 minus the ratio
        of the residual sum of squares to the sum of squares about the mean. It is 1 if all
        similarities are equal.
    log_likelihood_ : float
        Log-likelihood at the maximum-likelihood estimate of the residual variance, in nats.
    residual_variance_ : float
        Mean of the squared residuals over the observed pairs.
    n_iter_ : int
        Number of EM iterations or annealing sweeps of the best start.
    converged_ : bool
        Whether the solver converged in the best start.
    history_ : dict of str to ndarray
        Noise variance ("variance") and variance accounted for ("vaf") of the best start, per
        iteration.
    solutions_ : ndarray of shape (n_init + number of starts in init,)
        Variance accounted for by each start, with the random starts first.

    Raises
    ------
    DataError
        If `fit` receives invalid data.
    ParameterError
        If a parameter is invalid when `fit` is called.

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
    >>> model = AdditiveClustering(2, random_state=0).fit(similarities)
    >>> print(*model.clusters_, round(model.constant_, 3))
    0.500 {0, 1} 0.200 {0, 1, 2} 0.1
    >>> model.transform([[0.8, 0.8, 0.3, 0.1]]).tolist()
    [[1, 1]]
    """

    _parameter_constraints: ClassVar[Mapping[str, Allowed]] = {
        "n_clusters": [Whole(1)],
        "solver": [Choice(tuple(SOLVERS)), instance("a solver such as GibbsEM()", Solver), NONE],
        "polish": [FLAG, instance("a Polish object", Polish)],
        "constant": [Choice(CONSTANTS)],
        "init": [ARRAY, Several(ARRAY, "several of them"), NONE],
        "n_init": [Whole(0)],
        "kind": [Choice(KINDS)],
        "strict": [FLAG],
        "random_state": RANDOM_STATE,
        "n_jobs": N_JOBS,
        "verbose": VERBOSE,
    }  # fmt: skip

    n_clusters: int = field(default=8, kw_only=False)
    solver: str | Solver | None = None
    polish: bool | Polish = True
    constant: str | bool = "free"
    init: Any = None
    n_init: int = 10
    kind: str = "similarity"
    strict: bool = False
    random_state: int | np.random.RandomState | None = None
    n_jobs: int | None = None
    verbose: bool = False

    @classmethod
    def tenenbaum_1996(cls, n_clusters: int = 8) -> Self:
        """Return the algorithm of Tenenbaum (1996): EM with Gibbs sampling and two-level annealing.

        Each E-step anneals for 20 to 200 sweeps and records 10 to 100 sweeps, and EM runs for 100
        to 200 iterations (section 3 of the paper). This estimator uses 100 sweeps, 50 sweeps and
        150 iterations. The noise variance decreases over all iterations, to 0.003 of the variance
        of the data. The constant is the weight of a cluster of all objects and therefore at least
        0, the best of five random starts is selected (section 3.2), and no search follows.

        Parameters
        ----------
        n_clusters : int, default 8
            Number of clusters.

        Returns
        -------
        AdditiveClustering
            Estimator with these settings.

        Notes
        -----
        On the measured integers, this estimator accounts for 90.3 % of the variance (mean over ten
        seeds). The paper prints 90.9 %, and the default estimator reaches 91.4 %.

        Examples
        --------
        >>> from manymaps import AdditiveClustering
        >>> paper = AdditiveClustering.tenenbaum_1996()
        >>> paper.solver.n_annealed, paper.solver.n_recorded, paper.solver.max_iter, paper.polish
        (100, 50, 150, False)
        """
        # 0.962^150 is 0.003.
        cooling = Cooling(first=1.0, factor=0.962, last=3e-3)
        return cls(
            n_clusters,
            solver=GibbsEM(cooling, max_iter=150, n_annealed=100, n_recorded=50),
            polish=False,
            constant="nonnegative",
            n_init=5,
        )

    @shows_progress
    def fit(
        self,
        X: Any,
        y: None = None,
        *,
        labels: Sequence[str] | None = None,
    ) -> Self:
        """Fit the clusters.

        Parameters
        ----------
        X : array of shape (n, n), Associations or data frame
            Similarities, with NaN for missing pairs. The diagonal is ignored.
        y : None
            Ignored.
        labels : sequence of str, optional
            One label per object. The default is the labels of X, or "0", "1", ...

        Returns
        -------
        AdditiveClustering
            Fitted estimator.
        """
        self._validate_params()
        X = as_associations(X)
        searching = self.polish if isinstance(self.polish, Polish) else Polish()
        polish = searching if self.polish else None
        similarities = similarities_from(X, kind=self.kind, strict=self.strict, labels=labels)
        n = similarities.n_objects
        check_possible(self.n_clusters, n)
        if similarities.is_constant:
            warnings.warn(
                f"all {similarities.n_pairs} similarities are equal, so clusters cannot explain "
                "any variance",
                DataWarning,
                stacklevel=2,
            )
        starts = self._check_starts(n)
        problem = Problem.of(similarities, self.n_clusters, self.constant)
        best = self._best_of_starts(similarities, problem, self._solver(n), polish, starts)
        self._similarities = similarities
        # `validated` sets n_features_in_ and the column names of a frame.
        frame = labelled_values(X)[1] if is_frame(X) else similarities.values
        validated(self, frame, skip_check_array=True)
        self._set_clusters(problem, *best)
        self._fitted_rows = _plain_rows(X, similarities)
        return self

    def fit_transform(self, X: Any, y: None = None, **fit_params: Any) -> np.ndarray:
        """Fit the clusters and return the memberships.

        Parameters
        ----------
        X : array of shape (n, n), Associations or data frame
            Similarities as for `fit`.
        y : None
            Ignored.
        **fit_params : dict
            Keyword arguments of `fit`.

        Returns
        -------
        ndarray of int8, shape (n, n_clusters)
            Copy of `memberships_`.
        """
        return self.fit(X, y, **fit_params).memberships_.copy()

    def predict(self, X: Any = None) -> np.ndarray:
        """Predict similarities from the model.

        Parameters
        ----------
        X : array of shape (k, n), optional
            Similarities of other objects to the n fitted objects. By default, the similarities
            between the fitted objects are predicted.

        Returns
        -------
        ndarray of shape (k, n) or (n, n)
            Predicted values of the fitted `kind`. For the fitted objects, the diagonal is NaN
            because the model does not predict self-similarities.
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
        """Assign objects to clusters by their similarities to the fitted objects.

        A row that is equal to a fitted row receives the memberships of that row. If several equal
        fitted rows have different memberships, the first of these rows is used, unless X is the
        whole fitted table. Any other row receives the least-squares memberships. All 2^K
        combinations are compared if the number of clusters K is at most 12. If K is greater,
        memberships are flipped one at a time from three starts, and the best result is returned.
        The starts are no cluster, all clusters, and the unbounded least-squares solution.

        Parameters
        ----------
        X : array of shape (k, n)
            Similarities to the n fitted objects, in their order and of the fitted `kind`, with NaN
            for missing values.

        Returns
        -------
        ndarray of int8, shape (k, n_clusters)
            Binary memberships.
        """
        check_is_fitted(self, "memberships_")
        rows = validated(
            self, labelled_values(X)[1], reset=False, dtype=np.float64,
            ensure_all_finite="allow-nan", order="C",
        )  # fmt: skip
        result = np.empty((len(rows), len(self.weights_)), np.int8)
        design = self.memberships_ * self.weights_
        matches = same_rows(rows, self._fitted_rows)
        for a, (row, fitted) in enumerate(zip(rows, matches, strict=True)):
            if fitted >= 0:
                result[a] = self.memberships_[fitted]
                continue
            values = self._similarities.largest - row if self.kind == "dissimilarity" else row
            result[a] = _assigned(design, values - self.constant_)
        return result

    def to_frame(self, recurrence: np.ndarray | None = None) -> pd.DataFrame:
        """Return the table of the clusters, with the constant and the variance accounted for.

        Parameters
        ----------
        recurrence : array of shape (n_clusters,), optional
            Share of refits in which each cluster recurs, from `cluster_stability`.

        Returns
        -------
        DataFrame
            Columns "weight", "recurrence" (if it is passed) and "members", with one row per
            cluster. The rows "constant" and "variance accounted for" follow, with their values in
            the column "weight".

        Examples
        --------
        >>> from manymaps import AdditiveClustering, load_integers
        >>> model = AdditiveClustering(1, n_init=1, random_state=0).fit(load_integers())
        >>> list(model.to_frame().index)
        ['1', 'constant', 'variance accounted for']
        """
        check_is_fitted(self, "memberships_")
        import pandas as pd

        numbers = map(str, range(1, 1 + len(self.weights_)))
        index = pd.Index([*numbers, "constant", "variance accounted for"], name="cluster")
        weights = [*self.weights_, self.constant_, self.variance_accounted_for_]
        table = pd.DataFrame({"weight": weights}, index)
        if recurrence is not None:
            table["recurrence"] = [*recurrence, np.nan, np.nan]
        return table.assign(members=[*(", ".join(c.members) for c in self.clusters_), "(all)", ""])

    @property
    def _n_features_out(self) -> int:
        return len(self.weights_)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = True
        tags.input_tags.allow_nan = True
        assert tags.transformer_tags is not None
        tags.transformer_tags.preserves_dtype = []  # memberships are int8 for any type of X
        return tags

    def _solver(self, n: int) -> Solver:
        if isinstance(self.solver, Solver):
            return self.solver
        if self.solver is not None:
            return SOLVERS[self.solver]()
        few = _few_memberships(n, self.n_clusters)
        return Annealing(n_sweeps=_SWEEPS) if few else GibbsEM()

    def _check_starts(self, n: int) -> list[np.ndarray]:
        """Return the memberships in `init`, each of shape (n, k)."""
        tables = [] if self.init is None else _each(self.init)
        if not tables:
            check_whole("n_init", self.n_init, why=" unless init is given")
        starts = [np.asarray(start, dtype=np.float64) for start in tables]
        for start in starts:
            if start.ndim != 2 or len(start) != n:
                raise DataError(
                    f"init has shape {start.shape}; expected {n} rows (objects) and one column "
                    "per cluster"
                )
            _check_binary(start)
        return starts

    def _best_of_starts(
        self,
        similarities: Similarities,
        problem: Problem,
        solver: Solver,
        polish: Polish | None,
        starts: Sequence[np.ndarray],
    ) -> tuple[Solution, np.ndarray]:
        """Return the best solution and its membership probabilities."""
        entropy = np.random.RandomState(drawn_seed(self.random_state)).randint(2**31 - 1)
        seeds = np.random.SeedSequence(entropy).spawn(self.n_init + 1)

        def run(start: np.random.SeedSequence | np.ndarray) -> Solution:
            with one_blas_thread():
                if isinstance(start, np.ndarray):
                    return improved(problem, start, polish)
                return solve(problem, solver, polish, start)

        # The compiled loops release the interpreter lock, so threads are used unless joblib's
        # context selects another backend.
        begins: list[np.random.SeedSequence | np.ndarray] = [*seeds[1:], *starts]
        best, runs = best_of(begins, run, n_jobs=self.n_jobs, prefer="threads")
        squares = problem.n_pairs * problem.variance
        constant = similarities.is_constant
        self.solutions_ = np.array([1.0 if constant else 1 - f.left / squares for f in runs])
        return best, membership_probabilities(problem, best, seeds[0])

    def _set_clusters(
        self, problem: Problem, solution: Solution, probabilities: np.ndarray
    ) -> None:
        """Store the clusters by decreasing weight, in the units and object order of the data."""
        place = np.empty(problem.n_objects, np.intp)
        place[problem.order] = np.arange(problem.n_objects)
        members = solution.features[1:, place].T
        weights = solution.weights[1:] * problem.scale
        rank = np.lexsort([*members[::-1], -members.sum(axis=0), -weights])
        self.memberships_ = members[:, rank].astype(np.int8)
        self.membership_probabilities_ = probabilities[1:, place].T[:, rank]
        self.weights_ = weights[rank]
        self.constant_ = float(solution.weights[0] * problem.scale + problem.shift)
        self.n_iter_, self.converged_ = solution.n_iter, solution.converged
        self.history_ = dict(solution.history)
        labels = self._similarities.labels
        self.labels_names_ = labels
        self.clusters_ = []
        for k, weight in enumerate(self.weights_):
            rows = tuple(int(i) for i in np.flatnonzero(self.memberships_[:, k]))
            names = tuple(labels[i] for i in rows)
            self.clusters_.append(Cluster(float(weight), names, rows))
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


def _assigned(design: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Return binary g that minimize |x - F W g|^2 for `values` x (n,) without the constant."""
    known = ~np.isnan(values)
    design = design[known]
    gram, right = design.T @ design, design.T @ values[known]
    count = len(right)
    if count <= _MOST_EXACT:
        codes = (np.arange(1 << count)[:, None] >> np.arange(count)) & 1
    else:
        bounded = np.linalg.lstsq(gram, right, rcond=None)[0]
        starts = np.array([np.zeros(count), np.ones(count), bounded > 0.5]).astype(int)
        codes = np.array([_descend(gram, right, start) for start in starts])
    costs = np.einsum("ck,kl,cl->c", codes, gram, codes) - 2 * codes @ right
    return codes[_first_least(costs, codes)]


def _few_memberships(n_objects: int, n_clusters: int) -> bool:
    """Return whether annealing is the default for these numbers of objects and clusters."""
    return n_objects * n_clusters <= _MOST_ANNEALED


def quick(estimator: AdditiveClustering, n_objects: int, n_clusters: int) -> AdditiveClustering:
    """Return a copy of the estimator in which annealing by default is a short run.

    In 91 % of 216 fits of simulated tables, three short annealing runs and the local search ended
    at the best known solution. Three long runs did so equally often.
    """
    quicker = clone(estimator).set_params(n_clusters=n_clusters, n_jobs=1)
    if estimator.solver is None and _few_memberships(n_objects, n_clusters):
        quicker.set_params(solver=Annealing(n_sweeps=_QUICK_SWEEPS))
    return quicker


def hasty(estimator: AdditiveClustering, n_init: int = 1) -> AdditiveClustering:
    """Return a copy that uses few random starts and exchanges at most one cluster at a time."""
    polish = Polish(clusters=1) if estimator.polish is True else estimator.polish
    return clone(estimator).set_params(n_init=min(n_init, estimator.n_init), polish=polish)


def check_possible(n_clusters: int, n_objects: int) -> None:
    """Raise an error if there are more clusters than can be distinct."""
    if n_clusters > n_distinct_clusters(n_objects):
        raise ParameterError(
            f"exceeds the {n_distinct_clusters(n_objects)} distinct clusters of at least two "
            f"members that {n_objects} objects can form",
            name="n_clusters",
            value=n_clusters,
        )


def _each(init: Any) -> list[Any]:
    """Convert one or several membership tables to a list of tables."""
    several = isinstance(init, list | tuple) and all(np.ndim(table) == 2 for table in init)
    return list(init) if several else [init]


def _check_binary(start: np.ndarray) -> None:
    cell = first_cell(start, lambda values: (values != 0) & (values != 1))
    if cell is not None:
        raise DataError(
            f"init {cell.column} of object {cell.row} is {cell.value}; memberships to start from "
            "must be 0 or 1"
        )


def _first_least(costs: np.ndarray, codes: np.ndarray) -> int:
    """Return the index of the least cost, with ties resolved by the fewest memberships."""
    scale = np.abs(costs).max()
    near = np.flatnonzero(costs <= costs.min() + 1e-12 * scale)
    return int(near[np.argmin(codes[near].sum(axis=1))])


def _descend(gram: np.ndarray, right: np.ndarray, start: np.ndarray) -> np.ndarray:
    """Flip the membership that reduces the cost most until no flip reduces it."""
    code = start.copy()
    while True:
        sign = 1 - 2 * code
        change = np.diagonal(gram) + sign * 2 * (gram @ code - right)
        k = int(np.argmin(change))
        if change[k] >= -1e-12 * np.abs(right).max():
            return code
        code[k] = 1 - code[k]


def _plain_rows(X: Any, similarities: Similarities) -> np.ndarray:
    """Return the input rows for later comparison, or the symmetric values if X is not a table."""
    table = labelled_values(X)[1]
    table = table.to_numpy() if hasattr(table, "to_numpy") else table
    rows = np.asarray(table, dtype=np.float64) if isinstance(table, np.ndarray | list) else None
    if rows is None or rows.ndim != 2:
        rows = np.where(similarities.observed, similarities.values, np.nan)
    return rows
