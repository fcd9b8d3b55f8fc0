"""Senses of words as arrays, overlaps between senses, and groups of senses over several fits.

A sense is the weighted set of the strongest members of a meaning (`manymaps.atlas.meanings`). If no
associations are known, a sense is a map in which the word has some weight, with its nearest
neighbours in that map. The module `manymaps.analysis.stability` documents the formulas.

Shapes: offsets (n_objects + 1,), with the senses in the order of the words; neighbors and weights
(n_senses, n_neighbors).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist

from manymaps.atlas.answers import Level
from manymaps.atlas.atlas import LEAST_SHARE, Atlas
from manymaps.atlas.consensus import Consensus
from manymaps.atlas.senses import sense_groups
from manymaps.compute.runs import crossed_runs
from manymaps.model.similarities import log_kernel

#: Tolerance for the rounding error of weights that sum to 1.
ROUNDING = 1e-9
# 32 MiB of float64 per block.
_BLOCK = 1 << 22
# Number of pairs per block, each with one value per map, which limits memory.
_PAIRS = 1 << 14


@dataclass(frozen=True, eq=False)
class FitSenses:
    """The senses of all words in one fit, sorted by word and then by descending share.

    Attributes
    ----------
    offsets : ndarray of int, shape (n_objects + 1,)
    maps : ndarray of int, shape (n_senses,)
    proportions : ndarray of shape (n_senses,)
        Mixing proportions in these maps.
    shares : ndarray of shape (n_senses,)
        Share of each sense: the observed response share if the sense is a group, or the map weight
        if the sense is a map.
    neighbors : ndarray of int, shape (n_senses, n_neighbors)
        Indices of objects, the strongest first, padded with -1.
    responses : ndarray of shape (n_senses, n_neighbors)
        Strengths of the members of a group, or weights of the neighbours in a map. They sum to 1
        for each sense.
    weights : ndarray of shape (n_senses, n_neighbors)
        Part of `responses` that the map of the sense explains. If the sense is a map, `weights`
        equals `responses`.
    recurrence : ndarray of shape (n_senses,)
        Share of the other fits in which the sense recurs.
    overlap : ndarray of shape (n_senses,)
        Mean overlap with its match in the other fits; 0 without a match.
    """

    offsets: np.ndarray
    maps: np.ndarray
    proportions: np.ndarray
    shares: np.ndarray
    neighbors: np.ndarray
    responses: np.ndarray
    weights: np.ndarray
    recurrence: np.ndarray
    overlap: np.ndarray

    @property
    def words(self) -> np.ndarray:
        """Index of the word of each sense, shape (n_senses,)."""
        return np.repeat(np.arange(len(self.offsets) - 1), np.diff(self.offsets))


def fit_senses(
    atlas: Atlas,
    n_neighbors: int,
    min_weight: float,
    min_share: float = LEAST_SHARE,
    level: Level = "meaning",
) -> FitSenses:
    """Return the senses of all words in a fit that have at least one neighbour."""
    table = None if atlas.kinds is not None else atlas.associations
    words = np.zeros(0, np.intp) if table is None else np.flatnonzero(np.diff(table.indptr))
    parts = [_of_groups(atlas, words, n_neighbors, min_share, level)] if len(words) else []
    by_map = np.ones(atlas.n_objects, bool)
    by_map[words] = False
    if by_map.any():
        parts += _of_maps(atlas, by_map, n_neighbors, min_weight)
    words, maps, shares, near, *both = (np.concatenate(part) for part in zip(*parts, strict=True))
    responses, weights = both
    order = np.lexsort((maps, -shares, words))
    order = order[near[order, 0] >= 0]
    counts = np.bincount(words[order], minlength=atlas.n_objects)
    unknown = np.zeros(len(order))
    return FitSenses(
        np.concatenate([[0], np.cumsum(counts)]),
        maps[order],
        atlas.proportions[maps[order], words[order]].astype(np.float64),
        shares[order],
        near[order],
        responses[order],
        weights[order],
        unknown,
        unknown,
    )


def _of_groups(
    atlas: Atlas, words: np.ndarray, n_neighbors: int, min_share: float, level: Level
) -> tuple[np.ndarray, ...]:
    """Return the words, maps, shares, neighbors, responses and weights of group senses."""
    assert atlas.associations is not None
    space = atlas.meaning_space if level == "meaning" else None
    groups = sense_groups(atlas.choices, atlas.associations, words, space)
    owners, listed = groups.owners, groups.listed(min_share)
    rank = np.arange(len(groups.members)) - np.repeat(groups.ends[:-1], np.diff(groups.ends))
    rows = np.repeat(np.arange(len(owners)), np.diff(groups.ends))
    there = np.flatnonzero((rank < n_neighbors) & (groups.strengths > 0))
    rows, rank = rows[there], rank[there]
    near = np.full((len(owners), n_neighbors), -1, np.int32)
    responses, votes = np.zeros(near.shape), np.zeros(near.shape)
    near[rows, rank] = groups.members[there]
    responses[rows, rank] = groups.strengths[there]
    responses /= responses.sum(axis=1, keepdims=True)
    for start in range(0, len(there), _PAIRS):
        block = slice(start, start + _PAIRS)
        senses = rows[block]
        shares = atlas.choices.votes(words[owners[senses]], near[senses, rank[block]])
        votes[senses, rank[block]] = shares[np.arange(len(senses)), groups.maps[senses]]
    parts = words[owners], groups.maps, groups.shares, near, responses, responses * votes
    return tuple(part[listed] for part in parts)


def _of_maps(
    atlas: Atlas, wanted: np.ndarray, n_neighbors: int, min_weight: float
) -> list[tuple[np.ndarray, ...]]:
    """Return the words, maps, shares, neighbors, responses and weights of map senses."""
    parts: list[tuple[np.ndarray, ...]] = []
    map_weights = atlas.map_weights
    lives = map_weights >= min_weight
    lives[map_weights.argmax(axis=0), np.arange(atlas.n_objects)] = True
    for map in range(atlas.n_maps):
        for rows, columns in _sides(atlas, lives[map] & wanted, atlas.proportions[map] > 0):
            near, weights = _strongest(atlas, map, rows, columns, n_neighbors)
            here = np.full(len(rows), map)
            parts.append((rows, here, map_weights[map, rows], near, weights, weights))
    return parts


def _sides(
    atlas: Atlas, lives: np.ndarray, there: np.ndarray
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield objects and their candidate neighbours, which are of the other kind if bipartite."""
    if atlas.kinds is None:
        yield np.flatnonzero(lives), np.flatnonzero(there)
        return
    for side in (atlas.choices.is_row, ~atlas.choices.is_row):
        yield np.flatnonzero(lives & side), np.flatnonzero(there & ~side)


def _strongest(
    atlas: Atlas, map: int, rows: np.ndarray, columns: np.ndarray, n_neighbors: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return the strongest neighbours in a map and their weights, each (n_rows, n_neighbors)."""
    near = np.full((len(rows), n_neighbors), -1, np.int32)
    weights = np.zeros(near.shape)
    count = min(n_neighbors, len(columns))
    if count == 0 or len(rows) == 0:
        return near, weights
    points = atlas.maps[map].astype(np.float64) / atlas.model.kernel_width
    log_proportions = np.log(atlas.proportions[map, columns].astype(np.float64))
    step = max(1, _BLOCK // len(columns))
    for start in range(0, len(rows), step):
        block = slice(start, start + step)
        logs = cdist(points[rows[block]], points[columns], "sqeuclidean")
        logs = log_kernel(logs, atlas.model.kernel)
        logs += log_proportions
        logs[rows[block, None] == columns] = -np.inf
        # Ties are decided by the order of the objects.
        top = np.argsort(-logs, axis=1, kind="stable")[:, :count]
        values = np.take_along_axis(logs, top, axis=1)
        # If no other object is in the map, the peak is -inf and all weights are 0.
        peak = np.where(np.isfinite(values[:, :1]), values[:, :1], 0.0)
        shares = np.exp(values - peak)
        near[block, :count] = np.where(shares > 0, columns[top], -1)
        weights[block, :count] = shares / np.maximum(shares.sum(axis=1, keepdims=True), 1.0)
    return near, weights


def _overlaps(
    first: tuple[np.ndarray, np.ndarray],
    rows: np.ndarray,
    second: tuple[np.ndarray, np.ndarray],
    others: np.ndarray,
) -> np.ndarray:
    """Return sum_j min(w(j), w'(j)) for pairs of senses, each a row of (neighbors, weights)."""
    overlaps = np.zeros(len(rows))
    for start in range(0, len(rows), _PAIRS):
        block = slice(start, start + _PAIRS)
        near, other = first[0][rows[block]], second[0][others[block]]
        same = (near[:, :, None] == other[:, None]) & (near >= 0)[:, :, None]
        least = np.minimum(first[1][rows[block], :, None], second[1][others[block], None])
        overlaps[block] = np.where(same, least, 0.0).sum(axis=(1, 2))
    return overlaps


def matched_overlaps(
    first: FitSenses, second: FitSenses, counterparts: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Return the overlap of each sense in either fit with its match, or 0 without a match.

    The senses of word i are matched with the senses of word counterparts[i]. By default, this is
    word i itself.
    """
    n = len(first.offsets) - 1
    counterparts = np.arange(n) if counterparts is None else counterparts
    sizes, other_sizes = np.diff(first.offsets), np.diff(second.offsets)[counterparts]
    other_starts = second.offsets[counterparts]
    rows, others = crossed_runs(first.offsets[:-1], sizes, other_starts, other_sizes)
    counts = sizes * other_sizes
    starts = np.cumsum(counts) - counts
    overlaps = _overlaps(
        (first.neighbors, first.weights), rows, (second.neighbors, second.weights), others
    )
    best, other_best = np.zeros(len(first.maps)), np.zeros(len(second.maps))
    alone = np.repeat(counts == 1, counts)
    best[rows[alone]] = other_best[others[alone]] = overlaps[alone]
    for i in np.flatnonzero(counts > 1):
        table = overlaps[starts[i] : starts[i] + counts[i]].reshape(sizes[i], other_sizes[i])
        one, other = linear_sum_assignment(table, maximize=True)
        best[first.offsets[i] + one] = table[one, other]
        other_best[other_starts[i] + other] = table[one, other]
    return best, other_best


def shuffled(found: FitSenses, rng: np.random.Generator) -> FitSenses:
    """Return senses with the neighbours of each word assigned at random to its senses."""
    there = found.neighbors >= 0
    words = np.broadcast_to(found.words[:, None], there.shape)[there]
    order = np.lexsort((rng.random(len(words)), words))
    neighbors = found.neighbors.copy()
    neighbors[there] = found.neighbors[there][order]
    return replace(found, neighbors=neighbors)


def consensus_of(
    senses: Sequence[FitSenses], threshold: float, *, fit: int, n_maps: int
) -> Consensus:
    """Return the senses of all words over several fits, with the maps of one fit.

    The senses of a word in all fits are clustered by average linkage. Clusters are merged as long
    as the mean overlap of two clusters reaches the threshold. A fit contains a sense if the map of
    the sense explains at least the share `threshold` of the sense.
    """
    n_objects = len(senses[0].offsets) - 1
    words = np.concatenate([found.words for found in senses])
    by_word = np.argsort(words, kind="stable")
    words = words[by_word]
    fits = np.repeat(np.arange(len(senses)), [len(found.maps) for found in senses])[by_word]
    maps, shares, neighbors, responses, weights = (
        np.concatenate([getattr(found, name) for found in senses])[by_word]
        for name in ("maps", "shares", "neighbors", "responses", "weights")
    )
    groups = _groups(np.bincount(words, minlength=n_objects), neighbors, responses, threshold)
    by_fit = np.zeros((groups.max(initial=-1) + 1, len(senses)))
    held = np.zeros(by_fit.shape, bool)
    np.add.at(by_fit, (groups, fits), shares)
    np.logical_or.at(held, (groups, fits), weights.sum(axis=1) >= threshold - ROUNDING)
    owner = np.zeros(len(by_fit), np.intp)
    owner[groups] = words
    order = np.lexsort([-by_fit.sum(axis=1), -held.sum(axis=1), owner])
    groups = np.argsort(order)[groups]
    of_fit = fits == fit
    of_map = _of_map(maps[of_fit], words[of_fit], groups[of_fit], (n_maps, n_objects))
    near, means = _mean_neighbors(groups, neighbors, responses, n_objects)
    return Consensus(
        offsets=np.concatenate([[0], np.cumsum(np.bincount(owner, minlength=n_objects))]),
        by_fit=by_fit[order].astype(np.float32),
        neighbors=near,
        weights=means,
        of_map=of_map,
        threshold=threshold,
        held=held[order],
    )


def _of_map(
    maps: np.ndarray, words: np.ndarray, groups: np.ndarray, shape: tuple[int, int]
) -> np.ndarray:
    """Return the groups of each word in each map, (n_slots, n_maps, n_objects), padded with -1."""
    keys = np.unique(np.stack([maps, words, groups]), axis=1)
    _, start, counts = np.unique(keys[:2], axis=1, return_index=True, return_counts=True)
    slots = np.arange(keys.shape[1]) - np.repeat(start, counts)
    of_map = np.full((max(counts.max(initial=1), 1), *shape), -1, np.int32)
    of_map[slots, keys[0], keys[1]] = keys[2]
    return of_map


def _groups(
    counts: np.ndarray, neighbors: np.ndarray, weights: np.ndarray, threshold: float
) -> np.ndarray:
    """Return the group of each sense, numbered consecutively over words; senses sorted by word."""
    starts = np.cumsum(counts) - counts
    one, other = crossed_runs(starts, counts, starts, counts)
    above = one < other
    one, other = one[above], other[above]
    apart = 1 - _overlaps((neighbors, weights), one, (neighbors, weights), other)
    apart = np.maximum(apart, 0.0)
    n_pairs = counts * (counts - 1) // 2
    ends = np.cumsum(n_pairs)
    groups, n_groups = np.zeros(len(neighbors), np.intp), 0
    for start, count, end, n in zip(starts, counts, ends, n_pairs, strict=True):
        if count == 0:
            continue
        local = np.ones(1, np.intp)
        if count > 1:
            tree = linkage(apart[end - n : end], "average")
            local = fcluster(tree, 1 - threshold + ROUNDING, "distance")
        groups[start : start + count] = n_groups + local - 1
        n_groups += int(local.max())
    return groups


def _mean_neighbors(
    groups: np.ndarray, neighbors: np.ndarray, weights: np.ndarray, n_objects: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return the strongest neighbours of each group of senses, by mean weight."""
    sizes = np.bincount(groups)
    there = neighbors >= 0
    rows = np.broadcast_to(groups[:, None], neighbors.shape)[there]
    shape = (len(sizes), n_objects)
    table = sparse.csr_array((weights[there] / sizes[rows], (rows, neighbors[there])), shape)
    table.sum_duplicates()
    rows = np.repeat(np.arange(len(sizes)), np.diff(table.indptr))
    order = np.lexsort((table.indices, -table.data, rows))
    rank = np.arange(len(order)) - table.indptr[rows]
    is_listed = rank < neighbors.shape[1]
    near = np.full((len(sizes), neighbors.shape[1]), -1, np.int32)
    means = np.zeros(near.shape, np.float32)
    near[rows[is_listed], rank[is_listed]] = table.indices[order[is_listed]]
    means[rows[is_listed], rank[is_listed]] = table.data[order[is_listed]]
    return near, means
