"""The contract of a cost, by which a run minimizes any of them.

    Objective            KL(P || Q)                                   `manymaps.model.objective`
    ObservedObjective    the same over the judged pairs               `manymaps.model.observed`
    InverseObjective     KL(Q || P~)                                  `manymaps.model.inverse`
    CombinedObjective    that between two kinds and within each       `manymaps.model.combined`

A cost is a frozen record of the data and the model. It conforms by its members; mypy checks it
where a `manymaps.maps.run.Plan` receives it.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from manymaps.model.choice import ChoiceModel
from manymaps.model.objective import Entries, Evaluation
from manymaps.model.parameters import Parameters
from manymaps.model.target import Target

__all__ = ["Cost"]


class Cost(Protocol):
    """A differentiable cost of the parameters, with the target and the model that it compares.

    Parameters have one array of positions (n_maps, n, n_components) and one of mixing weights
    (n_maps, n) per set of objects: one set, or the choosers and those that are chosen.
    """

    @property
    def target(self) -> Target:
        """P."""

    @property
    def model(self) -> ChoiceModel:
        """The model of Q."""

    @property
    def penalty(self) -> float:
        """Strength of the size penalty, on the scale of the cost summed over rows."""

    @property
    def fingerprint(self) -> str:
        """Identifies the data."""

    def with_background_share(self, share: float) -> Cost:
        """The same cost with a share, in [0, 1], of the model's background."""

    def shares(self, parameters: Parameters, log_normalizers: np.ndarray) -> tuple[np.ndarray, ...]:
        """How much of the pairs of each object each map explains, (n_maps, n) per set of objects.

        `log_normalizers` are those of an evaluation at the same parameters: log Z_i (n,) of a
        conditional model, log Z (1,) of a joint one.
        """

    def evaluate(
        self,
        parameters: Parameters,
        *,
        entries: tuple[Entries, ...] | None = None,
        exaggeration: float = 1.0,
        want_cost: bool = True,
    ) -> Evaluation:
        """Value and gradient, over all entries or the active ones of each set of objects.

        `exaggeration` multiplies the attraction in the gradient, not in the value. The gradient has
        the shapes of the parameters, or (n_entries, n_components) and (n_entries,) if it is that of
        the active entries (`Parameters.places`). Without `want_cost` the value may be NaN.
        """
