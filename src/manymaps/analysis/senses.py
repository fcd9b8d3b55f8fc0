"""Senses of answers and of all words of a fit as arrays, and the matching of two fits.

The module `manymaps.analysis.stability` documents the formulas.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse
from scipy.optimize import linear_sum_assignment

from manymaps.atlas.answers import nearest_by_map, strengths_on
from manymaps.atlas.atlas import Atlas
from manymaps.atlas.senses import SenseList, associates_of, senses_of
from manymaps.compute.runs import crossed_runs
from manymaps.errors import DataError

# Number of pairs of senses per block, which limits memory use.
_PAIRS = 1 << 16


@dataclass(frozen=True, eq=False)
class FitSenses:
    """The senses of all words in one fit, sorted by word and then by descending share.

    Attributes
    ----------
    offsets : ndarray of int, shape (n_objects + 1,)
    maps : ndarray of int, shape (n_senses,)
    shares : ndarray of shape (n_senses,)
        Share of the map in the word's associations, or weight of the map if they are unknown.
    members : sparse array of shape (n_senses, n_objects)
        Weight of each member of a sense. The sum of each sense is 1.
    recurrence : ndarray of shape (n_senses,)
        Share of the other fits in which the sense recurs.
    overlap : ndarray of shape (n_senses,)
        Mean overlap with its match in the other fits; 0 without a match.
    """

    offsets: np.ndarray
    maps: np.ndarray
    shares: np.ndarray
    members: sparse.csr_array
    recurrence: np.ndarray
    overlap: np.ndarray

    @property
    def words(self) -> np.ndarray:
        """Index of the word of each sense, shape (n_senses,)."""
        return np.repeat(np.arange(len(self.offsets) - 1), np.diff(self.offsets))

    def strongest(self, sense: int, count: int) -> list[int]:
        """Return the strongest members of a sense."""
        members = slice(*self.members.indptr[sense : sense + 2])
        order = np.argsort(-self.members.data[members], kind="stable")[:count]
        return self.members.indices[members][order].tolist()


def senses_of_answers(
    atlas: Atlas, words: np.ndarray, cue: np.ndarray, answer: np.ndarray, count: np.ndarray
) -> tuple[SenseList, np.ndarray]:
    """Find the senses that answers to some words form, and the sense of each answer.

    `words` are different objects. Cues, answers (-1 if they are not objects) and their counts have
    the shape (n_answers,). The result for an answer is -1 if it belongs to no sense, and -2 if it
    or its cue is not an object of the atlas.
    """
    n = atlas.n_objects
    placed = np.flatnonzero((cue >= 0) & (answer >= 0) & (cue != answer) & (count > 0))
    cells = cue[placed], answer[placed]
    table = sparse.csr_array((count[placed].astype(np.float64), cells), shape=(n, n))
    found = associates_of(atlas.choices, table, words)
    listed = senses_of(found, atlas.n_maps)
    numbers = listed.of_associate + 2, (words[found.owners], found.members)
    result = np.full(len(cue), -2)
    if len(placed):
        result[placed] += np.asarray(sparse.csr_array(numbers, shape=(n, n))[cells]).ravel()
    return listed, result


def fit_senses(atlas: Atlas, n_neighbors: int) -> FitSenses:
    """Find the senses of all words, as `Atlas.senses` does with this number of neighbours.

    The members of a word with associations are all its close associates.
    """
    table, _ = strengths_on(atlas, None)
    known = np.diff(table.indptr) > 0
    words = np.flatnonzero(known)
    observed = senses_of(associates_of(atlas.choices, table, words), atlas.n_maps)
    found = []
    for k, i in enumerate(words[observed.owners].tolist()):
        own, sense = observed.members_of(k), (int(observed.maps[k]), float(observed.shares[k]))
        found.append((i, *sense, observed.members[own], observed.strengths[own]))
    for i in np.flatnonzero(~known).tolist():
        found += [(i, *parts) for parts in nearest_by_map(atlas, i, n_neighbors)]
    if not found:
        raise DataError("no object of the atlas has a sense; expected maps with several objects")
    # The senses of each word are already in descending order.
    found.sort(key=lambda sense: sense[0])
    owners, maps, shares, members, strengths = zip(*found, strict=True)
    ends = np.cumsum([0, *map(len, members)])
    weights = np.concatenate([values / values.sum() for values in strengths])
    table = sparse.csr_array(
        (weights, np.concatenate(members), ends), shape=(len(found), atlas.n_objects)
    )
    table.sort_indices()
    counts = np.bincount(owners, minlength=atlas.n_objects)
    offsets, unknown = np.concatenate([[0], np.cumsum(counts)]), np.zeros(len(found))
    return FitSenses(offsets, np.array(maps), np.array(shares), table, unknown, unknown)


def matched(
    first: FitSenses, second: FitSenses, counterparts: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Match senses one to one; return the senses of either fit and their overlaps, (n_matches,).

    The senses of word i are matched with the senses of word counterparts[i]. By default, this is
    word i itself.
    """
    n = len(first.offsets) - 1
    counterparts = np.arange(n) if counterparts is None else counterparts
    sizes, other_sizes = np.diff(first.offsets), np.diff(second.offsets)[counterparts]
    one, other = crossed_runs(first.offsets[:-1], sizes, second.offsets[counterparts], other_sizes)
    overlaps = _overlaps(first.members, one, second.members, other)
    counts = sizes * other_sizes
    starts = np.cumsum(counts) - counts
    are_matches = np.repeat(counts == 1, counts)
    for i in np.flatnonzero(counts > 1):
        table = overlaps[starts[i] : starts[i] + counts[i]].reshape(sizes[i], other_sizes[i])
        rows, columns = linear_sum_assignment(table, maximize=True)
        are_matches[starts[i] + rows * other_sizes[i] + columns] = True
    return one[are_matches], other[are_matches], overlaps[are_matches]


def _overlaps(
    first: sparse.csr_array, rows: np.ndarray, second: sparse.csr_array, others: np.ndarray
) -> np.ndarray:
    """Compute sum_j min(w(j), w'(j)) for pairs of senses, shape (n_pairs,)."""
    overlaps = np.zeros(len(rows))
    for start in range(0, len(rows), _PAIRS):
        block = slice(start, start + _PAIRS)
        overlaps[block] = first[rows[block]].minimum(second[others[block]]).sum(axis=1)
    return overlaps


def permuted(found: FitSenses, rng: np.random.Generator) -> FitSenses:
    """Return senses with the members of each word assigned at random to its senses."""
    members = found.members.copy()
    words = np.repeat(found.words, np.diff(members.indptr))
    members.indices = members.indices[np.lexsort((rng.random(len(words)), words))]
    members.has_canonical_format = False
    members.sum_duplicates()
    return replace(found, members=members)
