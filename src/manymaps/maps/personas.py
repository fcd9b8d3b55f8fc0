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
    masses : ndarray of shape (n_personas,)
        Sum of the ties of each persona.
    network : sparse array of shape (n_personas, n_personas)
        Symmetric ties between personas.
    """

    ties: sparse.csr_array
    holder: np.ndarray
    owner: np.ndarray
    masses: np.ndarray
    network: sparse.csr_array


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
    shares = stored_associations(sparse.csr_array(p))
    n = shares.shape[0]
    rows = np.repeat(np.arange(n), np.diff(shares.indptr))
    order = np.lexsort((shares.indices, -shares.data, rows))
    strong = np.sort(order[np.arange(len(order)) - shares.indptr[rows[order]] < _MOST_TIES])
    strongest = shares.data[strong].astype(np.float32).astype(np.float64)
    ties = association_network(
        sparse.csr_array((strongest, (rows[strong], shares.indices[strong])), (n, n)), power=_POWER
    )
    ties.sort_indices()
    rows = np.repeat(np.arange(n), np.diff(ties.indptr))
    communities = ego_communities(ties, resolution=_RESOLUTION)
    most = int(communities.max(initial=0)) + 1
    _, holder, sizes = np.unique(rows * most + communities, return_inverse=True, return_counts=True)
    owner = np.zeros(len(sizes), np.int64)
    owner[holder] = rows
    # The first of the largest personas of each object is assigned last.
    largest, order = np.full(n, -1), np.lexsort((-np.arange(len(owner)), sizes))
    largest[owner[order]] = order
    holder = np.where(sizes[holder] == 1, largest[rows], holder)
    holders, holder = np.unique(holder, return_inverse=True)
    # Pattern and values are symmetric, so the transpose lists the same ties in the opposite
    # direction.
    numbered = sparse.csr_array((np.arange(ties.nnz), ties.indices, ties.indptr), ties.shape)
    behind = sparse.csr_array(numbered.T)
    behind.sort_indices()
    network = sparse.csr_array((ties.data, (holder, holder[behind.data])), (len(holders),) * 2)
    return Personas(ties, holder, owner[holders], np.bincount(holder, ties.data), network)


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
        shares = np.zeros((n_maps, n))
        np.add.at(shares, (maps, split.owner), split.masses)
        totals = shares.sum(axis=0)
        # If the small share is limited to the maps of the object's neighbours, a fit is a tenth
        # faster and ends at a lower cost, but fewer fitted senses are then senses in the data.
        proportions = _EVERYWHERE + np.divide(
            shares, totals, out=np.zeros_like(shares), where=totals > 0
        )
        proportions /= proportions.sum(axis=0)
        positions = np.array([principal_places(directions, pi, n_components) for pi in proportions])
    return positions + _NOISE * generator.normal(size=positions.shape), proportions


def _assigned(
    split: Personas, directions: np.ndarray, n_maps: int, generator: np.random.Generator
) -> np.ndarray:
    """Assign a map to each persona."""
    themes = spherical_centres(directions, n_maps, generator)
    n_personas = len(split.owner)
    shape = (n_personas, directions.shape[0])
    holds = sparse.csr_array((split.ties.data, (split.holder, split.ties.indices)), shape)
    reached = holds @ directions

    def leaning(nodes: np.ndarray, count: int) -> np.ndarray:
        members = (np.ones(len(nodes)), (nodes, np.arange(len(nodes))))
        together = sparse.csr_array(members, (count, len(nodes))) @ reached
        return _LEANING * unit_rows(together) @ themes.T

    # Two personas of an object repel each other by the smaller of their masses.
    owned = sparse.csr_array((np.ones(n_personas), (np.arange(n_personas), split.owner)), shape)
    pairs = sparse.coo_array(owned @ owned.T)
    least = np.minimum(split.masses[pairs.row], split.masses[pairs.col])
    least[pairs.row == pairs.col] = 0.0
    rivalry = sparse.csr_array((least, (pairs.row, pairs.col)), pairs.shape)
    return signed_partition(
        split.network - _PARTING * rivalry,
        split.masses,
        n_maps,
        leaning,
        coarsening=_COARSENING * n_maps,
        resolution=_EVENNESS * n_maps,
        generator=generator,
    )
