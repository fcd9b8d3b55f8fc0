"""A network with ties that bind and ties that part, cut into groups.

Sought are labels c of the nodes under which

    sum_{i<j, c_i = c_j} a_ij  -  (gamma / 2 S) sum_c S_c^2  +  sum_i s_i lean_i,c_i

is large: a_ij the tie of two nodes, of either sign, S_c the sizes s_i of the members of c, S their
whole, lean what a node likes a group. The second term is that of modularity at a resolution gamma
with given sizes (Reichardt & Bornholdt 2006, Physical Review E 74, 016110); signed ties make it the
correlation clustering of Bansal, Blum & Chawla (2004, Machine Learning 56, 89-113).

It is climbed by local moving, each node in its turn to the group that gains most, on ever coarser
networks (Blondel et al. 2008, J. Stat. Mech. P10008), whose nodes are the groups found before; and
then down again, each level starting from the labels of the coarser one, with a given number of
groups.

Arrays: ties (n, n) sparse, symmetric; sizes (n,); lean (n, n_groups) or (n, 0) for none.
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
    """Groups of the nodes, at most `n_groups`.

    Parameters
    ----------
    ties : sparse array of shape (n, n)
        Symmetric, of either sign.
    sizes : ndarray of shape (n,)
        Positive.
    n_groups : int
    leaning : callable
        leaning(labels, k) gives lean (k, n_groups) of the k nodes of a coarser network, for
        labels (n,) that say in which of them each node is. The coarsest start where they lean most.
    coarsening, resolution : float
        gamma on the way up, which decides how coarse the networks get, and on the way down, which
        decides how alike the sizes of the groups are.
    generator : numpy.random.Generator
        For the order in which nodes move.

    Returns
    -------
    ndarray of int, shape (n,)

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> ties = np.kron(np.eye(2), np.ones((3, 3)))     # two threes,
    >>> ties[0, 1] = ties[1, 0] = -5.0                 # in one of which two part
    >>> groups = signed_partition(
    ...     sparse.csr_array(ties), np.ones(6), 2, lambda labels, k: np.zeros((k, 2)),
    ...     coarsening=1.0, resolution=1.0, generator=np.random.default_rng(0))
    >>> bool(groups[0] != groups[1]), len(set(groups[3:].tolist()))
    (True, 1)
    """
    whole = float(sizes.sum())
    network, size = _without_diagonal(ties), np.asarray(sizes, np.float64)
    node = np.arange(len(size))
    levels = []
    while True:
        levels.append((network, size, node))
        if len(size) <= n_groups:
            break
        labels = np.arange(len(size))
        order = generator.permutation(len(size))
        local_moves(network, size, labels, labels.size, coarsening / whole, None, order)
        coarse, members = np.unique(labels, return_inverse=True)
        if len(coarse) > _SHRINKS * len(size):
            break
        network, size = _coarser(network, size, members, len(coarse))
        node = members[node]
    groups = leaning(node, len(size)).argmax(axis=1)[node]
    for network, size, node in reversed(levels):
        labels = np.zeros(len(size), np.int64)
        labels[node] = groups
        lean = leaning(node, len(size)) * size[:, None]
        order = generator.permutation(len(size))
        local_moves(network, size, labels, n_groups, resolution / whole, lean, order)
        groups = labels[node]
    return groups


def local_moves(
    ties: sparse.csr_array,
    sizes: np.ndarray,
    labels: np.ndarray,
    n_groups: int,
    factor: float,
    lean: np.ndarray | None,
    order: np.ndarray,
) -> None:
    """Move each node, in the order given, to the group that gains most, until few move.

    Parameters
    ----------
    ties : sparse array of shape (n, n)
        Symmetric, without a diagonal.
    sizes : ndarray of shape (n,)
    labels : ndarray of int, shape (n,)
        Groups from 0 to n_groups - 1; changed in place.
    n_groups : int
    factor : float
        gamma / S.
    lean : ndarray of shape (n, n_groups), optional
        What each node, with its size, likes each group. Without it nodes move only to groups that
        they are tied to.
    order : ndarray of int, shape (n,)
    """
    whole = np.bincount(labels, sizes, n_groups)
    leans = np.zeros((len(labels), 0)) if lean is None else np.ascontiguousarray(lean)
    _moves(
        ties.indptr, ties.indices, ties.data.astype(np.float64, copy=False),
        sizes, labels, whole, float(factor), leans, order,
    )  # fmt: skip


def _without_diagonal(ties: sparse.csr_array) -> sparse.csr_array:
    found = sparse.csr_array(ties - sparse.diags_array(ties.diagonal()), dtype=np.float64)
    found.eliminate_zeros()
    return canonical_rows(found)


def _coarser(
    network: sparse.csr_array, sizes: np.ndarray, members: np.ndarray, count: int
) -> tuple[sparse.csr_array, np.ndarray]:
    """The network whose nodes are groups of nodes."""
    shape = (count, len(members))
    belongs = sparse.csr_array((np.ones(len(members)), (members, np.arange(len(members)))), shape)
    return _without_diagonal(belongs @ network @ belongs.T), belongs @ sizes


@compiled
def _moves(indptr, indices, data, sizes, labels, whole, factor, lean, order):
    """Local moving; `whole` are the sizes of the groups."""
    count = whole.size
    anywhere = lean.shape[1] > 0
    ties = np.zeros(count)
    for _ in range(_SWEEPS):
        moved = 0
        for i in order:
            own = labels[i]
            for e in range(indptr[i], indptr[i + 1]):
                ties[labels[indices[e]]] += data[e]
            whole[own] -= sizes[i]
            best = own
            most = ties[own] - factor * sizes[i] * whole[own]
            if anywhere:
                most += lean[i, own]
                for c in range(count):
                    gain = ties[c] - factor * sizes[i] * whole[c] + lean[i, c]
                    if gain > most + _LEAST_GAIN:
                        most, best = gain, c
            else:
                for e in range(indptr[i], indptr[i + 1]):
                    c = labels[indices[e]]
                    gain = ties[c] - factor * sizes[i] * whole[c]
                    if gain > most + _LEAST_GAIN:
                        most, best = gain, c
            for e in range(indptr[i], indptr[i + 1]):
                ties[labels[indices[e]]] = 0.0
            whole[best] += sizes[i]
            if best != own:
                labels[i] = best
                moved += 1
        if moved <= _FEW * order.size:
            break
