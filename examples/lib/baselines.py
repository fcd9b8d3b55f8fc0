"""Other embeddings of the rows of a count table, with which Globerson et al. 2004 compare CODE.

    function                    coordinates of the rows (documents)
    singular_value_embedding    U s of X = U s V^T, or of log(1 + X)
    classical_scaling           by Euclidean distances, or by 1 - cosine
    isomap                      by geodesic distances in a neighbour graph

Classical scaling (Torgerson 1952) embeds distances D by the eigenvectors of -1/2 J D^2 J, each
multiplied by the square root of its eigenvalue. For Euclidean distances, these are the principal
components of the centred rows. Centred dot products are equivalent to Euclidean distances, and
uncentred dot products to the singular value embedding. "dot products" therefore normalizes the rows
to length 1 and uses 1 - x_i x_j as distances.

Tables are sparse arrays of shape (n_rows, n_columns), and coordinates (n_rows, 2).
"""

from __future__ import annotations

import warnings

import numpy as np
from scipy import sparse
from scipy.sparse import SparseEfficiencyWarning, csgraph
from sklearn.decomposition import PCA
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.manifold import Isomap
from sklearn.utils.extmath import svd_flip

from manymaps.compute.scaling import centred_products, leading_singular_values, scaled_axes
from manymaps.errors import DataWarning

__all__ = [
    "NORMALIZATIONS", "classical_scaling", "isomap", "normalize_counts",
    "singular_value_embedding",
]  # fmt: skip

NORMALIZATIONS = ("none", "document", "tf-idf")
_AXES = 2


def normalize_counts(table: sparse.csr_array, normalization: str) -> sparse.csr_array:
    """Normalize counts by the row sums ("document") or by tf-idf weights."""
    table = sparse.csr_array(table, dtype=np.float64)
    if normalization == "none":
        return table
    if normalization == "document":
        sums = np.asarray(table.sum(axis=1)).ravel()
        shares = table.data / np.repeat(sums, np.diff(table.indptr))
        return sparse.csr_array((shares, table.indices, table.indptr), shape=table.shape)
    return sparse.csr_array(TfidfTransformer().fit_transform(table))


def singular_value_embedding(
    table: sparse.csr_array, *, log: bool = False, seed: int = 0
) -> np.ndarray:
    """Embed rows as U s of a truncated singular value decomposition of X or of log(1 + X)."""
    if log:
        table = table.log1p()
    start = np.random.RandomState(seed).uniform(-1, 1, min(table.shape))
    left, values, right = leading_singular_values(table, _AXES, start)
    left, _ = svd_flip(left[:, ::-1], right[::-1], u_based_decision=False)
    return left * values[::-1]


def classical_scaling(
    table: sparse.csr_array, *, by: str = "distances", seed: int = 0
) -> np.ndarray:
    """Embed rows by multidimensional scaling of their "distances" or "dot products"."""
    if by == "distances":
        return PCA(_AXES, svd_solver="arpack", random_state=seed).fit_transform(table)
    lengths = np.sqrt(np.asarray(table.multiply(table).sum(axis=1)).ravel())
    unit = sparse.csr_array(sparse.diags_array(1 / lengths) @ table)
    return _scaled(1 - (unit @ unit.T).toarray(), seed)


def isomap(table: sparse.csr_array, *, n_neighbors: int, seed: int = 0) -> np.ndarray:
    """Embed rows by Isomap, with a warning if the parts of the neighbour graph must be joined."""
    model = Isomap(n_neighbors=n_neighbors, n_components=1)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The number of connected components")
        warnings.simplefilter("ignore", SparseEfficiencyWarning)
        model.fit(table)
    parts, _ = csgraph.connected_components(model.nbrs_.kneighbors_graph(), directed=False)
    if parts > 1:
        warnings.warn(f"the neighbour graph has {parts} components", DataWarning, stacklevel=2)
    # scikit-learn starts the decomposition of these distances from NumPy's global state.
    return _scaled(model.dist_matrix_.astype(np.float64), seed)


def _scaled(distances: np.ndarray, seed: int) -> np.ndarray:
    """Apply classical scaling to a dense table of distances, which is overwritten."""
    n = len(distances)
    products = centred_products(np.square(distances, out=distances))
    start = np.random.default_rng(seed).normal(size=n)
    axes = scaled_axes(products, _AXES, start, most_dense=4 * _AXES + 20)
    top = np.abs(axes).argmax(axis=0)
    return axes * np.where(axes[top, np.arange(_AXES)] < 0, -1.0, 1.0)
