"""Divergence KL(P || Q) over the judged pairs of a table with missing cells.

Let O be the set of ordered pairs (i, j), i != j, with a known similarity, and O_i the set of such
pairs in row i. A pair outside O contains no information on whether two objects are related. The
choice is therefore restricted to the judged pairs, in P as in Q:

    conditional   q_ij = (1 - background) v_ij / Z_i + background / |O_i|,  Z_i = sum_{O_i} v_ij
    joint         q_ij = (1 - background) v_ij / Z   + background / |O|,    Z   = sum_O v_ij

    C = scale * sum_{ij in O} p_ij log(p_ij / q_ij)  +  (penalty / 2) sum_m sum_i |y_i^m|^2

This is the model of `manymaps.model.objective`, given that the chosen pair is judged. If no pair is
missing, the two objectives are equal. In a conditional model, factors b_j may multiply v_ij. P is
normalized over the same pairs (`manymaps.model.target`). Let r_ij = (1 - background) (v_ij / Z_i) /
q_ij and R_i = sum_j p_ij r_ij (their sum over all rows under a joint normalization), and let a be
the exaggeration. Then

    w_ij = R_i v_ij / Z_i - a p_ij r_ij                     = dC / d log v_ij,  0 outside O
    dC / d log pi_i^m = sum_j (w_ij + w_ji) s_ij^m / v_ij
    dC / d y_i^m      = 2 sum_j (w_ij + w_ji) (s_ij^m / v_ij) (d log K / d d2) (y_i^m - y_j^m)

with s_ij^m the part of map m in v_ij. A normalizer that lacks some pairs is not a field of charges,
and subtracting these pairs from a complete normalizer would cause cancellation. All sums are
therefore dense sums over all pairs in float64, for tables of up to 2,000 objects. Active entries
would not save time here, so all entries are active.

Arrays: (n, n) for pairs, (n_maps, n, n_components) for positions.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from manymaps.errors import DataError
from manymaps.model.choice import ChoiceModel, StoredKernel
from manymaps.model.entries import Entries
from manymaps.model.objective import Evaluation, Objective
from manymaps.model.parameters import Parameters, log_softmin
from manymaps.model.penalty import size_penalty
from manymaps.model.similarities import log_kernel
from manymaps.model.target import Target

# All pairs are summed densely. In 10 maps, an evaluation takes 47 ms for 300 objects and 44 times
# as long for 2,000 objects.
MOST_OBJECTS = 2_000


def objective_of(
    target: Target,
    model: ChoiceModel,
    penalty: float = 0.0,
    tolerance: float = 5e-3,
    column_factors: np.ndarray | None = None,
) -> Objective | ObservedObjective:
    """Return the objective of a target, over judged pairs only if some pairs are missing.

    The factors are in the original order of the objects.
    """
    if column_factors is not None and target.order is not None:
        column_factors = column_factors[target.order]
    if target.observed is None:
        return Objective(target, model, penalty, tolerance, column_factors=column_factors)
    return ObservedObjective(target, model, penalty, column_factors)


@dataclass(frozen=True)
class ObservedObjective:
    """Divergence KL(P || Q) for a target with missing pairs.

    Parameters
    ----------
    target : Target
        Target of one set of objects. It must define `observed`.
    model : ChoiceModel
        Model of Q.
    penalty : float, default=0.0
        Strength of the size penalty, on the scale of the cost summed over rows.
    column_factors : ndarray of shape (n,), optional
        Fixed positive factors b_j of a conditional model. The default is 1.

    Raises
    ------
    DataError
        If there are more than 2,000 objects.
    """

    target: Target
    model: ChoiceModel
    penalty: float = 0.0
    column_factors: np.ndarray | None = None

    def __post_init__(self) -> None:
        n = self.target.values.shape[0]
        if n > MOST_OBJECTS:
            raise DataError(
                f"cells are missing in a table of {n:,} objects, but tables with missing cells may "
                f"have at most {MOST_OBJECTS:,} objects; fill in the cells or omit objects"
            )

    @property
    def masses(self) -> tuple[np.ndarray, ...]:
        """Mass of each object, on the scale of the cost, with one array (n,) for each set."""
        return self.target.masses

    def with_background_share(self, share: float) -> ObservedObjective:
        """Return the objective with the background of the model multiplied by a factor."""
        return replace(self, model=self.model.with_background_share(share))

    @cached_property
    def _dense(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """P, a mask of judged pairs, and the background per pair for each row."""
        observed = self.target.observed
        assert observed is not None
        counts = observed.sum(axis=1, keepdims=True).astype(np.float64)
        if self.target.is_joint:
            counts = np.full_like(counts, counts.sum())
        return self.target.values.toarray(), observed, 1 / np.maximum(counts, 1)

    def shares(self, parameters: Parameters, log_normalizers: np.ndarray) -> tuple[np.ndarray, ...]:
        """Compute the explained share of each object's choices in all maps, (n_maps, n)."""
        return self.evaluate(parameters, want_cost=False).shares

    def evaluate(
        self,
        parameters: Parameters,
        *,
        entries: tuple[Entries, ...] | None = None,
        exaggeration: float = 1.0,
        want_cost: bool = True,
    ) -> Evaluation:
        """Compute cost and gradient over all entries.

        The returned normalizers include all pairs, whether judged or not, so that a fitted atlas
        predicts the probabilities of missing pairs.
        """
        P, observed, even = self._dense
        positions = parameters.positions[0].astype(np.float64) / self.model.kernel_width
        log_pi = log_softmin(parameters.weights[0]).astype(np.float64)
        log_v = _log_similarities(positions, log_pi, self.model.kernel)
        log_b = 0.0 if self.column_factors is None else np.log(self.column_factors)
        judged = np.where(observed, log_v + log_b, -np.inf)
        log_z = self._log_normalizers(judged)
        log_choice = judged - np.where(np.isfinite(log_z), log_z, 0.0)
        chosen = np.exp(log_choice)
        Q = (1 - self.model.background) * chosen + self.model.background * even * observed
        # If Q underflows for a pair, the ratio is that of v, because the background is 0.
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
        whole = self._log_normalizers(log_v + log_b)
        return Evaluation(
            value + penalty,
            kl if self.target.is_joint else kl / self.target.n_rows_with_mass,
            gradient,
            (shares,),
            whole[:1, 0] if self.target.is_joint else whole[:, 0],
        )

    def _log_normalizers(self, log_v: np.ndarray) -> np.ndarray:
        """Return log Z_i of each row, or log Z repeated, shape (n, 1)."""
        rows = np.logaddexp.reduce(log_v, axis=1, keepdims=True)
        return np.full_like(rows, np.logaddexp.reduce(rows[:, 0])) if self.target.is_joint else rows

    def _log_likelihood(self, P: np.ndarray, log_choice: np.ndarray, Q: np.ndarray) -> float:
        """Compute sum_ij p_ij log q_ij."""
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
        """Compute the gradient from dC / d log v_ij, and each object's explained share per map."""
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
            # einsum does not use BLAS, whose sums depend on the number of threads.
            pulls[m] = np.einsum("ij,jd->id", felt, points) - felt.sum(axis=1)[:, None] * points
        pulls *= 2 * self.target.scale / self.model.kernel_width
        change = np.exp(log_pi) * along_pi.sum(axis=0) - along_pi
        change *= self.target.scale * (self.model.mixing == "learned")
        return Parameters((pulls.astype(np.float32),), (change.astype(np.float32),)), shares


def _squares(points: np.ndarray) -> np.ndarray:
    """Return squared distances (n, n), computed from differences."""
    squares = np.zeros((len(points), len(points)))
    for axis in points.T:
        squares += (axis[:, None] - axis) ** 2
    return squares


def _log_similarities(
    positions: np.ndarray, log_pi: np.ndarray, kernel: StoredKernel
) -> np.ndarray:
    """Return log v_ij, shape (n, n), with -inf on the diagonal."""
    n = positions.shape[1]
    total = np.full((n, n), -np.inf)
    for points, own in zip(positions, log_pi, strict=True):
        np.logaddexp(total, own + own[:, None] + log_kernel(_squares(points), kernel), out=total)
    np.fill_diagonal(total, -np.inf)
    return total
