"""The sums over one set of objects that make up cost and gradient, for fits and for insertion.

    log_normalizers   log z_i = log sum_m pi_i^m potential_i^m, with the field of charges b_j pi_j^m
    attraction        the sums over stored pairs of - p_ij r_ij d log v_ij, and of - p_ij log q_ij
    slopes            attraction and repulsion combined, by positions and mixing weights

The notation is that of `manymaps.model.objective`. In `attraction` and `slopes`, an object has two
roles: it chooses others, with the factor a_i / Z_i, and others choose it, with the factor b_i.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from manymaps.compute.attraction import attraction
from manymaps.compute.mixture import gather_entries, gradients, log_normalizers, side_by_side
from manymaps.compute.similarity import kernel_code
from manymaps.compute.threads import alone_if, share_out
from manymaps.model.choice import ChoiceModel
from manymaps.model.entries import Entries
from manymaps.model.target import Pairs

# A parallel loop takes 80 microseconds to start, and an iteration contains fifteen parallel loops.
FEW_ENTRIES = 16_000

#: Values, slopes and log scales of a field at the entries of a side (see `manymaps.compute.field`).
Field = tuple[np.ndarray, np.ndarray, np.ndarray]


@dataclass(frozen=True)
class Side:
    """One set of objects as input to the sums.

    Attributes
    ----------
    entries : Entries
        The active entries.
    positions : ndarray of shape (n_maps, n, n_components), float32
        Positions in units of the kernel width.
    log_pi : ndarray of shape (n_maps, n), float32
        Logarithms of the proportions.
    points : ndarray of shape (n_components, n_entries)
        Positions of the entries.
    entry_log_pi : ndarray of shape (n_entries,)
        Logarithms of the proportions of the entries.
    """

    entries: Entries
    positions: np.ndarray
    log_pi: np.ndarray
    points: np.ndarray
    entry_log_pi: np.ndarray

    @classmethod
    def of(
        cls, positions: np.ndarray, log_pi: np.ndarray, entries: Entries, model: ChoiceModel
    ) -> Side:
        """Gather the points and log proportions of the entries."""
        scaled = np.ascontiguousarray(positions, np.float32) * np.float32(1 / model.kernel_width)
        points = np.empty((scaled.shape[2], len(entries.objects)), np.float32)
        entry_log_pi = np.empty(len(entries.objects), np.float32)
        with alone_if(log_pi.size < FEW_ENTRIES):
            share_out(
                gather_entries, len(log_pi), scaled, log_pi, entries.offsets, entries.objects,
                points, entry_log_pi,
            )  # fmt: skip
        return cls(entries, scaled, log_pi, points, entry_log_pi)

    @property
    def n(self) -> int:
        """Number of objects."""
        return int(self.log_pi.shape[1])

    @property
    def is_small(self) -> bool:
        """Whether loops over the entries are too short to be shared among threads."""
        return len(self.entry_log_pi) < FEW_ENTRIES

    def charged(self, log_charges: np.ndarray) -> np.ndarray:
        """Return the log charges of the entries, charge_i pi_i^m, from charges of objects."""
        return self.entry_log_pi + log_charges.astype(np.float32)[self.entries.objects]

    def table(self, model: ChoiceModel) -> np.ndarray:
        """Return a table with all maps of an object in one row (see `compute.mixture`)."""
        with alone_if(self.is_small):
            return side_by_side(self.positions, self.log_pi, kernel_code(model.kernel))

    def log_normalizers(self, potential: Field) -> np.ndarray:
        """Compute log z_i, shape (n,), float64."""
        log_z = np.empty(self.n, np.float64)
        indptr, _, numbers = self.entries.by_object
        value, _, scale = potential
        with alone_if(self.is_small):
            share_out(
                log_normalizers, self.n, indptr, numbers, self.entry_log_pi, value, scale, log_z
            )
        return log_z

    def attraction(
        self,
        pairs: Pairs,
        tables: tuple[np.ndarray, np.ndarray],
        others: Side,
        log_roles: tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray],
        model: ChoiceModel,
        n_choices: float,
        want_cost: bool = True,
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Sum over the pairs of each object.

        The tables and log roles (as chooser, as chosen) are those of this side, then of the others.
        Returns pulls (n_entries, n_components) and shares (n_entries,) of the entries, and masses
        R_i and costs (n,) of the objects.
        """
        log_even = np.log(model.background / n_choices) if model.background else 0.0
        d, n_entries = self.points.shape
        pull, share = np.empty((n_entries, d), np.float32), np.empty(n_entries, np.float32)
        mass, cost = np.empty(self.n), np.empty(self.n)
        share_out(
            attraction, len(pairs.chunks) - 1, (0,) * d, pairs.chunks, pairs.indptr, pairs.indices,
            pairs.forward, pairs.backward, *tables, self.log_pi, others.log_pi,
            *self.entries.by_object, *log_roles, kernel_code(model.kernel), model.background,
            log_even, want_cost, pull, share, mass, cost,
        )  # fmt: skip
        return pull, share, mass, cost

    def slopes(
        self,
        log_roles: tuple[np.ndarray, np.ndarray],
        fields: tuple[Field, Field],
        pull: np.ndarray,
        share: np.ndarray,
        model: ChoiceModel,
        exaggeration: float = 1.0,
        scale: float = 1.0,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Compute the gradient by positions and weights of the entries.

        The log roles and fields are those of the objects as choosers, then as chosen objects.
        """
        d_positions, d_weights = np.empty_like(pull), np.empty_like(share)
        indptr, _, numbers = self.entries.by_object
        with alone_if(self.is_small):
            share_out(
                gradients, self.n, indptr, numbers, self.entry_log_pi, *log_roles, *fields[0],
                *fields[1], pull, share, float(exaggeration), float(scale), d_positions, d_weights,
            )  # fmt: skip
        if model.kernel_width != 1.0:
            d_positions /= np.float32(model.kernel_width)
        if model.mixing != "learned":
            d_weights = np.zeros_like(d_weights)
        return d_positions, d_weights
