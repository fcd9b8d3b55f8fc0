"""Starting layouts of a single map.

    start      from         coordinates
    random     nothing      independent normal numbers
    pca        vectors      the first principal components
    mds        vectors or   classical scaling (Torgerson 1952): eigenvectors of -1/2 J D^2 J, D the
               distances    distances, each times the root of its eigenvalue

All named starts are scaled in the same way. The longest axis has a standard deviation of `spread`,
far below the kernel width, so that a start determines directions and not distances. Noise of a
hundredth of this spread is added to separate objects with the same coordinates. Positions that are
passed as an array are not scaled. Noise is added only if several objects coincide in all maps, or,
with a warning, along axes on which all objects coincide.

Shapes: positions (n, n_components) float64.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy import sparse

from manymaps.checks import check_choice
from manymaps.compute.scaling import centred_products, scaled_axes
from manymaps.compute.threads import one_blas_thread
from manymaps.errors import DataError, DataWarning, ParameterError
from manymaps.model.parameters import FARTHEST

STARTS = ("auto", "personas", "random", "pca", "mds")

# Objects with equal vectors would never separate.
_NOISE = 0.01
# Noise of coincident objects in kernel widths, equal to the spread of the default start of t-SNE.
_SEPARATION = 1e-4
_MOST_FOR_MDS = 10_000
# A tenth of the distance at which a run is considered diverged, so that the points can still move
# outwards.
_FARTHEST_START = FARTHEST / 10


def start_positions(
    start: str,
    data: Any,
    n: int,
    n_components: int,
    *,
    metric: Any = "euclidean",
    spread: float = 1e-3,
    generator: np.random.Generator,
) -> np.ndarray:
    """Compute starting positions.

    Parameters
    ----------
    start : {"auto", "random", "pca", "mds"}
        Name of the start. "auto" means "pca" if there are vectors, and "random" otherwise.
    data : array or sparse array of shape (n, n_features), distances (n, n), or None
        Vectors or, with `metric="precomputed"`, distances. Pass None if there are only
        similarities.
    n : int
        Number of objects.
    n_components : int
        Number of dimensions of each map.
    metric : str or callable
        Distance used by "mds".
    spread : float
        Standard deviation along the longest axis.
    generator : numpy.random.Generator
        Source of the noise.

    Returns
    -------
    ndarray of shape (n, n_components)
        The positions.

    Raises
    ------
    ParameterError
        If the start is unknown, or cannot be computed from the data.

    Examples
    --------
    >>> import numpy as np
    >>> line = np.arange(5.0)[:, None]
    >>> y = start_positions("pca", line, 5, 1, generator=np.random.default_rng(0))
    >>> np.argsort(y[:, 0])[[0, -1]].tolist() in ([0, 4], [4, 0])
    True
    """
    vectors = data is not None and metric != "precomputed"
    if start == "auto":
        start = "pca" if vectors else "random"
    check_choice("init", start, STARTS, why=", nor an array or an Atlas")
    if start == "pca" and not vectors:
        raise ParameterError('needs vectors; without them take "random"', name="init", value=start)
    with one_blas_thread():  # the bits of a product may depend on the number of threads
        if start == "pca":
            positions = _principal_components(data, n_components, generator)
        elif start == "mds":
            positions = _classical_scaling(data, metric, n, n_components)
        else:
            positions = generator.normal(size=(n, n_components))
    positions = positions - positions.mean(axis=0)
    deviation = positions.std(axis=0).max(initial=0)
    if deviation > 0:
        positions = positions / deviation
    noise = 1.0 if positions.shape[1] == 0 or deviation == 0 else _NOISE
    full = np.zeros((n, n_components))
    full[:, : positions.shape[1]] = positions[:, :n_components]
    if start != "random":
        full += noise * generator.normal(size=full.shape)
    return spread * full


def check_start(positions: np.ndarray, weights: np.ndarray, shape: tuple[int, int, int]) -> None:
    """Raise a ParameterError if positions have another shape, or a value that is too large."""
    if positions.shape != shape or weights.shape != shape[:2]:
        raise ParameterError(f"init has shape {positions.shape}; expected {shape}")
    if not np.isfinite(positions).all():
        raise ParameterError("init contains a value that is not finite")
    reach = np.abs(positions).max()
    if reach > _FARTHEST_START:
        raise ParameterError(
            f"init has points {reach:g} from the origin; expected at most {_FARTHEST_START:g}"
        )


def spread_out(
    positions: np.ndarray, generator: np.random.Generator, noise: float = _SEPARATION
) -> np.ndarray:
    """Add noise along axes on which all objects coincide, because no force acts along them.

    Parameters
    ----------
    positions : ndarray of shape (n_maps, n, n_components)
        Starting positions.
    generator : numpy.random.Generator
        Source of the noise.
    noise : float
        Standard deviation of the noise in kernel widths.

    Returns
    -------
    ndarray of shape (n_maps, n, n_components)
        Positions with a spread along every axis. If nothing changes, `positions` itself is
        returned.

    Warns
    -----
    DataWarning
        If noise is added.

    Examples
    --------
    >>> import numpy as np
    >>> corners = np.array([[[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]])
    >>> spread_out(corners, np.random.default_rng(0)) is corners
    True
    """
    if positions.shape[1] < 2:
        return positions
    flat = np.ptp(positions, axis=1, keepdims=True) == 0
    if not flat.any():
        return positions
    warnings.warn(
        f"in init, all objects have the same coordinate on {flat.sum():,} of {flat.size:,} axes; "
        "random numbers are added, because the fit could not separate the objects otherwise",
        DataWarning,
        stacklevel=5,
    )
    return np.where(flat, positions + generator.normal(0, noise, positions.shape), positions)


def separated(positions: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    """Add noise to objects that coincide in all maps, because no force would separate them.

    Parameters
    ----------
    positions : ndarray of shape (n_maps, n, n_components)
        Starting positions.
    generator : numpy.random.Generator
        Source of the noise.

    Returns
    -------
    ndarray of shape (n_maps, n, n_components)
        Positions at which no two objects coincide. If nothing changes, `positions` itself is
        returned.

    Examples
    --------
    >>> import numpy as np
    >>> together = np.zeros((1, 3, 2))
    >>> len(np.unique(separated(together, np.random.default_rng(0))[0], axis=0))
    3
    """
    rows = np.moveaxis(positions, 1, 0).reshape(positions.shape[1], -1).astype(np.float32)
    _, numbers, counts = np.unique(rows, axis=0, return_inverse=True, return_counts=True)
    coincident = counts[numbers.ravel()] > 1
    if not coincident.any():
        return positions
    noise = generator.normal(0, _SEPARATION, positions.shape)
    return np.where(coincident[:, None], positions + noise, positions)


def _principal_components(
    vectors: Any, n_components: int, generator: np.random.Generator
) -> np.ndarray:
    """Compute the available components, at most `n_components`."""
    from sklearn.decomposition import PCA

    n, n_features = vectors.shape
    k = min(n_components, n, n_features)
    seed = int(generator.integers(2**31 - 1))
    if _all_alike(vectors):
        return np.zeros((n, k))
    vectors = _in_reach(vectors)
    if not sparse.issparse(vectors):
        vectors = _centred(vectors)
        solver = "covariance_eigh" if n_features <= 1000 else "randomized"
    elif k < min(n, n_features):
        solver = "arpack"
    else:
        vectors, solver = _centred(vectors.toarray()), "full"
        # set_output makes the result an array regardless of the global setting of scikit-learn.
    model = PCA(k, svd_solver=solver, random_state=seed).set_output(transform="default")
    return model.fit_transform(vectors)


def _in_reach(numbers: Any) -> Any:
    """Divide numbers by the power of two near the largest number, which is exact."""
    # The unit has no effect on a start, and squares of values such as 1e200 would overflow.
    stored = numbers if isinstance(numbers, np.ndarray) else numbers.data
    scaled = np.ldexp(stored, -int(np.frexp(np.abs(stored).max(initial=0))[1]))
    if isinstance(numbers, np.ndarray):
        return scaled
    return sparse.csr_array((scaled, numbers.indices, numbers.indptr), shape=numbers.shape)


def _all_alike(vectors: Any) -> bool:
    """Check whether all rows are equal, so that no axis can be computed."""
    highest, lowest = vectors.max(axis=0), vectors.min(axis=0)
    if sparse.issparse(vectors):
        highest, lowest = highest.toarray(), lowest.toarray()
    return bool((np.asarray(highest) == np.asarray(lowest)).all())


def _centred(vectors: np.ndarray) -> np.ndarray:
    """Centre the columns, with means computed in float64."""
    # In float32, columns far from 0 would lose small differences.
    mean = vectors.mean(axis=0, dtype=np.float64)
    kind = np.float32 if vectors.dtype == np.float32 else np.float64
    return np.subtract(
        vectors, mean, out=np.empty(vectors.shape, kind), dtype=np.float64, casting="same_kind"
    )


def _classical_scaling(data: Any, metric: Any, n: int, n_components: int) -> np.ndarray:
    from sklearn.metrics import pairwise_distances

    if data is None:
        raise ParameterError('needs vectors or distances; take "random"', name="init", value="mds")
    if n > _MOST_FOR_MDS:
        raise ParameterError(
            f"needs a table of all distances, too large for {n} objects (at most {_MOST_FOR_MDS}); "
            'take "pca"',
            name="init",
            value="mds",
        )
    if sparse.issparse(data) and metric == "precomputed":
        raise DataError('init="mds" needs all distances, and only some are stored; take "random"')
    are_distances = metric == "precomputed"
    k = min(n_components, n - 1)
    if not are_distances and _all_alike(data):
        return np.zeros((n, k))
    squares = _in_reach(pairwise_distances(data, metric=metric)) ** 2
    if not squares.any():
        return np.zeros((n, k))
    return scaled_axes(centred_products(squares), k, np.cos(np.arange(n)))
