"""Optima of the programs of semidefinite CODE: what they are worth, and the path to few dimensions.

A solved program gives a Gram matrix, from whose leading eigenvectors the points come:

    G = V L V^T,      points = V_k L_k^(1/2)      (the k largest eigenvalues)

The rank of G is the dimension of the points. A trace penalty lambda tr(G) lowers it; `trace_path`
raises lambda from next to nothing until the rank has come down to the number asked for, and goes
back by bisection to the least lambda that does. The penalty also shrinks the points, so `refit`
solves the program without it once more, in the subspace of the optimum alone.

Shapes: joint (n_x, n_y), sums to 1; gram (N, N) with N = n_x + n_y, rows first.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import logsumexp

from manymaps.checks import check_number
from manymaps.cooccurrence.programs import (
    DistanceLimit,
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
    "PathPoint", "SemidefiniteSolution", "TracePath", "embedding_of", "log_likelihood",
    "numerical_rank", "refit", "solve", "trace_path",
]  # fmt: skip

# Eigenvalues below this share of the largest, or below the solver's own rounding, count as 0.
RANK_TOLERANCE = 1e-5
# Solvers return optima to about this accuracy.
_ROUNDING = 1e-7
# The path: first and last lambda as shares of lambda_max, and how close bisection comes.
_PATH_START, _PATH_END, _PATH_RATIO, _BISECTION_RATIO = 0.02, 20.0, 1.6, 1.05
# Each halves the interval of the penalty: 2^-8 of it is finer than the rank resolves.
_MOST_BISECTIONS = 8


@dataclass(frozen=True, eq=False)
class SemidefiniteSolution:
    """An optimum.

    Attributes
    ----------
    gram : ndarray of shape (N, N)
        Centred and positive semidefinite; rows first.
    log_likelihood : float
        sum p log q in nats per count, q normalized.
    objective : float
        What the program minimizes, without the trace penalty.
    trace_penalty : float
    row_marginals, column_marginals : ndarray of shape (n_x,), (n_y,)
        Marginals of the model as solved, over the empirical ones; 1 where a constraint is tight.
    marginal_error : float
        Largest distance from 1 among the marginals that the program constrains: those of the given
        side of a conditional model, else all of them. A joint model constrains none: there it says
        how far its marginals are from the data's.
    free_terms : ndarray or None
        a(x) of (6), one per row or column given.
    status, solver : str
    n_iter : int
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
    """One step of a trace path: the penalty, and rank, likelihood and trace of its optimum."""

    trace_penalty: float
    rank: int
    log_likelihood: float
    trace: float


@dataclass(frozen=True, eq=False)
class TracePath:
    """The points of a trace path by rising penalty, and its last optimum.

    `reached` says whether the rank came down to what was asked for; `solution` is the optimum of
    the smallest penalty where it did, or of the last one.
    """

    points: tuple[PathPoint, ...]
    solution: SemidefiniteSolution
    reached: bool


def log_likelihood(joint: np.ndarray, squared: np.ndarray, program: Program) -> float:
    """Sum p log q in nats per count, for squared distances between rows and columns.

    Parameters
    ----------
    joint : ndarray of shape (n_x, n_y)
        p; sums to 1.
    squared : ndarray of shape (n_x, n_y)
        D.
    program : Program
        A conditional model gives q(y|x) or q(x|y); the others q(x,y), normalized over the table.

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
    """Eigenvalues above 1e-5 of the largest and above the solver's rounding."""
    values = np.linalg.eigvalsh(gram)
    return int((values > max(RANK_TOLERANCE * values[-1], _ROUNDING)).sum())


def embedding_of(gram: np.ndarray, n_components: int) -> tuple[np.ndarray, float]:
    """Points whose Gram matrix is nearest to a given one, and the share of the trace they keep.

    Parameters
    ----------
    gram : ndarray of shape (N, N)
    n_components : int

    Returns
    -------
    points : ndarray of shape (N, n_components)
        By falling variance; in each component the coordinate of largest size is positive.
    share : float
        Of the trace; 1 for a Gram matrix of 0.

    Examples
    --------
    >>> import numpy as np
    >>> from manymaps.cooccurrence.solutions import embedding_of
    >>> points, share = embedding_of(np.diag([4.0, 1.0, 0.0]), 1)
    >>> points.ravel().tolist(), share
    ([2.0, 0.0, 0.0], 0.8)
    """
    values, vectors = _leading(gram, n_components)
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
    limits: Sequence[DistanceLimit] = (),
    settings: SolverSettings | None = None,
) -> SemidefiniteSolution:
    """Solve one program at full rank.

    Parameters
    ----------
    joint : ndarray of shape (n_x, n_y)
        p, or counts; every row and column has some.
    program : Program
    trace_penalty : float >= 0
        lambda. For 0 the optimum of least trace is given.
    limits : sequence of DistanceLimit
    settings : SolverSettings, optional

    Returns
    -------
    SemidefiniteSolution

    Raises
    ------
    DataError
        For negative or missing numbers, or an empty row or column.
    ParameterError
        For a negative penalty, limits that cannot all hold, or where cvxpy is not installed.
    SolverError
        Where the solver fails or stalls.

    Warns
    -----
    DataWarning
        Where cells without counts send the optimum to infinity.

    Examples
    --------
    >>> import numpy as np
    >>> from manymaps.cooccurrence.solutions import Program, solve
    >>> p = np.array([[3.0, 1.0], [1.0, 3.0]]) / 8
    >>> found = solve(p, Program("joint"))
    >>> bool(abs(found.log_likelihood - (p * np.log(p)).sum()) < 1e-6)     # q = p
    True
    """
    joint = _distribution(joint)
    _check_penalty(trace_penalty)
    turned, limits = _turned(joint, program, limits)
    settings = settings or SolverSettings()
    model = Model(turned, program, tuple(limits))
    optimum = model.optimum(float(trace_penalty), settings)
    if trace_penalty == 0:
        optimum = least_trace(turned, program, tuple(limits), optimum, settings)
    solution = _solution(turned, program, optimum, float(trace_penalty))
    _say_if_infinite(solution, turned, trace_penalty)
    return _turned_back(solution, program, turned.shape)


def trace_path(
    joint: np.ndarray,
    program: Program,
    n_components: int,
    *,
    limits: Sequence[DistanceLimit] = (),
    settings: SolverSettings | None = None,
) -> TracePath:
    """Raise the trace penalty until the numerical rank is at most n_components.

    Parameters
    ----------
    joint, program, limits, settings
        As for `solve`.
    n_components : int
        The rank that is wanted.

    Returns
    -------
    TracePath

    Raises
    ------
    DataError, ParameterError, SolverError
        As `solve` does.

    Warns
    -----
    DataWarning
        Where the rank stays above n_components, as lower limits on distances can enforce.

    Examples
    --------
    >>> import numpy as np
    >>> from manymaps.cooccurrence.solutions import Program, trace_path
    >>> path = trace_path(np.eye(3) + 0.1, Program("joint"), 1)
    >>> path.reached, path.points[0].rank > path.points[-1].rank
    (True, True)
    """
    joint = _distribution(joint)
    turned, limits = _turned(joint, program, limits)
    settings = settings or SolverSettings()
    model = Model(turned, program, tuple(limits))
    found: dict[float, SemidefiniteSolution] = {}

    def rank_at(penalty: float) -> int:
        found[penalty] = _solution(turned, program, model.optimum(penalty, settings), penalty)
        return numerical_rank(found[penalty].gram)

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
            f"the trace path ended at rank {ranks[penalty]}, above the {n_components} asked for: "
            "the constraints keep the points in more dimensions; loosen them, or ask for more "
            "components",
            DataWarning,
            stacklevel=2,
        )
    points = tuple(
        PathPoint(x, ranks[x], found[x].log_likelihood, float(np.trace(found[x].gram)))
        for x in sorted(found)
    )
    return TracePath(points, _turned_back(found[penalty], program, turned.shape), reached)


def refit(
    joint: np.ndarray,
    program: Program,
    gram: np.ndarray,
    n_components: int,
    *,
    limits: Sequence[DistanceLimit] = (),
    settings: SolverSettings | None = None,
) -> SemidefiniteSolution:
    """The best G = V S V^T over semidefinite S, V the leading eigenvectors of a Gram matrix.

    Takes back the shrinkage of a trace penalty: a convex program in n_components dimensions.

    Parameters
    ----------
    joint, program, limits, settings
        As for `solve`.
    gram : ndarray of shape (N, N)
    n_components : int

    Returns
    -------
    SemidefiniteSolution

    Raises
    ------
    DataError, ParameterError, SolverError
        As `solve` does.

    Examples
    --------
    >>> import numpy as np
    >>> from manymaps.cooccurrence.solutions import Program, refit, solve
    >>> table, program = np.eye(3) + 0.2, Program("joint")
    >>> shrunk = solve(table, program, 0.05)
    >>> refit(table, program, shrunk.gram, 2).log_likelihood > shrunk.log_likelihood
    True
    """
    joint = _distribution(joint)
    turned, limits = _turned(joint, program, limits)
    gram = _swapped(gram, joint.shape) if program.transposes else gram
    model = Model(turned, program, tuple(limits), _leading(gram, n_components)[1])
    optimum = model.optimum(0.0, settings or SolverSettings())
    return _turned_back(_solution(turned, program, optimum, 0.0), program, turned.shape)


def _solution(
    joint: np.ndarray, program: Program, optimum: Optimum, penalty: float
) -> SemidefiniteSolution:
    """What an optimum means for the data; what is given stands in the rows."""
    program = replace(program, given="rows")
    rows, columns = joint.sum(axis=1), joint.sum(axis=0)
    squared = squared_distances(optimum.gram, joint.shape)
    logs = log_factors(joint, program) - squared
    objective = float((joint * squared).sum())
    if program.form == "conditional":
        assert optimum.free is not None
        logs = logs + optimum.free[:, None]
        objective -= float(rows @ optimum.free)
    else:
        level = float(logsumexp(logs) if optimum.free is None else optimum.free)
        logs = logs - level
        objective += level
    of_rows = np.exp(logsumexp(logs, axis=1)) / rows
    of_columns = np.exp(logsumexp(logs, axis=0)) / columns
    error = float(np.abs(of_rows - 1).max())
    if program.form != "conditional":
        error = max(error, float(np.abs(of_columns - 1).max()))
    return SemidefiniteSolution(
        gram=optimum.gram,
        log_likelihood=log_likelihood(joint, squared, program),
        objective=objective,
        trace_penalty=penalty,
        row_marginals=of_rows,
        column_marginals=of_columns,
        marginal_error=error,
        free_terms=optimum.free if program.form == "conditional" else None,
        status=optimum.status,
        solver=optimum.solver,
        n_iter=optimum.n_iter,
    )


def _largest_penalty(joint: np.ndarray, program: Program) -> float:
    """lambda_max, from where on G = 0 is optimal without constraints.

    Where rows and columns are independent it is 0; any penalty that the solver can tell from 0
    does then.
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
    """Counts or probabilities as a joint distribution without empty rows and columns."""
    joint = np.asarray(joint, dtype=np.float64)
    if joint.ndim != 2 or 0 in joint.shape:
        raise DataError(f"the table has the shape {joint.shape}; rows and columns are needed")
    if not np.isfinite(joint).all() or (joint < 0).any():
        raise DataError("the table has negative or missing numbers; counts are 0 or more")
    for axis, name in ((1, "row"), (0, "column")):
        empty = np.flatnonzero(joint.sum(axis=axis) == 0)
        if empty.size:
            raise DataError(f"{name} {empty[0]} has no counts; leave empty rows and columns out")
    return joint / joint.sum()


def _check_penalty(penalty: float) -> None:
    check_number("trace_penalty", penalty, least=0, why=", or 'path'")


def _say_if_infinite(
    solution: SemidefiniteSolution, joint: np.ndarray, trace_penalty: float
) -> None:
    """Warn where cells without counts have pushed points towards infinity."""
    zero = joint == 0
    if trace_penalty > 0 or not zero.any():
        return
    squared = squared_distances(solution.gram, joint.shape)
    relative = np.exp(np.median(squared[~zero]) - squared[zero])
    if (relative < 1e-3).any():
        warnings.warn(
            f"{int(zero.sum()):,} of {joint.size:,} cells have no counts, so at full rank the best "
            "place of their points is infinitely far away and the solver stopped on the way, at a "
            f"squared distance of {squared.max():.3g}: the likelihood is right, the positions mean "
            "little. Smooth the counts (add 0.5), or give a trace_penalty",
            DataWarning,
            stacklevel=3,
        )


def _leading(gram: np.ndarray, n_components: int) -> tuple[np.ndarray, np.ndarray]:
    """The largest eigenvalues, falling, and their vectors."""
    values, vectors = np.linalg.eigh(gram)
    return values[::-1][:n_components], vectors[:, ::-1][:, :n_components]


def _swapped(gram: np.ndarray, shape: tuple[int, int]) -> np.ndarray:
    """A Gram matrix with columns first instead of rows."""
    order = np.concatenate([np.arange(shape[0], sum(shape)), np.arange(shape[0])])
    return gram[np.ix_(order, order)]


def _turned(
    joint: np.ndarray, program: Program, limits: Sequence[DistanceLimit]
) -> tuple[np.ndarray, Sequence[DistanceLimit]]:
    """The table with what is given in its rows, and limits numbered accordingly."""
    if not program.transposes:
        return joint, limits
    n_rows, n_columns = joint.shape

    def place(i: int) -> int:
        return i + n_columns if i < n_rows else i - n_rows

    return joint.T, [replace(x, a=place(x.a), b=place(x.b)) for x in limits]


def _turned_back(
    solution: SemidefiniteSolution, program: Program, shape: tuple[int, int]
) -> SemidefiniteSolution:
    """A solution of the turned table of some shape, in the order of the data."""
    if not program.transposes:
        return solution
    return replace(
        solution,
        gram=_swapped(solution.gram, shape),
        row_marginals=solution.column_marginals,
        column_marginals=solution.row_marginals,
    )
