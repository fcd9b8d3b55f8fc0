"""CODE as convex programs over Gram matrices: what is solved, and by which solver.

n_x rows and n_y columns have N = n_x + n_y points with the Gram matrix G = A A^T, rows first, and

    D_xy = G_xx + G_yy - 2 G_xy      squared distance of row x and column y, linear in G
    p                                the empirical joint distribution, with marginals p(x), p(y)

The programs, each over positive semidefinite G (Globerson, Chechik, Pereira & Tishby 2004,
section 4; their equation numbers), each with lambda tr(G) added where a trace penalty is asked for:

    joint (5)        min  <p, D> + log sum_xy p(x) p(y) exp(-D_xy)
    conditional (6)  max  sum_x p(x) a(x) - <p, D>
                     where  log sum_y p(y) exp(a(x) - D_xy) <= log p(x)       for every x
    own-marginals    min  <p, D> + c
                     where  log sum_y p(y) exp(-D_xy) <= c                    for every x
                            log sum_x p(x) exp(-D_xy) <= c                    for every y

With `marginals=False` the factors p(x), p(y) inside the sums are 1. "own-marginals" is the model of
section 6, p(x,y) = p(x) p(y) exp(-D_xy) / Z whose p(x) and p(y) are its own marginals, with the
marginal constraints relaxed to inequalities as in the authors' own program (they write the bounds
as p(x) and p(y) on sums that have both factors, which is the same).

In (6) every inequality is tight at the optimum, since a(x) can rise until it is. With that a(x) put
in, what is maximized is the log-likelihood sum p log q(y|x) of q(y|x) = p(y) exp(-D_xy) / Z_x, less
sum p log p(y) and less the entropy of p(x), both constants. In own-marginals the inequalities need
not be tight, and then p(x) p(y) exp(-D_xy - c) sums to less than 1; `row_marginals` and
`column_marginals` of a solution say by how much each falls short. Without limits on distances they
were tight to 1e-6 in all tables tried, at any penalty; a limit that holds a frequent pair together
while others are kept apart left sums of 0.2 where 1 was due.

**At full rank nothing is left to fit.** Any table of numbers B_xy plus a large enough constant is a
table of squared distances: G = [[t 1, B'], [B'^T, t 1]] is positive semidefinite for a large t. So
without a penalty or constraints all three programs reach q = p exactly, for infinitely many G, and
only the one of least trace says something; a second program finds it (`least_trace`). A cell
without counts has its best place at infinity: there the optimum is not attained.

Points are not tied to the origin by any program; the Gram matrices here are centred.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from scipy import sparse

from manymaps.checks import check_choice
from manymaps.errors import ParameterError, not_installed

__all__ = [
    "DistanceLimit", "Model", "Optimum", "Program", "SolverError", "SolverSettings", "cleaned",
    "least_trace", "log_factors", "squared_distances",
]  # fmt: skip

FORMS = ("conditional", "joint", "own-marginals")
SOLVERS = ("CLARABEL", "SCS")

# Interior points cost about N^5: 30 + 30 objects take 5 to 10 s, 40 + 40 take 50 s; SCS 10 to 20 s.
MOST_POINTS_FOR_CLARABEL = 60
# A gap of e in the likelihood leaves marginals wrong by sqrt(e / 2) (Pinsker): 1e-10 by 7e-6.
# What Clarabel calls "almost solved" is still right to the reduced tolerances.
_SETTINGS: dict[str, dict[str, Any]] = {
    "CLARABEL": {
        "tol_gap_abs": 1e-10,
        "tol_gap_rel": 1e-10,
        "tol_feas": 1e-9,
        "reduced_tol_gap_abs": 1e-6,
        "reduced_tol_gap_rel": 1e-6,
        "reduced_tol_feas": 1e-6,
    },
    "SCS": {"eps_abs": 3e-7, "eps_rel": 3e-7, "max_iters": 100_000},
}
_ACCEPTED = {"CLARABEL": ("optimal", "optimal_inaccurate"), "SCS": ("optimal",)}


class SolverError(RuntimeError):
    """A semidefinite program was not solved; the message has the solver's status and ways out."""


@dataclass(frozen=True)
class Program:
    """Which of the programs; the module docstring has them.

    Parameters
    ----------
    form : {"conditional", "joint", "own-marginals"}
    given : {"rows", "columns"}
        Which side a conditional model is given.
    marginals : bool
        Whether the empirical marginals are factors of the model.

    Raises
    ------
    ParameterError
        For other values, or own-marginals without marginals.

    Examples
    --------
    >>> from manymaps.cooccurrence.programs import Program
    >>> Program("joint").marginals
    True
    """

    form: Literal["conditional", "joint", "own-marginals"] = "conditional"
    given: Literal["rows", "columns"] = "rows"
    marginals: bool = True

    def __post_init__(self) -> None:
        check_choice("form", self.form, FORMS)
        check_choice("given", self.given, ("rows", "columns"))
        if self.form == "own-marginals" and not self.marginals:
            raise ParameterError(
                "is about the marginals; it cannot go with marginals=False",
                name="form",
                value=self.form,
            )

    @property
    def transposes(self) -> bool:
        """Whether the table is turned, so that what is given stands in the rows."""
        return self.form == "conditional" and self.given == "columns"


@dataclass(frozen=True)
class DistanceLimit:
    """at_least <= |y_a - y_b|^2 <= at_most, for points numbered rows first."""

    a: int
    b: int
    at_least: float | None = None
    at_most: float | None = None


@dataclass(frozen=True)
class SolverSettings:
    """Which solver, with which options of its own.

    Parameters
    ----------
    name : {None, "CLARABEL", "SCS"}
        None takes Clarabel for up to 60 points and SCS beyond, and SCS where Clarabel fails.
    options : mapping
        Handed to the solver, over the defaults here (gaps of 1e-10 for Clarabel, 3e-7 for SCS).
    verbose : bool
        Whether the solver prints.

    Raises
    ------
    ParameterError
        For an unknown solver.

    Examples
    --------
    >>> from manymaps.cooccurrence.programs import SolverSettings
    >>> SolverSettings("SCS", {"max_iters": 1000}).names(27)
    ('SCS',)
    """

    name: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    verbose: bool = False

    def __post_init__(self) -> None:
        if self.name is not None and str(self.name).upper() not in SOLVERS:
            check_choice("solver", self.name, (*SOLVERS, None))

    def names(self, n_points: int) -> tuple[str, ...]:
        """The solvers to try, in turn."""
        if self.name is not None:
            return (str(self.name).upper(),)
        if n_points > MOST_POINTS_FOR_CLARABEL:
            return ("SCS",)
        # Options mean something to one solver alone.
        return ("CLARABEL",) if self.options else SOLVERS


@dataclass(frozen=True, eq=False)
class Optimum:
    """What a solver found: G (centred, semidefinite), a(x) of (6) or c, and its own report."""

    gram: np.ndarray
    free: np.ndarray | None
    status: str
    solver: str
    n_iter: int


class Model:
    """A program as cvxpy has it, over G = basis S basis^T; the trace penalty is a parameter.

    Compiled once, so that a path pays for it once; `joint` has what is given in its rows.
    """

    def __init__(
        self,
        joint: np.ndarray,
        program: Program,
        limits: tuple[DistanceLimit, ...],
        basis: np.ndarray | None = None,
    ):
        cp = _cvxpy()
        n_points = sum(joint.shape)
        self.basis = basis
        size = n_points if basis is None else basis.shape[1]
        self.inner = cp.Variable((size, size), PSD=True)
        self.penalty = cp.Parameter(nonneg=True, value=0.0)
        squared = _distances(cp, self.inner, joint.shape, basis)
        logs = log_factors(joint, program) - squared
        linear = cp.sum(cp.multiply(joint, squared))
        rows, columns = joint.sum(axis=1), joint.sum(axis=0)
        held = _limits(cp, self.inner, n_points, basis, limits)
        self.free: Any = None
        if program.form == "joint":
            self.objective = linear + cp.log_sum_exp(logs)
        elif program.form == "conditional":
            self.free = cp.Variable(joint.shape[0])
            free = cp.reshape(self.free, (len(rows), 1), order="C")
            added = free @ np.ones((1, len(columns)))
            held.append(cp.log_sum_exp(logs + added, axis=1) <= np.log(rows))
            self.objective = linear - rows @ self.free
        else:
            self.free = cp.Variable()
            held.append(cp.log_sum_exp(logs, axis=1) - np.log(rows) <= self.free)
            held.append(cp.log_sum_exp(logs, axis=0) - np.log(columns) <= self.free)
            self.objective = linear + self.free
        goal = cp.Minimize(self.objective + self.penalty * cp.trace(self.inner))
        self.problem = cp.Problem(goal, held)

    def optimum(self, penalty: float, settings: SolverSettings) -> Optimum:
        """The optimum under a trace penalty.

        Raises
        ------
        ParameterError
            For limits that cannot all hold, or options that the solver does not know.
        SolverError
            Where the solver fails or stalls.
        """
        self.penalty.value = penalty
        status, solver, n_iter = _run(self.problem, self.inner, settings)
        gram = np.asarray(self.inner.value)
        if self.basis is not None:
            gram = self.basis @ gram @ self.basis.T
        free = None if self.free is None else np.array(self.free.value, dtype=np.float64)
        return Optimum(cleaned(gram), free, status, solver, n_iter)


def least_trace(
    joint: np.ndarray,
    program: Program,
    limits: tuple[DistanceLimit, ...],
    optimum: Optimum,
    settings: SolverSettings,
) -> Optimum:
    """Of all G that are as likely as an optimum, that of least trace; a(x) or c goes along.

    The likelihood stays where all distances grow by one number (a conditional model: one for each
    given object), and where distances within a side change.
    """
    cp = _cvxpy()
    n_points = sum(joint.shape)
    inner = cp.Variable((n_points, n_points), PSD=True)
    if program.form == "conditional":
        shift = cp.Variable((joint.shape[0], 1))
        shifts = shift @ np.ones((1, joint.shape[1]))
    else:
        shift = cp.Variable((1, 1))
        shifts = np.ones((joint.shape[0], 1)) @ shift @ np.ones((1, joint.shape[1]))
    held = _limits(cp, inner, n_points, None, limits)
    held.append(
        _distances(cp, inner, joint.shape, None)
        == squared_distances(optimum.gram, joint.shape) + shifts
    )
    _run(cp.Problem(cp.Minimize(cp.trace(inner)), held), inner, settings)
    free = optimum.free
    if free is not None:
        # a(x) rises with the distances of x, c falls.
        sign = 1.0 if program.form == "conditional" else -1.0
        free = free + sign * np.asarray(shift.value).reshape(free.shape)
    return replace(optimum, gram=cleaned(inner.value), free=free)


def log_factors(joint: np.ndarray, program: Program) -> np.ndarray:
    """Logarithms of the fixed factors inside the sums; what is given stands in the rows."""
    if not program.marginals:
        return np.zeros(joint.shape)
    logs = np.broadcast_to(np.log(joint.sum(axis=0)), joint.shape)
    return logs if program.form == "conditional" else logs + np.log(joint.sum(axis=1))[:, None]


def squared_distances(gram: np.ndarray, shape: tuple[int, int]) -> np.ndarray:
    """Squared distances of rows and columns from a Gram matrix."""
    sizes = np.diag(gram)
    n_rows = shape[0]
    return sizes[:n_rows, None] + sizes[None, n_rows:] - 2 * gram[:n_rows, n_rows:]


def cleaned(gram: np.ndarray) -> np.ndarray:
    """Symmetric, centred at the mean of the points, and without eigenvalues below 0."""
    gram = (gram + gram.T) / 2
    gram = gram - gram.mean(axis=0) - gram.mean(axis=1)[:, None] + gram.mean()
    values, vectors = np.linalg.eigh(gram)
    return (vectors * np.maximum(values, 0)) @ vectors.T


def _run(problem: Any, inner: Any, settings: SolverSettings) -> tuple[str, str, int]:
    """Status, solver and iterations of a cvxpy problem, by the first solver that manages."""
    cp = _cvxpy()

    failures = []
    for name in settings.names(inner.shape[0]):
        options = {**_SETTINGS[name], **settings.options}
        try:
            with warnings.catch_warnings():
                # Statuses are looked at here; cvxpy warns of inexact ones as well.
                warnings.simplefilter("ignore")
                problem.solve(solver=name, verbose=settings.verbose, warm_start=True, **options)
            status = str(problem.status)
        except cp.SolverError as error:
            status = f"solver_error ({error})"
        except (TypeError, AttributeError) as error:
            raise ParameterError(
                f"{name} does not take solver_options={dict(settings.options)!r}: {error}"
            ) from error
        if status in _ACCEPTED[name] and inner.value is not None:
            return status, name, int(problem.solver_stats.num_iters or 0)
        if status == "infeasible":
            raise ParameterError(
                f"the constraints on distances cannot all hold ({name}: {status}); loosen the ones "
                "that contradict each other or the triangle inequality"
            )
        stats = problem.solver_stats
        failures.append(f"{name}: {status}, {stats.num_iters if stats else 0} iterations")
    raise SolverError(
        f"the semidefinite program was not solved ({'; '.join(failures)}). Try the other solver, "
        "more iterations or looser tolerances (solver_options), a larger trace_penalty, or counts "
        "without zeros (add 0.5); or fit CODE, the gradient form, which takes tables of any size"
    )


def _cvxpy() -> Any:
    """cvxpy, which only the extra "sdp" brings."""
    try:
        import cvxpy
    except ImportError as error:
        raise ParameterError(not_installed("SemidefiniteCODE", "cvxpy")) from error
    return cvxpy


def _distances(cp: Any, inner: Any, shape: tuple[int, int], basis: np.ndarray | None) -> Any:
    """D as a cvxpy expression of S in G = basis S basis^T."""
    left = np.repeat(np.arange(shape[0]), shape[1])
    right = shape[0] + np.tile(np.arange(shape[1]), shape[0])
    pairs = _pairs(left, right, sum(shape), basis)
    return cp.reshape(pairs @ cp.vec(inner, order="C"), shape, order="C")


def _pairs(
    left: np.ndarray, right: np.ndarray, n_points: int, basis: np.ndarray | None
) -> np.ndarray | sparse.csr_array:
    """The linear map from the entries of S to squared distances of pairs of points."""
    if basis is not None:
        difference = basis[left] - basis[right]
        return (difference[:, :, None] * difference[:, None, :]).reshape(len(left), -1)
    one = np.arange(len(left))
    rows = np.concatenate([one] * 4)
    columns = np.concatenate(
        [
            left * n_points + left,
            right * n_points + right,
            left * n_points + right,
            right * n_points + left,
        ]
    )
    signs = np.repeat([1.0, 1.0, -1.0, -1.0], len(left))
    return sparse.csr_array((signs, (rows, columns)), shape=(len(left), n_points**2))


def _limits(
    cp: Any,
    inner: Any,
    n_points: int,
    basis: np.ndarray | None,
    limits: tuple[DistanceLimit, ...],
) -> list[Any]:
    """The users' constraints."""
    held = []
    for limit in limits:
        pair = _pairs(np.array([limit.a]), np.array([limit.b]), n_points, basis)
        squared = pair @ cp.vec(inner, order="C")
        if limit.at_least is not None and limit.at_least == limit.at_most:
            held.append(squared == limit.at_least)
            continue
        if limit.at_least is not None:
            held.append(squared >= limit.at_least)
        if limit.at_most is not None:
            held.append(squared <= limit.at_most)
    return held
