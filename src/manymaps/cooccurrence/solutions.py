"""Solutions of the semidefinite CODE programs and trace paths to low ranks.

The leading eigenvectors of the optimal Gram matrix define the points:

    G = V L V^T,      points = V_k L_k^(1/2)      (the k largest eigenvalues)

The rank of G is the dimension of the points. A trace penalty lambda tr(G) reduces it. `trace_path`
increases lambda from near 0 until the rank has decreased to the requested rank. It then finds the
smallest such lambda by bisection.

Shapes: joint (n_x, n_y), which sums to 1; gram (N, N) with N = n_x + n_y, rows first.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import logsumexp

from manymaps.checks import check_number
from manymaps.cooccurrence.programs import (
    Model,
    Optimum,
    Program,
    SolverSettings,
    least_trace,
    log_factors,
    squared_distances,
)
from manymaps.errors import DataError, DataWarning

__all__ = [
    "PathPoint", "SemidefiniteSolution", "embedding_of", "log_likelihood",
    "numerical_rank", "solve", "trace_path",
]  # fmt: skip

# Eigenvalues below this proportion of the largest, or below the solver's accuracy, are treated as
# 0.
RANK_TOLERANCE = 1e-5
# Solvers return optima with about this accuracy.
_ROUNDING = 1e-7
# First and last lambda of the path as proportions of lambda_max, the ratio of successive values,
# and the ratio at which bisection stops.
_PATH_START, _PATH_END, _PATH_RATIO, _BISECTION_RATIO = 0.02, 20.0, 1.6, 1.05
# Each step of the bisection halves the interval of the penalty. After eight steps, the rank no
# longer depends on the remaining interval.
_MOST_BISECTIONS = 8


@dataclass(frozen=True, eq=False)
class SemidefiniteSolution:
    """Optimum of a semidefinite program.

    Attributes
    ----------
    gram : ndarray of shape (N, N)
        Centred, positive semidefinite Gram matrix, rows first.
    log_likelihood : float
        Log-likelihood sum p log q in nats per count, with normalized q.
    objective : float
        Objective of the program without the trace penalty.
    trace_penalty : float
        Trace penalty lambda, at least 0.
    row_marginals, column_marginals : ndarray of shape (n_x,), (n_y,)
        Marginals of the model before normalization, divided by the empirical marginals. Each ratio
        is 1 if its constraint is tight.
    marginal_error : float
        Largest absolute difference from 1 among the constrained marginals. A conditional model
        constrains the marginals of the conditioning side. With `fixed_marginals`, it constrains all
        marginals. A joint model does not constrain marginals, so the value measures how much all of
        them differ from the empirical marginals.
    free_terms : ndarray or None
        Terms a(x) of (6), one per conditioning row or column, or None for other models.
    status : str
        Status reported by the solver.
    solver : str
        Name of the solver.
    n_iter : int
        Number of iterations of the solver.
    """

    gram: np.ndarray
    log_likelihood: float
    objective: float
    trace_penalty: float
    row_marginals: np.ndarray
    column_marginals: np.ndarray
    marginal_error: float
    free_terms: np.ndarray | None
    status: str
    solver: str
    n_iter: int


@dataclass(frozen=True)
class PathPoint:
    """Step of a trace path: a penalty and the rank, likelihood and trace of its optimum.

    Attributes
    ----------
    trace_penalty : float
        Trace penalty lambda.
    rank : int
        Numerical rank of the optimal Gram matrix.
    log_likelihood : float
        Log-likelihood in nats per count.
    trace : float
        Trace of the optimal Gram matrix.
    """

    trace_penalty: float
    rank: int
    log_likelihood: float
    trace: float


def log_likelihood(joint: np.ndarray, squared: np.ndarray, program: Program) -> float:
    """Compute sum p log q in nats per count from squared distances.

    Parameters
    ----------
    joint : ndarray of shape (n_x, n_y)
        Joint distribution p, which sums to 1.
    squared : ndarray of shape (n_x, n_y)
        Squared distances D between rows and columns.
    program : Program
        Program that defines q. A conditional model has q(y|x) or q(x|y). Other models have q(x,y),
        normalized over the table.

    Returns
    -------
    float
        Log-likelihood in nats per count.

    Examples
    --------
    >>> import numpy as np
    >>> from manymaps.cooccurrence.solutions import Program, log_likelihood
    >>> p = np.full((2, 2), 0.25)
    >>> round(log_likelihood(p, np.zeros((2, 2)), Program("joint")), 4)   # log(1 / 4)
    -1.3863
    """
    if program.transposes:
        return log_likelihood(joint.T, squared.T, replace(program, given="rows"))
    logs = log_factors(joint, program) - squared
    axis = 1 if program.form == "conditional" else None
    logs = logs - logsumexp(logs, axis=axis, keepdims=True)
    return float((joint * logs)[joint > 0].sum())


def numerical_rank(gram: np.ndarray) -> int:
    """Count eigenvalues above 1e-5 times the largest and above the solver's accuracy."""
    values = np.linalg.eigvalsh(gram)
    return int((values > max(RANK_TOLERANCE * values[-1], _ROUNDING)).sum())


def embedding_of(gram: np.ndarray, n_components: int) -> tuple[np.ndarray, float]:
    """Return the points with the nearest Gram matrix, and the proportion of the trace they explain.

    Parameters
    ----------
    gram : ndarray of shape (N, N)
        Gram matrix.
    n_components : int
        Number of dimensions.

    Returns
    -------
    points : ndarray of shape (N, n_components)
        Coordinates in order of decreasing variance. In each component, the coordinate with the
        largest absolute value is positive.
    share : float
        Explained proportion of the trace. It is 1 if all entries of the Gram matrix are 0.

    Examples
    --------
    >>> import numpy as np
    >>> from manymaps.cooccurrence.solutions import embedding_of
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


def solve(
    joint: np.ndarray,
    program: Program,
    trace_penalty: float = 0.0,
    *,
    settings: SolverSettings | None = None,
) -> SemidefiniteSolution:
    """Solve one program at full rank.

    Parameters
    ----------
    joint : ndarray of shape (n_x, n_y)
        Joint distribution p or counts, without empty rows or columns.
    program : Program
        Program to solve.
    trace_penalty : float, default 0.0
        Trace penalty lambda, at least 0. If it is 0, the optimum with the smallest trace is
        returned.
    settings : SolverSettings, optional
        Solver and options.

    Returns
    -------
    SemidefiniteSolution
        Optimum of the program.

    Raises
    ------
    DataError
        If numbers are negative or missing, or if a row or column is empty.
    ParameterError
        If the penalty is negative, or if cvxpy is not installed.
    SolverError
        If the solver fails or stalls.

    Warns
    -----
    DataWarning
        If the optimum is at infinity because some cells have no counts.

    Examples
    --------
    >>> import numpy as np
    >>> from manymaps.cooccurrence.solutions import Program, solve
    >>> p = np.array([[3.0, 1.0], [1.0, 3.0]]) / 8
    >>> solution = solve(p, Program("joint"))
    >>> bool(abs(solution.log_likelihood - (p * np.log(p)).sum()) < 1e-6)     # q = p
    True
    """
    joint = _distribution(joint)
    check_number("trace_penalty", trace_penalty, least=0, why=", or 'path'")
    turned = joint.T if program.transposes else joint
    settings = settings or SolverSettings()
    optimum = Model(turned, program).optimum(float(trace_penalty), settings)
    if trace_penalty == 0:
        optimum = least_trace(turned, program, optimum, settings)
    solution = _solution(turned, program, optimum, float(trace_penalty))
    _warn_if_infinite(solution, turned, trace_penalty)
    return _turned_back(solution, program, turned.shape)


def trace_path(
    joint: np.ndarray,
    program: Program,
    n_components: int,
    *,
    settings: SolverSettings | None = None,
) -> tuple[tuple[PathPoint, ...], SemidefiniteSolution]:
    """Increase the trace penalty until the numerical rank is at most n_components.

    Parameters
    ----------
    joint, program, settings
        Arguments of `solve`.
    n_components : int
        Requested rank, at least 1.

    Returns
    -------
    points : tuple of PathPoint
        Steps of the path in order of increasing penalty.
    solution : SemidefiniteSolution
        Optimum with the smallest penalty that reached the rank, or the last optimum if no penalty
        reached it.

    Raises
    ------
    DataError, ParameterError, SolverError
        If `solve` would raise them.

    Warns
    -----
    DataWarning
        If the rank remains above n_components.

    Examples
    --------
    >>> import numpy as np
    >>> from manymaps.cooccurrence.solutions import Program, trace_path
    >>> points, solution = trace_path(np.eye(3) + 0.1, Program("joint"), 1)
    >>> points[0].rank > points[-1].rank
    True
    """
    joint = _distribution(joint)
    turned = joint.T if program.transposes else joint
    settings = settings or SolverSettings()
    model = Model(turned, program)
    solutions: dict[float, SemidefiniteSolution] = {}

    def rank_at(penalty: float) -> int:
        solutions[penalty] = _solution(turned, program, model.optimum(penalty, settings), penalty)
        return numerical_rank(solutions[penalty].gram)

    ranks: dict[float, int] = {}
    top = _largest_penalty(turned, program)
    penalty = _PATH_START * top
    ranks[penalty] = rank_at(penalty)
    while ranks[penalty] > n_components and penalty < _PATH_END * top:
        penalty *= _PATH_RATIO
        ranks[penalty] = rank_at(penalty)
    reached = ranks[penalty] <= n_components
    below = max((x for x, rank in ranks.items() if rank > n_components), default=penalty)
    for _ in range(_MOST_BISECTIONS if reached else 0):
        if penalty <= _BISECTION_RATIO * below and ranks[penalty] == n_components:
            break
        middle = float(np.sqrt(below * penalty))
        if not below < middle < penalty:
            break
        ranks[middle] = rank_at(middle)
        below, penalty = (middle, penalty) if ranks[middle] > n_components else (below, middle)
    if not reached:
        warnings.warn(
            f"the trace path ended at rank {ranks[penalty]}, above n_components={n_components}; "
            "use tighter tolerances (solver_options), or increase n_components",
            DataWarning,
            stacklevel=2,
        )
    points = tuple(
        PathPoint(x, ranks[x], solutions[x].log_likelihood, float(np.trace(solutions[x].gram)))
        for x in sorted(solutions)
    )
    return points, _turned_back(solutions[penalty], program, turned.shape)


def _solution(
    joint: np.ndarray, program: Program, optimum: Optimum, penalty: float
) -> SemidefiniteSolution:
    """Evaluate an optimum on data whose rows contain the conditioning variable."""
    program = replace(program, given="rows")
    rows, columns = joint.sum(axis=1), joint.sum(axis=0)
    squared = squared_distances(optimum.gram, joint.shape)
    logs = log_factors(joint, program) - squared
    objective = float((joint * squared).sum())
    if optimum.free is not None:
        logs = logs + optimum.free[:, None]
        objective -= float(rows @ optimum.free)
    else:
        level = float(logsumexp(logs))
        logs = logs - level
        objective += level
    row_ratios = np.exp(logsumexp(logs, axis=1)) / rows
    column_ratios = np.exp(logsumexp(logs, axis=0)) / columns
    error = float(np.abs(row_ratios - 1).max())
    if program.form != "conditional" or program.fixed_marginals:
        error = max(error, float(np.abs(column_ratios - 1).max()))
    return SemidefiniteSolution(
        gram=optimum.gram,
        log_likelihood=log_likelihood(joint, squared, program),
        objective=objective,
        trace_penalty=penalty,
        row_marginals=row_ratios,
        column_marginals=column_ratios,
        marginal_error=error,
        free_terms=optimum.free,
        status=optimum.status,
        solver=optimum.solver,
        n_iter=optimum.n_iter,
    )


def _largest_penalty(joint: np.ndarray, program: Program) -> float:
    """Return lambda_max, the smallest penalty at which G = 0 is optimal.

    If rows and columns are independent, lambda_max is 0. The function then returns a small penalty
    that the solver can distinguish from 0.
    """
    logs = log_factors(joint, program)
    if program.form == "conditional":
        model = np.exp(logs - logsumexp(logs, axis=1, keepdims=True))
        model *= joint.sum(axis=1)[:, None]
    else:
        model = np.exp(logs - logsumexp(logs))
    slope = joint - model
    gradient = np.block(
        [[np.diag(slope.sum(axis=1)), -slope], [-slope.T, np.diag(slope.sum(axis=0))]]
    )
    largest = -float(np.linalg.eigvalsh(gradient)[0])
    return largest if largest > 1e-6 else 0.05


def _distribution(joint: np.ndarray) -> np.ndarray:
    """Convert counts or probabilities to a joint distribution without empty rows and columns."""
    joint = np.asarray(joint, dtype=np.float64)
    if joint.ndim != 2 or 0 in joint.shape:
        raise DataError(
            f"the table has shape {joint.shape}; expected at least one row and one column"
        )
    if not np.isfinite(joint).all() or (joint < 0).any():
        raise DataError("the table has negative or missing numbers; counts must be at least 0")
    for axis, name in ((1, "row"), (0, "column")):
        empty = np.flatnonzero(joint.sum(axis=axis) == 0)
        if empty.size:
            raise DataError(f"{name} {empty[0]} has no counts; omit empty rows and columns")
    return joint / joint.sum()


def _warn_if_infinite(
    solution: SemidefiniteSolution, joint: np.ndarray, trace_penalty: float
) -> None:
    """Warn if cells without counts have moved points towards infinity."""
    zero = joint == 0
    if trace_penalty > 0 or not zero.any():
        return
    squared = squared_distances(solution.gram, joint.shape)
    relative = np.exp(np.median(squared[~zero]) - squared[zero])
    if (relative < 1e-3).any():
        warnings.warn(
            f"{int(zero.sum()):,} of {joint.size:,} cells have no counts. At full rank, their best "
            "distances are infinite, and the solver stopped at a largest "
            f"squared distance of {squared.max():.3g}, so the likelihood is valid, but the "
            "positions are not; smooth the counts (add 0.5), or use a trace_penalty",
            DataWarning,
            stacklevel=3,
        )


def _turned_back(
    solution: SemidefiniteSolution, program: Program, shape: tuple[int, int]
) -> SemidefiniteSolution:
    """Return a solution of the transposed table in the order of the data."""
    if not program.transposes:
        return solution
    order = np.concatenate([np.arange(shape[0], sum(shape)), np.arange(shape[0])])
    return replace(
        solution,
        gram=solution.gram[np.ix_(order, order)],
        row_marginals=solution.column_marginals,
        column_marginals=solution.row_marginals,
    )
