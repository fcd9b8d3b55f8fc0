"""Baseline embeddings of a count table, based on SciPy and scikit-learn.

    function                    rows (documents)             columns (words)   dense table
    singular_value_embedding    U s of X = U s V^T           V s               none
      with log=True             the same of log(1 + X)       V s               none
    latent_semantic_analysis    the same of tf-idf           V s               none
    classical_scaling           by Euclidean distances       -                 none
      by="dot products"         by 1 - cosine                -                 n_rows x n_rows
    isomap                      by geodesic distances        -                 n_rows x n_rows

`manymaps.cooccurrence.correspondence.correspondence_analysis` returns `rows` and `columns` in the
same format. All functions accept the output of `normalize_counts`.

**Classical scaling** (Torgerson 1952) embeds distances D by the eigenvectors of -1/2 J D^2 J, each
multiplied by the square root of its eigenvalue. For Euclidean distances, these are the principal
components of the centred rows, which can be computed by products with the sparse table. Replacing
-1/2 J D^2 J by *raw* dot products does not lead to a new method. Centred dot products are
equivalent to Euclidean distances. Uncentred dot products are equivalent to the singular value
embedding. The option "dot products" therefore normalizes the rows to length 1 and uses 1 - x_i x_j
as distances.

**Rows without counts** are at the origin of a singular value embedding. Such rows have no cosine
with other rows, so scaling by dot products raises an error.

The methods follow Deerwester et al. 1990 (latent semantic analysis, with rows compared as U s and
columns as V s) and Tenenbaum, de Silva & Langford 2000 (Isomap). Globerson et al. 2004, section 5,
tried the same normalizations for every method.

Shapes: X (n_rows, n_columns), rows (n_rows, n_components), columns (n_columns, n_components).
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from manymaps.checks import check_choice, check_magnitude, check_whole
from manymaps.compute.scaling import centred_products, leading_singular_values, scaled_axes
from manymaps.data.count_values import count_table
from manymaps.errors import DataError, DataWarning, ParameterError

__all__ = [
    "NORMALIZATIONS", "CountEmbedding", "classical_scaling", "isomap", "latent_semantic_analysis",
    "normalize_counts", "singular_value_embedding",
]  # fmt: skip

NORMALIZATIONS = ("none", "document", "tf-idf")

# A dense table of all pairs of rows requires 800 MB of float64 for 10,000 rows.
_MOST_ROWS = 10_000


@dataclass(frozen=True, eq=False)
class CountEmbedding:
    """Embedding of the rows of a count table and, for some methods, of its columns.

    Attributes
    ----------
    rows : ndarray of shape (n_rows, n_components)
        Coordinates of the rows.
    columns : ndarray of shape (n_columns, n_components), or None
        Coordinates of the columns, or None if the method embeds only rows.

    See Also
    --------
    latent_semantic_analysis, manymaps.correspondence_analysis

    Examples
    --------
    >>> from manymaps.baselines import latent_semantic_analysis
    >>> embedding = latent_semantic_analysis([[3, 0, 0], [0, 2, 0], [0, 0, 1]], 2)
    >>> embedding.rows.shape, embedding.columns.shape
    ((3, 2), (3, 2))
    """

    rows: np.ndarray
    columns: np.ndarray | None = None


def normalize_counts(X: Any, normalization: str) -> sparse.csr_array:
    """Normalize counts by row sums or by tf-idf weights.

    Parameters
    ----------
    X : array or sparse array of shape (n_rows, n_columns), or Counts
        Nonnegative counts.
    normalization : {"none", "document", "tf-idf"}
        "none" returns the counts unchanged. "document" divides each row by its sum. "tf-idf"
        follows scikit-learn. This option multiplies each count by 1 + log((1 + n_rows) / (1 +
        number of rows with the column)) and then normalizes rows to length 1.

    Returns
    -------
    sparse array of shape (n_rows, n_columns)
        Normalized counts. Empty rows remain empty.

    Raises
    ------
    DataError
        If a count is negative or non-finite.
    ParameterError
        If the normalization is unknown.

    See Also
    --------
    singular_value_embedding

    Examples
    --------
    >>> from manymaps.baselines import normalize_counts
    >>> normalize_counts([[1, 3], [0, 0]], "document").toarray().tolist()
    [[0.25, 0.75], [0.0, 0.0]]
    """
    table = count_table(X)
    check_choice("normalization", normalization, NORMALIZATIONS)
    if normalization == "none":
        return table
    if normalization == "document":
        sums = np.asarray(table.sum(axis=1)).ravel()
        shares = table.data / np.repeat(sums, np.diff(table.indptr))
        return sparse.csr_array((shares, table.indices, table.indptr), shape=table.shape)
    from sklearn.feature_extraction.text import TfidfTransformer

    return sparse.csr_array(TfidfTransformer().fit_transform(table))


def singular_value_embedding(
    X: Any, n_components: int = 2, *, log: bool = False, seed: int = 0
) -> CountEmbedding:
    """Embed rows as U s and columns as V s from a truncated singular value decomposition.

    Parameters
    ----------
    X : array or sparse array of shape (n_rows, n_columns), or Counts
        Nonnegative counts.
    n_components : int, default 2
        Number of dimensions, at least 1 and less than the numbers of rows and columns.
    log : bool, default False
        Whether to decompose log(1 + X), which is equally sparse.
    seed : int, default 0
        Seed of the starting vector of the decomposition.

    Returns
    -------
    CountEmbedding
        Coordinates of the rows and columns.

    Raises
    ------
    DataError
        If a count is negative or non-finite, or if there are no counts.
    ParameterError
        If the number of components is out of range.

    See Also
    --------
    latent_semantic_analysis, normalize_counts

    Examples
    --------
    >>> from manymaps.baselines import singular_value_embedding
    >>> embedding = singular_value_embedding([[3, 0, 0], [0, 2, 0], [0, 0, 1]], 2)
    >>> abs(embedding.rows).round(12).tolist()
    [[3.0, 0.0], [0.0, 2.0], [0.0, 0.0]]
    """
    from sklearn.utils.extmath import svd_flip

    table = count_table(X)
    _check_components(n_components, min(table.shape))
    if table.count_nonzero() == 0:
        raise DataError("the table has no counts; an embedding requires at least one count")
    check_magnitude(table, "the counts")
    if log:
        table = table.log1p()
    start = np.random.RandomState(seed).uniform(-1, 1, min(table.shape))
    left, values, right = leading_singular_values(table, n_components, start)
    left, right = svd_flip(left[:, ::-1], right[::-1], u_based_decision=False)
    return CountEmbedding(left * values[::-1], right.T * values[::-1])


def latent_semantic_analysis(X: Any, n_components: int = 2, *, seed: int = 0) -> CountEmbedding:
    """Embed rows and columns by a singular value decomposition of the tf-idf table.

    Parameters
    ----------
    X : array or sparse array of shape (n_rows, n_columns), or Counts
        Nonnegative counts.
    n_components : int, default 2
        Number of dimensions, at least 1 and less than the numbers of rows and columns.
    seed : int, default 0
        Seed of the starting vector of the decomposition.

    Returns
    -------
    CountEmbedding
        Coordinates of the rows and columns.

    Raises
    ------
    DataError
        If a count is negative or non-finite, or if there are no counts.
    ParameterError
        If the number of components is out of range.

    See Also
    --------
    singular_value_embedding, manymaps.correspondence_analysis

    Examples
    --------
    >>> from manymaps.baselines import latent_semantic_analysis
    >>> latent_semantic_analysis([[3, 0, 1], [2, 0, 1], [0, 4, 1]], 2).columns.shape
    (3, 2)
    """
    return singular_value_embedding(normalize_counts(X, "tf-idf"), n_components, seed=seed)


def classical_scaling(
    X: Any, n_components: int = 2, *, by: str = "distances", seed: int = 0
) -> CountEmbedding:
    """Embed the rows of a table by classical multidimensional scaling.

    Parameters
    ----------
    X : array or sparse array of shape (n_rows, n_columns), or Counts
        Nonnegative counts.
    n_components : int, default 2
        Number of dimensions, at least 1 and less than the number of rows. For Euclidean distances,
        it must also be less than the number of columns.
    by : {"distances", "dot products"}, default "distances"
        Distance between rows. The option "distances" selects Euclidean distances. The option "dot
        products" selects 1 minus the dot product of rows normalized to length 1, which requires a
        dense table of all pairs of rows.
    seed : int, default 0
        Seed of the starting vector of the decomposition.

    Returns
    -------
    CountEmbedding
        Coordinates of the rows.

    Raises
    ------
    DataError
        If a count is negative or non-finite, if all rows are equal, or if a row is empty ("dot
        products" only).
    ParameterError
        If the number of components is out of range, if `by` is unknown, or if there are more than
        10,000 rows ("dot products" only).

    See Also
    --------
    isomap, manymaps.similarity_map

    Examples
    --------
    >>> from manymaps.baselines import classical_scaling
    >>> square = [[1, 1], [1, 3], [3, 1], [3, 3]]
    >>> rows = classical_scaling([[*row, 0] for row in square], 2).rows
    >>> round(float(((rows[0] - rows[3]) ** 2).sum()), 12)
    8.0
    """
    table = _distinct_rows(X)
    check_choice("by", by, ("distances", "dot products"))
    if by == "distances":
        from sklearn.decomposition import PCA

        _check_components(n_components, min(table.shape))
        model = PCA(n_components, svd_solver="arpack", random_state=seed)
        return CountEmbedding(model.set_output(transform="default").fit_transform(table))
    _check_components(n_components, table.shape[0])
    _check_pairs(table.shape[0], 'classical_scaling(by="dot products")')
    lengths = np.sqrt(np.asarray(table.multiply(table).sum(axis=1)).ravel())
    if not lengths.all():
        raise DataError(
            f"row {np.flatnonzero(lengths == 0)[0]} is empty, so its cosines are undefined; "
            "omit empty rows"
        )
    unit = sparse.csr_array(sparse.diags_array(1 / lengths) @ table)
    distances = 1 - (unit @ unit.T).toarray()
    return CountEmbedding(_scaled(distances, n_components, seed))


def isomap(
    X: Any,
    n_components: int = 2,
    *,
    n_neighbors: int = 10,
    metric: str = "euclidean",
    seed: int = 0,
) -> CountEmbedding:
    """Embed the rows of a table by Isomap.

    Isomap applies classical scaling to shortest-path distances in a neighbour graph. It requires a
    dense table of all pairs of rows.

    Parameters
    ----------
    X : array or sparse array of shape (n_rows, n_columns), or Counts
        Nonnegative counts.
    n_components : int, default 2
        Number of dimensions, at least 1 and less than the number of rows.
    n_neighbors : int, default 10
        Number of neighbours of each row in the graph, at least 1 and less than the number of rows.
    metric : {"euclidean", "cosine"}, default "euclidean"
        Distance between rows.
    seed : int, default 0
        Seed of the starting vector of the decomposition.

    Returns
    -------
    CountEmbedding
        Coordinates of the rows.

    Raises
    ------
    DataError
        If a count is negative or non-finite, or if all rows are equal.
    ParameterError
        If the number of components or neighbours is out of range, if the metric is unknown, or if
        there are more than 10,000 rows.

    Warns
    -----
    DataWarning
        If the graph is disconnected. Its components are then joined by the shortest links.

    See Also
    --------
    classical_scaling

    Examples
    --------
    >>> from manymaps.baselines import isomap
    >>> rows = isomap([[0, 1], [0, 2], [0, 3], [1, 3], [2, 3]], 1, n_neighbors=2).rows
    >>> abs(rows[:, 0]).round(12).tolist()
    [2.0, 1.0, 0.0, 1.0, 2.0]
    """
    from scipy.sparse import SparseEfficiencyWarning, csgraph
    from sklearn.manifold import Isomap

    table = _distinct_rows(X)
    n = table.shape[0]
    _check_components(n_components, n)
    _check_pairs(n, "isomap")
    check_whole("n_neighbors", n_neighbors, 1, n - 1, why=f" for the {n} rows of the table")
    check_choice("metric", metric, ("euclidean", "cosine"))
    model = Isomap(n_neighbors=n_neighbors, n_components=1, metric=metric)
    with warnings.catch_warnings():
        # A single warning is issued below instead.
        warnings.filterwarnings("ignore", message="The number of connected components")
        warnings.simplefilter("ignore", SparseEfficiencyWarning)
        model.fit(table)
    parts, _ = csgraph.connected_components(model.nbrs_.kneighbors_graph(), directed=False)
    if parts > 1:
        warnings.warn(
            f"the graph of {n_neighbors} neighbours has {parts} components, which were joined by "
            "the shortest links between them; increase n_neighbors for a connected graph",
            DataWarning,
            stacklevel=2,
        )
    # The distances are embedded here because scikit-learn starts its decomposition from NumPy's
    # global state.
    return CountEmbedding(_scaled(model.dist_matrix_.astype(np.float64), n_components, seed))


def _scaled(distances: np.ndarray, n_components: int, seed: int) -> np.ndarray:
    """Apply classical scaling to a dense table of distances, which is overwritten."""
    n = len(distances)
    if not distances.any():
        return np.zeros((n, n_components))
    products = centred_products(np.square(distances, out=distances))
    start = np.random.default_rng(seed).normal(size=n)
    axes = scaled_axes(products, n_components, start, most_dense=4 * n_components + 20)
    top = np.abs(axes).argmax(axis=0)
    return axes * np.where(axes[top, np.arange(n_components)] < 0, -1.0, 1.0)


def _distinct_rows(X: Any) -> sparse.csr_array:
    """Validate a table and raise an error if all rows are equal."""
    table = count_table(X)
    if min(table.shape) == 0 or (table.max(axis=0) - table.min(axis=0)).count_nonzero() == 0:
        raise DataError(
            "all rows of the table are equal, so all distances are 0; pass distinct rows"
        )
    return table


def _check_components(n_components: int, size: int) -> None:
    check_whole("n_components", n_components, 1, size - 1, why=" for this table")


def _check_pairs(n_rows: int, method: str) -> None:
    if n_rows > _MOST_ROWS:
        raise ParameterError(
            f"{method} requires a table of all pairs of rows, too large for {n_rows} (at most "
            f"{_MOST_ROWS}); use fewer rows, or use singular_value_embedding, "
            'classical_scaling(by="distances") or correspondence_analysis'
        )
