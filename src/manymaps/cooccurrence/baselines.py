"""Other embeddings of a count table, to compare with: thin over SciPy and scikit-learn.

    function                    rows (documents)             columns (words)   made dense
    singular_value_embedding    U s of X = U s V^T           V s               nothing
      with log=True             the same of log(1 + X)       V s               nothing
    latent_semantic_analysis    the same of tf-idf           V s               nothing
    classical_scaling           by Euclidean distances       -                 nothing
      by="dot products"         by 1 - cosine                -                 n_rows x n_rows
    isomap                      by geodesic distances        -                 n_rows x n_rows

and `manymaps.cooccurrence.correspondence.correspondence_analysis`, whose result has the same `rows`
and `columns`. Any of them takes what `normalize_counts` gives.

**Classical scaling** (Torgerson 1952) embeds distances D by the eigenvectors of -1/2 J D^2 J, each
times the root of its eigenvalue. Of Euclidean distances these are the principal components of the
centred rows, which products with the sparse table find. Of *raw* dot products in place of
-1/2 J D^2 J it is nothing new: centred they are the Euclidean distances, and as they stand the
singular value embedding. By dot products it therefore means dot products of rows brought to
length 1, read as distances 1 - x_i x_j.

**Rows without counts** are at the origin of a singular value embedding; cosines they have none, so
scaling by dot products refuses them.

Deerwester et al. 1990 (latent semantic analysis: rows compare as U s, columns as V s); Tenenbaum,
de Silva & Langford 2000 (Isomap). The normalizations are those that Globerson et al. 2004,
section 5, try for every method.

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

# All pairs of rows are held: 800 MB of float64 for 10,000.
_MOST_ROWS = 10_000


@dataclass(frozen=True, eq=False)
class CountEmbedding:
    """Where the rows of a count table stand, and its columns where the method places them.

    Attributes
    ----------
    rows : ndarray of shape (n_rows, n_components)
    columns : ndarray of shape (n_columns, n_components), or None

    See Also
    --------
    latent_semantic_analysis, manymaps.correspondence_analysis

    Examples
    --------
    >>> from manymaps.baselines import latent_semantic_analysis
    >>> found = latent_semantic_analysis([[3, 0, 0], [0, 2, 0], [0, 0, 1]], 2)
    >>> found.rows.shape, found.columns.shape
    ((3, 2), (3, 2))
    """

    rows: np.ndarray
    columns: np.ndarray | None = None


def normalize_counts(X: Any, normalization: str) -> sparse.csr_array:
    """Counts as they stand, as shares of their row, or weighted by how rare their column is.

    Parameters
    ----------
    X : array or sparse array of shape (n_rows, n_columns), or Counts
    normalization : {"none", "document", "tf-idf"}
        "document" divides rows by their sums. "tf-idf" is scikit-learn's: a count times
        1 + log((1 + n_rows) / (1 + rows with the column)), rows then brought to length 1.

    Returns
    -------
    sparse array of shape (n_rows, n_columns)
        Empty rows stay empty.

    Raises
    ------
    DataError
        For a negative or non-finite count.
    ParameterError
        For an unknown normalization.

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
    """Rows U s and columns V s of the largest singular values of a table.

    Parameters
    ----------
    X : array or sparse array of shape (n_rows, n_columns), or Counts
    n_components : int
        At least 1 and less than the rows and the columns.
    log : bool
        Of log(1 + X), which is as sparse.
    seed : int
        Of the vector from which the decomposition starts.

    Returns
    -------
    CountEmbedding

    Raises
    ------
    DataError
        For a negative or non-finite count.
    ParameterError
        For an impossible number of components.

    See Also
    --------
    latent_semantic_analysis, normalize_counts

    Examples
    --------
    >>> from manymaps.baselines import singular_value_embedding
    >>> found = singular_value_embedding([[3, 0, 0], [0, 2, 0], [0, 0, 1]], 2)
    >>> abs(found.rows).round(12).tolist()
    [[3.0, 0.0], [0.0, 2.0], [0.0, 0.0]]
    """
    from sklearn.utils.extmath import svd_flip

    table = count_table(X)
    _check_components(n_components, min(table.shape))
    if table.count_nonzero() == 0:
        raise DataError("the table has no counts, so there is nothing to embed")
    check_magnitude(table, "the counts")
    if log:
        table = table.log1p()
    start = np.random.RandomState(seed).uniform(-1, 1, min(table.shape))
    left, values, right = leading_singular_values(table, n_components, start)
    left, right = svd_flip(left[:, ::-1], right[::-1], u_based_decision=False)
    return CountEmbedding(left * values[::-1], right.T * values[::-1])


def latent_semantic_analysis(X: Any, n_components: int = 2, *, seed: int = 0) -> CountEmbedding:
    """The singular value embedding of tf-idf.

    Parameters
    ----------
    X : array or sparse array of shape (n_rows, n_columns), or Counts
    n_components, seed
        As in `singular_value_embedding`.

    Returns
    -------
    CountEmbedding

    Raises
    ------
    DataError, ParameterError
        As in `singular_value_embedding`.

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
    """Classical multidimensional scaling of the rows of a table.

    Parameters
    ----------
    X : array or sparse array of shape (n_rows, n_columns), or Counts
    n_components : int
        At least 1 and less than the rows; by distances also less than the columns.
    by : {"distances", "dot products"}
        Euclidean distances, or 1 - the dot product of rows of length 1. The latter holds a table of
        all pairs of rows.
    seed : int
        Of the vector from which the decomposition starts.

    Returns
    -------
    CountEmbedding
        Of rows alone.

    Raises
    ------
    DataError
        For a negative or non-finite count; by dot products for an empty row.
    ParameterError
        For an impossible number of components, an unknown `by`, or by dot products of more than
        10,000 rows.

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
            f"row {np.flatnonzero(lengths == 0)[0]} is empty and has no cosine with any other; "
            "leave empty rows out"
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
    """Isomap of the rows of a table: classical scaling of distances along a neighbour graph.

    Holds a table of all pairs of rows.

    Parameters
    ----------
    X : array or sparse array of shape (n_rows, n_columns), or Counts
    n_components : int
        At least 1 and less than the rows.
    n_neighbors : int
        Neighbours of each row in the graph; at least 1 and less than the rows.
    metric : {"euclidean", "cosine"}
    seed : int
        Of the vector from which the decomposition starts.

    Returns
    -------
    CountEmbedding
        Of rows alone.

    Raises
    ------
    DataError
        For a negative or non-finite count.
    ParameterError
        For an impossible number of components or neighbours, an unknown metric, or more than
        10,000 rows.

    Warns
    -----
    DataWarning
        Where the graph falls into parts; they are then joined by the shortest links.

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
        # Said below in one warning of our own.
        warnings.filterwarnings("ignore", message="The number of connected components")
        warnings.simplefilter("ignore", SparseEfficiencyWarning)
        model.fit(table)
    parts, _ = csgraph.connected_components(model.nbrs_.kneighbors_graph(), directed=False)
    if parts > 1:
        warnings.warn(
            f"the graph of {n_neighbors} neighbours falls into {parts} parts, which were joined by "
            "the shortest links between them; raise n_neighbors for a connected one",
            DataWarning,
            stacklevel=2,
        )
    # Embedded anew, because scikit-learn starts this decomposition from NumPy's global state.
    return CountEmbedding(_scaled(model.dist_matrix_.astype(np.float64), n_components, seed))


def _scaled(distances: np.ndarray, n_components: int, seed: int) -> np.ndarray:
    """Classical scaling of a dense table of distances, which is used up."""
    n = len(distances)
    if not distances.any():
        return np.zeros((n, n_components))
    products = centred_products(np.square(distances, out=distances))
    start = np.random.default_rng(seed).normal(size=n)
    axes = scaled_axes(products, n_components, start, most_dense=4 * n_components + 20)
    top = np.abs(axes).argmax(axis=0)
    return axes * np.where(axes[top, np.arange(n_components)] < 0, -1.0, 1.0)


def _distinct_rows(X: Any) -> sparse.csr_array:
    """A checked table whose rows are not all alike."""
    table = count_table(X)
    if min(table.shape) == 0 or (table.max(axis=0) - table.min(axis=0)).count_nonzero() == 0:
        raise DataError("all rows of the table are alike, so there are no distances to embed")
    return table


def _check_components(n_components: int, size: int) -> None:
    check_whole("n_components", n_components, 1, size - 1, why=" for this table")


def _check_pairs(n_rows: int, method: str) -> None:
    if n_rows > _MOST_ROWS:
        raise ParameterError(
            f"{method} holds a table of all pairs of rows, too large for {n_rows} (at most "
            f"{_MOST_ROWS}); take fewer rows, or singular_value_embedding, "
            'classical_scaling(by="distances") or correspondence_analysis, which do not'
        )
