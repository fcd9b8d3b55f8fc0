"""Similarity of two words in an association network, from direct and indirect responses.

    P            rows that sum to 1: p_ij, the association probability of j given i
    PPMI(P)_ij   max(0, log2(p_ij / mean_k p_kj)), with rows scaled to a sum of 1 again
    K            (I - alpha P)^-1 = I + alpha P + alpha^2 P^2 + ...       (Katz 1953)

    PPMI cosine      the cosine of rows i and j of PPMI(P)
    Katz walk        the cosine of rows i and j of PPMI(K), where K is computed from PPMI(P)

De Deyne et al. (2016, 2019) compute similarities in this way, with alpha = 0.75. They use only the
largest strongly connected component, but here every word is included.

Only the required rows of K are computed. Row i is e_i^T (I - alpha P)^-1. The series is summed
until the remainder, at most alpha^t / (1 - alpha) of the row sums, is below `_LEFT`. The series
converges for every alpha below 1 and requires only products with the sparse table. Unlike a
factorization, it does not create additional entries. The mean row, which PPMI requires, is computed
as one additional row.

Shapes: P (n, n) sparse; pairs as two arrays of indices (n_pairs,).

References
----------
S. De Deyne, D. Navarro, A. Perfors and G. Storms, Structure at every scale, Journal of Experimental
Psychology: General 145, 1228-1254, 2016. S. De Deyne, D. Navarro, A. Perfors, M. Brysbaert and G.
Storms, The "Small World of Words" English word association norms, Behavior Research Methods 51,
987-1006, 2019.
"""

from __future__ import annotations

import math

import numpy as np
from scipy import sparse

from manymaps.affinity.network import row_normalized
from manymaps.checks import check_number
from manymaps.progress import work

__all__ = [
    "USUAL_DECAY", "katz_rows", "pair_cosines", "positive_information", "walk_similarities",
]  # fmt: skip

#: The value of alpha in De Deyne et al.
USUAL_DECAY = 0.75
# Far below the rounding error of float32, in which atlases are stored.
_LEFT = 1e-8
# 32 MiB of float64 per block of rows.
_BLOCK_CELLS = 1 << 22


def positive_information(table: sparse.sparray) -> sparse.csr_array:
    """Compute the PPMI of a table with row sums of 1, and rescale its non-empty rows to 1.

    Examples
    --------
    >>> p = sparse.csr_array([[0, 0.5, 0.5], [0, 0, 1.0], [0, 0, 0]])
    >>> positive_information(p).toarray().tolist()
    [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [0.0, 0.0, 0.0]]
    """
    rows = row_normalized(table)
    weighted = sparse.csr_array(rows, copy=True)
    means = np.asarray(rows.sum(axis=0)).ravel() / rows.shape[0]
    present = weighted.data > 0
    weighted.data[present] = np.log2(weighted.data[present] / means[weighted.indices[present]])
    weighted.data = np.maximum(weighted.data, 0.0)
    weighted.eliminate_zeros()
    return row_normalized(weighted)


def pair_cosines(rows: np.ndarray | sparse.sparray, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Compute the cosines of pairs of rows, (n_pairs,); the cosine with an empty row is 0.

    Examples
    --------
    >>> pair_cosines(np.array([[1.0, 0], [3, 4], [0, 0]]), np.array([0, 0]), np.array([1, 2]))
    array([0.6, 0. ])
    """
    table = sparse.csr_array(rows) if sparse.issparse(rows) else np.asarray(rows, np.float64)
    together = np.asarray((table[a] * table[b]).sum(axis=1)).ravel()
    lengths = np.sqrt(np.asarray((table * table).sum(axis=1)).ravel())
    whole = lengths[a] * lengths[b]
    return np.divide(together, whole, out=np.zeros(len(whole)), where=whole > 0)


def walk_similarities(
    strengths: sparse.sparray, a: np.ndarray, b: np.ndarray, *, decay: float = USUAL_DECAY
) -> np.ndarray:
    """Compute similarities of pairs of objects by Katz walks, (n_pairs,), between 0 and 1.

    Parameters
    ----------
    strengths : sparse array of shape (n, n)
        Row i contains the strengths of the responses to cue i, with any sum.
    a, b : array of int, shape (n_pairs,)
        Indices of the objects of each pair.
    decay : float, at least 0 and below 1
        Weight alpha of each further step. At 0, there are no steps, and all similarities are 0.

    Raises
    ------
    ParameterError
        If the decay is out of its range.

    Examples
    --------
    In this example, two words have no common responses, but their responses have common responses:

    >>> table = sparse.lil_array((8, 8))
    >>> for i, j in ((0, 2), (1, 3), (2, 4), (3, 4), (4, 0), (5, 6), (6, 7), (7, 5)):
    ...     table[i, j] = 1
    >>> one, other = np.array([0]), np.array([1])
    >>> pair_cosines(positive_information(table), one, other).tolist()
    [0.0]
    >>> walk_similarities(table, one, other).round(2).tolist()
    [0.02]
    """
    check_number("decay", decay, least=0, below=1)
    steps = positive_information(strengths)
    n = steps.shape[0]
    mean = katz_rows(steps, np.full((1, n), 1 / n), decay)[0]
    places, at = np.unique(np.concatenate([a, b]), return_inverse=True)
    size = max(1, _BLOCK_CELLS // max(n, 1))
    # The table is sparse, because PPMI keeps only a part of each row and a full table of many words
    # would be too large.
    found = []
    with work("word", total=len(places)) as done:
        for start in range(0, len(places), size):
            block = places[start : start + size]
            begun = np.zeros((len(block), n))
            begun[np.arange(len(block)), block] = 1
            reached = katz_rows(steps, begun, decay)
            with np.errstate(divide="ignore", invalid="ignore"):
                information = np.log2(reached / mean)
            found.append(sparse.csr_array(np.where(information > 0, information, 0.0)))
            done(start + len(block))
    table = sparse.csr_array(sparse.vstack(found))
    return pair_cosines(table, at[: len(a)], at[len(a) :])


def katz_rows(steps: sparse.sparray, begun: np.ndarray, decay: float) -> np.ndarray:
    """Compute begun (I - decay steps)^-1, shaped like `begun`; rows of steps sum to at most 1."""
    turned = sparse.csr_array(steps.T)
    columns = np.ascontiguousarray(begun.T)
    total = columns.copy()
    if decay == 0:
        return total.T
    for _ in range(math.ceil(math.log(_LEFT * (1 - decay)) / math.log(decay))):
        columns = decay * (turned @ columns)
        total += columns
    return total.T
