"""Stochastic descent on a few rows per step, for conditional models in many dimensions.

A conditional cost is a sum over rows, each with its own normalizer (`manymaps.model.rows`). The
gradient of a few rows therefore takes only a fraction of the time of the full gradient, and a pass
over all rows performs many steps instead of one. The method uses stochastic gradients (Robbins &
Monro 1951) with the step lengths of Adam (Kingma & Ba 2015).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse

from manymaps.checks import check_number, check_whole
from manymaps.model.rows import ChoiceMaps, RowCost

# Maximum number of similarities between the cues of a step and all objects in all maps (128 MiB of
# float32).
_NUMBERS_AT_ONCE = 1 << 25
# Decay rates of the averages of gradients and of squared gradients in Adam.
_KEEP_MEAN, _KEEP_SQUARE = 0.9, 0.99


@dataclass(frozen=True)
class RowDescent:
    """Adam optimizer that processes a few rows per step.

    Parameters
    ----------
    learning_rate : float > 0, default=0.002
        Learning rate of Adam, which is approximately the change of a parameter per step.
    steps_per_pass : int >= 1, default=20
        Number of steps in a pass over all rows. The number is increased if the rows of one step
        would require too much memory.
    weight_rate : float > 0, default=1.0
        Ratio of the learning rate of mixing weights and biases to the learning rate of positions.
    decay : float in (0, 1], default=0.97
        Factor by which the learning rate is multiplied after each pass.

    Raises
    ------
    ParameterError
        If a value is out of its range.
    """

    learning_rate: float = 0.002
    steps_per_pass: int = 20
    weight_rate: float = 1.0
    decay: float = 0.97

    def __post_init__(self) -> None:
        for name in ("learning_rate", "weight_rate"):
            check_number(name, getattr(self, name), above=0)
        check_whole("steps_per_pass", self.steps_per_pass)
        check_number("decay", self.decay, above=0, most=1)

    def start(self, maps: ChoiceMaps, cost: RowCost, seed: int) -> Passes:
        """Start a run from these maps, which it updates in place."""
        return Passes(self, maps, cost, seed)


class Passes:
    """Run of `RowDescent`, in which each call of `step` is a pass over all rows with mass."""

    def __init__(self, settings: RowDescent, maps: ChoiceMaps, cost: RowCost, seed: int):
        self.settings = settings
        self.maps = maps
        self.cost = cost
        self.done = 0
        self._steps = 0
        self._generator = np.random.default_rng(seed)
        n_maps, n = maps.weights.shape
        self._least_steps = -(-n_maps * n * n // _NUMBERS_AT_ONCE)
        self.aim_at(cost.p)
        self._mean = [np.zeros_like(array) for array in maps.arrays]
        self._square = [np.zeros_like(array) for array in maps.arrays]

    def aim_at(self, p: sparse.csr_array) -> None:
        """Set a new target for the following passes."""
        self.cost = replace(self.cost, p=p)
        self._rows = np.flatnonzero(np.diff(p.indptr) > 0)

    def step(self) -> float:
        """Perform one pass and return - sum p log q, with each row evaluated at its own step."""
        from manymaps.compute.rows import adam_step

        s = self.settings
        order = self._generator.permutation(self._rows)
        n_steps = min(len(order), max(s.steps_per_pass, self._least_steps))
        total = 0.0
        for rows in np.array_split(order, n_steps):
            rows.sort()
            value, slopes = self.cost.gradient(self.maps, rows, len(rows) / len(order))
            total += value
            self._steps += 1
            unbiased = np.sqrt(1 - _KEEP_SQUARE**self._steps)
            rate = s.learning_rate * s.decay**self.done * unbiased
            rate /= 1 - _KEEP_MEAN**self._steps
            for k, slope in enumerate(slopes):
                adam_step(
                    self.maps.arrays[k].reshape(-1), slope.reshape(-1),
                    self._mean[k].reshape(-1), self._square[k].reshape(-1),
                    np.float32(rate * (1.0 if k == 0 else s.weight_rate)),
                    np.float32(_KEEP_MEAN), np.float32(_KEEP_SQUARE),
                    np.float32(1e-5 * unbiased),
                )  # fmt: skip
        self.done += 1
        return total
