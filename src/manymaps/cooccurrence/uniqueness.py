"""Local uniqueness of a CODE fit: the null space of the Hessian of its cost.

Let D_xy = |phi_x - psi_y|^2, and let M be the mass of row x (conditional) or of the table (joint).
The cost of a table has the slope G_xy = p_xy - M q_xy with respect to D_xy. Along a motion (u, w)
of rows and columns,

    D'_xy = 2 (phi_x - psi_y) . (u_x - w_y)
    G'_xy = M q_xy (D'_xy - <D'>)               <.> mean under q, over the row or the whole table
    (H v)_x = 2 sum_y [G'_xy (phi_x - psi_y) + G_xy (u_x - w_y)],   (H v)_y = minus the sum over x

Hessians are divided by the masses m of the objects, H_ij / sqrt(m_i m_j). This has no effect on the
null space and removes the large differences in curvature between frequent and rare objects.

**Invariances.** Distances are invariant to d translations and d (d - 1) / 2 rotations. If there is
a size penalty, only rotations remain. The conditional model has a further invariance: it is
unchanged by phi -> A^(-T) phi + s, psi -> A psi + t if |A psi_y + t|^2 - 2 s . (A psi_y + t) -
|psi_y|^2 is the same for all chosen objects y, because |phi|^2 cancels from p(y|x). Such a motion
exists for each quadric psi^T S psi + r . psi = c that contains all chosen points. At least
(d + 1)(d + 2) / 2 - n independent quadrics contain n points. In the plane, five points are
therefore always on a conic, and a unique fit requires at least six chosen objects. With several
tables, the motion must be an invariance of each table. Objects that are chosen in one table and
choose in another one usually prevent it. The joint model has no such invariance, because |phi|^2
does not cancel.

All of these motions are affine within each kind of object. They are found as the null space of the
Hessian among affine motions.

Shapes: positions and motions (n_objects, d), one block of objects per set of the cost.
"""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.linalg import eigh, orth, svd
from scipy.optimize import minimize
from scipy.sparse.linalg import LinearOperator, lobpcg

from manymaps.model.combined import CombinedObjective, Term
from manymaps.model.objective import Objective

__all__ = ["Curvature", "Uniqueness", "uniqueness_of"]

# Up to this number of coordinates, all eigenvalues are computed, which takes 2 s for 800 on one
# core. For more coordinates, block iterations (LOBPCG) find the smallest eigenvalues.
_DENSE = 800
# Vectors per block, requested residual, and maximum number of iterations. With a residual of 1e-5,
# they missed 1 of 9 flat directions in three groups of objects, as Lanczos iterations did.
_BLOCK, _RESIDUAL, _LONGEST = 10, 1e-7, 2000
# Maximum number of Newton steps that remove the rounding errors of single precision from a fit. In
# tables of 8 to 90 objects, the slope was below 1e-7 after 3 to 30 steps, unless points diverged.
_STEPS = 200


@dataclass(frozen=True)
class Uniqueness:
    """Result of the check whether a fit is locally unique.

    Attributes
    ----------
    eigenvalues : ndarray of float, shape (n_eigenvalues,)
        Smallest eigenvalues of the Hessian per unit of mass, in ascending order. They are
        dimensionless, and those of determined directions are of the order of 0.01 to 10.
    n_zero : int
        Number of directions in which the cost is flat: eigenvalues below the tolerance.
    n_isometries : int
        Number of independent isometries (translations and rotations), along which the cost is
        always flat. A size penalty excludes translations.
    n_affine : int
        Number of other flat directions in which each kind moves by an affine motion. The
        conditional model has such directions if all chosen points are on a quadric.
    displacements : ndarray of float, shape (n_objects,)
        Displacement of each object of the atlas in the flat directions that are not isometries,
        per unit of sqrt(mass). Objects with a displacement near 0 are determined.
    slope : float
        Largest gradient per unit of sqrt(mass). If it is not near 0, the fit is not at a minimum,
        for example because some points diverge.
    tolerance : float
        Absolute value below which an eigenvalue or a slope counts as 0.

    See Also
    --------
    CODE.uniqueness

    Examples
    --------
    >>> import numpy as np
    >>> from manymaps import CODE
    >>> table = np.random.default_rng(0).poisson(9, (8, 9)) + 1
    >>> found = CODE(penalty=0, random_state=0).fit(table).uniqueness()
    >>> found.n_zero, found.n_isometries, found.is_unique
    (3, 3, True)
    """

    eigenvalues: np.ndarray
    n_zero: int
    n_isometries: int
    n_affine: int
    displacements: np.ndarray
    slope: float
    tolerance: float

    @property
    def is_minimum(self) -> bool:
        """Whether the fit is at a minimum of the cost, possibly a flat one."""
        return self.slope < self.tolerance and bool(self.eigenvalues[0] > -self.tolerance)

    @property
    def is_unique(self) -> bool:
        """Whether the fit is at a minimum that is locally unique up to isometries."""
        return self.is_minimum and self.n_zero == self.n_isometries

    @property
    def n_unexplained(self) -> int:
        """Number of flat directions that are neither isometries nor affine motions of the kinds."""
        return max(self.n_zero - self.n_isometries - self.n_affine, 0)


class Curvature:
    """Cost, gradient and Hessian of a fit of one map in double precision.

    Parameters
    ----------
    cost : Objective or CombinedObjective
        Cost of the fit, with a Gaussian kernel and without a background.
    sizes : sequence of int
        Number of objects of each set of the cost.
    n_components : int
        Number of dimensions d.
    """

    def __init__(
        self, cost: Objective | CombinedObjective, sizes: Sequence[int], n_components: int
    ) -> None:
        self.penalty, self.masses = cost.penalty, np.concatenate(cost.masses)
        self.sizes, self.d = tuple(sizes), n_components
        self.starts = np.concatenate([[0], np.cumsum(self.sizes)])
        terms: tuple[Term, ...]
        if isinstance(cost, CombinedObjective):
            terms = (*cost.between, *cost.within)
        else:
            terms = (Term((0, 1), tuple(map(np.arange, self.sizes)), 1.0, cost),)
        self.tables = [_Table.of(term, self.starts) for term in terms]

    def evaluate(self, points: np.ndarray) -> tuple[float, np.ndarray]:
        """Compute the cost, up to a constant, and its gradient at points (n_objects, d)."""
        cost = 0.5 * self.penalty * float((points**2).sum())
        gradient = self.penalty * points
        for table in self.tables:
            _, slope, value = table.state(points)
            cost += value
            table.add(gradient, slope, points)
        return cost, gradient

    def product(self, points: np.ndarray, motion: np.ndarray) -> np.ndarray:
        """Compute the product of the Hessian at points with a motion, both (n_objects, d)."""
        result = self.penalty * motion
        for table in self.tables:
            q, slope, _ = table.state(points)
            table.add(result, table.bend(q, points, motion), points)
            table.add(result, slope, motion)
        return result


@dataclass(frozen=True)
class _Table:
    """One table: the indices of its two sides among all objects, its target and its factors.

    Each choice is normalized over `axis`.
    """

    rows: np.ndarray
    columns: np.ndarray
    p: np.ndarray
    log_factors: np.ndarray
    weight: float
    axis: tuple[int, ...]

    @classmethod
    def of(cls, term: Term, starts: np.ndarray) -> _Table:
        target, objective = term.objective.target, term.objective
        indices = [starts[k] + members for k, members in zip(term.sets, term.members, strict=True)]
        logs = np.zeros(target.values.shape)
        if objective.column_factors is not None:
            logs += np.log(objective.column_factors)
        if target.is_joint and objective.row_factors is not None:
            logs += np.log(objective.row_factors)[:, None]
        if target.one_set:
            np.fill_diagonal(logs, -np.inf)
        return cls(
            indices[0], indices[-1], target.values.toarray(), logs, term.weight * target.scale,
            (0, 1) if target.is_joint else (1,),
        )  # fmt: skip

    @cached_property
    def mass(self) -> np.ndarray:
        """Mass M of each choice: of the rows (n_rows, 1), or of the table (1, 1)."""
        return self.p.sum(axis=self.axis, keepdims=True)

    def state(self, points: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
        """Compute q, the slope G and the cost at points."""
        rows, columns = points[self.rows], points[self.columns]
        squared = ((rows[:, None] - columns) ** 2).sum(axis=2)
        logs = self.log_factors - squared
        top = logs.max(axis=self.axis, keepdims=True)
        similarities = np.exp(logs - top)
        sums = similarities.sum(axis=self.axis, keepdims=True)
        q = similarities / sums
        cost = float((self.p * squared).sum() + (self.mass * (np.log(sums) + top)).sum())
        return q, self.weight * (self.p - self.mass * q), self.weight * cost

    def bend(self, q: np.ndarray, points: np.ndarray, motion: np.ndarray) -> np.ndarray:
        """Compute the change G' of the slope along a motion."""
        rows, columns = points[self.rows], points[self.columns]
        u, w = motion[self.rows], motion[self.columns]
        change = 2 * (
            (rows * u).sum(axis=1)[:, None] + (columns * w).sum(axis=1) - rows @ w.T - u @ columns.T
        )
        mean = (q * change).sum(axis=self.axis, keepdims=True)
        return np.asarray(self.weight * self.mass * q * (change - mean))

    def add(self, total: np.ndarray, slope: np.ndarray, values: np.ndarray) -> None:
        """Add 2 sum_y slope_xy (v_x - v_y) to the rows, and minus the sum over x to the columns."""
        rows, columns = values[self.rows], values[self.columns]
        total[self.rows] += 2 * (slope.sum(axis=1)[:, None] * rows - slope @ columns)
        total[self.columns] += 2 * (slope.sum(axis=0)[:, None] * columns - slope.T @ rows)


def uniqueness_of(
    curvature: Curvature, points: np.ndarray, n_eigenvalues: int, tolerance: float
) -> Uniqueness:
    """Find the flat directions of a cost at its minimum near given points (n_objects, d)."""
    scale = np.sqrt(curvature.masses)[:, None]

    def value(x: np.ndarray) -> tuple[float, np.ndarray]:
        cost, gradient = curvature.evaluate(x.reshape(points.shape) / scale)
        return cost, (gradient / scale).ravel()

    def product(x: np.ndarray, v: np.ndarray) -> np.ndarray:
        shape = points.shape
        moved = curvature.product(x.reshape(shape) / scale, v.reshape(shape) / scale)
        return np.asarray((moved / scale).ravel())

    start = (points * scale).ravel()
    end = minimize(
        value, start, jac=True, hessp=product, method="Newton-CG",
        options={"maxiter": _STEPS, "xtol": 1e-12},
    ).x  # fmt: skip
    points = end.reshape(points.shape) / scale
    values, vectors = _smallest(lambda v: product(end, v), len(end), n_eigenvalues, tolerance)
    flat = vectors[:, np.abs(values) < tolerance]
    isometries = _isometries(points, scale, with_translations=curvature.penalty == 0)
    affine = _affine(points, scale, curvature.starts)
    bent = np.column_stack([product(end, v) for v in affine.T])
    n_affine = int((np.abs(np.linalg.eigvalsh(affine.T @ bent)) < tolerance).sum())
    # Flat directions are orthonormal, so these singular values are close to 0 or to 1.
    loose, parts, _ = svd(flat - isometries @ (isometries.T @ flat), full_matrices=False)
    loose = loose[:, parts > 0.5]
    lengths = np.linalg.norm(loose.reshape(*points.shape, -1), axis=(1, 2))
    return Uniqueness(
        eigenvalues=values[:n_eigenvalues],
        n_zero=flat.shape[1],
        n_isometries=isometries.shape[1],
        n_affine=max(n_affine - isometries.shape[1], 0),
        displacements=lengths,
        slope=float(np.abs(value(end)[1]).max()),
        tolerance=tolerance,
    )


def _smallest(
    product: Callable[[np.ndarray], np.ndarray], n: int, count: int, tolerance: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return the smallest eigenvalues, and at least all flat directions among their vectors."""
    size = max(count, _BLOCK)
    # The iterations require blocks of less than a fifth of all vectors.
    if n <= max(_DENSE, 5 * size):
        hessian = np.column_stack([product(v) for v in np.eye(n)])
        return eigh((hessian + hessian.T) / 2)
    operator = LinearOperator((n, n), matvec=product, dtype=np.float64)
    start = np.random.default_rng(0).normal(size=(n, size))
    with warnings.catch_warnings():
        # Rounding errors can leave larger residuals; the errors of eigenvalues are their squares.
        warnings.simplefilter("ignore", UserWarning)
        values, vectors = lobpcg(operator, start, tol=_RESIDUAL, maxiter=_LONGEST, largest=False)
    if values.max() < tolerance:
        return _smallest(product, n, 2 * size, tolerance)
    order = np.argsort(values)
    return values[order], vectors[:, order]


def _isometries(points: np.ndarray, scale: np.ndarray, *, with_translations: bool) -> np.ndarray:
    """Return an orthonormal basis of the isometries, (n_objects * d, n_isometries)."""
    n, d = points.shape
    motions = [np.tile(axis, (n, 1)) for axis in np.eye(d)] if with_translations else []
    for i in range(d):
        for j in range(i):
            turn = np.zeros((n, d))
            turn[:, i], turn[:, j] = -points[:, j], points[:, i]
            motions.append(turn)
    return _basis(motions, scale)


def _affine(points: np.ndarray, scale: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """Return an orthonormal basis of motions that are affine within each set of objects."""
    n, d = points.shape
    motions = []
    for first, end in itertools.pairwise(starts.tolist()):
        for axis in np.eye(d):
            for column in (np.ones(end - first), *points[first:end].T):
                motion = np.zeros((n, d))
                motion[first:end] = np.outer(column, axis)
                motions.append(motion)
    return _basis(motions, scale)


def _basis(motions: Sequence[np.ndarray], scale: np.ndarray) -> np.ndarray:
    """Return an orthonormal basis of motions (n_objects, d), in units of sqrt(mass)."""
    vectors = [(motion * scale).ravel() for motion in motions]
    if not vectors:
        return np.zeros((scale.size, 0))
    return np.asarray(orth(np.column_stack([v / max(np.linalg.norm(v), 1e-300) for v in vectors])))
