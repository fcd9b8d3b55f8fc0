"""Find communities in small weighted networks, such as networks among the neighbours of an object.

The method maximizes the modularity at a resolution gamma (Newman & Girvan 2004, Physical Review E
69, 026113; Reichardt & Bornholdt 2006, Physical Review E 74, 016110),

    Q = sum_c  W_c / W - gamma (K_c / W)^2

W_c is the weight within community c (both directions), K_c is the weight between its members and
all members of the network, and W is the total weight. Initially, each member forms its own
community. The method alternates between two steps until neither increases Q. Each step is repeated
while it increases Q:

    merge   unites the two communities whose union raises Q most     W_cd - gamma K_c K_d / W
    move    moves each member once, always the member that gains most or loses least, possibly into
            a new community, and restores the best of the states on the way (after Kernighan & Lin;
            Newman 2006, Physical Review E 74, 036104)

The method of Blondel et al. (2008, J. Stat. Mech. P10008) takes the next improving step in the
order of the objects. Taking the best step instead costs little in networks of a few dozen members,
and the order of the objects only resolves ties. A higher resolution leads to more communities. At a
resolution of 0, each connected part is one community.

Arrays: weights (k, k) float64, symmetric and nonnegative; labels (k,), numbered by first members.
Many networks are stored in one array. Network i has the members from offsets[i] to offsets[i + 1].
Its weights are stored row by row after the weights of the preceding networks. The number of those
weights is the sum of the squared sizes of the preceding networks.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from manymaps.compute.canonical import canonical_rows

__all__ = [
    "ego_communities",
    "ego_weights",
    "packed_communities",
]

_BLOCK = 1 << 24


def packed_communities(
    offsets: np.ndarray, weights: np.ndarray, resolution: float = 1.0
) -> np.ndarray:
    """Find the communities in many networks that are stored in one array.

    Parameters
    ----------
    offsets : ndarray of int, shape (n_networks + 1,)
        Network i has the members from offsets[i] to offsets[i + 1].
    weights : ndarray of shape (sum of the squared sizes,)
        Symmetric, nonnegative tie weights of each network, concatenated row by row. The diagonals
        contain ties of members to themselves.
    resolution : float, default=1.0
        Resolution gamma, at least 0.

    Returns
    -------
    ndarray of int, shape (offsets[-1],)
        Community of each member. The numbers start at 0 in each network.
    """
    # Reading an atlas requires this module, but not numba.
    from manymaps.compute.community_loops import fill_communities
    from manymaps.compute.threads import share_out

    offsets = np.asarray(offsets, np.int64)
    labels = np.zeros(offsets[-1], np.int64)
    flat = np.ascontiguousarray(weights, np.float64)
    share_out(
        fill_communities, len(offsets) - 1, offsets, _starts(offsets), flat, float(resolution),
        labels,
    )  # fmt: skip
    return labels


def ego_weights(network: sparse.csr_array, neighborhoods: sparse.csr_array) -> np.ndarray:
    """Collect the ties among the neighbours of each object for `packed_communities`.

    Parameters
    ----------
    network : sparse array of shape (n, n)
        Tie weights, of which those in both directions are added up.
    neighborhoods : sparse array of shape (n_objects, n)
        Row i stores an entry for each neighbour of i, of any value.

    Returns
    -------
    ndarray of shape (sum of the squared numbers of neighbours,)
        Ties of all neighbourhoods, excluding ties of an object to itself.
    """
    from manymaps.compute.community_loops import add_ego_weights
    from manymaps.compute.threads import share_out

    network, neighborhoods = canonical_rows(network), canonical_rows(neighborhoods)
    offsets = neighborhoods.indptr.astype(np.int64)
    starts = _starts(offsets)
    weights = np.zeros(starts[-1])
    share_out(
        add_ego_weights, len(offsets) - 1, network.indptr, network.indices,
        network.data.astype(np.float64, copy=False), offsets, starts, neighborhoods.indices,
        weights,
    )  # fmt: skip
    return weights


def ego_communities(
    network: sparse.csr_array,
    neighborhoods: sparse.csr_array | None = None,
    resolution: float = 1.0,
) -> np.ndarray:
    """Find the communities among the neighbours of each object, excluding the object.

    Parameters
    ----------
    network : sparse array of shape (n, n)
        Tie weights, of which those in both directions are added up.
    neighborhoods : sparse array of shape (n_objects, n), optional
        Row i stores the neighbours of i, with sorted indices. The default is the network.
    resolution : float, default=1.0
        Resolution gamma, at least 0.

    Returns
    -------
    ndarray of int, shape (neighborhoods.nnz,)
        Community of each stored neighbour. The numbers start at 0 for each object.

    Examples
    --------
    >>> from scipy import sparse
    >>> ties = sparse.csr_array([[0, 1, 1, 1, 1], [1, 0, 1, 0, 0], [1, 1, 0, 0, 0],
    ...                          [1, 0, 0, 0, 1], [1, 0, 0, 1, 0.0]])
    >>> ego_communities(ties)[:4]                      # of object 0, tied to all
    array([0, 0, 1, 1])
    """
    network = canonical_rows(network)
    near = network if neighborhoods is None else canonical_rows(neighborhoods)
    before = _starts(near.indptr)
    labels = np.zeros(near.nnz, np.int64)
    start = 0
    while start < near.shape[0]:
        stop = max(start + 1, int(np.searchsorted(before, before[start] + _BLOCK, "right")) - 1)
        some = near[start:stop]
        found = packed_communities(some.indptr, ego_weights(network, some), resolution)
        labels[near.indptr[start] : near.indptr[stop]] = found
        start = stop
    return labels


def _starts(offsets: np.ndarray) -> np.ndarray:
    """Return the index of the first weight of each network, and the end of the last network."""
    return np.concatenate([[0], np.cumsum(np.diff(offsets).astype(np.int64) ** 2)])
