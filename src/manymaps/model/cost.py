"""Protocol of the costs that a run can minimize.

    Objective            KL(P || Q)                                   `manymaps.model.objective`
    ObservedObjective    the same over the judged pairs               `manymaps.model.observed`
    InverseObjective     KL(Q || P~)                                  `manymaps.model.inverse`

A cost is a frozen record of the data and the model. It conforms to the protocol by its members.
mypy checks the conformity where a `manymaps.maps.run.Plan` receives the cost.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from manymaps.model.choice import ChoiceModel
from manymaps.model.objective import Entries, Evaluation
from manymaps.model.parameters import Parameters
from manymaps.model.target import Target


class Cost(Protocol):
    """Differentiable cost of the parameters, with its target and its model.

    For each set of objects, the parameters contain an array of positions (n_maps, n, n_components)
    and an array of mixing weights (n_maps, n). There is one set of objects, or a set of choosers
    and a set of chosen objects.
    """

    @property
    def target(self) -> Target:
        """The target P."""

    @property
    def model(self) -> ChoiceModel:
        """The model of Q."""

    @property
    def masses(self) -> tuple[np.ndarray, ...]:
        """Mass of each object, on the scale of the cost, with one array (n,) for each set."""

    @property
    def penalty(self) -> float:
        """Strength of the size penalty, on the scale of the cost summed over rows."""

    @property
    def fingerprint(self) -> str:
        """A hash of the data."""

    def with_background_share(self, share: float) -> Cost:
        """Return a copy with the background of the model multiplied by a factor in [0, 1]."""

    def shares(self, parameters: Parameters, log_normalizers: np.ndarray) -> tuple[np.ndarray, ...]:
        """Compute the explained share of each object's pairs per map, (n_maps, n) for each set.

        `log_normalizers` are the normalizers from an evaluation at the same parameters: log Z_i
        (n,) of a conditional model, or log Z (1,) of a joint model.
        """

    def evaluate(
        self,
        parameters: Parameters,
        *,
        entries: tuple[Entries, ...] | None = None,
        exaggeration: float = 1.0,
        want_cost: bool = True,
    ) -> Evaluation:
        """Compute cost and gradient over all entries or the active entries of each set of objects.

        `exaggeration` multiplies the attraction in the gradient, but not in the cost. The gradient
        has the shapes of the parameters. If only the active entries are evaluated, its shapes are
        (n_entries, n_components) and (n_entries,) (`Parameters.places`). If `want_cost` is false,
        the cost may be NaN.
        """
