"""Cost that combines pairs of rows and columns with similarities within each side.

    C = C_xy(phi, psi) + weight_x C_xx(phi) + weight_y C_yy(psi)

C_xy is the two-sided `Objective`. C_xx and C_yy are one-sided objectives that depend only on the
positions of the rows or only on the positions of the columns. They fit similarities within a side,
which are available in addition to the counts (Globerson et al. 2004, section 6). A size penalty
belongs to C_xy.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from manymaps.errors import DataError
from manymaps.model.choice import ChoiceModel
from manymaps.model.objective import Entries, Evaluation, Objective
from manymaps.model.parameters import Parameters
from manymaps.model.target import Target, conditional_target

__all__ = ["CombinedObjective", "WithinKind", "within_kind_target"]


@dataclass(frozen=True)
class WithinKind:
    """One-sided cost of the positions of one side, with its weight."""

    side: int
    weight: float
    objective: Objective


@dataclass(frozen=True)
class CombinedObjective:
    """Combination of a two-sided objective with costs within its sides (a `Cost`).

    Parameters
    ----------
    between : Objective
        Two-sided objective C_xy of the pairs of rows and columns.
    within : tuple of WithinKind
        Costs within the rows or within the columns.
    """

    between: Objective
    within: tuple[WithinKind, ...]

    @property
    def target(self) -> Target:
        """The target of the pairs of rows and columns."""
        return self.between.target

    @property
    def model(self) -> ChoiceModel:
        """The model of the choices between rows and columns."""
        return self.between.model

    @property
    def fingerprint(self) -> str:
        """A hash of the data, including the similarities within each side."""
        parts = [f"{term.side}{term.objective.fingerprint}" for term in self.within]
        return "-".join([self.between.fingerprint, *parts])

    def with_background_share(self, share: float) -> CombinedObjective:
        """Return the same objective with its model's background multiplied by a factor."""
        return replace(self, between=self.between.with_background_share(share))

    @property
    def penalty(self) -> float:
        """Strength of the size penalty."""
        return self.between.penalty

    def shares(self, parameters: Parameters, log_normalizers: np.ndarray) -> tuple[np.ndarray, ...]:
        """Compute the shares of C_xy (see `Objective.shares`)."""
        return self.between.shares(parameters, log_normalizers)

    def evaluate(
        self,
        parameters: Parameters,
        *,
        entries: tuple[Entries, ...] | None = None,
        exaggeration: float = 1.0,
        want_cost: bool = True,
    ) -> Evaluation:
        """Compute the total cost and gradient, with `kl`, `shares` and normalizers of C_xy."""
        result = self.between.evaluate(
            parameters, entries=entries, exaggeration=exaggeration, want_cost=want_cost
        )
        cost = result.cost
        for term in self.within:
            k = term.side
            own = Parameters((parameters.positions[k],), (parameters.weights[k],))
            part = term.objective.evaluate(
                own,
                entries=None if entries is None else (entries[k],),
                exaggeration=exaggeration,
                want_cost=want_cost,
            )
            cost += term.weight * part.cost
            for total, slope in (
                (result.gradient.positions[k], part.gradient.positions[0]),
                (result.gradient.weights[k], part.gradient.weights[0]),
            ):
                total += np.float32(term.weight) * slope
        return replace(result, cost=cost)


def within_kind_target(name: str, table: Any, kept: np.ndarray) -> Target:
    """Compute the target P from similarities among the fitted rows or among the fitted columns.

    Parameters
    ----------
    name : str
        Name of the table in messages.
    table : (sparse) array of shape (n, n)
        Similarities, which must be finite and nonnegative.
    kept : ndarray of bool, shape (n,)
        Whether each object is fitted.

    Returns
    -------
    Target
        Conditional target of the fitted objects.

    Raises
    ------
    DataError
        If the table has a different shape, or if a value is negative or non-finite.
    """
    similarities = sparse.csr_array(table, dtype=np.float64)
    n = len(kept)
    if similarities.shape != (n, n):
        raise DataError(f"{name} has shape {similarities.shape}; the counts require ({n}, {n})")
    if not np.isfinite(similarities.data).all() or (similarities.data < 0).any():
        raise DataError(f"{name} contains a value that is negative or not finite")
    return conditional_target(similarities[kept][:, kept])
