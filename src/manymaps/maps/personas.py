"""Start of multiple maps that splits each object into personas and assigns them to maps by theme.

In a random start, every object has weight in every map. During the fit, it concentrates by chance
in a few maps and remains there. The data, however, separate the senses of an object, because the
neighbours of an ambiguous word form unconnected groups (ego splitting; Epasto, Lattanzi & Paes Leme
2017, KDD 23, 145-154).

    ties        t_ij = (p_ij^1/2 + p_ji^1/2) / 2, with each row of p divided by its sum
    personas    the personas of i are the communities of the neighbours of i among themselves,
                without i (`manymaps.compute.communities`). A neighbour without a tie to another
                neighbour joins the largest community. The tie of i and j connects the persona of i
                that contains j with the persona of j that contains i
    themes      spherical k-means groups the directions x_i of the objects in the network
                (`manymaps.affinity`) around as many centres as there are maps. A persona has the
                mean direction of its members
    maps        the network of personas is partitioned into maps (`manymaps.compute.
                signed_partition`). Ties attract. Two personas of an object repel each other by
                `_PARTING` of the smaller of their sums of ties. Each persona is attracted to the
                map of its theme by `_LEANING` of its ties
    start       pi_i^m is the fraction of the ties of i that its personas in map m have, plus a
                small share in every map. y_i^m is along the leading principal axes of the
                directions, weighted by pi^m, with a standard deviation of one kernel width

Shapes: p (n, n) sparse; positions (n_maps, n, n_components), proportions (n_maps, n).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from manymaps.affinity.network import (
    association_network,
    principal_places,
    spectral_directions,
    spherical_centres,
    unit_rows,
)
from manymaps.atlas.associations import stored_associations
from manymaps.compute.communities import ego_communities
from manymaps.compute.runs import crossed_runs
from manymaps.compute.signed_partition import signed_partition
from manymaps.compute.threads import one_blas_thread

# The time to find communities among neighbours grows with the square of their number. Not tuned.
_MOST_TIES = 60
# For single responses, the presence of a response is more informative than the number of
# participants who gave it.
_POWER = 0.5
# On the word relations in 20 maps, resolutions of 0.2, 0.5 and 0.7 gave F 0.647, 0.645 and 0.646.
_RESOLUTION = 0.5
# The number with which a single map predicts best.
_DIRECTIONS = 70
# KL, F on the word relations, and theme score in 20 maps:
#     no parting, no leaning     1.48   0.648   0.274
#     parting 0.15               1.44   0.654   0.249
#     parting 0.3, leaning 0.5   1.52   0.640   0.304
#     parting 0.3, leaning 0.2   1.49   0.645   0.285
# Parting improves senses and worsens themes; leaning has the opposite effects.
_PARTING = 0.3
_LEANING = 0.2
# Multiplied by the number of maps, so that groups are larger than maps and of similar size. Not
# tuned.
_COARSENING, _EVENNESS = 1.0, 0.1
# A fit can still change these assignments. With 0.002, it ends at KL 1.48; with 0.1, at KL 1.45 and
# F 0.643; with this value, at KL 1.44.
_EVERYWHERE = 0.02
# Personas with equal directions would never separate.
_NOISE = 0.01


@dataclass(frozen=True, eq=False)
class Personas:
    """The personas of all objects, sorted by object, and the network of their ties.

    Attributes
    ----------
    ties : sparse array of shape (n, n)
        Symmetric ties t_ij.
    holder : ndarray of int, shape (ties.nnz,)
        For each stored tie of i with j, in row-major order, the persona of i that has the tie.
    owner : ndarray of int, shape (n_personas,)
        The object of each persona, in ascending order.
    """

    ties: sparse.csr_array
    holder: np.ndarray
    owner: np.ndarray

    @property
    def masses(self) -> np.ndarray:
        """Sum of the ties of each persona, of shape (n_personas,)."""
        return np.bincount(self.holder, self.ties.data, len(self.owner))

    @property
    def network(self) -> sparse.csr_array:
        """Symmetric ties between personas, of shape (n_personas, n_personas)."""
        numbered = sparse.csr_array(
            (np.arange(self.ties.nnz), self.ties.indices, self.ties.indptr), self.ties.shape
        )
        # Pattern and values are symmetric, so the transpose lists the same ties in the opposite
        # direction.
        behind = sparse.csr_array(numbered.T)
        behind.sort_indices()
        other = self.holder[behind.data]
        shape = (len(self.owner),) * 2
        return sparse.csr_array((self.ties.data, (self.holder, other)), shape)


def personas(p: sparse.sparray) -> Personas:
    """Find the personas of the objects in a similarity table.

    Parameters
    ----------
    p : sparse array of shape (n, n)
        Similarities, not negative. If an object has very many neighbours, only the strongest are
        used.

    Returns
    -------
    Personas
        The personas.

    Examples
    --------
    >>> from scipy import sparse
    >>> table = np.zeros((5, 5))                       # tie: knot and rope, suit and coat
    >>> for i, j in [(0, 1), (0, 2), (1, 2), (0, 3), (0, 4), (3, 4)]:
    ...     table[i, j] = table[j, i] = 1.0
    >>> personas(sparse.csr_array(table)).owner.tolist()
    [0, 0, 1, 2, 3, 4]
    """
    strongest = _strongest(p, _MOST_TIES).astype(np.float64)
    ties = association_network(strongest, power=_POWER)
    ties.sort_indices()
    rows = np.repeat(np.arange(ties.shape[0]), np.diff(ties.indptr))
    communities = ego_communities(ties, resolution=_RESOLUTION)
    most = int(communities.max(initial=0)) + 1
    _, holder, sizes = np.unique(rows * most + communities, return_inverse=True, return_counts=True)
    owner = np.zeros(len(sizes), np.int64)
    owner[holder] = rows
    holder = np.where(sizes[holder] == 1, _largest(owner, sizes, ties.shape[0])[rows], holder)
    holders, holder = np.unique(holder, return_inverse=True)
    return Personas(ties, holder, owner[holders])


def _strongest(p: sparse.sparray, count: int) -> sparse.csr_array:
    """Return the shares of the strongest ties of each object among all its ties, (n, n)."""
    ties = stored_associations(sparse.csr_array(p))
    rows = np.repeat(np.arange(ties.shape[0]), np.diff(ties.indptr))
    order = np.lexsort((ties.indices, -ties.data, rows))
    strong = np.sort(order[np.arange(len(order)) - ties.indptr[rows[order]] < count])
    parts = ties.data[strong].astype(np.float32), (rows[strong], ties.indices[strong])
    return sparse.csr_array(parts, shape=ties.shape)


def _largest(owner: np.ndarray, sizes: np.ndarray, n: int) -> np.ndarray:
    """Find the (first) largest persona of each object; -1 for an object without personas."""
    largest = np.full(n, -1)
    order = np.lexsort((-np.arange(len(owner)), sizes))
    largest[owner[order]] = order
    return largest


def persona_start(
    p: sparse.sparray, n_maps: int, n_components: int, generator: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Compute starting positions and proportions.

    Parameters
    ----------
    p : sparse array of shape (n, n)
        Similarities, at least 0.
    n_maps : int
        Number of maps, at most n.
    n_components : int
        Number of dimensions of each map.
    generator : numpy.random.Generator
        Random generator for the centres, the order of moves and a small amount of noise.

    Returns
    -------
    positions : ndarray of shape (n_maps, n, n_components)
        Starting positions.
    proportions : ndarray of shape (n_maps, n)
        Starting proportions.

    Examples
    --------
    >>> from scipy import sparse
    >>> table = np.zeros((5, 5))                       # tie: knot and rope, suit and coat
    >>> for i, j in [(0, 1), (0, 2), (1, 2), (0, 3), (0, 4), (3, 4)]:
    ...     table[i, j] = table[j, i] = 1.0
    >>> _, held = persona_start(sparse.csr_array(table), 2, 2, np.random.default_rng(0))
    >>> top = held.argmax(axis=0).tolist()
    >>> top[1] == top[2], top[3] == top[4], top[1] != top[3]
    (True, True, True)
    """
    n = p.shape[0]
    seed = int(generator.integers(2**31 - 1))
    with one_blas_thread():
        directions = spectral_directions(p, min(_DIRECTIONS, n), seed=seed)
        split = personas(p)
        maps = _assigned(split, directions, n_maps, generator)
        proportions = _proportions(split, maps, n_maps)
        positions = np.array([principal_places(directions, pi, n_components) for pi in proportions])
    return positions + _NOISE * generator.normal(size=positions.shape), proportions


def _assigned(
    split: Personas, directions: np.ndarray, n_maps: int, generator: np.random.Generator
) -> np.ndarray:
    """Assign a map to each persona."""
    themes = spherical_centres(directions, n_maps, generator)
    masses = split.masses
    shape = (len(masses), directions.shape[0])
    holds = sparse.csr_array((split.ties.data, (split.holder, split.ties.indices)), shape)
    reached = holds @ directions

    def leaning(nodes: np.ndarray, count: int) -> np.ndarray:
        members = (np.ones(len(nodes)), (nodes, np.arange(len(nodes))))
        together = sparse.csr_array(members, (count, len(nodes))) @ reached
        return _LEANING * unit_rows(together) @ themes.T

    return signed_partition(
        split.network - _PARTING * _rivalry(split.owner, masses),
        masses,
        n_maps,
        leaning,
        coarsening=_COARSENING * n_maps,
        resolution=_EVENNESS * n_maps,
        generator=generator,
    )


def _rivalry(owner: np.ndarray, masses: np.ndarray) -> sparse.csr_array:
    """Compute min(mass_a, mass_b) for each pair of personas of one object."""
    counts = np.bincount(owner)
    starts = np.cumsum(counts) - counts
    first, second = crossed_runs(starts, counts, starts, counts)
    least = np.where(first == second, 0.0, np.minimum(masses[first], masses[second]))
    return sparse.csr_array((least, (first, second)), (len(owner),) * 2)


def _proportions(split: Personas, maps: np.ndarray, n_maps: int) -> np.ndarray:
    """Compute the share of each map in the ties of an object, plus a small share in every map.

    If the small share is limited to the maps of the object's neighbours, a fit is a tenth faster
    and ends at a lower cost. However, fewer of the fitted senses are then senses in the data.
    """
    shares = np.zeros((n_maps, split.ties.shape[0]))
    np.add.at(shares, (maps, split.owner), split.masses)
    totals = shares.sum(axis=0)
    shares = np.divide(shares, totals, out=np.zeros_like(shares), where=totals > 0)
    shares += _EVERYWHERE
    return shares / shares.sum(axis=0)
