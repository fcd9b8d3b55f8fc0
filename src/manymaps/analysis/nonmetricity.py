"""Measures of how strongly similarities deviate from distances in a space, for arrays.

    similarities  S (n, n) sparse, s_ij >= 0: the strength of j as a response to i; 0 if not stored
    symmetric     w_ij = (s_ij + s_ji) / 2
    distances     D (n, n) dense, symmetric

    asymmetry        sum_{i<j} |s_ij - s_ji| / sum_{i<j} (s_ij + s_ji)
    intransitivity   share of two-step paths A-B-C of strong links whose ends A and C are not linked
    clustering       share of the same paths whose ends are a strong link (Newman 2003, eq. 3); a
                     random graph of the same degrees k has (<k^2> - <k>)^2 / (n <k>^3) (eq. 65)
    centrality       C = (1/n) sum_i N_i^2      N_i: number of objects with i as nearest neighbour
    reciprocity      R = (1/n) sum_i R_i        R_i: rank of i among the neighbours of its
                                                own nearest neighbour
    triangles        share of triples with d_ac > d_ab + d_bc for one of the three orders
    negative part    sum |negative eigenvalues| / sum |eigenvalues| of B = -1/2 J D^2 J,
                     J = 1 - 11'/n

C and R are from Tversky & Hutchinson 1986, Psychological Review 93, 3-22. Both are 1 if objects
form pairs of mutual nearest neighbours. For random points, C increases with the number of
dimensions to at most 2 (Newman, Rinott & Tversky 1983, Advances in Applied Probability 15,
726-751). The negative part is from Laub & Mueller 2004, JMLR 5, 801-818. Pekalska & Duin (2005, The
dissimilarity representation, section 3.5) define its share. Clustering is from M. E. J. Newman
2003, SIAM Review 45, 167-256.

No measure depends on the order of the objects, because all equally near objects are included.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy import sparse

# Maximum number of points with the same nearest neighbour in 1, 2, ... dimensions. The numbers are
# 2, 5 and 11 if no two distances are equal (Tversky & Hutchinson 1986). For four and eight
# dimensions, they are the kissing numbers 24 and 240 (Musin 2008; Levenshtein 1979). For five to
# seven dimensions, they are the bounds of Mittelmann & Vallentin 2010.
MOST_SHARING = (2, 5, 11, 24, 44, 78, 134, 240)

# Up to this number of steps, all paths are counted; above it, shares are estimated from a sample.
_MOST_STEPS = 2e8
# Up to this number of triples, all triples are checked; above it, `n_samples` triples are sampled.
_MOST_WEDGES = 5_000_000
# Rounding of sums in float64.
_ROUNDING = 1e-9


class Estimate(NamedTuple):
    """A measure with the standard error due to sampling.

    Attributes
    ----------
    value : float
        Value, or NaN if there are no cases.
    standard_error : float
        Standard error of the value; 0 if all cases were counted.
    n : int
        Number of cases.
    """

    value: float
    standard_error: float = 0.0
    n: int = 0


class NearestNeighbors(NamedTuple):
    """The measures of Tversky & Hutchinson.

    Attributes
    ----------
    centrality, reciprocity : float
        C and R.
    not_returned : float
        Share of the objects whose nearest neighbour has no similarity to them.
    most_shared : float
        Largest number of objects with the same nearest neighbour. An object with k nearest
        neighbours is counted for each of them with the weight 1/k.
    most_shared_object : int
        Index of this nearest neighbour.
    """

    centrality: float
    reciprocity: float
    not_returned: float
    most_shared: float
    most_shared_object: int


class Paths(NamedTuple):
    """Shares of strong two-step paths by the relation between the two ends of a path.

    Attributes
    ----------
    open : Estimate
        Share of the paths whose ends are not linked.
    clustering : Estimate
        Share of the paths whose ends are strongly linked.
    clustering_by_chance : float
        Expected clustering of a random graph with the same degrees.
    """

    open: Estimate
    clustering: Estimate
    clustering_by_chance: float


def asymmetry(S: sparse.csr_array) -> float:
    """Return the share of strength that is not reciprocated, from 0 (symmetric) to 1 (one-way).

    >>> asymmetry(sparse.csr_array([[0, 0.75], [0.25, 0]]))
    0.5
    """
    there = sparse.csr_array(S)
    back = sparse.csr_array(there.T)
    return float(abs(there - back).sum() / (there + back).sum())


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


def two_step_paths(
    strong: sparse.csr_array,
    linked: sparse.csr_array,
    n_samples: int,
    generator: np.random.Generator,
) -> Paths:
    """Measure how often the ends of two-step paths of strong links are linked.

    Parameters
    ----------
    strong, linked : sparse arrays of shape (n, n)
        Symmetric tables of ones.
    n_samples : int
        Number of paths to sample if there are too many to count.
    generator : Generator
        Generator of the sample.

    Returns
    -------
    Paths
        Shares of the paths.
    """
    degrees = np.diff(strong.indptr).astype(np.float64)
    n_paths = float(degrees @ (degrees - 1)) / 2
    if n_paths == 0:
        nothing = Estimate(float("nan"))
        return Paths(nothing, nothing, float("nan"))
    mean, square = degrees.mean(), (degrees**2).mean()
    chance = min(1.0, float((square - mean) ** 2 / (len(degrees) * mean**3)))
    steps = degrees @ np.diff(linked.indptr) + degrees @ degrees
    if steps <= _MOST_STEPS:
        joined = [
            float((strong @ wide).multiply(strong).sum()) / 2 / n_paths for wide in (linked, strong)
        ]
        first, second = (Estimate(value, 0.0, int(n_paths)) for value in joined)
    else:
        first_step, second_step = _some_wedges(strong, n_samples, generator)
        a, c = strong.indices[first_step], strong.indices[second_step]
        first, second = (_share(_stored(wide, a, c) > 0) for wide in (linked, strong))
    return Paths(Estimate(1 - first.value, first.standard_error, first.n), second, chance)


def _stored(table: sparse.csr_array, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    return np.asarray(table[rows, columns], dtype=np.float64).ravel()


def _share(hits: np.ndarray) -> Estimate:
    """Return the share of independent draws, with its standard error."""
    share = float(hits.mean())
    return Estimate(share, float(np.sqrt(share * (1 - share) / len(hits))), len(hits))


def nearest_neighbor_figures(S: sparse.csr_array) -> NearestNeighbors:
    """Compute centrality, reciprocity and the most shared nearest neighbour.

    The nearest neighbour of i is the object with the largest s_ij. If several objects are equally
    near, each is the nearest neighbour with the same probability, and the measures are
    expectations. Equally near objects are assigned their mean rank. An object without a similarity
    is ranked directly after the objects with similarities, so the returned value is a lower bound
    of R. Objects without a row have no nearest neighbour, and R omits objects whose nearest
    neighbour has no row.
    """
    S = sparse.csr_array(S)
    counts = np.diff(S.indptr)
    active = np.flatnonzero(counts)
    rows = np.repeat(np.arange(S.shape[0]), counts)
    largest = np.zeros(S.shape[0])
    largest[active] = np.maximum.reduceat(S.data, S.indptr[active])
    nearest = largest[rows] == S.data
    i, j = rows[nearest], S.indices[nearest]
    part = 1 / np.bincount(i, minlength=S.shape[0])[i]
    n = S.shape[0]
    shared = np.bincount(j, part, minlength=n)
    squares = shared**2 + np.bincount(j, part * (1 - part), minlength=n)
    back = _stored(S, j, i)
    ranks = _ranks(S, j, back)
    answers = part * (counts[j] > 0)
    answered = answers.sum()
    return NearestNeighbors(
        centrality=float(squares.sum() / len(active)),
        reciprocity=float(answers @ ranks / answered) if answered else float("nan"),
        not_returned=float(part[back == 0].sum() / len(active)),
        most_shared=float(shared.max()),
        most_shared_object=int(shared.argmax()),
    )


def _ranks(S: sparse.csr_array, rows: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Return mean ranks of values among their rows' stored values, largest first; 0 is last."""
    ranks = np.empty(len(rows))
    order = np.argsort(rows, kind="stable")
    starts = np.flatnonzero(np.diff(rows[order], prepend=-1))
    for at in np.split(order, starts[1:]):
        row = rows[at[0]]
        rising = np.sort(S.data[S.indptr[row] : S.indptr[row + 1]])
        after = len(rising) - np.searchsorted(rising, values[at], side="right")
        equal = len(rising) - np.searchsorted(rising, values[at], side="left") - after
        ranks[at] = np.where(values[at] > 0, after + (equal + 1) / 2, len(rising) + 1)
    return ranks


def dimensions_for(most_shared: float) -> int | None:
    """Return the fewest dimensions in which this many points can have one nearest neighbour.

    The result is None if more than 8 dimensions are needed.

    >>> dimensions_for(5), dimensions_for(62)
    (2, 6)
    """
    for dimensions, most in enumerate(MOST_SHARING, start=1):
        if most_shared <= most + _ROUNDING:
            return dimensions
    return None


def similarity_triangles(
    W: sparse.csr_array, n_samples: int, generator: np.random.Generator
) -> Estimate:
    """Measure violations of d = -log(w / max w) among triples whose three sides are known.

    Each triangle is identified by the two links of its object with the fewest links. Counting all
    such pairs of links, or an even sample of them, therefore counts every triangle once.

    Parameters
    ----------
    W : sparse array of shape (n, n)
        Symmetric similarities.
    n_samples : int
        Number of pairs of links to sample if there are more than five million.
    generator : Generator
        Generator of the sample.

    Returns
    -------
    Estimate
        Share of the triangles that violate the inequality.
    """
    links = W.tocoo()
    rank = np.empty(W.shape[0], np.int64)
    rank[np.argsort(np.diff(W.indptr), kind="stable")] = np.arange(W.shape[0])
    up = rank[links.row] < rank[links.col]
    shape = W.shape
    outward = sparse.csr_array((links.data[up], (links.row[up], links.col[up])), shape=shape)
    degrees = np.diff(outward.indptr).astype(np.float64)
    n_wedges = degrees @ (degrees - 1) / 2
    if n_wedges == 0:
        return Estimate(float("nan"))
    if n_wedges <= _MOST_WEDGES:
        first, second = _all_wedges(outward)
    else:
        first, second = _some_wedges(outward, n_samples, generator)
    b, c = outward.indices[first], outward.indices[second]
    between = _stored(W, b, c)
    known = between > 0
    if not known.any():
        return Estimate(float("nan"))
    largest = W.data.max()
    sides = np.stack([outward.data[first][known], outward.data[second][known], between[known]])
    # A mean similarity that equals the largest up to rounding must have a distance of exactly 0.
    sides[sides >= (1 - _ROUNDING) * largest] = largest
    broken = _violated(*-np.log(sides / largest))
    if n_wedges <= _MOST_WEDGES:
        return Estimate(float(broken.mean()), 0.0, len(broken))
    return _share(broken)


def _all_wedges(links: sparse.csr_array) -> tuple[np.ndarray, np.ndarray]:
    """Return the indices of the two links in every pair of links in a row."""
    firsts, seconds = [], []
    for start, end in pairwise(links.indptr):
        first, second = np.triu_indices(end - start, 1)
        firsts.append(first + start)
        seconds.append(second + start)
    return np.concatenate(firsts), np.concatenate(seconds)


def _some_wedges(
    links: sparse.csr_array, count: int, generator: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Sample wedges evenly from all wedges, and return the indices of their two links."""
    degrees = np.diff(links.indptr).astype(np.int64)
    weights = degrees * (degrees - 1.0)
    row = generator.choice(len(degrees), size=count, p=weights / weights.sum())
    first = generator.integers(degrees[row])
    second = generator.integers(degrees[row] - 1)
    second += second >= first
    return links.indptr[row] + first, links.indptr[row] + second


def distance_triangles(D: np.ndarray, n_samples: int, generator: np.random.Generator) -> Estimate:
    """Measure triangle violations of distances, over all triples or an even sample of triples."""
    n = len(D)
    if n * (n - 1) * (n - 2) / 6 <= n_samples:
        broken = 0
        for first in range(n - 2):
            rest = D[first, first + 1 :]
            both = _violated(rest[:, None], rest, D[first + 1 :, first + 1 :])
            broken += int(np.triu(both, 1).sum())
        count = n * (n - 1) * (n - 2) // 6
        return Estimate(broken / count, 0.0, count)
    a = generator.integers(n, size=n_samples)
    b = generator.integers(n - 1, size=n_samples)
    b += b >= a
    c = generator.integers(n - 2, size=n_samples)
    c += c >= np.minimum(a, b)
    c += c >= np.maximum(a, b)
    return _share(_violated(D[a, b], D[a, c], D[b, c]))


def _violated(first: np.ndarray, second: np.ndarray, third: np.ndarray) -> np.ndarray:
    """Return whether the longest side exceeds the sum of the other sides by more than rounding."""
    longest = np.maximum(np.maximum(first, second), third)
    total = first + second + third
    return 2 * longest - total > _ROUNDING * np.maximum(total, _ROUNDING)


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
    """Compute the negative part of a double-centred table.

    Eigenvalues below 1e-10 of the largest eigenvalue are treated as 0.
    """
    centred = inner - inner.mean(axis=0)
    centred -= centred.mean(axis=1)[:, None]
    values = np.linalg.eigvalsh((centred + centred.T) / 2)
    size = np.abs(values)
    if size.max() == 0:
        return 0.0
    real = size > 1e-10 * size.max()
    return float(size[real & (values < 0)].sum() / size[real].sum())
