"""Factors of pairs that take a known grouping of the objects out of the maps.

Conditional t-SNE (Kang et al. 2021) multiplies the similarity of a pair in the map by the
probability of the known labels given this pair:

    v_ij <- f_ij v_ij,    f_ij = alpha' (same label),  beta' (different labels),  1 (label unknown)

Among the S pairs with the same label and the D pairs with different labels, the factors have a mean
of 1: alpha' S + beta' D = S + D. The strength is 1 - beta' / alpha'. Because beta' < alpha', labels
explain a part of the similarities of objects with the same label. Such objects repel each other
more, and objects with different labels repel each other less.

The factors do not change the attraction, and add the constant - sum_ij p_ij log f_ij to the cost.
The field of an object is a sum of two fields. Let u_j be beta' for objects with a known label and 1
for other objects. In all sums, j != i:

    sum_j f_ij e_j K_ij = sum_j u_j e_j K_ij + (alpha' - beta') sum_{j: same label} e_j K_ij

If the label of i is unknown, the second term is (1 - beta') sum_{j: label known} e_j K_ij instead.
All terms are positive, so that nothing cancels. In the second field, each label of each map is one
map of a batch (`manymaps.compute`). The number of operations is therefore linear in the number of
objects.

References: B. Kang, D. García García, J. Lijffijt, R. Santos-Rodríguez and T. De Bie, Conditional
t-SNE: more informative t-SNE embeddings, Machine Learning 110, 2021.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np
from scipy import sparse

#: Group of an object whose label is not known.
UNKNOWN = -1

Field = tuple[np.ndarray, np.ndarray, np.ndarray]


@dataclass(frozen=True)
class Parts:
    """Batch of the second field: entries of targets and sources, one map per label and map."""

    targets: np.ndarray
    target_offsets: np.ndarray
    sources: np.ndarray
    source_offsets: np.ndarray
    skip: np.ndarray
    log_factors: np.ndarray


@dataclass(frozen=True)
class Condition:
    """Known labels of the objects of one set, and the factors of their pairs.

    Parameters
    ----------
    groups : ndarray of int, shape (n,)
        Number of the label of each object. The number -1 means that the label is not known.
    strength : float in [0, 1)
        Strength 1 - beta' / alpha'. If it is 0, all factors are 1.
    """

    groups: np.ndarray
    strength: float

    @cached_property
    def factors(self) -> tuple[float, float]:
        """The factors alpha' and beta' of pairs with the same label and with different labels.

        >>> Condition(np.array([0, 0, 1, 1]), 0.5).factors
        (1.5, 0.75)
        """
        sizes = np.bincount(self.groups[self.groups != UNKNOWN]).astype(np.float64)
        same, pairs = float(sizes @ (sizes - 1)), float(sizes.sum() * (sizes.sum() - 1))
        alpha = pairs / (same + (1 - self.strength) * (pairs - same))
        return alpha, (1 - self.strength) * alpha

    @property
    def written(self) -> bytes:
        """The labels and the strength as bytes, for the fingerprint of a checkpoint."""
        return self.groups.astype(np.int64).tobytes() + np.float64(self.strength).tobytes()

    def reordered(self, order: np.ndarray) -> Self:
        """Return the condition of the same objects in another order."""
        return replace(self, groups=self.groups[order])

    def log_factors(self, objects: np.ndarray) -> np.ndarray:
        """Return log u_j of some objects, in float32."""
        known = self.groups[objects] != UNKNOWN
        return np.where(known, np.log(self.factors[1]), 0).astype(np.float32)

    def expected_log(self, values: sparse.csr_array) -> float:
        """Return the constant sum_ij p_ij log f_ij of a target P."""
        alpha, beta = self.factors
        rows = np.repeat(self.groups, np.diff(values.indptr))
        columns = self.groups[values.indices]
        known = (rows != UNKNOWN) & (columns != UNKNOWN)
        return float(values.data @ (known * np.log(np.where(rows == columns, alpha, beta))))

    def parts(self, objects: np.ndarray, offsets: np.ndarray) -> Parts | None:
        """Return the batch of the second field of all entries, or None if this field is 0.

        Parameters
        ----------
        objects, offsets : ndarray
            Object of each entry and the range of each map, as in `Entries`.
        """
        if self.strength == 0:
            return None
        groups, maps = (
            self.groups[objects],
            np.repeat(np.arange(len(offsets) - 1), np.diff(offsets)),
        )
        order = np.lexsort((groups, maps))
        changes = np.flatnonzero(np.diff(groups[order]) | np.diff(maps[order])) + 1
        alpha, beta = self.factors
        targets, sources, skips, logs = [], [], [], []
        n_sources = 0
        for members in np.split(order, changes):
            m, is_known = maps[members[0]], groups[members[0]] != UNKNOWN
            among = members
            if not is_known:
                among = offsets[m] + np.flatnonzero(groups[offsets[m] : offsets[m + 1]] != UNKNOWN)
            if len(among) <= is_known:
                continue  # the only object with this label has no others to repel
            targets.append(members)
            sources.append(among)
            skips.append(
                n_sources + np.arange(len(members)) if is_known else -np.ones_like(members)
            )
            logs.append(np.full(len(among), np.log(alpha - beta if is_known else 1 - beta)))
            n_sources += len(among)
        if not targets:
            return None
        return Parts(
            np.concatenate(targets), _offsets(targets), np.concatenate(sources), _offsets(sources),
            np.concatenate(skips), np.concatenate(logs).astype(np.float32),
        )  # fmt: skip


def _offsets(groups: list[np.ndarray]) -> np.ndarray:
    return np.concatenate([[0], np.cumsum([len(group) for group in groups])]).astype(np.int64)


def sum_of_fields(whole: Field, part: Field, places: np.ndarray) -> Field:
    """Add a field at some targets to the field at all targets.

    >>> one = np.ones(1, np.float32), np.ones((2, 1), np.float32), np.zeros(1)
    >>> potential, force, scale = sum_of_fields(one, one, np.array([0]))
    >>> (potential * np.exp(scale)).tolist(), (force * np.exp(scale)).tolist()
    ([2.0], [[2.0], [2.0]])
    """
    potential, force, scale = whole
    more, push, level = part
    before = np.where(potential[places] > 0, scale[places], -np.inf)
    common = np.maximum(before, np.where(more > 0, level, -np.inf))
    common = np.where(np.isfinite(common), common, scale[places])
    kept, added = np.exp(scale[places] - common), np.exp(level - common)
    potential, force, scale = potential.copy(), force.copy(), scale.copy()
    potential[places] = potential[places] * kept + more * added
    force[:, places] = force[:, places] * kept + push * added
    scale[places] = common
    return potential, force, scale
