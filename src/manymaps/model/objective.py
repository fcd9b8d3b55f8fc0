"""Divergence KL(P || Q) with its gradient, combined from attraction and repulsion.

    C = n_rows_with_mass * KL      (joint)
      = sum_i KL(P_i || Q_i)       (conditional)       + (penalty / 2) sum_m sum_i |y_i^m|^2

    dC = - sum_{p_ij > 0} p_ij r_ij d log v_ij   +   sum_i R_i d log Z_i

The notation is that of `manymaps.model.dense`, with v_ij = a_i b_j sum_m v_ij^m. An evaluation has
five steps:

1. normalizers   Z_i = a_i sum_m pi_i^m sum_j b_j pi_j^m K(d_ij^m), the field of the charges b pi
2. attraction    the first sum of dC, over the stored pairs of P (`compute.attraction`), and R
3. repulsion     the second sum of dC, the field of the charges rho pi, with rho_i = a_i R_i / Z_i
4. gradient      of positions and mixing weights
5. penalty

A joint KL is multiplied by the number of rows, so that learning rates and penalties have the same
meaning under both normalizations.

Exaggeration multiplies only the attraction. The reported cost excludes it.

The cost of an iteration is the cost of the active entries (`manymaps.model.parameters`).

A `Side` is one set of objects as input to the sums. An object has two roles in them: it chooses
others, with the factor a_i / Z_i, and others choose it, with the factor b_i. The insertion of new
objects uses the same sums.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from manymaps import compute
from manymaps.compute.attraction import attraction
from manymaps.compute.mixture import (
    CHUNK,
    TABLE_CHUNK,
    gather_entries,
    gradients,
    log_normalizers,
    log_proportions,
    tabulate,
)
from manymaps.compute.similarity import kernel_code
from manymaps.compute.single_map import (
    linear_pulls,
    plane_words,
    single_map_attraction,
    single_map_cost,
)
from manymaps.compute.threads import alone_if, share_out
from manymaps.constraints import MOST_MAPS, Number
from manymaps.model.choice import ChoiceModel
from manymaps.model.parameters import Entries, Parameters, size_penalty
from manymaps.model.target import Pairs, Target

# Products of a smaller term with masses would underflow in float32. The general sums use
# logarithms instead.
_LEAST_EVEN = 1e-30
# A Gaussian map with more dimensions uses the linear form, whose cost needs no second pass.
_UNROLLED_DIMENSIONS = 2
# A parallel loop takes 80 microseconds to start, and an iteration contains fifteen parallel loops.
_FEW_ENTRIES = 16_000

#: Values, slopes and log scales of a field at the entries of a side (see `manymaps.compute.field`).
Field = tuple[np.ndarray, np.ndarray, np.ndarray]

#: Allowed values of the tolerance of the repulsive forces.
TOLERANCE = (Number(least=0, most=0.1),)


@dataclass(frozen=True)
class Evaluation:
    """Cost and gradient at one point.

    Attributes
    ----------
    cost : float
        Cost C without exaggeration, or NaN if it was not requested.
    kl : float
        KL(P || Q) of a joint model, or the mean KL divergence over rows with mass of a conditional
        model. The value does not include the penalty.
    gradient : Parameters
        Gradient of C. If only some entries are active, the gradient contains only these entries, in
        their order (`Parameters.places`).
    shares : tuple of ndarray of shape (n_maps, n)
        Share of each object's pairs that each map explains. The shares of an object sum to its
        mass. If only some entries are active, the shape is (n_entries,).
    log_normalizers : ndarray
        Log normalizers: log Z_i of a conditional model, or log Z of a joint model.
    """

    cost: float
    kl: float
    gradient: Parameters
    shares: tuple[np.ndarray, ...]
    log_normalizers: np.ndarray


@dataclass(frozen=True)
class Side:
    """One set of objects as input to the sums.

    Attributes
    ----------
    model : ChoiceModel
        Model of Q.
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

    model: ChoiceModel
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
        with alone_if(log_pi.size < _FEW_ENTRIES):
            share_out(
                gather_entries, len(log_pi), scaled, log_pi, entries.offsets, entries.objects,
                points, entry_log_pi,
            )  # fmt: skip
        return cls(model, entries, scaled, log_pi, points, entry_log_pi)

    @cached_property
    def table(self) -> np.ndarray:
        """Positions and charges pi with all maps of an object in one row (n, d + 1, n_maps)."""
        n_maps, n, d = self.positions.shape
        if n_maps > MOST_MAPS:
            raise ValueError(f"got {n_maps} maps; at most {MOST_MAPS} are supported")
        table, kind = np.empty((n, d + 1, n_maps), np.float32), kernel_code(self.model.kernel)
        with alone_if(len(self.entry_log_pi) < _FEW_ENTRIES):
            share_out(tabulate, -(-n // TABLE_CHUNK), self.positions, self.log_pi, kind, table)
        return table

    def log_normalizers(self, potential: Field) -> np.ndarray:
        """Compute log z_i, shape (n,), float64."""
        n = self.log_pi.shape[1]
        log_z = np.empty(n, np.float64)
        indptr, _, numbers = self.entries.by_object
        value, _, scale = potential
        with alone_if(len(self.entry_log_pi) < _FEW_ENTRIES):
            share_out(log_normalizers, n, indptr, numbers, self.entry_log_pi, value, scale, log_z)
        return log_z

    def attraction(
        self,
        pairs: Pairs,
        others: Side,
        log_roles: tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray],
        n_choices: float,
        want_cost: bool = True,
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Sum over the pairs of each object.

        The log roles (as chooser, as chosen) are those of this side, then of the others. Returns
        pulls (n_entries, n_components) and shares (n_entries,) of the entries, and masses R_i and
        costs (n,) of the objects.
        """
        background, kind = self.model.background, kernel_code(self.model.kernel)
        log_even = np.log(background / n_choices) if background else 0.0
        d, n_entries = self.points.shape
        pull, share = np.empty((n_entries, d), np.float32), np.empty(n_entries, np.float32)
        mass, cost = np.empty((2, self.log_pi.shape[1]))
        share_out(
            attraction, len(pairs.chunks) - 1, (0,) * d, pairs.chunks, pairs.indptr, pairs.indices,
            pairs.forward, pairs.backward, self.table, others.table, self.log_pi, others.log_pi,
            *self.entries.by_object, *log_roles, kind, background, log_even, want_cost,
            pull, share, mass, cost,
        )  # fmt: skip
        return pull, share, mass, cost

    def slopes(
        self,
        log_roles: tuple[np.ndarray, np.ndarray],
        fields: tuple[Field, Field],
        pull: np.ndarray,
        share: np.ndarray,
        exaggeration: float = 1.0,
        scale: float = 1.0,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Compute the gradient by positions and weights of the entries.

        The log roles and fields are those of the objects as choosers, then as chosen objects.
        """
        d_positions, d_weights = np.empty_like(pull), np.empty_like(share)
        indptr, _, numbers = self.entries.by_object
        with alone_if(len(self.entry_log_pi) < _FEW_ENTRIES):
            share_out(
                gradients, len(indptr) - 1, indptr, numbers, self.entry_log_pi, *log_roles,
                *fields[0], *fields[1], pull, share, float(exaggeration), float(scale),
                d_positions, d_weights,
            )  # fmt: skip
        if self.model.kernel_width != 1.0:
            d_positions /= np.float32(self.model.kernel_width)
        if self.model.mixing != "learned":
            d_weights = np.zeros_like(d_weights)
        return d_positions, d_weights


# Pulls and shares of the entries of each side, the masses R_i of the rows, and - sum p log q.
_Attraction = tuple[list[np.ndarray], list[np.ndarray], np.ndarray, float]


@dataclass(frozen=True)
class Objective:
    """Divergence KL(P || Q) between a target and a model.

    Parameters
    ----------
    target : Target
        Target P.
    model : ChoiceModel
        Model of Q.
    penalty : float, default=0.0
        Strength of the size penalty, on the scale of the cost summed over rows.
    tolerance : float, default=5e-3
        Target relative error of the repulsive forces. If it is 0, sums are exact.
    row_factors, column_factors : ndarray, optional
        Fixed positive factors a_i and b_j. The default is 1. The factors a_i affect only joint
        models.
    engine : str, default="auto"
        Engine that computes the fields (see `manymaps.compute.field`).
    """

    target: Target
    model: ChoiceModel
    penalty: float = 0.0
    tolerance: float = 5e-3
    row_factors: np.ndarray | None = None
    column_factors: np.ndarray | None = None
    engine: str = "auto"
    # Entries of full evaluations by shape, because creating them is slower than using them.
    _everywhere: dict[tuple[int, ...], Entries] = field(
        default_factory=dict, repr=False, compare=False
    )

    @cached_property
    def _log_factors(self) -> tuple[np.ndarray, np.ndarray]:
        logs = [np.zeros(n, np.float32) for n in self.target.values.shape]
        factors = self.row_factors if self.target.is_joint else None, self.column_factors
        for log, factor in zip(logs, factors, strict=True):
            if factor is not None:
                log[:] = np.log(factor)
        return logs[0], logs[1]

    def evaluate(
        self,
        parameters: Parameters,
        *,
        entries: tuple[Entries, ...] | None = None,
        exaggeration: float = 1.0,
        want_cost: bool = True,
    ) -> Evaluation:
        """Compute cost and gradient over all entries or the given active entries.

        Exaggeration multiplies only the attraction. The cost excludes it.
        """
        sides = self._sides(parameters, None if len(parameters.weights[0]) == 1 else entries)
        rows, columns = sides[0], sides[-1]
        log_a, log_b = self._log_factors
        # 1. Normalizers: log Z_i, or log Z repeated.
        potential = self._field(rows, columns, log_b)
        log_z = rows.log_normalizers(potential)
        if self.target.is_joint:
            log_z += log_a
            peak = log_z.max()
            log_z[:] = peak + np.log(np.exp(log_z - peak).sum()) if np.isfinite(peak) else peak
        # 2. Attraction.
        # A joint model of one set of objects without factors is symmetric, q_ij = q_ji.
        with_factors = self.row_factors is not None or self.column_factors is not None
        is_symmetric = self.target.is_joint and len(sides) == 1 and not with_factors
        pulls, shares, mass, cost = self._attraction(sides, log_z, is_symmetric, want_cost)
        # 3. Repulsion.
        with np.errstate(divide="ignore"):
            log_mass = np.log(mass.sum()) if self.target.is_joint else np.log(mass)
        log_rho = (log_a - log_z).astype(np.float64) + log_mass
        if is_symmetric:  # both fields have the same charges, up to a factor
            repulsion = (potential[0], potential[1], potential[2] + log_rho[0])
        else:
            repulsion = self._field(columns, rows, log_rho)
        # 4. Gradient.
        gradient = self._gradient(sides, potential, repulsion, log_rho, pulls, shares, exaggeration)
        # 5. Penalty.
        kl_sum = self.target.negative_entropy + cost if want_cost else np.nan
        value = self.target.scale * kl_sum
        for k, (positions, side) in enumerate(zip(parameters.positions, sides, strict=True)):
            if want_cost:
                value += size_penalty(positions, self.penalty)[0]
            if gradient.places is not None:
                positions = positions.reshape(-1, positions.shape[2])[side.entries.places]
            gradient.positions[k][...] += size_penalty(positions, self.penalty)[1]
        return Evaluation(
            value,
            kl_sum if self.target.is_joint else kl_sum / self.target.n_rows_with_mass,
            gradient,
            tuple(s.reshape(w.shape) for s, w in zip(shares, gradient.weights, strict=True)),
            log_z[:1] if self.target.is_joint else log_z,
        )

    def shares(self, parameters: Parameters, log_normalizers: np.ndarray) -> tuple[np.ndarray, ...]:
        """Compute the explained share of each object's pairs in all maps, (n_maps, n) per set.

        Because log Z of an evaluation is given, only sums over stored pairs are required.
        """
        sides = self._sides(parameters, None)
        shares = self._general_attraction(sides, log_normalizers, False)[1]
        return tuple(s.reshape(w.shape) for s, w in zip(shares, parameters.weights, strict=True))

    def _sides(
        self, parameters: Parameters, entries: tuple[Entries, ...] | None
    ) -> tuple[Side, ...]:
        """Gather points, in units of the kernel width, and log pi of the entries of each side."""
        sides = []
        for k, positions in enumerate(parameters.positions):
            weights = np.ascontiguousarray(parameters.weights[k], np.float32)
            if entries is None:
                if weights.shape not in self._everywhere:
                    self._everywhere[weights.shape] = Entries(np.ones(weights.shape, bool))
                active = self._everywhere[weights.shape]
            else:
                active = entries[k]
            log_pi = np.zeros(weights.shape, np.float32)
            if len(weights) > 1:
                with alone_if(log_pi.size < _FEW_ENTRIES):
                    share_out(log_proportions, -(-weights.shape[1] // CHUNK), weights, log_pi)
            sides.append(Side.of(positions, log_pi, active, self.model))
        return tuple(sides)

    def _field(self, at: Side, of: Side, log_charges: np.ndarray) -> Field:
        """Sum the kernels of one side's entries, with charges charge_i pi_i^m, at the other's."""
        n = at.points.shape[1]
        log_charges = of.entry_log_pi + log_charges.astype(np.float32)[of.entries.objects]
        skip = np.arange(n) if self.target.one_set else np.full(n, -1)
        return compute.field(
            at.points, at.entries.offsets, of.points, of.entries.offsets, log_charges, skip,
            self.model.kernel, self.tolerance, self.engine,
        )  # fmt: skip

    def _attraction(
        self, sides: tuple[Side, ...], log_z: np.ndarray, is_symmetric: bool, want_cost: bool
    ) -> _Attraction:
        """Compute the attraction; for one map by sums without proportions, if they apply."""
        # The background relative to a similarity, if it is one number (see `compute.single_map`).
        even, background = np.float32(0), self.model.background
        if background and is_symmetric:
            log_even = np.log(background) - np.log1p(-background) + log_z[0]
            even = np.float32(np.exp(log_even) / self.target.n_choices)
        applies = even > _LEAST_EVEN if background else True
        if len(sides[0].positions) > 1 or not applies:
            return self._general_attraction(sides, log_z, want_cost)
        pulls, masses, energy = self._single_map(sides, even, want_cost)
        cost = np.nan
        if want_cost:
            log_a, log_b = self._log_factors
            # einsum does not use BLAS, whose sums depend on the number of threads.
            logs = log_a - log_z + np.log1p(-self.model.background)
            cost = energy - float(np.einsum("i,i->", self.target.row_mass, logs))
            cost -= float(np.einsum("i,i->", self.target.column_mass, log_b))
        # Under a joint normalization, only the sum of the masses is used. It includes each pair
        # twice.
        row_mass = masses[0] / 2 if even else self.target.row_mass
        return pulls, masses, row_mass, cost

    def _general_attraction(
        self, sides: tuple[Side, ...], log_z: np.ndarray, want_cost: bool
    ) -> _Attraction:
        """Compute the attraction in any number of maps."""
        log_a, log_b = self._log_factors
        log_row, log_column = (log_a - log_z).astype(np.float64), log_b.astype(np.float64)
        roles = [(log_row, log_column)]
        if len(sides) > 1:
            roles = [(log_row, np.zeros(len(log_row))), (np.zeros(len(log_column)), log_column)]
        pulls, shares, masses, cost = [], [], [], 0.0
        for k, (side, pairs) in enumerate(zip(sides, self.target.sides, strict=True)):
            o = k - 1  # the other side, or the only one
            pull, share, mass, row_cost = side.attraction(
                pairs, sides[o], (*roles[k], *roles[o]), self.target.n_choices, want_cost
            )
            pulls.append(pull)
            shares.append(share)
            masses.append(mass)
            cost += float(row_cost.sum())
        return pulls, shares, masses[0], cost

    def _single_map(
        self, sides: tuple[Side, ...], even: np.float32, want_cost: bool
    ) -> tuple[list[np.ndarray], list[np.ndarray], float]:
        """Compute pulls and masses of each side of one map, and - sum p log(v + even)."""
        kind, d = kernel_code(self.model.kernel), sides[0].positions.shape[2]
        is_linear = self.model.kernel == "gaussian" and not even and d > _UNROLLED_DIMENSIONS
        pulls, masses, energy = [], [], 0.0
        for k, (side, pairs) in enumerate(zip(sides, self.target.sides, strict=True)):
            y, z = side.positions[0], sides[k - 1].positions[0]
            pull, mass = np.empty_like(y), np.empty(len(y), np.float32)
            n_chunks = len(pairs.chunks) - 1
            where = (0,) * d, pairs.chunks, pairs.indptr, pairs.indices
            sums, factor = pairs.sums
            if is_linear:
                pull, mass = linear_pulls(*where[1:], sums, y, z)
            else:
                share_out(
                    single_map_attraction, n_chunks, *where, sums, y, z,
                    plane_words(z), kind, even, pull, mass,
                )  # fmt: skip
            pull *= factor
            mass *= factor
            if is_linear:
                # All pulls sum to 0, so any centre is correct. This one causes little cancellation.
                centre = sides[-1].positions[0].mean(axis=0, dtype=np.float64)
                energy += float(np.einsum("ij,ij->", y - centre, pull)) / 2
            elif want_cost and k == 0:
                row_cost = np.empty(len(y))
                share_out(
                    single_map_cost, n_chunks, *where, pairs.forward, y, z, kind, even, row_cost
                )
                energy = float(row_cost.sum())
            pulls.append(pull)
            masses.append(mass)
        return pulls, masses, energy

    def _gradient(
        self,
        sides: tuple[Side, ...],
        potential: Field,
        repulsion: Field,
        log_rho: np.ndarray,
        pulls: list[np.ndarray],
        shares: list[np.ndarray],
        exaggeration: float,
    ) -> Parameters:
        """Combine attraction and repulsion to slopes of positions and weights of the entries."""
        log_b = self._log_factors[1].astype(np.float64)
        roles, fields = [(log_rho, log_b)], [(potential, repulsion)]
        if len(sides) > 1:
            none = np.full(len(log_rho), -np.inf), np.full(len(log_b), -np.inf)
            roles = [(log_rho, none[0]), (none[1], log_b)]
            fields = [(potential, potential), (repulsion, repulsion)]
        slopes: tuple[list[np.ndarray], list[np.ndarray]] = ([], [])
        is_full = all(side.log_pi.size == len(side.entry_log_pi) for side in sides)
        for side, role, field_pair, pull, share in zip(
            sides, roles, fields, pulls, shares, strict=True
        ):
            d_positions, d_weights = side.slopes(
                role, field_pair, pull, share, exaggeration, self.target.scale
            )
            shape = side.positions.shape
            slopes[0].append(d_positions.reshape(shape) if is_full else d_positions)
            slopes[1].append(d_weights.reshape(shape[:2]) if is_full else d_weights)
        places = None if is_full else tuple(side.entries.places for side in sides)
        return Parameters(tuple(slopes[0]), tuple(slopes[1]), places)
