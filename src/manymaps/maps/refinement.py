"""Optimization of the rows of new objects in a finished atlas, which stays unchanged.

A new object i has a target p_j|i over atlas objects j, and its cost depends only on its own row:

    C_i = - sum_j p_j|i log q_ij,      q_ij = (1 - background) v_ij / Z_i + background / pairs
    v_ij = sum_m pi_i^m pi_j^m K(|y_i^m - y_j^m|^2 / width^2),      z_i = sum_j v_ij

    log Z_i = log z_i                               under a conditional normalization
            = log Z + (n z_i / Z - 1)               under a joint one

The joint form is the tangent of log(n z_i) at the mean row z_i = Z / n. Without background, it
gives C_i = - sum_j p_j|i log v_ij + n z_i / Z + constant. This is the contribution of the row to n
KL(P || Q), to first order in its share of Z. The gradient consists of the two sums of
`manymaps.model.objective`:

    dC_i = - sum_j p_ij r_ij d log v_ij  +  R_i slope_i d log z_i,    slope_i = 1  or  n z_i / Z

Here, r_ij is the fraction of q_ij that is not background, and R_i = sum_j p_ij r_ij. A size penalty
of the model adds (penalty / 2) sum_m |y_i^m|^2. Under a joint normalization, it adds half of this,
because each pair of an object is counted from both ends in the model but only once in C_i. No term
depends on another new object, so objects that are inserted together get the same positions as if
inserted separately.

**Agreement.** A fixed map does not make room for new objects. In a single map, a new object at the
position with the lowest cost therefore has worse neighbours than after a new fit. The candidate
positions y of an object are its own position and the midpoints between pairs of its nearest
neighbours. Each object is moved to the candidate at which data and map agree best,

    sum_{k <= depth} |N_k(data) & N_k(y)| / k

Here, N_k are the k nearest atlas objects. Three further rounds compare twelve positions around the
object, at the distance of its third nearest neighbour, and exclude positions that are more remote
than the first. `examples/claassen_insertion_2020.py` prints the gain. (Agreement is nearly the same
quantity as a measure of preserved neighbours.)

Fixed factors b_j of the atlas objects multiply their v_ij and require a conditional normalization.

Shapes: target (k, n), positions (n_maps, k, d), weights (n_maps, k). `descend_rows`, an L-BFGS with
its own steps and memory for each object, treats an object as one vector of all its positions and,
if the model learns them, weights.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from manymaps.atlas.atlas import Atlas
from manymaps.compute import field
from manymaps.compute.agreement import most_agreeing
from manymaps.compute.threads import current_threads, share_out
from manymaps.model.objective import Field, Side
from manymaps.model.parameters import Entries, log_softmin, weights_from_proportions
from manymaps.model.target import Pairs

if TYPE_CHECKING:
    from scipy.spatial import cKDTree

# A map in which an atlas object has a smaller proportion adds less than this to any similarity of
# the object.
_ACTIVE = 1e-5
# The default tolerance of a fit.
_TOLERANCE = 5e-3
# Up to this many pairs, sums are exact. For more pairs, the fast engine trades accuracy for time.
# Not tuned.
_DIRECT_PAIRS = 200_000_000
# Fraction of the extent of the maps by which the grid of the fast engine may exceed it. Not tuned.
_MARGIN = 0.1
# The midpoints between pairs of the ten nearest objects give 45 candidates per object.
_CORNERS = 10
# Each round searches as far as the third nearest neighbour, so that three rounds cross a
# neighbourhood. Not tuned.
_ROUNDS = 3
_NEAR = 3
# Number of objects per block, which limits the memory that their candidates require.
_QUERIES = 512

# Number of curvature pairs; 3 to 20 are usual (Nocedal & Wright 2006, section 7.2).
_MEMORY = 6
# Usual constant of Armijo's rule.
_ENOUGH = 1e-4
# Costs are sums in float32. Without this tolerance, a line search near the optimum never accepts a
# step.
_ROUNDING = 1e-6


@dataclass(frozen=True)
class NewRows:
    """Cost of new rows as a function of their positions and mixing weights.

    Parameters
    ----------
    atlas : Atlas
        The atlas. Under a joint model, its `log_whole` is log Z.
    target : sparse array of shape (k, n)
        Target p_j|i, whose rows sum to 1.
    active : ndarray of bool, shape (n_maps, k)
        Mask of the maps that are considered for each new object.
    penalty : float
        Strength of the size penalty, as in `manymaps.model.objective`.
    """

    atlas: Atlas
    target: sparse.csr_array
    active: np.ndarray
    penalty: float = 0.0

    @property
    def _is_joint(self) -> bool:
        return self.atlas.model.normalization == "joint"

    @cached_property
    def _pairs(self) -> Pairs:
        return Pairs.of(self.target, self.target.data, np.zeros_like(self.target.data))

    @cached_property
    def _entries(self) -> Entries:
        return Entries(self.active)

    @cached_property
    def _known(self) -> Side:
        with np.errstate(divide="ignore"):
            log_pi = np.log(self.atlas.proportions.astype(np.float64)).astype(np.float32, order="C")
        lively = Entries(self.atlas.proportions > _ACTIVE)
        return Side.of(self.atlas.maps, log_pi, lively, self.atlas.model)

    @cached_property
    def _log_factors(self) -> np.ndarray:
        factors = self.atlas.factors
        return np.zeros(self.atlas.n_objects) if factors is None else np.log(factors.astype(float))

    def evaluate(
        self, positions: np.ndarray, weights: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Compute C_i and its gradient.

        Parameters
        ----------
        positions : ndarray of shape (n_maps, k, n_components)
            Positions of the new objects.
        weights : ndarray of shape (n_maps, k)
            Mixing weights, with pi = softmax(-weights) over the maps.

        Returns
        -------
        cost : ndarray of shape (k,), float64
            The cost of each new object.
        position_slopes : ndarray of shape (n_maps, k, n_components), float32
            Gradient with respect to the positions.
        weight_slopes : ndarray of shape (n_maps, k), float32
            Gradient with respect to the weights, which is zero in maps that are not active.
        """
        model, n, n_rows = self.atlas.model, self.atlas.n_objects, positions.shape[1]
        # Maps that are not considered for a row must not contribute to the explanation of its
        # pairs.
        log_pi = np.where(self.active, log_softmin(weights), -np.inf).astype(np.float32)
        rows, known = Side.of(positions, log_pi, self._entries, model), self._known
        # 1. Normalizers.
        potential = self._field(rows)
        log_z = rows.log_normalizers(potential)
        normalizer, log_slope, n_choices = log_z, -log_z, n
        if self._is_joint:
            log_slope = np.full(n_rows, np.log(n) - self.atlas.log_whole)
            normalizer = self.atlas.log_whole + np.exp(log_z + log_slope) - 1
            n_choices = n * (n - 1)
        # 2. Attraction.
        # Without a background, the factors of the atlas only add a constant to the cost.
        log_b = self._log_factors if model.background else np.zeros(n)
        log_roles = -normalizer, np.zeros(n_rows), np.zeros(n), log_b
        pull, share, mass, cost = rows.attraction(self._pairs, known, log_roles, n_choices)
        # 3. Repulsion and gradient. No object chooses a new one.
        with np.errstate(divide="ignore"):
            log_rho = np.log(mass) + log_slope
        chosen = np.full(n_rows, -np.inf)
        slopes = rows.slopes((log_rho, chosen), (potential, potential), pull, share)
        d_positions, d_weights = np.zeros_like(rows.positions), np.zeros_like(log_pi)
        d_positions[self.active], d_weights[self.active] = slopes
        # 4. Penalty.
        if self.penalty:
            strength = self.penalty / 2 if self._is_joint else self.penalty
            bound = strength * np.where(self.active[:, :, None], positions, 0.0)
            cost += (bound * positions).sum(axis=(0, 2)) / 2
            d_positions += bound.astype(np.float32)
        return cost, d_positions, d_weights

    def _field(self, rows: Side) -> Field:
        """Compute the field of the atlas at the active entries, by direct sums if that is cheap."""
        known = self._known
        charges = known.entry_log_pi + self._log_factors.astype(np.float32)[known.entries.objects]
        points, offsets = known.points, known.entries.offsets
        targets, target_offsets = rows.points, rows.entries.offsets
        # A trial step may lead far out of the map. A grid for all rows would then be so large that
        # the fast engine would sum all of them directly.
        low, high = points.min(axis=1), points.max(axis=1)
        beyond = np.maximum(low - targets.T, targets.T - high).max(axis=1)
        pairs = float(np.diff(offsets) @ np.diff(target_offsets))
        direct = (pairs <= _DIRECT_PAIRS) | (beyond > _MARGIN * (high - low).max())
        value, scale = np.empty_like(direct, np.float32), np.empty_like(direct, np.float64)
        slope = np.empty_like(targets)
        for some, tolerance in (np.flatnonzero(~direct), _TOLERANCE), (np.flatnonzero(direct), 0.0):
            if len(some):
                value[some], slope[:, some], scale[some] = field(
                    np.ascontiguousarray(targets[:, some]), np.searchsorted(some, target_offsets),
                    points, offsets, charges, np.full(len(some), -1), self.atlas.model.kernel,
                    tolerance,
                )  # fmt: skip
        return value, slope, scale


def refine_rows(
    atlas: Atlas,
    target: sparse.csr_array,
    positions: np.ndarray,
    proportions: np.ndarray,
    *,
    max_iter: int = 10,
    min_proportion: float = 1e-3,
) -> tuple[np.ndarray, np.ndarray]:
    """Minimize the costs of the rows of new objects.

    Parameters
    ----------
    atlas : Atlas
        The atlas, whose parameters contain the size penalty.
    target : sparse array of shape (k, n)
        Target p_j|i of the new objects, whose rows sum to 1.
    positions : ndarray of shape (n_maps, k, n_components)
        Starting positions.
    proportions : ndarray of shape (n_maps, k)
        Starting proportions. The proportions are fitted if the mixing of the model is learned and
        there are several maps.
    max_iter : int
        Maximum number of evaluations of the cost.
    min_proportion : float
        Minimum starting proportion. Maps in which an object has a smaller starting proportion do
        not move it.

    Returns
    -------
    positions : ndarray of shape (n_maps, k, n_components)
        Positions of the new objects.
    proportions : ndarray of shape (n_maps, k)
        Mixing proportions of the new objects.
    """
    n_maps, k, d = positions.shape
    active = proportions >= np.minimum(min_proportion, proportions.max(axis=0))
    rows = NewRows(atlas, target, active, atlas.settings.penalty)
    learned = atlas.model.mixing == "learned" and n_maps > 1
    fixed = weights_from_proportions(proportions)
    split = n_maps * d

    def unpacked(vectors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        points = vectors[:, :split].reshape(k, n_maps, d).transpose(1, 0, 2)
        return points, vectors[:, split:].T if learned else fixed

    def evaluate(vectors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        cost, d_positions, d_weights = rows.evaluate(*unpacked(vectors))
        slopes = d_positions.transpose(1, 0, 2).reshape(k, split).astype(np.float64)
        return cost, np.hstack([slopes, d_weights.T]) if learned else slopes

    start = positions.transpose(1, 0, 2).reshape(k, split).astype(np.float64)
    if learned:
        start = np.hstack([start, fixed.T])
    vectors, _ = descend_rows(evaluate, start, max_iter, first_step=0.5)
    points, weights = unpacked(vectors)
    return points, np.exp(log_softmin(weights)) if learned else proportions


def descend_rows(
    evaluate: Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]],
    start: np.ndarray,
    max_iter: int,
    first_step: float,
) -> tuple[np.ndarray, np.ndarray]:
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
    costs : ndarray of shape (k,)
        Costs at the best points.
    """
    x = start.copy()
    cost, slope = evaluate(x)
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
    return x, cost


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


def agreeing_places(
    points: np.ndarray, target: sparse.csr_array, places: np.ndarray, depth: int
) -> np.ndarray:
    """Find the positions at which the neighbourhoods of data and map agree best.

    Parameters
    ----------
    points : ndarray of shape (n, d)
        Positions of the atlas objects in its single map.
    target : sparse array of shape (k, n)
        Neighbours of each new object; a larger entry is a nearer neighbour.
    places : ndarray of shape (k, d)
        Positions of the new objects.
    depth : int
        Size of the largest neighbourhood to compare, limited to the number of stored neighbours.

    Returns
    -------
    ndarray of shape (k, d)
        New positions; an object without a better position keeps its own.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> line = np.array([[0.0], [1.0], [2.0], [9.0]])
    >>> target = sparse.csr_array([[0.0, 0.6, 0.4, 0.0]])
    >>> agreeing_places(line, target, np.array([[8.0]]), depth=2).tolist()
    [[1.5]]
    """
    from scipy.spatial import cKDTree

    known = points.astype(np.float64)
    tree, depth = cKDTree(known), min(depth, len(points))
    result = places.astype(np.float64)
    steps = _directions(points.shape[1])
    for start in range(0, len(places), _QUERIES):
        block = result[start : start + _QUERIES]
        ranked = _ranked(target[start : start + len(block)])
        offers = np.concatenate([block[:, None], _middles(block, known, ranked)], axis=1)
        block[:], limits = _most_agreeing(tree, offers, ranked, depth)
        if depth < _NEAR:
            continue
        reach = limits
        for _ in range(_ROUNDS):
            around = block[:, None] + reach[:, None, None] * steps
            offers = np.concatenate([block[:, None], around], axis=1)
            block[:], reach = _most_agreeing(tree, offers, ranked, depth, limits)
    return result


def _ranked(rows: sparse.csr_array) -> sparse.csr_array:
    """Return the rows with their stored columns in the order of the entries, largest first."""
    numbers = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))
    order = np.lexsort((-rows.data, numbers))
    return sparse.csr_array((rows.data[order], rows.indices[order], rows.indptr), rows.shape)


def _most_agreeing(
    tree: cKDTree,
    offers: np.ndarray,
    ranked: sparse.csr_array,
    depth: int,
    limits: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Choose the best candidate position (k, n_offers, d), and return its distance."""
    distances, seen = tree.query(offers, np.arange(1, depth + 1), workers=current_threads())
    # A candidate that is farther from its third nearest object than the limit is excluded. The
    # first one remains, so that there is always a choice.
    away = distances[:, :, min(_NEAR, depth) - 1]
    allowed = np.full(away.shape, True) if limits is None else away <= limits[:, None]
    allowed[:, 0] = True
    best = np.empty(len(offers), np.int64)
    share_out(
        most_agreeing, len(offers), tree.n, ranked.indptr, ranked.indices, seen, allowed, best
    )
    rows = np.arange(len(offers))
    return offers[rows, best], away[rows, best]


def _directions(d: int) -> np.ndarray:
    """Return unit steps in all directions, of shape (n_steps, d)."""
    if d == 2:
        angles = 2 * np.pi * np.arange(12) / 12
        return np.stack([np.cos(angles), np.sin(angles)], axis=1)
    return np.concatenate([np.eye(d), -np.eye(d)])


def _middles(places: np.ndarray, known: np.ndarray, ranked: sparse.csr_array) -> np.ndarray:
    """Return midpoints between pairs of nearest objects; missing ones are the object's position."""
    counts = np.diff(ranked.indptr)[:, None]
    nearest = ranked.indptr[:-1, None] + np.minimum(np.arange(_CORNERS), counts - 1)
    corners = known[ranked.indices[nearest]]
    one, other = np.triu_indices(_CORNERS, k=1)
    middles = (corners[:, one] + corners[:, other]) / 2
    return np.where((other < counts)[:, :, None], middles, places[:, None])
