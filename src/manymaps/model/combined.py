"""Cost that sums over several tables of objects, with similarities within each set of objects.

    C = sum_t w_t C_t(phi_r, phi_c)  +  (penalty / 2) sum |phi|^2  +  sum_s w_s C_ss(phi_s)

Each table t relates the objects of a set r, which choose, to those of a set c. C_t is its two-sided
`Objective`. The positions of a set are the same in all its tables, which embeds several kinds of
object (Globerson et al. 2007, section 6.2). C_ss are one-sided objectives that depend only on
the positions of a set. They fit similarities within this set (2004, section 6).

A table may lack some objects of its sets. `Term.members` lists the objects that it contains.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from manymaps.errors import DataError
from manymaps.model.choice import ChoiceModel
from manymaps.model.objective import Entries, Evaluation, Objective
from manymaps.model.parameters import Parameters
from manymaps.model.penalty import size_penalty
from manymaps.model.target import Target, conditional_target


@dataclass(frozen=True)
class Term:
    """One table of a combined cost.

    Parameters
    ----------
    sets : tuple of int
        Numbers of the sets in the parameters: the set that chooses and the set that is chosen from,
        or a single set.
    members : tuple of ndarray of int
        Indices of the objects of the table in each of these sets.
    weight : float
        Factor of the cost, at least 0.
    objective : Objective
        Cost of the table, without a size penalty.
    """

    sets: tuple[int, ...]
    members: tuple[np.ndarray, ...]
    weight: float
    objective: Objective

    def part(self, parameters: Parameters) -> Parameters:
        """Return the parameters of the objects of the table."""
        return Parameters(*(
            tuple(whole[k][:, members] for k, members in zip(self.sets, self.members, strict=True))
            for whole in (parameters.positions, parameters.weights)
        ))  # fmt: skip

    def entries(self, entries: tuple[Entries, ...] | None) -> tuple[Entries, ...] | None:
        """Return the active entries of the objects of the table."""
        if entries is None:
            return None
        sides = zip(self.sets, self.members, strict=True)
        return tuple(Entries(entries[k].mask[:, members]) for k, members in sides)

    def add(
        self,
        totals: tuple[np.ndarray, ...],
        parts: tuple[np.ndarray, ...],
        places: tuple[np.ndarray, ...] | None,
        factor: float | np.float32,
    ) -> None:
        """Add values of the objects of the table, all or those of active entries, to totals."""
        for side, (k, members) in enumerate(zip(self.sets, self.members, strict=True)):
            values = parts[side]
            if places is not None:
                shape = (totals[k].shape[0], len(members), *totals[k].shape[2:])
                values = np.zeros(shape, totals[k].dtype)
                values.reshape(-1, *shape[2:])[places[side]] = parts[side]
            totals[k][:, members] += factor * values


@dataclass(frozen=True)
class CombinedObjective:
    """Sum of the costs of several tables (a `Cost`).

    Parameters
    ----------
    between : tuple of Term
        Two-sided costs. Reported divergences, shares and normalizers are those of these tables.
    within : tuple of Term
        One-sided costs within a set.
    penalty : float, default=0.0
        Strength of the size penalty, which is added once per set.
    """

    between: tuple[Term, ...]
    within: tuple[Term, ...] = ()
    penalty: float = 0.0

    @property
    def target(self) -> Target:
        """The target of the first table."""
        return self.between[0].objective.target

    @property
    def model(self) -> ChoiceModel:
        """The model of the choices between two sets."""
        return self.between[0].objective.model

    @property
    def fingerprint(self) -> str:
        """A hash of the data, including the similarities within each set."""
        first, *others = self.between
        parts = [
            f"{''.join(map(str, term.sets))}{term.objective.fingerprint}"
            for term in (*others, *self.within)
        ]
        return "-".join([first.objective.fingerprint, *parts])

    @cached_property
    def masses(self) -> tuple[np.ndarray, ...]:
        """Mass of each object over all tables, on the scale of the cost, (n,) for each set."""
        found: dict[int, list[tuple[np.ndarray, np.ndarray]]] = {}
        for term in self.between:
            for k, members, mass in zip(
                term.sets, term.members, term.objective.masses, strict=True
            ):
                found.setdefault(k, []).append((members, term.weight * mass))
        return tuple(
            np.bincount(*map(np.concatenate, zip(*found[k], strict=True))) for k in sorted(found)
        )

    @cached_property
    def kl_weights(self) -> tuple[float, ...]:
        """Weight of the divergence of each two-sided table in the mean, which sum to 1."""
        weights = [t.weight * t.objective.target.n_rows_with_mass for t in self.between]
        return tuple(weight / sum(weights) for weight in weights)

    def with_background_share(self, share: float) -> CombinedObjective:
        """Return the same objective with its model's background multiplied by a factor."""
        between = tuple(
            replace(term, objective=term.objective.with_background_share(share))
            for term in self.between
        )
        return replace(self, between=between)

    def shares(self, parameters: Parameters, log_normalizers: np.ndarray) -> tuple[np.ndarray, ...]:
        """Compute the shares of the two-sided tables (see `Objective.shares`)."""
        totals = tuple(np.zeros_like(weights) for weights in parameters.weights)
        sizes = [1 if t.objective.target.is_joint else len(t.members[0]) for t in self.between]
        logs = np.split(log_normalizers, np.cumsum(sizes)[:-1])
        for term, own in zip(self.between, logs, strict=True):
            parts = term.objective.shares(term.part(parameters), own)
            term.add(totals, parts, None, np.float32(term.weight))
        return totals

    def evaluate(
        self,
        parameters: Parameters,
        *,
        entries: tuple[Entries, ...] | None = None,
        exaggeration: float = 1.0,
        want_cost: bool = True,
    ) -> Evaluation:
        """Compute the total cost and gradient, with the mean divergence of the tables."""
        if parameters.n_maps == 1:
            entries = None
        gradient = parameters.like([np.zeros(a.shape, np.float32) for a in parameters.arrays])
        shares = tuple(np.zeros_like(weights) for weights in gradient.weights)
        divergences, normalizers = [], []

        def add(term: Term) -> float:
            part = term.objective.evaluate(
                term.part(parameters), entries=term.entries(entries),
                exaggeration=exaggeration, want_cost=want_cost,
            )  # fmt: skip
            factor, places = np.float32(term.weight), part.gradient.places
            term.add(gradient.positions, part.gradient.positions, places, factor)
            term.add(gradient.weights, part.gradient.weights, places, factor)
            if len(term.sets) == 2:
                term.add(shares, part.shares, places, factor)
                divergences.append(part.kl)
                normalizers.append(part.log_normalizers)
            return term.weight * part.cost

        cost = sum(map(add, self.between), 0.0)
        for positions, total in zip(parameters.positions, gradient.positions, strict=True):
            value, slope = size_penalty(positions, self.penalty)
            cost += value
            total += slope
        cost += sum(map(add, self.within), 0.0)
        kl = sum(w * kl for w, kl in zip(self.kl_weights, divergences, strict=True))
        if entries is not None and not all(each.mask.all() for each in entries):
            places = tuple(each.places for each in entries)
            flat = [
                array.reshape(-1, *array.shape[2:])[places[i % len(places)]]
                for i, array in enumerate((*gradient.arrays, *shares))
            ]
            n = len(places)
            gradient = Parameters(tuple(flat[:n]), tuple(flat[n : 2 * n]), places)
            shares = tuple(flat[2 * n :])
        return Evaluation(cost, kl, gradient, shares, np.concatenate(normalizers))


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
