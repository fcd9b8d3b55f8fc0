"""Recall of the strongest associates by the maps.

This is the share of objects whose strongest associate in the data is among the k most similar
objects under the model.

Shapes: maps (n_maps, n_objects, n_components), proportions (n_maps, n_objects).
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from manymaps.errors import DataError
from manymaps.model.choice import StoredKernel
from manymaps.model.similarities import kernel_values

# Number of objects per block, which limits memory.
_BLOCK = 512
_NEGLIGIBLE = 1e-5


def strongest_recall(
    maps: np.ndarray,
    proportions: np.ndarray,
    strengths: sparse.csr_array,
    *,
    k: int = 10,
    kernel: StoredKernel = "cauchy",
    kernel_width: float = 1.0,
) -> float:
    """Compute the share of objects whose strongest associate is among the k most similar objects.

    Parameters
    ----------
    maps : ndarray of shape (n_maps, n, n_components)
        Positions in all maps.
    proportions : ndarray of shape (n_maps, n)
        Mixing proportions.
    strengths : sparse array of shape (n, n)
        Strengths of the associates. Rows without entries are ignored. Among equally strong
        associates, the first is used.
    k : int, default=10
        Number of most similar objects under the model.
    kernel : {"cauchy", "gaussian"}, default="cauchy"
        Kernel of the model.
    kernel_width : float, default=1.0
        Width of the kernel, in units of the positions.

    Returns
    -------
    float in [0, 1]
        Share of the objects with entries.

    Raises
    ------
    DataError
        If no row has an entry.

    See Also
    --------
    kl_divergence, manymaps.evaluate

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> from manymaps.metrics import strongest_recall
    >>> line = np.arange(5.0)[None, :, None]
    >>> next_one = sparse.csr_array(np.eye(5, k=1))
    >>> strongest_recall(line, np.ones((1, 5)), next_one, k=2)
    1.0
    """
    table = sparse.csr_array(strengths)
    rows = np.flatnonzero(np.diff(table.indptr))
    if len(rows) == 0:
        raise DataError("no row of the strengths has an entry; pass at least one associate")
    strongest = np.array(
        [table.indices[a + int(np.argmax(table.data[a:b]))]
         for a, b in zip(table.indptr[rows], table.indptr[rows + 1], strict=True)]
    )  # fmt: skip
    hits = 0
    for start in range(0, len(rows), _BLOCK):
        block = rows[start : start + _BLOCK]
        similar = _similarities(maps / kernel_width, proportions, block, kernel)
        wanted = similar[np.arange(len(block)), strongest[start : start + _BLOCK]]
        hits += int(((similar > wanted[:, None]).sum(axis=1) < k).sum())
    return hits / len(rows)


def _similarities(
    maps: np.ndarray, proportions: np.ndarray, rows: np.ndarray, kernel: StoredKernel
) -> np.ndarray:
    """Compute v_ij between some rows and all objects, shape (rows, n); a row's own entry is -1.

    In each map, objects with a negligible proportion are ignored.
    """
    similar = np.zeros((len(rows), maps.shape[1]))
    for positions, share in zip(maps.astype(np.float64), proportions, strict=True):
        near = np.flatnonzero(share > _NEGLIGIBLE)
        mine = np.flatnonzero(share[rows] > _NEGLIGIBLE)
        if len(near) == 0 or len(mine) == 0:
            continue
        left, right = positions[rows[mine]], positions[near]
        d2 = (left**2).sum(1)[:, None] + (right**2).sum(1) - 2 * left @ right.T
        similarity = kernel_values(np.maximum(d2, 0), kernel)
        similar[np.ix_(mine, near)] += share[rows[mine]][:, None] * share[near] * similarity
    similar[np.arange(len(rows)), rows] = -1.0
    return similar
