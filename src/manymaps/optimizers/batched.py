"""L-BFGS for many small independent costs, such as the costs of inserted objects."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

# Number of curvature pairs; 3 to 20 are usual (Nocedal & Wright 2006, section 7.2).
_MEMORY = 6
# Usual constant of Armijo's rule.
_ENOUGH = 1e-4
# Costs are sums in float32. Without this tolerance, a line search near the optimum never accepts a
# step.
_ROUNDING = 1e-6
Evaluate = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]


def descend(
    evaluate: Evaluate, start: np.ndarray, max_iter: int, first_step: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Minimize many independent costs together by L-BFGS, with separate steps and memory per row.

    The step of a row is repeatedly shortened to at most half until the cost decreases sufficiently
    (Armijo's rule). The other rows continue in the meantime.

    Parameters
    ----------
    evaluate : callable
        Function that maps points (k, size) to costs (k,) and slopes (k, size). Rows are
        independent.
    start : ndarray of shape (k, size), float64
        Points at which the descent starts.
    max_iter : int
        Maximum number of evaluations after the first one.
    first_step : float
        Factor of the slope in the first step. It is an inverse curvature that is safe everywhere.

    Returns
    -------
    points : ndarray of shape (k, size)
        Best points found.
    before, after : ndarray of shape (k,)
        Costs at the start and at the best points.
    """
    x = start.copy()
    cost, slope = evaluate(x)
    before = cost.copy()
    steps = np.zeros((_MEMORY, *x.shape))
    changes = np.zeros_like(steps)
    curvatures = np.zeros((_MEMORY, len(x)))
    direction, length = -first_step * slope, np.ones(len(x))
    for iteration in range(max_iter):
        move = length[:, None] * direction
        tried, tried_slope = evaluate(x + move)
        tried = np.where(np.isfinite(tried), tried, np.inf)
        expected = _dots(slope, move)
        better = tried <= cost + _ENOUGH * expected + _ROUNDING * np.abs(cost)
        change = tried_slope - slope
        curvature = _dots(move, change)
        learns = better & (curvature > 1e-10 * _dots(change, change))
        at = iteration % _MEMORY
        steps[at] = np.where(learns[:, None], move, 0.0)
        changes[at] = np.where(learns[:, None], change, 0.0)
        curvatures[at] = np.where(learns, curvature, 0.0)
        x[better] += move[better]
        slope = np.where(better[:, None], tried_slope, slope)
        # Use the minimum of the parabola through the known values along the step, within bounds.
        bend = np.maximum(tried - cost - expected, 1e-300)
        shorter = length * np.clip(-0.5 * expected / bend, 0.1, 0.5)
        cost = np.where(better, tried, cost)
        length = np.where(better, 1.0, shorter)
        ages = [(iteration - age) % _MEMORY for age in range(min(iteration + 1, _MEMORY))]
        fresh = _direction(slope, steps[ages], changes[ages], curvatures[ages], first_step)
        direction = np.where(better[:, None], fresh, direction)
    return x, before, cost


def _dots(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    return np.einsum("ij,ij->i", left, right)


def _direction(
    slope: np.ndarray,
    steps: np.ndarray,
    changes: np.ndarray,
    curvatures: np.ndarray,
    first_step: float,
) -> np.ndarray:
    """Compute the direction by the two loops of L-BFGS, newest pair first; skip zero curvatures."""
    inverse = np.divide(1.0, curvatures, out=np.zeros_like(curvatures), where=curvatures > 0)
    q, along = -slope, np.zeros_like(curvatures)
    scale = np.full(len(slope), first_step)
    for a in reversed(range(len(steps))):
        squared = _dots(changes[a], changes[a])
        np.divide(curvatures[a], squared, out=scale, where=curvatures[a] > 0)
    for a in range(len(steps)):
        along[a] = inverse[a] * _dots(steps[a], q)
        q = q - along[a][:, None] * changes[a]
    q *= scale[:, None]
    for a in reversed(range(len(steps))):
        back = inverse[a] * _dots(changes[a], q)
        q += (along[a] - back)[:, None] * steps[a]
    return q
