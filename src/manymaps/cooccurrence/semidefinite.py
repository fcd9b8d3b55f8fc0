"""Semidefinite CODE: convex optimization of CODE models over Gram matrices.

CODE (`manymaps.cooccurrence.code`) optimizes positions in a given dimension and can stop at a local
optimum. Over the Gram matrix of all points, the problem is convex, and the rank of the optimum is
the dimension (Globerson, Chechik, Pereira & Tishby 2004, section 4). The programs and the trace
path are defined in `manymaps.cooccurrence.programs`.

    counts -> p(x,y) -> optimal G -> eigendecomposition -> points of rows and columns

The method is intended for small tables. The following table lists times for one optimum on one
core. A path requires 11 to 15 optima.

    objects        20 + 20   30 + 30   40 + 40   60 + 60
    Clarabel         1.8 s       7 s      50 s             time grows as N^5 to N^6
    SCS                2 s      10 s      20 s      50 s   time grows as rows x columns

**With trace_penalty=0, every model in this module fits the table exactly** (see the programs
module). This setting therefore only selects the points with the smallest spread, and a penalty or a
path is more informative. On a path, the penalty shrinks the optimum. On random 12 x 15 tables, its
log-likelihood per count was 1 to 11 % below the best of ten CODE fits in two dimensions. The
difference was less than 0.1 % for CODE that started from these points. The path therefore provides
a good start but does not replace CODE:

    CODE(penalty=0, init=(fit.row_embedding_, fit.column_embedding_)).fit(counts)

Shapes: gram_ (N, N) with N = n_rows + n_columns, rows first.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal, Self

import numpy as np
from scipy.special import logsumexp
from sklearn.base import BaseEstimator
from sklearn.utils import Tags

from manymaps.atlas.atlas import Atlas
from manymaps.checks import check_whole
from manymaps.constraints import (
    FLAG,
    NONE,
    Allowed,
    CheckedParameters,
    Choice,
    Number,
    Whole,
    instance,
)
from manymaps.cooccurrence.checks import warn_of_empty
from manymaps.cooccurrence.matching import objects_of
from manymaps.cooccurrence.programs import (
    SemidefiniteProgram,
    SemidefiniteSolution,
    SolverError,
    embedding_of,
    squared_distances,
)
from manymaps.data.counts import Counts
from manymaps.errors import DataError, ParameterError
from manymaps.io.counts import counts_from
from manymaps.model.choice import CODE as CODE_MODEL

__all__ = ["SemidefiniteCODE", "SemidefiniteSolution", "SolverError"]

# This limit allows two sides of 200 objects. Time and memory grow faster than the number of pairs,
# and no solver succeeds for more than 40,000 pairs.
MOST_PAIRS = 40_000


@dataclass(eq=False, repr=False, kw_only=True)
class SemidefiniteCODE(CheckedParameters, BaseEstimator):
    """CODE as a convex program over Gram matrices, for small tables.

    Parameters
    ----------
    n_components : int, default 2
        Number of dimensions of the embedding, which uses the leading eigenvectors of the Gram
        matrix.
    form : {"conditional", "joint"}, default "conditional"
        Type of model: problem (6) of the paper, or problem (5).
    given : {"rows", "columns"}, default "rows"
        Conditioning variable of a conditional model.
    marginals : bool, default True
        Whether the empirical marginals are factors of the model.
    fixed_marginals : bool, default False
        Whether a conditional model also fixes the marginals of the objects that it predicts, for
        example p(y) given rows. The model may assign less than 1 to a row or column in total.
    trace_penalty : float or "path", default 0.0
        Weight of the trace of the Gram matrix relative to the log-likelihood per count, at least 0.
        "path" increases the penalty until the rank is `n_components`.
    solver : {None, "CLARABEL", "SCS"}, default None
        Name of the solver. If it is None, Clarabel is used for up to 60 objects. SCS is used for
        more objects, or if Clarabel fails.
    solver_options : mapping, optional
        Options of the solver, for example {"max_iter": 500} for Clarabel or {"max_iters": 500000}
        for SCS.

    Attributes
    ----------
    gram_ : ndarray of shape (N, N)
        Centred optimal Gram matrix, rows first. Entries of rows and columns without counts are 0.
    row_embedding_, column_embedding_ : ndarray of shape (n_rows, d), (n_columns, d)
        Coordinates in order of decreasing variance. In each component, the coordinate with the
        largest absolute value is positive. Rows and columns without counts are at 0, the mean of
        all other points.
    trace_share_ : float
        Proportion of the trace of `gram_` that its `n_components` leading eigenvectors explain,
        from 0 to 1.
    log_likelihood_ : float
        Log-likelihood of the optimum in nats per count: the mean of log q(y|x), log q(x|y) or log
        q(x,y).
    embedding_log_likelihood_ : float
        Log-likelihood of the embedding in nats per count.
    rank_ : int
        Rank of `gram_`: the number of eigenvalues greater than 1e-5 times the largest eigenvalue.
    path_ : list of SemidefiniteSolution
        Steps of a trace path, with their `trace_penalty`, `rank` and `log_likelihood`. The list is
        empty without a path.
    marginal_error_ : float
        Largest relative error of the constrained marginals at the optimum. A value near 0 means
        that the constraints are tight. The joint program does not constrain the marginals, so the
        value is then the difference between the marginals of the model and the data.
    status_ : str
        Status reported by the solver.
    n_iter_ : int
        Number of iterations of the solver.
    atlas_ : Atlas
        Embedding of the nonempty rows and columns with their labels.
    empty_rows_, empty_columns_ : ndarray of int
        Indices of rows and columns without counts.
    n_features_in_ : int
        Number of columns.

    See Also
    --------
    CODE

    References
    ----------
    Globerson, Chechik, Pereira & Tishby (2004), Euclidean embedding of co-occurrence data, NIPS 17;
    (2007) JMLR 8, 2265-2295.

    Examples
    --------
    >>> import numpy as np
    >>> from manymaps import Counts, SemidefiniteCODE
    >>> visits = Counts(np.array([[9, 5, 1], [6, 9, 2], [1, 2, 9]]), ["oak", "ash", "reed"],
    ...                 ["jay", "tit", "coot"], kinds=("site", "bird"))
    >>> fit = SemidefiniteCODE(1, trace_penalty="path").fit(visits)
    >>> fit.row_embedding_.shape, fit.rank_
    ((3, 1), 1)
    >>> fit.atlas_.neighbors("reed", n_neighbors=1)[0].label
    'coot'
    """

    _parameter_constraints: ClassVar[Mapping[str, Allowed]] = {
        "n_components": [Whole(1)],
        "form": [Choice(("conditional", "joint"))],
        "given": [Choice(("rows", "columns"))],
        "marginals": [FLAG],
        "fixed_marginals": [FLAG],
        "trace_penalty": [Choice(("path",)), Number(least=0)],
        "solver": [Choice(("CLARABEL", "SCS")), NONE],
        "solver_options": [instance("a mapping", Mapping), NONE],
    }

    n_components: int = field(default=2, kw_only=False)
    form: Literal["conditional", "joint"] = "conditional"
    given: Literal["rows", "columns"] = "rows"
    marginals: bool = True
    fixed_marginals: bool = False
    trace_penalty: float | str = 0.0
    solver: str | None = None
    solver_options: Mapping[str, Any] | None = None

    def fit(self, X: Any, y: None = None) -> Self:
        """Compute the optimal Gram matrix and its embedding.

        Parameters
        ----------
        X : Counts, array, sparse array or data frame of shape (n_rows, n_columns)
            Finite, nonnegative counts or other weights.
        y : None
            Ignored.

        Returns
        -------
        SemidefiniteCODE
            Fitted estimator.

        Raises
        ------
        DataError
            If counts are negative, non-finite or all 0, or if the table is too large for the
            solvers.
        ParameterError
            If a parameter is out of range, or if cvxpy is not installed.
        SolverError
            If the solver fails or stalls.

        Warns
        -----
        DataWarning
            If rows or columns are empty, if a path does not reach its rank, or if cells without
            counts move the optimum to infinity.
        """
        self._validate_params()
        if self.fixed_marginals and self.form == "joint":
            raise ParameterError(
                "cannot be combined with fixed_marginals=True, which applies to 'conditional'",
                name="form",
                value=self.form,
            )
        counts = X if isinstance(X, Counts) else counts_from(X)
        why = ", the rows and columns"
        check_whole("n_components", self.n_components, 1, sum(counts.shape), why=why)
        rows, columns = (np.flatnonzero(x > 0) for x in (counts.row_totals, counts.column_totals))
        self.empty_rows_ = np.flatnonzero(counts.row_totals == 0)
        self.empty_columns_ = np.flatnonzero(counts.column_totals == 0)
        nonempty = counts.without_empty()
        warn_of_empty(counts)
        _check_size(nonempty)
        joint = nonempty.values.toarray() / nonempty.n_counts
        order = np.arange(sum(joint.shape))
        if self.form == "conditional" and self.given == "columns":
            joint, order = joint.T, np.roll(order, nonempty.n_rows)
        program = SemidefiniteProgram(
            joint, self.form, marginals=self.marginals, fixed_marginals=self.fixed_marginals,
            solver=self.solver, options=self.solver_options,
        )  # fmt: skip
        self.path_: list[SemidefiniteSolution] = []
        if isinstance(self.trace_penalty, str):
            self.path_ = program.path(self.n_components)
            low = [step for step in self.path_ if step.rank <= self.n_components]
            solution = (low or self.path_[-1:])[0]
        else:
            solution = program.solve(float(self.trace_penalty))
        points, self.trace_share_ = embedding_of(solution.gram, self.n_components)
        squared = squared_distances(points @ points.T, joint.shape)
        self.embedding_log_likelihood_ = program.log_likelihood(squared)
        points = points[order]
        self.row_embedding_ = _placed(points[: nonempty.n_rows], rows, counts.n_rows)
        self.column_embedding_ = _placed(points[nonempty.n_rows :], columns, counts.n_columns)
        indices = np.concatenate([rows, counts.n_rows + columns])
        self.gram_ = np.zeros((sum(counts.shape), sum(counts.shape)))
        self.gram_[np.ix_(indices, indices)] = solution.gram[np.ix_(order, order)]
        self.rank_, self.log_likelihood_ = solution.rank, solution.log_likelihood
        self.marginal_error_ = solution.marginal_error
        self.status_, self.n_iter_ = solution.status, solution.n_iter
        self.atlas_ = self._atlas(nonempty, points)
        self.n_features_in_ = counts.n_columns
        return self

    def fit_transform(self, X: Any, y: None = None) -> np.ndarray:
        """Fit the model and return the row embedding.

        Parameters
        ----------
        X : Counts, array, sparse array or data frame of shape (n_rows, n_columns)
            Counts as for `fit`.
        y : None
            Ignored.

        Returns
        -------
        ndarray of shape (n_rows, n_components)
            Coordinates of the rows.
        """
        return self.fit(X).row_embedding_

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        return tags

    def _atlas(self, nonempty: Counts, points: np.ndarray) -> Atlas:
        conditional = self.form == "conditional"
        shares = np.concatenate([nonempty.row_totals, nonempty.column_totals]) / nonempty.n_counts
        factors = shares if self.marginals else np.ones(len(shares))
        squared = squared_distances(points @ points.T, nonempty.shape)
        logs = np.log(factors)
        log_v = logs[: nonempty.n_rows, None] + logs[nonempty.n_rows :] - squared
        labels, kinds = objects_of(nonempty)
        return Atlas(
            labels=labels,
            maps=points[None].astype(np.float32),
            proportions=np.ones((1, len(points)), dtype=np.float32),
            model=replace(
                CODE_MODEL,
                normalization="conditional" if conditional else "joint",
                given=self.given if conditional else "rows",
            ),
            method="semidefinite-code",
            log_normalizer=None if conditional else float(logsumexp(log_v)),
            kinds=kinds,
            factors=factors,
        )


def _check_size(nonempty: Counts) -> None:
    """Raise an error if the table is too large."""
    if max(nonempty.n_rows * nonempty.n_columns, (sum(nonempty.shape) / 2) ** 2) > MOST_PAIRS:
        raise DataError(
            f"the table is {nonempty.n_rows:,} x {nonempty.n_columns:,}, but the semidefinite form "
            f"accepts at most {MOST_PAIRS:,} pairs of 200 + 200 objects and is intended for 60 + "
            "60; fit CODE instead, or select the most frequent rows and columns"
        )


def _placed(points: np.ndarray, indices: np.ndarray, n: int) -> np.ndarray:
    """Return n points: the given points at their indices, and 0 elsewhere."""
    points_of_all = np.zeros((n, points.shape[1]))
    points_of_all[indices] = points
    return points_of_all
