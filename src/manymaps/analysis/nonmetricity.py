"""Measures of how strongly similarities deviate from distances in a space, for arrays.

    similarities  S (n, n) sparse, s_ij >= 0: the strength of j as a response to i; 0 if not stored
    symmetric     w_ij = (s_ij + s_ji) / 2
    distances     D (n, n) dense, symmetric

    asymmetry        sum_{i<j} |s_ij - s_ji| / sum_{i<j} (s_ij + s_ji)
    intransitivity   share of two-step paths A-B-C of strong links whose ends A and C are not linked
    centrality       C = (1/n) sum_i N_i^2      N_i: number of objects with i as nearest neighbour
    reciprocity      R = (1/n) sum_i R_i        R_i: rank of i among the neighbours of its
                                                own nearest neighbour
    negative part    sum |negative eigenvalues| / sum |eigenvalues| of B = -1/2 J D^2 J,
                     J = 1 - 11'/n

C and R are from Tversky & Hutchinson 1986, Psychological Review 93, 3-22. Both are 1 if objects
form pairs of mutual nearest neighbours. For random points, C increases with the number of
dimensions to at most 2 (Newman, Rinott & Tversky 1983, Advances in Applied Probability 15,
726-751). If no two distances are equal, at most 2, 5 and 11 points have the same nearest neighbour
in one, two and three dimensions. The negative part is from Laub & Mueller 2004, JMLR 5, 801-818.
Pekalska & Duin (2005, The dissimilarity representation, section 3.5) define its share.

No measure depends on the order of the objects, because all equally near objects are included.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from scipy import sparse


def asymmetry(S: sparse.csr_array) -> float:
    """Return the share of strength that is not reciprocated, from 0 (symmetric) to 1 (one-way).

    >>> asymmetry(sparse.csr_array([[0, 0.75], [0.25, 0]]))
    0.5
    """
    transposed = sparse.csr_array(S.T)
    return float(abs(S - transposed).sum() / (S + transposed).sum())


def strong_links(S: sparse.csr_array, k: int) -> sparse.csr_array:
    """Find pairs in which one object is among the k objects most similar to the other, with ties.

    Returns
    -------
    sparse array of shape (n, n)
        Symmetric table of float64 ones.
    """
    S = sparse.csr_array(S)
    rows = np.repeat(np.arange(S.shape[0]), np.diff(S.indptr))
    least = np.zeros(S.shape[0])
    for row, (start, end) in enumerate(pairwise(S.indptr)):
        if start < end:
            rank = max(end - start - k, 0)
            least[row] = np.partition(S.data[start:end], rank)[rank]
    kept = least[rows] <= S.data
    links = sparse.csr_array(
        (np.ones(int(kept.sum())), (rows[kept], S.indices[kept])), shape=S.shape
    )
    return sparse.csr_array(links.maximum(links.T))


def intransitivity(strong: sparse.csr_array, linked: sparse.csr_array) -> float:
    """Return the share of two-step paths of strong links whose ends are not linked.

    Both tables (n, n) contain ones and are symmetric. The result is NaN without such paths.

    >>> chain = sparse.csr_array([[0, 1.0, 0], [1, 0, 1], [0, 1, 0]])
    >>> intransitivity(chain, chain)
    1.0
    """
    degrees = np.diff(strong.indptr).astype(np.float64)
    n_paths = float(degrees @ (degrees - 1)) / 2
    if n_paths == 0:
        return float("nan")
    return 1 - float((strong @ linked).multiply(strong).sum()) / 2 / n_paths


def nearest_neighbor_figures(S: sparse.csr_array) -> tuple[float, float, float, int]:
    """Compute centrality, reciprocity, the size of the most shared neighbour, and its index.

    The nearest neighbour of i is the object with the largest s_ij. If k objects are equally near,
    each is the nearest neighbour with probability 1/k, and the measures are expectations. Equally
    near objects have their mean rank, and an object without a similarity has the rank after the
    others. Objects without a row have no nearest neighbour, and R omits their neighbours.
    """
    n, counts = S.shape[0], np.diff(S.indptr)
    active = np.flatnonzero(counts)
    rows = np.repeat(np.arange(n), counts)
    largest = np.zeros(n)
    largest[active] = np.maximum.reduceat(S.data, S.indptr[active])
    nearest = largest[rows] == S.data
    i, j = rows[nearest], S.indices[nearest]
    part = 1 / np.bincount(i, minlength=n)[i]
    shared = np.bincount(j, part, minlength=n)
    squares = shared**2 + np.bincount(j, part * (1 - part), minlength=n)
    answered = counts[j] > 0
    ranks = [_rank(S, *pair) for pair in zip(j[answered], i[answered], strict=True)]
    reciprocity = np.average(ranks, weights=part[answered]) if ranks else np.nan
    centrality = float(squares.sum() / len(active))
    return centrality, float(reciprocity), float(shared.max()), int(shared.argmax())


def _rank(S: sparse.csr_array, row: int, column: int) -> float:
    """Return the mean rank of a column among the values of a row, the largest first."""
    place = slice(S.indptr[row], S.indptr[row + 1])
    values = S.data[place]
    value = values[S.indices[place] == column]
    if not len(value):
        return len(values) + 1.0
    return float((values > value).sum() + ((values == value).sum() + 1) / 2)


def scaled_similarities(W: sparse.csr_array) -> sparse.csr_array:
    """Compute w_ij / sqrt(m_i m_j), where m_i is the largest w_ij of object i.

    Objects without similarities are omitted. With ones on the diagonal, each object is as similar
    to itself as two mutual nearest neighbours are to each other. No two objects exceed this
    similarity.
    """
    largest = np.asarray(W.max(axis=1).todense(), dtype=np.float64).ravel()
    connected = np.flatnonzero(largest)
    unit = sparse.diags_array(1 / np.sqrt(largest[connected])).tocsr()
    return sparse.csr_array(unit @ W[connected][:, connected] @ unit)


def negative_share_of_similarities(W: sparse.csr_array) -> float:
    """Compute the negative part of J (W + 1) J for scaled similarities W (`scaled_similarities`).

    The result is the negative part for the squared distances d_ij^2 = 2 (1 - w_ij). Under these
    distances, all pairs without a similarity are equally far apart.
    """
    return _negative_share(W.toarray() + np.eye(W.shape[0]))


def negative_share_of_distances(D: np.ndarray) -> float:
    """Compute the negative part for distances."""
    # The scale does not matter, but squares of huge or tiny distances could overflow or underflow.
    return _negative_share(-0.5 * (D / D.max()) ** 2)


def _negative_share(inner: np.ndarray) -> float:
    """Compute the negative part of a double-centred table."""
    centred = inner - inner.mean(axis=0)
    centred -= centred.mean(axis=1)[:, None]
    values = np.linalg.eigvalsh((centred + centred.T) / 2)
    size = np.abs(values)
    if size.max() == 0:
        return 0.0
    # Smaller eigenvalues are rounding errors of eigenvalues that are 0.
    real = size > 1e-10 * size.max()
    return float(size[real & (values < 0)].sum() / size[real].sum())
