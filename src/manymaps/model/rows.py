"""Cost of a conditional model by rows, for many dimensions.

A conditional cost is a sum over rows, each with its own normalizer. The time for the gradient of
some rows is therefore proportional to the number of these rows. `manymaps.optimizers.rows` uses
such gradients.

    C = sum_i KL(P_i || Q_i) + penalty / 2 sum |y|^2 + bias_penalty / 2 sum beta^2

    q(j|i) ~ exp(beta_j) sum_m pi_i^m pi_j^m K(|y_i^m - y_j^m|^2)

beta_j measures how often j is a response to any cue. It is learned if `bias_penalty` is a number,
and it is 0 if `bias_penalty` is None.

Shapes: positions (n_maps, n, n_components), weights w (n_maps, n), biases (n,), all float32.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from manymaps.compute.canonical import canonical_rows
from manymaps.compute.rows import (
    COLUMNS,
    ROWS,
    feel_rows,
    normalize_rows,
    pair_logits,
    weigh_rows,
)
from manymaps.compute.similarity import GAUSSIAN, kernel_code
from manymaps.compute.threads import one_blas_thread, share_out
from manymaps.model.choice import Kernel
from manymaps.model.parameters import Parameters, log_softmin
from manymaps.model.similarities import log_kernel, normalized

# Number of rows whose probabilities are computed at a time, which limits memory.
_ROWS_AT_ONCE = 256


@dataclass(frozen=True, eq=False)
class ChoiceMaps:
    """Maps, mixing weights and biases, with their kernel."""

    positions: np.ndarray
    weights: np.ndarray
    biases: np.ndarray
    kernel: Kernel = "gaussian"

    @property
    def arrays(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Positions, weights and biases."""
        return self.positions, self.weights, self.biases

    def copy(self) -> ChoiceMaps:
        """Return a deep copy."""
        y, w, beta = self.arrays
        return ChoiceMaps(y.copy(), w.copy(), beta.copy(), self.kernel)

    def parameters(self, with_biases: bool = False) -> Parameters:
        """Return parameters for optimizers, with biases as 1-d positions of a second set."""
        if not with_biases:
            return Parameters((self.positions,), (self.weights,))
        line = self.biases.reshape(1, -1, 1)
        return Parameters((self.positions, line), (self.weights, np.zeros_like(line[..., 0])))

    def at(self, parameters: Parameters) -> ChoiceMaps:
        """Return the maps with other parameters, and keep the biases if no new biases are given."""
        y, *lines = parameters.positions
        biases = lines[0].reshape(-1) if lines else self.biases
        return ChoiceMaps(y, parameters.weights[0], biases, self.kernel)

    def _terms(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return |y|^2, log pi and the charges of the chosen objects, each (n_maps, n) float32."""
        log_pi = log_softmin(self.weights)
        norms = np.einsum("mnd,mnd->mn", self.positions, self.positions)
        return norms, log_pi.astype(np.float32), (log_pi + self.biases).astype(np.float32)

    def gradient(
        self, rows: np.ndarray, p: sparse.csr_array, exaggeration: float = 1.0
    ) -> tuple[float, tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """Compute - sum p log q of rows (in increasing order), and its gradient by all parameters.

        The gradient is by positions, weights and biases. Exaggeration multiplies the attraction in
        the gradient, but not the cost.
        """
        n_maps, n, d = self.positions.shape
        kind, k = kernel_code(self.kernel), len(rows)
        p = canonical_rows(p)
        norms, log_pi, charges = self._terms()
        terms = np.empty((n_maps, k, n), np.float32)
        slopes = terms if kind == GAUSSIAN else np.empty_like(terms)
        factors, cost = np.empty(k), np.empty(k)
        force, share = np.empty((n_maps, k, d), np.float32), np.empty((n_maps, k), np.float32)
        forces, shares = np.empty_like(self.positions), np.empty((n_maps, n), np.float32)
        with one_blas_thread():
            share_out(
                weigh_rows, -(-k // ROWS), rows, p.indptr, p.indices, p.data, self.positions,
                norms, log_pi, charges, kind, exaggeration, terms, slopes, factors, force, share,
                cost,
            )  # fmt: skip
            choosers = (factors[:, None] * self.positions[:, rows]).astype(np.float32, order="C")
            share_out(
                feel_rows, -(-n // COLUMNS), choosers, self.positions, terms, slopes, factors,
                kind, forces, shares,
            )  # fmt: skip
        biases = shares.sum(axis=0)
        forces[:, rows] += force
        shares[:, rows] += share
        d_weights = np.exp(log_pi) * shares.sum(axis=0) - shares
        return float(cost.sum()), (forces, d_weights, biases)

    def log_probabilities(self, part: sparse.csr_array) -> np.ndarray:
        """Return log q(j|i) of the stored pairs of a part, in row-major order."""
        part = canonical_rows(part)
        sizes = np.diff(part.indptr)
        rows, cues = np.flatnonzero(sizes), np.repeat(np.arange(len(sizes)), sizes)
        norms, log_pi, charges = self._terms()
        kind = kernel_code(self.kernel)
        log_z, logits = np.empty(len(rows)), np.empty(part.nnz)
        with one_blas_thread():
            share_out(
                normalize_rows, -(-len(rows) // ROWS), rows, self.positions, norms, log_pi,
                charges, kind, log_z,
            )  # fmt: skip
        share_out(
            pair_logits, part.nnz, cues, part.indices, self.positions, log_pi, charges, kind, logits
        )
        return logits - np.repeat(log_z, sizes[rows])

    def probabilities(self, rows: np.ndarray) -> np.ndarray:
        """Return q(j|i), shape (len(rows), n) float64."""
        log_pi = log_softmin(self.weights)
        charges = log_pi + self.biases
        logits = np.full((len(rows), self.positions.shape[1]), -np.inf)
        for m, y in enumerate(self.positions.astype(np.float64)):
            norms = np.einsum("nd,nd->n", y, y)
            distances = norms - 2 * (y[rows] @ y.T) + norms[rows, None]
            distances = np.maximum(distances, 0, out=distances)
            logit = charges[m] + log_pi[m, rows, None] + log_kernel(distances, self.kernel)
            logits = np.logaddexp(logits, logit, out=logits) if m else logit
        logits[np.arange(len(rows)), rows] = -np.inf
        return normalized(logits, axis=1)


@dataclass(frozen=True)
class RowCost:
    """Cost of rows, with the target and the penalties."""

    p: sparse.csr_array
    penalty: float = 0.0
    bias_penalty: float | None = None

    def gradient(
        self, maps: ChoiceMaps, rows: np.ndarray, share: float, exaggeration: float = 1.0
    ) -> tuple[float, tuple[np.ndarray, ...]]:
        """Compute - sum p log q of rows, and its gradient with a fraction of the penalties."""
        cost, slopes = maps.gradient(rows, self.p, exaggeration)
        for slope, strength, values in zip(slopes, self.strengths, maps.arrays, strict=True):
            if strength:
                slope += np.float32(share * strength) * values
        return cost, slopes[: 2 if self.bias_penalty is None else 3]

    @property
    def strengths(self) -> tuple[float, float, float]:
        """Strengths of the penalties on positions, weights and biases."""
        return self.penalty, 0.0, self.bias_penalty or 0.0

    def whole(
        self, maps: ChoiceMaps, exaggeration: float = 1.0
    ) -> tuple[float, tuple[np.ndarray, ...]]:
        """Compute - sum p log q of all rows, and the gradient, with penalties.

        Exaggeration multiplies only the attraction in the gradient.
        """
        rows = np.flatnonzero(np.diff(self.p.indptr))
        cost_sum, sums = 0.0, [np.zeros_like(array) for array in maps.arrays]
        for start in range(0, len(rows), _ROWS_AT_ONCE):
            part = rows[start : start + _ROWS_AT_ONCE]
            cost, slopes = self.gradient(maps, part, len(part) / len(rows), exaggeration)
            cost_sum += cost
            for total_slope, slope in zip(sums, slopes, strict=False):
                total_slope += slope
        for strength, values in zip(self.strengths, maps.arrays, strict=True):
            flat = values.ravel()
            cost_sum += strength / 2 * float(np.einsum("i,i->", flat, flat, dtype=np.float64))
        return cost_sum, tuple(sums)
