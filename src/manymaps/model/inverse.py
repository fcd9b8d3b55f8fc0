"""Inverse divergence KL(Q || P~), for maps that each cover a single topic.

    C = scale * sum_ij q_ij log(q_ij / p~_ij) + (penalty / 2) sum_m sum_i |y_i^m|^2
    p~_ij = (1 - s) p_ij + s / (number of pairs in the normalization)

Here, s is the smoothing. Without it, a pair that is missing from the data would have an infinite
cost. The discussion of van der Maaten & Hinton (2009) proposes this divergence for maps of a single
topic. With KL(P || Q), the cost of a model increases for a related pair that it separates. With
KL(Q || P~), the cost increases for an unrelated pair whose members are close together. (For one
map, Venna, Peltonen, Nybo, Aidos & Kaski 2010 relate the two divergences to recall and precision.)

Rows of a conditional P are normalized to a sum of one before they are smoothed. A row without mass
contains no information and has no cost. `scale` and the treatment of active entries are the same as
in `manymaps.model.objective`: a pair is included in the maps in which both of its objects are
active. The sums include every pair of objects, n^2 pairs for each map in which an object is active
(`manymaps.compute.inverse`). The sums are exact, so no tolerance applies.

The exaggeration a multiplies only the attraction, so the minimized sum is q log q - a q log p~.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from manymaps.compute.inverse import divergence_slopes, row_sums
from manymaps.compute.similarity import KernelCode, charges_of, kernel_code
from manymaps.compute.threads import alone_if, share_out
from manymaps.constraints import Number, check_parameter
from manymaps.errors import ParameterError, setting
from manymaps.model.choice import ChoiceModel, Kernel
from manymaps.model.objective import Entries, Evaluation, Objective
from manymaps.model.parameters import Parameters, log_softmin
from manymaps.model.penalty import size_penalty
from manymaps.model.target import Pairs, Target

# This number of pairs takes about 0.1 ms, which is as long as the start of threads.
_FEW_SIMILARITIES = 50_000
# Times in seconds on one core of the development machine. They are used for a warning before a fit
# that takes hours.
_PER_SIMILARITY: dict[Kernel, float] = {"gaussian": 2.2e-9, "cauchy": 1.8e-9}
_PER_STUDENT_SIMILARITY = 4e-9

_WITHOUT_ANY = ", because a pair without data would otherwise have an infinite cost"
#: Allowed values of the smoothing.
SMOOTHING = (Number(above=0, below=1, why=_WITHOUT_ANY),)


def predicted_seconds(n: int, n_maps: int, kernel: Kernel) -> float:
    """Predict the time of one evaluation of all entries on one current core, in seconds.

    >>> round(predicted_seconds(1000, 10, "cauchy"), 3)
    0.018
    """
    return n * n * n_maps * _PER_SIMILARITY.get(kernel, _PER_STUDENT_SIMILARITY)


@dataclass(frozen=True)
class InverseObjective:
    """Inverse divergence for the target and the model of an `Objective` (a `Cost`).

    Parameters
    ----------
    forward : Objective
        Objective KL(P || Q) for the same target and model, with the size penalty. It must have one
        set of objects, no factors and no background.
    smoothing : float in (0, 1), default=0.01
        Proportion of P~ that is distributed evenly over all pairs.

    Raises
    ------
    ParameterError
        If the smoothing is out of range, or if the objective is not supported.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> from manymaps.model import MULTIPLE_MAPS_T_SNE
    >>> from manymaps.model.target import conditional_target
    >>> target = conditional_target(sparse.csr_array(np.ones((3, 3))))
    >>> objective = InverseObjective(Objective(target, MULTIPLE_MAPS_T_SNE), smoothing=0.1)
    >>> together = Parameters((np.zeros((1, 3, 2)),), (np.zeros((1, 3)),))
    >>> round(objective.evaluate(together).kl, 6)
    0.0
    """

    forward: Objective
    smoothing: float = 0.01

    def __post_init__(self) -> None:
        check_parameter("smoothing", self.smoothing, SMOOTHING)
        for is_unsupported, feature in (
            (not self.target.one_set, "separate rows and columns"),
            (self.model.background > 0, f"{setting('background', self.model.background)}"),
            (
                self.forward.row_factors is not None or self.forward.column_factors is not None,
                "factors",
            ),
        ):
            if is_unsupported:
                raise ParameterError(
                    f"the inverse divergence does not support {feature}; use the forward one"
                )

    @property
    def target(self) -> Target:
        """The target P before smoothing."""
        return self.forward.target

    @property
    def model(self) -> ChoiceModel:
        """The model of Q."""
        return self.forward.model

    @property
    def masses(self) -> tuple[np.ndarray, ...]:
        """Mass of each object, on the scale of the cost, with one array (n,) for each set."""
        return self.target.masses

    @property
    def fingerprint(self) -> str:
        """A hash of the data."""
        return self.forward.fingerprint

    def with_background_share(self, share: float) -> InverseObjective:
        """Return the same objective, because there is no background."""
        return self

    @cached_property
    def _smooth(self) -> tuple[Pairs, np.ndarray, np.ndarray, np.float32]:
        """Stored pairs, their log p~_ij and log p~_ji, and log p~ of all other pairs."""
        (pairs,) = self.target.sides
        even = self.smoothing / self.target.n_choices
        forward, backward = pairs.forward.astype(np.float64), pairs.backward.astype(np.float64)
        if not self.target.is_joint:
            mass = np.where(self.target.row_mass > 0, self.target.row_mass, 1.0)
            forward /= np.repeat(mass, np.diff(pairs.indptr))
            backward /= mass[pairs.indices]
        logs = (np.log((1 - self.smoothing) * p + even) for p in (forward, backward))
        log_forward, log_backward = (part.astype(np.float32) for part in logs)
        return pairs, log_forward, log_backward, np.float32(np.log(even))

    @cached_property
    def _counts(self) -> np.ndarray:
        """Array that is 1 for rows with a cost and 0 for other rows."""
        if self.target.is_joint:
            return np.ones(self.target.values.shape[0])
        return (self.target.row_mass > 0).astype(np.float64)

    @property
    def penalty(self) -> float:
        """Strength of the size penalty."""
        return self.forward.penalty

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
        """Compute cost and gradient over all entries or the given active entries.

        `kl` is KL(Q || P~), and `shares` contains the explained share of each object's choices per
        map.
        """
        positions, weights = parameters.positions[0], parameters.weights[0]
        n_maps, n, d = positions.shape
        active = entries[0] if entries is not None and n_maps > 1 else Entries.everywhere(n_maps, n)
        log_pi = log_softmin(weights).astype(np.float32)
        maps = self._maps(positions, log_pi, active)
        pairs, log_forward, log_backward, log_rest = self._smooth
        stored = pairs.indptr, pairs.indices
        log_z, mean_log_v, mean_log_p = np.empty(n), np.empty(n), np.empty(n)
        slope, share = np.zeros((n_maps, n)), np.zeros((n_maps, n), np.float32)
        pull = np.zeros((n_maps, n, d), np.float32)
        with alone_if(n * n * n_maps < _FEW_SIMILARITIES):
            share_out(
                row_sums, n, *maps, *stored, log_forward, log_rest, log_z, mean_log_v, mean_log_p
            )
            row_weights = self._counts
            if self.target.is_joint:
                log_z, mean_log_v, mean_log_p, row_weights = _pooled(log_z, mean_log_v, mean_log_p)
            divergence = float(row_weights @ (mean_log_v - log_z - mean_log_p))
            share_out(
                divergence_slopes, n, *maps, *stored, log_forward, log_backward, log_rest,
                self._counts, log_z, mean_log_v - exaggeration * mean_log_p, exaggeration,
                slope, pull, share,
            )  # fmt: skip
        gradient = self._gradient(slope, pull, log_pi, active.mask)
        penalty, pressure = size_penalty(positions, self.forward.penalty)
        gradient.positions[0][...] += pressure
        value = self.target.scale * divergence + penalty
        return Evaluation(
            value if want_cost else np.nan,
            divergence if self.target.is_joint else divergence / self.target.n_rows_with_mass,
            gradient,
            (share,),
            log_z[:1] if self.target.is_joint else log_z,
        )

    def _maps(
        self, positions: np.ndarray, log_pi: np.ndarray, active: Entries
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray, KernelCode]:
        """Return points, charges, log proportions, maps of each object and the kernel's code."""
        kind = kernel_code(self.model.kernel)
        scaled = positions / np.float32(self.model.kernel_width)
        points = np.ascontiguousarray(scaled.transpose(0, 2, 1), np.float32)
        charges = charges_of(np.where(active.mask, log_pi, np.float32(-np.inf)), kind)
        indptr, maps, _ = active.by_object
        return points, charges, log_pi, indptr, maps, kind

    def _gradient(
        self, slope: np.ndarray, pull: np.ndarray, log_pi: np.ndarray, mask: np.ndarray
    ) -> Parameters:
        """Convert derivatives by log pi, and pulls, to derivatives by weights and positions."""
        factor = self.target.scale
        pull *= np.float32(factor / self.model.kernel_width)
        weights = np.zeros_like(log_pi)
        if self.model.mixing == "learned":
            change = np.exp(log_pi.astype(np.float64)) * slope.sum(axis=0) - slope
            weights = np.where(mask, factor * change, 0).astype(np.float32)
        return Parameters((pull,), (weights,))


def _pooled(
    log_z: np.ndarray, mean_log_v: np.ndarray, mean_log_p: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Replace sums over rows by one sum over all pairs, repeated for every row.

    The function also returns the weight of each row.
    """
    peak = log_z.max()
    masses = np.exp(log_z - peak)
    total = masses.sum()
    masses /= total
    n = len(log_z)
    whole = (peak + np.log(total), masses @ mean_log_v, masses @ mean_log_p)
    pooled_z, pooled_v, pooled_p = (np.full(n, value) for value in whole)
    return pooled_z, pooled_v, pooled_p, np.full(n, 1 / n)
