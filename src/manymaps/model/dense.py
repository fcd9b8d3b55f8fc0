"""The model in dense float64 arrays: the formulas as they are printed, for up to 2,000 objects.

Read this module first. `manymaps.model.objective` computes the same cost and gradient from fields
and from the stored pairs of P; tests compare the two.

    pi_i^m = exp(-w_i^m) / sum_m' exp(-w_i^m')                                      `log_softmin`
    v_ij   = b_j sum_m v_ij^m,    v_ij^m = pi_i^m pi_j^m K(|y_i^m - y_j^m|^2)       `log_v`
    q_ij   = (1 - lambda) v_ij / Z_i + lambda / |O_i|,    Z_i = sum_{j in O_i} v_ij   `log_q`
    C      = scale KL(P || Q) + (penalty / 2) sum_m sum_i |y_i^m|^2                  `cost`

O is the set of the pairs that can be chosen, and O_i its pairs in row i: all pairs of different
objects or, in a table with missing cells, the judged pairs. (An unjudged pair contains no
information on whether two objects are related.) Under a joint normalization, Z and |O| are sums
over all rows. The mixing weights w have a negative sign: a larger weight is a smaller proportion.

Let r_ij be the part of q_ij without the background, divided by q_ij, a the exaggeration, and R_i =
sum_j p_ij r_ij (summed over all rows under a joint normalization). Then

    c_ij             = R_i v_ij / Z_i - a p_ij r_ij          = dC / d log v_ij
    dC / d log pi_i^m = sum_j (c_ij + c_ji) v_ij^m / v_ij
    dC / d y_i^m      = 2 sum_j (c_ij + c_ji) (v_ij^m / v_ij) (d log K / d d2) (y_i^m - y_j^m)

A fit of a table with missing cells uses this module, because a normalizer that lacks some pairs is
not a field of charges, and subtracting these pairs would cause cancellation.

Shapes: (n, n) for pairs, (n_maps, n, n_components) for positions y, (n_maps, n) for weights w.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from manymaps.compute.similarity import kernel_code
from manymaps.errors import DataError
from manymaps.model.choice import ChoiceModel, StoredKernel
from manymaps.model.objective import Evaluation, Objective
from manymaps.model.parameters import Entries, Parameters, log_softmin, size_penalty
from manymaps.model.similarities import log_kernel
from manymaps.model.target import Target

# In 10 maps, an evaluation takes 47 ms for 300 objects and 44 times as long for 2,000 objects.
MOST_OBJECTS = 2_000

Side = tuple[np.ndarray, np.ndarray]


def squared_distances(rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Compute |y_i - z_j|^2, shape (n, k), from differences."""
    squares = np.zeros((len(rows), len(columns)))
    for y, z in zip(rows.T, columns.T, strict=True):
        squares += (y[:, None] - z) ** 2
    return squares


def log_v(
    kernel: StoredKernel,
    rows: Side,
    columns: Side,
    width: float = 1.0,
    log_b: np.ndarray | float = 0.0,
) -> np.ndarray:
    """Compute log v_ij of positions and weights of rows and columns, shape (n, k).

    >>> line = np.array([[[0.0], [1.0]]]), np.zeros((1, 2))
    >>> np.exp(log_v("cauchy", line, line)).tolist()
    [[1.0, 0.5], [0.5, 1.0]]
    """
    (y, w), (z, u) = rows, columns
    logs = np.full((y.shape[1], z.shape[1]), -np.inf)
    parts = zip(y / width, log_softmin(w), z / width, log_softmin(u), strict=True)
    for points, log_pi, others, log_rho in parts:
        log_k = log_kernel(squared_distances(points, others), kernel)
        np.logaddexp(logs, log_pi[:, None] + log_rho + log_k, out=logs)
    return logs + log_b


def log_z(logs: np.ndarray, is_joint: bool) -> np.ndarray:
    """Compute log Z_i of each row, or log Z repeated, shape (n, 1); -inf for a row without pairs.

    `logs` is log v_ij, and -inf for pairs that cannot be chosen.
    """
    rows = np.logaddexp.reduce(logs, axis=1, keepdims=True)
    return np.full_like(rows, np.logaddexp.reduce(rows[:, 0])) if is_joint else rows


def log_q(logs: np.ndarray, is_joint: bool, background: float = 0.0) -> np.ndarray:
    """Compute log q_ij; `logs` is log v_ij, and -inf for pairs that cannot be chosen.

    >>> np.exp(log_q(np.log([[1.0, 3.0]]), is_joint=False)).round(9).tolist()
    [[0.25, 0.75]]
    """
    normalizers = log_z(logs, is_joint)
    choices = logs - np.where(np.isfinite(normalizers), normalizers, 0.0)
    if background:
        counts = np.isfinite(logs).sum(axis=None if is_joint else 1, keepdims=True)
        even = np.log(background / np.maximum(counts, 1))
        mixed = np.logaddexp(np.log1p(-background) + choices, even)
        choices = np.where(np.isfinite(logs), mixed, -np.inf)
    return choices


def divergence(p: np.ndarray, log_q: np.ndarray) -> float:
    """Compute sum_ij p_ij log(p_ij / q_ij) over the pairs with p_ij > 0."""
    related = p > 0
    return float((p[related] * (np.log(p[related]) - log_q[related])).sum())


def cost(
    p: np.ndarray,
    model: ChoiceModel,
    sides: Sequence[Side],
    penalty: float = 0.0,
    log_b: np.ndarray | float = 0.0,
    possible: np.ndarray | None = None,
) -> float:
    """Compute C for one side (positions and weights) or for two; `possible` marks the pairs O."""
    logs = log_v(model.kernel, sides[0], sides[-1], model.kernel_width, log_b)
    if possible is None:
        possible = ~np.eye(len(logs), dtype=bool) if len(sides) == 1 else np.ones_like(logs, bool)
    is_joint = model.normalization == "joint"
    choices = log_q(np.where(possible, logs, -np.inf), is_joint, model.background)
    scale = (p.sum(axis=1) > 0).sum() if is_joint else 1
    return scale * divergence(p, choices) + sum(size_penalty(y, penalty)[0] for y, _ in sides)


def objective_of(
    target: Target,
    model: ChoiceModel,
    penalty: float = 0.0,
    tolerance: float = 5e-3,
    column_factors: np.ndarray | None = None,
) -> Objective | DenseObjective:
    """Return the objective of a target, over judged pairs only if some pairs are missing.

    The factors are in the original order of the objects.
    """
    if column_factors is not None and target.order is not None:
        column_factors = column_factors[target.order]
    if target.observed is None:
        return Objective(target, model, penalty, tolerance, column_factors=column_factors)
    return DenseObjective(target, model, penalty, column_factors)


@dataclass(frozen=True)
class DenseObjective:
    """Divergence KL(P || Q) of one set of objects, with a gradient over all entries.

    Parameters
    ----------
    target : Target
        Target of one set of objects. Pairs outside `observed` cannot be chosen.
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
    ParameterError
        If the kernel can only be read from a file.
    """

    target: Target
    model: ChoiceModel
    penalty: float = 0.0
    column_factors: np.ndarray | None = None

    def __post_init__(self) -> None:
        kernel_code(self.model.kernel)  # raises an error for a kernel without a gradient
        n = self.target.values.shape[0]
        if n > MOST_OBJECTS:
            raise DataError(
                f"cells are missing in a table of {n:,} objects, but tables with missing cells may "
                f"have at most {MOST_OBJECTS:,} objects; fill in the cells or omit objects"
            )

    @cached_property
    def _pairs(self) -> tuple[np.ndarray, np.ndarray]:
        """P, and a mask of the pairs that can be chosen."""
        different = ~np.eye(self.target.values.shape[0], dtype=bool)
        observed = self.target.observed
        return self.target.values.toarray(), different if observed is None else observed

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
        p, possible = self._pairs
        target, model, background = self.target, self.model, self.model.background
        y = parameters.positions[0].astype(np.float64)
        w = parameters.weights[0].astype(np.float64)
        log_b = 0.0 if self.column_factors is None else np.log(self.column_factors)
        # Similarities v_ij and log_full q_ij.
        similarities = log_v(model.kernel, (y, w), (y, w), model.kernel_width, log_b)
        np.fill_diagonal(similarities, -np.inf)
        logs = np.where(possible, similarities, -np.inf)
        log_part = log_q(logs, target.is_joint)
        log_full = log_q(logs, target.is_joint, background)
        # The slopes c_ij = dC / d log v_ij.
        related, explained = p > 0, p.copy()
        explained[related] *= np.exp(np.log1p(-background) + log_part[related] - log_full[related])
        mass = explained.sum(axis=None if target.is_joint else 1, keepdims=True)
        slopes = mass * np.exp(log_part) - exaggeration * explained
        gradient, shares = self._gradient(y, w, similarities - log_b, slopes, explained)
        penalty, slope = size_penalty(parameters.positions[0], self.penalty)
        gradient.positions[0][...] += slope
        kl = divergence(p, log_full) if want_cost else np.nan
        normalizers = log_z(similarities, target.is_joint)[:, 0]
        return Evaluation(
            target.scale * kl + penalty,
            kl if target.is_joint else kl / target.n_rows_with_mass,
            gradient,
            (shares,),
            normalizers[:1] if target.is_joint else normalizers,
        )

    def _gradient(
        self,
        y: np.ndarray,
        w: np.ndarray,
        log_sum: np.ndarray,
        slopes: np.ndarray,
        explained: np.ndarray,
    ) -> tuple[Parameters, np.ndarray]:
        """Compute the gradient from c_ij, and each object's explained share per map."""
        width, scale, log_pi = self.model.kernel_width, self.target.scale, log_softmin(w)
        both, explained = slopes + slopes.T, explained + explained.T
        d_positions, d_log_pi = np.empty(y.shape), np.empty(w.shape)
        shares = np.empty(w.shape, np.float32)
        for m, points in enumerate(y / width):
            squares = squared_distances(points, points)
            logs = log_pi[m] + log_pi[m][:, None] + log_kernel(squares, self.model.kernel)
            # Factors b_j are the same in all maps, so that they cancel in the part of a map.
            part = np.exp(logs - log_sum, where=np.isfinite(log_sum), out=np.zeros_like(logs))
            forces = both * part
            d_log_pi[m], shares[m] = forces.sum(axis=1), (explained * part).sum(axis=1)
            if self.model.kernel != "gaussian":
                forces /= 1 + squares
            # einsum does not use BLAS, whose sums depend on the number of threads.
            pulls = np.einsum("ij,jd->id", forces, points)
            d_positions[m] = 2 * scale / width * (pulls - forces.sum(axis=1)[:, None] * points)
        d_weights = scale * (np.exp(log_pi) * d_log_pi.sum(axis=0) - d_log_pi)
        d_weights *= self.model.mixing == "learned"
        arrays = [array.astype(np.float32) for array in (d_positions, d_weights)]
        return Parameters((arrays[0],), (arrays[1],)), shares
