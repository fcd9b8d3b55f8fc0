"""CODE as convex programs over Gram matrices, and their solvers.

The N = n_x + n_y points represent n_x rows, followed by n_y columns. They have the Gram matrix G =
A A^T and

    D_xy = G_xx + G_yy - 2 G_xy      squared distance of row x and column y, linear in G
    p                                the empirical joint distribution, with marginals p(x), p(y)

All programs are over positive semidefinite G (Globerson, Chechik, Pereira & Tishby 2004, section 4,
with their equation numbers). A trace penalty adds lambda tr(G).

    joint (5)        min  <p, D> + log sum_xy p(x) p(y) exp(-D_xy)
    conditional (6)  max  sum_x p(x) a(x) - <p, D>
                     where  log sum_y p(y) exp(a(x) - D_xy) <= log p(x)       for every x
    fixed marginals  (6), and  log sum_x exp(a(x) - D_xy) <= 0                for every y

With `marginals=False`, the factors p(x) and p(y) inside the sums are 1.

In (6), every inequality is tight at the optimum, because a(x) can increase until equality. The
objective then equals the log-likelihood sum p log q(y|x) minus two constants, sum p log p(y) and
the entropy of p(x). With `fixed_marginals`, p(x) q(y|x) summed over x is at most p(y) as well. The
inequalities were tight to 1e-6 in all tables tried, at any penalty. The model is q(y|x) = p(y)
exp(-D_xy) / Z_x.

**At full rank the programs fit the table exactly.** Any matrix B_xy plus a sufficiently large
constant is a matrix of squared distances. This is true because G = [[t 1, B'], [B'^T, t 1]] is
positive semidefinite for a large t. Without a penalty, all programs therefore reach q = p for
infinitely many G. Only the G with the smallest trace is informative, and a second program computes
it. The best position of a cell without counts is at infinity, so in that case the optimum is not
attained.

The programs do not fix the origin. The Gram matrices here are centred. Their leading eigenvectors
define the points:

    G = V L V^T,      points = V_k L_k^(1/2)      (the k largest eigenvalues)

The rank of G is the dimension of the points. A path increases the trace penalty from near 0 until
the rank has decreased to the requested rank, and then finds the smallest such penalty by bisection.

Shapes: joint (n_x, n_y), which sums to 1; gram (N, N), rows first.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy import sparse
from scipy.special import logsumexp

from manymaps.errors import DataWarning, ParameterError, not_installed

__all__ = [
    "SemidefiniteProgram", "SemidefiniteSolution", "SolverError", "embedding_of",
    "squared_distances",
]  # fmt: skip

# The time of interior-point methods grows about as N^5: 5 to 10 s for 30 + 30 objects and 50 s for
# 40 + 40 objects. SCS takes 10 to 20 s.
MOST_POINTS_FOR_CLARABEL = 60
# By Pinsker's inequality, a gap of e in the likelihood allows errors of sqrt(e / 2) in the
# marginals, for example 7e-6 for a gap of 1e-10. Solutions with Clarabel's status "almost solved"
# satisfy the reduced tolerances.
_SETTINGS: dict[str, dict[str, Any]] = {
    "CLARABEL": {
        "tol_gap_abs": 1e-10, "tol_gap_rel": 1e-10, "tol_feas": 1e-9,
        "reduced_tol_gap_abs": 1e-6, "reduced_tol_gap_rel": 1e-6, "reduced_tol_feas": 1e-6,
    },
    "SCS": {"eps_abs": 3e-7, "eps_rel": 3e-7, "max_iters": 100_000},
}  # fmt: skip
_ACCEPTED = {"CLARABEL": ("optimal", "optimal_inaccurate"), "SCS": ("optimal",)}
# Eigenvalues below this proportion of the largest, or below the solver's accuracy, are treated as
# 0.
_RANK_TOLERANCE, _ROUNDING = 1e-5, 1e-7
# First and last lambda of the path as proportions of lambda_max, the ratio of successive values,
# and the ratio at which bisection stops.
_PATH_START, _PATH_END, _PATH_RATIO, _BISECTION_RATIO = 0.02, 20.0, 1.6, 1.05


class SolverError(RuntimeError):
    """Error raised if a semidefinite program is not solved, with the status and advice."""


@dataclass(frozen=True, eq=False)
class SemidefiniteSolution:
    """Optimum of a semidefinite program.

    Attributes
    ----------
    gram : ndarray of shape (N, N)
        Centred, positive semidefinite Gram matrix, with the conditioning side first.
    free_terms : ndarray or None
        Terms a(x) of (6), or None for a joint model.
    log_likelihood : float
        Log-likelihood sum p log q in nats per count, with normalized q.
    trace_penalty : float
        Trace penalty lambda, at least 0.
    marginal_error : float
        Largest relative error of the constrained marginals: those of the conditioning side, and
        with `fixed_marginals` those of both sides. A joint model does not constrain marginals, so
        the value measures how much all of them differ from the empirical marginals.
    status : str
        Status reported by the solver.
    n_iter : int
        Number of iterations of the solver.
    """

    gram: np.ndarray
    free_terms: np.ndarray | None
    log_likelihood: float
    trace_penalty: float
    marginal_error: float
    status: str
    n_iter: int

    @property
    def rank(self) -> int:
        """Number of eigenvalues above 1e-5 times the largest and above the solver's accuracy."""
        values = np.linalg.eigvalsh(self.gram)
        return int((values > max(_RANK_TOLERANCE * values[-1], _ROUNDING)).sum())


class SemidefiniteProgram:
    """Program of one table, which cvxpy compiles once for all trace penalties.

    Parameters
    ----------
    joint : ndarray of shape (n_x, n_y)
        Joint distribution or counts without empty rows or columns, with the conditioning side in
        the rows.
    form : {"conditional", "joint"}, default "conditional"
        Type of model.
    marginals : bool, default True
        Whether the empirical marginals are factors of the model.
    fixed_marginals : bool, default False
        Whether a conditional model also fixes the marginals of the objects that it predicts.
    solver : {None, "CLARABEL", "SCS"}, default None
        Name of the solver. If it is None, Clarabel is used for up to 60 points. SCS is used for
        more points, or if Clarabel fails.
    options : mapping, default {}
        Options of the solver. They override the defaults of this module.

    Examples
    --------
    >>> p = np.array([[3.0, 1.0], [1.0, 3.0]]) / 8
    >>> solution = SemidefiniteProgram(p, "joint").solve()
    >>> bool(abs(solution.log_likelihood - (p * np.log(p)).sum()) < 1e-6)     # q = p
    True
    """

    def __init__(
        self,
        joint: np.ndarray,
        form: Literal["conditional", "joint"] = "conditional",
        *,
        marginals: bool = True,
        fixed_marginals: bool = False,
        solver: str | None = None,
        options: Mapping[str, Any] | None = None,
    ):
        cp = _cvxpy()
        joint = joint / joint.sum()
        self.joint, self.options = joint, dict(options or {})
        self.is_conditional, self.fixes_both = form == "conditional", fixed_marginals
        rows, columns = joint.sum(axis=1), joint.sum(axis=0)
        self.log_factors = np.zeros(joint.shape)
        if marginals:
            self.log_factors = np.broadcast_to(np.log(columns), joint.shape)
            if not self.is_conditional:
                self.log_factors = self.log_factors + np.log(rows)[:, None]
        n_points = sum(joint.shape)
        self.solvers: tuple[str, ...] = tuple(_SETTINGS)
        if solver is not None:
            self.solvers = (solver,)
        elif n_points > MOST_POINTS_FOR_CLARABEL:
            self.solvers = ("SCS",)
        elif self.options:
            # Options are specific to one solver, so the other is not tried.
            self.solvers = ("CLARABEL",)
        self._gram = cp.Variable((n_points, n_points), PSD=True)
        self._penalty = cp.Parameter(nonneg=True, value=0.0)
        squared = _distances(cp, self._gram, joint.shape)
        logs = self.log_factors - squared
        linear = cp.sum(cp.multiply(joint, squared))
        constraints = []
        self._free: Any = None
        if self.is_conditional:
            self._free = cp.Variable(len(rows))
            free = cp.reshape(self._free, (len(rows), 1), order="C")
            added = free @ np.ones((1, len(columns)))
            constraints.append(cp.log_sum_exp(logs + added, axis=1) <= np.log(rows))
            if fixed_marginals:
                constraints.append(cp.log_sum_exp(logs + added, axis=0) <= np.log(columns))
            objective = linear - rows @ self._free
        else:
            objective = linear + cp.log_sum_exp(logs)
        goal = cp.Minimize(objective + self._penalty * cp.trace(self._gram))
        self._problem = cp.Problem(goal, constraints)

    def solve(self, trace_penalty: float = 0.0) -> SemidefiniteSolution:
        """Compute the optimum at full rank, without a penalty the one with the smallest trace.

        Raises
        ------
        ParameterError
            If the solver rejects an option.
        SolverError
            If the solver fails or stalls.

        Warns
        -----
        DataWarning
            If the optimum is at infinity because some cells have no counts.
        """
        self._penalty.value = trace_penalty
        status, n_iter = self._run(self._problem, self._gram)
        gram = _cleaned(self._gram.value)
        free = None if self._free is None else np.array(self._free.value, dtype=np.float64)
        if trace_penalty == 0:
            gram, free = self._least_trace(gram, free)
        squared = squared_distances(gram, self.joint.shape)
        logs = self.log_factors - squared
        logs = logs - logsumexp(logs) if free is None else logs + free[:, None]
        errors = [
            np.abs(np.exp(logsumexp(logs, axis=axis)) / self.joint.sum(axis=axis) - 1).max()
            for axis in ((1,) if self.is_conditional and not self.fixes_both else (1, 0))
        ]
        if trace_penalty == 0:
            self._warn_if_infinite(squared)
        return SemidefiniteSolution(
            gram=gram,
            free_terms=free,
            log_likelihood=self.log_likelihood(squared),
            trace_penalty=trace_penalty,
            marginal_error=float(max(errors)),
            status=status,
            n_iter=n_iter,
        )

    def path(self, n_components: int) -> list[SemidefiniteSolution]:
        """Increase the trace penalty until the rank is at most n_components.

        Returns
        -------
        list of SemidefiniteSolution
            Steps of the path, in order of increasing penalty. The first one with a sufficiently low
            rank is the result.

        Warns
        -----
        DataWarning
            If the rank remains above n_components.
        """
        solutions: dict[float, SemidefiniteSolution] = {}

        def is_low(penalty: float) -> bool:
            solutions[penalty] = self.solve(penalty)
            return solutions[penalty].rank <= n_components

        largest = self._largest_penalty()
        below = penalty = _PATH_START * largest
        while not is_low(penalty) and penalty < _PATH_END * largest:
            below, penalty = penalty, _PATH_RATIO * penalty
        rank = solutions[penalty].rank
        if rank > n_components:
            warnings.warn(
                f"the trace path ended at rank {rank}, above n_components={n_components}; use "
                "tighter tolerances (solver_options), or increase n_components",
                DataWarning,
                stacklevel=3,
            )
        while rank <= n_components and penalty > _BISECTION_RATIO * below:
            middle = float(np.sqrt(below * penalty))
            below, penalty = (below, middle) if is_low(middle) else (middle, penalty)
        return [solutions[penalty] for penalty in sorted(solutions)]

    def log_likelihood(self, squared: np.ndarray) -> float:
        """Compute sum p log q in nats per count from squared distances (n_x, n_y)."""
        logs = self.log_factors - squared
        logs = logs - logsumexp(logs, axis=1 if self.is_conditional else None, keepdims=True)
        return float((self.joint * logs)[self.joint > 0].sum())

    def _least_trace(
        self, gram: np.ndarray, free: np.ndarray | None
    ) -> tuple[np.ndarray, np.ndarray | None]:
        """Return the G with the smallest trace among all G with the likelihood of an optimum."""
        cp = _cvxpy()
        # The likelihood is unchanged if all distances increase by the same number (or, in a
        # conditional model, by one number per conditioning object, which changes a(x)).
        n_rows, n_columns = self.joint.shape
        least = cp.Variable(gram.shape, PSD=True)
        if free is not None:
            shift = cp.Variable((n_rows, 1))
            shifts = shift @ np.ones((1, n_columns))
        else:
            shift = cp.Variable((1, 1))
            shifts = np.ones((n_rows, 1)) @ shift @ np.ones((1, n_columns))
        squared = squared_distances(gram, self.joint.shape)
        constraints = [_distances(cp, least, self.joint.shape) == squared + shifts]
        self._run(cp.Problem(cp.Minimize(cp.trace(least)), constraints), least)
        if free is not None:
            free = free + np.asarray(shift.value).reshape(free.shape)
        return _cleaned(least.value), free

    def _largest_penalty(self) -> float:
        """Return lambda_max, the smallest penalty at which G = 0 is optimal."""
        logs = self.log_factors
        if self.is_conditional:
            model = np.exp(logs - logsumexp(logs, axis=1, keepdims=True))
            model *= self.joint.sum(axis=1)[:, None]
        else:
            model = np.exp(logs - logsumexp(logs))
        slope = self.joint - model
        gradient = np.block(
            [[np.diag(slope.sum(axis=1)), -slope], [-slope.T, np.diag(slope.sum(axis=0))]]
        )
        largest = -float(np.linalg.eigvalsh(gradient)[0])
        # It is 0 if rows and columns are independent; a solver needs a penalty that it can resolve.
        return largest if largest > 1e-6 else 0.05

    def _run(self, problem: Any, gram: Any) -> tuple[str, int]:
        """Return status and iterations of the first solver that succeeds."""
        cp = _cvxpy()
        failures = []
        for name in self.solvers:
            try:
                with warnings.catch_warnings():
                    # Statuses are checked below, so cvxpy's warnings about inexact solutions are
                    # not needed.
                    warnings.simplefilter("ignore")
                    problem.solve(solver=name, warm_start=True, **_SETTINGS[name] | self.options)
                status = str(problem.status)
            except cp.SolverError as error:
                status = f"solver_error ({error})"
            except (TypeError, AttributeError) as error:
                raise ParameterError(
                    f"{name} does not accept solver_options={self.options!r}: {error}"
                ) from error
            stats = problem.solver_stats
            n_iter = int(stats.num_iters or 0) if stats else 0
            if status in _ACCEPTED[name] and gram.value is not None:
                return status, n_iter
            failures.append(f"{name}: {status}, {n_iter} iterations")
        raise SolverError(
            f"the semidefinite program was not solved ({'; '.join(failures)}); try the other "
            "solver, more iterations or looser tolerances (solver_options), a larger "
            "trace_penalty, or counts without zeros (add 0.5), or fit CODE, which accepts tables "
            "of any size"
        )

    def _warn_if_infinite(self, squared: np.ndarray) -> None:
        """Warn if cells without counts have moved points towards infinity."""
        is_zero = self.joint == 0
        if is_zero.any() and (np.median(squared[~is_zero]) - squared[is_zero]).min() < np.log(1e-3):
            warnings.warn(
                f"{int(is_zero.sum()):,} of {is_zero.size:,} cells have no counts. At full rank, "
                "their best distances are infinite, and the solver stopped at a largest squared "
                f"distance of {squared.max():.3g}, so the likelihood is valid, but the positions "
                "are not; smooth the counts (add 0.5), or use a trace_penalty",
                DataWarning,
                stacklevel=4,
            )


def embedding_of(gram: np.ndarray, n_components: int) -> tuple[np.ndarray, float]:
    """Return the points with the nearest Gram matrix, and the proportion of the trace they explain.

    Components are in order of decreasing variance. In each component, the coordinate with the
    largest absolute value is positive.

    >>> points, share = embedding_of(np.diag([4.0, 1.0, 0.0]), 1)
    >>> points.ravel().tolist(), share
    ([2.0, 0.0, 0.0], 0.8)
    """
    values, vectors = np.linalg.eigh(gram)
    values, vectors = values[::-1][:n_components], vectors[:, ::-1][:, :n_components]
    points = vectors * np.sqrt(np.maximum(values, 0))
    largest = points[np.abs(points).argmax(axis=0), np.arange(points.shape[1])]
    total = float(np.trace(gram))
    share = float(np.maximum(values, 0).sum()) / total if total > _ROUNDING else 1.0
    return points * np.where(largest < 0, -1.0, 1.0) + 0.0, min(share, 1.0)


def squared_distances(gram: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """Compute squared distances between rows and columns from a Gram matrix."""
    sizes, n_rows = np.diag(gram), shape[0]
    return sizes[:n_rows, None] + sizes[None, n_rows:] - 2 * gram[:n_rows, n_rows:]


def _cleaned(gram: np.ndarray) -> np.ndarray:
    """Return a symmetric, centred Gram matrix without negative eigenvalues."""
    gram = (gram + gram.T) / 2
    gram = gram - gram.mean(axis=0) - gram.mean(axis=1)[:, None] + gram.mean()
    values, vectors = np.linalg.eigh(gram)
    return (vectors * np.maximum(values, 0)) @ vectors.T


def _cvxpy() -> Any:
    """Import cvxpy, which the extra "sdp" installs."""
    try:
        import cvxpy
    except ImportError as error:
        raise ParameterError(not_installed("SemidefiniteCODE", "cvxpy")) from error
    return cvxpy


def _distances(cp: Any, gram: Any, shape: tuple[int, ...]) -> Any:
    """Return D as a cvxpy expression of G."""
    n_points = sum(shape)
    left = np.repeat(np.arange(shape[0]), shape[1])
    right = shape[0] + np.tile(np.arange(shape[1]), shape[0])
    pairs = np.concatenate([
        left * n_points + left,
        right * n_points + right,
        left * n_points + right,
        right * n_points + left,
    ])  # fmt: skip
    rows = np.tile(np.arange(len(left)), 4)
    signs = np.repeat([1.0, 1.0, -1.0, -1.0], len(left))
    linear = sparse.csr_array((signs, (rows, pairs)), shape=(len(left), n_points**2))
    return cp.reshape(linear @ cp.vec(gram, order="C"), shape, order="C")
