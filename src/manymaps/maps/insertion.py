"""Insertion of new objects into a finished atlas.

A new object i has similarities s_ij to the atlas objects j, scaled so that the largest is 1 for
each i. Its *effective neighbours* are the most similar objects, or the objects whose similarity
exceeds theta_i = mean + c sd of its similarities (Claassen 2020, section 4.2.2). The effective
neighbours are weighted by the w_ij of `manymaps.maps.neighbor_weights`. In a single map, the object
is placed at their weighted geometric median. In multiple maps, its proportions and positions are

    pi_i^m  proportional to  sum_j w_ij pi_j^m
    y_i^m = argmin_y sum_j w_ij pi_j^m |y_j^m - y|

A word therefore inherits the senses of its neighbours. In each map, it is placed among the
neighbours with weight in that map. On request, `manymaps.maps.refinement` then moves the word to
the position that is optimal under the model.

For vectors with distances d_ij and a largest possible distance D, the similarities are s_ij = 1 -
d_ij / D. For "cosine", d is 1 - cos and D is 2, so that s = (1 + cos) / 2. For any other metric, D
is the object's own largest distance to the atlas. If the largest of an object's precomputed
similarities exceeds 1, all its similarities are divided by it before they are compared with
theta_i, which is at most 1.

Shapes: maps (n_maps, k, n_components), proportions (n_maps, k), for k new objects; weights (k, n).
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from scipy import sparse

from manymaps.affinity.affinities import NEIGHBORS_PER_PERPLEXITY, conditional_rows
from manymaps.affinity.distances import (
    Metric,
    check_metric,
    comparable,
    cosine_similarities,
    in_unit,
    inner_metric,
)
from manymaps.affinity.neighbors import NeighborSearch, nearest_neighbors
from manymaps.affinity.search import pairwise
from manymaps.affinity.ties import nearest_columns
from manymaps.atlas.atlas import Atlas
from manymaps.checks import check_number, check_whole
from manymaps.errors import DataError, DataWarning, ParameterError
from manymaps.labels import listed
from manymaps.maps.neighbor_weights import NeighborWeights, PowerWeights
from manymaps.maps.new_objects import Matrix, NewObjects, read_new
from manymaps.progress import work

__all__ = ["Insertion", "Refinement", "insert", "insert_into"]

# 32 MiB of float64 per block.
_BLOCK = 1 << 22
# Similarities among 500 objects show which values are usual in an atlas. The time for all pairs
# grows with the square of the number of objects.
_SAMPLE = 500
# Number of standard deviations below the mean. If similarities were normally distributed, one in 44
# objects of the atlas itself would be marked as dissimilar.
_STRANGE = 2.0
# Not tuned. The number is small enough to stay local, and large enough to limit the effect of a
# single unusual neighbour.
DEFAULT_NEIGHBORS = 25
# The logarithm must be finite.
_LEAST_PROPORTION = 1e-12
# Similarities come from float32.
_ROUNDING = 1e-6
# Rows per block of `insert_into`. With 1,000 objects in the atlas and 30 features, the allocated
# memory peaks at 48 MiB.
_ROWS = 4096


@dataclass(frozen=True)
class Refinement:
    """Settings with which `insert` refines new objects (`manymaps.maps.refinement`).

    Parameters
    ----------
    perplexity : float or sequence of float, optional
        Effective number of neighbours in the target distribution. For several perplexities, the
        target distributions are averaged. The default is the perplexity of the atlas, or 30 if the
        atlas does not record one. Precomputed similarities are used as the target without change.
    metric : str or function, optional
        Metric of the distances in the target. The default is the metric of the atlas, or
        "euclidean" if the atlas does not record one.
    max_iter : int > 0
        Maximum number of evaluations of the cost.
    agree : bool
        Whether each object in a single map is finally moved to the nearby position at which its
        neighbours in the data and in the map agree best.

    Examples
    --------
    >>> from manymaps.maps.insertion import Refinement
    >>> Refinement(perplexity=20).max_iter
    10
    """

    perplexity: float | Sequence[float] | None = None
    metric: Metric | None = None
    max_iter: int = 10
    agree: bool = True

    def __post_init__(self) -> None:
        check_whole("max_iter", self.max_iter)


@dataclass(frozen=True, eq=False)
class Insertion:
    """Result of an insertion.

    Attributes
    ----------
    labels : tuple of str, length k
        Labels of the new objects.
    maps : ndarray of shape (n_maps, k, n_components)
        Positions of the new objects. Positions are finite even in maps in which an object has
        almost no weight.
    proportions : ndarray of shape (n_maps, k)
        Mixing proportions of the new objects.
    dissimilar : ndarray of bool, shape (k,)
        Mask of the new objects that do not resemble any object in the atlas. The positions of such
        objects are hardly meaningful.
    weights : sparse array of shape (k, n)
        Weights of the effective neighbours; the largest weight in each row is 1.
    atlas : Atlas
        A copy of the atlas with the new objects at the end and a column "inserted". If a column
        with that name exists and is not Boolean, the new column is called "inserted_1", and so on.
        In the other columns, the new objects have NaN or "". Numbers and Booleans are converted to
        floating-point numbers, and integers that are too large for them are converted to text. The
        log Z of a joint model is not copied; `Atlas.log_whole` computes it over old and new pairs.
        If the atlas has factors, each new object has their median, because its data do not state
        how often it is a response.

    Examples
    --------
    >>> import numpy as np
    >>> from manymaps import Atlas, insert
    >>> from manymaps.model import T_SNE
    >>> maps = np.array([[[0.0, 0], [2, 0], [9, 9]]])
    >>> atlas = Atlas(["cat", "dog", "car"], maps, np.ones((1, 3)), T_SNE)
    >>> found = insert(atlas, {"puppy": {"dog": 0.8, "cat": 0.2}})
    >>> found.labels, found.dissimilar.tolist(), found.atlas.n_objects
    (('puppy',), [False], 4)
    """

    labels: tuple[str, ...]
    maps: np.ndarray
    proportions: np.ndarray
    dissimilar: np.ndarray
    weights: sparse.csr_array
    atlas: Atlas

    def __repr__(self) -> str:
        lost = int(self.dissimilar.sum())
        note = f", {lost:,} of which resemble nothing in it" if lost else ""
        return f"<Insertion of {len(self.labels):,} objects into an atlas{note}>"

    @property
    def n_effective(self) -> np.ndarray:
        """Number of effective neighbours of each new object, of shape (k,)."""
        return np.diff(self.weights.indptr)


def insert(
    atlas: Atlas,
    new: Any,
    *,
    labels: Sequence[str] | None = None,
    vectors: Matrix | None = None,
    similarity: Metric = "cosine",
    n_neighbors: int | Literal["local"] = DEFAULT_NEIGHBORS,
    sd: float = 2.0,
    weights: NeighborWeights | None = None,
    refine: bool | Refinement = False,
) -> Insertion:
    """Insert new objects into a copy of an atlas.

    Parameters
    ----------
    atlas : Atlas
        The atlas.
    new : array, sparse array or frame of shape (k, n_features), Vectors, or mapping
        The new objects, as vectors or, with `similarity="precomputed"`, as similarities of shape
        (k, n) to the objects of the atlas. Similarities may also be passed as a frame whose columns
        name objects, or as a mapping {new label: {label in the atlas: similarity}}.
    labels : sequence of str, optional
        Labels of the new objects. By default, the labels of `new` are used, or the indices of the
        objects if `new` has no labels.
    vectors : array or sparse array of shape (n, n_features), optional
        Vectors with which the new vectors are compared. By default, the vectors stored in the atlas
        are used.
    similarity : str or function
        Similarity measure: "cosine", "precomputed", or any metric of
        `manymaps.affinity.neighbors.nearest_neighbors`. The module docstring describes the
        conversion of distances to similarities.
    n_neighbors : int > 0 or "local"
        Number of most similar objects to use; objects with a similarity of 0 are never used.
        "local" uses all objects with a similarity above theta_i.
    sd : float
        Number of standard deviations by which theta_i exceeds the mean of the object's
        similarities.
    weights : NeighborWeights
        Weights of the effective neighbours. The default is `PowerWeights()`.
    refine : bool or Refinement
        Whether to optimize the positions and proportions of the new objects. A `Refinement` also
        defines the settings.

    Returns
    -------
    Insertion
        The result. Each object has the same coordinates as if it were inserted by itself. The new
        atlas contains vectors only if every object has one, and `vectors` were not passed in place
        of vectors of the atlas.

    Raises
    ------
    DataError
        If a label is already in the atlas, a value is not finite, a similarity is negative, a row
        has no similarities, or the shapes do not match. If a vector is zero and the similarity is
        "cosine".
    ParameterError
        If a setting is out of its range.

    Warns
    -----
    DataWarning
        If objects do not resemble any object in the atlas; the message lists them. For vectors, the
        largest similarity of such an object meets two conditions, which are computed from at most
        500 atlas objects. It is at most the mean plus two standard deviations of all similarities
        among the atlas objects. It is also at most the mean minus two standard deviations of their
        largest similarities. With "local", such objects have no similarity above theta_i, or the
        same similarity to all objects. Dissimilar objects are inserted nevertheless. If "local"
        selects no neighbour, their 25 nearest neighbours are used.

    See Also
    --------
    insert_rows

    Examples
    --------
    >>> import numpy as np
    >>> from manymaps import Atlas, insert
    >>> from manymaps.model import T_SNE
    >>> maps = np.array([[[0.0, 0], [2, 0], [9, 9]]])
    >>> atlas = Atlas(["cat", "dog", "car"], maps, np.ones((1, 3)), T_SNE)
    >>> found = insert(atlas, {"puppy": {"dog": 0.8, "cat": 0.2}})
    >>> found.maps[0].tolist(), found.atlas.labels[-1]
    ([[2.0, 0.0]], 'puppy')
    """
    if atlas.kinds is not None:
        raise DataError("the atlas contains rows and columns; use `insert_rows` to insert new rows")
    if n_neighbors != "local":
        check_whole("n_neighbors", n_neighbors, why=", or 'local'")
    check_number("sd", sd)
    objects = read_new(atlas, new, labels, vectors, similarity)
    k_best = None if n_neighbors == "local" else int(n_neighbors)
    curve = weights or PowerWeights()
    neighbors, strange = _effective_neighbors(objects, k_best, sd)
    _warn_of(objects.labels, strange)
    shares = curve.weigh(neighbors)
    # pi_i^m is proportional to sum_j w_ij pi_j^m.
    proportions = (shares @ atlas.proportions.T.astype(np.float64)).T
    proportions = proportions / proportions.sum(axis=0)
    maps = _places(shares, atlas)
    if refine:
        maps, proportions = _refined(
            atlas, objects, maps, proportions, Refinement() if refine is True else refine
        )
    maps = maps.astype(atlas.maps.dtype)
    proportions = proportions.astype(atlas.proportions.dtype)
    known = replace(atlas, vectors=objects.known) if atlas.vectors is None else atlas
    appended = objects.vectors if objects.extends else None
    joined = known.extended(objects.labels, maps, proportions, vectors=appended)
    return Insertion(objects.labels, maps, proportions, strange, shares, joined)


def insert_into(
    places: np.ndarray, atlas: Atlas, rows: Matrix, numbers: np.ndarray, **settings: Any
) -> None:
    """Fill `places` (n_maps, k, n_components) with the positions of some of k new rows.

    The rows are inserted in blocks, which limits the memory and does not affect the result.
    """
    from manymaps.compute.threads import one_blas_thread

    with work("object", total=len(numbers)) as at:
        for start in range(0, len(numbers), _ROWS):
            at(start)
            block = numbers[start : start + _ROWS]
            with one_blas_thread():
                places[:, block] = insert(atlas, rows[block], **settings).maps


def _similarities(new: Matrix, known: Matrix, similarity: Metric) -> np.ndarray:
    """Compute similarities (k, n) in [0, 1] between rows prepared by `comparable`."""
    if similarity == "cosine":
        return cosine_similarities(new, known)
    check_metric(similarity, known, "similarity")
    distances = pairwise(new, known, inner_metric(similarity), name="similarity")
    distances = in_unit(distances, similarity)
    widest = distances.max(axis=1, keepdims=True)
    return 1 - np.divide(distances, widest, out=np.zeros_like(distances), where=widest > 0)


def _effective_neighbors(
    objects: NewObjects, k_best: int | None, sd: float
) -> tuple[sparse.csr_array, np.ndarray]:
    """Select similarities of effective neighbours, scaled to at most 1; find rows without any."""
    if objects.similarities is not None:
        return _chosen(objects.similarities, k_best, sd, 0.0)
    similarity = objects.similarity
    known = comparable(objects.known, similarity, "the known vectors")
    new = comparable(objects.vectors, similarity, "the new objects")
    least = _least_usual_similarity(known, similarity)
    rows = max(1, _BLOCK // known.shape[0])
    parts = []
    for start in range(0, new.shape[0], rows):
        block = _similarities(new[start : start + rows], known, similarity)
        parts.append(_chosen(block, k_best, sd, least))
    tables, dissimilar = zip(*parts, strict=True)
    return sparse.csr_array(sparse.vstack(tables)), np.concatenate(dissimilar)


def _least_usual_similarity(known: Matrix, similarity: Metric) -> float:
    """Compute the similarity up to which a new object is dissimilar, from at most 500 objects."""
    if known.shape[0] < 2:
        return 0.0
    n = known.shape[0]
    sample = known[np.unique(np.linspace(0, n - 1, min(n, _SAMPLE)).astype(np.int64))]
    table = _similarities(sample, sample, similarity).astype(np.float64)
    np.fill_diagonal(table, 0.0)
    best = table.max(axis=1)
    mean, square = (x.sum() / (table.size - len(table)) for x in (table, table * table))
    of_all = mean + _STRANGE * np.sqrt(max(square - mean**2, 0.0))
    # Both conditions are needed. With two compact groups, the spread of all similarities would mark
    # every object as dissimilar. If the largest similarities hardly differ, their spread would mark
    # slight outliers.
    return float(min(of_all, best.mean() - _STRANGE * best.std()))


def _chosen(
    table: Matrix, k_best: int | None, sd: float, least: float
) -> tuple[sparse.csr_array, np.ndarray]:
    """Select the effective neighbours of a block of rows, and find the dissimilar rows."""
    rows, dissimilar = [], np.zeros(table.shape[0], bool)
    for i in range(table.shape[0]):
        columns, values = _row(table, i)
        best = float(values.max())
        picked = np.arange(0) if k_best else _outstanding(values, table.shape[1], sd)
        dissimilar[i] = best <= least or (k_best is None and len(picked) == 0)
        if len(picked) == 0:
            # Every object draws among its ties as if it were inserted by itself.
            k = min(k_best or DEFAULT_NEIGHBORS, len(values))
            picked = np.sort(nearest_columns(-values[None], k, np.random.default_rng(0))[0])
        picked = picked[values[picked] > 0] if best > 0 else picked
        chosen = values[picked].astype(np.float64)
        # If an object is equally far from all others, all similarities are equal.
        rows.append((columns[picked], chosen / best if best > 0 else np.ones(len(picked))))
    indptr = np.concatenate([[0], np.cumsum([len(columns) for columns, _ in rows])])
    indices, data = (np.concatenate(parts) for parts in zip(*rows, strict=True))
    return sparse.csr_array((data, indices, indptr), table.shape), dissimilar


def _outstanding(values: np.ndarray, n: int, sd: float) -> np.ndarray:
    """Find the stored similarities of one object, out of n similarities, that reach theta_i."""
    precise = values / max(1.0, float(values.max()))
    mean, square = precise.sum() / n, precise @ precise / n
    best = precise.max()
    if best - mean <= _ROUNDING * best:
        return np.arange(0)
    theta = min(float(mean + sd * np.sqrt(max(square - mean**2, 0.0))), 1.0)
    return np.flatnonzero(precise >= theta - _ROUNDING * best)


def _row(table: Matrix, i: int) -> tuple[np.ndarray, np.ndarray]:
    if sparse.issparse(table):
        stored = slice(table.indptr[i], table.indptr[i + 1])
        return table.indices[stored].astype(np.int64), table.data[stored]
    return np.arange(table.shape[1]), table[i]


def _warn_of(labels: Sequence[str], strange: np.ndarray) -> None:
    if strange.any():
        names = [label for label, alone in zip(labels, strange, strict=True) if alone]
        warnings.warn(
            f"{len(names)} of {len(labels)} new objects resemble nothing in the atlas, so their "
            f"positions are hardly meaningful: {listed(names, most=5)}",
            DataWarning,
            stacklevel=3,
        )


def _places(weights: sparse.csr_array, atlas: Atlas) -> np.ndarray:
    """Compute the geometric median in each map, of shape (n_maps, k, n_components), float64."""
    from manymaps.compute.geometric_median import geometric_medians
    from manymaps.compute.threads import share_out

    places = np.empty((atlas.n_maps, weights.shape[0], atlas.n_components))
    indptr, indices = weights.indptr.astype(np.int64), weights.indices.astype(np.int64)
    for m in range(atlas.n_maps):
        # If no neighbour has weight in a map, neighbours are weighted only by w_ij.
        share = np.maximum(atlas.proportions[m].astype(np.float64), _LEAST_PROPORTION)
        points = np.ascontiguousarray(atlas.maps[m], np.float64)
        pulls = weights.data * share[indices]
        share_out(geometric_medians, weights.shape[0], points, indptr, indices, pulls, places[m])
    return places


def _refined(
    atlas: Atlas,
    objects: NewObjects,
    maps: np.ndarray,
    proportions: np.ndarray,
    how: Refinement,
) -> tuple[np.ndarray, np.ndarray]:
    """Optimize the positions and proportions of the new rows."""
    # Importing the compiled functions takes half a second, and only refinement needs them.
    from manymaps.maps.refinement import agreeing_places, refine_rows

    chosen = atlas.settings.perplexity if how.perplexity is None else how.perplexity
    perplexities = np.atleast_1d(np.asarray(chosen, float))
    if objects.similarities is not None:
        sums = np.asarray(objects.similarities.sum(axis=1)).ravel()
        target = sparse.csr_array(objects.similarities / sums[:, None])
    else:
        metric = how.metric or atlas.settings.metric
        metric = "euclidean" if metric in (None, "precomputed") else metric
        target = _gaussian_rows(atlas, objects, metric, perplexities)
    maps, proportions = refine_rows(atlas, target, maps, proportions, max_iter=how.max_iter)
    if atlas.n_maps == 1 and how.agree:
        depth = int(np.ceil(perplexities.max()))
        maps = agreeing_places(atlas.maps[0], target, maps[0], depth)[None]
    return maps, proportions


def _gaussian_rows(
    atlas: Atlas, objects: NewObjects, metric: Metric, perplexities: np.ndarray
) -> sparse.csr_array:
    """Compute the target over the nearest atlas objects (k, n), as the mean over perplexities."""
    n = atlas.n_objects
    if not ((perplexities >= 1) & (perplexities <= n)).all():
        raise ParameterError(
            f"must be from 1 to {n}, the number of objects in the atlas; to refine new objects, "
            "pass Refinement(perplexity=...)",
            name="perplexity",
            value=perplexities.tolist(),
        )
    graph = nearest_neighbors(
        objects.known, min(n, int(np.ceil(NEIGHBORS_PER_PERPLEXITY * perplexities.max()))),
        metric=metric, queries=objects.vectors, search=NeighborSearch("exact"),
    )  # fmt: skip
    k, n_nearest = graph.distances.shape
    squared = graph.distances.astype(np.float64).ravel() ** 2
    starts = np.arange(0, squared.size + 1, n_nearest)
    # p_j|i = exp(-beta_i d_ij^2) / sum_k exp(-beta_i d_ik^2), where beta_i sets the perplexity.
    p = np.mean([conditional_rows(squared, starts, each) for each in perplexities], axis=0)
    return sparse.csr_array((p, graph.indices.ravel(), starts), (k, n))
