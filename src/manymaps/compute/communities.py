"""Communities of small weighted networks, such as those among the neighbours of each object.

They are sought where the modularity at a resolution gamma (Newman & Girvan 2004, Physical Review E
69, 026113; Reichardt & Bornholdt 2006, Physical Review E 74, 016110) is highest,

    Q = sum_c  W_c / W - gamma (K_c / W)^2

with W_c the weights within community c (both directions), K_c those that its members have to all,
and W their whole. From everybody alone,

    merge   the two communities whose union raises Q most      W_cd - gamma K_c K_d / W
    move    each member once, always the one that gains most or loses least, also into a community
            of its own; of the states on the way the best is kept (after Kernighan & Lin; Newman
            2006, Physical Review E 74, 036104)

each until it does not help, in turn until neither does. Taking the best step, and not the next one
in the order of the objects as the method of Blondel et al. (2008, J. Stat. Mech. P10008) does,
costs little in networks of some dozens and leaves nothing to their order but ties. A higher
resolution gives more communities; at 0 each connected part is one.

Arrays: weights (k, k) float64, symmetric, none below 0; labels (k,), numbered by first members.
Many networks lie end to end: members from offsets[i] to offsets[i + 1], their weights, row by row,
after those of the networks before, which are the squares of their sizes together.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from manymaps.compute.canonical import canonical_rows

__all__ = [
    "ego_communities",
    "ego_weights",
    "modularity_communities",
    "packed_communities",
]

_BLOCK = 1 << 24


def modularity_communities(weights: np.ndarray, resolution: float = 1.0) -> np.ndarray:
    """The communities of one network.

    Parameters
    ----------
    weights : ndarray of shape (k, k)
        Symmetric ties, none below 0; a diagonal ties a member to itself.
    resolution : float
        gamma, at least 0.

    Returns
    -------
    ndarray of int, shape (k,)
        Numbered by first members. Who has no tie is alone.

    Examples
    --------
    >>> import numpy as np
    >>> two = np.kron(np.eye(2), np.ones((3, 3)))      # two triangles,
    >>> two[2, 3] = two[3, 2] = 0.5                    # loosely tied
    >>> modularity_communities(two)
    array([0, 0, 0, 1, 1, 1])
    """
    whole = np.ascontiguousarray(weights, np.float64)
    offsets = np.array([0, len(whole)])
    return packed_communities(offsets, whole.ravel(), resolution)


def packed_communities(
    offsets: np.ndarray, weights: np.ndarray, resolution: float = 1.0
) -> np.ndarray:
    """The communities of each of many networks that lie end to end.

    Parameters
    ----------
    offsets : ndarray of int, shape (n_networks + 1,)
    weights : ndarray of shape (sum of the squared sizes,)
        The matrices of `modularity_communities`.
    resolution : float

    Returns
    -------
    ndarray of int, shape (offsets[-1],)
        Numbered anew in each network.
    """
    # Reading an atlas needs this module, but not numba.
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
    """The ties among the neighbours of each object, end to end, as `packed_communities` reads them.

    Parameters
    ----------
    network : sparse array of shape (n, n)
        Ties in both directions are added up.
    neighborhoods : sparse array of shape (n_objects, n)
        Row i stores the neighbours of i; what it stores of them does not matter.

    Returns
    -------
    ndarray of shape (sum of the squared numbers of neighbours,)
        Without what an object is tied to itself.
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
    """The communities that the neighbours of each object form without it.

    Parameters
    ----------
    network : sparse array of shape (n, n)
        Ties in both directions are added up.
    neighborhoods : sparse array of shape (n_objects, n), optional
        Row i stores the neighbours of i, with sorted indices; the network itself by default.
    resolution : float

    Returns
    -------
    ndarray of int, shape (neighborhoods.nnz,)
        The community of each stored neighbour, numbered anew for each object.

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
    """Where the weights of each network begin, and the end of the last."""
    return np.concatenate([[0], np.cumsum(np.diff(offsets).astype(np.int64) ** 2)])
