"""Measures of how well maps preserve neighbourhoods and distance ranks.

The data and the maps are spaces of `manymaps.metrics.spaces`: vectors, a table of distances or
similarities, one map, or many maps under their model's similarity. For each object i,

    local       share of its k nearest neighbours in the data that are also nearest in the maps,
                sum_j min(w_ij, u_ij) / k       with the memberships w (data) and u (maps)
    global      Spearman's rank correlation of its distances in the data and in the maps
    trust       1 - 2 / (k (2 n - 3 k - 1)) sum_j max(0, u_ij - w_ij) (r_ij - k)
                with r_ij the rank of j among the n - 1 others in the data
    continuity  trust with the two spaces exchanged

A `Measure` is the mean over objects, with the standard error sd / sqrt(n). Claassen (2020, eqs.
4.12 to 4.14) defined the local and global measures. Venna & Kaski (2001) defined trustworthiness
and continuity.

**Claassen's printed values** count each point as its own nearest neighbour and include it in the
rank correlation: `count_self=True`. His k = 10 then corresponds to 9 real neighbours, mu = (1 + 9
mu_local(9)) / 10, and a random map scores 10 %. By default, a point is not a neighbour of itself.

**Ties.** Tied objects share the remaining memberships, and tied distances are assigned the mean of
their ranks, so the order of the objects does not matter. If only one of the two spaces has ties,
the local measure is its expectation under random tie-breaking. Two spaces with the same ties agree
fully.

**Objects with too little data.** If a table contains fewer than k neighbours of an object, k is
reduced to that number. An object without neighbours has the value NaN and is excluded from the mean
and the standard error. In a rank correlation over a table, all objects without a similarity are
tied for the last rank. If all objects have the same distance in the maps, the correlation is 0.

All measures are computed in blocks of rows, without a table of all pairs. `sample` compares a
random sample of rows with all objects. The mean is then an estimate, and the standard error states
its accuracy. On two cores, 20,000 points of 50 features take about ten seconds for the local
measure and more than a minute for the global one.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from scipy import sparse

from manymaps.checks import check_number, check_whole
from manymaps.errors import DataError, ParameterError
from manymaps.metrics.measures import Measure, ratio
from manymaps.metrics.neighborhoods import mean_ranks, memberships
from manymaps.metrics.spaces import TIE, MapSpace, Space, as_space, blocks, own_places
from manymaps.model.target import Target

Given: TypeAlias = Space | np.ndarray | sparse.sparray


def mu_local(
    data: Given,
    maps: Given,
    *,
    k: int = 10,
    rows: np.ndarray | None = None,
    among: np.ndarray | None = None,
    sample: int | None = None,
    random_state: int = 0,
    count_self: bool = False,
) -> Measure:
    """Compute the share of each object's k nearest neighbours that the maps preserve.

    Parameters
    ----------
    data, maps : Space, or array of shape (n, n_features) for Euclidean distances
        Spaces of the same objects, in the same order.
    k : int, default=10
        Number of neighbours, at most the number of other objects.
    rows : array of int or bool, optional
        Objects to measure, such as inserted objects. Defaults to all.
    among : array of int or bool, optional
        Objects that can be neighbours, such as the objects present before an insertion. Defaults to
        all.
    sample : int, optional
        Number of rows to measure, drawn at random. Defaults to all.
    random_state : int, default=0
        Seed of the sample.
    count_self : bool, default=False
        Whether to count an object as its own nearest neighbour and thus as one of the k, as in
        Claassen's program.

    Returns
    -------
    Measure
        Values in [0, 1]; about k / n for a random map.

    Raises
    ------
    DataError
        If the spaces have different numbers of objects, or if the data contain no neighbours.
    ParameterError
        If k, rows, among or sample is out of range.

    See Also
    --------
    mu_global, trustworthiness, manymaps.evaluate

    Examples
    --------
    >>> import numpy as np
    >>> from manymaps.metrics import mu_local
    >>> line = np.arange(6.0)[:, None] ** 2
    >>> mu_local(line, line, k=2).mean
    1.0
    >>> overlap = mu_local(line, np.sqrt(line), k=2, rows=np.array([1]))   # 0 1 4 9 and 0 1 2 3
    >>> overlap.values.tolist(), overlap.rows.tolist()
    ([1.0], [1])
    """
    data, maps, rows, among = _checked(data, maps, rows, among, sample, random_state)
    _check_k(k, rows, among)
    wanted = k - 1 if count_self else k
    kept = np.empty(len(rows))
    for block in blocks(np.arange(len(rows)), len(among)):
        if wanted == 0:
            kept[block] = 1.0
            continue
        in_data = memberships(data, rows[block], among, np.full(len(block), wanted))
        n_neighbors = np.rint(in_data.sum(axis=1)).astype(int)
        in_maps = memberships(maps, rows[block], among, n_neighbors)
        shared = in_data.minimum(in_maps).sum(axis=1) + count_self
        size = np.where(n_neighbors > 0, n_neighbors + count_self, 0)
        kept[block] = ratio(shared, size)
    return Measure.over(kept, rows)


def mu_global(
    data: Given,
    maps: Given,
    *,
    rows: np.ndarray | None = None,
    among: np.ndarray | None = None,
    sample: int | None = None,
    random_state: int = 0,
    count_self: bool = False,
) -> Measure:
    """Compute the rank correlation between each object's distances in the data and in the maps.

    Parameters
    ----------
    data, maps : Space, or array of shape (n, n_features) for Euclidean distances
        Spaces of the same objects, in the same order.
    rows, among, sample, random_state
        See `mu_local`.
    count_self : bool, default=False
        Whether to count an object's distance to itself as the first of both rankings, as in
        Claassen's program.

    Returns
    -------
    Measure
        Values in [-1, 1].

    Raises
    ------
    DataError, ParameterError
        If an argument is invalid, as for `mu_local`.

    See Also
    --------
    mu_local, continuity, manymaps.evaluate

    Examples
    --------
    >>> import numpy as np
    >>> from manymaps.metrics import mu_global
    >>> line = np.arange(6.0)[:, None]
    >>> round(mu_global(line, line**2, rows=np.array([0])).mean, 12)
    1.0
    """
    data, maps, rows, among = _checked(data, maps, rows, among, sample, random_state)
    correlations = np.empty(len(rows))
    for places in blocks(np.arange(len(rows)), len(among)):
        block = rows[places]
        mine, at = own_places(block, among, data.n_objects)
        ranks = []
        for space in (data, maps):
            keys = space.keys(block, among)
            keys[mine, at] = -1.0
            ranks.append(mean_ranks(keys))
        in_data, in_maps = ranks
        weights = np.ones((len(block), len(among)))
        if not count_self:
            weights[mine, at] = 0.0
        correlations[places] = _correlations(in_data, in_maps, weights)
    return Measure.over(correlations, rows)


def trustworthiness(
    data: Given,
    maps: Given,
    *,
    k: int = 5,
    rows: np.ndarray | None = None,
    among: np.ndarray | None = None,
    sample: int | None = None,
    random_state: int = 0,
) -> Measure:
    """Measure whether neighbours in the maps are near in the data.

    Except for ties, the mean over all objects equals `sklearn.manifold.trustworthiness`, without
    its table of all pairs.

    Parameters
    ----------
    data, maps : Space, or array of shape (n, n_features) for Euclidean distances
        Spaces of the same objects, in the same order.
    k : int, default=5
        Number of neighbours, less than half the number of objects.
    rows, among, sample, random_state
        See `mu_local`.

    Returns
    -------
    Measure
        Values in [0, 1].

    Raises
    ------
    DataError, ParameterError
        If an argument is invalid, as for `mu_local`.

    See Also
    --------
    continuity, mu_local, manymaps.evaluate

    Examples
    --------
    >>> import numpy as np
    >>> from manymaps.metrics import trustworthiness
    >>> line = np.arange(8.0)[:, None]
    >>> trustworthiness(line, -line, k=3).mean
    1.0
    """
    spaces = _checked(data, maps, rows, among, sample, random_state)
    return _trust(*spaces, k)


def continuity(
    data: Given,
    maps: Given,
    *,
    k: int = 5,
    rows: np.ndarray | None = None,
    among: np.ndarray | None = None,
    sample: int | None = None,
    random_state: int = 0,
) -> Measure:
    """Measure whether neighbours in the data are near in the maps.

    Continuity is the trustworthiness with the two spaces exchanged.

    Parameters
    ----------
    data, maps, k, rows, among, sample, random_state
        See `trustworthiness`.

    Returns
    -------
    Measure
        Values in [0, 1].

    Raises
    ------
    DataError, ParameterError
        If an argument is invalid, as for `mu_local`.

    See Also
    --------
    trustworthiness, mu_local, manymaps.evaluate

    Examples
    --------
    >>> import numpy as np
    >>> from manymaps.metrics import continuity, trustworthiness
    >>> line = np.arange(8.0)[:, None]
    >>> torn = np.where(line < 4, line, line + 100)
    >>> trustworthiness(line, torn, k=2).mean > continuity(line, torn, k=2).mean
    True
    """
    spaces = _checked(maps, data, rows, among, sample, random_state)
    return _trust(*spaces, k)


def nearest_neighbor_error(
    maps: Given, classes: np.ndarray, *, sample: int | None = None, random_state: int = 0
) -> Measure:
    """Compute the leave-one-out error rate of a nearest-neighbour classifier.

    Parameters
    ----------
    maps : Space, or array of shape (n, n_components) for Euclidean distances
        Space of the objects.
    classes : array of shape (n,)
        Class of each object, as labels of any type.
    sample : int, optional
        Number of objects to measure, drawn at random. Defaults to all objects.
    random_state : int, default=0
        Seed of the sample.

    Returns
    -------
    Measure
        Values in [0, 1]. For several equally near neighbours, the value is the share of them that
        belong to another class.

    Raises
    ------
    DataError
        If classes and objects differ in number.
    ParameterError
        If the sample is out of range.

    See Also
    --------
    mu_local

    Examples
    --------
    >>> import numpy as np
    >>> from manymaps.metrics import nearest_neighbor_error
    >>> nearest_neighbor_error(np.array([[0.0], [1], [5], [6], [7.5]]), np.array([*"aabbc"])).mean
    0.2
    """
    space, _, rows, among = _checked(maps, maps, None, None, sample, random_state)
    classes = np.asarray(classes)
    if classes.shape != (space.n_objects,):
        raise DataError(
            f"classes have shape {classes.shape} for {space.n_objects} objects; pass one for each"
        )
    _check_k(1, rows, among)
    found = memberships(space, rows, among, np.ones(len(rows), int))
    owners = np.repeat(np.arange(len(rows)), np.diff(found.indptr))
    other = found.data * (classes[found.indices] != classes[rows[owners]])
    errors = np.bincount(owners, other, minlength=len(rows))
    return Measure.over(ratio(errors, np.diff(found.indptr) > 0), rows)


def kl_divergence(target: Target, maps: MapSpace, *, background: float = 0.0) -> float:
    """Compute KL(P || Q) between a target and the choice model of the maps.

    Parameters
    ----------
    target : Target
        Target of one set of objects, which includes the normalization.
    maps : MapSpace
        Maps under the model.
    background : float in [0, 1), default=0.0
        Fraction of q that is distributed evenly over all pairs.

    Returns
    -------
    float
        Divergence in nats, computed in float64 over all pairs. Under a joint normalization, it is
        the divergence of the whole distribution. Under a conditional normalization, it is the mean
        over the rows with mass. It is infinite if a pair of P is impossible in the maps.

    Raises
    ------
    DataError
        If the target has two sets of objects, or a different number of objects than the maps.
    ParameterError
        If the background is out of range.

    See Also
    --------
    strongest_recall, manymaps.evaluate

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> from manymaps.metrics import kl_divergence
    >>> from manymaps.metrics.spaces import MapSpace
    >>> from manymaps.model.target import joint_target
    >>> triangle = MapSpace(np.array([[[0.0, 0], [1, 0], [0.5, 0.75**0.5]]]))
    >>> abs(round(kl_divergence(joint_target(sparse.csr_array(1 - np.eye(3))), triangle), 12))
    0.0
    """
    n = maps.n_objects
    if not target.one_set or target.values.shape[0] != n:
        raise DataError(
            f"the maps contain {n} objects; the target must be of the same single set, but it has "
            f"shape {target.values.shape}{'' if target.one_set else ' and two sets'}"
        )
    check_number("background", background, least=0, below=1)
    table, everyone = target.values, np.arange(n)
    log_v, log_z = np.empty(table.nnz), np.empty(n)
    pair_rows = np.repeat(everyone, np.diff(table.indptr))
    for block in blocks(everyone, n):
        logs = maps.log_similarities(block, everyone)
        logs[np.arange(len(block)), block] = -np.inf
        pairs = slice(table.indptr[block[0]], table.indptr[block[-1] + 1])
        log_v[pairs] = logs[pair_rows[pairs] - block[0], table.indices[pairs]]
        peak = logs.max(axis=1)
        peak[~np.isfinite(peak)] = 0.0
        with np.errstate(divide="ignore"):
            log_z[block] = peak + np.log(np.exp(logs - peak[:, None]).sum(axis=1))
    if target.is_joint:
        log_z[:] = np.logaddexp.reduce(log_z)
    possible = np.isfinite(log_v)
    log_q = np.full(table.nnz, -np.inf)
    log_q[possible] = log_v[possible] - log_z[pair_rows[possible]]
    if background:
        log_q = np.logaddexp(np.log1p(-background) + log_q, np.log(background / target.n_choices))
    divergence = target.negative_entropy - float(np.einsum("i,i->", table.data, log_q))
    return divergence if target.is_joint else divergence / target.n_rows_with_mass


def strongest_recall(strengths: sparse.sparray, maps: MapSpace, *, k: int = 10) -> float:
    """Compute the share of objects whose strongest associate is among the k most similar objects.

    Parameters
    ----------
    strengths : sparse array of shape (n, n)
        Strengths of the associates. Rows without entries are ignored. Among equally strong
        associates, the first is used.
    maps : MapSpace
        Maps under the model.
    k : int, default=10
        Number of most similar objects under the model.

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
    >>> from manymaps.metrics.spaces import MapSpace
    >>> line = MapSpace(np.arange(5.0)[None, :, None])
    >>> strongest_recall(sparse.csr_array(np.eye(5, k=1)), line, k=2)
    1.0
    """
    table = sparse.csr_array(strengths)
    rows = np.flatnonzero(np.diff(table.indptr))
    if len(rows) == 0:
        raise DataError("no row of the strengths has an entry; pass at least one associate")
    strongest = np.asarray(table.argmax(axis=1)).ravel()
    hits = 0
    for block in blocks(rows, maps.n_objects):
        logs = maps.log_similarities(block, np.arange(maps.n_objects))
        here = np.arange(len(block))
        logs[here, block] = -np.inf
        nearer = logs > logs[here, strongest[block]][:, None]
        hits += int((nearer.sum(axis=1) < k).sum())
    return hits / len(rows)


def _trust(judge: Space, neighbors: Space, rows: np.ndarray, among: np.ndarray, k: int) -> Measure:
    """Measure how close the neighbours from one space are in another space."""
    sizes = len(among) + ~np.isin(rows, among)
    if not 1 <= k < sizes.min() / 2:
        raise ParameterError(
            f"is impossible for {sizes.min()} objects; it must be at least 1 and less than half "
            "their number",
            name="k",
            value=k,
        )
    values = np.empty(len(rows))
    for places in blocks(np.arange(len(rows)), len(among)):
        block = rows[places]
        mine, at = own_places(block, among, judge.n_objects)
        nearest = memberships(neighbors, block, among, np.full(len(block), k))
        size = np.rint(nearest.sum(axis=1)).astype(int)
        keys = judge.keys(block, among)
        keys[mine, at] = np.inf
        says = np.isfinite(keys).any(axis=1)
        column = np.zeros(judge.n_objects, int)
        column[among] = np.arange(len(among))
        lost = np.empty(len(block))
        for i, (start, end) in enumerate(zip(nearest.indptr, nearest.indptr[1:], strict=False)):
            others = np.delete(keys[i], at[mine == i])
            near = keys[i, column[nearest.indices[start:end]]]
            lost[i] = _loss(others, near, nearest.data[start:end], int(size[i]))
        possible = size * (2 * sizes[places] - 3 * size - 1) / 2
        values[places] = 1 - ratio(lost, np.where(says, possible, 0))
    return Measure.over(values, rows)


def _loss(keys: np.ndarray, near: np.ndarray, shares: np.ndarray, k: int) -> float:
    """Sum the ranks beyond k of neighbours with given keys, weighted by their memberships."""
    ordered = np.sort(keys)
    before = np.searchsorted(ordered, near * (1 - TIE), "left")
    through = np.searchsorted(ordered, near * (1 + TIE), "right")
    # A neighbour that is tied for ranks around k is partly among the first k, and the rest of it
    # has the mean of the tied ranks beyond k.
    inside = np.clip((k - before) / (through - before), 0, 1)
    beyond = (np.maximum(before, k) + 1 + through) / 2 - k
    return float(np.maximum(shares - inside, 0) @ np.maximum(beyond, 0))


def _checked(
    data: Given,
    maps: Given,
    rows: np.ndarray | None,
    among: np.ndarray | None,
    sample: int | None,
    random_state: int,
) -> tuple[Space, Space, np.ndarray, np.ndarray]:
    """Return both spaces, the rows to measure and the objects to compare them with."""
    data, maps = as_space(data), as_space(maps)
    n = data.n_objects
    if maps.n_objects != n:
        raise DataError(
            f"the data contain {n} objects and the maps {maps.n_objects}; pass the same objects in "
            "the same order"
        )
    measured, compared = _indices(rows, n, "rows"), _indices(among, n, "among")
    if sample is not None:
        check_whole("sample", sample)
        if sample < len(measured):
            rng = np.random.default_rng(random_state)
            measured = np.sort(rng.choice(measured, sample, replace=False))
    return data, maps, measured, compared


def _indices(given: np.ndarray | None, n: int, name: str) -> np.ndarray:
    """Convert indices or a mask to indices of objects."""
    if given is None:
        return np.arange(n)
    places = np.asarray(given)
    if places.dtype == bool and places.shape == (n,):
        places = np.flatnonzero(places)
    whole = places.ndim == 1 and np.issubdtype(places.dtype, np.integer) and len(places) > 0
    if not whole or places.min() < 0 or places.max() >= n:
        raise ParameterError(
            f"{name} must be a list of one or more indices from 0 to {n - 1}, or a mask of "
            f"shape ({n},)"
        )
    if len(np.unique(places)) < len(places):
        raise ParameterError(f"{name} contains an object more than once; remove duplicates")
    return places.astype(np.int64)


def _check_k(k: int, rows: np.ndarray, among: np.ndarray) -> None:
    others = len(among) - int(np.isin(rows, among).any())
    if not 1 <= k <= others:
        raise ParameterError(
            f"is impossible; it must be at least 1 and at most {others}, the number of other "
            "objects",
            name="k",
            value=k,
        )


def _correlations(a: np.ndarray, b: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Compute Pearson's correlation along rows; NaN if a is constant, 0 if only b is."""
    counts = np.maximum(weights.sum(axis=1, keepdims=True), 1)
    roots = np.sqrt(weights)
    a = (a - (a * weights).sum(axis=1, keepdims=True) / counts) * roots
    b = (b - (b * weights).sum(axis=1, keepdims=True) / counts) * roots
    spread_a, spread_b = (a**2).sum(axis=1), (b**2).sum(axis=1)
    together = (a * b).sum(axis=1)
    result = ratio(together, np.sqrt(spread_a * spread_b), 0.0)
    result[spread_a == 0] = np.nan
    return result
