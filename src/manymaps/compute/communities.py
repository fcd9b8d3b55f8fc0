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
Its weights are stored row by row from starts[i] on, after the weights of the preceding networks.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from manymaps.compute.canonical import canonical_rows

__all__ = ["ego_communities"]

_BLOCK = 1 << 24


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
    # Reading an atlas requires this module, but not numba.
    from manymaps.compute.community_loops import add_ego_weights, fill_communities
    from manymaps.compute.threads import share_out

    network = canonical_rows(network)
    near = network if neighborhoods is None else canonical_rows(neighborhoods)
    ties = network.indptr, network.indices, network.data.astype(np.float64, copy=False)
    ends = near.indptr.astype(np.int64)
    labels = np.zeros(ends[-1], np.int64)
    # Index of the first weight of each network.
    firsts = np.concatenate([[0], np.cumsum(np.diff(ends) ** 2)])
    start = 0
    while start < near.shape[0]:
        stop = max(start + 1, int(np.searchsorted(firsts, firsts[start] + _BLOCK, "right")) - 1)
        offsets, places = ends[start : stop + 1], firsts[start : stop + 1] - firsts[start]
        weights = np.zeros(places[-1])
        share_out(add_ego_weights, stop - start, *ties, offsets, places, near.indices, weights)
        share_out(
            fill_communities, stop - start, offsets, places, weights, float(resolution), labels
        )
        start = stop
    return labels
