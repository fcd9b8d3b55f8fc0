"""Choice probabilities of a fitted model, computed from its maps.

    v_ij^m = pi_i^m pi_j^m K(|y_i^m - y_j^m|^2)

With one set of objects, i chooses among all others, with q_ij^m = b_j v_ij^m / Z_i or, under a
joint normalization, v_ij^m / Z. The fixed factors b_j are 1, or the response shares p(j) of a model
with marginals. In a bipartite model, each object is related only to objects of the other kind:

    conditional    q(j|i) = b_j v_ij / Z_i   and for the chosen   q(i|j) ~ a_i q(j|i)    (Bayes)
    joint          q(i,j) = a_i b_j v_ij / Z

Its fixed factors a and b are the marginals of the fitted table (Globerson et al. 2004, section 2).
"The chosen" are the objects of the kind that is chosen from.

Shapes: maps (n_maps, n, n_components), proportions (n_maps, n), factors (n,).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from manymaps.model.choice import ChoiceModel
from manymaps.model.similarities import log_kernel, log_pairs, normalized

# Sums over at most this many pairs are exact. For more pairs, the fast engine is used, which is
# less exact. The limit is not tuned.
_DIRECT_PAIRS = 2e9
_TOLERANCE = 5e-3
# Number of pairs per block, which limits memory use. Each pair has one number per map.
_PAIRS = 1 << 15
# A fit stores log Z in float32. Values above this limit are too imprecise for the exponential of a
# difference.
_LARGEST_KNOWN = 1e4


def strongest_of(similarities: np.ndarray, count: int) -> np.ndarray:
    """Return the indices of the largest positive similarities in descending order of similarity.

    Equal similarities are sorted by index.

    >>> strongest_of(np.array([0.0, 0.5, 0.7, 0.5]), 2).tolist()
    [2, 1]
    """
    least = np.partition(similarities, -count)[-count] if count < len(similarities) else 0.0
    candidates = np.flatnonzero((similarities >= least) & (similarities > 0))
    return candidates[np.argsort(-similarities[candidates], kind="stable")][:count]


@dataclass(frozen=True)
class Choices:
    """The maps of a model, with the choice probabilities that follow from them.

    Parameters
    ----------
    maps : ndarray of shape (n_maps, n, n_components)
        The position of each object in each map.
    proportions : ndarray of shape (n_maps, n)
        Mixing proportions, at least 0.
    model : ChoiceModel
        The model, which is bipartite if its field `given` is set.
    n_rows : int
        Number of rows in a bipartite model. The columns follow the rows.
    factors : ndarray of shape (n,), optional
        The fixed factors a_i and b_j. The default is 1. With one set of objects, they require a
        conditional normalization.
    known_log_whole : float, optional
        log Z of a joint model, if it is known.
    """

    maps: np.ndarray
    proportions: np.ndarray
    model: ChoiceModel
    n_rows: int = 0
    factors: np.ndarray | None = None
    known_log_whole: float | None = None

    @property
    def is_joint(self) -> bool:
        """Whether one normalization spans all pairs."""
        return self.model.normalization == "joint"

    @cached_property
    def is_row(self) -> np.ndarray:
        """Whether each object is a row of a bipartite model, shape (n,)."""
        return np.arange(self.maps.shape[1]) < self.n_rows

    @cached_property
    def is_chooser(self) -> np.ndarray:
        """Whether each object chooses, shape (n,)."""
        if self.model.given is None:
            return np.ones(self.maps.shape[1], bool)
        return self.is_row if self.model.given == "rows" else ~self.is_row

    @cached_property
    def log_factors(self) -> np.ndarray:
        """The logarithms of the fixed factors, shape (n,)."""
        n = self.maps.shape[1]
        return np.zeros(n) if self.factors is None else np.log(self.factors.astype(np.float64))

    def _scaled(self, maps: np.ndarray) -> np.ndarray:
        """Scale positions to units of the kernel width."""
        return maps.astype(np.float64) / self.model.kernel_width

    def _logs(self, proportions: np.ndarray) -> np.ndarray:
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(proportions.astype(np.float64)))

    @cached_property
    def _known(self) -> dict[int, tuple[np.ndarray, np.ndarray]]:
        """The maps used so far, by number; queries about one word use only a few maps."""
        return {}

    def _of_map(self, m: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the positions in a map, (n_components, n), and the log proportions, (n,)."""
        if m not in self._known:
            points = np.ascontiguousarray(self._scaled(self.maps[m]).T)
            self._known[m] = points, self._logs(self.proportions[m])
        return self._known[m]

    def _of_pairs(
        self, rows: np.ndarray, columns: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Return positions, log proportions and two index arrays of the objects in the pairs."""
        ends, places = np.unique(np.concatenate([rows, columns]), return_inverse=True)
        here = self._scaled(self.maps[:, ends]), self._logs(self.proportions[:, ends])
        return *here, places[: len(rows)], places[len(rows) :]

    def log_similarities(self, i: int) -> np.ndarray:
        """Compute log v_ij^m, shape (n_maps, n); -inf for i itself."""
        logs = np.full(self.proportions.shape, -np.inf)
        for m in np.flatnonzero(self.proportions[:, i] > 0).tolist():
            points, log_pi = self._of_map(m)
            distances = np.zeros(len(log_pi))
            for axis in points:
                distances += (axis - axis[i]) ** 2
            logs[m] = log_pi + log_pi[i]
            logs[m] += log_kernel(distances, self.model.kernel)
        logs[:, i] = -np.inf
        return logs

    def nearness(self, i: int, listed: np.ndarray) -> np.ndarray:
        """Compute v_ij^m for the listed objects j, normalized to a sum of 1, shape (n_maps, n)."""
        logs = self.log_similarities(i)
        logs[:, ~listed] = -np.inf
        return normalized(logs)

    def sums(self, i: int) -> np.ndarray:
        """Compute the probabilities of the choices by i (or of i) over all maps, shape (n,)."""
        return np.asarray(self.shares(i).sum(axis=0))

    def shares(self, i: int) -> np.ndarray:
        """Compute the contribution of each map to the choices by i (or of i), (n_maps, n)."""
        logs = self.log_similarities(i)
        if self.factors is not None:
            logs += self.log_factors
        if self.model.given is not None:
            logs[:, self.is_row == self.is_row[i]] = -np.inf
        if not np.isfinite(logs).any():
            return np.zeros_like(logs)
        if self.is_joint:
            # If objects are very far apart, the rounding error of the logs may exceed the remaining
            # value.
            return np.exp(np.minimum(logs + self.log_factors[i] - self.log_whole, 0.0))
        if not self.is_chooser[i]:
            logs[:, self.is_chooser] -= self.log_normalizers
        return normalized(logs)

    def log_in(self, rows: np.ndarray, columns: np.ndarray, map: int) -> np.ndarray:
        """Compute log v_ij^m / pi_i^m of pairs (i, j) of one set of objects, shape (n_pairs,).

        The values include log b_j.
        """
        points, log_pi = self._of_map(map)
        distances = ((points[:, rows] - points[:, columns]) ** 2).sum(axis=0)
        logs = log_pi[columns] + self.log_factors[columns]
        return np.asarray(logs + log_kernel(distances, self.model.kernel))

    def log_peaks(self, rows: np.ndarray, map: int) -> np.ndarray:
        """Compute the largest `log_in` of objects i over all other objects j, shape (n_rows,)."""
        points, log_pi = self._of_map(map)
        others = np.flatnonzero(np.isfinite(log_pi))
        weights = log_pi[others] + self.log_factors[others]
        peaks = np.full(len(rows), -np.inf)
        step = max(1, _PAIRS * 8 // max(1, len(others)))
        for start in range(0, len(rows), step):
            block = rows[start : start + step]
            gaps = (np.subtract.outer(axis[block], axis[others]) for axis in points)
            distances = np.asarray(sum(gap**2 for gap in gaps))
            logs = log_kernel(distances, self.model.kernel) + weights
            logs[block[:, None] == others] = -np.inf
            peaks[start : start + step] = logs.max(axis=1, initial=-np.inf)
        return peaks

    def votes(self, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """Compute r_ij^m = v_ij^m / v_ij of pairs (i, j), shape (n_pairs, n_maps)."""
        return normalized(log_pairs(*self._of_pairs(rows, columns), self.model.kernel), axis=1)

    def row_shares(self, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """Compute q(j|i) of pairs (i, j) of one set of objects, shape (n_pairs,).

        Each row sums to 1, even under a joint model. The background is included.
        """
        normalizers = self.log_normalizers
        values = np.zeros(len(rows))
        for start in range(0, len(rows), _PAIRS):
            block = slice(start, start + _PAIRS)
            i = rows[block]
            alone = np.isneginf(normalizers[i])
            logs = self.log_of_pairs(i, columns[block])
            logs -= np.where(alone, np.inf, normalizers[i])
            if self.factors is not None:
                logs += self.log_factors[columns[block]]
            values[block] = np.exp(logs)
        background, n = self.model.background, self.maps.shape[1]
        if background == 0:
            return values
        # The total weight of the maps in a row, relative to the weight of the background.
        whole = np.exp(normalizers - self.log_whole) * n if self.is_joint else np.ones(n)
        maps = (1 - background) * whole[rows]
        return np.asarray((maps * values + background / max(n - 1, 1)) / (maps + background))

    def log_choices(self, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """Compute (log q_ij + log q_ji) / 2 of pairs (i, j) of one set of objects, (n_pairs,).

        This is the log of the geometric mean of the association probabilities in both directions,
        including the background. The value is -inf if i = j or, in a model without background, if
        the two objects have no map in common.
        """
        n = self.maps.shape[1]
        whole = np.full(n, self.log_whole) if self.is_joint else self.log_normalizers
        background = self.model.background / (n * (n - 1) if self.is_joint else n - 1)
        both = np.zeros(len(rows))
        for start in range(0, len(rows), _PAIRS):
            some = slice(start, start + _PAIRS)
            i, j = rows[some], columns[some]
            log_v = self.log_of_pairs(i, j)
            for ends, others in ((i, j), (j, i)):
                with np.errstate(invalid="ignore"):
                    logs = np.where(np.isfinite(log_v), log_v - whole[ends], -np.inf)
                if self.factors is not None:
                    logs += self.log_factors[others]
                if background:
                    logs = np.logaddexp(np.log1p(-self.model.background) + logs, np.log(background))
                both[some] += logs / 2
            both[some][i == j] = -np.inf
        return both

    def log_of_pairs(self, i: np.ndarray, j: np.ndarray) -> np.ndarray:
        """Compute log v_ij, (n_pairs,), even if v_ij underflows."""
        logs = log_pairs(*self._of_pairs(i, j), self.model.kernel)
        return np.asarray(np.logaddexp.reduce(logs, axis=1))

    def strongest(self, rows: np.ndarray, count: int) -> np.ndarray:
        """Find the objects j with the largest q_ij for each row i, (n_rows, count), or -1.

        All objects are of one set.
        """
        strongest = np.full((len(rows), count), -1)
        if self._is_read_only:
            for place, i in enumerate(rows):
                found = strongest_of(self.sums(int(i)), count)
                strongest[place, : len(found)] = found
            return strongest
        from manymaps.compute.strongest import strongest_choices
        from manymaps.compute.threads import share_out

        values = np.zeros(strongest.shape)
        share_out(
            strongest_choices, len(rows), *self._compiled, np.asarray(rows), strongest, values
        )
        return strongest

    @cached_property
    def _compiled(self) -> tuple[np.ndarray, np.ndarray, int]:
        """Return maps (n_maps, n_components, n) in kernel widths, proportions, and kernel."""
        from manymaps.compute.similarity import kernel_code

        weights = self.proportions.astype(np.float64, order="C")
        if self.factors is not None and self.model.given is None:
            # The sums are then b_i b_j v_ij, which rank j in row i as q_ij does.
            weights *= self.factors
        points = np.ascontiguousarray(np.moveaxis(self._scaled(self.maps), 2, 1))
        return points, weights, kernel_code(self.model.kernel)

    @property
    def _is_read_only(self) -> bool:
        """Whether the kernel has no compiled loops, because only files contain it."""
        return isinstance(self.model.kernel, float)

    @cached_property
    def map_weights(self) -> np.ndarray:
        """Compute sum_j q_ij^m / sum_mj q_ij^m for each object i and map m, shape (n_maps, n).

        The weight is the contribution of each map to the choices by i, or to the choices of i if i
        does not choose. If an object has no map in common with any other object, its weights are
        its proportions.
        """
        if len(self.maps) == 1:
            return np.ones(self.proportions.shape)
        logs = np.zeros(self.proportions.shape)
        logs[:, self.is_chooser] = self._log_sums
        if self.model.given is not None:
            logs[:, ~self.is_chooser] = self._log_evidence
        shares = normalized(logs, axis=0)
        alone = ~shares.any(axis=0)
        shares[:, alone] = self.proportions[:, alone]
        return shares

    @cached_property
    def log_normalizers(self) -> np.ndarray:
        """Compute log Z_i of each chooser, shape (n_choosers,), without its own factor a_i.

        The sums are computed map by map, without a table of all pairs. The value is -inf for an
        object that has no map in common with any other object.
        """
        return np.asarray(np.logaddexp.reduce(self._log_sums, axis=0))

    @cached_property
    def _log_evidence(self) -> np.ndarray:
        """Compute log sum_j a_j v_ij^m / Z_j of the chosen, (n_maps, n_chosen); no Z if joint."""
        weights = self.log_factors[self.is_chooser]
        if not self.is_joint:
            weights = weights - self.log_normalizers
        return self._summed(~self.is_chooser, self.is_chooser, weights)

    @cached_property
    def _log_sums(self) -> np.ndarray:
        """Compute log sum_j b_j v_ij^m of each chooser, (n_maps, n_choosers)."""
        chosen = self.is_chooser if self.model.given is None else ~self.is_chooser
        return self._summed(self.is_chooser, chosen, self.log_factors[chosen])

    def _summed(self, at: np.ndarray, of: np.ndarray, log_weights: np.ndarray) -> np.ndarray:
        """Compute log sum_j w_j v_ij^m for i in one set and j in any, shape (n_maps, n_at)."""
        if self._is_read_only:
            return self._summed_in_blocks(at, of, log_weights)
        from manymaps.compute import field as sum_field

        one_set = self.model.given is None
        points, offsets, charges, objects = self._entries(at)
        there, there_offsets, weights, others = self._entries(of)
        weights = weights + log_weights[others]
        skip = np.arange(len(weights)) if one_set else np.full(len(charges), -1)
        pairs = float((np.diff(offsets).astype(np.float64) * np.diff(there_offsets)).sum())
        potential, _, scale = sum_field(
            points, offsets, there, there_offsets, weights.astype(np.float32), skip,
            self.model.kernel, 0.0 if pairs <= _DIRECT_PAIRS else _TOLERANCE,
        )  # fmt: skip
        sums = np.full((len(offsets) - 1, int(at.sum())), -np.inf)
        with np.errstate(divide="ignore"):
            logs = charges + np.log(potential.astype(np.float64)) + scale
        sums[np.repeat(np.arange(len(sums)), np.diff(offsets)), objects] = logs
        return sums

    def _summed_in_blocks(
        self, at: np.ndarray, of: np.ndarray, log_weights: np.ndarray
    ) -> np.ndarray:
        """Compute `_summed` for a kernel that only files contain."""
        targets, sources = np.flatnonzero(at), np.flatnonzero(of)
        size = max(1, _PAIRS // max(1, len(sources)))
        sums = np.full((len(self.maps), len(targets)), -np.inf)
        for m in range(len(self.maps)):
            points, log_pi = self._of_map(m)
            for start in range(0, len(targets), size):
                block = targets[start : start + size]
                distances = ((points[:, block, None] - points[:, None, sources]) ** 2).sum(axis=0)
                logs = log_pi[block, None] + (log_pi[sources] + log_weights)
                logs += log_kernel(distances, self.model.kernel)
                logs[block[:, None] == sources] = -np.inf
                sums[m, start : start + size] = np.logaddexp.reduce(logs, axis=1)
        return sums

    def _entries(self, wanted: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Return points (d, n_entries), offsets, log proportions and objects of a set, by map."""
        lives = self.proportions[:, wanted] > 0
        offsets = np.concatenate([[0], np.cumsum(lives.sum(axis=1))])
        scaled = (self.maps[:, wanted][lives] / self.model.kernel_width).astype(np.float32)
        logs = np.log(self.proportions[:, wanted][lives].astype(np.float64))
        return np.ascontiguousarray(scaled.T), offsets, logs, np.nonzero(lives)[1]

    @cached_property
    def log_whole(self) -> float:
        """Return log Z of a joint model, over all ordered pairs; -inf if all v_ij are 0."""
        if self.known_log_whole is not None and abs(self.known_log_whole) < _LARGEST_KNOWN:
            return self.known_log_whole
        logs = self.log_normalizers
        if self.model.given is not None:
            logs = logs + self.log_factors[self.is_chooser]
        return float(np.logaddexp.reduce(logs, initial=-np.inf))
