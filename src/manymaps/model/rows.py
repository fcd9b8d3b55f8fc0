"""Descent by a few rows at a time: for conditional models in many dimensions.

A conditional cost is a sum over rows, each with a normalizer of its own. So the gradient of some
rows costs their share of that of all, and a pass over all rows makes many steps instead of one:
stochastic gradients (Robbins & Monro 1951) with Adam's step lengths (Kingma & Ba 2015).

    C = sum_i KL(P_i || Q_i) + penalty / 2 sum |y|^2 + weight_penalty / 2 sum w^2
                             + bias_penalty / 2 sum beta^2
    q(j|i) ~ exp(beta_j) sum_m pi_i^m pi_j^m K(|y_i^m - y_j^m|^2)

beta_j, how readily j is recalled by anything, is learned where `bias_penalty` is a number and 0
where it is None.

Shapes: positions (n_maps, n, n_components), weights w (n_maps, n), biases (n,), all float32.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse

from manymaps.errors import ParameterError
from manymaps.model.choice import Kernel
from manymaps.model.parameters import Parameters, log_softmin

_ROWS_AT_ONCE = 256
_NUMBERS_AT_ONCE = 1 << 25

__all__ = ["ChoiceMaps", "RowCost", "RowDescent"]


@dataclass(frozen=True, eq=False)
class ChoiceMaps:
    """Maps, mixing weights and biases, and the kernel that reads them."""

    positions: np.ndarray
    weights: np.ndarray
    biases: np.ndarray
    kernel: Kernel = "gaussian"

    @property
    def arrays(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Positions, weights, biases."""
        return self.positions, self.weights, self.biases

    def copy(self) -> ChoiceMaps:
        """A copy that shares nothing."""
        y, w, beta = self.arrays
        return ChoiceMaps(y.copy(), w.copy(), beta.copy(), self.kernel)

    def parameters(self, with_biases: bool = False) -> Parameters:
        """What optimizers take; biases go as places on a line, of a second set of objects."""
        if not with_biases:
            return Parameters((self.positions,), (self.weights,))
        line = self.biases.reshape(1, -1, 1)
        return Parameters((self.positions, line), (self.weights, np.zeros_like(line[..., 0])))

    def at(self, parameters: Parameters) -> ChoiceMaps:
        """The maps of other parameters, with the same biases where those have none."""
        line = parameters.positions[-1]
        with_biases = len(parameters.positions) > 1
        return ChoiceMaps(
            parameters.positions[0],
            parameters.weights[0],
            line.reshape(-1) if with_biases else self.biases,
            self.kernel,
        )

    def _terms(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """|y|^2, log pi and the charges of the chosen, each (n_maps, n) float32."""
        log_pi = log_softmin(self.weights)
        norms = np.einsum("mnd,mnd->mn", self.positions, self.positions)
        return norms, log_pi.astype(np.float32), (log_pi + self.biases).astype(np.float32)

    def gradient(
        self, rows: np.ndarray, p: sparse.csr_array, exaggeration: float = 1.0
    ) -> tuple[float, tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """- sum p log q of rows (rising), and its slopes by positions, weights and biases.

        Exaggeration multiplies the attraction alone, and not the cost.
        """
        from manymaps.compute.jit import one_blas_thread
        from manymaps.compute.rows import feel_rows, weigh_rows
        from manymaps.compute.similarity import GAUSSIAN, KERNEL_CODES

        n_maps, n, d = self.positions.shape
        kind, k = KERNEL_CODES[self.kernel], len(rows)
        norms, log_pi, charges = self._terms()
        weights = np.empty((n_maps, k, n), np.float32)
        slopes = weights if kind == GAUSSIAN else np.empty_like(weights)
        factors, cost = np.empty(k), np.empty(k)
        force, share = np.empty((n_maps, k, d), np.float32), np.empty((n_maps, k), np.float32)
        forces, shares = np.empty_like(self.positions), np.empty((n_maps, n), np.float32)
        with one_blas_thread():
            weigh_rows(
                rows, p.indptr, p.indices, p.data, self.positions, norms, log_pi, charges, kind,
                exaggeration, weights, slopes, factors, force, share, cost,
            )  # fmt: skip
            feel_rows(rows, self.positions, weights, slopes, factors, kind, forces, shares)
        biases = shares.sum(axis=0)
        forces[:, rows] += force
        shares[:, rows] += share
        d_weights = np.exp(log_pi) * shares.sum(axis=0) - shares
        return float(cost.sum()), (forces, d_weights, biases)

    def log_normalizers(self, rows: np.ndarray) -> np.ndarray:
        """log Z_i of rows."""
        from manymaps.compute.jit import one_blas_thread
        from manymaps.compute.rows import normalize_rows
        from manymaps.compute.similarity import KERNEL_CODES

        log_z = np.empty(len(rows))
        with one_blas_thread():
            normalize_rows(rows, self.positions, *self._terms(), KERNEL_CODES[self.kernel], log_z)
        return log_z

    def log_probabilities(self, part: sparse.csr_array) -> np.ndarray:
        """log q(j|i) of the stored pairs of a part, in row-major order."""
        from manymaps.compute.rows import pair_logits
        from manymaps.compute.similarity import KERNEL_CODES

        sizes = np.diff(part.indptr)
        rows = np.flatnonzero(sizes)
        log_z = np.zeros(len(sizes))
        log_z[rows] = self.log_normalizers(rows)
        cues = np.repeat(np.arange(len(sizes)), sizes)
        _, log_pi, charges = self._terms()
        logits = np.empty(part.nnz)
        pair_logits(
            cues, part.indices, self.positions, log_pi, charges,
            KERNEL_CODES[self.kernel], logits,
        )  # fmt: skip
        return logits - log_z[cues]

    def probabilities(self, rows: np.ndarray) -> np.ndarray:
        """q(j|i), shape (len(rows), n) float64."""
        log_pi = log_softmin(self.weights)
        charges = log_pi + self.biases
        logits = np.full((len(rows), self.positions.shape[1]), -np.inf)
        for m, y in enumerate(self.positions.astype(np.float64)):
            norms = np.einsum("nd,nd->n", y, y)
            distances = norms - 2 * (y[rows] @ y.T) + norms[rows, None]
            distances = np.maximum(distances, 0, out=distances)
            decay = distances if self.kernel == "gaussian" else np.log1p(distances)
            logit = charges[m] + log_pi[m, rows, None] - decay
            logits = np.logaddexp(logits, logit, out=logits) if m else logit
        logits[np.arange(len(rows)), rows] = -np.inf
        logits -= logits.max(axis=1, keepdims=True)
        q = np.exp(logits, out=logits)
        q /= q.sum(axis=1, keepdims=True)
        return q


@dataclass(frozen=True)
class RowCost:
    """The cost of rows: the target and the penalties."""

    p: sparse.csr_array
    penalty: float = 0.0
    weight_penalty: float = 0.0
    bias_penalty: float | None = None

    def gradient(
        self, maps: ChoiceMaps, rows: np.ndarray, share: float, exaggeration: float = 1.0
    ) -> tuple[float, tuple[np.ndarray, ...]]:
        """- sum p log q of rows, and their slopes with this share of the penalties."""
        cost, slopes = maps.gradient(rows, self.p, exaggeration)
        for slope, strength, values in zip(slopes, self.strengths, maps.arrays, strict=True):
            if strength:
                slope += np.float32(share * strength) * values
        return cost, slopes[: 2 if self.bias_penalty is None else 3]

    @property
    def strengths(self) -> tuple[float, float, float]:
        """The penalties of positions, weights and biases."""
        return self.penalty, self.weight_penalty, self.bias_penalty or 0.0

    def whole(
        self, maps: ChoiceMaps, exaggeration: float = 1.0
    ) -> tuple[float, tuple[np.ndarray, ...]]:
        """- sum p log q of all rows, without penalties, and the gradient with them.

        Exaggeration multiplies the attraction alone.
        """
        rows = np.flatnonzero(np.diff(self.p.indptr) > 0)
        total, sums = 0.0, [np.zeros_like(array) for array in maps.arrays]
        for start in range(0, len(rows), _ROWS_AT_ONCE):
            part = rows[start : start + _ROWS_AT_ONCE]
            cost, slopes = self.gradient(maps, part, len(part) / len(rows), exaggeration)
            total += cost
            for whole, slope in zip(sums, slopes, strict=False):
                whole += slope
        return total, tuple(sums)

    def penalties(self, maps: ChoiceMaps) -> float:
        """The penalties' part of the cost."""
        return sum(
            strength / 2 * float(np.einsum("i,i->", x.ravel(), x.ravel(), dtype=np.float64))
            for strength, x in zip(self.strengths, maps.arrays, strict=True)
        )


@dataclass(frozen=True)
class RowDescent:
    """Adam over a few rows at a time.

    Parameters
    ----------
    learning_rate : float > 0
        Adam's: about how far a parameter moves in a step.
    steps_per_pass : int >= 1
        Steps in a pass over all rows. More are made where the rows of one would take much memory.
    weight_rate : float > 0
        How many times faster mixing weights and biases learn than positions.
    decay : float in (0, 1]
        What the rate is multiplied by after each pass.
    first_share : float in (0, 1) or None
        The proportion of all objects in the first map at the start; the others share the rest. From
        equal proportions (None) and random positions each object falls early, and by chance, to one
        of the maps; it then cannot be associated with those that fell to another. From a common map
        it leaves only for a better place.
    dropout : float in [0, 1)
        The share of stored pairs that a pass leaves out, by lot; the others weigh as much more.
    keep_mean, keep_square : float in [0, 1)
        Adam's memory of gradients and of their squares.

    Raises
    ------
    ParameterError
        For a value outside these ranges.
    """

    learning_rate: float = 0.002
    steps_per_pass: int = 20
    weight_rate: float = 1.0
    decay: float = 0.97
    first_share: float | None = None
    dropout: float = 0.0
    keep_mean: float = 0.9
    keep_square: float = 0.99

    def __post_init__(self) -> None:
        for name in ("learning_rate", "weight_rate"):
            value = getattr(self, name)
            if not (isinstance(value, int | float | np.number) and 0 < value < float("inf")):
                raise ParameterError(f"{name}={value!r} must be positive and finite")
        steps = self.steps_per_pass
        if isinstance(steps, bool) or not isinstance(steps, int | np.integer) or steps < 1:
            raise ParameterError(f"steps_per_pass={steps!r} must be a whole number of at least 1")
        if not 0 < self.decay <= 1:
            raise ParameterError(f"decay={self.decay!r} must be above 0 and at most 1")
        if self.first_share is not None and not 0 < self.first_share < 1:
            raise ParameterError(f"first_share={self.first_share!r} must lie between 0 and 1")
        for name in ("dropout", "keep_mean", "keep_square"):
            if not 0 <= getattr(self, name) < 1:
                raise ParameterError(f"{name}={getattr(self, name)!r} must lie in [0, 1)")

    def start(self, maps: ChoiceMaps, cost: RowCost, seed: int) -> Passes:
        """A run from these maps, whose first gets its share; it changes them in place."""
        others = len(maps.weights) - 1
        if self.first_share is not None and others:
            odds = self.first_share / (1 - self.first_share)
            maps.weights[1:] += np.float32(np.log(odds * others))
        return Passes(self, maps, cost, seed)


class Passes:
    """A run of `RowDescent`: each call of `step` is a pass over all rows that have mass."""

    def __init__(self, settings: RowDescent, maps: ChoiceMaps, cost: RowCost, seed: int):
        self.settings = settings
        self.maps = maps
        self.cost = cost
        self.done = 0
        self._steps = 0
        self._generator = np.random.default_rng(seed)
        n_maps, n = maps.weights.shape
        self._least_steps = -(-n_maps * n * n // _NUMBERS_AT_ONCE)
        self._rows = np.flatnonzero(np.diff(cost.p.indptr) > 0)
        self._mean = [np.zeros_like(array) for array in maps.arrays]
        self._square = [np.zeros_like(array) for array in maps.arrays]

    def step(self) -> float:
        """One pass; - sum p log q as the rows were met on the way."""
        from manymaps.compute.rows import adam_step

        s = self.settings
        order = self._generator.permutation(self._rows)
        cost = self._thinned() if s.dropout else self.cost
        n_steps = min(len(order), max(s.steps_per_pass, self._least_steps))
        total = 0.0
        for rows in np.array_split(order, n_steps):
            rows.sort()
            value, slopes = cost.gradient(self.maps, rows, len(rows) / len(order))
            total += value
            self._steps += 1
            unbiased = np.sqrt(1 - s.keep_square**self._steps)
            rate = s.learning_rate * s.decay**self.done * unbiased
            rate /= 1 - s.keep_mean**self._steps
            for k, slope in enumerate(slopes):
                adam_step(
                    self.maps.arrays[k].reshape(-1), slope.reshape(-1),
                    self._mean[k].reshape(-1), self._square[k].reshape(-1),
                    np.float32(rate * (1.0 if k == 0 else s.weight_rate)),
                    np.float32(s.keep_mean), np.float32(s.keep_square),
                    np.float32(1e-5 * unbiased),
                )  # fmt: skip
        self.done += 1
        return total

    def _thinned(self) -> RowCost:
        """The cost without the pairs that this pass leaves out, of the same expectation."""
        p = self.cost.p
        kept = self._generator.random(p.nnz) >= self.settings.dropout
        data = np.where(kept, p.data / (1 - self.settings.dropout), 0.0)
        return replace(self.cost, p=sparse.csr_array((data, p.indices, p.indptr), p.shape))
