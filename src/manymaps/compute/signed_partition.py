"""Partition a network with positive and negative ties into groups.

The partition seeks labels c of the nodes that maximize

    sum_{i<j, c_i = c_j} a_ij  -  (gamma / 2 S) sum_c S_c^2  +  sum_i s_i lean_i,c_i

a_ij is the tie between two nodes, which may be negative. S_c is the total size s_i of the members
of c, and S is the total size of all nodes. lean is the preference of a node for a group. The second
term is the penalty of modularity at a resolution gamma with given sizes (Reichardt & Bornholdt
2006, Physical Review E 74, 016110). With signed ties, the problem becomes the correlation
clustering of Bansal, Blum & Chawla (2004, Machine Learning 56, 89-113).

The search uses local moving, in which each node in turn moves to the group with the largest gain,
on successively coarser networks (Blondel et al. 2008, J. Stat. Mech. P10008). The nodes of a
coarser network are the groups of the previous network. The search then returns to finer networks
with a fixed number of groups, and each level starts from the labels of the coarser level.

Arrays: ties (n, n) sparse and symmetric, sizes (n,), lean (n, n_groups) or (n, 0) for none.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import sparse

from manymaps.compute.canonical import canonical_rows
from manymaps.compute.jit import compiled

__all__ = ["local_moves", "signed_partition"]

_SWEEPS = 20
_FEW = 0.0005
_SHRINKS = 0.95
_LEAST_GAIN = 1e-12


def signed_partition(
    ties: sparse.csr_array,
    sizes: np.ndarray,
    n_groups: int,
    leaning: Callable[[np.ndarray, int], np.ndarray],
    *,
    coarsening: float,
    resolution: float,
    generator: np.random.Generator,
) -> np.ndarray:
    """Partition the nodes into at most `n_groups` groups.

    Parameters
    ----------
    ties : sparse array of shape (n, n)
        Symmetric ties, which may be positive or negative.
    sizes : ndarray of shape (n,)
        Positive sizes of the nodes.
    n_groups : int
        Maximum number of groups.
    leaning : callable
        Function such that leaning(labels, k) returns the preferences (k, n_groups) of the k nodes
        of a coarser network. labels (n,) contains the coarse node of each node. The nodes of the
        coarsest network start in the groups that they prefer most.
    coarsening, resolution : float
        Values of gamma during coarsening and during refinement. The former determines how coarse
        the network becomes. The latter determines how similar the sizes of the groups are.
    generator : numpy.random.Generator
        Generator of the order in which nodes move.

    Returns
    -------
    ndarray of int, shape (n,)
        Group of each node.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> ties = np.kron(np.eye(2), np.ones((3, 3)))     # two triples;
    >>> ties[0, 1] = ties[1, 0] = -5.0                 # two nodes of one triple repel
    >>> groups = signed_partition(
    ...     sparse.csr_array(ties), np.ones(6), 2, lambda labels, k: np.zeros((k, 2)),
    ...     coarsening=1.0, resolution=1.0, generator=np.random.default_rng(0))
    >>> bool(groups[0] != groups[1]), len(set(groups[3:].tolist()))
    (True, 1)
    """
    total = float(sizes.sum())
    network, size = _without_diagonal(ties), np.asarray(sizes, np.float64)
    node = np.arange(len(size))
    levels = []
    while True:
        levels.append((network, size, node))
        if len(size) <= n_groups:
            break
        labels, nothing = np.arange(len(size)), np.zeros((len(size), 0))
        order = generator.permutation(len(size))
        local_moves(
            network.indptr, network.indices, network.data, size, labels, labels.size,
            coarsening / total, nothing, order,
        )  # fmt: skip
        coarse, members = np.unique(labels, return_inverse=True)
        if len(coarse) > _SHRINKS * len(size):
            break
        together = np.ones(len(members)), (members, np.arange(len(members)))
        belongs = sparse.csr_array(together, (len(coarse), len(members)))
        network, size = _without_diagonal(belongs @ network @ belongs.T), belongs @ size
        node = members[node]
    groups = leaning(node, len(size)).argmax(axis=1)[node]
    for network, size, node in reversed(levels):
        labels = np.zeros(len(size), np.int64)
        labels[node] = groups
        lean = leaning(node, len(size)) * size[:, None]
        order = generator.permutation(len(size))
        local_moves(
            network.indptr, network.indices, network.data, size, labels, n_groups,
            resolution / total, lean, order,
        )  # fmt: skip
        groups = labels[node]
    return groups


def _without_diagonal(ties: sparse.csr_array) -> sparse.csr_array:
    network = sparse.csr_array(ties - sparse.diags_array(ties.diagonal()), dtype=np.float64)
    network.eliminate_zeros()
    return canonical_rows(network)


@compiled
def local_moves(indptr, indices, data, sizes, labels, n_groups, factor, lean, order):
    """Move each node in turn to the group with the largest gain, until few nodes move.

    The labels are changed in place. `factor` is the penalty on sizes, gamma / S, and `lean` (n,
    n_groups) the preference of each node for each group, multiplied by its size. Without
    preferences, (n, 0), nodes move only to groups to which they are tied.
    """
    ties, totals = np.zeros(n_groups), np.zeros(n_groups)
    for i in range(labels.size):
        totals[labels[i]] += sizes[i]
    for _ in range(_SWEEPS):
        moved = 0
        for i in order:
            old = labels[i]
            for e in range(indptr[i], indptr[i + 1]):
                ties[labels[indices[e]]] += data[e]
            totals[old] -= sizes[i]
            new = old
            most = ties[old] - factor * sizes[i] * totals[old]
            if lean.shape[1] > 0:
                most += lean[i, old]
                for c in range(n_groups):
                    gain = ties[c] - factor * sizes[i] * totals[c] + lean[i, c]
                    if gain > most + _LEAST_GAIN:
                        most, new = gain, c
            else:
                for e in range(indptr[i], indptr[i + 1]):
                    c = labels[indices[e]]
                    gain = ties[c] - factor * sizes[i] * totals[c]
                    if gain > most + _LEAST_GAIN:
                        most, new = gain, c
            for e in range(indptr[i], indptr[i + 1]):
                ties[labels[indices[e]]] = 0.0
            totals[new] += sizes[i]
            if new != old:
                labels[i] = new
                moved += 1
        if moved <= _FEW * order.size:
            break
