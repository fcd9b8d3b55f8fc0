"""Vectors -> similarities: Gaussian neighbourhoods of a chosen perplexity.

s_ij = p_j|i   over the 3 * perplexity nearest neighbours j of i        (see compute.bandwidth)
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from manymaps.errors import ParameterError

__all__ = ["perplexity_affinities"]

_NEIGHBORS_PER_PERPLEXITY = 3


def perplexity_affinities(
    vectors: np.ndarray | sparse.sparray, perplexity: float
) -> sparse.csr_array:
    """Conditional probabilities of neighbours, row by row.

    Parameters
    ----------
    vectors : array or sparse array of shape (n, n_features)
    perplexity : float
        At least 1 and at most n - 1: an effective number of neighbours.

    Returns
    -------
    sparse array of shape (n, n)
        Rows sum to 1; not symmetric.

    Raises
    ------
    ParameterError
        For a perplexity that n objects cannot have.

    Examples
    --------
    >>> import numpy as np
    >>> p = perplexity_affinities(np.arange(10.0)[:, None], perplexity=3)
    >>> row = p[[5]].data
    >>> bool(abs(2 ** -(row * np.log2(row)).sum() - 3) < 1e-4)
    True
    """
    from sklearn.neighbors import NearestNeighbors

    from manymaps.compute.bandwidth import conditional_probabilities

    n = vectors.shape[0]
    if not 1 <= perplexity <= n - 1:
        raise ParameterError(
            f"perplexity={perplexity!r} is impossible for {n} objects; it must be at least 1 and "
            f"at most {n - 1}, the number of neighbours an object has"
        )
    k = min(n - 1, int(np.ceil(_NEIGHBORS_PER_PERPLEXITY * perplexity)))
    distances, neighbors = NearestNeighbors(n_neighbors=k).fit(vectors).kneighbors()
    probabilities = np.empty((n, k))
    conditional_probabilities(distances.astype(np.float64) ** 2, np.log(perplexity), probabilities)
    indptr = np.arange(0, n * k + 1, k)
    return sparse.csr_array((probabilities.ravel(), neighbors.ravel(), indptr), shape=(n, n))
