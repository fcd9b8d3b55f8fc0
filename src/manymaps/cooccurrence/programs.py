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
exp(-D_xy) / Z_x. `row_marginals` and `column_marginals` of a solution contain the sums divided by
p(x) and p(y).

**At full rank the programs fit the table exactly.** Any matrix B_xy plus a sufficiently large
constant is a matrix of squared distances. This is true because G = [[t 1, B'], [B'^T, t 1]] is
positive semidefinite for a large t. Without a penalty, all programs therefore reach q = p for
infinitely many G. Only the G with the smallest trace is informative, and a second
program computes it (`least_trace`). The best position of a cell without counts is at infinity, so
in that case the optimum is not attained.

The programs do not fix the origin. The Gram matrices here are centred.
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
    "Model", "Optimum", "Program", "SolverError", "SolverSettings", "cleaned", "least_trace",
    "log_factors", "squared_distances",
]  # fmt: skip

FORMS = ("conditional", "joint")
SOLVERS = ("CLARABEL", "SCS")

# The time of interior-point methods grows about as N^5: 5 to 10 s for 30 + 30 objects and 50 s for
# 40 + 40 objects. SCS takes 10 to 20 s.
MOST_POINTS_FOR_CLARABEL = 60
# By Pinsker's inequality, a gap of e in the likelihood allows errors of sqrt(e / 2) in the
# marginals, for example 7e-6 for a gap of 1e-10. Solutions with Clarabel's status "almost solved"
# satisfy the reduced tolerances.
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
    """Error raised if a semidefinite program is not solved, with the status and advice."""


@dataclass(frozen=True)
class Program:
    """Specification of a program that is defined in the module docstring.

    Parameters
    ----------
    form : {"conditional", "joint"}, default "conditional"
        Type of model.
    given : {"rows", "columns"}, default "rows"
        Conditioning variable of a conditional model.
    marginals : bool, default True
        Whether the empirical marginals are factors of the model.
    fixed_marginals : bool, default False
        Whether a conditional model also fixes the marginals of the objects that it predicts.

    Raises
    ------
    ParameterError
        If a value is invalid, or if `fixed_marginals` is combined with "joint".

    Examples
    --------
    >>> from manymaps.cooccurrence.programs import Program
    >>> Program("joint").marginals
    True
    """

    form: Literal["conditional", "joint"] = "conditional"
    given: Literal["rows", "columns"] = "rows"
    marginals: bool = True
    fixed_marginals: bool = False

    def __post_init__(self) -> None:
        check_choice("form", self.form, FORMS)
        check_choice("given", self.given, ("rows", "columns"))
        if self.fixed_marginals and self.form != "conditional":
            raise ParameterError(
                "cannot be combined with fixed_marginals=True, which applies to 'conditional'",
                name="form",
                value=self.form,
            )

    @property
    def transposes(self) -> bool:
        """Whether the table must be transposed so that the conditioning variable is in the rows."""
        return self.form == "conditional" and self.given == "columns"


@dataclass(frozen=True)
class SolverSettings:
    """Choice of a solver and its options.

    Parameters
    ----------
    name : {None, "CLARABEL", "SCS"}, default None
        Name of the solver. If it is None, Clarabel is used for up to 60 points. SCS is used for
        more points, or if Clarabel fails.
    options : mapping, default {}
        Options for the solver. They override the defaults of this module, which are gaps of 1e-10
        for Clarabel and 3e-7 for SCS.
    verbose : bool, default False
        Whether the solver prints its progress.

    Raises
    ------
    ParameterError
        If the solver is unknown.

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
        """Return the solvers to try, in order."""
        if self.name is not None:
            return (str(self.name).upper(),)
        if n_points > MOST_POINTS_FOR_CLARABEL:
            return ("SCS",)
        # Options are specific to one solver, so the other is not tried.
        return ("CLARABEL",) if self.options else SOLVERS


@dataclass(frozen=True, eq=False)
class Optimum:
    """Result of a solver: the centred G, the terms a(x) of (6), and the status."""

    gram: np.ndarray
    free: np.ndarray | None
    status: str
    solver: str
    n_iter: int


class Model:
    """Program in cvxpy over G, with the trace penalty as a parameter.

    A path compiles the program only once. The conditioning variable of `joint` is in the rows.
    """

    def __init__(self, joint: np.ndarray, program: Program):
        cp = _cvxpy()
        n_points = sum(joint.shape)
        self.gram = cp.Variable((n_points, n_points), PSD=True)
        self.penalty = cp.Parameter(nonneg=True, value=0.0)
        squared = _distances(cp, self.gram, joint.shape)
        logs = log_factors(joint, program) - squared
        linear = cp.sum(cp.multiply(joint, squared))
        rows, columns = joint.sum(axis=1), joint.sum(axis=0)
        constraints = []
        self.free: Any = None
        if program.form == "joint":
            self.objective = linear + cp.log_sum_exp(logs)
        else:
            self.free = cp.Variable(joint.shape[0])
            free = cp.reshape(self.free, (len(rows), 1), order="C")
            added = free @ np.ones((1, len(columns)))
            constraints.append(cp.log_sum_exp(logs + added, axis=1) <= np.log(rows))
            if program.fixed_marginals:
                constraints.append(cp.log_sum_exp(logs + added, axis=0) <= np.log(columns))
            self.objective = linear - rows @ self.free
        goal = cp.Minimize(self.objective + self.penalty * cp.trace(self.gram))
        self.problem = cp.Problem(goal, constraints)

    def optimum(self, penalty: float, settings: SolverSettings) -> Optimum:
        """Compute the optimum under a trace penalty.

        Raises
        ------
        ParameterError
            If the solver rejects an option.
        SolverError
            If the solver fails or stalls.
        """
        self.penalty.value = penalty
        status, solver, n_iter = _run(self.problem, self.gram, settings)
        free = None if self.free is None else np.array(self.free.value, dtype=np.float64)
        return Optimum(cleaned(self.gram.value), free, status, solver, n_iter)


def least_trace(
    joint: np.ndarray,
    program: Program,
    optimum: Optimum,
    settings: SolverSettings,
) -> Optimum:
    """Return the G with the smallest trace among all G with the likelihood of an optimum.

    The likelihood is unchanged if all distances increase by the same number (or, in a conditional
    model, by one number per conditioning object), or if distances within a side change. The terms
    a(x) are adjusted accordingly.
    """
    cp = _cvxpy()
    n_points = sum(joint.shape)
    gram = cp.Variable((n_points, n_points), PSD=True)
    if program.form == "conditional":
        shift = cp.Variable((joint.shape[0], 1))
        shifts = shift @ np.ones((1, joint.shape[1]))
    else:
        shift = cp.Variable((1, 1))
        shifts = np.ones((joint.shape[0], 1)) @ shift @ np.ones((1, joint.shape[1]))
    constraints = [
        _distances(cp, gram, joint.shape) == squared_distances(optimum.gram, joint.shape) + shifts
    ]
    _run(cp.Problem(cp.Minimize(cp.trace(gram)), constraints), gram, settings)
    free = optimum.free
    if free is not None:
        free = free + np.asarray(shift.value).reshape(free.shape)
    return replace(optimum, gram=cleaned(gram.value), free=free)


def log_factors(joint: np.ndarray, program: Program) -> np.ndarray:
    """Return the log factors inside the sums, with the conditioning variable in the rows."""
    if not program.marginals:
        return np.zeros(joint.shape)
    logs = np.broadcast_to(np.log(joint.sum(axis=0)), joint.shape)
    return logs if program.form == "conditional" else logs + np.log(joint.sum(axis=1))[:, None]


def squared_distances(gram: np.ndarray, shape: tuple[int, int]) -> np.ndarray:
    """Compute squared distances between rows and columns from a Gram matrix."""
    sizes = np.diag(gram)
    n_rows = shape[0]
    return sizes[:n_rows, None] + sizes[None, n_rows:] - 2 * gram[:n_rows, n_rows:]


def cleaned(gram: np.ndarray) -> np.ndarray:
    """Return a symmetric, centred Gram matrix without negative eigenvalues."""
    gram = (gram + gram.T) / 2
    gram = gram - gram.mean(axis=0) - gram.mean(axis=1)[:, None] + gram.mean()
    values, vectors = np.linalg.eigh(gram)
    return (vectors * np.maximum(values, 0)) @ vectors.T


def _run(problem: Any, gram: Any, settings: SolverSettings) -> tuple[str, str, int]:
    """Return status, solver and iterations of the first solver that succeeds."""
    cp = _cvxpy()

    failures = []
    for name in settings.names(gram.shape[0]):
        options = {**_SETTINGS[name], **settings.options}
        try:
            with warnings.catch_warnings():
                # Statuses are checked below, so cvxpy's warnings about inexact solutions are not
                # needed.
                warnings.simplefilter("ignore")
                problem.solve(solver=name, verbose=settings.verbose, warm_start=True, **options)
            status = str(problem.status)
        except cp.SolverError as error:
            status = f"solver_error ({error})"
        except (TypeError, AttributeError) as error:
            raise ParameterError(
                f"{name} does not accept solver_options={dict(settings.options)!r}: {error}"
            ) from error
        if status in _ACCEPTED[name] and gram.value is not None:
            return status, name, int(problem.solver_stats.num_iters or 0)
        stats = problem.solver_stats
        failures.append(f"{name}: {status}, {stats.num_iters if stats else 0} iterations")
    raise SolverError(
        f"the semidefinite program was not solved ({'; '.join(failures)}); try the other solver, "
        "more iterations or looser tolerances (solver_options), a larger trace_penalty, or counts "
        "without zeros (add 0.5), or fit CODE, which accepts tables of any size"
    )


def _cvxpy() -> Any:
    """Import cvxpy, which the extra "sdp" installs."""
    try:
        import cvxpy
    except ImportError as error:
        raise ParameterError(not_installed("SemidefiniteCODE", "cvxpy")) from error
    return cvxpy


def _distances(cp: Any, gram: Any, shape: tuple[int, int]) -> Any:
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
