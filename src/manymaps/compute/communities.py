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
from manymaps.compute.jit import compiled, parallel, prange

__all__ = [
    "ego_communities",
    "ego_weights",
    "modularity_communities",
    "packed_communities",
]

_LEAST_GAIN = 1e-12
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
    labels = np.zeros(offsets[-1], np.int64)
    flat = np.ascontiguousarray(weights, np.float64)
    _packed(np.asarray(offsets, np.int64), flat, float(resolution), labels)
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
    network, neighborhoods = canonical_rows(network), canonical_rows(neighborhoods)
    offsets = neighborhoods.indptr.astype(np.int64)
    weights = np.zeros(int((np.diff(offsets) ** 2).sum()))
    _ego_weights(
        network.indptr, network.indices, network.data.astype(np.float64, copy=False),
        offsets, neighborhoods.indices, weights,
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
    sizes = np.diff(near.indptr).astype(np.int64)
    before = np.concatenate([[0], np.cumsum(sizes**2)])
    labels = np.zeros(near.nnz, np.int64)
    start = 0
    while start < len(sizes):
        stop = max(start + 1, int(np.searchsorted(before, before[start] + _BLOCK, "right")) - 1)
        some = near[start:stop]
        found = packed_communities(some.indptr, ego_weights(network, some), resolution)
        labels[near.indptr[start] : near.indptr[stop]] = found
        start = stop
    return labels


@compiled
def _place(sorted_members, member):
    """Where a member stands, or -1."""
    at = np.searchsorted(sorted_members, member)
    return at if at < sorted_members.size and sorted_members[at] == member else -1


@parallel
def _ego_weights(indptr, indices, data, offsets, members, weights):
    """Add up the ties among each row's members."""
    starts = np.zeros(offsets.size, np.int64)
    for i in range(offsets.size - 1):
        starts[i + 1] = starts[i] + (offsets[i + 1] - offsets[i]) ** 2
    for i in prange(offsets.size - 1):
        mine = members[offsets[i] : offsets[i + 1]]
        block = weights[starts[i] : starts[i + 1]].reshape(mine.size, mine.size)
        for a in range(mine.size):
            for e in range(indptr[mine[a]], indptr[mine[a] + 1]):
                b = _place(mine, indices[e])
                if b >= 0 and b != a:
                    block[a, b] += data[e]
                    block[b, a] += data[e]


@parallel
def _packed(offsets, weights, resolution, labels):
    """Fill the labels of all networks."""
    starts = np.zeros(offsets.size, np.int64)
    for i in range(offsets.size - 1):
        starts[i + 1] = starts[i] + (offsets[i + 1] - offsets[i]) ** 2
    for i in prange(offsets.size - 1):
        size = offsets[i + 1] - offsets[i]
        block = weights[starts[i] : starts[i + 1]].reshape(size, size)
        _communities(block, resolution, labels[offsets[i] : offsets[i + 1]])


@compiled
def _communities(weights, resolution, labels):
    """Fill the labels of one network."""
    size = labels.size
    degrees = np.zeros(size)
    for a in range(size):
        labels[a] = a
        for b in range(size):
            degrees[a] += weights[a, b]
    whole = degrees.sum()
    if whole > 0.0:
        factor, least = resolution / whole, _LEAST_GAIN * whole
        again = True
        while again:
            _merge(weights, degrees, factor, least, labels)
            again = _move(weights, degrees, factor, least, labels)
    _renumber(labels)


@compiled
def _renumber(labels):
    """Number communities by their first members; returns how many there are."""
    new = np.full(labels.size, -1)
    count = 0
    for a in range(labels.size):
        if new[labels[a]] < 0:
            new[labels[a]] = count
            count += 1
        labels[a] = new[labels[a]]
    return count


@compiled
def _best_partner(gains, alive, c):
    """The community whose union with c gains most; -1 where there is no other."""
    best = -1
    for d in range(alive.size):
        if alive[d] and d != c and (best < 0 or gains[c, d] > gains[c, best]):
            best = d
    return best


@compiled
def _merge(weights, degrees, factor, least, labels):
    """Unite the two communities that gain most, until none do.

    Gains add up: that of c with the union of d and e is that of c with d plus that of c with e.
    """
    count = _renumber(labels)
    gains = np.zeros((count, count))
    for a in range(labels.size):
        for b in range(labels.size):
            gains[labels[a], labels[b]] += weights[a, b] - factor * degrees[a] * degrees[b]
    alive, parent = np.ones(count, np.bool_), np.arange(count)
    partner = np.array([_best_partner(gains, alive, c) for c in range(count)])
    while True:
        c = -1
        for d in range(count):
            able = alive[d] and partner[d] >= 0
            if able and (c < 0 or gains[d, partner[d]] > gains[c, partner[c]]):
                c = d
        if c < 0 or gains[c, partner[c]] <= least:
            break
        gone = partner[c]
        alive[gone] = False
        for d in range(count):
            if parent[d] == gone:
                parent[d] = c
            gains[c, d] += gains[gone, d]
            gains[d, c] = gains[c, d]
        for d in range(count):
            if alive[d] and (d == c or partner[d] == c or partner[d] == gone):
                partner[d] = _best_partner(gains, alive, d)
            elif alive[d] and gains[d, c] > gains[d, partner[d]]:
                partner[d] = c
    for a in range(labels.size):
        labels[a] = parent[labels[a]]


@compiled
def _best_move(ties, degrees, strength, labels, fixed, used, factor):
    """The move of one that is not fixed that gains most: (gain, member, community)."""
    best, who, where = -np.inf, -1, -1
    for a in range(labels.size):
        if fixed[a]:
            continue
        own = labels[a]
        stays = ties[a, own] - factor * degrees[a] * (strength[own] - degrees[a])
        for c in range(used + 1):
            gain = ties[a, c] - factor * degrees[a] * strength[c] - stays
            if c != own and gain > best:
                best, who, where = gain, a, c
    return best, who, where


@compiled
def _apply(weights, degrees, ties, strength, labels, who, where):
    """Move a member; returns whence."""
    left, labels[who] = labels[who], where
    strength[left] -= degrees[who]
    strength[where] += degrees[who]
    for b in range(labels.size):
        if b != who:
            ties[b, left] -= weights[b, who]
            ties[b, where] += weights[b, who]
    return left


@compiled
def _move(weights, degrees, factor, least, labels):
    """Move every member once, the best first, and undo what came after the best; until no gain.

    Returns whether there was any.
    """
    size = labels.size
    # One community more than there can be members, so that an empty one is always at hand.
    ties, strength = np.zeros((size, size + 1)), np.zeros(size + 1)
    for a in range(size):
        strength[labels[a]] += degrees[a]
        for b in range(size):
            if b != a:
                ties[a, labels[b]] += weights[a, b]
    movers, origins = np.zeros(size, np.int64), np.zeros(size, np.int64)
    moved, used = False, labels.max() + 1
    while True:
        fixed = np.zeros(size, np.bool_)
        total, most, kept = 0.0, least, 0
        for step in range(size):
            gain, who, where = _best_move(ties, degrees, strength, labels, fixed, used, factor)
            used = max(used, min(where + 1, size))
            movers[step], fixed[who] = who, True
            origins[step] = _apply(weights, degrees, ties, strength, labels, who, where)
            total += gain
            if total > most:
                most, kept = total, step + 1
        for step in range(size - 1, kept - 1, -1):
            _apply(weights, degrees, ties, strength, labels, movers[step], origins[step])
        if kept == 0:
            return moved
        moved = True
