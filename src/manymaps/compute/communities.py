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

Sums and products are rounded one by one and never reordered. Steps with exactly the same gain are
common in networks of counts, and rounding must not decide between them.

Arrays: weights (k, k) float64, symmetric and nonnegative; labels (k,), numbered by first members.
The members of network i are those from offsets[i] to offsets[i + 1].
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from manymaps.compute.canonical import canonical_rows
from manymaps.compute.jit import rounded
from manymaps.compute.threads import share_out

__all__ = ["ego_communities", "fill_communities"]

_LEAST_GAIN = 1e-12


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
    ties = network.indptr, network.indices, network.data.astype(np.float64, copy=False)
    offsets = near.indptr.astype(np.int64)
    labels = np.zeros(offsets[-1], np.int64)
    share_out(_fill_labels, near.shape[0], *ties, offsets, near.indices, float(resolution), labels)
    return labels


# Each NumPy function takes 50 to 500 ms to compile. These loops therefore only use `np.zeros`.
@rounded
def _fill_labels(first, last, indptr, indices, data, offsets, members, resolution, labels):
    """Sum the ties among the members of each row, and fill the labels of the row."""
    for i in range(first, last):
        ego = members[offsets[i] : offsets[i + 1]]
        weights = np.zeros(ego.size * ego.size)
        for a in range(ego.size):
            b = 0
            for e in range(indptr[ego[a]], indptr[ego[a] + 1]):
                while b < ego.size and ego[b] < indices[e]:
                    b += 1
                if b < ego.size and ego[b] == indices[e] and b != a:
                    weights[a * ego.size + b] += data[e]
                    weights[b * ego.size + a] += data[e]
        fill_communities(weights, resolution, labels[offsets[i] : offsets[i + 1]])


@rounded
def fill_communities(weights, resolution, labels):
    """Fill the labels of one network, whose weights are stored row by row."""
    size, total = labels.size, 0.0
    degrees = np.zeros(size)
    for a in range(size):
        labels[a] = a
        for b in range(size):
            degrees[a] += weights[a * size + b]
        total += degrees[a]
    if total > 0.0:
        # Members without ties do not change the modularity, but moves could join others to them.
        tied, n_tied = np.zeros(size, np.int64), 0
        for a in range(size):
            if degrees[a] != 0.0:
                tied[n_tied] = a
                n_tied += 1
        ties, masses = np.zeros((n_tied, n_tied)), np.zeros(n_tied)
        communities = np.zeros(n_tied, np.int64)
        for a in range(n_tied):
            masses[a], communities[a] = degrees[tied[a]], a
            for b in range(n_tied):
                ties[a, b] = weights[tied[a] * size + tied[b]]
        factor, least = resolution / total, _LEAST_GAIN * total
        is_better = True
        while is_better:
            _merge(ties, masses, factor, least, communities)
            is_better = _move(ties, masses, factor, least, communities)
        _renumber(communities)
        for a in range(n_tied):
            labels[tied[a]] = tied[communities[a]]
    _renumber(labels)


@rounded
def _renumber(labels):
    """Renumber communities by their first members, and return the number of communities."""
    number = np.zeros(labels.size, np.int64)
    count = 0
    for a in range(labels.size):
        if number[labels[a]] == 0:
            count += 1
            number[labels[a]] = count
        labels[a] = number[labels[a]] - 1
    return count


@rounded
def _best_partner(gains, parent, c):
    """Return the community whose union with c has the largest gain, or -1 for a single one."""
    best = -1
    for d in range(parent.size):
        if parent[d] == d and d != c and (best < 0 or gains[c, d] > gains[c, best]):
            best = d
    return best


@rounded
def _merge(weights, degrees, factor, least, labels):
    """Unite the two communities with the largest gain until no union increases Q."""
    count = _renumber(labels)
    gains = np.zeros((count, count))
    for a in range(labels.size):
        for b in range(labels.size):
            gains[labels[a], labels[b]] += weights[a, b] - factor * degrees[a] * degrees[b]
    parent, partner = np.zeros(count, np.int64), np.zeros(count, np.int64)
    for c in range(count):
        parent[c] = c
    for c in range(count):
        partner[c] = _best_partner(gains, parent, c)
    while True:
        c = -1
        for d in range(count):
            has_partner = parent[d] == d and partner[d] >= 0
            if has_partner and (c < 0 or gains[d, partner[d]] > gains[c, partner[c]]):
                c = d
        if c < 0 or gains[c, partner[c]] <= least:
            break
        absorbed = partner[c]
        for d in range(count):
            if parent[d] == absorbed:
                parent[d] = c
            # The gain of uniting d with a union is the sum of its gains with the two parts.
            gains[c, d] += gains[absorbed, d]
            gains[d, c] = gains[c, d]
        for d in range(count):
            is_left = parent[d] == d
            if is_left and (d == c or partner[d] == c or partner[d] == absorbed):
                partner[d] = _best_partner(gains, parent, d)
            elif is_left and gains[d, c] > gains[d, partner[d]]:
                partner[d] = c
    for a in range(labels.size):
        labels[a] = parent[labels[a]]


@rounded
def _best_move(ties, degrees, strength, labels, fixed, used, factor):
    """Return the move with the highest gain among free members: (gain, member, community)."""
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


@rounded
def _apply(weights, degrees, ties, strength, labels, who, where):
    """Move a member, and return its previous community."""
    origin, labels[who] = labels[who], where
    strength[origin] -= degrees[who]
    strength[where] += degrees[who]
    for b in range(labels.size):
        if b != who:
            ties[b, origin] -= weights[b, who]
            ties[b, where] += weights[b, who]
    return origin


@rounded
def _move(weights, degrees, factor, least, labels):
    """Move each member once, restore the best state, repeat while Q grows; return if it grew."""
    size = labels.size
    # With one community more than there are members, an empty community is always available.
    ties, strength = np.zeros((size, size + 1)), np.zeros(size + 1)
    for a in range(size):
        strength[labels[a]] += degrees[a]
        for b in range(size):
            if b != a:
                ties[a, labels[b]] += weights[a, b]
    movers, origins = np.zeros(size, np.int64), np.zeros(size, np.int64)
    moved, used = False, labels[0] + 1
    for a in range(size):
        used = max(used, labels[a] + 1)
    while True:
        fixed = np.zeros(size, np.int64)
        total, most, n_best = 0.0, least, 0
        for step in range(size):
            gain, who, where = _best_move(ties, degrees, strength, labels, fixed, used, factor)
            if where == used and used < size:
                used += 1
            movers[step], fixed[who] = who, 1
            origins[step] = _apply(weights, degrees, ties, strength, labels, who, where)
            total += gain
            if total > most:
                most, n_best = total, step + 1
        for step in range(size - 1, n_best - 1, -1):
            _apply(weights, degrees, ties, strength, labels, movers[step], origins[step])
        if n_best == 0:
            return moved
        moved = True
