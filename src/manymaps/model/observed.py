"""KL(P || Q) over the pairs that were judged: a table with missing cells.

Let O hold the ordered pairs (i, j), i != j, whose similarity is known, and O_i those of row i. A
pair outside O says nothing, neither that two objects are related nor that they are not; so the
choice is among the judged pairs alone, in P as in Q:

    conditional   q_ij = (1 - background) v_ij / Z_i + background / |O_i|,  Z_i = sum_{O_i} v_ij
    joint         q_ij = (1 - background) v_ij / Z   + background / |O|,    Z   = sum_O v_ij

    C = scale * sum_{ij in O} p_ij log(p_ij / q_ij)  +  (penalty / 2) sum_m sum_i |y_i^m|^2

This is the model of `manymaps.model.objective` given that the chosen pair is one that was judged,
and that objective where none is missing. P is normalized over the same pairs
(`manymaps.model.target`). With r_ij = (1 - background) (v_ij / Z_i) / q_ij, R_i = sum_j p_ij r_ij
(their sum over all rows under a joint normalization) and the exaggeration a,

    w_ij = R_i v_ij / Z_i - a p_ij r_ij                     = dC / d log v_ij,  0 outside O
    dC / d log pi_i^m = sum_j (w_ij + w_ji) s_ij^m / v_ij
    dC / d y_i^m      = 2 sum_j (w_ij + w_ji) (s_ij^m / v_ij) (d log K / d d2) (y_i^m - y_j^m)

with s_ij^m the part of map m in v_ij. A normalizer without some of its pairs is no field of
charges, and taking them off a whole one would cancel; so everything is summed over all pairs,
densely and in float64, for tables of up to 2,000 objects. Active entries save nothing here: all
are.

Arrays: (n, n) for pairs, (n_maps, n, n_components) for positions.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from manymaps.errors import DataError
from manymaps.model.choice import ChoiceModel
from manymaps.model.objective import Entries, Evaluation, Objective
from manymaps.model.parameters import Parameters, log_softmin
from manymaps.model.penalty import size_penalty
from manymaps.model.similarities import log_kernel
from manymaps.model.target import Target

__all__ = ["MOST_OBJECTS", "ObservedObjective", "objective_of"]

# All pairs are summed densely: 47 ms an evaluation of 300 objects in 10 maps, 44 times that for
# 2,000.
MOST_OBJECTS = 2_000


def objective_of(
    target: Target, model: ChoiceModel, penalty: float = 0.0, tolerance: float = 5e-3
) -> Objective | ObservedObjective:
    """The objective of a target: over all pairs, or over the judged ones where some are missing."""
    if target.observed is None:
        return Objective(target, model, penalty, tolerance)
    return ObservedObjective(target, model, penalty)


@dataclass(frozen=True)
class ObservedObjective:
    """A `manymaps.model.cost.Cost` of parameters for a target with missing pairs.

    Parameters
    ----------
    target : Target
        Of one set of objects, with `observed`.
    model : ChoiceModel
    penalty : float
        Strength of the size penalty, on the scale of the cost summed over rows.

    Raises
    ------
    DataError
        For more than 2,000 objects.
    """

    target: Target
    model: ChoiceModel
    penalty: float = 0.0

    def __post_init__(self) -> None:
        n = self.target.values.shape[0]
        if n > MOST_OBJECTS:
            raise DataError(
                f"cells are missing in a table of {n:,} objects; such a table is summed pair by "
                f"pair, which is made for at most {MOST_OBJECTS:,}. Fill the cells, or leave "
                "objects out"
            )

    @property
    def fingerprint(self) -> str:
        """Identifies the data, what is missing in them too."""
        return self.target.fingerprint

    def with_background_share(self, share: float) -> ObservedObjective:
        """The same objective with a part of its model's background."""
        return replace(self, model=self.model.with_background_share(share))

    @cached_property
    def _dense(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """P, which pairs are judged, and the share of background of each row's pairs."""
        observed = self.target.observed
        assert observed is not None
        counts = observed.sum(axis=1, keepdims=True).astype(np.float64)
        if self.target.is_joint:
            counts = np.full_like(counts, counts.sum())
        return self.target.values.toarray(), observed, 1 / np.maximum(counts, 1)

    def shares(self, parameters: Parameters, log_normalizers: np.ndarray) -> tuple[np.ndarray, ...]:
        """How much of an object's choices each map holds, active or not, (n_maps, n)."""
        return self.evaluate(parameters, want_cost=False).shares

    def evaluate(
        self,
        parameters: Parameters,
        *,
        entries: tuple[Entries, ...] | None = None,
        exaggeration: float = 1.0,
        want_cost: bool = True,
    ) -> Evaluation:
        """Value and gradient, over all entries.

        The normalizers that it tells are those over all pairs, judged or not, by which a fitted
        atlas says how likely a missing pair is.
        """
        P, observed, even = self._dense
        positions = parameters.positions[0].astype(np.float64) / self.model.kernel_width
        log_pi = log_softmin(parameters.weights[0]).astype(np.float64)
        log_v = _log_similarities(positions, log_pi, self.model.kernel)
        judged = np.where(observed, log_v, -np.inf)
        log_z = self._log_normalizers(judged)
        log_choice = judged - np.where(np.isfinite(log_z), log_z, 0.0)
        chosen = np.exp(log_choice)
        Q = (1 - self.model.background) * chosen + self.model.background * even * observed
        # Of a pair that is too far for Q the ratio is that of v alone: the background is nothing.
        ratio = np.ones_like(Q)
        np.divide((1 - self.model.background) * chosen, Q, out=ratio, where=Q > 0)
        explained = P * ratio
        mass = explained.sum(axis=1, keepdims=True)
        if self.target.is_joint:
            mass = np.full_like(mass, mass.sum())
        slopes = mass * chosen - exaggeration * explained
        gradient, shares = self._gradient(positions, log_pi, log_v, slopes, explained)
        value = kl = np.nan
        if want_cost:
            kl = self.target.negative_entropy - self._log_likelihood(P, log_choice, Q)
            value = self.target.scale * kl
        penalty, pressure = size_penalty(parameters.positions[0], self.penalty)
        gradient.positions[0][...] += pressure
        whole = self._log_normalizers(log_v)
        return Evaluation(
            value + penalty,
            kl if self.target.is_joint else kl / self.target.n_rows_with_mass,
            gradient,
            (shares,),
            whole[:1, 0] if self.target.is_joint else whole[:, 0],
        )

    def _log_normalizers(self, log_v: np.ndarray) -> np.ndarray:
        """Log Z_i of each row, or log Z repeated, shape (n, 1)."""
        rows = np.logaddexp.reduce(log_v, axis=1, keepdims=True)
        return np.full_like(rows, np.logaddexp.reduce(rows[:, 0])) if self.target.is_joint else rows

    def _log_likelihood(self, P: np.ndarray, log_choice: np.ndarray, Q: np.ndarray) -> float:
        """sum_ij p_ij log q_ij."""
        related = P > 0
        if self.model.background > 0:
            return float(P[related] @ np.log(Q[related]))
        return float(P[related] @ log_choice[related])

    def _gradient(
        self,
        positions: np.ndarray,
        log_pi: np.ndarray,
        log_v: np.ndarray,
        slopes: np.ndarray,
        explained: np.ndarray,
    ) -> tuple[Parameters, np.ndarray]:
        """The gradient by dC / d log v_ij, and how much of an object's pairs each map explains."""
        both, explained = slopes + slopes.T, explained + explained.T
        pulls = np.empty(positions.shape)
        along_pi, shares = np.empty(log_pi.shape), np.empty(log_pi.shape, np.float32)
        for m, points in enumerate(positions):
            squares = _squares(points)
            logs = log_pi[m] + log_pi[m][:, None] + log_kernel(squares, self.model.kernel)
            part = np.exp(logs - log_v, where=np.isfinite(log_v), out=np.zeros_like(log_v))
            felt = both * part
            along_pi[m], shares[m] = felt.sum(axis=1), (explained * part).sum(axis=1)
            if self.model.kernel != "gaussian":
                felt /= 1 + squares
            # Without BLAS, whose sums depend on the number of threads.
            pulls[m] = np.einsum("ij,jd->id", felt, points) - felt.sum(axis=1)[:, None] * points
        pulls *= 2 * self.target.scale / self.model.kernel_width
        change = np.exp(log_pi) * along_pi.sum(axis=0) - along_pi
        change *= self.target.scale * (self.model.mixing == "learned")
        return Parameters((pulls.astype(np.float32),), (change.astype(np.float32),)), shares


def _squares(points: np.ndarray) -> np.ndarray:
    """Squared distances (n, n) by differences."""
    squares = np.zeros((len(points), len(points)))
    for axis in points.T:
        squares += (axis[:, None] - axis) ** 2
    return squares


def _log_similarities(positions: np.ndarray, log_pi: np.ndarray, kernel: str) -> np.ndarray:
    """Log v_ij, shape (n, n); -inf on the diagonal."""
    n = positions.shape[1]
    total = np.full((n, n), -np.inf)
    for points, own in zip(positions, log_pi, strict=True):
        np.logaddexp(total, own + own[:, None] + log_kernel(_squares(points), kernel), out=total)
    np.fill_diagonal(total, -np.inf)
    return total
